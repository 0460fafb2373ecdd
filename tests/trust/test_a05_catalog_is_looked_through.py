"""After a purge a raw value is gone from the file, or the place in the catalog that still has it is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from looping import each

import sqlmicro
from sqlmicro.database.templates import Name
from sqlmicro.erasure import statements

VERSION = tuple(int(part) for part in duckdb.__version__.split(".")[:2])
TRIGGERS = VERSION >= (2, 0)
RAW = "Raw-Anna"
MADE = """CREATE TABLE t (a INTEGER, b VARCHAR); INSERT INTO t VALUES (1, 'x'); CREATE VIEW v AS SELECT a FROM t;
CREATE MACRO m(x) AS x; CREATE MACRO tm(x) AS TABLE SELECT x AS z; CREATE SEQUENCE s; CREATE INDEX i ON t (b);
CREATE TYPE e AS ENUM (''); CREATE SCHEMA "o.s";"""
PLACES = {
    "of table main.t:": f"COMMENT ON TABLE t IS 'as {RAW} said'",
    "of column main.t.a:": f"COMMENT ON COLUMN t.a IS '{RAW}'",
    "of view main.v:": f"COMMENT ON VIEW v IS '{RAW}'",
    "of column main.v.a:": f"COMMENT ON COLUMN v.a IS '{RAW}'",
    "of macro main.m:": f"COMMENT ON MACRO m IS '{RAW}'",
    "of macro main.tm:": f"COMMENT ON MACRO TABLE tm IS '{RAW}'",
    "of sequence main.s:": f"COMMENT ON SEQUENCE s IS '{RAW}'",
    "of index main.i:": f"COMMENT ON INDEX i IS '{RAW}'",
    "of type main.e:": f"COMMENT ON TYPE e IS '{RAW}'",
    "in macro main.f;": f"CREATE MACRO f(x) AS x = '{RAW}'",
    "in macro main.g;": f"CREATE MACRO g(x, y := '{RAW}') AS x = y",
    "in macro main.it's (y;": f"CREATE MACRO \"it's (y\"(x, y := ['{RAW}']) AS TABLE SELECT x, y",
    "in macro o.s.h;": f"CREATE MACRO \"o.s\".h(x) AS x, (x, y, z := {{'k': '{RAW}'}}) AS x + y",
    "in view main.w;": f"CREATE VIEW w AS SELECT $${RAW}$$ AS z FROM t",
    "in check main.c;": f"CREATE TABLE c (a VARCHAR CHECK (a <> '{RAW}'))",
    "in default main.d.a;": f"CREATE TABLE d (a VARCHAR DEFAULT '{RAW}')",
    "in default main.g.b;": f"CREATE TABLE g (a VARCHAR, b VARCHAR GENERATED ALWAYS AS (a || '{RAW}'))",
    "in index main.j;": f"CREATE INDEX j ON t ((b || '{RAW}'))",
    "of type n;": f"CREATE TYPE n AS ENUM ('{RAW}')",
    "of column k.a;": f"CREATE TABLE k (a ENUM('{RAW}')[])",
}
ERASED = (
    f"CREATE VIEW w AS SELECT a /* {RAW} */ FROM v", f"CREATE VIEW ww AS SELECT a -- {RAW}\nFROM n.main.t",
    f"CREATE UNIQUE INDEX j ON t (a /* {RAW} */)",
)  # fmt: skip


def database(folder: Path, *made: str) -> Path:
    path = folder / "n.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS n (STORAGE_VERSION 'v1.2.0'); USE n")
        for statement in (MADE, *made):
            con.execute(statement)
    assert RAW.encode() in path.read_bytes() or not made
    return path


def told(report: dict[str, object]) -> str:
    assert isinstance(report["not_erased"], list)
    found = "\n".join(report["not_erased"])
    assert RAW not in found
    return found


def test_a_catalog_without_texts_is_clean(tmp_path: Path) -> None:
    assert sqlmicro.purge(db=str(database(tmp_path)))["clean"] is True


def test_places_that_still_have_a_raw_value_are_named(tmp_path: Path) -> None:
    some = list(PLACES)[1::2]
    report = sqlmicro.purge(db=str(database(tmp_path, *(PLACES[named] for named in some))))
    assert sum(named.startswith("of ") for named in some) <= 6, "that many comments are named, and the others counted"
    assert report["clean"] is False
    for named in some:
        assert named.removeprefix("of ").strip(":;") in told(report)


@pytest.mark.slow
@each("named", PLACES)
def test_a_place_that_still_has_a_raw_value_is_named(tmp_path: Path, named: str) -> None:
    """Each alone, so that no other place makes the report unclean."""
    path = database(tmp_path, PLACES[named])
    report = sqlmicro.purge(db=str(path))
    assert RAW.encode() in path.read_bytes(), "the control: where nothing is left, nothing need be named"
    assert report["clean"] is False
    assert named in told(report)


def test_what_no_catalog_shows_is_erased(tmp_path: Path) -> None:
    """DuckDB keeps the statement of a view or index as it was typed, and copies it to a fresh file."""
    path = database(tmp_path, "COMMENT ON COLUMN v.a IS ''", *ERASED)
    assert path.read_bytes().count(RAW.encode()) >= len(ERASED)
    report = sqlmicro.purge(db=str(path))
    assert RAW.encode() not in path.read_bytes()
    assert report["clean"] is True, report["not_erased"]


def test_a_view_that_cannot_be_made_anew_is_named_and_stays(tmp_path: Path) -> None:
    dead = f"CREATE TABLE gone (x INTEGER); CREATE VIEW w AS SELECT x /* {RAW} */ FROM gone; DROP TABLE gone"
    path = database(tmp_path, dead)
    report = sqlmicro.purge(db=str(path))
    assert report["clean"] is False
    assert "as they were typed, with comments: main.w;" in told(report)
    with duckdb.connect(str(path), read_only=True) as con:
        views = con.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()
        assert views == [("v",), ("w",)]


def test_a_view_that_would_be_another_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = statements._make

    def other(warehouse: Any, kind: str, name: Name, sql: str, comment: str | None) -> None:
        real(warehouse, kind, name, "CREATE VIEW v AS SELECT 2 AS a" if kind == "VIEW" else sql, comment)

    path = database(tmp_path)
    monkeypatch.setattr(statements, "_make", other)
    assert "with comments: main.v;" in told(sqlmicro.purge(db=str(path)))
    with duckdb.connect(str(path), read_only=True) as con:
        assert con.execute("SELECT a FROM v").fetchall() == [(1,)]


@pytest.mark.skipif(not TRIGGERS, reason="needs triggers: pip install 'duckdb>=2'")
def test_a_trigger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS n (STORAGE_VERSION 'v2.0.0'); USE n")
        con.execute(MADE + "CREATE TABLE u (a VARCHAR)")
        con.execute(f"CREATE TRIGGER tr AFTER INSERT ON t FOR EACH STATEMENT INSERT INTO u VALUES ('{RAW}')")
    report = sqlmicro.purge(db=str(path))
    assert report["clean"] is False and "in trigger main.tr;" in told(report)


# Every column of text that DuckDB's catalog has, so that a new one is noticed. The rest is of DuckDB's own words.
LOOKED = {
    "schemas": {"schema_name", "comment", "tags"},
    "types": {"type_name", "comment", "tags", "labels"},
    "sequences": {"sequence_name", "comment", "tags"},
    "tables": {"table_name", "comment", "tags"},
    "columns": {"column_name", "comment", "column_default", "data_type"},
    "constraints": {"constraint_name", "expression"},
    "indexes": {"index_name", "comment", "tags", "sql"},
    "views": {"view_name", "comment", "tags", "sql"},
    "functions": {"function_name", "comment", "tags", "parameters", "macro_definition"},
    "triggers": {"trigger_name", "comment", "tags", "sql"},
}
OTHERS = {
    "schemas": {"sql", "parent_schema"},  # CREATE SCHEMA and a name
    "types": {"logical_type", "type_category", "extension_name", "parameters", "parameter_types", "varargs"},
    "sequences": {"sql"},  # numbers of the sequence itself
    "tables": {"sql"},  # columns, defaults and checks, each looked through by itself
    "columns": {"generation_expression", "tags"},  # column_default has it; no statement sets tags of a column
    "constraints": {"constraint_type", "constraint_text", "constraint_column_names", "referenced_table",
                    "referenced_column_names"},
    "indexes": {"expressions"},
    "views": set(),
    "functions": {"alias_of", "function_type", "description", "return_type", "parameter_types", "varargs",
                  "extension_name", "examples", "stability", "categories"},
    "triggers": {"action_timing", "event_manipulation", "columns", "for_each"},
}  # fmt: skip
PARENTS = {"database_name", "schema_name", "table_name", "database_oid"}


@pytest.mark.parametrize("entries", sorted(LOOKED))
def test_every_text_of_the_catalog_is_looked_through(entries: str) -> None:
    if entries == "triggers" and not TRIGGERS:
        pytest.skip("DuckDB 1.5 has no triggers: pip install 'duckdb>=2'")
    with duckdb.connect() as con:
        found = con.execute(f"DESCRIBE SELECT * FROM duckdb_{entries}()").fetchall()
    texts = {name for name, kind, *_ in found if "VARCHAR" in kind}
    assert texts - LOOKED[entries] - OTHERS[entries] - PARENTS == set(), "a text that nobody looks through"


# Residue: the values are known, so places are exact


def test_residue_finds_values_in_comments_arguments_and_names(tmp_path: Path) -> None:
    path = tmp_path / "r.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE o AS SELECT * FROM (VALUES ('Anna', 98765.5), ('Bo', 2), ('Cy', 3)) r(name, income)")
        con.execute(f"COPY o TO '{tmp_path / 'o.parquet'}'")
        con.execute("CREATE TABLE p AS PIVOT o ON name USING sum(income); DELETE FROM p")
        con.execute('CREATE TABLE q (s STRUCT("Bo" INTEGER)); CREATE TABLE k (a INTEGER)')
        con.execute("COMMENT ON COLUMN k.a IS 'as Bo told, but not Di'; COMMENT ON TABLE k IS 'innocent'")
        con.execute("CREATE MACRO f(x, y := 'Cy', z := 98765.50) AS x; CREATE MACRO g(\"Bo\") AS 1; DROP TABLE o")
        con.execute("CREATE TABLE released (name VARCHAR, income DOUBLE); INSERT INTO released VALUES (NULL, 5)")
    looked = sqlmicro.residue("released", db=str(path), original=str(tmp_path / "o.parquet"))
    places = {(place["place"], place["where"]): place["values"] for place in looked["places"]}
    assert places == {
        ("names (column)", "main.p"): 3,
        ("names (field)", "main.q.s"): 1,
        ("comment", "column main.k.a"): 1,
        ("macro", "main.f"): 2,
        ("names (macro)", "main"): 1,
    }
