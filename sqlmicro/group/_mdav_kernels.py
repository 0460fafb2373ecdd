"""The loop of MDAV, compiled by numba: a kd-tree finds near records, a list sorted by distance finds far ones.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group import _shell_kernels as shells
from sqlmicro.group._shell_kernels import CENTROID, RECORD, farthest, remove_all
from sqlmicro.group._sum_kernels import add, add_up
from sqlmicro.group._tree_kernels import WORK_PER_CALL, nearest, plant
from sqlmicro.system.compiled import njit

LEFT, GROUPS = range(2)


class State(NamedTuple):
    """What is known between two calls of the kernel."""

    labels: np.ndarray  # (n,) -1 for a record left
    total: np.ndarray  # (2, p) sum of the records left, and what rounding took from it
    centroid: np.ndarray  # (p,)
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


@njit(cache=True)
def _form(tree, shell, state, k, until, work):
    """Form groups while 2k records and more than `until` are left, and until `work` records were looked at."""
    counts = state.counts
    while work > 0 and counts[LEFT] >= 2 * k and counts[LEFT] > until:
        for j in range(tree.X.shape[1]):
            state.centroid[j] = state.total[0, j] / counts[LEFT]
        first, looked = farthest(tree, shell, CENTROID, state.centroid)
        pair = counts[LEFT] >= 3 * k
        work -= looked + _form_group(tree, shell, state, k, first)
        if pair:
            opposite, looked = farthest(tree, shell, RECORD, tree.X[first])
            work -= looked + _form_group(tree, shell, state, k, opposite)


@njit(cache=True)
def _form_group(tree, shell, state, k, row):
    """Group the k records left that are nearest to a record; return the records looked at."""
    _, looked = nearest(tree, tree.X[row], k, state.members, state.distances)
    for i in range(k):
        member = state.members[i]
        state.labels[member] = state.counts[GROUPS]
        for j in range(tree.X.shape[1]):
            add(state.total, j, -tree.X[member, j])
    remove_all(tree, shell, state.members)
    state.counts[GROUPS] += 1
    state.counts[LEFT] -= k
    return looked
