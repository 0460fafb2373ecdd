"""MDAV: maximum distance to average vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group import small_sets
from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method, silent

if TYPE_CHECKING:
    import numpy as np


@method(
    "mdav",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer & Torra (2005), Data Mining and Knowledge Discovery 11(2)",
)
def mdav(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Group records around the one farthest from the average, and around the one farthest from that one.

    The generic algorithm: while at least 3k records remain, the record farthest from their centroid with its k-1
    nearest, then the record farthest from that one with its k-1 nearest; with 2k to 3k-1 left, the group around the
    record farthest from the centroid, and the rest; with fewer than 2k, the rest.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Notes
    -----
    No random numbers are drawn.

    Ties go to the lowest row, everywhere; the R package sdcMicro gives them to the highest, which changes the loss of
    rounded data by up to 1 %. Distances are equal if they are in double precision, the squares added column after
    column; the centroid is the exact sum of the records divided by their number, rounded, so that the groups do not
    depend on the order in which sums are taken. The size is tested before a pair of groups is formed: where the source
    forms the pair first, n in [2k, 3k) leaves fewer than k.

    The groups are those of the plain algorithm, which takes O(n² p / k) time. A kd-tree that records are taken out of
    finds the nearest ones, and a list sorted by distance from an earlier centroid the farthest ones: near O(n log n) in
    few columns, and up to O(n² p / k) in many. O(n p) memory. Small sets are grouped by the plain algorithm, the first
    ones of a process in NumPy, since compiling and loading a kernel takes longer; the groups are the same.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> mdav(X, np.random.default_rng(0), lambda done, total: None, k=3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    return mdav_labels(X, k, tick)


def mdav_labels(X: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of MDAV (n,) for records X (n, p): what `mdav` does, for other methods to call."""
    n, p = X.shape
    if small_sets.in_numpy(2 * n / k, n * p):
        return small_sets.small_mdav(X, k, tick)
    if n <= small_sets.SMALL:
        labels = small_sets.looped_mdav(X, k)
        tick(n, n)
        return labels
    form_all = late("sqlmicro.group._mdav_kernels", "form_all")
    as_records = late("sqlmicro.group._tree_kernels", "as_records")

    found: np.ndarray = form_all(as_records(X), k, tick)
    return found
