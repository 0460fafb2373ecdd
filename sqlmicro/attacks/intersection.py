"""Intersection over columns: what microaggregation of each column alone leaves of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import LINKED
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkage import linked_within
from sqlmicro.attacks.registry import Measured, attack

if TYPE_CHECKING:
    import numpy as np


@attack(
    "intersection",
    needs=("columns",),
    source="Nin, Herranz & Torra (2008), Statistics and Computing 18(3), on individual ranking",
    templates=LINKED,
)
def intersection(knowledge: Knowledge) -> Measured:
    """Intersect over the columns the released records that each column by itself leaves as candidates.

    Returns
    -------
    Measured
        The rate is the mean of 1/candidates, 0 where the true record is not among them; `candidates` is their mean
        number and `truth_among_them` the share of records for which it is; chance is 1/m.

    Notes
    -----
    In a column that was grouped alone by rank a value lies between the means of two neighbouring groups, and one of the
    two is that of its own group. Candidates are the records with the released values next to it from either side; those
    that are equal to it, if there are any. For individual ranking the true record is always among them, unless equal
    values were divided between groups. In a release where every combination of the columns occurs k times, there are no
    candidates or at least k.
    """
    return linked_within(knowledge.first, _beside)


def _beside(x: np.ndarray, known: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the greatest released value up to x, and the least from x on."""
    import numpy as np

    ends = np.concatenate([[-np.inf], released, [np.inf]])
    return ends[np.searchsorted(ends, x, "right") - 1], ends[np.searchsorted(ends, x)]
