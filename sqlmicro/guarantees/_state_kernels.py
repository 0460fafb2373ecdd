"""What a kernel knows of every group while records move between them, compiled by numba: sizes, sums, counts of values.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.guarantees._rule_kernels import L, column_misses
from sqlmicro.system.compiled import njit

_NONE = 2**31 - 1  # no value has this number


class State(NamedTuple):
    """Groups that change record by record; what belongs to one lies side by side from `start` on, with room to grow.

    A column is kept as runs: the values that occur in a group, ascending, and how often each occurs. A record may be a
    unit of several: of their columns, which come last, it has a bundle of values, ascending.
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
    values: np.ndarray  # int32: scratch, the runs of a group as it would be
    counts: np.ndarray  # int32
    begin: np.ndarray  # (B, n + 1) int64: of the last B columns, where the bundle of every record begins
    inside: np.ndarray  # (2, values of all bundles) int32: the values of one bundle after the other, how often each


@njit(cache=True, _nrt=False)
def _bundle(state, c, i):
    """Return where the values of a record lie in a column of bundles, and where they end; nowhere for -1."""
    if i < 0:
        return 0, 0
    b = c - len(state.runs) + len(state.begin)
    return state.begin[b, i], state.begin[b, i + 1]


@njit(cache=True, _nrt=False)
def _runs_of_bundles(state, c, g, h, out, new):
    """Write the runs that `_runs` is asked for, of a column in which records have bundles of values."""
    value, count, inside, times = state.value, state.count, state.inside[0], state.inside[1]
    i, end = state.start[g], state.start[g] + state.runs[c, g]
    j, other_end = 0, 0
    if h >= 0:
        j, other_end = state.start[h], state.start[h] + state.runs[c, h]
    leaving, last = _bundle(state, c, out)
    coming, stop = _bundle(state, c, new)
    m = 0
    while True:
        q = _NONE
        if i < end:
            q = value[c, i]
        if j < other_end and value[c, j] < q:
            q = value[c, j]
        if coming < stop and inside[coming] < q:
            q = inside[coming]
        if q == _NONE:
            return m
        x = 0
        if i < end and value[c, i] == q:
            x = count[c, i]
            i += 1
        if j < other_end and value[c, j] == q:
            x += count[c, j]
            j += 1
        if coming < stop and inside[coming] == q:
            x += times[coming]
            coming += 1
        if leaving < last and inside[leaving] == q:
            x -= times[leaving]
            leaving += 1
        if x > 0:
            state.values[m], state.counts[m] = q, x
            m += 1


@njit(cache=True, _nrt=False)
def _counted(counts, m):
    """Return how many values the first m runs are."""
    found = 0
    for j in range(m):
        found += counts[j]
    return found


@njit(cache=True, _nrt=False)
def _runs(state, columns, c, g, h, out, new):
    """Write the runs of group g, united with h, without record `out` and with `new`; return their number. -1: none."""
    value, count, values, counts = state.value, state.count, state.values, state.counts
    leaving = columns.code[c, out] if out >= 0 else -1
    coming = columns.code[c, new] if new >= 0 else _NONE
    i, end = state.start[g], state.start[g] + state.runs[c, g]
    j, other_end = 0, 0
    if h >= 0:
        j, other_end = state.start[h], state.start[h] + state.runs[c, h]
    m = 0
    while True:
        q = coming
        if i < end and value[c, i] < q:
            q = value[c, i]
        if j < other_end and value[c, j] < q:
            q = value[c, j]
        if q == _NONE:
            return m
        x = 0
        if i < end and value[c, i] == q:
            x = count[c, i]
            i += 1
        if j < other_end and value[c, j] == q:
            x += count[c, j]
            j += 1
        if q == coming:
            x += 1
            coming = _NONE
        if q == leaving:
            x -= 1
        if x > 0:
            values[m], counts[m] = q, x
            m += 1


