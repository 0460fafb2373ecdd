"""The views of a database, read from its catalog: their columns and what they read. None of them is run."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlmicro.database.catalog import label
from sqlmicro.database.duckdb_protocol import DuckDB
from sqlmicro.database.templates import Name

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


def views(warehouse: DuckDB) -> list[View]:
    """Return the views of the database and of those attached to it; the macros and files in them are left alone."""
    relations = {
        tuple(part.lower() for part in name): Name(*name)
        for name in warehouse.query(
            "catalog",
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
            "UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views()",
        )
    }
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


def _read(warehouse: DuckDB, sql: str, macros: Collection[str]) -> Iterator[Name | None]:
    """Yield the relations in the text of a view, as they are written there; None for what may be anything."""
    head = _HEAD.match(sql)
    text = sql[head.end() :] if head else ""
    ((told,),) = warehouse.query("catalog", "SELECT json_serialize_sql($1)", [text])
    tree = json.loads(told)
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
