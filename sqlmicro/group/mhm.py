"""MHM: the records in the order of a path from neighbour to neighbour, cut into groups at the least loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group import small_sets
from sqlmicro.group.consecutive_groups import consecutive_groups
from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method, silent

if TYPE_CHECKING:
    import numpy as np

_RECORDS_PER_CALL = 5_000_000
"""Records looked at between two ticks: about 0.1 s."""


@method(
    "mhm",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé (2006), The VLDB Journal 15(4): NPN-MHM",
)
def mhm(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Walk from every record to the nearest one not yet seen, and cut the path into groups with the least loss.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order of the path.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    No random numbers are drawn.

    The groups have k to 2k-1 records and are the best for this order of the records, not of all groups; for one column
    the path may leave records behind, so `optimal-univariate` can lose less. O(n log n + k n p) time in few columns and
    up to O(n² p) in many, O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> mhm(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    n = len(X)
    path = nearest_point_path(X, lambda done, total, best="": tick(done, 2 * n))
    return path_groups(X, path, k, lambda done, total, best="": tick(n + done, 2 * n))


def nearest_point_path(X: np.ndarray, tick: Tick = silent) -> np.ndarray:
    """Return the order of the records along a path from each to the nearest that is not on it yet.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records. Not changed.
    tick : callable, optional
        Told (records on the path, n).

    Returns
    -------
    ndarray of shape (n,)
        Rows in the order of the path. It starts at the record farthest from the mean; ties go to the lowest row.
    """
    import numpy as np

    n, p = X.shape
    if small_sets.in_numpy(n, n * p):
        return small_sets.small_path(X)
    as_records, farthest, plant, remove = late(
        "sqlmicro.group._tree_kernels", "as_records", "farthest", "plant", "remove"
    )
    walk = late("sqlmicro.group._univariate_kernels", "walk")

    tree = plant(as_records(X), np.arange(n))
    path = np.empty(n, dtype=np.int64)
    path[0] = farthest(tree, X.mean(axis=0))[0]
    remove(tree, path[0])
    done = 1
    while done < n:
        done = walk(tree, path, done, _RECORDS_PER_CALL)
        tick(done, n)
    return path


def path_groups(X: np.ndarray, order: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of at least k consecutive records of an order whose sum of squared errors is the least.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records. Not changed.
    order : ndarray of shape (n,)
        Every row once.
    k : int
        Smallest number of records in a group.
    tick : callable, optional
        Told (records done, n).

    Returns
    -------
    ndarray of shape (n,)
        Group of every record of X, 0..G-1, in the order given.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    The dynamic programme of `optimal_univariate`: O(k n p) time, O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> path_groups(np.array([[0.0], [5.0], [1.0], [6.0]]), np.array([0, 2, 1, 3]), 2).tolist()
    [0, 1, 0, 1]
    """
    import numpy as np

    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = consecutive_groups(X[order], k, tick)
    return labels