@njit(cache=True, _nrt=False)
def _find(value, c, first, stop, q):
    """Return the first place in [first, stop) of the ascending values of column c that has q or more."""
    while first < stop:
        middle = (first + stop) >> 1
        if value[c, middle] < q:
            first = middle + 1
        else:
            stop = middle
    return first


@njit(cache=True, _nrt=False)
def _distinct(state, columns, c, g, out, new):
    """Return how many values group g would have without record `out` and with `new`, whose values differ; -1: none."""
    begin, distinct = state.start[g], state.runs[c, g]
    end = begin + distinct
    if out >= 0:
        distinct -= state.count[c, _find(state.value, c, begin, end, columns.code[c, out])] == 1
    if new >= 0:
        at = _find(state.value, c, begin, end, columns.code[c, new])
        distinct += at == end or state.value[c, at] != columns.code[c, new]
    return distinct


@njit(cache=True, _nrt=False)
def misses(state, columns, k, g, h, out, new):
    """Return what group g, united with h, would miss without record `out` and with `new`, in records; -1 is none."""
    size = state.size[g] - (out >= 0) + (new >= 0) + (state.size[h] if h >= 0 else 0)
    if size == 0:
        return 0.0
    missed = max(0.0, float(k - size))
    plain = len(state.runs) - len(state.begin)
    for c in range(plain):
        if out >= 0 and new >= 0 and h < 0 and columns.code[c, out] == columns.code[c, new]:
            missed += state.missed_in[c, g]
        elif columns.counted[c] and h < 0:
            missed += max(0.0, columns.limit[c, L] - _distinct(state, columns, c, g, out, new))
        else:
            m = _runs(state, columns, c, g, h, out, new)
            missed += column_misses(columns, c, state.values, state.counts, m, size)
    for c in range(plain, len(columns.ordered)):
        m = _runs_of_bundles(state, c, g, h, out, new)
        missed += column_misses(columns, c, state.values, state.counts, m, _counted(state.counts, m))
    return missed


@njit(cache=True, _nrt=False)
def settle(state, columns, k, g):
    """Count anew what a group misses."""
    size, a = state.size[g], state.start[g]
    missed = max(0.0, float(k - size)) if size > 0 else 0.0
    plain = len(state.runs) - len(state.begin)
    for c in range(len(columns.ordered)):
        b, records = a + state.runs[c, g], size
        if c >= plain:
            records = _counted(state.count[c, a:b], b - a)
        found = column_misses(columns, c, state.value[c, a:b], state.count[c, a:b], b - a, records) if size > 0 else 0.0
        state.missed_in[c, g] = found
        missed += found
    state.missed[g] = missed


@njit(cache=True, _nrt=False)
def _needs(state, g):
    """Return the room that a group needs for its members and its runs."""
    room = state.size[g]
    for c in range(len(state.runs)):
        room = max(room, state.runs[c, g])
    return room


