"""Person keys: the columns that say whose record it is, in tables where persons have many records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.column_names import says, words
from sqlmicro.database.columns import ColumnProfile
from sqlmicro.database.key_names import base, prefix_of_tables, stem, without_table_prefix
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers.foreign_keys import FoundKey
from sqlmicro.identifiers.repeated import OF_THE_PERSON
from sqlmicro.identifiers.tables import TableProfile, unique

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
_MOST = 5000
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
        every = max(1, profile.distinct // _MOST)
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
