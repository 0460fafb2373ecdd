"""Groups of consecutive records with the least loss there is: the shortest path over the places where they may end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.registry import Tick, late, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

_STEPS_PER_SLICE = 10_000_000
"""Records × columns × k between two ticks: about 0.2 s."""


def optimal_groups(values: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of at least k of a sorted column whose sum of squared errors is the least there is.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers in ascending order, of any unit; at most 1e150 in size, so that their squares stay finite.
    k : int
        Smallest number of records in a group.
    tick : callable, optional
        Told (records done, n).

    Returns
    -------
    ndarray of shape (n,)
        Group of every value, 0..G-1, ascending.

    Raises
    ------
    InputError
        When there are fewer than k values, or they are not in ascending order.

    Notes
    -----
    An optimal grouping has groups of k to 2k-1 consecutive values, so it is a shortest path over the positions
    (Hansen & Mukherjee 2003): O(k n) time, O(n) memory. The source takes the loss of a group from sums over the whole
    column, which cancel where the values lie far from 0 or close to each other; here it is added up from the end of
    the group, relative to the value there, and has a relative error of at most some 4k rounding errors whatever the
    offset. Of equally good groupings the one with the shortest last group is taken, and so on from there.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_groups(np.array([1.0, 2.0, 3.0, 4.0, 90.0, 91.0, 92.0]), 3).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    import numpy as np

    if not np.all(values[:-1] <= values[1:]):
        raise InputError("optimal groups", "the values must be in ascending order", "others", "Sort them first")
    return consecutive_groups(values.reshape(-1, 1), k, tick)


def consecutive_groups(X: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of k to 2k-1 consecutive records whose sum of squared errors is the least there is.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records in the order that groups may not cross.
    k : int
        Smallest number of records in a group.
    tick : callable, optional
        Told (records done, n).

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, ascending.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    O(k n p) time, O(n) memory beyond the data.
    """
    import numpy as np

    extend, follow = late("sqlmicro.group._univariate_kernels", "extend", "follow")

    n, p = X.shape
    if n < k:
        raise InputError("groups", f"there must be at least k = {k} records", f"{n}", "Use a smaller k")
    records = np.ascontiguousarray(X, dtype=np.float64)
    best, last = np.empty(n + 1), np.zeros(n + 1, dtype=np.int32)
    best[0] = 0.0
    rows = _STEPS_PER_SLICE // (k * p) + 1
    for start, stop in _slices(1, n + 1, rows):
        extend(records, k, best, last, start, stop)
        tick(stop - 1, n)
    labels = np.empty(n, dtype=np.int64)
    follow(last, labels)
    return labels


def _slices(start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
    for first in range(start, stop, rows):
        yield first, min(first + rows, stop)
