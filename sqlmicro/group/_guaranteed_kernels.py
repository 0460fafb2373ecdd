"""Groups that keep guarantees, compiled by numba: moves of records, merging what misses most, splitting.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.group._search_kernels import _below, _random
from sqlmicro.guarantees._state_kernels import misses, part, put, settle, take, unite
from sqlmicro.system.compiled import internal, njit

_LOW = np.uint64(0xFFFFFFFF)
_HALF, _SHIFT_FLOAT = np.uint64(32), np.uint64(11)
_TO_FLOAT = 2.0**-53

_FAR = 0.03  # of the proposals go to any group, all others to one near by
_LOOKED_AT = 64  # members of the other group an exchange is tried with
_STEPS = 8  # of the power iteration


@njit(cache=True, nogil=True, inline="always")
def _uniform(bits):
    return (np.float64(bits >> _SHIFT_FLOAT) + 0.5) * _TO_FLOAT


@internal(_nrt=False)
def _relocate_cost(state, i, a, b):
    """Return what SSE gains if record i goes from group a to group b."""
    x, before, after = state.X[i], 0.0, 0.0
    size_a, size_b = state.size[a], state.size[b]
    for j in range(len(x)):
        before += (x[j] - state.sums[a, j] / size_a) ** 2
        after += (x[j] - state.sums[b, j] / size_b) ** 2
    return after * size_b / (size_b + 1) - (before * size_a / (size_a - 1) if size_a > 1 else 0.0)


@internal(_nrt=False)
def _best_exchange(state, columns, k, i, b, z, best, price, strict, weight):
    """Return the cost of the best exchange of record i with a member of group b, the member, and the work done.

    The members looked at are those from place z on; only costs below `best` count, and -1 is no member.
    """
    X, a, size_b, found, work = state.X, state.label[i], state.size[b], -1, 0
    p, now, shares = X.shape[1], state.missed[a] + state.missed[b], 1.0 / state.size[a] + 1.0 / size_b
    for j in range(p):
        weight[j] = 2.0 * (state.sums[a, j] / state.size[a] - state.sums[b, j] / size_b)
    for _ in range(min(size_b, _LOOKED_AT)):
        o = state.member[state.start[b] + z]
        z = z + 1 if z + 1 < size_b else 0
        along, across = 0.0, 0.0
        for j in range(p):
            difference = X[o, j] - X[i, j]
            across += difference * difference
            along += difference * weight[j]
        cost = -along - across * shares
        work += p
        if cost - price * now < best:
            after = misses(state, columns, k, a, -1, i, o)
            work += state.size[a]
            if (not strict or after <= now) and cost + price * (after - now) < best:
                after += misses(state, columns, k, b, -1, o, i)
                work += size_b
                if (not strict or after <= now) and cost + price * (after - now) < best:
                    best, found = cost + price * (after - now), o
    return best, found, work


@internal(_nrt=False)
def _move(state, columns, k, i, b, other):
    """Move record i to group b, and the record `other` of it, unless -1, to that of i."""
    a = state.label[i]
    take(state, columns, i)
    if other >= 0:
        take(state, columns, other)
        put(state, columns, other, a)
    put(state, columns, i, b)
    settle(state, columns, k, a)
    settle(state, columns, k, b)


@njit(cache=True, nogil=True)
def search(state, columns, k, near, within, first, stop, bits, proposals, temperature, price, strict, work):
    """Propose moves of records [first, stop): to another group, or the best exchange with one of its members.

    Records move among groups of their own class, which is in `within` (n,).

    The cost of a move is the SSE it adds plus `price` for each record more that the two groups miss; it is made if it
    is below a random multiple of the temperature. If `strict`, the two may not miss more than before, whatever the SSE.

    Returns
    -------
    tuple
        Proposals made before `work` was done, how many led to a move, and what is left of the work.
    """
    label, random, moves, made = state.label, bits[0], 0, 0
    weight = np.empty(state.X.shape[1])
    while made < proposals and work > 0:
        made += 1
        random = _random(random)
        i, other = first + _below(random & _LOW, stop - first), _below(random >> _HALF, near.shape[1])
        random = _random(random)
        far = _uniform(random) < _FAR
        random = _random(random)
        other = _below(random & _LOW, len(label)) if far else near[i, other]
        a, b = label[i], label[other]
        if a == b or within[i] != within[other]:
            continue
        random = _random(random)
        best = -temperature * np.log(_uniform(random)) if temperature > 0 else -1e-12
        now, relocated = state.missed[a] + state.missed[b], False
        cost = _relocate_cost(state, i, a, b)
        work -= 4 * len(weight)
        if cost - price * now < best:
            after = misses(state, columns, k, a, -1, i, -1) + misses(state, columns, k, b, -1, -1, i)
            work -= state.size[a] + state.size[b]
            if (not strict or after <= now) and cost + price * (after - now) < best:
                best, relocated = cost + price * (after - now), True
        z = _below(random & _LOW, state.size[b]) if state.size[b] > _LOOKED_AT else 0
        _, found, done = _best_exchange(state, columns, k, i, b, z, best, price, strict, weight)
        work -= done
        if relocated or found >= 0:
            _move(state, columns, k, i, b, found)
            moves += 1
    bits[0] = random
    return made, moves, work


@njit(cache=True, nogil=True)
def descend(state, columns, k, near, within, at, tried, changed, clock, bits, work):
    """Make the best move of every record from `at` on, to a group near by, that takes from SSE and misses nothing.

    A move is to another group, or the exchange with one of its members. A pair of groups between which a record had
    none is not looked at again for it until one of the two has changed.

    Parameters
    ----------
    tried : ndarray of shape (n,), int64
        When a record was last found without a move; changed.
    changed : ndarray of shape (S,), int64
        When a group last changed; changed.
    clock : ndarray of shape (1,), int64
        How many moves were made, which is the time; changed.

    Returns
    -------
    tuple
        The record reached with `work` done, how many moved, and what is left of the work.
    """
    label, made, random = state.label, 0, bits[0]
    weight, seen = np.empty(state.X.shape[1]), np.empty(near.shape[1], np.int64)
    while at < len(label) and work > 0:
        i, many, best, to, other = at, 0, -1e-12, -1, -1
        a = label[i]
        at += 1
        work -= near.shape[1]
        for y in range(near.shape[1]):
            b = label[near[i, y]]
            if b == a or (changed[a] <= tried[i] and changed[b] <= tried[i]) or within[i] != within[near[i, y]]:
                continue
            known = False
            for z in range(many):
                known |= seen[z] == b
            if known:
                continue
            seen[many] = b
            many += 1
            cost = _relocate_cost(state, i, a, b)
            work -= 4 * len(weight)
            if cost < best:
                work -= state.size[a] + state.size[b]
                if misses(state, columns, k, a, -1, i, -1) + misses(state, columns, k, b, -1, -1, i) <= 0:
                    best, to, other = cost, b, -1
            random = _random(random)
            z = _below(random & _LOW, state.size[b]) if state.size[b] > _LOOKED_AT else 0
            least, found, done = _best_exchange(state, columns, k, i, b, z, best, 0.0, True, weight)
            work -= done
            if found >= 0:
                best, to, other = least, b, found
        if to < 0:
            tried[i] = clock[0]
            continue
        _move(state, columns, k, i, to, other)
        clock[0] += 1
        changed[a] = changed[to] = clock[0]
        made += 1
    bits[0] = random
    return at, made, work


@internal(_nrt=False)
def _union_cost(state, g, h):
    """Return what SSE gains if two groups become one."""
    distance = 0.0
    for j in range(state.X.shape[1]):
        distance += (state.sums[g, j] / state.size[g] - state.sums[h, j] / state.size[h]) ** 2
    return distance * state.size[g] * state.size[h] / (state.size[g] + state.size[h])


@internal(_nrt=False)
def _consider(state, g, h, to, costs):
    """Put group h among the ones nearest to g, unless it is there or farther than all."""
    cost = _union_cost(state, g, h)
    last = len(to) - 1
    if cost >= costs[last]:
        return
    for z in range(len(to)):
        if to[z] == h:
            return
    while last > 0 and costs[last - 1] > cost:
        costs[last], to[last] = costs[last - 1], to[last - 1]
        last -= 1
    costs[last], to[last] = cost, h


@njit(cache=True, nogil=True)
def repair(state, columns, k, near, order, at, price, most, width, many, work):
    """Merge every group of `order` that misses something with the best of the `width` nearest ones.

    The best adds least to SSE plus `price` for what the union misses. The nearest are looked for among the groups of
    near records if there are more than `many`, else among all. Returns the place in `order` reached with `work` done.
    """
    to, costs = np.full(width, -1), np.full(width, np.inf)
    while at < len(order) and work > 0:
        g = order[at]
        at += 1
        if state.size[g] == 0 or state.missed[g] <= 0:
            continue
        for z in range(width):
            to[z], costs[z] = -1, np.inf
        if len(order) > many:
            for z in range(min(state.size[g], many)):
                for y in range(near.shape[1]):
                    h = state.label[near[state.member[state.start[g] + z], y]]
                    if h != g:
                        _consider(state, g, h, to, costs)
            work -= min(state.size[g], many) * near.shape[1]
        if to[0] < 0:
            for h in range(len(state.size)):
                if h != g and state.size[h] > 0:
                    _consider(state, g, h, to, costs)
            work -= len(state.size)
        best, chosen = most + price * state.missed[g], -1
        for z in range(width):
            if to[z] >= 0:
                missed = misses(state, columns, k, g, to[z], -1, -1) - state.missed[to[z]]
                work -= state.size[g] + state.size[to[z]]
                if costs[z] + price * missed < best:
                    best, chosen = costs[z] + price * missed, to[z]
        if chosen >= 0:
            unite(state, columns, k, g, chosen)
    return at


@internal()
def _scores(state, g, score):
    """Write the places of the members along the first principal axis of a group; return whether they differ."""
    size, p, X, member, a = state.size[g], state.X.shape[1], state.X, state.member, state.start[g]
    axis, turned = np.zeros(p), np.zeros(p)
    farthest, far = 1e-12, -1
    for z in range(size):
        distance = 0.0
        for j in range(p):
            distance += (X[member[a + z], j] - state.sums[g, j] / size) ** 2
        if distance > farthest:
            farthest, far = distance, member[a + z]
    if far < 0:
        return False
    for j in range(p):
        axis[j] = X[far, j] - state.sums[g, j] / size
    for _ in range(_STEPS):
        length = 0.0
        for j in range(p):
            turned[j] = 0.0
        for z in range(size):
            score[z] = 0.0
            for j in range(p):
                score[z] += (X[member[a + z], j] - state.sums[g, j] / size) * axis[j]
            for j in range(p):
                turned[j] += score[z] * (X[member[a + z], j] - state.sums[g, j] / size)
        for j in range(p):
            length += turned[j] ** 2
        for j in range(p):
            axis[j] = turned[j] / np.sqrt(length)
    return True


@internal()
def _cut(score, k, chosen):
    """Choose the members below the cut along the axis that takes most from SSE, k or more on both sides."""
    size, below, best, cut = len(score), 0.0, -1.0, len(score) // 2
    order = np.argsort(score)
    for z in range(size - k):
        below += score[order[z]]
        if z + 1 >= k:
            gain = below * below * (1.0 / (z + 1) + 1.0 / (size - z - 1))
            if gain > best:
                best, cut = gain, z + 1
    for z in range(size):
        chosen[order[z]] = z < cut


@njit(cache=True, nogil=True)
def split(state, columns, k, groups, at, free, work):
    """Split groups in two where both halves keep all: along the axis, or neighbours in one of the columns apart.

    Returns
    -------
    tuple
        The place in `groups` reached with `work` done, and the splits made.
    """
    made = 0
    while at < len(groups) and made < len(free) and work > 0:
        g = groups[at]
        at += 1
        size = state.size[g]
        if size < 2 * k or state.missed[g] > 0:
            continue
        score, chosen = np.empty(size), np.zeros(size, np.bool_)
        for way in range(len(columns.ordered) + 1):
            work -= size * state.X.shape[1] * _STEPS
            if not _scores(state, g, score):
                break
            if way == 0:
                _cut(score, k, chosen)
            else:
                _pair(state, columns, way - 1, g, score, chosen)
            part(state, columns, k, g, free[made], chosen)
            if state.missed[g] <= 0 and state.missed[free[made]] <= 0:
                made += 1
                break
            unite(state, columns, k, g, free[made])
    return at, made


@internal()
def _pair(state, columns, c, g, score, chosen):
    """Of every two neighbours in a column, choose the one with the lower score."""
    size = state.size[g]
    key = np.empty(size)
    for z in range(size):
        key[z] = columns.code[c, state.member[state.start[g] + z]]
    order = np.argsort(key)
    for z in range(size):
        chosen[z] = False
    for z in range(0, size - 1, 2):
        low = score[order[z]] < score[order[z + 1]]
        chosen[order[z] if low else order[z + 1]] = True
