"""A pseudonym is never anonymized again: tables that were joined by a key are joined by its pseudonym."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened
from world import Workbench

import sqlmicro
from sqlmicro import InputError, ParameterError

KEY = "0123456789abcdef-of-the-test"
PERSONS = 299


@pytest.fixture(params=["INTEGER", pytest.param("VARCHAR", marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make persons and visits with one key, a number or text."""
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    rng = random.Random(4)
    as_key = f"CAST({'i' if request.param == 'INTEGER' else chr(39) + 'P' + chr(39) + ' || i'} AS {request.param})"
    with opened(tmp_path / "w.duckdb") as connection:
        connection.execute(f"CREATE TABLE persons AS SELECT {as_key} AS person_key, i FROM range({PERSONS}) r(i)")
        connection.execute("ALTER TABLE persons ADD COLUMN age INTEGER")
        connection.execute("ALTER TABLE persons ADD COLUMN sex VARCHAR")
        for i in range(PERSONS):
            connection.execute(
                "UPDATE persons SET age = $1, sex = $2 WHERE i = $3", [rng.randrange(20, 60), rng.choice("fm"), i]
            )
        connection.execute("CREATE TABLE visits AS SELECT person_key, i % 5 AS ward, i % 2 AS night FROM persons")
        connection.execute("ALTER TABLE persons DROP i")
    return tmp_path


def job(folder: Path, steps: str) -> str:
    """Write a job of two tables with the same steps, columns left to `safe`."""
    sections = "".join(
        f'[[table]]\nname = "{table}"\n{steps.replace("INTO", table + "_out")}' for table in ("persons", "visits")
    )
    path = folder / "job.toml"
    path.write_text(f'db = "w.duckdb"\nseed = "s"\n{sections}', encoding="utf-8")
    return str(path)


PSEUDONYMS = '[[table.step]]\ndo = "pseudonymise"\ncolumns = ["person_key"]\n'
SAFE = '[[table.step]]\ndo = "safe"\nk = 3\nmethod = "cluster"\nalgorithm = ["mdav"]\n'
PUBLISH = '[[table.step]]\ndo = "publish"\ninto = "INTO"\n'


@pytest.mark.slow
@pytest.mark.parametrize("steps", [PSEUDONYMS + SAFE, SAFE + PSEUDONYMS], ids=["before", "after"])
def test_every_row_finds_its_row(folder: Path, steps: str) -> None:
    """`pseudonymise`, then `safe` without columns, made 99 pseudonyms of 299 persons, or died of a number."""
    report = sqlmicro.run(job(folder, steps + PUBLISH))
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as connection:
        joined = "SELECT count(*), count(DISTINCT p.person_key) FROM persons_out p JOIN visits_out v USING (person_key)"
        assert connection.execute(joined).fetchall() == [(PERSONS, PERSONS)]
        recorded = connection.execute("SELECT promised, k, k_released FROM sqlmicro.releases ORDER BY id").fetchall()
    # What is recorded, audited and explained is over the same columns, and the key is none of them.
    others = (["age", "sex"], ["ward", "night"])
    explained = sqlmicro.explain(job(folder, steps + PUBLISH))["paragraphs"]
    found = zip(report["tables"], others, recorded, explained, strict=False)  # the last paragraph is on both
    for table, columns, (promised, k, released), text in found:
        assert [one["columns"] for one in json.loads(promised)] == [columns]
        assert [one["columns"] for one in table["verdict"]["promised"]] == [columns]
        assert table["verdict"]["columns"] == columns
        assert table["verdict"]["apart"] == {"person_key": "pseudonym"}
        checked = [row for row in table["audits"] if row["check"] == "k-anonymity"]
        assert [(row["columns"], row["value"]) for row in checked] == [(columns, k)]
        assert k == released >= 3
        assert f"safe on {columns[0]} and {columns[1]}" in text
        assert f"over {columns[0]} and {columns[1]}" in text


@pytest.mark.slow_but("INTEGER-steps1")
@pytest.mark.parametrize(
    "steps",
    [
        PSEUDONYMS + '[[table.step]]\ndo = "safe"\ncolumns = ["person_key"]\n',
        PSEUDONYMS + '[[table.step]]\ndo = "mondrian"\ncolumns = ["PERSON_KEY"]\n',
        '[[table.step]]\ndo = "shuffle"\ncolumns = ["person_key"]\n' + PSEUDONYMS,
        PSEUDONYMS + '[[table.step]]\ndo = "safe"\nby = ["person_key"]\n',
    ],
)
def test_a_pseudonym_named_in_another_step_is_refused(folder: Path, steps: str) -> None:
    with pytest.raises(ParameterError, match=r"a pseudonym is not anonymized again.*person_key") as refused:
        sqlmicro.run(job(folder, steps + PUBLISH))
    assert refused.value.exit_code == 2


@pytest.mark.slow
def test_columns_of_an_earlier_step_leave_the_default_of_a_later_one(workbench: Workbench, tmp_path: Path) -> None:
    """Incomes are ranked first, `safe` takes the rest: k is promised over the rest, and the verdict says so."""
    rng = random.Random(9)
    db = workbench.make({
        "income": ("DOUBLE", [rng.lognormvariate(8, 1) for _ in range(200)]),
        "age": ("INTEGER", [rng.randrange(20, 40) for _ in range(200)]),
        "sex": ("VARCHAR", [rng.choice("fm") for _ in range(200)]),
    })  # fmt: skip
    ranked = '[[step]]\ndo = "individual-ranking"\ncolumns = ["income"]\nk = 5\n'
    safe = '[[step]]\ndo = "safe"\nk = 3\nmethod = "cluster"\nalgorithm = ["mdav"]\n'
    path = tmp_path / "job.toml"

    def made(steps: str, into: str) -> dict[str, Any]:
        path.write_text(
            f'db = "{db}"\ntable = "records"\n{steps}[[step]]\ndo = "publish"\ninto = "{into}"\n'
            'alone_because = "test"\n',
            encoding="utf-8",
        )
        return sqlmicro.run(str(path))

    report = made(ranked + safe, "rest")
    assert [step["columns"] for step in report["steps"]] == [["income"], ["age", "sex"]]
    assert report["verdict"]["headline"] == "k = 3 held over age, sex only"
    assert (report["verdict"]["colour"], report["k_released"]) == ("amber", 1)
    noisy = '[[step]]\ndo = "noise"\ncolumns = ["income"]\namount = 0.1\n'
    named = made(noisy + safe + 'columns = ["income", "age", "sex"]\n', "all")
    assert named["verdict"]["headline"].startswith("k = 3 held, but k = ")  # together with the first one
    with pytest.raises(InputError, match="needs columns to work on"):
        made(safe + safe, "twice")


def test_a_dropped_key_is_no_quasi_identifier(folder: Path) -> None:
    db = str(folder / "w.duckdb")
    report = sqlmicro.safe("persons", db=db, row_key=["person_key"], method="cluster", into="out")
    assert report["verdict"]["columns"] == ["age", "sex"]
    assert "person_key" not in str(report["audits"])
