"""What is guessed of many columns from known ones, counted from arrays: a statement would have six sums for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Params
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np


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
        values = np.array([found[column.staged] for column in columns], dtype=np.int64)
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

        key = numbered([self.values[column] for column in known])
        there, keys = self.before > 0, int(key.max(initial=-1)) + 1
        persons = np.bincount(key[there], self.before[there], keys)
        if len(np.unique(self.whose[there])) > 1:
            pairs = np.unique(np.stack([key[there], self.whose[there]]), axis=1)[0]
            persons = np.bincount(pairs, minlength=keys)
        alone = (persons == 1) & (np.bincount(key, self.after, keys) > 0)
        ends = []
        for side in (self.after > 0, there):
            rows = np.flatnonzero(side & alone[key])
            rows = rows[np.argsort(key[rows], kind="stable")]
            first = np.flatnonzero(np.diff(key[rows], prepend=-1))
            values = self.values[:, rows]
            ends += [extreme.reduceat(values, first, axis=1) if len(rows) else values
                     for extreme in (np.minimum, np.maximum)]  # fmt: skip
        shown, shown_too, own, own_too = ends
        guessed = (shown == shown_too) & (own == own_too)
        guessed[list(known)] = False
        return guessed.sum(axis=1), (guessed & (shown == own)).sum(axis=1)
