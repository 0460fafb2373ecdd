"""The loop of the maximum distance method, compiled by numba: the two records farthest apart, again and again.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group import _shell_kernels as shells
from sqlmicro.group._mdav_plus_kernels import join_nearest
from sqlmicro.group._shell_kernels import RECORD, SLACK, farthest, measure_from_centroid, remove_all
from sqlmicro.group._tree_kernels import WORK_PER_CALL, nearest, plant, squared_distance
from sqlmicro.system.compiled import internal, njit

LEFT, GROUPS, HEAP = range(3)


class State(NamedTuple):
    """What is known between two calls of the kernel."""

    labels: np.ndarray  # (n,) -1 for a record left
    counts: np.ndarray  # LEFT, GROUPS, length of the HEAP
    heap: np.ndarray  # (n,) records, the one with the largest reach on top, of equal ones the lowest
    reach: np.ndarray  # (n,) squared distance to the farthest record when that was last determined, or a bound of it
    partner: np.ndarray  # (n,) that record; -1 where only a bound is known
    radius: np.ndarray  # (n,) squared distance from the centroid of all
    members: np.ndarray  # (k,) the group being formed
    distances: np.ndarray  # (k,)


def form_all(X: np.ndarray, k: int, tick) -> np.ndarray:
    """Return the group of every record, X writable and C-contiguous; `tick` hears how many records have one."""
    n = len(X)
    # By way of the centroid, no record is farther away than the one that is farthest from the centroid.
    radius, _ = measure_from_centroid(X, np.arange(n))
    reach = ((np.sqrt(radius) + np.sqrt(radius.max())) * (1 + SLACK)) ** 2
    state = State(
        np.full(n, -1, dtype=np.int64),
        np.array([n, 0, n]),
        np.argsort(-reach, kind="stable"),
        reach,
        np.full(n, -1, dtype=np.int64),
        radius,
        np.empty(k, dtype=np.int64),
        np.empty(k),
    )
    until = n
    while state.counts[LEFT] >= 2 * k:
        if state.counts[LEFT] <= until:
            rows = np.flatnonzero(state.labels < 0)
            tree, shell = plant(X, rows), shells.sort(X, rows)
            until = len(rows) // 2 if len(rows) > 20 * k else 0
        elif shells.stale(shell):
            shell = shells.sort(X, np.flatnonzero(state.labels < 0))
        _form(tree, shell, state, k, until, WORK_PER_CALL)
        tick(n - int(state.counts[LEFT]), n)
    if state.counts[LEFT] >= k:
        state.labels[state.labels < 0] = state.counts[GROUPS]
    join_nearest(X, state.labels)
    return state.labels


@njit(cache=True, nogil=True, _nrt=False)
def _form(tree, shell, state, k, until, work):
    """Form pairs of groups while 2k records and more than `until` are left, and until `work` records were looked at.

    The reach of a record can only shrink, so that the largest one is right as soon as its partner is still there.
    """
    X, labels, counts, heap = tree.X, state.labels, state.counts, state.heap
    while work > 0 and counts[LEFT] >= 2 * k and counts[LEFT] > until:
        first = heap[0]
        if labels[first] >= 0:
            counts[HEAP] -= 1
            heap[0] = heap[counts[HEAP]]
            _sift_down(state)
            continue
        other = state.partner[first]
        if other < 0 or labels[other] >= 0:
            other, looked = farthest(tree, shell, RECORD, X[first])
            state.partner[first], state.reach[first] = other, squared_distance(X[first], X[other])
            _sift_down(state)
            work -= looked
            continue
        if state.radius[other] > state.radius[first]:
            first, other = other, first
        work -= _form_group(tree, shell, state, k, first)
        if labels[other] >= 0:
            other, looked = farthest(tree, shell, RECORD, X[first])
            work -= looked
        work -= _form_group(tree, shell, state, k, other)


@internal(_nrt=False)
def _sift_down(state):
    """Let the record on top of the heap, whose reach has shrunk, sink to its place."""
    heap, reach, size = state.heap, state.reach, state.counts[HEAP]
    at, row = 0, heap[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(reach, heap[child + 1], heap[child]):
            child += 1
        if not _before(reach, heap[child], row):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = row


@internal(_nrt=False)
def _before(reach, one, other):
    return reach[one] > reach[other] or (reach[one] == reach[other] and one < other)


@internal(_nrt=False)
def _form_group(tree, shell, state, k, row):
    """Group the k records left that are nearest to a record; return the records looked at."""
    _, looked = nearest(tree, tree.X[row], k, state.members, state.distances)
    for i in range(k):
        state.labels[state.members[i]] = state.counts[GROUPS]
    remove_all(tree, shell, state.members)
    state.counts[GROUPS] += 1
    state.counts[LEFT] -= k
    return looked
