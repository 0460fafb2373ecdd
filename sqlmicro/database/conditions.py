"""A condition that somebody gives as SQL: over columns of one table, by DuckDB's own functions, and nothing else.

The text is read by DuckDB's own parser, and what is run is written anew from the tree that it made of it. A subquery, a
macro, a function of the database, or one that returns something else tomorrow is refused; `current_date` is the day of
the night. Where the condition is NULL, it does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError, QueryError

OPTION = "--only-where"
_BEFORE = "SELECT 1 WHERE "
_MUST = (
    "is a condition over columns of the table, with functions of DuckDB that always return the same, such as "
    '"last_visit < current_date - INTERVAL 2 YEAR"'
)
_OTHERS = {
    "SUBQUERY": "a subquery", "PARAMETER": "a parameter", "WINDOW": "a window function", "STAR": "*",
    "LAMBDA": "a lambda", "COLLATE": "a collation", "DEFAULT": "DEFAULT",
}  # fmt: skip
_CLASSES = ("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "OPERATOR", "CAST", "BETWEEN", "CASE", "FUNCTION",
            "TYPE")  # fmt: skip
_TODAY = ("current_date", "today", "get_current_date")
_OF_SESSION = {"getvariable", "getenv", "current_setting", "current_user", "in_search_path", "version",
               "current_localtime", "current_localtimestamp"}  # fmt: skip
"""What DuckDB 1.5 says always returns the same, of some of these, and is not of the record."""
_KNOWN = """SELECT lower(function_name) FROM duckdb_functions()
WHERE database_name = 'system' AND function_type = 'scalar' AND stability = 'CONSISTENT'
EXCEPT SELECT lower(function_name) FROM duckdb_functions() WHERE stability = 'VOLATILE'"""

Tree = dict[str, Any]


def condition(warehouse: Database, columns: Iterable[Column], text: str, day: int) -> Sql:
    """Return a condition over columns of a table as it is run on a day, counted from 1970-01-01.

    Raises
    ------
    ParameterError
        When it is none, or has what does not belong there. The message names columns and functions, and no value.
    """
    statement = _parsed(warehouse, "true")
    names = {column.name.lower() for column in columns}
    functions = {str(name) for (name,) in warehouse.query("catalog", _KNOWN)} - _OF_SESSION
    today = _condition_of(_parsed(warehouse, f"CAST('{date(1970, 1, 1) + timedelta(day)}' AS DATE)"))
    found = _on(_condition_in(warehouse, text, statement), names, today)
    parts = list(_parts(found))
    for part in parts:
        _refuse_part(part, names, functions)
    if not any(part["class"] == "COLUMN_REF" for part in parts):
        raise _refused("one over no column")
    statement["statements"][0]["node"]["where_clause"] = found
    made = warehouse.query("condition", "SELECT json_deserialize_sql(CAST($1 AS JSON))", [json.dumps(statement)])
    written = str(made[0][0])
    assert written.startswith(_BEFORE)
    return Sql(written.removeprefix(_BEFORE))


def rows_where(warehouse: Database, relation: Name, held: Sql, into: str) -> Name:
    """Return a view in staging of the rows of a table for which a condition holds.

    Raises
    ------
    ParameterError
        When it cannot be computed of these columns.
    """
    view = warehouse.staged(into)
    made = "CREATE OR REPLACE VIEW {{ view | ident }} AS SELECT * FROM {{ relation | ident }} WHERE {{ sql }}"
    try:
        warehouse.execute(into, made, view=view, relation=relation, sql=held)
        warehouse.count(view)
    except (QueryError, InputError):  # of DuckDB, whose own words may quote a value
        raise _refused("one that cannot be computed of these columns") from None
    return view


def _refused(got: str) -> ParameterError:
    return ParameterError(OPTION, _MUST, got)


def _parsed(warehouse: Database, text: str) -> Tree:
    ((found,),) = warehouse.query("condition", "SELECT json_serialize_sql($1)", [_BEFORE + text])
    return dict(json.loads(found))


def _condition_of(statement: Tree) -> Tree:
    return dict(statement["statements"][0]["node"]["where_clause"])


def _condition_in(warehouse: Database, text: str, plain: Tree) -> Tree:
    """Return the tree of a condition, where nothing else stands before or behind it."""
    found = _parsed(warehouse, text)
    if found.get("error") or len(found.get("statements", ())) != 1:
        raise _refused("something that DuckDB does not read as one")
    if _around(found) != _around(plain):
        raise _refused("more than a condition, or a parameter")
    return _condition_of(found)


def _around(statement: Tree) -> Any:
    """Return a statement without its condition, and without the places of its parts in the text."""
    (one,) = statement["statements"]
    return _placeless({**one, "node": {**one["node"], "where_clause": None}})


def _placeless(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_placeless(part) for part in tree]
    if isinstance(tree, dict):
        return {name: _placeless(part) for name, part in tree.items() if not name.startswith("query_location")}
    return tree


def _on(tree: Any, names: Collection[str], today: Tree) -> Any:
    """Return a tree in which the current date is that of a day; a column of such a name is a column."""
    if isinstance(tree, list):
        return [_on(part, names, today) for part in tree]
    if not isinstance(tree, dict):
        return tree
    name, called = tree.get("column_names"), str(tree.get("function_name", "")).lower()
    if (
        isinstance(name, list)
        and [str(one).lower() for one in name] == ["current_date"]
        and "current_date" not in names
    ):
        return today
    if tree.get("class") == "FUNCTION" and called in _TODAY and not (tree.get("arguments") or tree.get("children")):
        return today
    if tree.get("class") == "FUNCTION" and tree.get("schema") == "main" and "qualified_name" not in tree:
        # So DuckDB 1.5 reads EXTRACT, where a macro of the database could come first; a bare name is that of `system`.
        tree = {**tree, "schema": ""}
    return {key: _on(part, names, today) for key, part in tree.items()}


def _parts(tree: Any) -> Iterator[Tree]:
    """Yield every expression in a tree."""
    if isinstance(tree, list):
        for part in tree:
            yield from _parts(part)
    elif isinstance(tree, dict):
        if "class" in tree:
            yield tree
        yield from _parts(list(tree.values()))


def _refuse_part(part: Tree, names: Collection[str], functions: Collection[str]) -> None:
    kind = str(part["class"])
    if kind not in _CLASSES:
        raise _refused(_OTHERS.get(kind, kind.lower().replace("_", " ")))
    if part.get("schema") or part.get("catalog"):
        raise _refused("a function or type with the name of a schema")
    if kind == "COLUMN_REF":
        name = ".".join(map(str, part["column_names"]))
        if name.lower() not in names or len(part["column_names"]) != 1:
            raise _refused(f"{name}, which is no column of the table")
    if kind == "FUNCTION" and str(part["function_name"]).lower() not in functions:
        raise _refused(f"{part['function_name']}, which is no such function")
