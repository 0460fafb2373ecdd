"""The loop of MDAV, compiled by numba: a kd-tree finds near records, a list sorted by distance finds far ones.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group import _shell_kernels as shells
from sqlmicro.group._shell_kernels import farthest, remove_all
from sqlmicro.group._sum_kernels import add, add_up
from sqlmicro.group._tree_kernels import WORK_PER_CALL, nearest, plant
from sqlmicro.system.compiled import njit

LEFT, GROUPS = range(2)


class State(NamedTuple):
    """What is known between two calls of the kernel."""

    labels: np.ndarray  # (n,) -1 for a record left
    total: np.ndarray  # (2, p) sum of the records left, and what rounding took from it
    point: np.ndarray  # (p,) the centroid of the records left, or the record that the last group was formed around
    counts: np.ndarray  # LEFT, GROUPS
    members: np.ndarray  # (k,) the group being formed
    distances: np.ndarray  # (k,)


def form_all(X: np.ndarray, k: int, tick) -> np.ndarray:
    """Return the group of every record, X writable and C-contiguous; `tick` hears how many records have one."""
    n, p = X.shape
    state = State(
        np.full(n, -1, dtype=np.int64),
        np.zeros((2, p)),
        np.empty(p),
        np.array([n, 0]),
        np.empty(k, dtype=np.int64),
        np.empty(k),
    )
    add_up(X, np.arange(n), state.total)
    counts, until = state.counts, n
    while counts[LEFT] >= 2 * k:
        if counts[LEFT] <= until:
            rows = np.flatnonzero(state.labels < 0)
            tree, shell = plant(X, rows), shells.sort(X, rows)
            until = len(rows) // 2 if len(rows) > 20 * k else 0
        elif shells.stale(shell):
            shell = shells.sort(X, np.flatnonzero(state.labels < 0))
        _form(tree, shell, state, k, until, WORK_PER_CALL)
        tick(n - int(counts[LEFT]), n)
    state.labels[state.labels < 0] = counts[GROUPS]
    return state.labels


@njit(cache=True, nogil=True, _nrt=False)
def _form(tree, shell, state, k, until, work):
    """Form groups while 2k records and more than `until` are left, and until `work` records were looked at."""
    counts, point = state.counts, state.point
    while work > 0 and counts[LEFT] >= 2 * k and counts[LEFT] > until:
        for j in range(len(point)):
            point[j] = state.total[0, j] / counts[LEFT]
        # One call of each function for both groups: a second one would be compiled a second time.
        for kind in range(2 if counts[LEFT] >= 3 * k else 1):
            row, looked = farthest(tree, shell, kind, point)
            for j in range(len(point)):
                point[j] = tree.X[row, j]
            _, more = nearest(tree, point, k, state.members, state.distances)
            work -= looked + more
            for i in range(k):
                member = state.members[i]
                state.labels[member] = counts[GROUPS]
                for j in range(len(point)):
                    add(state.total, j, -tree.X[member, j])
            remove_all(tree, shell, state.members)
            counts[GROUPS] += 1
            counts[LEFT] -= k
