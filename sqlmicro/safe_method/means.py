"""The means of subgroups, such as the income by sex and region: which are asked for, and by how much they shift."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlmicro.database.columns import Column, pick
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError

LEAST_RECORDS = 30
"""Smaller subgroups are not looked at: their standard errors say little."""
_TABLES = 120
_MOST_GROUPED = 63
_NAME = r"""\s*(?:"((?:[^"]|"")+)"|([^",\s](?:[^,]*?[^,\s])?))\s*"""
_ONE = re.compile(rf"{_NAME}(?:,|$)")
_ASKED = re.compile(rf"(?P<column>{_NAME})\bby\b(?P<by>{_NAME}(?:,{_NAME})*)", re.IGNORECASE)


@dataclass(frozen=True)
class SubgroupMeans:
    """The means of a numeric column in the cells of some nominal ones."""

    column: Column
    by: tuple[Column, ...]


@dataclass(frozen=True)
class ShiftedMeans:
    """By how much the means of subgroups of at least 30 records, whose values differ, are other ones."""

    subgroups: int
    shifted: int
    """Those whose mean is off by more than its standard error in the original, or that are gone."""
    gone: int
    """Those without a value in the release."""
    largest: float | None
    """The largest shift in standard errors; None where no mean can be compared."""

    @property
    def share(self) -> float | None:
        """The share of the subgroups whose mean has shifted; None without any."""
        return self.shifted / self.subgroups if self.subgroups else None

    @property
    def told(self) -> str:
        """The shifts as a sentence.

        >>> ShiftedMeans(40, 2, 1, 1.5).told
        '2 of 40 means of subgroups are off by more than a standard error (1 gone), the largest by 1.50'
        """
        gone = f" ({self.gone:,} gone)" if self.gone else ""
        most = "" if self.largest is None else f", the largest by {self.largest:.2f}"
        count = f"{self.shifted:,} of {self.subgroups:,} means of subgroups"
        return f"{count} are off by more than a standard error{gone}{most}"


def asked(
    numeric: Sequence[Column], nominal: Sequence[Column], elsewhere: Sequence[Column], texts: Sequence[str], where: str
) -> list[SubgroupMeans]:
    """Return the means that some texts such as "income by sex, region" ask for; without any, those by pairs.

    Columns `elsewhere` belong to another level, where their means are looked at.

    Raises
    ------
    ParameterError
        For a text that is none, or columns that are missing or of the other scale.
    """
    if not texts:
        return by_pairs(numeric, nominal)
    found = [_asked(numeric, nominal, elsewhere, text, where) for text in texts]
    return list(dict.fromkeys(one for one in found if one))


def by_pairs(numeric: Sequence[Column], nominal: Sequence[Column]) -> list[SubgroupMeans]:
    """Return the means of every numeric column by every pair of nominal ones, evenly spaced ones if there are too many.

    >>> a, b, c, x = (Column(name, "VARCHAR", name) for name in "abcx")
    >>> [[one.name for one in means.by] for means in by_pairs([x], [a, b, c])]
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    >>> [[one.name for one in means.by] for means in by_pairs([x], [a])]
    [['a']]
    """
    sets = list(combinations(nominal, min(2, len(nominal)))) if nominal else []
    tables = len(numeric) * len(sets)
    places = range(tables) if tables <= _TABLES else [i * tables // _TABLES for i in range(_TABLES)]
    return [SubgroupMeans(numeric[place // len(sets)], sets[place % len(sets)]) for place in places]


def parse(text: str, where: str) -> tuple[str, list[str]]:
    """Return the column and the columns of its subgroups.

    A name that has a comma or the word by in it, or begins with a double quote, is written in double quotes, as in SQL.

    Raises
    ------
    ParameterError
        For a text that is none.

    >>> parse("income by sex,region", "means")
    ('income', ['sex', 'region'])
    >>> parse('net "income" by "a, b"', "means")
    ('net "income"', ['a, b'])
    """
    found = _ASKED.fullmatch(text)
    if not found:
        raise ParameterError(where, 'must read like "income by sex, region"', repr(text))
    column, *by = (
        quoted.replace('""', '"') or plain
        for part in (found["column"], found["by"])
        for quoted, plain in _ONE.findall(part)
    )
    return column, by


def renamed(text: str, names: Mapping[str, str], where: str) -> str:
    """Return a text with other names for its columns, case aside.

    >>> renamed("Weight by sex", {"weight": "weight_"}, "means")
    '"weight_" by "sex"'
    """
    column, by = parse(text, where)
    first, *rest = ('"' + names.get(name.lower(), name).replace('"', '""') + '"' for name in (column, *by))
    return f"{first} by {', '.join(rest)}"


def staged(settings: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of audits for a relation whose columns have other names."""
    texts = settings.get("means")
    if not isinstance(texts, list | tuple):
        return dict(settings)
    return {**settings, "means": tuple(renamed(str(text), names, "audit, --means") for text in texts)}


