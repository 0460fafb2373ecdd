"""ENUM types, alone or within lists, structs, maps: labels that no record holds any more, and types without them.

A column keeps its own copy of the type it was made with; a named type and the columns made with it are told to belong
together by their labels.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmicro.database.templates import Name, Sql, lit
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import QueryError

_WHERE = "purge"
# The name of a field is taken first, whatever it looks like.
_ENUM = re.compile(r"""("(?:[^"]|"")*")|\bENUM\((?:'(?:[^']|'')*'(?:, )?)+\)""")


@dataclass(frozen=True)
class Typed:
    """A column of a table, or a named type ("" as its column), and its type as the database writes it."""

    name: Name
    column: str
    kind: str
    default: str = ""

    @property
    def nested(self) -> bool:
        """Whether the ENUM is within another type."""
        return definitions(self.kind) != [self.kind]


@dataclass(frozen=True)
class Enum:
    """An ENUM type: its labels, those no record holds, the columns and types it is in, and whether it must stay."""

    labels: tuple[str, ...]
    unused: tuple[str, ...]
    columns: tuple[Typed, ...]
    types: tuple[Typed, ...]
    fixed: bool

    @property
    def definition(self) -> str:
        """The type as the database writes it."""
        return definition(self.labels)


def definition(labels: Sequence[str]) -> str:
    """Return an ENUM type as the database writes it.

    >>> definition(["a", "it's"])
    "ENUM('a', 'it''s')"
    """
    return f"ENUM({', '.join(lit(label) for label in labels)})"


def definitions(kind: str) -> list[str]:
    r"""Return the ENUM types in a type.

    >>> definitions("STRUCT(\"ENUM('x')\" INTEGER, b ENUM('y')[])")
    ["ENUM('y')"]
    """
    return [found[0] for found in _ENUM.finditer(kind) if not found[1]]


def labels_of(text: str) -> list[str]:
    """Return the labels in a type.

    >>> labels_of("MAP(ENUM('a', 'it''s'), INTEGER)")
    ['a', "it's"]
    """
    return [label.replace("''", "'") for found in definitions(text) for label in re.findall(r"'((?:[^']|'')*)'", found)]


def narrowed(text: str, changed: Mapping[str, str]) -> str:
    """Return a type, or a text that quotes some, with other ENUM types in their place.

    >>> narrowed("ENUM('a', 'b')[]", {"ENUM('a', 'b')": "ENUM('a')", "ENUM('a')": "ENUM('')"})
    "ENUM('a')[]"
    """
    return _ENUM.sub(lambda found: found[0] if found[1] else changed.get(found[0], found[0]), text)


def places(enum: Enum) -> str:
    """Return the types and columns that it is in, the first four of them."""
    where = [f"type {one.name.table}" for one in enum.types]
    where += [f"column {one.name.table}.{one.column}" for one in enum.columns]
    return ", ".join(where[:4]) + (f" and {len(where) - 4} more" if len(where) > 4 else "")


def told(enum: Enum) -> str:
    """Return where an ENUM type lists labels that no record holds, without the labels."""
    way = "only a new type can leave them out" if enum.fixed else "take them out with: sqlmicro purge --narrow-enums"
    return f"{len(enum.unused)} ENUM labels that no record holds, of {places(enum)}; {way}"


def columns(warehouse: Database, catalog: str) -> list[Typed]:
    """Return the columns of tables that have an ENUM in their type."""
    rows = warehouse.query(
        _WHERE,
        "SELECT c.schema_name, c.table_name, c.column_name, c.data_type, coalesce(c.column_default, '') "
        "FROM duckdb_columns() c JOIN duckdb_tables() t USING (table_oid, database_name) "
        "WHERE c.database_name = $1 AND contains(c.data_type, 'ENUM(') ORDER BY ALL",
        [catalog],
    )
    return [Typed(Name(catalog, s, t), c, kind, default) for s, t, c, kind, default in rows if definitions(kind)]


def types(warehouse: Database, catalog: str) -> list[Typed]:
    """Return the named types that are an ENUM, or have one within."""
    rows = warehouse.query(
        _WHERE,
        "SELECT schema_name, type_name, labels FROM duckdb_types() WHERE database_name = $1 AND NOT internal "
        "ORDER BY ALL",
        [catalog],
    )
    found = []
    for schema, name, labels in rows:
        kind = definition(labels) if labels else _described(warehouse, Name(catalog, schema, name))
        found += [Typed(Name(catalog, schema, name), "", kind)] if definitions(kind) else []
    return found


def _described(warehouse: Database, name: Name) -> str:
    """Return what a named type stands for."""
    described = "SELECT column_type FROM (DESCRIBE SELECT CAST(NULL AS {{ name | ident }}))"
    return str(warehouse.query(_WHERE, described, name=name)[0][0])


def unused(warehouse: Database, catalog: str) -> list[Enum]:
    """Return the ENUM types of a database with labels that no record holds and no default names."""
    there, named, bound = columns(warehouse, catalog), types(warehouse, catalog), _bound(warehouse, catalog)
    held = {one: _texts(warehouse, one) for one in there}
    alters = not any(one.nested for one in there) or _alters_nested(warehouse)
    enums = []
    for kind in sorted({kind for one in (*there, *named) for kind in definitions(one.kind)}):
        own = [one for one in there if kind in definitions(one.kind)]
        used = {text for one in own for text in held[one]}
        defaults = "".join(one.default for one in own)
        labels = tuple(labels_of(kind))
        left = tuple(label for label in labels if label and label not in used and lit(label) not in defaults)
        if left:
            fixed = any((*one.name[1:], one.column) in bound or (one.nested and not alters) for one in own)
            within = tuple(one for one in named if kind in definitions(one.kind))
            enums.append(Enum(labels, left, tuple(own), within, fixed))
    return enums


