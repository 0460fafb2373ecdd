"""Texts and labels in the catalog that may quote records: definitions, comments, ENUM types, recorded releases, names.

DuckDB shows the default arguments of a macro nowhere but in what EXPORT DATABASE writes: that is done with a copy of
the definitions in memory, into the private folder for temporary files.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlmicro.database import risk_tables
from sqlmicro.database.catalog import free_name
from sqlmicro.database.templates import Name, Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure import enums
from sqlmicro.errors import QueryError

_WHERE = "residue"
RECORDS = "sqlmicro"
SHORTEST_NUMBER = 4
COPY = "COPY FROM DATABASE {{ old | ident }} TO {{ new | ident }} (SCHEMA)"
_OURS = frozenset(
    {"the table has no such column", "no table has such a column", "more than 8 releases", "ORDER_DEFAULT"}
)
"""What the macros quote that `sqlmicro macros` installs, and a word that DuckDB 1.5 writes for an ORDER BY in them."""
_TELLING = re.compile(r"\w")
_EXISTS = "SELECT 1 FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3"
_DEFINITIONS = (
    ("view", "SELECT schema_name || '.' || view_name, sql FROM duckdb_views() WHERE NOT internal AND "),
    ("check", "SELECT schema_name || '.' || table_name, expression FROM duckdb_constraints() "
     "WHERE constraint_type = 'CHECK' AND "),
    ("default", "SELECT schema_name || '.' || table_name || '.' || column_name, column_default FROM duckdb_columns() "
     "WHERE column_default IS NOT NULL AND "),
    ("index", "SELECT schema_name || '.' || index_name, sql FROM duckdb_indexes() WHERE sql IS NOT NULL AND "),
)  # fmt: skip
_TRIGGERS = "SELECT schema_name || '.' || trigger_name, sql FROM duckdb_triggers() WHERE "
_MACROS = (
    "SELECT count(DISTINCT function_oid) FROM duckdb_functions() "
    "WHERE NOT internal AND macro_definition IS NOT NULL AND database_name = $1"
)
_LISTING = (
    "SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal AND starts_with(function_name, 'duckdb_')"
)
_listed: dict[str, frozenset[str]] = {}
_NAME = r'(?:"(?:[^"]|"")*"|[^\s."(]+)'
_MACRO = re.compile(rf"(?s)CREATE MACRO (?P<name>(?:{_NAME}\.)?{_NAME}) \(.*")
_STATEMENTS = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'";])+;""")
_COMMENTED = (
    ("tables", "table", "table_name"), ("columns", "column", "table_name || '.' || column_name"),
    ("views", "view", "view_name"), ("indexes", "index", "index_name"), ("sequences", "sequence", "sequence_name"),
    ("types", "type", "type_name"), ("functions", "macro", "function_name"), ("schemas", "schema", ""),
    ("triggers", "trigger", "trigger_name"),
)  # fmt: skip
_NAMES = (
    ("schemas", "schema", "'the database'", "[schema_name]"), ("tables", "table", "schema_name", "[table_name]"),
    ("columns", "column", "schema_name || '.' || table_name", "[column_name]"),
    ("views", "view", "schema_name", "[view_name]"), ("indexes", "index", "schema_name", "[index_name]"),
    ("sequences", "sequence", "schema_name", "[sequence_name]"), ("types", "type", "schema_name", "[type_name]"),
    ("functions", "macro", "schema_name", "list_prepend(function_name, parameters)"),
    ("columns", "field", "schema_name || '.' || table_name || '.' || column_name", "[data_type]"),
    ("constraints", "constraint", "schema_name || '.' || table_name", "[constraint_name]"),
    ("triggers", "trigger", "schema_name", "[trigger_name]"),
)  # fmt: skip


def labels(warehouse: Database, catalog: str) -> list[tuple[str, str, list[str]]]:
    """Return the labels of every ENUM type, also within other types: kind of place, name, labels."""
    named = [
        ("labels of a type", f"{one.name.schema}.{one.name.table}", enums.labels_of(one.kind))
        for one in enums.types(warehouse, catalog)
    ]
    return named + [
        ("labels of a column's type", f"{one.name.schema}.{one.name.table}.{one.column}", enums.labels_of(one.kind))
        for one in enums.columns(warehouse, catalog)
    ]


