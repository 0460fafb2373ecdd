"""The sets of columns that somebody may know of a person: drawn evenly where there are many, counted some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from sqlmicro.database.columns import Column

KNOWN_COLUMNS = 4
"""Somebody knows up to so many columns, or all."""
SETS_AT_MOST = 500
"""Of every size so many sets are looked at."""
_AT_ONCE, _GROUPED_AT_MOST = 100, 60


@dataclass(frozen=True)
class KnownSets:
    """The sets of one size.

    >>> columns = [Column(name, "VARCHAR", name) for name in "abcd"]
    >>> found = KnownSets.of(columns, 2, 3)
    >>> found.there, [[column.name for column in one] for one in found.drawn]
    (6, [['a', 'b'], ['a', 'd'], ['b', 'd']])
    """

    known: int
    there: int
    drawn: tuple[tuple[Column, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[Column], known: int, most: int = SETS_AT_MOST) -> KnownSets:
        """Return the sets of a size, evenly spaced in their lexicographic order where there are more than `most`."""
        there = comb(len(columns), known)
        numbers = range(there) if there <= most else [i * there // most for i in range(most)]
        return cls(known, there, tuple(nth(columns, known, number) for number in numbers))

    def batches(self) -> Iterator[tuple[list[Column], list[tuple[Column, ...]]]]:
        """Yield the sets some at a time, with the columns they are made of: DuckDB groups by 63 columns at most."""
        used: dict[Column, None] = {}
        sets: list[tuple[Column, ...]] = []
        for one in self.drawn:
            more = {**used, **dict.fromkeys(one)}
            if sets and (len(sets) == _AT_ONCE or len(more) > _GROUPED_AT_MOST):
                yield list(used), sets
                used, sets, more = {}, [], dict.fromkeys(one)
            used = more
            sets.append(one)
        if sets:
            yield list(used), sets


def sizes(columns: int, known: int = KNOWN_COLUMNS) -> list[int]:
    """Return the numbers of columns that somebody may know: 1 to `known`, and all.

    >>> sizes(8), sizes(3), sizes(8, 2)
    ([1, 2, 3, 4, 8], [1, 2, 3], [1, 2, 8])
    """
    return sorted({*range(1, min(known, columns) + 1), columns})


def nth(columns: Sequence[Column], size: int, number: int) -> tuple[Column, ...]:
    """Return the set of this number in the lexicographic order of all sets of a size.

    >>> columns = [Column(name, "VARCHAR", name) for name in "abcd"]
    >>> [column.name for column in nth(columns, 3, 2)]
    ['a', 'c', 'd']
    """
    found: list[Column] = []
    for place, column in enumerate(columns):
        with_it = comb(len(columns) - place - 1, size - len(found) - 1) if len(found) < size else 0
        if len(found) < size and number < with_it:
            found.append(column)
        else:
            number -= with_it
    return tuple(found)


def number_of(one: Sequence[Column], used: Sequence[Column]) -> int:
    """Return what `grouping` of the columns used is in the rows of a set: a bit per column, set where it is not in it.

    >>> a, b, c = (Column(name, "VARCHAR", name) for name in "abc")
    >>> number_of([a, c], [a, b, c])
    2
    """
    return sum(2 ** (len(used) - place) for place, column in enumerate(used, 1) if column not in one)
