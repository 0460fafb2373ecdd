"""ENUM types: labels that no record holds any more, and types without them.

A column keeps its own copy of the type it was made with; a named type and the columns made with it are told to belong
together by their labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmicro.errors import QueryError
from sqlmicro.templates import Name, Sql, lit
from sqlmicro.warehouse import Warehouse

_WHERE = "purge"


@dataclass(frozen=True)
class Enum:
    """An ENUM type: its labels, those no record holds, the columns that have it, and whether it can be narrowed."""

    labels: tuple[str, ...]
    unused: tuple[str, ...]
    columns: tuple[tuple[Name, str], ...]
    names: tuple[Name, ...]
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


def labels_of(text: str) -> list[str]:
    """Return the labels of an ENUM type from its text.

    >>> labels_of("ENUM('a', 'it''s')")
    ['a', "it's"]
    """
    return [found.replace("''", "'") for found in re.findall(r"'((?:[^']|'')*)'", text)]


def places(enum: Enum) -> str:
    """Return the type and the columns that have it, the first four of them."""
    where = [f"type {name.table}" for name in enum.names] + [f"column {t.table}.{column}" for t, column in enum.columns]
    return ", ".join(where[:4]) + (f" and {len(where) - 4} more" if len(where) > 4 else "")


def told(enum: Enum) -> str:
    """Return where an ENUM type lists labels that no record holds, without the labels."""
    way = "only a new type can leave them out" if enum.fixed else "take them out with: sqlmicro purge --narrow-enums"
    return f"{len(enum.unused)} ENUM labels that no record holds, of {places(enum)}; {way}"


def unused(warehouse: Warehouse, catalog: str) -> list[Enum]:
    """Return the ENUM types of a database with labels that no record holds and no default names.

    Types that are part of another one, such as a list, are left out: which labels those hold is not looked up.
    """
    columns = warehouse.query(
        _WHERE,
        "SELECT c.schema_name, c.table_name, c.column_name, c.data_type, coalesce(c.column_default, '') "
        "FROM duckdb_columns() c JOIN duckdb_tables() t USING (table_oid, database_name) "
        "WHERE c.database_name = $1 AND contains(c.data_type, 'ENUM(') ORDER BY ALL",
        [catalog],
    )
    types = warehouse.query(
        _WHERE,
        "SELECT schema_name, type_name, labels FROM duckdb_types() "
        "WHERE database_name = $1 AND NOT internal AND logical_type = 'ENUM' ORDER BY ALL",
        [catalog],
    )
    bound = _bound(warehouse, catalog)
    found = {kind for *_, kind, _ in columns if kind.startswith("ENUM(") and kind.endswith(")")}
    found |= {definition(labels) for *_, labels in types}
    enums = []
    for kind in sorted(kind for kind in found if not any(kind in k and k != kind for *_, k, _ in columns)):
        own = [(Name(catalog, s, t), c) for s, t, c, k, _ in columns if k == kind]
        used = {
            row[0]
            for table, column in own
            for row in warehouse.query(
                _WHERE, "SELECT DISTINCT CAST({{ c | ident }} AS VARCHAR) FROM {{ t | ident }}", c=column, t=table
            )
        }
        named = tuple(Name(catalog, s, t) for s, t, labels in types if definition(labels) == kind)
        defaults = "".join(default for *_, k, default in columns if k == kind)
        fixed = any((table.schema, table.table, column) in bound for table, column in own)
        labels = tuple(labels_of(kind))
        left = tuple(label for label in labels if label and label not in used and lit(label) not in defaults)
        if left:
            enums.append(Enum(labels, left, tuple(own), named, fixed))
    return enums


def _bound(warehouse: Warehouse, catalog: str) -> set[tuple[str, str, str]]:
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


def narrow(warehouse: Warehouse, catalog: str, found: Sequence[Enum]) -> Mapping[str, str]:
    """Take unused labels out of the types of a database without records; return the types before and after."""
    changed = {}
    for enum in found:
        if enum.fixed:
            continue
        # DuckDB wants one label at least: an empty text stands for none.
        kind = definition([label for label in enum.labels if label not in enum.unused] or [""])
        changed[enum.definition] = kind
        for table, column in enum.columns:
            _change_type(warehouse, table._replace(catalog=catalog), column, kind)
        for name in enum.names:
            _new_type(warehouse, name._replace(catalog=catalog), kind)
    return changed


def _change_type(warehouse: Warehouse, table: Name, column: str, kind: str) -> None:
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


def _new_type(warehouse: Warehouse, name: Name, kind: str) -> None:
    """Make a named type anew, with its comment."""
    here = "WHERE database_name = $1 AND schema_name = $2 AND type_name = $3"
    ((comment,),) = warehouse.query(_WHERE, "SELECT comment FROM duckdb_types() " + here, list(name))
    warehouse.query(_WHERE, "DROP TYPE {{ name | ident }}", name=name)
    warehouse.query(_WHERE, "CREATE TYPE {{ name | ident }} AS {{ kind | sqltype }}", name=name, kind=kind)
    if comment is not None:
        warehouse.query(_WHERE, "COMMENT ON TYPE {{ name | ident }} IS {{ said | lit }}", name=name, said=comment)
