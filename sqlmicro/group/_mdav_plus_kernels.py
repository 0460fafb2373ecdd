"""The loops of MDAV⁺, MDAV* and V-MDAV, compiled by numba: groups begin at the record farthest from a fixed centroid.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group._shell_kernels import measure_from_centroid
from sqlmicro.group._sum_kernels import add, add_up
from sqlmicro.group._tree_kernels import WORK_PER_CALL, nearest, plant, remove_all, squared_distance
from sqlmicro.system.compiled import internal, njit

LEFT, GROUPS, NEXT, SIZE = range(4)


class State(NamedTuple):
    """What is known between two calls of a kernel."""

    labels: np.ndarray  # (n,) -1 for a record left
    order: np.ndarray  # (n,) records by descending distance from the centroid of all, of equal ones the lowest first
    counts: np.ndarray  # LEFT, GROUPS, NEXT in `order`, SIZE of the group being formed
    members: np.ndarray  # (2k,) records of the group being formed
    trial: np.ndarray  # (k,) records found by a query
    distances: np.ndarray  # (k,)
    close: np.ndarray  # (2k,) for V-MDAV: the record left that is nearest to each member
    gaps: np.ndarray  # (2k,) and its distance
    total: np.ndarray  # (2, p) a sum of records, and what rounding took from it
    centroid: np.ndarray  # (p,)


def form_all(X: np.ndarray, k: int, tick, form, least: int, *settings: float) -> np.ndarray:
    """Call the kernel `form` until fewer than `least` records are left, and return the groups.

    The records that are left then are a group of their own if they are k, else each joins the nearest group.
    """
    n, p = X.shape
    state = State(
        np.full(n, -1, dtype=np.int64),
        np.argsort(-measure_from_centroid(X, np.arange(n))[0], kind="stable"),
        np.array([n, 0, 0, 0]),
        np.empty(2 * k, dtype=np.int64),
        np.empty(k, dtype=np.int64),
        np.empty(k),
        np.empty(2 * k, dtype=np.int64),
        np.empty(2 * k),
        np.empty((2, p)),
        np.empty(p),
    )
    counts, until = state.counts, n
    while counts[LEFT] >= least:
        if counts[LEFT] <= until:
            rows = np.flatnonzero(state.labels < 0)
            tree = plant(X, rows)
            until = len(rows) // 2 if len(rows) > 20 * k else 0
        form(tree, state, k, max(until, least - 1), WORK_PER_CALL, *settings)
        tick(n - int(counts[LEFT]), n)
    if counts[LEFT] >= k:
        state.labels[state.labels < 0] = counts[GROUPS]
    join_nearest(X, state.labels)
    return state.labels


def join_nearest(X: np.ndarray, labels: np.ndarray) -> None:
    """Add each record without a group to the one whose centroid, as it is now, is nearest; of equal ones the lowest."""
    rest = np.flatnonzero(labels < 0)
    if len(rest):
        groups, p = int(labels.max()) + 1, X.shape[1]
        totals = np.zeros((groups, 2, p))
        _join_nearest(X, labels, rest, totals, np.bincount(labels[labels >= 0], minlength=groups))


@njit(cache=True, nogil=True, _nrt=False)
def _join_nearest(X, labels, rest, totals, sizes):
    for i in range(len(X)):
        if labels[i] >= 0:
            for j in range(X.shape[1]):
                add(totals[labels[i]], j, X[i, j])
    for g in range(len(sizes)):
        for j in range(X.shape[1]):
            totals[g, 0, j] /= sizes[g]
    for row in rest:
        best = np.inf
        labels[row] = 0
        for g in range(len(sizes)):
            d = squared_distance(X[row], totals[g, 0])
            if d < best:
                best, labels[row] = d, g


@internal(_nrt=False)
def _take(tree, state, rows):
    """Put records into the group being formed."""
    counts = state.counts
    for row in rows:
        state.members[counts[SIZE]] = row
        state.labels[row] = counts[GROUPS]
        counts[SIZE] += 1
        counts[LEFT] -= 1
    remove_all(tree, rows)


@internal(_nrt=False)
def _begin(tree, state, k):
    """Begin a group: the record left that is farthest from the centroid of all, and its k-1 nearest."""
    counts, order = state.counts, state.order
    while state.labels[order[counts[NEXT]]] >= 0:
        counts[NEXT] += 1
    counts[SIZE] = 0
    _, looked = nearest(tree, tree.X[order[counts[NEXT]]], k, state.trial, state.distances)
    _take(tree, state, state.trial)
    return looked


@njit(cache=True, nogil=True, _nrt=False)
def form_plus(tree, state, k, until, work):
    """MDAV⁺: form groups while more than `until` records are left, and until `work` records were looked at."""
    while work > 0 and state.counts[LEFT] > until:
        work -= _begin(tree, state, k)
        state.counts[GROUPS] += 1


@njit(cache=True, nogil=True, _nrt=False)
def form_star(tree, state, k, until, work):
    """MDAV*: the same; a group takes further records while each costs less there than in a group begun at it."""
    counts = state.counts
    while work > 0 and counts[LEFT] > until:
        work -= _begin(tree, state, k)
        while counts[SIZE] < 2 * k - 1 and counts[LEFT] >= k:
            size = counts[SIZE]
            _centre(tree.X, state, state.members, size)
            _, looked = nearest(tree, state.centroid, 1, state.trial, state.distances)
            row = state.trial[0]
            extended = size / (size + 1) * state.distances[0]
            _, more = nearest(tree, tree.X[row], k, state.trial, state.distances)
            work -= looked + more
            _centre(tree.X, state, state.trial, k)
            own = 0.0
            for i in range(k):
                own += squared_distance(tree.X[state.trial[i]], state.centroid)
            if not extended < own / k:
                break
            state.trial[0] = row
            _take(tree, state, state.trial[:1])
        counts[GROUPS] += 1


@internal(_nrt=False)
def _centre(X, state, rows, size):
    """Put the centroid of some records into `state.centroid`."""
    state.total[:] = 0.0
    add_up(X, rows[:size], state.total)
    for j in range(X.shape[1]):
        state.centroid[j] = state.total[0, j] / size


@njit(cache=True, nogil=True, _nrt=False)
def form_variable(tree, state, k, until, work, gamma):
    """V-MDAV: the same; a group takes the record nearest to any member while it is close, compared with the others."""
    counts = state.counts
    while work > 0 and counts[LEFT] > until:
        work -= _begin(tree, state, k)
        for i in range(k):
            work -= _look_out(tree, state, i)
        while counts[SIZE] < 2 * k - 1 and counts[LEFT] > 0:
            row, inside = -1, np.inf
            for i in range(counts[SIZE]):
                if row < 0 or state.gaps[i] < inside or (state.gaps[i] == inside and state.close[i] < row):
                    row, inside = state.close[i], state.gaps[i]
            outside, looked = _gap_to_others(tree, state, row)
            work -= looked
            if not inside < gamma * gamma * outside:
                break
            state.trial[0] = row
            _take(tree, state, state.trial[:1])
            for i in range(counts[SIZE]):
                if i == counts[SIZE] - 1 or state.close[i] == row:
                    work -= _look_out(tree, state, i)
        counts[GROUPS] += 1


@internal(_nrt=False)
def _look_out(tree, state, i):
    """Find the record left that is nearest to the i-th member; return the records looked at."""
    found, looked = nearest(tree, tree.X[state.members[i]], 1, state.trial, state.distances)
    state.close[i] = state.trial[0] if found else -1
    state.gaps[i] = state.distances[0] if found else np.inf
    return looked


@internal(_nrt=False)
def _gap_to_others(tree, state, row):
    """Return the squared distance of a record left to the nearest other one, infinite if there is none."""
    found, looked = nearest(tree, tree.X[row], 2, state.trial, state.distances)
    for i in range(found):
        if state.trial[i] != row:
            return state.distances[i], looked
    return np.inf, looked
