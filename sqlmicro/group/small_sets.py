"""Small sets, in NumPy or in a short compiled loop: the same groups, without seconds of compiling larger loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.system.parallel import of_many

if TYPE_CHECKING:
    import numpy as np

SMALL = 4096
"""Records up to which a loop over all records is no slower than one over a tree."""
_GROUPS_PER_TICK, _ROWS_AT_A_TIME = 256, 64
_PER_STEP, _PER_NUMBER = 3e-5, 1.6e-9  # seconds, about: of a step in NumPy, and for every number it looks at
_SECONDS = 0.8  # of a process; loading numba and compiled code would take most of it anyway, and compiling far more
_spent = 0.0


def in_numpy(steps: float, numbers: int) -> bool:
    """Tell whether so many steps in NumPy take less time than loading compiled code would; what they take is counted.

    Every step looks at so many numbers. They never do where the set is one of many.
    """
    global _spent
    seconds = steps * (_PER_STEP + _PER_NUMBER * numbers)
    if of_many() or _spent + seconds > _SECONDS:
        return False
    _spent += seconds
    return True


@contextmanager
def compiled_from(records: int) -> Iterator[None]:
    """Let sets of more records than these be grouped by the loops for large sets in the block, smaller ones by loops.

    It is for compiling and comparing them: the groups are the same.
    """
    global SMALL, _spent
    before = SMALL, _spent
    SMALL, _spent = records, _SECONDS
    try:
        yield
    finally:
        SMALL, _spent = before


def looped_mdav(X: np.ndarray, k: int) -> np.ndarray:
    """Return the groups of MDAV (n,), found by a compiled loop over all records. O(n² p / k) time."""
    import numpy as np

    form_small = late("sqlmicro.group._small_kernels", "form_small")

    n, p = X.shape
    labels = np.empty(n, dtype=np.int64)
    columns, rows = np.array(X.T, dtype=np.float64, order="C"), np.arange(n)
    form_small(columns, k, rows, np.empty(n), np.empty(p), np.zeros((2, p)), np.empty(k, dtype=np.int64), labels)
    return labels


def small_mdav(X: np.ndarray, k: int, tick: Tick) -> np.ndarray:
    """Return the groups of MDAV (n,) for records X (n, p): those of `_mdav_kernels`, byte for byte. O(n² p / k) time.

    Sums and distances are computed in the same order as there, so that they are rounded in the same way.
    """
    import numpy as np

    n, p = X.shape
    labels, groups = np.empty(n, dtype=np.int64), 0
    rows, columns = np.arange(n), np.array(X.T, dtype=np.float64, order="C")  # of the records left, rows ascending
    total = np.zeros((2, p))
    for row in X:
        _add(total, row)
    while len(rows) >= 2 * k:
        around = total[0] / len(rows)
        for _ in range(2 if len(rows) >= 3 * k else 1):
            around = columns[:, np.argmax(_squared_distances(columns, around))].copy()
            distance = _squared_distances(columns, around)
            near = np.flatnonzero(distance <= np.partition(distance, k - 1)[k - 1])
            near = near[np.argsort(distance[near], kind="stable")[:k]]
            labels[rows[near]] = groups
            groups += 1
            for at in near:
                _add(total, -columns[:, at])
            left = np.ones(len(rows), dtype=np.bool_)
            left[near] = False
            rows, columns = rows[left], columns[:, left]
        if groups % _GROUPS_PER_TICK < 2:
            tick(n - len(rows), n)
    labels[rows] = groups
    tick(n, n)
    return labels


def small_path(X: np.ndarray) -> np.ndarray:
    """Return the path from neighbour to neighbour (n,) that `mhm` takes: the same, in O(n² p) time."""
    import numpy as np

    rows, columns = np.arange(len(X)), np.array(X.T, dtype=np.float64, order="C")  # of the records that are left
    path = np.empty(len(X), dtype=np.int64)
    at = int(np.argmax(_squared_distances(columns, X.mean(axis=0))))
    for done in range(len(X)):
        path[done], point = rows[at], columns[:, at].copy()
        rows[at:-1], columns[:, at:-1] = rows[at + 1 :], columns[:, at + 1 :]
        rows, columns = rows[:-1], columns[:, :-1]
        if len(rows):
            at = int(np.argmin(_squared_distances(columns, point)))
    return path


def all_nearest(X: np.ndarray, reach: int) -> np.ndarray:
    """Return the points nearest to each (n, reach), nearest first, of equally near ones the lowest. O(n² p) time."""
    import numpy as np

    n, columns = len(X), np.ascontiguousarray(X.T)
    near = np.empty((n, reach), dtype=np.int32)
    for start in range(0, n, _ROWS_AT_A_TIME):
        stop = min(n, start + _ROWS_AT_A_TIME)
        distance = _squared_distances(columns[:, None, :], columns[:, start:stop, None])
        distance[np.arange(stop - start), np.arange(start, stop)] = np.inf
        near[start:stop] = np.argsort(distance, axis=1, kind="stable")[:, :reach]
    return near


def _squared_distances(columns: np.ndarray, point: np.ndarray) -> np.ndarray:
    difference = columns[0] - point[0]
    total: np.ndarray = difference * difference
    for column, x in zip(columns[1:], point[1:], strict=True):
        difference = column - x
        total += difference * difference
    return total


def _add(total: np.ndarray, x: np.ndarray) -> None:
    """Add a record to a sum (2, p) and what rounding took from it, as `_sum_kernels.add` does."""
    a = total[0]
    s = a + x
    b = s - a
    lost = total[1] + ((a - (s - b)) + (x - b))
    total[0] = s + lost
    total[1] = lost - (total[0] - s)
