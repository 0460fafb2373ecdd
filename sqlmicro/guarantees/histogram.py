"""Classes as counts: how many records of every class have every value of a column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_DENSE = 1 << 22
"""Up to this many pairs of class and value are counted in a table of all pairs, more are sorted."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many records of every class have every value: the pairs that occur, ordered by class, then by value.

    Parameters
    ----------
    classes : int
        Number of classes; every class has a pair.
    values : int
        Number of values there may be.
    label, value, count : ndarray of shape (pairs,)
        Class from 0, value from 0, and records of every pair.
    """

    classes: int
    values: int
    label: np.ndarray
    value: np.ndarray
    count: np.ndarray

    @classmethod
    def of(
        cls, label: np.ndarray, value: np.ndarray, classes: int, values: int, count: np.ndarray | None = None
    ) -> Histogram:
        """Count pairs that may occur several times; without `count` each is one record."""
        import numpy as np

        key = label.astype(np.int64) * values + value
        weights = np.ones(len(key), dtype=np.int64) if count is None else count
        if classes * values <= max(_DENSE, 4 * len(key)):
            table = np.bincount(key, weights, minlength=classes * values)
            found = np.flatnonzero(table)
            counted = table[found].astype(np.int64)
        else:
            order = np.argsort(key, kind="stable")
            ordered = key[order]
            first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            found, counted = ordered[first], np.add.reduceat(weights[order], first)
            found, counted = found[counted != 0], counted[counted != 0]
        return cls(classes, values, found // values, found % values, counted)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The records of every class."""
        import numpy as np

        return np.bincount(self.label, self.count, minlength=self.classes)

    @cached_property
    def first(self) -> np.ndarray:
        """The first pair of every class."""
        import numpy as np

        return np.searchsorted(self.label, np.arange(self.classes))

    @cached_property
    def shares(self) -> np.ndarray:
        """The share that the value of every pair has of its class."""
        found: np.ndarray = self.count / self.sizes[self.label]
        return found

    @cached_property
    def distinct(self) -> np.ndarray:
        """The number of values of every class."""
        import numpy as np

        return np.bincount(self.label, minlength=self.classes)

    def merged(self, into: np.ndarray, classes: int) -> Histogram:
        """Return the histogram of the classes that the present ones become: `into` has the new class of each."""
        return Histogram.of(into[self.label], self.value, classes, self.values, self.count)

    def without(self, other: Histogram, some: np.ndarray, into: np.ndarray) -> Histogram:
        """Return what is left of the classes without some classes of another histogram; `into` has ours of each."""
        import numpy as np

        out = some[other.label]
        label = np.concatenate([self.label, into[other.label[out]]])
        value = np.concatenate([self.value, other.value[out]])
        return Histogram.of(label, value, self.classes, self.values, np.concatenate([self.count, -other.count[out]]))

    def joined(self, one: int, others: np.ndarray) -> Histogram:
        """Return the histogram of some other classes, each united with class `one`."""
        import numpy as np

        some = np.zeros(self.classes, dtype=bool)
        some[others] = True
        own, added = self.only(some), self.label == one
        m = len(others)
        return Histogram.of(
            np.concatenate([own.label, np.repeat(np.arange(m), added.sum())]),
            np.concatenate([own.value, np.tile(self.value[added], m)]),
            m, self.values, np.concatenate([own.count, np.tile(self.count[added], m)]),
        )  # fmt: skip

    def only(self, kept: np.ndarray) -> Histogram:
        """Return the histogram of some classes, numbered anew."""
        import numpy as np

        pairs = kept[self.label]
        number = np.cumsum(kept) - 1
        return Histogram(int(kept.sum()), self.values, number[self.label[pairs]], self.value[pairs], self.count[pairs])
