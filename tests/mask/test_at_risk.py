"""Masks that treat the records at risk only, or first."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import world
from databases import insert, opened
from world import execute

import sqlmicro
from sqlmicro import InputError, ParameterError, SqlmicroError
from sqlmicro.database import risk_tables
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.options.risks import bound

N = 300
NET = 'net "income"'
ALL = ["id", NET, "town", "h"]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return people of five towns, of whom every tenth is alone in her income and town, with their risks."""
    path = str(tmp_path_factory.mktemp("risks") / "people.duckdb")
    execute(
        path,
        f'''CREATE TABLE people AS SELECT i AS id,
          CASE WHEN i % 10 = 0 THEN 1000 + i ELSE 7 * (i % 3) END AS "net ""income""",
          ['A', 'B', 'C', 'D', 'E'][1 + i % 5] AS town, i // 4 AS h FROM range({N}) AS t(i)''',
        "ALTER TABLE people ADD PRIMARY KEY (id)",
    )
    sqlmicro.audit("people", db=path, quasi=[NET, "town"], household=["h"], per_record="record_risk")
    return path


def released(
    db: str, method: str, columns: list[str], **options: Any
) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """Return the report of a release, and its records by id."""
    given = {"where_risk": "> 0.2", "rest": "keep", "accept_unique": [c for c in ALL if c not in columns]} | options
    verb = getattr(sqlmicro, method)
    report = verb("people", db=db, columns=columns, into="out", overwrite=True, alone_because="a test", **given)
    return report, records(db, "out")


def records(db: str, table: str) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in world.records(db, f"FROM {table}")}


def changed(db: str, found: dict[int, dict[str, Any]], column: str) -> set[int]:
    before = records(db, "people")
    return {i for i, row in found.items() if row[column] != before[i][column]}


RISKY = set(range(0, N, 10))


@pytest.mark.slow_but("noise-columns2-options2-False", "noise-columns1-options1-False")
@pytest.mark.parametrize(
    ("method", "columns", "options", "moves"),
    [
        ("pram", ["town"], {"keep_probability": 0.0}, False),
        ("noise", [NET], {"kind": "uncorrelated", "amount": 1.0}, False),
        ("noise", [NET], {"kind": "laplace", "epsilon": 1.0, "lower": 0.0, "upper": 2000.0}, False),
        ("swap", [NET], {"percent": 50.0}, True),
        ("swap", [NET, "town"], {"kind": "data", "rate": 1.0}, True),
    ],
)
def test_only_the_records_at_risk_are_treated(
    db: str, method: str, columns: list[str], options: dict[str, Any], moves: bool
) -> None:
    report, found = released(db, method, columns, **options)
    assert any(note == "30 of 300 records are at risk: individual > 0.2" for note in report["notes"])
    for column in columns:
        treated = changed(db, found, column)
        assert treated <= RISKY
        assert len(treated) > 20 or column == "town"
        if moves:
            before = Counter(row[column] for row in records(db, "people").values())
            assert Counter(row[column] for row in found.values()) == before
    assert len(found) == N


def test_ranks_are_those_among_the_records_at_risk(tmp_path: Path) -> None:
    """Every tenth of 300 records, which are numbered in the order of x: 10 % of them are three ranks."""
    rows = [(i, f"t{i * (i % 10 == 0)}", i) for i in range(1, 301)]
    db = made(tmp_path, rows, "id INTEGER PRIMARY KEY, town VARCHAR, x INTEGER")
    sqlmicro.audit("people", db=db, quasi=["town"], per_record="record_risk")
    given: dict[str, Any] = {"keep": ["id"], "accept_unique": ["id"], "drop": ["town"], "where_risk": "> 0.4"}
    sqlmicro.swap("people", db=db, columns=["x"], percent=10.0, into="out", **given)
    ranks = [abs(row["x"] - i) / 10 for i, row in records(db, "out").items()]
    assert 0 < max(ranks) <= 3 and ranks.count(0) < 285


@pytest.mark.slow
def test_suppression_takes_their_values_out_first(db: str) -> None:
    report, found = released(db, "suppress", [NET, "town"], k=3)
    assert report["k"] >= 3
    assert {i for i, row in found.items() if row[NET] is None and row["town"] is None} >= RISKY
    alone = {
        i for i, row in released(db, "suppress", [NET, "town"], k=3, where_risk=None)[1].items() if row["town"] is None
    }
    assert RISKY - alone