def texts(warehouse: Database, catalog: str) -> Iterator[tuple[str, str, str]]:
    """Yield every definition and comment: kind of place, name, text."""
    yield from _defined(warehouse, catalog)
    yield from (("comment", f"{kind} {where}", text) for kind, where, text in comments(warehouse, catalog))


def _defined(warehouse: Database, catalog: str) -> Iterator[tuple[str, str, str]]:
    """Yield every definition: kind of place, name, text."""
    listed = list(_DEFINITIONS)
    if has(warehouse, "triggers"):
        listed.append(("trigger", _TRIGGERS))
    for kind, select in listed:
        rows = warehouse.query(_WHERE, select + "database_name = $1 ORDER BY ALL", [catalog])
        yield from ((kind, where, text) for where, text in rows)
    yield from (("macro", where, text) for where, text in _macros(warehouse, catalog))


def comments(warehouse: Database, catalog: str) -> list[tuple[str, str, str]]:
    """Return every comment: of what kind of object, its name, and the comment, tags among them."""
    found = []
    for entries, kind, name in _COMMENTED:
        if not has(warehouse, entries):
            continue
        of_schema = "schema_name" + f" || '.' || {name}" * bool(name)
        tags = "CASE WHEN cardinality(tags) > 0 THEN CAST(tags AS VARCHAR) END" if entries != "columns" else "NULL"
        rows = warehouse.query(
            _WHERE,
            "SELECT {{ name }}, concat_ws(' ', comment, {{ tags }}) AS said FROM {{ entries }}() "
            "WHERE database_name = $1 AND said <> '' ORDER BY ALL",
            [catalog],
            name=Sql(of_schema),
            tags=Sql(tags),
            entries=Sql(f"duckdb_{entries}"),
        )
        found += [(kind, str(where), str(text)) for where, text in rows if text != risk_tables.SAID]
    return found


def names(warehouse: Database, catalog: str) -> list[tuple[str, str, list[str]]]:
    """Return the names that the owner gave: of what, where those are (never the name itself), and the names."""
    found: dict[tuple[str, str], list[str]] = {}
    for entries, kind, where, of in _NAMES:
        if has(warehouse, entries):
            rows = warehouse.query(
                _WHERE,
                "SELECT DISTINCT {{ where }}, unnest({{ names }}) FROM {{ entries }}() "
                "WHERE database_name = $1 ORDER BY ALL",
                [catalog],
                where=Sql(where),
                names=Sql(of),
                entries=Sql(f"duckdb_{entries}"),
            )
            for place, name in (row for row in rows if row[1] is not None):
                given = _fields(str(name)) if kind == "field" else [str(name)]
                found.setdefault((kind, str(place)), []).extend(given)
    return [(kind, where, given) for (kind, where), given in found.items()]


