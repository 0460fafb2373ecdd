"""Macros and types of a warehouse that are called like DuckDB's own, and the names that statements of ours call."""

from __future__ import annotations

import ast
import contextlib
import re
from functools import cache
from pathlib import Path

import duckdb
from sources import nodes

import sqlmicro
from sqlmicro.database import templates

SYNTAX = (
    "list_value", "struct_pack", "row", "array_extract", "list_extract", "struct_extract", "array_slice", "date_part",
    "count_star", "unnest", "like_escape", "ilike_escape", "to_days", "to_months", "to_years", "map", "error",
    "coalesce", "nullif", "list_apply", "list_filter", "current_date", "current_timestamp", "if", "constant_or_null",
)  # fmt: skip
"""What DuckDB calls for syntax that has no name in the statement."""
WORST = (
    "encode", "getvariable", "sum", "count_star", "count", "min", "max", "sha256", "hash", "abs", "round", "||",
    "lower", "list_contains", "duckdb_tables", "duckdb_constraints", "row", "date_part", "+", "struct_pack",
)  # fmt: skip
SCALAR, TABLE = "scalar", "table"
_CALLED = re.compile(r"\b([A-Za-z_]\w*) ?\(")


@cache
def built_in() -> dict[str, list[str]]:
    """Return the names of all functions of DuckDB, operators included, and which kinds of macro can shadow each."""
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT function_name, list(DISTINCT function_type IN ('table', 'table_macro', 'pragma')) "
            "FROM duckdb_functions() GROUP BY ALL ORDER BY 1"
        ).fetchall()
    return {name: [TABLE if is_table else SCALAR for is_table in sorted(kinds)] for name, kinds in found}


def texts() -> list[str]:
    """Return the templates, and every text in the program: some are SQL."""
    found = [path.read_text(encoding="utf-8") for path in sorted(templates.root().rglob("*.sql"))]
    for path in sorted(Path(sqlmicro.__file__).parent.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


@cache
def called() -> list[str]:
    """Return the name of every function, operator included, that a statement of ours may call."""
    words = {word.lower() for text in texts() for word in _CALLED.findall(text)} | set(SYNTAX)
    return sorted(
        name
        for name in built_in()
        if name.lower() in words or name.startswith("duckdb_") or not re.match(r"\w", name)  # look-ups, operators
    )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shadow(connection: duckdb.DuckDBPyConnection, name: str, schema: str, kind: str) -> None:
    """Make a macro of a name for any number of arguments up to six: DuckDB has one kind of macro for a name."""
    arguments = [", ".join("abcdef"[:count]) for count in range(7)]
    body = "'shadow'" if kind == SCALAR else "TABLE (SELECT 'shadow' AS shadow)"
    bodies = ", ".join(f"({listed}) AS {body}" for listed in arguments)
    connection.execute(f"CREATE MACRO {schema}.{quoted(name)}{bodies}")


def unshadow(connection: duckdb.DuckDBPyConnection, name: str, schema: str, kind: str) -> None:
    what = "MACRO" if kind == SCALAR else "MACRO TABLE"
    connection.execute(f"DROP {what} {schema}.{quoted(name)}")


def shadow_types(connection: duckdb.DuckDBPyConnection, schema: str) -> int:
    """Make types that are called like DuckDB's own, where it lets us; return how many it took."""
    with duckdb.connect() as fresh:
        names = {name for (name,) in fresh.execute("SELECT DISTINCT type_name FROM duckdb_types()").fetchall()}
    made = 0
    for name in sorted(names | {"VARCHAR", "DOUBLE", "BLOB", "JSON", "UBIGINT", "BIGINT", "HUGEINT", "TIMESTAMP"}):
        with contextlib.suppress(duckdb.Error):
            connection.execute(f"CREATE TYPE {schema}.{quoted(name)} AS ENUM ('shadow')")
            made += 1
    return made
