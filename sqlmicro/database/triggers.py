"""Triggers on tables that are written to: they would keep what is replaced, or change what was audited."""

from __future__ import annotations

from functools import cache

from sqlmicro.database import postgres
from sqlmicro.database.catalog import kind_of
from sqlmicro.database.templates import Name, statement
from sqlmicro.database.warehouse import Database

# When triggers are first listed, the views of the system are made, which takes as long as ten look-ups.
_DUCKDB = """SELECT trigger_name FROM duckdb_triggers()
WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2) AND lower(table_name) = lower($3)
ORDER BY 1"""
_SQLITE = """SELECT name FROM sqlite_master
WHERE type = 'trigger' AND lower(tbl_name) = lower({{ name.table | lit }}) ORDER BY 1"""
_MYSQL = """SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = {{ name.schema | lit }} AND event_object_table = {{ name.table | lit }} ORDER BY 1"""
_THEIRS = {
    "sqlite": ("SELECT * FROM sqlite_query({{ catalog | lit }}, {{ asked | lit }})", _SQLITE),
    "mysql": ("SELECT * FROM mysql_query({{ catalog | lit }}, {{ asked | lit }})", _MYSQL),
}
_DUCKDB_ANY = """SELECT count(*) FROM duckdb_triggers() WHERE lower(database_name) = lower($1)"""
_CATALOG = "catalog"


def none_in(warehouse: Database, catalog: str) -> bool:
    """Tell whether a database is known to have no triggers at all, without looking at each of its tables."""
    if kind_of(warehouse, catalog) != "duckdb":
        return False
    return not _has_triggers(warehouse.version) or warehouse.query(_CATALOG, _DUCKDB_ANY, [catalog]) == [(0,)]


def on(warehouse: Database, table: Name) -> list[str]:
    """Return the names of the triggers on a table that exists, whatever kind of database it is in."""
    kind = kind_of(warehouse, table.catalog)
    if kind == postgres.KIND:
        return warehouse.mirrors[table.catalog.lower()].triggers(table)
    if kind in _THEIRS:
        ask, text = _THEIRS[kind]
        asked = str(statement(text, name=table))
        rows = warehouse.query(_CATALOG, ask, catalog=table.catalog, asked=asked)
    elif kind == "duckdb" and _has_triggers(warehouse.version):
        rows = warehouse.query(_CATALOG, _DUCKDB, list(warehouse.full(table)))
    else:
        return []
    return [str(name) for (name,) in rows]


@cache
def _has_triggers(version: str) -> bool:
    """Tell whether a DuckDB of this version knows triggers, which it does from 2.0 on."""
    return not version.startswith(("v0.", "v1."))
