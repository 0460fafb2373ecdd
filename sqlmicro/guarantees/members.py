"""The members of the population that every class is held by: k-map and delta-presence, as the audits measure them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.rules import SLACK

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False)
class Members:
    """How many members of the population are in every class, and what is asked of that.

    Both limits are closed under union: members and records add up. Members are monotone as well: a class that has
    enough of them is in one that has enough. A share is not.

    Parameters
    ----------
    count : ndarray of shape (classes,)
        The members in every class.
    least : int
        k-map: so many of them.
    share : float
        The upper end of delta-presence: at most this share of them is in the release; infinite for none.
    """

    count: np.ndarray
    least: int = 1
    share: float = float("inf")

    def merged(self, into: np.ndarray, classes: int) -> Members:
        """Return those of the classes that the present ones become."""
        import numpy as np

        return self._of(np.bincount(into, self.count, minlength=classes).astype(np.int64))

    def without(self, other: Members, some: np.ndarray, into: np.ndarray) -> Members:
        """Return what is left without some classes of other ones; `into` has ours of each."""
        import numpy as np

        out = np.bincount(into[some], other.count[some], minlength=len(self.count)).astype(np.int64)
        return self._of(self.count - out)

    def joined(self, one: int, others: np.ndarray) -> Members:
        """Return those of some other classes, each united with class `one`."""
        return self._of(self.count[others] + self.count[one])

    def only(self, some: np.ndarray) -> Members:
        """Return those of some classes."""
        return self._of(self.count[some])

    def enough(self) -> np.ndarray:
        """Tell which classes have members enough: what a class keeps that takes in any other."""
        found: np.ndarray = self.count >= self.least
        return found

    def kept(self, sizes: np.ndarray) -> np.ndarray:
        """Tell which classes of so many records keep both limits."""
        import numpy as np

        presence = sizes / np.maximum(self.count, 1)
        found: np.ndarray = self.enough() & (presence <= self.share * (1 + SLACK))
        return found

    def missed(self, sizes: np.ndarray) -> np.ndarray:
        """Return what every class of so many records misses, in members and records; 0 where it keeps both."""
        import numpy as np

        found = np.maximum(self.least - self.count, 0.0)
        if self.share < np.inf:
            found += np.maximum(sizes - self.share * self.count, 0.0)
        misses: np.ndarray = np.where(self.kept(sizes), 0.0, np.maximum(found, SLACK))
        return misses

    def too_many(self, sizes: np.ndarray) -> np.ndarray:
        """Return how many of the records of every class cannot be in it at least, whatever becomes of the others."""
        import numpy as np

        most = np.where(self.enough(), sizes, 0)
        if self.share < np.inf:
            most = np.minimum(most, np.floor(self.share * (1 + SLACK) * self.count))
        found: np.ndarray = sizes - most.astype(np.int64)
        return found

    def _of(self, count: np.ndarray) -> Members:
        return Members(count, self.least, self.share)
