"""The scan of a warehouse: what it proposes is a job file that runs; no value of a record is in it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlmicro
from sqlmicro.jobs import policy
from sqlmicro.jobs.policy import ScanOptions
from sqlmicro.system.progress import Progress

sys.path.append(str(Path(__file__).parent / "bench"))
from _schemas import SCHEMAS, Schema
from scan import measured

QUIET = Progress(enabled=False)
KEY = "a secret key of a few bytes"


def made(folder: Path, *statements: str) -> str:
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    return str(folder / "w.duckdb")


def scanned(db: str, **options: Any) -> Any:
    return tomllib.loads(sqlmicro.scan(db=db, **options)["toml"])


PERSONS = """CREATE TABLE persons AS SELECT 70500 + i AS id, 'Canary' || i || '@example.org' AS mail,
    20 + i % 50 AS age, ['f', 'm'][1 + i % 2] AS sex FROM range(300) r(i)"""
VISITS = """CREATE TABLE visits AS SELECT i AS visit, 70500 + (hash(i) % 290)::INTEGER AS patient_id,
    (hash(i, 1) % 90)::INTEGER AS cost, (hash(i, 2) % 6)::INTEGER + 1 AS ward_id, 'Canary ' || i % 40 AS note
    FROM range(1500) r(i)"""
WARDS = "CREATE TABLE wards AS SELECT i + 1 AS id, 'ward ' || i AS title FROM range(6) r(i)"
TEXTS = ("Canary", "canary", "ward 3", "70500", "70501")


@pytest.mark.parametrize("declared", [False, True])
def test_a_policy_runs_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: bool) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    db = made(tmp_path, PERSONS, VISITS, WARDS)
    if declared:
        made(
            tmp_path,
            "CREATE SCHEMA d", "CREATE TABLE d.persons (id INTEGER PRIMARY KEY, age INTEGER, sex VARCHAR)",
            "INSERT INTO d.persons SELECT id, age, sex FROM persons",
            "CREATE TABLE d.visits (whose INTEGER REFERENCES d.persons (id), cost INTEGER)",
            "INSERT INTO d.visits SELECT patient_id, cost FROM visits",
            "DROP TABLE persons", "DROP TABLE visits",
        )  # fmt: skip
    found = scanned(db)
    assert found["leave_out"] == ["wards"]
    if declared:
        assert found["key"] == [{"from": "d.visits.whose", "to": "d.persons.id"}]
    else:
        assert found["key"] == [{"from": "visits.patient_id", "to": "persons.id"}]
        tables = {table["name"]: table for table in found["table"]}
        assert tables["persons"]["drop"] == ["mail"]
        assert tables["visits"]["step"][0]["person"] == ["patient_id"]
        assert tables["visits"]["step"][0]["columns"] == ["cost", "ward_id", "note"]
    text = sqlmicro.scan(db=db)["toml"]
    assert [word for word in TEXTS if word in text.replace(str(tmp_path), "")] == []
    (tmp_path / "p.toml").write_text(
        text.replace('do = "safe"', 'do = "safe"\nmethod = "cluster"\nalgorithm = ["mdav"]')
    )
    report = sqlmicro.run(str(tmp_path / "p.toml"), dry_run=True)
    lost = [check["value"] for table in report["tables"] for check in table["audits"] if "join" in check["check"]]
    assert lost == [0]
    assert sqlmicro.plan(str(tmp_path / "p.toml"))["passed"]


def test_nothing_is_written(tmp_path: Path) -> None:
    db = made(tmp_path, PERSONS, VISITS)
    before = (tmp_path / "w.duckdb").read_bytes()
    scanned(db)
    assert (tmp_path / "w.duckdb").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_names_may_be_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    hostile = 'net "income"; DROP # \\ \' . [[table]]'
    quoted = '"' + hostile.replace('"', '""') + '"'
    db = made(
        tmp_path, f"CREATE SCHEMA {quoted}",
        f"CREATE TABLE {quoted}.{quoted} AS SELECT i AS person_id, i % 9 AS {quoted} FROM range(90) r(i)",
        f"CREATE TABLE {quoted} AS SELECT i % 90 AS person_id, i % 9 AS {quoted}, NULL AS empty FROM range(400) r(i)",
        "CREATE TABLE nothing (person_id INTEGER, x INTEGER)", "CREATE TABLE one AS SELECT 1 AS person_id, 2 AS x",
    )  # fmt: skip
    found = scanned(db)
    assert [table["name"] for table in found["table"]] == [hostile, f"{quoted}.{quoted}"]
    assert sorted(found["leave_out"]) == ["nothing", "one"]
    (tmp_path / "p.toml").write_text(sqlmicro.scan(db=db)["toml"])
    assert sqlmicro.plan(str(tmp_path / "p.toml"))["passed"]


def test_an_attached_database_is_scanned_too(tmp_path: Path) -> None:
    db = made(tmp_path, PERSONS)
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 70500 + i % 300 AS person_id, i % 7 x FROM range(900) r(i)")
    found = scanned(db, attach=[f"crm={tmp_path / 'other.duckdb'}"])
    assert [table["name"] for table in found["table"]] == ["crm.main.visits", "persons"]
    assert found["key"] == [{"from": "crm.main.visits.person_id", "to": "persons.id"}]


def test_releases_are_not_scanned(tmp_path: Path) -> None:
    db = made(tmp_path, PERSONS)
    sqlmicro.mdav("persons", db=db, columns=["age"], k=3, rest="drop", into="out")
    assert [table["name"] for table in scanned(db)["table"]] == ["persons"]


@pytest.mark.parametrize(("statements", "words"), [([WARDS], "about persons"), (["SELECT 1"], "none in 0 tables")])
def test_a_warehouse_without_persons(tmp_path: Path, statements: list[str], words: str) -> None:
    with pytest.raises(sqlmicro.InputError, match=words):
        scanned(made(tmp_path, *statements))


def test_a_column_that_repeats_like_a_person_key_needs_no_name(tmp_path: Path) -> None:
    """Birth date and sex depend on `x7`, of which one value has 5 rows; nothing depends on `z`, which repeats too."""
    db = made(
        tmp_path,
        """CREATE TABLE stays AS SELECT i // 5 AS x7, (hash(i) % 200)::INTEGER AS z, i AS cost,
        DATE '1950-01-01' + (hash(i // 5) % 9000)::INTEGER AS born, ['f', 'm'][1 + (hash(i // 5, 1) % 2)::INT] AS sex
        FROM range(2000) r(i)""",
    )
    (table,), (keys,) = (lambda found: (found.tables, found.persons))(policy.scanned(ScanOptions(db=db), QUIET))
    assert [(key.column, key.rows_per_person) for key in keys] == [("x7", 5.0)]
    assert "born, sex depends on it" in keys[0].why
    assert table.rows == 2000


@pytest.mark.slow
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_precision_and_recall(schema: Schema, tmp_path: Path) -> None:
    for what, there, found, precision, recall in measured(schema, tmp_path):
        assert min(precision, recall) >= 0.95, (what, there ^ found)
