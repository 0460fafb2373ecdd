"""A subset: the persons drawn with all that hangs on them, what these rows need, and nothing else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from world import records, refused, rows, warehouse

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import AuditFailed, InputError, JobError, ParameterError
from sqlmicro.verbs import subset

KEYS = {
    ("persons", "referred_by"): ("persons", "id"), ("orders", "customer"): ("persons", "id"),
    ("items", 'order "nr"'): ("orders", "nr"), ("items", "article"): ("articles", "nr"),
    ("articles", "maker"): ("makers", "nr"), ("makers", "best"): ("articles", "nr"),
    ("replies", "of"): ("replies", "nr"), ("replies", "writer"): ("persons", "id"),
}  # fmt: skip
NAMED = [f"{child}.{column}={parent}.{to}" for (child, column), (parent, to) in KEYS.items()]
Rows = dict[str, list[dict[str, Any]]]


def world(seed: int) -> dict[str, dict[str, tuple[str, list[Any]]]]:
    """Return tables that refer to each other, also in a circle, to themselves, to nothing, and to what is not there."""
    draw = random.Random(seed)

    def some(n: int, most: int) -> list[Any]:
        return [None if draw.random() < 0.2 else draw.randrange(most) for _ in range(n)]

    tables = {
        "persons": {"id": range(30), "referred_by": some(30, 33)},
        "orders": {"nr": range(50), "customer": some(50, 31)},
        "items": {'order "nr"': some(90, 50), "article": some(90, 12), "copies": some(90, 9)},
        "articles": {"nr": range(12), "maker": some(12, 5)},
        "makers": {"nr": range(5), "best": some(5, 12)},
        "replies": {"nr": range(40), "of": some(40, 40), "writer": some(40, 30)},
        "alone": {"x": range(3)},
    }
    return {name: {c: ("INTEGER", list(v)) for c, v in own.items()} for name, own in tables.items()}


def naive(tables: Rows, drawn: set[int]) -> dict[str, set[int]]:
    """Return the numbers of the rows of a subset, row by row: down from the persons, then up from all."""
    taken: dict[str, set[int]] = {name: set() for name in tables}
    taken["persons"] = {at for at, row in enumerate(tables["persons"]) if row["id"] in drawn}
    for down in (True, False):
        before = None
        while before != (before := {name: len(own) for name, own in taken.items()}):
            for (child, column), (parent, to) in KEYS.items():
                if down and child == "persons":
                    continue
                for i, row in enumerate(tables[child]):
                    for j, other in enumerate(tables[parent]):
                        if row[column] is not None and row[column] == other[to]:
                            if down and j in taken[parent]:
                                taken[child].add(i)
                            if not down and i in taken[child]:
                                taken[parent].add(j)
    return taken


@pytest.mark.parametrize("seed", range(6))
def test_a_subset_is_what_is_found_row_by_row(tmp_path: Path, seed: int) -> None:
    db = warehouse(tmp_path, **world(seed))
    to = tmp_path / "small.duckdb"
    report = sqlmicro.subset(db=db, table="Persons", to=str(to), size=4, key=NAMED, seed=f"{seed}")
    whole = {name: records(db, f"FROM {name}") for name in world(seed)}
    found = {name: records(to, f"FROM {name}") for name in world(seed) if name != "alone"}
    there = [row["id"] for row in found["persons"]]
    drawn = [row["id"] for row in found["persons"]]
    if report["persons_needed"]:  # who was drawn is told by another run, of persons alone
        sqlmicro.subset(db=db, table="persons", to=str(tmp_path / "p.duckdb"), size=4, seed=f"{seed}")
        drawn = [row["id"] for row in records(tmp_path / "p.duckdb", "FROM persons")]
    assert len(drawn) == 4 == report["persons"]
    assert len(there) == 4 + report["persons_needed"]
    expected = naive(whole, set(drawn))
    assert {name: [whole[name][at] for at in sorted(own)] for name, own in expected.items() if name != "alone"} == found
    assert report["left_out"] == ["alone"]
    assert not report["anonymised"]
    assert [(one["rows"], one["of"]) for one in report["tables"]] == [
        (len(expected[one["name"]]), len(whole[one["name"]])) for one in report["tables"]
    ]


DECLARED = (
    "CREATE TABLE lands (a INTEGER, b VARCHAR, PRIMARY KEY (a, b))", "INSERT INTO lands VALUES (1, 'x'), (2, 'y')",
    "CREATE TABLE persons (id INTEGER PRIMARY KEY, a INTEGER, b VARCHAR, FOREIGN KEY (a, b) REFERENCES lands (a, b))",
    "INSERT INTO persons SELECT i, 1, CASE WHEN i % 2 = 0 THEN 'x' END FROM range(100) r(i)",
    "CREATE TABLE visits (who INTEGER NOT NULL REFERENCES persons (id), day DATE)",
    "INSERT INTO visits SELECT i % 100, DATE '2020-01-01' + CAST(i AS INTEGER) FROM range(500) r(i)",
    "CREATE VIEW seen AS FROM visits",
)  # fmt: skip


def test_declared_keys_of_several_columns_and_a_seed(tmp_path: Path) -> None:
    db = warehouse(tmp_path, *DECLARED)
    given = {"db": db, "table": "persons", "fraction": 0.1}
    report = sqlmicro.subset(**given, to=str(tmp_path / "1.duckdb"), seed="s")
    assert [(one["name"], one["rows"]) for one in report["tables"]] == [("lands", 1), ("persons", 10), ("visits", 50)]
    assert [one["child"] for one in report["keys"] if one["declared"]] == ["persons (a, b)", "visits (who)"]
    sqlmicro.subset(**given, to=str(tmp_path / "2.duckdb"), seed="s")
    sqlmicro.subset(**given, to=str(tmp_path / "3.duckdb"), seed="t")
    drawn = [rows(tmp_path / f"{number}.duckdb", "FROM persons") for number in (1, 2, 3)]
    assert drawn[0] == drawn[1] != drawn[2]
    all_lands = sqlmicro.subset(**given, to=str(tmp_path / "4.duckdb"), whole=["lands"])
    assert all_lands["tables"][0]["rows"] == 2


def test_what_hangs_on_a_table_that_is_copied_whole_stays(tmp_path: Path) -> None:
    db = warehouse(
        tmp_path, "CREATE TABLE Lands (id INTEGER PRIMARY KEY)", "INSERT INTO Lands VALUES (0), (1), (2)",
        "CREATE TABLE persons (id INTEGER PRIMARY KEY)", "INSERT INTO persons SELECT i FROM range(100) r(i)",
        "CREATE TABLE orders (who INTEGER REFERENCES PERSONS (id), land INTEGER REFERENCES LANDS (id))",
        "INSERT INTO orders SELECT i % 100, i % 2 FROM range(300) r(i)",
    )  # fmt: skip
    report = sqlmicro.subset(db=db, table="persons", size=3, whole=["lands"], to=str(tmp_path / "small.duckdb"))
    assert {one["name"]: one["rows"] for one in report["tables"]} == {"Lands": 3, "orders": 9, "persons": 3}
    where = str(tmp_path / "none" / "small.duckdb")
    with pytest.raises(InputError, match="the folder of"):
        sqlmicro.subset(db=db, table="persons", size=3, to=where)


def test_every_output_says_that_it_is_not_anonymised(tmp_path: Path) -> None:
    db, to = warehouse(tmp_path, *DECLARED), tmp_path / "small.duckdb"
    done = CliRunner().invoke(app, ["subset", "--db", db, "--table", "persons", "--size", "3", "--to", str(to)])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("NOT ANONYMISED: ")
    assert f"sqlmicro scan --db {to}" in done.stdout
    comments = rows(to, "SELECT DISTINCT comment FROM duckdb_tables()")
    assert comments == [("Not anonymised: a subset of real records, made by sqlmicro subset",)]
    assert to.stat().st_mode & 0o077 == 0, "nobody else can read it"


def test_a_row_whose_row_is_missing_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = warehouse(tmp_path, *DECLARED)
    spread = subset._Tables.spread
    monkeypatch.setattr(
        subset._Tables, "spread",
        lambda self, along, *, to_parents: None if to_parents else spread(self, along, to_parents=False),
    )  # fmt: skip
    with pytest.raises(AuditFailed, match=r"rows of persons \(a, b\) refer to rows of lands \(a, b\) .* Got \d+ rows"):
        sqlmicro.subset(db=db, table="persons", to=str(tmp_path / "small.duckdb"), size=9)
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_rows_that_referred_to_nothing_are_told(tmp_path: Path) -> None:
    db = warehouse(tmp_path, persons={"id": ("INTEGER", range(9)), "land": ("INTEGER", [7] * 9)},
                   lands={"nr": ("INTEGER", [1])})  # fmt: skip
    to = str(tmp_path / "s.duckdb")
    report = sqlmicro.subset(db=db, table="persons", to=to, size=4, key=["persons.land=lands.nr"])
    assert report["keys"] == [{"child": "persons (land)", "parent": "lands (nr)", "declared": False, "dangling": 4}]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"size": None}, ParameterError, "needs one of --fraction and --size"),
        ({"fraction": 0.5}, ParameterError, "Got both"),
        ({"size": 101}, InputError, "must have 1 to 100 persons. Got 101"),
        (
            {"table": "seen"},
            ParameterError,
            "must be a table of the schema main. Got 'seen'. There are: lands",
        ),
        ({"whole": ["land"]}, ParameterError, "--whole: must be a table"),
        ({"key": ["visits.whom=persons.id"]}, ParameterError, "names columns of 'visits'. Got whom"),
        ({"key": ["visits.who"]}, JobError, 'must be "table.column", of one of the tables'),
        ({"to": "w.duckdb"}, InputError, "must not exist yet"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: dict[str, Any], kind: Any, words: str) -> None:
    db = warehouse(tmp_path, *DECLARED)
    given = {"db": db, "table": "persons", "to": "small.duckdb", "size": 9, **options}
    with refused(words, db, kind):
        sqlmicro.subset(**{**given, "to": str(tmp_path / given["to"])})
    assert not (tmp_path / "small.duckdb").exists()


def test_a_column_called_rowid_is_refused(tmp_path: Path) -> None:
    db = warehouse(tmp_path, persons={"rowid": ("INTEGER", [5, 5, 5])})
    with refused("no table has a column called rowid", db):
        sqlmicro.subset(db=db, table="persons", to=str(tmp_path / "small.duckdb"), size=1)
