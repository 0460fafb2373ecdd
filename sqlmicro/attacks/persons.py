"""The persons behind the records of an attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False)
class Persons:
    """Whose records they are, by numbers from 0.

    Where records are matched, those of a person have one number in both tables, and records that only the release has
    are of one person; else the numbers of the release are its own.
    """

    original: np.ndarray
    """(n,) of every record of the original."""
    released: np.ndarray
    """(m,) of every record of the release."""
    told: np.ndarray | None
    """(m,) of every record of the release as its own columns tell them apart; None where it lacks these."""

    @property
    def in_release(self) -> int:
        """How many different persons the release has records of."""
        import numpy as np

        return len(np.unique(self.released))


def by_person(persons: Persons | None, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the largest of what was found for the records of every person (t,); of every record where none are sought.

    A person is found by the record of hers that gives her away most.
    """
    import numpy as np

    if persons is None:
        return found
    who = persons.original[rows]
    best = np.full(int(who.max()) + 1, -np.inf)
    np.maximum.at(best, who, found)
    of_each: np.ndarray = best[np.unique(who)]
    return of_each
