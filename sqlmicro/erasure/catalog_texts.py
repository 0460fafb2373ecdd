"""Texts and labels in the catalog that may quote records: definitions, comments, ENUM types, recorded releases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sqlmicro.erasure import enums
from sqlmicro.templates import Name
from sqlmicro.warehouse import Warehouse

_WHERE = "residue"
RECORDS = "sqlmicro"
_EXISTS = "SELECT 1 FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3"
_DEFINITIONS = (
    ("view", "SELECT schema_name || '.' || view_name, sql FROM duckdb_views() WHERE NOT internal AND "),
    ("macro", "SELECT schema_name || '.' || function_name, macro_definition FROM duckdb_functions() WHERE NOT internal "
     "AND macro_definition IS NOT NULL AND "),
    ("check", "SELECT schema_name || '.' || table_name, expression FROM duckdb_constraints() "
     "WHERE constraint_type = 'CHECK' AND "),
    ("default", "SELECT schema_name || '.' || table_name || '.' || column_name, column_default FROM duckdb_columns() "
     "WHERE column_default IS NOT NULL AND "),
    ("index", "SELECT schema_name || '.' || index_name, sql FROM duckdb_indexes() WHERE sql IS NOT NULL AND "),
)  # fmt: skip
_TRIGGERS = "SELECT schema_name || '.' || trigger_name, sql FROM duckdb_triggers() WHERE "
_COMMENTED = (
    ("tables", "table_name"), ("columns", "table_name || '.' || column_name"), ("views", "view_name"),
    ("indexes", "index_name"), ("sequences", "sequence_name"), ("types", "type_name"), ("functions", "function_name"),
    ("schemas", "schema_name"),
)  # fmt: skip


def labels(warehouse: Warehouse, catalog: str) -> list[tuple[str, str, list[str]]]:
    """Return the labels of every ENUM type: kind of place, name, labels."""
    found = warehouse.query(
        _WHERE,
        "SELECT 'labels of a type', schema_name || '.' || type_name, labels FROM duckdb_types() "
        "WHERE database_name = $1 AND NOT internal AND logical_type = 'ENUM' ORDER BY ALL",
        [catalog],
    )
    columns = warehouse.query(
        _WHERE,
        "SELECT c.schema_name || '.' || c.table_name || '.' || c.column_name, c.data_type "
        "FROM duckdb_columns() c JOIN duckdb_tables() t USING (table_oid, database_name) "
        "WHERE c.database_name = $1 AND contains(c.data_type, 'ENUM(') ORDER BY ALL",
        [catalog],
    )
    return [*found, *(("labels of a column's type", where, enums.labels_of(kind)) for where, kind in columns)]


def texts(warehouse: Warehouse, catalog: str) -> Iterator[tuple[str, str, str]]:
    """Yield every definition and comment: kind of place, name, text."""
    definitions = list(_DEFINITIONS)
    if warehouse.query(_WHERE, "SELECT 1 FROM duckdb_functions() WHERE function_name = 'duckdb_triggers' LIMIT 1"):
        definitions.append(("trigger", _TRIGGERS))
    for kind, select in definitions:
        rows = warehouse.query(_WHERE, select + "database_name = $1 ORDER BY ALL", [catalog])
        yield from ((kind, where, text) for where, text in rows)
    for entries, name in _COMMENTED:
        rows = warehouse.query(
            _WHERE,
            "SELECT " + name + ", comment FROM duckdb_" + entries + "() "
            "WHERE comment IS NOT NULL AND database_name = $1 ORDER BY ALL",
            [catalog],
        )
        yield from (("comment", where, text) for where, text in rows)


def records(warehouse: Warehouse, catalog: str) -> list[tuple[str, str]]:
    """Return what was recorded of releases as JSON: name of the table, text."""
    found = []
    for table in ("releases", "audits", "candidates"):
        name = Name(catalog, RECORDS, table)
        if warehouse.query(_WHERE, _EXISTS, list(name)):
            rows = warehouse.query(_WHERE, "SELECT to_json(r) FROM {{ table | ident }} AS r", table=name)
            found += [(f"{RECORDS}.{table}", str(text)) for (text,) in rows]
    return found


def words(text: str) -> list[str]:
    """Return the texts in a JSON value, keys included, also those in JSON that is quoted in it.

    >>> words('{"columns": ["sex"], "parameters": "{\\\\"Bonn\\\\": 1}"}')
    ['columns', 'sex', 'parameters', 'Bonn']
    """

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)
        elif isinstance(value, str):
            try:
                quoted = json.loads(value) if value.startswith(("{", "[")) else None
            except ValueError:  # a text or a name that only begins like JSON
                quoted = None
            yield from (value,) if quoted is None else walk(quoted)

    return list(walk(json.loads(text)))


def literals(text: str, shortest_number: int) -> list[str]:
    """Return the texts and numbers that a definition quotes, numbers of so many characters at least.

    >>> literals("CHECK (name <> 'it''s' AND salary < 98765 AND age > 18)", 4)
    ["it's", '98765']
    """
    quoted = re.compile(r"'((?:[^']|'')*)'")
    numbers = re.findall(r"(?<![\w.])-?\d[\d.]*(?![\w.])", quoted.sub(" ", text))
    return [found.replace("''", "'") for found in quoted.findall(text)] + [
        number for number in numbers if len(number) >= shortest_number
    ]
