"""V-MDAV: MDAV with groups of variable size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.options.params import K, Param
from sqlmicro.registry import Tick, late, method

if TYPE_CHECKING:
    import numpy as np


@method(
    "v-mdav",
    stage="group",
    engine="numpy",
    promise="record",
    source="Solanas & Martínez-Ballesté (2006), COMPSTAT",
)
def v_mdav(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    gamma: Annotated[
        float,
        Param("How close a further record must be: 0.2 for scattered records, up to 1.1 for clustered ones.", min=0),
    ] = 0.2,
) -> np.ndarray:
    """Group records around the one farthest from the average of all, and add those that are close to the group.

    The centroid is computed once. While at least 2k records remain: the record farthest from it with its k-1 nearest
    begin a group. While it has fewer than 2k-1, e, the record left that is nearest to any member (at distance d_in),
    joins if d_in < gamma d_out, d_out being the distance of e to the nearest other record left. Then k or more that are
    left make a last group; fewer join, each, the group with the nearest centroid.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Notes
    -----
    gamma = 0 never adds a record. No random numbers are drawn.

    The source recommends gamma = 0.2 for scattered and 1.1 for clustered records. Where e is the only record left,
    d_out is infinite and it joins. Of equal distances the lowest row counts.

    A kd-tree that records are taken out of answers up to 2k queries per record: near O(n k log n) in few columns, up to
    O(n² p) in many. O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5], [4.0]])
    >>> v_mdav(X, np.random.default_rng(0), lambda done, total: None, k=3, gamma=1.1).tolist()
    [1, 1, 0, 0, 1, 0, 1]
    """
    kernels = late("sqlmicro.group._mdav_plus_kernels")
    as_records = late("sqlmicro.group._tree_kernels", "as_records")

    labels: np.ndarray = kernels.form_all(as_records(X), k, tick, kernels.form_variable, 2 * k, gamma)
    return labels
