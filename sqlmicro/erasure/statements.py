"""Views and indexes keep the statement that made them as it was typed, with what stood in SQL comments: made anew.

The catalog does not show it. Made from the definition that the catalog does show, they keep that one.
"""

from __future__ import annotations

import json

from sqlmicro.database.templates import Name, Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import QueryError

_WHERE = "purge"
_VIEWS = """SELECT schema_name, view_name, sql, comment, (
  SELECT json_group_object(c.column_name, c.comment) FROM duckdb_columns() c
  WHERE c.database_name = v.database_name AND c.table_oid = v.view_oid AND c.comment IS NOT NULL)
FROM duckdb_views() v WHERE database_name = $1 AND NOT internal ORDER BY ALL"""
_INDEXES = """SELECT schema_name, index_name, sql, comment FROM duckdb_indexes()
WHERE database_name = $1 AND sql IS NOT NULL ORDER BY ALL"""


def make_anew(warehouse: Database, catalog: str) -> list[str]:
    """Make the indexes and views of a database without records anew; return the views that could not be made.

    A view over a table that is gone cannot.
    """
    for schema, index, sql, comment in warehouse.query(_WHERE, _INDEXES, [catalog]):
        with warehouse.using(Name("", catalog, schema)):  # in one transaction DuckDB 1.5 takes the old one for there
            _make(warehouse, "INDEX", Name(catalog, schema, index), sql, comment)
    kept = []
    for before in warehouse.query(_WHERE, _VIEWS, [catalog]):
        schema, view, sql, comment, columns = before
        name = Name(catalog, schema, view)
        try:
            with warehouse.using(Name("", catalog, schema)), warehouse.aside():
                _make(warehouse, "VIEW", name, sql, comment)
                for column, said in json.loads(columns or "{}").items():
                    text = "COMMENT ON COLUMN {{ name | ident }}.{{ column | ident }} IS {{ said | lit }}"
                    warehouse.query(_WHERE, text, name=name, column=column, said=said)
                if before not in warehouse.query(_WHERE, _VIEWS, [catalog]):
                    raise QueryError(_WHERE, "a view that is made anew must be as before", "a difference")
        except QueryError:
            kept.append(f"{schema}.{view}")
    return kept


def _make(warehouse: Database, kind: str, name: Name, sql: str, comment: str | None) -> None:
    warehouse.query(_WHERE, "DROP {{ sql }} {{ name | ident }}", sql=Sql(kind), name=name)
    warehouse.query(_WHERE, "{{ sql }}", sql=Sql(sql.rstrip("; ")))
    if comment is not None:
        text = "COMMENT ON {{ sql }} {{ name | ident }} IS {{ said | lit }}"
        warehouse.query(_WHERE, text, sql=Sql(kind), name=name, said=comment)
