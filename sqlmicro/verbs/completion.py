"""Completion at the shell: names of tables and columns of the database that is named on the line already.

Only the catalog is read, and nothing is waited for: of a file that is locked, or is no database, nothing is offered.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from sqlmicro.options.params import Parameter
from sqlmicro.registry import late

_OF = ("table", "original", "first", "release")
Complete = Callable[[Any, str], list[str]]


def completer(parameter: Parameter) -> Complete | None:
    """Return what completes the values of a parameter, or None where the shell does it or nobody can."""
    if parameter.param.metavar == "TABLE" and not parameter.param.positional:
        return lambda ctx, incomplete: _starting(_tables(ctx.params), incomplete)
    if parameter.param.metavar in ("A,B", "A"):
        return lambda ctx, incomplete: _of_list(_columns(ctx.params), incomplete)
    return None


def _starting(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _of_list(names: list[str], incomplete: str) -> list[str]:
    """Complete the last name of a comma list; those that are there are not offered again.

    >>> _of_list(["age", "sex", "area"], "sex,a")
    ['sex,age', 'sex,area']
    """
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [before + comma + name for name in _starting(names, last) if name not in there]


def _tables(given: Mapping[str, Any]) -> list[str]:
    return _names(
        given,
        "SELECT table_name FROM duckdb_tables() WHERE database_name = $1 AND schema_name = 'main' "
        "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = $1 "
        "ORDER BY ALL",
    )


def _columns(given: Mapping[str, Any]) -> list[str]:
    named = [given[name] for name in _OF if given.get(name)]
    table = named[0] if named else None
    if isinstance(table, list | tuple):
        table = table[0]
    if table is None:
        return []
    return _names(
        given,
        "SELECT column_name FROM duckdb_columns() WHERE database_name = $1 AND schema_name = 'main' "
        "AND lower(table_name) = lower($2) ORDER BY column_index",
        table,
    )


def _names(given: Mapping[str, Any], look_up: str, *values: str) -> list[str]:
    """Return the names that a look-up in the catalog finds and that need no quotes on the command line."""
    found: list[str] = []
    if not given.get("db"):
        return found
    open_warehouse = late("sqlmicro.database.opening", "open_warehouse")
    with contextlib.suppress(Exception), open_warehouse(given["db"], read_only=True) as warehouse:
        found = [str(name) for (name,) in warehouse.query("catalog", look_up, [warehouse.catalog, *values])]
    return [name for name in found if name.replace("_", "").isalnum()]
