"""Known columns: who knows a few columns of a person guesses a further one from what the release shows with them.

The sets of columns that somebody may know of a person are drawn evenly where there are many, and counted from arrays:
of a million records with 8 columns statements took eleven times the time and four times the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Annotated

from sqlmicro.attacks.attacked import LINKED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, attack, wilson
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.options.params import Param
from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np

KNOWN_COLUMNS = 4
"""Somebody knows up to so many columns, or all."""
SETS_AT_MOST = 500
"""Of every size so many sets are looked at."""


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


@dataclass(frozen=True)
class NumberedSides:
    """The combinations of both sides, every value numbered.

    Attributes
    ----------
    before, after : ndarrays of shape (n,)
        Records of the original and of the release.
    whose : ndarray of shape (n,)
        The person of a combination of the original; the same for all where records count.
    values : ndarray of shape (J, n)
        The columns.
    """

    before: np.ndarray
    after: np.ndarray
    whose: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, warehouse: Warehouse, columns: Sequence[Column], by_person: Params) -> NumberedSides:
        """Read them."""
        import numpy as np

        found = warehouse.arrays("audit/numbered_sides.sql", columns=columns, **by_person)
        values = np.array([found[column.staged] for column in columns], dtype=np.int32)
        return cls(found["before"], found["after"], found["whose"], values)

    def guesses(self, known: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return for every column the guesses from the known ones, and how many of them are right.

        Guessed is the one value that is shown with what a person has whom nobody else is like; who has several values
        herself is not guessed. O(n J) time and memory.

        >>> import numpy as np
        >>> side = NumberedSides(
        ...     np.array([1, 2, 0, 0]), np.array([0, 0, 3, 2]), np.zeros(4), np.array([[0, 1, 0, 1], [5, 6, 5, 6]])
        ... )
        >>> [counts.tolist() for counts in side.guesses([0])]
        [[0, 1], [0, 1]]
        """
        import numpy as np

        key, persons, shown = self._sides_of(known)
        there, alone = self.before > 0, (persons == 1) & shown
        ends = []
        for side in (self.after > 0, there):
            rows = np.flatnonzero(side & alone[key])
            rows = rows[np.argsort(key[rows], kind="stable")]
            first = np.flatnonzero(np.diff(key[rows], prepend=-1))
            values = self.values[:, rows]
            ends += [extreme.reduceat(values, first, axis=1) if len(rows) else values
                     for extreme in (np.minimum, np.maximum)]  # fmt: skip
        one, other, own, own_too = ends
        guessed = (one == other) & (own == own_too)
        guessed[list(known)] = False
        return guessed.sum(axis=1), (guessed & (one == own)).sum(axis=1)

    def inventions(self, known: Sequence[int], k: int) -> tuple[int, int]:
        """Return how many combinations of the known columns are shown that fewer than k have, and how many nobody has.

        >>> import numpy as np
        >>> side = NumberedSides(
        ...     np.array([1, 2, 0, 0]), np.array([0, 0, 3, 2]), np.zeros(4), np.array([[0, 1, 0, 2], [5, 6, 5, 6]])
        ... )
        >>> side.inventions([0], 3), side.inventions([1], 2)
        ((2, 1), (1, 0))
        """
        _, persons, shown = self._sides_of(known)
        return int((shown & (persons < k)).sum()), int((shown & (persons == 0)).sum())

    def _sides_of(self, known: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the number of what is known of every combination; of each number its persons, and if it is shown."""
        import numpy as np

        key = numbered([self.values[column] for column in known])
        there, keys = self.before > 0, int(key.max(initial=-1)) + 1
        persons = np.bincount(key[there], self.before[there], keys)
        if self.whose[there].any():
            pairs = np.unique(np.stack([key[there], self.whose[there]]), axis=1)[0]
            persons = np.bincount(pairs, minlength=keys)
        return key, persons, np.bincount(key, self.after, keys) > 0


_FEWEST_KNOWN = 2


@dataclass(frozen=True)
class FromKnown(Detail):
    """The number of known columns from which most is guessed right, and the set of them that gives most away."""

    known: int
    worst: list[str]
    """For the data holder alone: it tells which combinations are true."""
    guesses: int
    """From that set, and"""
    right: int
    sets: int
    """Sets of so many columns, and"""
    tried: int
    """how many of them were tried."""


@attack(
    "known-columns",
    needs=("columns", "known_columns"),
    source="the question of the audit `inference`; see `sqlmicro help safe`",
    templates=LINKED,
    outsider=False,
)
def known_columns(
    knowledge: Knowledge,
    *,
    known_columns: Annotated[
        int | None,
        Param(
            "Known columns: the intruder knows 2 to so many columns of a person; of every number at most "
            f"{SETS_AT_MOST} sets are tried, evenly spaced. It makes the attack, which is not made otherwise.",
            min=_FEWEST_KNOWN,
        ),
    ] = None,
) -> Measured:
    """Guess a further column of a person who is unique in a few, from the one value that is shown with these.

    Returns
    -------
    Measured
        The share of the guesses that are right, for the number of known columns with the largest; the trials are the
        guesses of all sets of so many columns and all others. Chance is the same share where the commonest value of the
        guessed column is taken. The set is named from which surely most is guessed right: the one with the highest
        lower end of Wilson's interval.

    Notes
    -----
    Who guesses knows the values of somebody, and that nobody else has them. NULL is a value of its own. Of a person
    with several values nothing is guessed, nor columns that were released as ranges.
    """
    attacked = knowledge.first
    columns = [column for column in attacked.columns if column not in attacked.ranges]
    if len(columns) <= _FEWEST_KNOWN:
        must = "the attack needs three columns that are not ranges"
        raise NothingToAttack("attack, known-columns", must, str(len(columns)))
    sides, place = _sides(attacked), {column: number for number, column in enumerate(columns)}
    common = _commonest(sides)
    found = []
    for known in range(_FEWEST_KNOWN, min(known_columns or KNOWN_COLUMNS, len(columns) - 1) + 1):
        sets = KnownSets.of(columns, known)
        counts = [sides.guesses([place[column] for column in one]) for one in sets.drawn]
        made = sum(int(guesses.sum()) for guesses, _ in counts)
        if not made:
            continue
        told = [(int(right.sum()), int(guesses.sum())) for guesses, right in counts]
        surely = [wilson(right / n, n)[0] if n else -1.0 for right, n in told]
        worst = max(range(len(told)), key=surely.__getitem__)
        names = [column.name for column in sets.drawn[worst]]
        detail = FromKnown(known, names, told[worst][1], told[worst][0], sets.there, len(sets.drawn))
        chance = sum(float(guesses @ common) for guesses, _ in counts) / made
        found.append(Measured(sum(right for right, _ in told) / made, chance, made, detail, "values"))
    if not found:
        must = "somebody who is unique in the known columns must be shown with one value of another"
        raise NothingToAttack("attack, known-columns", must, "nobody")
    return max(found, key=lambda one: one.rate)


def _sides(attacked: AttackedRelease) -> NumberedSides:
    """Return the records of both tables, every value numbered."""
    import numpy as np

    features, (n, m) = attacked.features, attacked.sizes
    both, names = np.vstack([features.X, features.Y]), np.array(features.names)
    values = [
        np.unique(both[:, names == column.name], axis=0, return_inverse=True)[1].reshape(-1)
        for column in attacked.columns
        if column not in attacked.ranges
    ]
    none = np.zeros(m, dtype=np.int64)
    whose = np.zeros(n, dtype=np.int64) if attacked.persons is None else attacked.persons.original
    before, after = np.ones(n, dtype=np.int64), np.ones(m, dtype=np.int64)
    return NumberedSides(
        np.concatenate([before, none]), np.concatenate([np.zeros(n, dtype=np.int64), after]),
        np.concatenate([whose, none]), np.array(values),
    )  # fmt: skip


def _commonest(sides: NumberedSides) -> list[float]:
    """Return for every column the share of the original that has its commonest value."""
    import numpy as np

    there = sides.before > 0
    return [float(np.bincount(column[there]).max() / there.sum()) for column in sides.values]
