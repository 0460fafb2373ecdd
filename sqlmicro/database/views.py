"""The views of a database, read from its catalog: their columns and what they read. None of them is run."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlmicro.database.catalog import label
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database

_NAME = r"""(?:"(?:[^"]|"")*"|[^\s".(]+)"""
_HEAD = re.compile(
    r"CREATE VIEW NAME(?:\.NAME){0,2}\s*(?:\(NAME(?:,\s*NAME)*\))?\s+AS\s+".replace("NAME", _NAME), re.IGNORECASE
)


@dataclass(frozen=True)
class View:
    """A view: how `--table` names it, its columns, and the tables and views of the database that it reads."""

    label: str
    columns: tuple[str, ...]
    reads: tuple[str, ...]
    only_these: bool
    """Whether it reads nothing else: no file, no function, no other database."""


def views(warehouse: Database) -> list[View]:
    """Return the views of the database and of those attached to it; the macros and files in them are left alone."""
    relations = _relations(warehouse)
    macros = {
        str(name).lower()
        for (name,) in warehouse.query("catalog", "SELECT function_name FROM duckdb_functions() WHERE NOT internal")
    }
    rows = warehouse.query(
        "catalog",
        """SELECT v.database_name, v.schema_name, v.view_name, v.sql,
          (SELECT list(c.column_name ORDER BY c.column_index) FROM duckdb_columns() AS c
            WHERE c.database_oid = v.database_oid AND c.schema_oid = v.schema_oid AND c.table_oid = v.view_oid)
        FROM duckdb_views() AS v
        WHERE NOT internal AND NOT temporary
          AND schema_name NOT IN ('sqlmicro', 'information_schema', 'pg_catalog')
          AND (database_name = $1 OR list_contains($2, database_name))
        ORDER BY ALL""",
        [warehouse.catalog, warehouse.attached],
    )
    found = []
    for catalog, schema, view, sql, columns in rows:
        name = Name(catalog, schema, view)
        reads: dict[str, None] = {}
        only_these = True
        for place in _read(warehouse, sql or "", macros):
            relation = _resolved(place, name, relations) if place else None
            only_these = only_these and relation is not None
            if relation is not None:
                reads[label(warehouse, relation)] = None
        found.append(View(label(warehouse, name), tuple(columns or ()), tuple(reads), only_these and bool(reads)))
    return found


def _relations(warehouse: Database) -> dict[tuple[str, ...], Name]:
    """Return the tables and views of all databases by their names in small letters."""
    return {
        tuple(part.lower() for part in name): Name(*name)
        for name in warehouse.query(
            "catalog",
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
            "UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views()",
        )
    }


@dataclass(frozen=True)
class FilesRead:
    """The files that a view reads: every text in it that may be a path or pattern; and whether these are `all`."""

    patterns: frozenset[str]
    all: bool
    definition: str
    """A hash of its text, and of those of the views and macros that it reads through."""


def files_read(warehouse: Database, view: Name) -> FilesRead:
    """Return the files that a view reads, through other views and macros too; it is not run."""
    relations, found = _relations(warehouse), set[str]()
    texts = {
        tuple(part.lower() for part in name): str(sql)
        for *name, sql in warehouse.query(
            "catalog", "SELECT database_name, schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal"
        )
    }
    functions, macros = set[str](), dict[str, list[tuple[str, set[str]]]]()
    for name, kind, text, parameters in warehouse.query(
        "catalog", "SELECT function_name, function_type, macro_definition, parameters FROM duckdb_functions()"
        " WHERE NOT internal OR function_type = 'table'",
    ):  # fmt: skip
        functions.add(str(name).lower())
        if "macro" in str(kind):
            names = {str(parameter).lower() for parameter in parameters or ()}
            macros.setdefault(str(name).lower(), []).append((str(text), names))
    waiting: list[tuple[Name, str, set[str]]] = [(view, _without_head(texts.get(_key(view), "")), set())]
    seen, complete = set[tuple[Name, str]](), True
    while waiting:
        inside, text, parameters = waiting.pop()
        if (inside, text) in seen:
            continue
        seen.add((inside, text))
        tree = _tree(warehouse, text)
        tree = _tree(warehouse, text, "SELECT ") if tree.get("error") else tree  # the macro of a value
        nodes = list(_nodes(tree))
        own = {str(one["key"]).lower() for node in nodes for one in _listed(node.get("cte_map"))}
        complete = complete and not tree.get("error") and bool(nodes)
        for node in nodes:
            called = str(node.get("function_name") or "").lower()
            given = node.get("arguments") or node.get("children") or []
            if called in macros or (called in functions and called not in _NO_FILES):
                found.update(text for one in _nodes(given) for text in _texts(one))
                complete = complete and _is_plain(given, parameters) and called not in _TEXT_IS_RUN
            for body, names in macros.get(called, ()):
                complete = complete and len(given) >= len(names)  # what a parameter is by default is not told
                waiting.append((inside, body, names))
            if node.get("type") == "BASE_TABLE":
                name = Name(*(str(node.get(f"{part}_name") or "") for part in ("catalog", "schema", "table")))
                relation = _resolved(name, inside, relations)
                if relation is None and (name.schema or name.table.lower() not in own):
                    found.add(name.table)
                elif relation is not None and _key(relation) in texts:
                    waiting.append((relation, _without_head(texts[_key(relation)]), set()))
    definition = sha256(json.dumps(sorted(seen)).encode()).hexdigest()
    return FilesRead(frozenset(found), complete, definition)


_NO_FILES = frozenset({"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"})
"""Functions of tables that read no file; of all others it is taken that they may."""
_TEXT_IS_RUN = frozenset({"query", "query_table"})


def _key(name: Name) -> tuple[str, ...]:
    return tuple(part.lower() for part in name)


def _texts(node: dict[str, Any]) -> Iterator[str]:
    """Yield the text of a constant, as DuckDB 1.5 and 2.0 write it."""
    if node.get("class") == "CONSTANT":
        for part in (node.get("value"), node.get("literal")):
            for text in (part.get("value"), part.get("text")) if isinstance(part, dict) else ():
                if isinstance(text, str):
                    yield text


def _is_plain(node: Any, parameters: Collection[str]) -> bool:
    """Tell whether what a function is given is written there, or is what a macro is given."""
    if isinstance(node, list):
        return all(_is_plain(one, parameters) for one in node)
    if not isinstance(node, dict) or node.get("class") == "CONSTANT":
        return True
    kind = node.get("class")
    if kind == "COLUMN_REF":
        return str((node.get("column_names") or [""])[-1]).lower() in parameters
    if kind == "COMPARISON":  # a parameter by its name
        return isinstance(node.get("left"), dict) and _is_plain(node.get("right"), parameters)
    if kind == "FUNCTION" and node.get("function_name") not in ("list_value", "struct_pack", "row"):
        return False
    return kind in (None, "FUNCTION", "CAST", "OPERATOR") and all(
        _is_plain(one, parameters) for one in node.values() if isinstance(one, dict | list)
    )


def _without_head(sql: str) -> str:
    head = _HEAD.match(sql)
    return sql[head.end() :] if head else ""


def _tree(warehouse: Database, text: str, before: str = "") -> Any:
    ((told,),) = warehouse.query("catalog", "SELECT json_serialize_sql($1 || $2)", [before, text])
    return json.loads(told)


def _read(warehouse: Database, sql: str, macros: Collection[str]) -> Iterator[Name | None]:
    """Yield the relations in the text of a view, as they are written there; None for what may be anything."""
    tree = _tree(warehouse, _without_head(sql))
    nodes = list(_nodes(tree))
    own = {str(one["key"]).lower() for node in nodes for one in _listed(node.get("cte_map"))}
    if tree.get("error") or not nodes:
        yield None
    for node in nodes:
        if node.get("type") == "TABLE_FUNCTION" or str(node.get("function_name")).lower() in macros:
            yield None
        elif node.get("type") == "BASE_TABLE":
            name = Name(*(str(node.get(f"{part}_name") or "") for part in ("catalog", "schema", "table")))
            if name.schema or name.table.lower() not in own:
                yield name


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield all that a syntax tree is made of; it may be deep."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
        if isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one


def _listed(cte_map: Any) -> list[dict[str, Any]]:
    """Return the subqueries that a statement names (WITH)."""
    return [one for one in cte_map.get("map", []) if "key" in one] if isinstance(cte_map, dict) else []


def _resolved(written: Name, view: Name, relations: dict[tuple[str, ...], Name]) -> Name | None:
    """Return the relation that a view means by a name."""
    catalog, schema, table = written
    for place in (
        (catalog or view.catalog, schema or view.schema, table),
        (catalog or view.catalog, schema or "main", table),
        (schema, "main", table),
    ):
        found = relations.get(tuple(part.lower() for part in place))
        if found is not None:
            return found
    return None
