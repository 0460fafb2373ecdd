"""Persons where the records are not in one place: who has which cells is counted there, and read as numbers.

The records of a cell are alike in all columns that take part. So it is enough to know which person has how many records
in which cell, and of a few classes whose record sits where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work


@dataclass(frozen=True)
class PersonsOfCells:
    """Who has which cells: pairs of a cell and one of its persons, with the number of the records of the person in it.

    >>> import numpy as np
    >>> pairs = PersonsOfCells(np.array([0, 0, 1, 2]), np.array([7, 8, 7, 7]), np.array([1, 1, 2, 5]))
    >>> [records.tolist() for records in pairs.records(np.array([0, 0, 1]))]
    [[3, 1], [5]]
    """

    cell: np.ndarray
    person: np.ndarray
    n: np.ndarray

    @classmethod
    def of(cls, work: Work, cells: Name, key: Sequence[Column | str]) -> PersonsOfCells | None:
        """Read them where the records are elsewhere, as `cells` are; None where records are counted, or are here."""
        if not work.demand.person or work.warehouse.small is work.warehouse:
            return None
        return cls(**read_by_cell(work, cells, key, "safe/persons_of_cells.sql"))

    def records(self, strata: np.ndarray) -> list[np.ndarray]:
        """Return for every stratum how many records each of its persons has there; `strata` are those of the cells."""
        import numpy as np

        pairs, place = np.unique(np.stack([strata[self.cell], self.person]), axis=1, return_inverse=True)
        counts = np.bincount(place.ravel(), self.n).astype(np.int64)
        return np.split(counts, np.searchsorted(pairs[0], np.arange(1, int(strata.max()) + 1)))


def read_by_cell(
    work: Work, cells: Name, key: Sequence[Column | str], template: str, **params: object
) -> dict[str, np.ndarray]:
    """Read numbers of records by the cells and the persons that they have."""
    asked, own = work.demand, work.demand.person
    members = work.run(
        "load/members.sql", "persons", relation=asked.original, key=own, keys=[(own, own)], persons=[]
    )  # fmt: skip
    found = work.warehouse.arrays(template, relation=work.relation, cells=cells, members=members, columns=key, **params)
    return {name: values.astype("int64") for name, values in found.items()}