def measure(
    warehouse: Warehouse, original: Name, changed: Name, tables: Sequence[SubgroupMeans], *, unit: float = 1.0
) -> dict[SubgroupMeans, ShiftedMeans]:
    """Return by how much the means of every table shift.

    Parameters
    ----------
    warehouse : Warehouse
        Where both relations are.
    original, changed : Name
        Combinations that occur, with n, or records, with n = 1.
    tables : sequence of SubgroupMeans
        The means.
    unit : float
        What an average record counts in n, where n is a sum of weights.

    Notes
    -----
    A standard error is that of the mean of a subgroup in the original, s / sqrt(n); a subgroup in which all values are
    alike has none and is left out. The cost is one pass over both files; missing numbers count in no mean.
    """
    found: dict[SubgroupMeans, ShiftedMeans] = {}
    for numeric, sets in _batches(tables):
        nominal = list(dict.fromkeys(column for by in sets for column in by))
        rows = warehouse.rows(
            "safe/subgroup_means.sql", original=original, changed=changed, nominal=nominal, numeric=numeric, sets=sets,
            unit=unit, least=LEAST_RECORDS,
        )  # fmt: skip
        every = (1 << len(nominal)) - 1
        number = {every - sum(1 << (len(nominal) - 1 - nominal.index(c)) for c in by): by for by in sets}
        for table_id, *figures in rows:
            for j, column in enumerate(numeric):
                subgroups, shifted, gone, largest = figures[4 * j : 4 * j + 4]
                shift = None if largest is None else round(float(largest), 9)
                one = SubgroupMeans(column, number[int(table_id)])
                found[one] = ShiftedMeans(int(subgroups), int(shifted), int(gone), shift)
    return {table: found[table] for table in tables if table in found}


def total(found: Sequence[ShiftedMeans]) -> ShiftedMeans | None:
    """Return several tables as one; None without any."""
    if not found:
        return None
    known = [one.largest for one in found if one.largest is not None]
    return ShiftedMeans(
        sum(one.subgroups for one in found), sum(one.shifted for one in found), sum(one.gone for one in found),
        max(known, default=None),
    )  # fmt: skip


def _asked(
    numeric: Sequence[Column], nominal: Sequence[Column], elsewhere: Sequence[Column], text: str, where: str
) -> SubgroupMeans | None:
    name, by = parse(text, where)
    column, *others = pick([*numeric, *nominal, *elsewhere], [name, *by], where)
    if any(one in elsewhere for one in (column, *others)):
        return None
    if column not in numeric:
        raise ParameterError(where, "the means must be of a numeric column", column.name, "Name it in --numeric")
    wrong = ", ".join(one.name for one in others if one not in nominal)
    if wrong:
        raise ParameterError(where, "subgroups must be made by nominal columns", wrong, "Name them in --nominal")
    return SubgroupMeans(column, tuple(one for one in nominal if one in others))


def _batches(tables: Sequence[SubgroupMeans]) -> list[tuple[list[Column], list[tuple[Column, ...]]]]:
    """Return numeric columns and the sets of nominal ones that one statement can group by: at most 63 columns."""
    batches: list[tuple[list[Column], list[tuple[Column, ...]]]] = []
    for by in dict.fromkeys(table.by for table in tables):
        numeric = list(dict.fromkeys(table.column for table in tables if table.by == by))
        for others, sets in batches:
            if others == numeric and len({*by, *(c for some in sets for c in some)}) <= _MOST_GROUPED:
                sets.append(by)
                break
        else:
            batches.append((numeric, [by]))
    return batches
