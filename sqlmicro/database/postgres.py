"""An attached PostgreSQL database: what the server says of its tables, and what it is told to do with them."""

from __future__ import annotations

from typing import Any

from sqlmicro.database.duckdb_protocol import DuckDB
from sqlmicro.database.templates import Name, Params, ident, statement
from sqlmicro.errors import InputError

KIND = "postgres"
# Whoever may create a function or an operator in a schema of the search path could have it called for one of the
# server's own that takes other types: everything is named with its schema.
_TRIGGERS = """SELECT tgname::pg_catalog.text FROM pg_catalog.pg_trigger
WHERE tgrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass
  AND NOT tgisinternal AND tgenabled OPERATOR(pg_catalog.<>) 'D' ORDER BY 1"""
_KIND = """SELECT relkind::pg_catalog.text FROM pg_catalog.pg_class
WHERE oid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass"""
_PATH = "SELECT unnest FROM pg_catalog.unnest(pg_catalog.current_schemas(true))"


def ask(warehouse: DuckDB, relation: Name, text: str) -> list[tuple[Any, ...]]:
    """Return what the server answers to a query about a table."""
    asked = statement(text, table=str(ident(server_name(relation))))
    return warehouse.query(
        "catalog",
        "SELECT * FROM postgres_query({{ catalog | lit }}, {{ asked | lit }})",
        catalog=relation.catalog,
        asked=str(asked),
    )


def refuse_shadowing(warehouse: DuckDB, catalog: str, where: str) -> None:
    """Refuse a server that looks functions up in the user's schemas before its own, which DuckDB's statements call.

    Raises
    ------
    InputError
        With the schema that comes first.
    """
    asked = warehouse.query(
        "catalog", "SELECT * FROM postgres_query({{ catalog | lit }}, {{ asked | lit }})", catalog=catalog, asked=_PATH
    )
    first = next((str(name) for (name,) in asked if not str(name).startswith("pg_temp")), "")
    if first != "pg_catalog":
        raise InputError(
            where,
            "the functions of the server must come first in its search path",
            f"schema {first!r} before pg_catalog",
            "Have it changed: ALTER ROLE … SET search_path, with pg_catalog first or left out",
        )


def is_table(warehouse: DuckDB, relation: Name) -> bool:
    """Tell whether a relation holds records of its own; for DuckDB the server's views are tables too."""
    return ask(warehouse, relation, _KIND)[0][0] in ("r", "p")


def command(relation: Name, text: str) -> tuple[str, Params]:
    """Return the statement, and its names, that has the server run `text` on a table in the open transaction."""
    told = str(statement(text, table=server_name(relation)))
    return "CALL postgres_execute({{ catalog | lit }}, {{ told | lit }})", {"catalog": relation.catalog, "told": told}


def triggers(warehouse: DuckDB, relation: Name) -> list[str]:
    """Return the names of the triggers on a table that are switched on."""
    return [str(name) for (name,) in ask(warehouse, relation, _TRIGGERS)]


def server_name(relation: Name) -> Name:
    """Return how the server calls a table."""
    return relation._replace(catalog="")
