"""SAFE with persons: how many records a class needs so that all classes can have k persons, and who sits where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees import read

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.cells import Cells
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Crowd:
    """Who has the cells: pairs of a cell and one of its persons, or where records are counted, of one of its records.

    >>> import numpy as np
    >>> Crowd(np.array([0, 0, 1, 2]), np.array([7, 8, 7, 7])).count(np.array([0, 0, 1])).tolist()
    [2, 1]
    """

    cell: np.ndarray
    person: np.ndarray

    @classmethod
    def of(cls, work: Work, cells: Cells, k: int) -> Crowd | None:
        """Read the persons of the cells; None where records are counted."""
        import numpy as np

        if cells.persons:
            return cls(cells.persons.cell, cells.persons.person)
        persons = read.rules(work, k).persons if work.demand.person else None
        if persons is None:
            return None
        found = work.warehouse.arrays(
            "safe/cell_of_records.sql", relation=work.relation, cells=cells.relation, columns=cells.key
        )
        return cls(*np.unique(np.stack([found["cell"].astype(np.int64), persons]), axis=1))

    def within(self, cells: np.ndarray) -> Crowd:
        """Return the pairs of some cells, ascending, numbered by their place."""
        import numpy as np

        place = np.minimum(np.searchsorted(cells, self.cell), len(cells) - 1)
        inside = cells[place] == self.cell
        return Crowd(place[inside], self.person[inside])

    def count(self, of_cell: np.ndarray) -> np.ndarray:
        """Return the persons of every number that cells have."""
        import numpy as np

        pairs = np.unique(np.stack([of_cell[self.cell], self.person]), axis=1)
        counts: np.ndarray = np.bincount(pairs[0], minlength=int(of_cell.max()) + 1)
        return counts


def least_records(persons: np.ndarray, k: int) -> int:
    """Return the least size of a class so that every file of such classes can have k persons in each.

    Parameters
    ----------
    persons : ndarray of shape (n,)
        The person of every record, numbered.
    k : int
        Persons that every class must have.

    Returns
    -------
    int
        At least k; more than n where there are fewer than k persons.

    Notes
    -----
    A person with r records is in at most min(r, G) of G classes. By Gale and Ryser G classes can have k persons each
    exactly if these numbers add up to k G. Their sum is concave in G, so that what holds of G holds of fewer classes.

    Examples
    --------
    Of 12 records one person has eight: three classes of two persons would need six seats, and there are five others.

    >>> import numpy as np
    >>> least_records(np.array([0] * 8 + [1, 2, 3, 4]), 2), least_records(np.arange(12), 2)
    (3, 2)
    """
    import numpy as np

    return least_size(np.bincount(persons), k)


def least_size(records: np.ndarray, k: int) -> int:
    """Return the same from the number of records of every person."""
    import numpy as np

    n = int(records.sum())
    low, high = 0, n // k  # `low` classes are possible
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(records, middle).sum() >= k * middle:
            low = middle
        else:
            high = middle - 1
    return max(k, n // (low + 1) + 1)


def dealt(labels: np.ndarray, persons: np.ndarray, k: int) -> np.ndarray:
    """Return labels of the same sizes in which every group has k persons, if any labels of these sizes have.

    The records of a person are dealt to one group after the other, so that no group gets two before all have one.

    Examples
    --------
    >>> import numpy as np
    >>> dealt(np.array([0, 0, 0, 1, 1]), np.array([7, 7, 3, 3, 4]), 2).tolist()
    [1, 0, 0, 1, 0]
    """
    import numpy as np

    groups, numbered = np.unique(labels, return_inverse=True)
    order = np.argsort(persons, kind="stable")
    turn = np.arange(len(order)) - np.searchsorted(persons[order], persons[order])  # which record of its person
    first = order[turn < len(groups)][: k * len(groups)]
    found = np.empty_like(labels)
    found[first] = np.arange(len(first)) % len(groups)
    others = np.setdiff1d(order, first)
    left = np.bincount(numbered, minlength=len(groups)) - np.bincount(found[first], minlength=len(groups))
    found[others] = np.repeat(np.arange(len(groups)), np.maximum(left, 0))[: len(others)]
    dealt: np.ndarray = groups[found]
    return dealt
