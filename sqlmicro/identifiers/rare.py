"""Columns that have no mode to release: those most of whose values fewer than k have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlmicro.database.columns import Column, ColumnProfile
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse

K = 3
"""What a value is rare below where nobody has said a k yet."""
_NESTED = ("STRUCT", "JSON", "BLOB", "UUID")
_AT_ONCE = 16
"""So many columns are counted while a file is read once."""
_CODES_FROM = 100
"""Whole numbers from here on may be codes of somebody; below it they are counts, ages and classes."""
_UNITS = (
    'SELECT count(*){% for key in who %}, count(DISTINCT hash({{ key | listed("{name}") }})){% endfor %} '
    "FROM {{ relation | ident }}"
)


@dataclass(frozen=True)
class FewerThan:
    """How many must have a value, for it to be common: records, and persons and households where columns tell them."""

    k: int = K
    persons: Sequence[Column] = ()
    households: Sequence[Column] = ()

    @property
    def who(self) -> dict[str, Sequence[Column]]:
        """The columns that tell whose record it is, by what they tell."""
        return {unit: key for unit, key in (("persons", self.persons), ("households", self.households)) if key}

    @property
    def reason(self) -> str:
        """Why a column is left out, in words that show no value.

        >>> FewerThan(5).reason
        'most of its values are those of fewer than 5 records'
        """
        return f"most of its values are those of fewer than {self.k} {' or '.join(self.who) or 'records'}"


def too_few(warehouse: Warehouse, source: Source, fewer: FewerThan) -> str:
    """Return of what a table has fewer than k: records, persons or households; empty where it has k of all."""
    keys = [list(key) for key in fewer.who.values()]
    (counts,) = warehouse.query("units", _UNITS, relation=source.relation, who=keys)
    few = [unit for unit, count in zip(("records", *fewer.who), counts, strict=True) if count < fewer.k]
    return few[0] if few else ""


def is_text(column: Column) -> bool:
    """Tell whether the mode of a column is a text as somebody wrote it."""
    nested = "[" in column.type or column.type.upper().startswith(_NESTED)
    return column.family in ("text", "enum") or (nested and not column.type.upper().startswith(("MAP", "UNION")))


def rare_columns(
    warehouse: Warehouse, source: Source, columns: Sequence[Column], fewer: FewerThan
) -> frozenset[Column]:
    """Return the columns in which most records have a value that fewer than k have."""
    if not columns:
        return frozenset()
    rows = warehouse.rows(
        "load/rare_values.sql",
        relation=source.relation,
        blocks=[
            (columns[first : first + _AT_ONCE], list(range(len(columns)))[first : first + _AT_ONCE])
            for first in range(0, len(columns), _AT_ONCE)
        ],
        who=[list(key) for key in fewer.who.values()],
        k=fewer.k,
    )
    return frozenset(columns[place] for place, present, rare in rows if 2 * rare > present)


def marked(
    warehouse: Warehouse,
    source: Source,
    profiles: Sequence[ColumnProfile],
    fewer: FewerThan,
    codes: Collection[Column] = (),
) -> list[ColumnProfile]:
    """Return the profiles of columns with what is known of rare values; `codes` are numbers that nobody averages."""
    rare = rare_columns(warehouse, source, _may_be_rare(profiles, fewer, codes), fewer)
    return [replace(profile, rare=fewer.reason if profile.column in rare else "") for profile in profiles]


def _may_be_rare(profiles: Iterable[ColumnProfile], fewer: FewerThan, codes: Collection[Column] = ()) -> list[Column]:
    """Return the columns of which it must be counted: texts, and whole numbers of which a value would be released.

    These are the codes, and what repeats as a code does where several records are those of a person.
    """
    found = []
    for profile in profiles:
        column, present = profile.column, profile.rows - profile.nulls
        if column in (*fewer.persons, *fewer.households) or (
            not fewer.who and 2 * (fewer.k - 1) * profile.distinct <= present
        ):
            continue
        low = profile.whole.low if profile.whole else None
        number = profile.is_whole and not column.is_digit_group and (low or 0) >= _CODES_FROM
        repeats = profile.scale[0] == "nominal" and 2 * profile.distinct <= present
        if is_text(column) or (number and (column in codes or repeats)):
            found.append(column)
    return found
