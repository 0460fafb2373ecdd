"""Functions and types of a statement of ours are DuckDB's own, whatever macros, functions and types the database has.

DuckDB takes a name from the first schema of the search path that has it, operators (`||`, `+`) and what stands behind
syntax (`[…]`, `EXTRACT`, `LIKE`) included, and by default the user's schemas come first. Here `system.main` and
`system.pg_catalog` do, in which nobody can make anything. Only the temporary schema comes before; every connection has
its own, and ours are fresh. Relations are always named in full, so the path does not decide where records come from.

One thing is left: a Python function that is registered on a connection goes into `system.main`, where it can give a
built-in function a form for other types (`hash(VARCHAR)` beside `hash(ANY)`). Such a connection is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sqlmicro.database.templates import Name, Sql, ident, statement
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import duckdb

_OURS = "system.main,system.pg_catalog"
_SET = "SET search_path = {{ path | lit }}"
_WHERE = "SELECT system.pg_catalog.current_database(), system.pg_catalog.current_schema()"
_SCHEMAS = """SELECT schema_name FROM duckdb_schemas()
WHERE database_name = $1 AND schema_name NOT IN ('information_schema', 'pg_catalog')
ORDER BY schema_name <> $2, schema_name"""
_FORMS = """SELECT function_name, CAST(parameter_types AS VARCHAR), coalesce(varargs, '')
FROM duckdb_functions() WHERE database_name = 'system'"""
_EXTENSIONS = "SELECT extension_name, coalesce(install_path, '') FROM duckdb_extensions() WHERE loaded"
_SHADOWING = """SELECT DISTINCT lower(function_name) FROM duckdb_functions()
WHERE database_name = $1 AND lower(function_name) IN (
  SELECT lower(function_name) FROM duckdb_functions() WHERE database_name = 'system')
ORDER BY ALL"""
_SHOWN = 6
_MEANING = {
    "default_collation": "",
    "integer_division": False,
    "default_null_order": "NULLS_LAST",
    "default_order": "ASC",
}
"""Settings that a connection may have for all its cursors, and that change what a statement returns."""

Form = tuple[str, str, str]
"""A function that takes certain types: its name, the types, and that of any further arguments."""
Connect = Callable[[], "duckdb.DuckDBPyConnection"]


@dataclass(frozen=True)
class Place:
    """Where a connection works: its database, the schema that a name without one means, and the path that was set."""

    catalog: str
    schema: str
    path: Sql


def come_first(connection: duckdb.DuckDBPyConnection) -> Place:
    """Put the built-in functions and types of a connection before those of its database.

    The schemas of the database follow: the checks, defaults and generated columns of its tables call their own macros.
    """
    catalog, schema = connection.execute(_WHERE).fetchall()[0]
    connection.execute(statement(_SET, path=_OURS))
    schemas = [str(name) for (name,) in connection.execute(_SCHEMAS, [catalog, schema]).fetchall()]
    path = statement(_SET, path=",".join([_OURS, *(ident(Name("", catalog, name)) for name in schemas)]))
    connection.execute(path)
    return Place(catalog, schema, path)


def settle(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a cursor the settings our statements are written for; those of the connection stay.

    Raises
    ------
    InputError
        With the settings, where they are locked.
    """
    names = sorted(_MEANING)
    asked = statement("SELECT {% for n in names %}current_setting({{ n | lit }}), {% endfor %}", names=names)
    found = dict(zip(names, connection.execute(asked).fetchall()[0], strict=True))
    other = [name for name in names if not _same(found[name], _MEANING[name])]
    try:
        for name in other:
            connection.execute(
                statement("SET SESSION {{ name | ident }} = {{ value | lit }}", name=name, value=_MEANING[name])
            )
    except Exception:
        locked = True
    else:
        locked = False
    if locked:
        raise InputError(
            "db",
            "the connection must sort, divide and compare as DuckDB does by default",
            f"{', '.join(other)} set otherwise, and the configuration locked",
            "RESET them before it is locked",
        )


def _same(found: object, meant: object) -> bool:
    return str(found).upper().startswith(str(meant).upper()) if meant != "" else found == ""


def refuse_other_forms(connection: duckdb.DuckDBPyConnection, connect: Connect) -> None:
    """Refuse a connection on which a built-in function has a form that neither DuckDB nor an extension gave it.

    `connect` opens a fresh database to compare with.

    Raises
    ------
    InputError
        With the names of the functions.
    """
    found = _forms(connection)
    others = _others(found, _known_forms(connect, frozenset()))
    if others:  # only now, because looking for extensions reads a folder, which a connection may forbid
        with contextlib.suppress(Exception):
            others = _others(found, _known_forms(connect, frozenset(connection.execute(_EXTENSIONS).fetchall())))
    if others:
        raise InputError(
            "db",
            "the functions of a connection must be DuckDB's own",
            f"functions in Python called {', '.join(others[:_SHOWN])}" + (" and more" if others[_SHOWN:] else ""),
            "Give them other names in create_function, or open the file itself",
        )


def shadowing(connection: duckdb.DuckDBPyConnection, catalog: str) -> list[str]:
    """Return the names of macros of a database that are names of built-in functions too."""
    return [str(name) for (name,) in connection.execute(_SHADOWING, [catalog]).fetchall()]


def _others(found: frozenset[Form], known: frozenset[Form]) -> list[str]:
    names = {name for name, *_ in known}
    return sorted({form[0] for form in found - known if form[0] in names})


def _forms(connection: duckdb.DuckDBPyConnection) -> frozenset[Form]:
    return frozenset(connection.execute(_FORMS).fetchall())


@cache
def _known_forms(connect: Connect, extensions: frozenset[tuple[str, str]]) -> frozenset[Form]:
    """Return the forms of functions in a fresh database that has loaded these extensions."""
    with connect() as fresh:
        for name, path in sorted(extensions):
            with contextlib.suppress(Exception):  # what it brings is then taken for somebody's
                fresh.execute(statement("LOAD {{ what | lit }}", what=path or name))
        return _forms(fresh)
