"""Foreign keys of a warehouse: those its catalog declares, and those that names and values speak for.

The tables of a warehouse, profiled one batch after the other.

Person keys: the columns that say whose record it is, in tables where persons have many records.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlmicro.database.column_names import says, words
from sqlmicro.database.columns import Column, ColumnProfile
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
from sqlmicro.database.source import Source
from sqlmicro.database.typed_columns import estimated_columns, profile_columns
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.repeated import OF_THE_PERSON

MOST_VALUES = 100
"""How many distinct values of a column are looked at, where there are thousands of columns."""
_BATCH = 800
"""Columns that are looked at together, or those of one table: it takes long for every table, and memory for each."""
_LARGE = 100_000
"""Rows above which distinct values are estimated."""


@dataclass(frozen=True)
class TableProfile:
    """A table of a warehouse, and what is known of its columns."""

    source: Source
    profiles: tuple[ColumnProfile, ...]
    primary: tuple[str, ...] = ()
    """The columns of its PRIMARY KEY."""

    @property
    def name(self) -> str:
        """How the table is named in a job file."""
        return self.source.label

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.profiles[0].rows if self.profiles else 0

    def of(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(found for found in self.profiles if found.column.name == name)


def unique(profile: ColumnProfile) -> bool:
    """Tell whether every row has a value of its own in a column."""
    return profile.rows > 0 and profile.nulls == 0 and profile.distinct == profile.rows


def profiled(
    warehouse: Warehouse, sources: Sequence[Source], primary: dict[str, tuple[str, ...]], region: str | None
) -> Iterator[TableProfile]:
    """Yield the profile of every table."""
    batch: list[Source] = []
    for source in sources:
        if batch and sum(len(one.columns) for one in (*batch, source)) > _BATCH:
            yield from _profiled(warehouse, batch, primary, region)
            batch = []
        batch.append(source)
    if batch:
        yield from _profiled(warehouse, batch, primary, region)


def _profiled(
    warehouse: Warehouse, sources: Sequence[Source], primary: dict[str, tuple[str, ...]], region: str | None
) -> Iterator[TableProfile]:
    tables: list[tuple[Source, Sequence[Column]]] = [(source, source.columns) for source in sources]
    seen = scan.seen_together(warehouse, tables, region, MOST_VALUES)
    for source, found in zip(sources, seen, strict=True):
        large = warehouse.count(source.relation) > _LARGE
        profiles = (estimated_columns if large else profile_columns)(warehouse, source)
        known = tuple(replace(profile, seen=found[profile.column]) for profile in profiles)
        yield TableProfile(source, known, primary.get(source.label, ()))


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


def declared(warehouse: Database, tables: Sequence[TableProfile]) -> list[FoundKey]:
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


def primary_keys(warehouse: Database) -> dict[tuple[str, str, str], tuple[str, ...]]:
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


_GIVEN = re.compile(
    r"(?:first|given|fore)_?names?|vor_?namen?|prenoms?|nombres?|voor_?naam|imie|primeiro_nome|for_?navn"
)
_FAMILY = re.compile(
    r"(?:last|family|sur)_?names?|nach_?namen?|familien_?namen?|nom|nom_(?:de_)?famille|apellidos?|achter_?naam|nazwisko"
    r"|sobre_?nome|cognome|etternavn|efter_?navn"
)
_FULL = re.compile(
    r"full_?names?|nom_(?:complet|et_prenom|prenom)|nombre_(?:completo|y_apellidos?)|nome_completo|imie_i_nazwisko"
)
_DEPENDENT = 0.98
_REPEATED = 0.8
_MOST_KEYS = 5000
_LOOKED_AT = 300
"""Of so many persons all columns are compared first; those that differ within none of them, within every person."""


@dataclass(frozen=True)
class PersonKey:
    """A column that says whose record it is, and why it is taken for one."""

    column: str
    why: str
    rows_per_person: float

    @property
    def repeats(self) -> bool:
        """Whether persons have many rows."""
        return self.rows_per_person > 1 / _REPEATED


def person_keys(
    warehouse: Warehouse, tables: Sequence[TableProfile], keys: Sequence[FoundKey]
) -> list[list[PersonKey]]:
    """Return the person keys of every table: of tables of persons, what refers to these, and what repeats like one."""
    prefix = prefix_of_tables(table.name for table in tables)
    found = [_named(table, without_table_prefix(table.name, prefix)) for table in tables]
    changed = True
    while changed:
        changed = False
        for key in keys:
            if len(key.columns) > 1 or not any(one.column == key.to[0] for one in found[key.parent]):
                continue
            if any(one.column == key.columns[0] for one in found[key.child]):
                continue
            profile = tables[key.child].of(key.columns[0])
            why = f"refers to persons ({tables[key.parent].name})"
            found[key.child].append(PersonKey(key.columns[0], why, _rows_per(profile)))
            changed = True
    for at, table in enumerate(tables):
        if not found[at]:
            found[at] += _dependent(warehouse, table)
    return found


def _named(table: TableProfile, called: str) -> list[PersonKey]:
    """Return the columns that are numbers of persons by their names, or by that of the table whose key they are."""
    found = []
    for profile in table.profiles:
        column = profile.column
        if not (column.family in ("integer", "text") or column.type == "UUID") or not profile.distinct:
            continue
        own = unique(profile) or table.primary == (column.name,)
        seen = profile.seen.finding
        if seen is not None and not seen.direct and seen.share is not None:
            found.append(PersonKey(column.name, seen.reason, _rows_per(profile)))
        elif says(column.name) == "person id":
            found.append(PersonKey(column.name, "its name", _rows_per(profile)))
        elif own and base(column.name) != words(column.name) and _of_persons(table, called, column.name):
            found.append(PersonKey(column.name, "the key of a table of persons", _rows_per(profile)))
    return found


def _of_persons(table: TableProfile, called: str, column: str) -> bool:
    """Tell whether a table holds persons, by its name or those of its columns, and the column is its first."""
    if table.profiles[0].column.name != column:
        return False
    names = {words(profile.column.name): profile for profile in table.profiles}
    given, family = (any(map(form.fullmatch, names)) for form in (_GIVEN, _FAMILY))
    full = any(
        _FULL.fullmatch(name) and profile.seen.finding is not None and profile.seen.finding.share
        for name, profile in names.items()
    )
    return says(f"{stem(called)}_id") == "person id" or full or (given and family)


def _dependent(warehouse: Warehouse, table: TableProfile) -> list[PersonKey]:
    """Return the column, if any, that repeats, and on which what does not change of a person depends."""
    of_person = [p.column for p in table.profiles if OF_THE_PERSON.fullmatch(words(p.column.name)) and p.distinct > 1]
    if not of_person:
        return []
    best: PersonKey | None = None
    for profile in table.profiles:
        column, least = profile.column, max(table.of(one.name).distinct for one in of_person)
        is_key = (column.family in ("integer", "text") or column.type == "UUID") and column not in of_person
        if not is_key or profile.distinct < max(20, least) or profile.distinct > _REPEATED * profile.rows:
            continue
        every = max(1, profile.distinct // _MOST_KEYS)
        ((_, _, repeated, *differing),) = warehouse.rows(
            "load/dependent_columns.sql", relation=table.source.relation, keys=[column], columns=of_person, every=every
        )
        if repeated and all(number <= (1 - _DEPENDENT) * repeated for number in differing):
            listed = ", ".join(one.name for one in of_person)
            made = PersonKey(column.name, f"it repeats, and {listed} depends on it", _rows_per(profile))
            best = made if best is None or made.rows_per_person > best.rows_per_person else best
    return [best] if best else []


def of_person(
    warehouse: Warehouse, table: TableProfile, key: PersonKey, columns: Sequence[ColumnProfile]
) -> tuple[str, ...]:
    """Return those of some columns that have one value in all records of a person, and several in the table."""
    simple = [one.column for one in columns if one.distinct > 1 and one.column.family != "other"]
    person = table.of(key.column)
    for every in (max(1, person.distinct // _LOOKED_AT), 1):
        if simple:
            ((repeated, *differing),) = warehouse.rows(
                "load/constant_columns.sql",
                relation=table.source.relation,
                key=person.column,
                columns=simple,
                every=every,
            )
            constant = [column for column, number in zip(simple, differing, strict=True) if not number]
            simple = constant if repeated or every > 1 else []
    return tuple(column.name for column in simple)


def _rows_per(profile: ColumnProfile) -> float:
    return (profile.rows - profile.nulls) / profile.distinct if profile.distinct else 0.0
