"""MDAV⁺: maximum distance to average vector, with one centroid for all groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method

if TYPE_CHECKING:
    import numpy as np


@method(
    "mdav-plus",
    stage="group",
    engine="numpy",
    promise="record",
    source="Stoldt (2019), after Domingo-Ferrer & Torra (2005)",
)
def mdav_plus(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Group records around the one farthest from the average of all, which is computed once.

    While at least k records remain, the one farthest from the centroid of all records with its k-1 nearest; then each
    of those left joins the group with the nearest centroid.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Notes
    -----
    No random numbers are drawn.

    Distances are squared Euclidean; of equal ones the lowest row counts, of equally near groups the one formed first.
    The centroids of the groups are those before any of the records left has joined; a group has at most 2k-1 records.

    With one centroid the farthest records are found by sorting; a kd-tree that records are taken out of finds the
    nearest ones: near O(n log n) in few columns, and up to O(n² p / k) in many. O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5], [4.0]])
    >>> mdav_plus(X, np.random.default_rng(0), lambda done, total: None, k=3).tolist()
    [1, 1, 0, 0, 1, 0, 1]
    """
    kernels = late("sqlmicro.group._mdav_plus_kernels")
    as_records = late("sqlmicro.group._tree_kernels", "as_records")

    labels: np.ndarray = kernels.form_all(as_records(X), k, tick, kernels.form_plus, k)
    return labels
