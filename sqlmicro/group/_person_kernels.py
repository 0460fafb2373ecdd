"""MDAV whose groups are of k persons, compiled by numba: the trees and lists of MDAV, and who is still without a group.

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

LEFT, GROUPS, PERSONS = range(3)
_AS_MANY = 2  # as many records as persons are looked for first, then so many times more


class State(NamedTuple):
    """What is known between two calls of the kernel."""

    labels: np.ndarray  # (n,) -1 for a record left
    total: np.ndarray  # (2, p) sum of the records left, and what rounding took from it
    point: np.ndarray  # (p,) the centroid of the records left, or the record that the last group was formed around
    counts: np.ndarray  # records LEFT, GROUPS, PERSONS with records left
    person: np.ndarray  # (n,)
    records: np.ndarray  # (persons,) left of each
    group: np.ndarray  # (persons,) the last group in which each was seen


def form_all(X: np.ndarray, persons: np.ndarray, k: int, tick) -> np.ndarray:
    """Return the group of every record, -1 where fewer than k persons were left, X writable and C-contiguous.

    `tick` hears how many records have a group.
    """
    n, p = X.shape
    records = np.bincount(persons)
    counts = np.array([n, 0, np.count_nonzero(records)])
    state = State(
        np.full(n, -1, dtype=np.int64), np.zeros((2, p)), np.empty(p), counts, persons.astype(np.int64), records,
        np.full(len(records), -1, dtype=np.int64),
    )  # fmt: skip
    add_up(X, np.arange(n), state.total)
    until = n
    while counts[PERSONS] >= k:
        if counts[LEFT] <= until:
            rows = np.flatnonzero(state.labels < 0)
            tree, shell = plant(X, rows), shells.sort(X, rows)
            until = len(rows) // 2 if len(rows) > 20 * k else 0
        elif shells.stale(shell):
            shell = shells.sort(X, np.flatnonzero(state.labels < 0))
        _form(tree, shell, state, k, until, WORK_PER_CALL)
        tick(n - int(counts[LEFT]), n)
    return state.labels


@njit(cache=True, nogil=True)
def _form(tree, shell, state, k, until, work):
    """Form groups while k persons and more than `until` records are left, and until `work` records were looked at."""
    counts, point, kind = state.counts, state.point, 0
    members, distances = np.empty(_AS_MANY * k, np.int64), np.empty(_AS_MANY * k)
    while work > 0 and counts[PERSONS] >= k and counts[LEFT] > until:
        for kind in range(2):  # around the record farthest from the centroid, and the one farthest from that
            if counts[PERSONS] < k:
                break
            if kind == 0:
                for j in range(len(point)):
                    point[j] = state.total[0, j] / counts[LEFT]
            row, looked = farthest(tree, shell, kind, point)
            for j in range(len(point)):
                point[j] = tree.X[row, j]
            work -= looked
            size = 0
            while size == 0:
                found, looked = nearest(tree, point, min(len(members), counts[LEFT]), members, distances)
                work -= looked
                size = _first_of_persons(state, members[:found], k)
                if size == 0:
                    members, distances = np.empty(_AS_MANY * len(members), np.int64), np.empty(_AS_MANY * len(members))
            for i in range(size):
                member = members[i]
                state.labels[member] = counts[GROUPS]
                state.records[state.person[member]] -= 1
                counts[PERSONS] -= state.records[state.person[member]] == 0
                for j in range(len(point)):
                    add(state.total, j, -tree.X[member, j])
            remove_all(tree, shell, members[:size])
            counts[GROUPS] += 1
            counts[LEFT] -= size


@njit(cache=True, nogil=True, _nrt=False)
def _first_of_persons(state, members, k):
    """Return how many of the first members are of k persons; 0 where all of them are of fewer."""
    group, seen = state.counts[GROUPS], 0
    for i in range(len(members)):
        person = state.person[members[i]]
        if state.group[person] != group:
            state.group[person] = group
            seen += 1
            if seen == k:
                return i + 1
    for i in range(len(members)):
        state.group[state.person[members[i]]] = -1
    return 0