def _texts(warehouse: Database, one: Typed) -> set[str]:
    """Return the texts in a column. Within a nested type they may be of another field than the ENUM: all count."""
    if one.nested:
        rows = warehouse.rows("erasure/nested_texts.sql", log=False, relation=one.name, column=one.column)
    else:
        select = "SELECT DISTINCT CAST({{ c | ident }} AS VARCHAR) FROM {{ t | ident }}"
        rows = warehouse.query(_WHERE, select, c=one.column, t=one.name)
    return {str(text) for (text,) in rows if text is not None}


def _bound(warehouse: Database, catalog: str) -> set[tuple[str, str, str]]:
    """Return the columns whose type cannot be changed: those of keys and checks, and all of a foreign key's parent."""
    rows = warehouse.query(
        _WHERE,
        "SELECT schema_name, table_name, unnest(constraint_column_names) FROM duckdb_constraints() "
        "WHERE database_name = $1 AND constraint_type <> 'NOT NULL' "
        "UNION SELECT c.schema_name, c.table_name, c.column_name FROM duckdb_columns() c "
        "JOIN duckdb_constraints() f ON (f.database_name, f.schema_name, f.referenced_table) "
        "= (c.database_name, c.schema_name, c.table_name) WHERE c.database_name = $1",
        [catalog],
    )
    return {(schema, table, column) for schema, table, column in rows}


def _alters_nested(warehouse: Database) -> bool:
    """Tell whether this DuckDB can change the type of a column to a nested one, which 1.5 cannot."""
    probe = warehouse.staged("nested_probe")
    warehouse.query(_WHERE, "CREATE OR REPLACE TABLE {{ probe | ident }} (x ENUM('a', 'b')[])", probe=probe)
    try:
        warehouse.query(_WHERE, "ALTER TABLE {{ probe | ident }} ALTER COLUMN x TYPE ENUM('a')[]", probe=probe)
    except QueryError:
        return False
    return True


def narrow(warehouse: Database, catalog: str, found: Sequence[Enum]) -> Mapping[str, str]:
    """Take unused labels out of the types of a database without records; return the types before and after."""
    free = [enum for enum in found if not enum.fixed]
    # DuckDB wants one label at least: an empty text stands for none.
    changed = {
        enum.definition: definition([label for label in enum.labels if label not in enum.unused] or [""])
        for enum in free
    }
    for one in dict.fromkeys(one for enum in free for one in enum.columns):
        _change_type(warehouse, one.name._replace(catalog=catalog), one.column, narrowed(one.kind, changed))
    for one in dict.fromkeys(one for enum in free for one in enum.types):
        _new_type(warehouse, one.name._replace(catalog=catalog), narrowed(one.kind, changed))
    if changed:
        _bind_views(warehouse, catalog)
    return changed


def _change_type(warehouse: Database, table: Name, column: str, kind: str) -> None:
    """Change the type of a column; the indexes of the table, which forbid that, are made anew."""
    here = "WHERE database_name = $1 AND schema_name = $2 AND table_name = $3"
    indexes = warehouse.query(
        _WHERE, "SELECT schema_name, index_name, sql, comment FROM duckdb_indexes() " + here, list(table)
    )
    for schema, name, _, comment in indexes:
        if comment is not None:
            raise QueryError(_WHERE, "an index with a comment cannot be made anew", name, "Leave out --narrow-enums")
        warehouse.query(_WHERE, "DROP INDEX {{ name | ident }}", name=Name(table.catalog, schema, name))
    warehouse.query(
        _WHERE,
        "ALTER TABLE {{ table | ident }} ALTER COLUMN {{ column | ident }} TYPE {{ kind | sqltype }}",
        table=table,
        column=column,
        kind=kind,
    )
    with warehouse.using(Name("", table.catalog, table.schema)):
        for _, _, sql, _ in indexes:
            warehouse.query(_WHERE, "{{ sql }}", sql=Sql(str(sql).rstrip("; ")))


def _new_type(warehouse: Database, name: Name, kind: str) -> None:
    """Make a named type anew, with its comment."""
    here = "WHERE database_name = $1 AND schema_name = $2 AND type_name = $3"
    ((comment,),) = warehouse.query(_WHERE, "SELECT comment FROM duckdb_types() " + here, list(name))
    warehouse.query(_WHERE, "DROP TYPE {{ name | ident }}", name=name)
    warehouse.query(_WHERE, "CREATE TYPE {{ name | ident }} AS {{ kind | sqltype }}", name=name, kind=kind)
    if comment is not None:
        warehouse.query(_WHERE, "COMMENT ON TYPE {{ name | ident }} IS {{ said | lit }}", name=name, said=comment)


def _bind_views(warehouse: Database, catalog: str) -> None:
    """Have the views with an ENUM bound to the new types: till then the catalog shows those they were made with."""
    rows = warehouse.query(
        _WHERE,
        "SELECT DISTINCT v.schema_name, v.view_name FROM duckdb_views() v JOIN duckdb_columns() c "
        "ON c.database_name = v.database_name AND c.table_oid = v.view_oid "
        "WHERE v.database_name = $1 AND NOT v.internal AND contains(c.data_type, 'ENUM(') ORDER BY ALL",
        [catalog],
    )
    for schema, view in rows:
        # One that reads what is not there any more is left as it is.
        with warehouse.using(Name("", catalog, schema)), contextlib.suppress(QueryError):
            warehouse.describe(Name(catalog, schema, view))