@njit(cache=True, _nrt=True)
def _compact(state):
    """Close the gaps between groups, with a quarter of its size as room for each."""
    member, value, count = state.member.copy(), state.value.copy(), state.count.copy()
    top = 0
    for g in range(len(state.size)):
        if state.size[g] == 0:
            state.room[g] = 0
            continue
        needed = _needs(state, g)
        _copy(state, member, value, count, g, top, needed + needed // 4 + 2)
        top += state.room[g]
    state.top[0] = top


@njit(cache=True, _nrt=False)
def _copy(state, member, value, count, g, to, room):
    """Copy what belongs to a group from the arrays given to the place `to` of those of the state."""
    a, size = state.start[g], state.size[g]
    for z in range(size):
        state.member[to + z] = member[a + z]
    for c in range(len(value)):
        for z in range(state.runs[c, g]):
            state.value[c, to + z], state.count[c, to + z] = value[c, a + z], count[c, a + z]
    state.start[g], state.room[g] = to, room


@njit(cache=True, _nrt=False)
def _make_room(state, g, room):
    """Give a group so much room."""
    if state.room[g] >= room:
        return
    if state.top[0] + 2 * room > len(state.member):
        _compact(state)
    _copy(state, state.member, state.value, state.count, g, state.top[0], 2 * room)
    state.top[0] += 2 * room


@njit(cache=True, _nrt=False)
def _add(state, c, g, q, times):
    """Add a value, so many times, to the runs of a group."""
    value, count, a = state.value, state.count, state.start[g]
    end = a + state.runs[c, g]
    at = _find(value, c, a, end, q)
    if at < end and value[c, at] == q:
        count[c, at] += times
        return
    for z in range(end, at, -1):
        value[c, z], count[c, z] = value[c, z - 1], count[c, z - 1]
    value[c, at], count[c, at] = q, times
    state.runs[c, g] += 1


@njit(cache=True, _nrt=False)
def _remove(state, c, g, q, times):
    """Remove a value, so many times, from the runs of a group."""
    value, count, a = state.value, state.count, state.start[g]
    end = a + state.runs[c, g]
    at = _find(value, c, a, end, q)
    count[c, at] -= times
    if count[c, at] == 0:
        for z in range(at, end - 1):
            value[c, z], count[c, z] = value[c, z + 1], count[c, z + 1]
        state.runs[c, g] -= 1


@njit(cache=True, _nrt=False)
def put(state, columns, i, g):
    """Put a record that is in no group into group g."""
    size, plain = state.size[g], len(state.runs) - len(state.begin)
    room = size + 1
    for c in range(plain, len(columns.ordered)):
        first, stop = _bundle(state, c, i)
        room = max(room, state.runs[c, g] + stop - first)
    _make_room(state, g, room)
    state.member[state.start[g] + size] = i
    state.place[i], state.label[i], state.size[g] = size, g, size + 1
    for j in range(state.X.shape[1]):
        state.sums[g, j] += state.X[i, j]
    for c in range(plain):
        _add(state, c, g, columns.code[c, i], 1)
    for c in range(plain, len(columns.ordered)):
        first, stop = _bundle(state, c, i)
        for z in range(first, stop):
            _add(state, c, g, state.inside[0, z], state.inside[1, z])


@njit(cache=True, _nrt=False)
def take(state, columns, i):
    """Take a record out of its group."""
    g, plain = state.label[i], len(state.runs) - len(state.begin)
    a, size = state.start[g], state.size[g] - 1
    last = state.member[a + size]
    state.member[a + state.place[i]] = last
    state.place[last] = state.place[i]
    state.label[i], state.size[g] = -1, size
    for j in range(state.X.shape[1]):
        state.sums[g, j] = state.sums[g, j] - state.X[i, j] if size else 0.0
    for c in range(plain):
        _remove(state, c, g, columns.code[c, i], 1)
    for c in range(plain, len(columns.ordered)):
        first, stop = _bundle(state, c, i)
        for z in range(first, stop):
            _remove(state, c, g, state.inside[0, z], state.inside[1, z])


@njit(cache=True, _nrt=False)
def unite(state, columns, k, g, h):
    """Put all of group h into group g."""
    size = state.size[g]
    room, plain = size + state.size[h], len(state.runs) - len(state.begin)
    for c in range(plain, len(columns.ordered)):
        room = max(room, state.runs[c, g] + state.runs[c, h])
    _make_room(state, g, room)
    a, b = state.start[g], state.start[h]
    for c in range(len(columns.ordered)):
        m = _runs(state, columns, c, g, h, -1, -1) if c < plain else _runs_of_bundles(state, c, g, h, -1, -1)
        for z in range(m):
            state.value[c, a + z], state.count[c, a + z] = state.values[z], state.counts[z]
        state.runs[c, g], state.runs[c, h] = m, 0
    for z in range(state.size[h]):
        i = state.member[b + z]
        state.member[a + size + z] = i
        state.place[i], state.label[i] = size + z, g
    state.size[g] += state.size[h]
    state.size[h] = 0
    for j in range(state.X.shape[1]):
        state.sums[g, j] += state.sums[h, j]
        state.sums[h, j] = 0.0
    settle(state, columns, k, g)
    settle(state, columns, k, h)


@njit(cache=True, _nrt=False)
def part(state, columns, k, g, h, chosen):
    """Give the members of group g that are chosen, by their place in it, to the slot h, which is free."""
    size, moved, plain = state.size[g], 0, len(state.runs) - len(state.begin)
    for z in range(size):
        moved += chosen[z]
    room = moved
    for c in range(plain, len(columns.ordered)):
        room = max(room, state.runs[c, g])
    _make_room(state, h, room)
    a, b = state.start[g], state.start[h]
    for c in range(len(columns.ordered)):
        value, count, runs, leaving = state.value, state.count, state.runs[c, g], state.counts
        for r in range(runs):
            leaving[r] = 0
        for z in range(size):
            if not chosen[z]:
                continue
            i = state.member[a + z]
            if c < plain:
                leaving[_find(value, c, a, a + runs, columns.code[c, i]) - a] += 1
            else:
                first, last = _bundle(state, c, i)
                for y in range(first, last):
                    leaving[_find(value, c, a, a + runs, state.inside[0, y]) - a] += state.inside[1, y]
        stay, go = a, b
        for r in range(runs):
            q, x = value[c, a + r], count[c, a + r]
            if leaving[r] > 0:
                value[c, go], count[c, go] = q, leaving[r]
                go += 1
            if x > leaving[r]:
                value[c, stay], count[c, stay] = q, x - leaving[r]
                stay += 1
        state.runs[c, g], state.runs[c, h] = stay - a, go - b
    stay, go = a, b
    for z in range(size):
        i = state.member[a + z]
        if chosen[z]:
            state.member[go], state.label[i], state.place[i] = i, h, go - b
            for j in range(state.X.shape[1]):
                state.sums[h, j] += state.X[i, j]
                state.sums[g, j] -= state.X[i, j]
            go += 1
        else:
            state.member[stay], state.place[i] = i, stay - a
            stay += 1
    state.size[g], state.size[h] = stay - a, moved
    settle(state, columns, k, g)
    settle(state, columns, k, h)


@njit(cache=True, _nrt=False)
def fill(state, label, needs):
    """Put every record into the group of its label, of which each needs so much room; `place_runs` follows."""
    n, p = state.X.shape
    top = 0
    for g in range(len(state.size)):
        state.start[g], state.room[g] = top, needs[g] + needs[g] // 4 + 2
        top += state.room[g]
    state.top[0] = top
    for i in range(n):
        g = label[i]
        state.label[i], state.place[i] = g, state.size[g]
        state.member[state.start[g] + state.size[g]] = i
        state.size[g] += 1
        for j in range(p):
            state.sums[g, j] += state.X[i, j]


@njit(cache=True, _nrt=False)
def place_runs(state, c, group, value, count):
    """Write the runs of a column, given group after group, into the state."""
    for r in range(len(group)):
        g = group[r]
        at = state.start[g] + state.runs[c, g]
        state.value[c, at], state.count[c, at] = value[r], count[r]
        state.runs[c, g] += 1


@njit(cache=True, _nrt=False)
def settle_all(state, columns, k):
    """Count anew what every group misses."""
    for g in range(len(state.size)):
        settle(state, columns, k, g)


@njit(cache=True, _nrt=False)
def within(state):
    """Return the sum of squared distances of the records to the mean of their group; means are computed anew."""
    n, p = state.X.shape
    state.sums[:] = 0.0
    for i in range(n):
        for j in range(p):
            state.sums[state.label[i], j] += state.X[i, j]
    total = 0.0
    for i in range(n):
        g = state.label[i]
        for j in range(p):
            total += (state.X[i, j] - state.sums[g, j] / state.size[g]) ** 2
    return total
