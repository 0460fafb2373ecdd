"""What a kernel knows of every group while records move between them, compiled by numba: sizes, sums, counts of values.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.guarantees._rule_kernels import column_misses
from sqlmicro.system.compiled import njit


class State(NamedTuple):
    """Groups that change record by record; what belongs to one lies side by side from `start` on, with room to grow.

    A column is kept as runs: the values that occur in a group, ascending, and how often each occurs.
    """

    X: np.ndarray  # (n, p)
    label: np.ndarray  # (n,) int64
    place: np.ndarray  # (n,) int64: where a record is among the members of its group
    size: np.ndarray  # (S,) int64: 0 is a slot without a group
    sums: np.ndarray  # (S, p)
    missed: np.ndarray  # (S,) what a group misses, in records
    missed_in: np.ndarray  # (C, S) the part of a column in it
    start: np.ndarray  # (S,) int64
    room: np.ndarray  # (S,) int64
    runs: np.ndarray  # (C, S) int64
    member: np.ndarray  # (room of all,) int64
    value: np.ndarray  # (C, room of all) int32
    count: np.ndarray  # (C, room of all) int32
    top: np.ndarray  # (1,) int64: what lies behind is free
    values: np.ndarray  # (n,) int32: scratch, the runs of a group as it would be
    counts: np.ndarray  # (n,) int32


@njit(cache=True)
def _runs(state, columns, c, g, h, out, new):
    """Write the runs of group g, united with h, without record `out` and with `new`; return their number. -1: none."""
    values, counts = state.values, state.counts
    value, count = state.value[c], state.count[c]
    leaving = columns.code[c, out] if out >= 0 else -1
    coming = columns.code[c, new] if new >= 0 else -1
    i, end = state.start[g], state.start[g] + state.runs[c, g]
    j, other_end = (state.start[h], state.start[h] + state.runs[c, h]) if h >= 0 else (0, 0)
    m = 0
    while i < end or j < other_end or coming >= 0:
        q = value[i] if i < end else np.int32(2147483647)
        if j < other_end:
            q = min(q, value[j])
        if coming >= 0 and coming <= q:
            q = coming
        x = 0
        if i < end and value[i] == q:
            x += count[i]
            i += 1
        if j < other_end and value[j] == q:
            x += count[j]
            j += 1
        if q == coming:
            x += 1
            coming = -1
        if q == leaving:
            x -= 1
        if x > 0:
            values[m], counts[m] = q, x
            m += 1
    return m


@njit(cache=True)
def misses(state, columns, k, g, h, out, new):
    """Return what group g, united with h, would miss without record `out` and with `new`, in records; -1 is none."""
    size = state.size[g] - (out >= 0) + (new >= 0) + (state.size[h] if h >= 0 else 0)
    if size == 0:
        return 0.0
    missed = max(0.0, float(k - size))
    for c in range(len(columns.ordered)):
        if out >= 0 and new >= 0 and h < 0 and columns.code[c, out] == columns.code[c, new]:
            missed += state.missed_in[c, g]
        else:
            m = _runs(state, columns, c, g, h, out, new)
            missed += column_misses(columns, c, state.values, state.counts, m, size)
    return missed


@njit(cache=True)
def settle(state, columns, k, g):
    """Count anew what a group misses."""
    size, a = state.size[g], state.start[g]
    missed = max(0.0, float(k - size)) if size > 0 else 0.0
    for c in range(len(columns.ordered)):
        b = a + state.runs[c, g]
        found = column_misses(columns, c, state.value[c, a:b], state.count[c, a:b], b - a, size) if size > 0 else 0.0
        state.missed_in[c, g] = found
        missed += found
    state.missed[g] = missed


@njit(cache=True)
def _compact(state):
    """Close the gaps between groups, with a quarter of its size as room for each."""
    member, value, count = state.member.copy(), state.value.copy(), state.count.copy()
    top = 0
    for g in range(len(state.size)):
        if state.size[g] == 0:
            state.room[g] = 0
            continue
        _copy(state, member, value, count, g, top, state.size[g] + state.size[g] // 4 + 2)
        top += state.room[g]
    state.top[0] = top


@njit(cache=True)
def _copy(state, member, value, count, g, to, room):
    """Copy what belongs to a group from the arrays given to the place `to` of those of the state."""
    a, size = state.start[g], state.size[g]
    state.member[to : to + size] = member[a : a + size]
    for c in range(len(value)):
        runs = state.runs[c, g]
        state.value[c, to : to + runs] = value[c, a : a + runs]
        state.count[c, to : to + runs] = count[c, a : a + runs]
    state.start[g], state.room[g] = to, room


@njit(cache=True)
def _make_room(state, g, room):
    """Give a group room for so many records."""
    if state.room[g] >= room:
        return
    if state.top[0] + 2 * room > len(state.member):
        _compact(state)
    _copy(state, state.member, state.value, state.count, g, state.top[0], 2 * room)
    state.top[0] += 2 * room


@njit(cache=True)
def _find(value, first, stop, q):
    """Return the first place in [first, stop) of ascending values that has q or more."""
    while first < stop:
        middle = (first + stop) >> 1
        if value[middle] < q:
            first = middle + 1
        else:
            stop = middle
    return first


@njit(cache=True)
def put(state, columns, i, g):
    """Put a record that is in no group into group g."""
    size = state.size[g]
    _make_room(state, g, size + 1)
    a = state.start[g]
    state.member[a + size] = i
    state.place[i], state.label[i], state.size[g] = size, g, size + 1
    for j in range(state.X.shape[1]):
        state.sums[g, j] += state.X[i, j]
    for c in range(len(columns.ordered)):
        value, count, q = state.value[c], state.count[c], columns.code[c, i]
        end = a + state.runs[c, g]
        at = _find(value, a, end, q)
        if at < end and value[at] == q:
            count[at] += 1
            continue
        for z in range(end, at, -1):
            value[z], count[z] = value[z - 1], count[z - 1]
        value[at], count[at] = q, 1
        state.runs[c, g] += 1


@njit(cache=True)
def take(state, columns, i):
    """Take a record out of its group."""
    g = state.label[i]
    a, size = state.start[g], state.size[g] - 1
    last = state.member[a + size]
    state.member[a + state.place[i]] = last
    state.place[last] = state.place[i]
    state.label[i], state.size[g] = -1, size
    for j in range(state.X.shape[1]):
        state.sums[g, j] = state.sums[g, j] - state.X[i, j] if size else 0.0
    for c in range(len(columns.ordered)):
        value, count, q = state.value[c], state.count[c], columns.code[c, i]
        end = a + state.runs[c, g]
        at = _find(value, a, end, q)
        count[at] -= 1
        if count[at] == 0:
            for z in range(at, end - 1):
                value[z], count[z] = value[z + 1], count[z + 1]
            state.runs[c, g] -= 1


@njit(cache=True)
def unite(state, columns, k, g, h):
    """Put all of group h into group g."""
    size = state.size[g]
    _make_room(state, g, size + state.size[h])
    a, b = state.start[g], state.start[h]
    for c in range(len(columns.ordered)):
        m = _runs(state, columns, c, g, h, -1, -1)
        state.value[c, a : a + m] = state.values[:m]
        state.count[c, a : a + m] = state.counts[:m]
        state.runs[c, g], state.runs[c, h] = m, 0
    for z in range(state.size[h]):
        i = state.member[b + z]
        state.member[a + size + z] = i
        state.place[i], state.label[i] = size + z, g
    state.size[g] += state.size[h]
    state.sums[g] += state.sums[h]
    state.size[h], state.sums[h] = 0, 0.0
    settle(state, columns, k, g)
    settle(state, columns, k, h)


@njit(cache=True)
def part(state, columns, k, g, h, chosen):
    """Give the members of group g that are chosen, by their place in it, to the slot h, which is free."""
    size, moved = state.size[g], 0
    for z in range(size):
        moved += chosen[z]
    _make_room(state, h, moved)
    a, b = state.start[g], state.start[h]
    for c in range(len(columns.ordered)):
        value, count, runs = state.value[c], state.count[c], state.runs[c, g]
        leaving = state.counts
        leaving[:runs] = 0
        for z in range(size):
            if chosen[z]:
                leaving[_find(value, a, a + runs, columns.code[c, state.member[a + z]]) - a] += 1
        stay, go = a, b
        for r in range(runs):
            q, x = value[a + r], count[a + r]
            if leaving[r] > 0:
                value[go], count[go] = q, leaving[r]
                go += 1
            if x > leaving[r]:
                value[stay], count[stay] = q, x - leaving[r]
                stay += 1
        state.runs[c, g], state.runs[c, h] = stay - a, go - b
    stay, go = a, b
    for z in range(size):
        i = state.member[a + z]
        if chosen[z]:
            state.member[go], state.label[i], state.place[i] = i, h, go - b
            state.sums[h] += state.X[i]
            state.sums[g] -= state.X[i]
            go += 1
        else:
            state.member[stay], state.place[i] = i, stay - a
            stay += 1
    state.size[g], state.size[h] = stay - a, moved
    settle(state, columns, k, g)
    settle(state, columns, k, h)


@njit(cache=True)
def fill(state, label):
    """Put every record into the group of its label; `place_runs` follows for every column."""
    n, p = state.X.shape
    for i in range(n):
        state.size[label[i]] += 1
    top = 0
    for g in range(len(state.size)):
        state.start[g], state.room[g] = top, state.size[g] + state.size[g] // 4 + 2
        top += state.room[g]
        state.size[g] = 0
    state.top[0] = top
    for i in range(n):
        g = label[i]
        state.label[i], state.place[i] = g, state.size[g]
        state.member[state.start[g] + state.size[g]] = i
        state.size[g] += 1
        for j in range(p):
            state.sums[g, j] += state.X[i, j]


@njit(cache=True)
def place_runs(state, c, group, value, count):
    """Write the runs of a column, given group after group, into the state."""
    for r in range(len(group)):
        g = group[r]
        at = state.start[g] + state.runs[c, g]
        state.value[c, at], state.count[c, at] = value[r], count[r]
        state.runs[c, g] += 1


@njit(cache=True)
def settle_all(state, columns, k):
    """Count anew what every group misses."""
    for g in range(len(state.size)):
        settle(state, columns, k, g)


@njit(cache=True)
def within(state):
    """Return the sum of squared distances of the records to the mean of their group; means are computed anew."""
    n, p = state.X.shape
    state.sums[:] = 0.0
    for i in range(n):
        state.sums[state.label[i]] += state.X[i]
    total = 0.0
    for i in range(n):
        g = state.label[i]
        for j in range(p):
            total += (state.X[i, j] - state.sums[g, j] / state.size[g]) ** 2
    return total
