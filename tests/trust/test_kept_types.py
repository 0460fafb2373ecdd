"""Kept columns keep their type, an ENUM only the labels that are released, and what has another type is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run
from databases import opened

import sqlmicro
from sqlmicro.publish.release import with_enums_as

SECRET, INCOME, QUOTED = "SECRETDIAGNOSIS", 'net "income"', '"net ""income"""'
ENUMS = {"small_enum", "medium_enum", "large_enum"}


def described(connection: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    found = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {relation})").fetchall()
    return dict(found)


@pytest.fixture
def db(tmp_path: Path) -> str:
    """Return a database with twelve persons and an ENUM of a rare diagnosis, which one record has that is left out."""
    path = str(tmp_path / "types.duckdb")
    with opened(path) as connection:
        connection.execute(f"CREATE TYPE diagnosis AS ENUM ('flu', '{SECRET}', 'cold', 'it''s')")
        connection.execute(
            f"""CREATE TABLE persons AS SELECT (30 + i % 3)::TINYINT AS age,
            CASE WHEN i > 0 THEN i % 4 END AS {QUOTED},
            (CASE i WHEN 0 THEN '{SECRET}' WHEN 1 THEN 'it''s' ELSE 'flu' END)::diagnosis AS d,
            [(CASE i WHEN 0 THEN '{SECRET}' ELSE 'flu' END)::diagnosis] AS nested,
            (i % 5)::DECIMAL(9,2) AS pay, i AS number FROM range(12) r(i)"""
        )
    return path


def test_every_type_of_the_database_is_kept_in_a_new_table(tmp_path: Path) -> None:
    """Of ENUM types the labels that occur; everything else is the same DESCRIBE, and the same values."""
    path = str(tmp_path / "all.duckdb")
    with opened(path) as connection:
        every = "SELECT 30 + i % 3 AS age, t.* FROM test_all_types() t, range(2) r(i)"
        connection.execute(f"CREATE TABLE persons AS {every}")
        before = described(connection, "persons")
    report = sqlmicro.mdav(
        "persons", db=path, columns=["age"], rest="keep", k=2, into="released", identifier_ok=["uuid"]
    )
    with opened(path) as connection:
        after = described(connection, "released")
        kept = [name for name in before if name not in ENUMS | {"age"}]
        assert len(kept) > 45
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        for name in ENUMS:
            labels, own = (
                connection.execute(f"SELECT enum_range(NULL::{kind[name]})").fetchone()[0] for kind in (after, before)
            )
            held = {row[0] for row in connection.execute(f"SELECT DISTINCT {name}::VARCHAR FROM persons").fetchall()}
            assert labels == [label for label in own if label in held]
        for name in kept:
            # As text: of some types Python holds no value, and NaN is not equal to itself.
            texts = [
                sorted(str(row[0]) for row in connection.execute(f'SELECT "{name}"::VARCHAR FROM {table}').fetchall())
                for table in ("persons", "released")
            ]
            assert texts[0] == texts[1], name
    said = {one["column"]: (one["before"], one["after"]) for one in report["types_changed"]}
    narrowed = ("ENUM", "ENUM with the labels that occur")
    assert said == {"medium_enum": narrowed}


@pytest.mark.slow
def test_an_enum_keeps_no_label_of_a_record_that_was_left_out(db: str, tmp_path: Path) -> None:
    given = {"columns": ["age", INCOME], "keep": ["d", "nested"], "rest": "drop", "k": 3, "nulls": "suppress"}
    given["accept_unique"] = ["d", "nested"]
    for target in ({"into": "released"}, {"to": str(tmp_path / "o.parquet")}, {"to": str(tmp_path / "o.csv")}):
        report = sqlmicro.mdav("persons", db=db, **given, **target)
        assert report["suppressed"] == 1
        assert SECRET not in str(report)
        if "to" in target:
            assert SECRET.encode() not in Path(target["to"]).read_bytes()
    with duckdb.connect(db) as connection:
        kinds = described(connection, "released")
        assert (kinds["d"], kinds["nested"]) == ("ENUM('flu', 'it''s')", "VARCHAR[]")
        connection.execute(f"ATTACH '{tmp_path / 'alone.duckdb'}' AS alone; CREATE TABLE alone.t AS FROM released")
        connection.execute("CHECKPOINT alone; DETACH alone")
    assert SECRET.encode() not in (tmp_path / "alone.duckdb").read_bytes()


