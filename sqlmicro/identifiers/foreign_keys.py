"""Foreign keys of a warehouse: those its catalog declares, and those that names and values speak for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlmicro.database.columns import Column, ColumnProfile
from sqlmicro.database.duckdb_protocol import DuckDB
from sqlmicro.database.key_names import (
    affinity,
    base,
    marks,
    marks_of_key,
    prefix_of_tables,
    stem,
    without_prefix,
    without_table_prefix,
)
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers.tables import TableProfile, unique

_MOST = 1000
_TRIED = 4
"""Of so many tables that a column may refer to by its name, the values are compared."""
_CONTAINED = 0.95


@dataclass(frozen=True)
class FoundKey:
    """Columns of a table that refer to another one; tables by their number."""

    child: int
    columns: tuple[str, ...]
    parent: int
    to: tuple[str, ...]
    why: str


def declared(warehouse: DuckDB, tables: Sequence[TableProfile]) -> list[FoundKey]:
    """Return the foreign keys that the catalog has, between these tables."""
    number = {(*table.source.relation,): at for at, table in enumerate(tables)}
    rows = warehouse.query(
        "catalog",
        "SELECT database_name, schema_name, table_name, constraint_column_names, referenced_table, "
        "referenced_column_names FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'",
    )
    found = []
    for catalog, schema, table, columns, parent, to in rows:
        child_at, parent_at = number.get((catalog, schema, table)), number.get((catalog, schema, parent))
        if child_at is not None and parent_at is not None:
            found.append(FoundKey(child_at, tuple(columns), parent_at, tuple(to), "declared"))
    return sorted(found, key=lambda key: (key.child, key.columns))


def primary_keys(warehouse: DuckDB) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return the columns of the PRIMARY KEY of every table that has one."""
    rows = warehouse.query(
        "catalog",
        "SELECT database_name, schema_name, table_name, constraint_column_names FROM duckdb_constraints() "
        "WHERE constraint_type = 'PRIMARY KEY'",
    )
    return {(catalog, schema, table): tuple(columns) for catalog, schema, table, columns in rows}


def proposed(warehouse: Warehouse, tables: Sequence[TableProfile], known: Iterable[FoundKey]) -> list[FoundKey]:
    """Return the foreign keys that nothing declares: the name of a column speaks for it, and its values are there."""
    taken = {(key.child, column) for key in known for column in key.columns}
    names = [without_prefix(profile.column.name for profile in table.profiles) for table in tables]
    prefix = prefix_of_tables(table.name for table in tables)
    called = [without_table_prefix(table.name, prefix) for table in tables]
    stems = {stem(name) for name in called}
    parents = [(at, profile) for at, table in enumerate(tables) for profile in _keys(table)]
    marked: dict[str, list[int]] = {}
    for place, (other, key) in enumerate(parents):
        for mark in (f"table {other}", *marks_of_key(called[other], names[other][key.column.name])):
            marked.setdefault(mark, []).append(place)
    found = []
    for at, table in enumerate(tables):
        for profile in table.profiles:
            name = profile.column.name
            if (at, name) in taken or not _may_refer(profile) or _own_key(called[at], stems, table, names[at], profile):
                continue
            ranked = []
            near = {place for mark in (f"table {at}", *marks(names[at][name])) for place in marked.get(mark, ())}
            for other, key in (parents[place] for place in sorted(near)):
                same = other == at and key.column == profile.column
                if same or _form(key.column) != _form(profile.column):
                    continue
                score = affinity(called[at], names[at][name], called[other], names[other][key.column.name])
                if score > (profile.distinct == 1) and profile.distinct <= 1.05 * key.distinct:
                    ranked.append((-score, other == at, key.column.name not in tables[other].primary, other, key))
            best = _first_contained(warehouse, tables, table, profile, sorted(ranked, key=lambda item: item[:4]))
            if best is not None:
                other, key, share = best
                why = f"its name, and {100 * share:.0f} % of its values are there"
                found.append(FoundKey(at, (name,), other, (key.column.name,), why))
    return found


def _keys(table: TableProfile) -> list[ColumnProfile]:
    """Return the columns that others may refer to: every row has its own value, and the type is that of a key."""
    return [
        profile
        for profile in table.profiles
        if (unique(profile) or table.primary == (profile.column.name,)) and _may_refer(profile)
    ]


def _may_refer(profile: ColumnProfile) -> bool:
    column = profile.column
    return (column.family in ("integer", "text") or column.type == "UUID") and profile.distinct > 0


def _form(column: Column) -> str:
    return "integer" if column.family == "integer" else column.type


def _own_key(
    called: str, stems: Collection[str], table: TableProfile, names: dict[str, str], profile: ColumnProfile
) -> bool:
    """Tell whether a column is the key of its own table by its name, and not that of another one that is called so."""
    name = names[profile.column.name]
    if base(name) in stems and base(name) != stem(called):
        return False
    own = affinity("", name, called, name) >= 3 or not base(name)
    return own and (unique(profile) or table.primary == (profile.column.name,))


def _first_contained(
    warehouse: Warehouse,
    tables: Sequence[TableProfile],
    table: TableProfile,
    profile: ColumnProfile,
    ranked: Sequence[tuple[int, bool, bool, int, ColumnProfile]],
) -> tuple[int, ColumnProfile, float] | None:
    """Return the first table, by the name, that has the values of a column; a weak name needs all of them."""
    for score, _, _, other, key in ranked[:_TRIED]:
        ((sampled, contained),) = warehouse.rows(
            "load/contained_values.sql",
            child=table.source.relation,
            parent=tables[other].source.relation,
            column=profile.column,
            key=key.column,
            every=max(1, profile.distinct // _MOST),
            most=_MOST,
        )
        share = contained / sampled if sampled else 0.0
        if share >= (_CONTAINED if score <= -2 else 1.0):
            return other, key, share
    return None