@pytest.mark.parametrize(
    ("where_risk", "risk", "expected"),
    [
        ("< 2", "class-size", RISKY), ("<=1", "class-size", RISKY), (">= 1", "individual", RISKY),
        (" > 0.9999 ", "household", {i for i in range(N) if set(range(i // 4 * 4, i // 4 * 4 + 4)) & RISKY}),
        ("> 0", "suda", RISKY), ("> 5", "individual", set()), (">= 0", "individual", set(range(N))),
    ],
)  # fmt: skip
def test_which_risk(db: str, where_risk: str, risk: str, expected: set[int]) -> None:
    _, found = released(db, "pram", ["town"], keep_probability=0.0, where_risk=where_risk, risk=risk)
    assert changed(db, found, "town") == expected


def test_without_where_risk_nothing_has_changed(db: str) -> None:
    """Draws, and what is recorded, are those of a step that knows nothing of risks."""
    report, found = released(db, "pram", ["town"], keep_probability=0.5, where_risk=None, seed="s")
    assert not {"where_risk", "risk", "risk_table"} & set(report["steps"][0]["parameters"])
    assert len(changed(db, found, "town")) > 100


@pytest.mark.parametrize(
    "text", ["0.2", "> x", "> 0.2 OR 1=1", "> 0.2; DROP TABLE people", "= 1", "> -1", "> 1e3", "> nan", "", "> 0.2 --"]
)
def test_a_bound_is_an_operator_and_a_number(text: str) -> None:
    with pytest.raises(ParameterError, match="is one of >, >=, <, <= and a number"):
        bound(text, "pram")


@pytest.mark.slow
def test_options_that_do_not_go_together(db: str) -> None:
    for method, columns, options, said in (
        ("pram", ["town"], {"keep_probability": 0.5, "invariant": True}, "keeps expected numbers over all records"),
        ("noise", [NET], {"kind": "nonlinear", "amount": 0.5}, "does not go with --kind nonlinear"),
        ("pram", ["town"], {"keep_probability": 0.5, "risk": "dis-suda"}, "dis_suda must have been measured"),
        ("pram", ["town"], {"keep_probability": 0.5, "risk_table": "record_risk_x"}, "must be a table of the risks of"),
        (
            "pram",
            ["town"],
            {"keep_probability": 0.5, "risk_table": "people"},
            "is record_risk, or a name that begins so",
        ),
        ("pram", ["town"], {"keep_probability": 0.5, "row_key": ["id", "h"], "accept_unique": [NET]}, "records by id"),
    ):
        with pytest.raises(SqlmicroError, match=said):
            released(db, method, columns, **options)
    _, found = released(db, "pram", ["town"], keep_probability=0.0, row_key=["id"], keep=["id"], accept_unique=ALL[:2])
    assert changed(db, found, "town") == RISKY


def made(path: Path, rows: list[tuple[Any, ...]], columns: str) -> str:
    db = str(path / "own.duckdb")
    with opened(db) as connection:
        connection.execute(f"CREATE TABLE people ({columns})")
        insert(connection, "people", rows)
    return db


@pytest.mark.slow
def test_a_table_that_has_changed_or_has_no_key(tmp_path: Path) -> None:
    db = made(tmp_path, [(i, "ab"[i % 2]) for i in range(10)], "id INTEGER PRIMARY KEY, town VARCHAR")
    given: dict[str, Any] = {
        "db": db,
        "columns": ["town"],
        "drop": ["id"],
        "keep_probability": 0.0,
        "where_risk": "> 0",
    }
    with pytest.raises(InputError, match="must be a table of the risks of"):
        sqlmicro.pram("people", **given)
    sqlmicro.audit("people", db=db, quasi=["town"], per_record="record_risk")
    assert sqlmicro.pram("people", dry_run=True, **given)["rows"] == 10
    with duckdb.connect(db) as connection:
        connection.execute("UPDATE people SET town = 'c' WHERE id = 3")
    with pytest.raises(InputError, match="as it was when its risks were measured"):
        sqlmicro.pram("people", **given)
    execute(db, "CREATE TABLE keyless AS SELECT town FROM people")
    sqlmicro.audit("keyless", db=db, quasi=["town"], per_record="record_risk_2")
    with pytest.raises(InputError, match="needs a table with a key"):
        sqlmicro.pram("keyless", **{**given, "drop": [], "risk_table": "record_risk_2"})
    with pytest.raises(InputError, match="must be a table of the risks of"):
        sqlmicro.pram("people", **{**given, "risk_table": "record_risk_2"})
    (tmp_path / "people.csv").write_text("town\na\nb\n")
    with pytest.raises(InputError, match="those of a table in a DuckDB database"):
        sqlmicro.pram(str(tmp_path / "people.csv"), **{**given, "db": None, "drop": [], "to": str(tmp_path / "x.csv")})


@pytest.mark.slow
def test_one_record_and_whole_persons(tmp_path: Path) -> None:
    """A person is treated as a whole where her columns are; a record alone has nobody to swap with."""
    rows = [(1, 1, "a"), (2, 1, "a"), (3, 2, "b"), (4, 2, "b"), (5, 3, "b"), (6, 3, "b")]
    db = made(tmp_path, rows, "id INTEGER PRIMARY KEY, person INTEGER, town VARCHAR")
    sqlmicro.audit("people", db=db, quasi=["town"], person=["person"], per_record="record_risk")
    given: dict[str, Any] = {
        "db": db,
        "columns": ["town"],
        "keep": ["id"],
        "accept_unique": ["id"],
        "where_risk": ">= 1",
    }
    report = sqlmicro.pram("people", person=["person"], keep_probability=0.0, into="out", **given)
    assert any("1 of 3 persons are at risk" in note for note in report["notes"])
    assert {i: row["town"] for i, row in records(db, "out").items()} == dict.fromkeys(range(1, 7), "b")
    execute(db, "DELETE FROM people WHERE id > 1")
    sqlmicro.audit("people", db=db, quasi=["town"], per_record="record_risk")
    given |= {"drop": ["person"], "alone_because": "a test"}
    sqlmicro.swap("people", kind="data", rate=1.0, into="one", **given)
    assert records(db, "one")[1]["town"] == "a"


def test_in_a_job(tmp_path: Path) -> None:
    db = made(tmp_path, [(i, "ab"[i % 7 == 0]) for i in range(14)], "id INTEGER PRIMARY KEY, town VARCHAR")
    sqlmicro.audit("people", db=db, quasi=["town"], per_record="record_risk")
    job = tmp_path / "job.toml"
    job.write_text(f'''
db = "{db}"
table = "people"
keep = ["id"]
accept_unique = ["id"]
step = [{{do = "pram", columns = ["town"], keep_probability = 0.0, where_risk = "> 0.4"}}, {{do = "publish"}}]
''')
    sqlmicro.run(str(job))
    found = records(db, "people_anonymized")
    assert {i for i, row in found.items() if row["town"] != "ab"[i % 7 == 0]} == {0, 7}


@pytest.mark.slow
def test_in_place_the_risks_go_with_the_records(tmp_path: Path) -> None:
    """The table of risks is read for the release, and is gone when the records are replaced."""
    db = made(tmp_path, [(i, "ab"[i % 7 == 0]) for i in range(14)], "id INTEGER PRIMARY KEY, town VARCHAR")
    sqlmicro.audit("people", db=db, quasi=["town"], per_record="record_risk")
    sqlmicro.pram(
        "people", db=db, columns=["town"], keep=["id"], accept_unique=["id"], keep_probability=0.0, in_place=True,
        where_risk="> 0.4",
    )  # fmt: skip
    found = records(db, "people")
    assert {i for i, row in found.items() if row["town"] != "ab"[i % 7 == 0]} == {0, 7}
    assert sqlmicro.ledger(db=db)["private"] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE people SET town = 'Z' WHERE id = 3", "as it was when its risks were measured"),
        ("DELETE FROM sqlmicro.record_risk WHERE id = 3", "must have the risk of every record"),
    ],
)
def test_risks_of_other_records_are_refused(db: str, tmp_path: Path, change: str, said: str) -> None:
    own = shutil.copy(db, tmp_path / "own.duckdb")
    with opened(own) as connection:
        connection.execute(change)
    with pytest.raises(InputError, match=said):
        released(str(own), "pram", ["town"], keep_probability=0.5)


def test_the_risks_of_a_table_are_removed_with_its_records(db: str, tmp_path: Path) -> None:
    with open_warehouse(str(shutil.copy(db, tmp_path / "own.duckdb"))) as warehouse:
        others, own = (warehouse.full(Name("", "", table)) for table in ("others", "people"))
        assert risk_tables.remove_of(warehouse, others) == []
        assert risk_tables.remove_of(warehouse, own) == ["record_risk"]
        assert risk_tables.known(warehouse) == []