def test_an_enum_whose_labels_all_occur_keeps_its_type_exactly(db: str) -> None:
    with duckdb.connect(db) as connection:
        connection.execute("UPDATE persons SET d = 'cold' WHERE number = 5")
    report = sqlmicro.mdav(
        "persons", db=db, columns=["age"], keep=["d"], rest="drop", accept_unique=["d"], into="released"
    )
    with opened(db) as connection:
        assert described(connection, "released")["d"] == described(connection, "persons")["d"]
        assert connection.execute("SELECT max(d)::VARCHAR FROM released").fetchone() == ("it's",)  # its order too
    assert report["types_changed"] == []


def test_strata_are_kept_columns_too(db: str) -> None:
    with opened(db) as connection:
        connection.execute("CREATE TABLE many AS SELECT * REPLACE (i % 2 = 0 AS number) FROM persons, range(4) r(i)")
    columns = {"columns": ["age"], "by": ["number", "pay"], "keep": ["d"], "rest": "drop"}
    sqlmicro.mdav("many", db=db, k=2, into="released", **columns)
    with opened(db) as connection:
        before, after = described(connection, "many"), described(connection, "released")
    assert {name: after[name] for name in ("number", "pay")} == {name: before[name] for name in ("number", "pay")}


@pytest.mark.slow
def test_a_change_of_type_is_one_line_of_the_output(db: str) -> None:
    def printed(*more: str) -> str:
        words = [
            "mdav",
            "--db",
            db,
            "--table",
            "persons",
            "--columns",
            "age,pay",
            "--keep",
            "d",
            "--rest",
            "drop",
            "--accept-unique",
            "d",
            "--decimals",
            "--details",
            *more,
        ]
        done = run(*words, "--overwrite")
        assert done.returncode == 0, done.stderr
        assert "cold" not in done.stdout
        return " ".join(done.stdout.split())

    folder = Path(db).parent
    changed = "types changed age TINYINT → DOUBLE, d ENUM → ENUM with the labels that occur, pay DECIMAL(9,2) → DOUBLE"
    assert changed in printed("--into", "o")
    assert "d ENUM → VARCHAR" in printed("--to", str(folder / "o.parquet"))
    assert "types changed none: CSV and JSON files keep no types" in printed("--to", str(folder / "o.csv"))


def test_what_parquet_cannot_hold_is_said(db: str, tmp_path: Path) -> None:
    with opened(db) as connection:
        connection.execute("ALTER TABLE persons ADD COLUMN total HUGEINT")
    given: dict[str, Any] = {"columns": ["age"], "keep": ["total", "pay"], "rest": "drop"}
    report = sqlmicro.mdav("persons", db=db, **given, to=str(tmp_path / "o.parquet"))
    said = {one["column"]: one["after"] for one in report["types_changed"]}
    assert said == {"total": "DOUBLE of 15 digits"}


@pytest.mark.slow
def test_a_table_that_is_changed_in_place_keeps_its_definition(db: str) -> None:
    with opened(db) as connection:
        before = described(connection, "persons")
    given: dict[str, Any] = {"columns": ["age"], "rest": "keep", "in_place": True, "no_purge": True}
    given["accept_unique"] = [INCOME, "d", "nested", "number"]
    assert sqlmicro.mdav("persons", db=db, **given)["types_changed"] == []
    with opened(db) as connection:
        assert described(connection, "persons") == before
    assert [one["column"] for one in sqlmicro.mdav("persons", db=db, **given, widen=True)["types_changed"]] == ["age"]


def test_a_collation_that_is_not_kept_is_said(tmp_path: Path) -> None:
    path = str(tmp_path / "c.duckdb")
    with opened(path) as connection:
        connection.execute("CREATE TABLE persons (age DOUBLE, name VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO persons SELECT i, 'x' FROM range(6) r(i)")
    (said,) = sqlmicro.mdav("persons", db=path, columns=["age"], rest="keep", into="o")["types_changed"]
    assert said == {"column": "name", "before": "VARCHAR with a collation", "after": "VARCHAR"}


def test_a_name_that_reads_like_a_type_is_none() -> None:
    name = "\"ENUM('x', 'y') \"\" ENUM('z')\""
    kind = "STRUCT(" + name + " {0}[], m MAP({1}, DATE))"
    assert with_enums_as(kind.format("ENUM('a)', 'it''s', ',')", "ENUM('b')"), "VARCHAR") == kind.format(
        "VARCHAR", "VARCHAR"
    )
