"""Texts and labels in the catalog that may quote records: definitions, comments, ENUM types, recorded releases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name
from sqlmicro.erasure import enums

_WHERE = "residue"
RECORDS = "sqlmicro"
SHORTEST_NUMBER = 4
_OURS = frozenset({"the table has no such column", "no table has such a column", "more than 8 releases"})
"""What the macros quote that `sqlmicro macros` installs."""
_TELLING = re.compile(r"\w")
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


def labels(warehouse: DuckDBWarehouse, catalog: str) -> list[tuple[str, str, list[str]]]:
    """Return the labels of every ENUM type, also within other types: kind of place, name, labels."""
    named = [
        ("labels of a type", f"{one.name.schema}.{one.name.table}", enums.labels_of(one.kind))
        for one in enums.types(warehouse, catalog)
    ]
    return named + [
        ("labels of a column's type", f"{one.name.schema}.{one.name.table}.{one.column}", enums.labels_of(one.kind))
        for one in enums.columns(warehouse, catalog)
    ]


def texts(warehouse: DuckDBWarehouse, catalog: str) -> Iterator[tuple[str, str, str]]:
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


@dataclass(frozen=True)
class Quoting:
    """A definition that quotes texts or numbers which no record holds: what it is, its name, and how many."""

    kind: str
    where: str
    literals: int


def not_held(warehouse: DuckDBWarehouse, catalog: str) -> list[Quoting]:
    """Return the definitions of a database that quote what no record of its tables holds."""
    quoted = {
        (kind, where, text): set(filter(_TELLING.search, literals(text, SHORTEST_NUMBER)))
        for kind, where, text in texts(warehouse, catalog)
        if kind != "comment"
    }
    wanted = sorted(set().union(*quoted.values()))
    held = _OURS | (_held(warehouse, catalog, wanted) if wanted else set())
    return [Quoting(kind, where, len(found - held)) for (kind, where, _), found in quoted.items() if found - held]


def _held(warehouse: DuckDBWarehouse, catalog: str, wanted: list[str]) -> set[str]:
    """Return those literals that occur in a table."""
    tables = warehouse.query(
        _WHERE,
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal "
        "AND schema_name <> $2 ORDER BY ALL",
        [catalog, RECORDS],
    )
    held: set[str] = set()
    for schema, table in tables:
        relation = Name(catalog, schema, table)
        names = [name for name, _ in warehouse.describe(relation)]
        rows = warehouse.rows("erasure/held_literals.sql", log=False, relation=relation, columns=names, literals=wanted)
        held |= {str(literal) for (literal,) in rows}
    return held


def records(warehouse: DuckDBWarehouse, catalog: str) -> list[tuple[str, str]]:
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
    text = re.sub(r"CAST\('[tf]' AS BOOLEAN\)", " ", text)  # what DuckDB 1.5 writes for true and false
    quoted = re.compile(r"'((?:[^']|'')*)'")
    numbers = re.findall(r"(?<![\w.])-?\d[\d.]*(?![\w.])", quoted.sub(" ", text))
    return [found.replace("''", "'") for found in quoted.findall(text)] + [
        number for number in numbers if len(number) >= shortest_number
    ]
