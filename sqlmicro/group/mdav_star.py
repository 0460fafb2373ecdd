"""MDAV*: MDAV⁺ with groups that take further records while that costs less than groups of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method

if TYPE_CHECKING:
    import numpy as np


@method(
    "mdav-star",
    stage="group",
    engine="numpy",
    promise="record",
    source="Thaeter & Reischuk (2018); the rule for extending a group is our reading",
)
def mdav_star(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Group records as MDAV⁺ does, and let a group take further ones while that costs less than a group of their own.

    A group begins with the record farthest from the centroid of all, and its k-1 nearest. While it has m < 2k-1 records
    and at least k remain: y, the record left that is nearest to the group's centroid, joins if the loss it adds,
    m/(m+1) d²(y, centroid), is below the loss per record of a group begun at y with its k-1 nearest. With fewer than k
    left, each joins the group with the nearest centroid.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Notes
    -----
    No random numbers are drawn.

    The source describes that a step either extends the present group or begins a new one; its exact rule was not
    available, and the one above is our reading of it. The next group begins at the farthest record, not at y.

    Distances are squared Euclidean; of equal ones the lowest row counts. Groups have k to 2k-1 records, but for those
    that take some of the fewer than k records left. Two more queries of the kd-tree per record than MDAV⁺ at worst:
    near O(n log n) in few columns, up to O(n² p) in many. O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5], [4.0]])
    >>> mdav_star(X, np.random.default_rng(0), lambda done, total: None, k=3).tolist()
    [1, 1, 0, 0, 1, 0, 1]
    """
    kernels = late("sqlmicro.group._mdav_plus_kernels")
    as_records = late("sqlmicro.group._tree_kernels", "as_records")

    labels: np.ndarray = kernels.form_all(as_records(X), k, tick, kernels.form_star, k)
    return labels
