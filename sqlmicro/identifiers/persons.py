"""Person keys: the columns that say whose record it is, in tables where persons have many records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.column_names import says, words
from sqlmicro.database.columns import ColumnProfile
from sqlmicro.database.key_names import stem
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers.foreign_keys import FoundKey
from sqlmicro.identifiers.tables import TableProfile, unique

_OF_THE_PERSON = re.compile(
    r"(?:.*_)?(?:birth|born|dob|birth_?(?:day|date|year|month)|date_of_birth|year_of_birth|geburt\w*|geb_?(?:dat|datum)"
    r"|jahrgang|sex|gender|geschlecht|race|ethnicity|nationality|staatsangehoerigkeit|naissance|nacimiento|sexe|sexo)"
    r"(?:_.*)?"
)
_DEPENDENT = 0.98
_REPEATED = 0.8
_MOST = 5000


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
    found = [_named(table) for table in tables]
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


def _named(table: TableProfile) -> list[PersonKey]:
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
        elif own and words(column.name).endswith(("id", "key", "no", "nr")) and _of_persons(table, column.name):
            found.append(PersonKey(column.name, "the key of a table of persons", _rows_per(profile)))
    return found


def _of_persons(table: TableProfile, column: str) -> bool:
    """Tell whether a table holds persons by its name, and the column is its first."""
    return table.profiles[0].column.name == column and says(f"{stem(table.name)}_id") == "person id"


def _dependent(warehouse: Warehouse, table: TableProfile) -> list[PersonKey]:
    """Return the column, if any, that repeats, and on which what does not change of a person depends."""
    of_person = [p.column for p in table.profiles if _OF_THE_PERSON.fullmatch(words(p.column.name)) and p.distinct > 1]
    if not of_person:
        return []
    best: PersonKey | None = None
    for profile in table.profiles:
        column, least = profile.column, max(table.of(one.name).distinct for one in of_person)
        is_key = (column.family in ("integer", "text") or column.type == "UUID") and column not in of_person
        if not is_key or profile.distinct < max(20, least) or profile.distinct > _REPEATED * profile.rows:
            continue
        every = max(1, profile.distinct // _MOST)
        ((repeated, *differing),) = warehouse.rows(
            "load/dependent_columns.sql", relation=table.source.relation, key=column, columns=of_person, every=every
        )
        if repeated and all(number <= (1 - _DEPENDENT) * repeated for number in differing):
            listed = ", ".join(one.name for one in of_person)
            made = PersonKey(column.name, f"it repeats, and {listed} depends on it", _rows_per(profile))
            best = made if best is None or made.rows_per_person > best.rows_per_person else best
    return [best] if best else []


def _rows_per(profile: ColumnProfile) -> float:
    return (profile.rows - profile.nulls) / profile.distinct if profile.distinct else 0.0