def _fields(kind: str) -> list[str]:
    """Return the words of a nested type, the names of its fields among them, without labels.

    >>> _fields("STRUCT(\\"a \\"\\"b\\" INTEGER, c ENUM('d')[])"), _fields("DECIMAL(3,1)")
    (['STRUCT', 'a "b', 'INTEGER', 'c', 'ENUM'], ['DECIMAL'])
    """
    words = re.findall(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[^\W\d]\w*""", kind)
    return [word[1:-1].replace('""', '"') if word[0] == '"' else word for word in words if word[0] != "'"]


def has(warehouse: Database, kind: str) -> bool:
    """Tell whether this DuckDB lists such entries of a catalog: that goes by its version, not by the database."""
    if warehouse.version not in _listed:
        _listed[warehouse.version] = frozenset(str(name) for (name,) in warehouse.query(_WHERE, _LISTING))
    return f"duckdb_{kind}" in _listed[warehouse.version]


def _macros(warehouse: Database, catalog: str) -> list[tuple[str, str]]:
    """Return name and definition of every macro, default arguments included.

    Raises
    ------
    QueryError
        When DuckDB does not write as many as it lists.
    """
    ((there,),) = warehouse.query(_WHERE, _MACROS, [catalog])
    if not there:
        return []
    found = [_MACRO.match(text.strip()) for text in _STATEMENTS.findall(_exported(warehouse, catalog))]
    made = [(one["name"], one.string) for one in found if one]
    if len(made) != there:
        raise QueryError(_WHERE, f"the definitions of {there:,} macros must be readable", f"{len(made):,}")
    return [(".".join(_parts(name)), text) for name, text in made]


@contextmanager
def definitions(warehouse: Database, catalog: str) -> Iterator[str]:
    """Lend a database in memory with the definitions of another one, without records, for the length of the block."""
    copied = free_name(warehouse, "definitions")
    warehouse.query(_WHERE, "ATTACH ':memory:' AS {{ copied | ident }} (READ_WRITE)", copied=copied)
    try:
        warehouse.query(_WHERE, COPY, old=catalog, new=copied)
        yield copied
    finally:
        warehouse.query(_WHERE, "DETACH {{ copied | ident }}", copied=copied)


def _exported(warehouse: Database, catalog: str) -> str:
    """Return the definitions of a database as EXPORT DATABASE writes them."""
    text = "EXPORT DATABASE {{ copied | ident }} TO {{ folder | lit }}"
    with definitions(warehouse, catalog) as copied, tempfile.TemporaryDirectory(dir=warehouse.temp) as folder:
        warehouse.query(_WHERE, text, copied=copied, folder=folder)
        return (Path(folder) / "schema.sql").read_text(encoding="utf-8")


def _parts(name: str) -> list[str]:
    """Return the parts of a name as the owner wrote them, schema first.

    >>> _parts('plus1'), _parts('"q.s"."a ""b"')
    (['main', 'plus1'], ['q.s', 'a "b'])
    """
    parts = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in re.findall(_NAME, name)]
    return parts if len(parts) > 1 else ["main", *parts]


@dataclass(frozen=True)
class Quoting:
    """A definition that quotes texts or numbers which no record holds: what it is, its name, and how many."""

    kind: str
    where: str
    literals: int


def not_held(warehouse: Database, catalog: str) -> list[Quoting]:
    """Return the definitions of a database that quote what no record of its tables holds."""
    quoted = {
        (kind, where, text): set(filter(_TELLING.search, literals(text, SHORTEST_NUMBER)))
        for kind, where, text in _defined(warehouse, catalog)
    }
    wanted = sorted(set().union(*quoted.values()))
    held = _OURS | (_held(warehouse, catalog, wanted) if wanted else set())
    return [Quoting(kind, where, len(found - held)) for (kind, where, _), found in quoted.items() if found - held]


def _held(warehouse: Database, catalog: str, wanted: list[str]) -> set[str]:
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


def records(warehouse: Database, catalog: str) -> list[tuple[str, str]]:
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


def said(comment: str) -> list[str]:
    """Return the words and numbers of a comment.

    >>> said("asked Anna O'Neil, 98765.50, on 2020-01-31")
    ['asked', 'Anna', "O'Neil", '98765.50', 'on', '2020-01-31']
    """
    return re.findall(r"\w+(?:[-'.:]\w+)*", comment)


def literals(text: str, shortest_number: int) -> list[str]:
    """Return the texts and numbers that a definition quotes, numbers of so many characters at least.

    >>> literals("CHECK (name <> 'it''s' AND \\"wife's\\" <> 'x' AND salary < 98765 AND size < 12e9 AND age > 18)", 4)
    ["it's", 'x', '98765', '12e9']
    """
    text = re.sub(r"CAST\('[tf]' AS BOOLEAN\)", " ", text)  # what DuckDB 1.5 writes for true and false
    quoted = re.compile(r"""'((?:[^']|'')*)'|"(?:[^"]|"")*\"""")  # of the two, a name is no literal
    numbers = re.findall(r"(?<![\w.])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![\w.])", quoted.sub(" ", text))
    return [found[1].replace("''", "'") for found in quoted.finditer(text) if found[1] is not None] + [
        number for number in numbers if len(number) >= shortest_number
    ]
