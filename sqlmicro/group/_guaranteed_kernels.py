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


@internal()
def _relocate_cost(state, i, a, b):
    """Return what SSE gains if record i goes from group a to group b."""
    x, before, after = state.X[i], 0.0, 0.0
    size_a, size_b = state.size[a], state.size[b]
    for j in range(len(x)):
        before += (x[j] - state.sums[a, j] / size_a) ** 2
        after += (x[j] - state.sums[b, j] / size_b) ** 2
    return after * size_b / (size_b + 1) - (before * size_a / (size_a - 1) if size_a > 1 else 0.0)


@internal()
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


@internal()
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


@internal()
def _union_cost(state, g, h):
    """Return what SSE gains if two groups become one."""
    distance = 0.0
    for j in range(state.X.shape[1]):
        distance += (state.sums[g, j] / state.size[g] - state.sums[h, j] / state.size[h]) ** 2
    return distance * state.size[g] * state.size[h] / (state.size[g] + state.size[h])


@internal()
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


@njit(cache=True, nogil=True)
def t_first(X, bucket, left, labels, rest, at, groups, work):
    """Form groups of the nearest record of each bucket, around seeds as in MDAV, until `work` is done.

    A bucket that has more records than groups are still to be formed gives a second one where that is the nearest.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records.
    bucket : ndarray of shape (n,), int64
        The bucket of every record, by its rank in the sensitive column.
    left : ndarray of shape (k,), int64
        How many records of each bucket are left; changed.
    labels : ndarray of shape (n,), int64
        The group of every record, -1 for none yet; changed.
    rest : ndarray of shape (n,), int64
        Records left, the first at[0] of them; changed.
    at : ndarray of shape (3,), int64
        How many records are left, groups formed, and the last seed; changed.
    groups : int
        How many groups are to be formed.
    work : int
        How much to do in this call.
    """
    p, k = X.shape[1], len(left)
    nearest, distance, seed = np.empty(k, np.int64), np.empty(k), np.empty(p)
    while at[1] < groups and work > 0:
        m, g = at[0], at[1]
        for j in range(p):
            seed[j] = 0.0 if g % 2 == 0 else X[at[2], j]
        if g % 2 == 0:
            for z in range(m):
                for j in range(p):
                    seed[j] += X[rest[z], j] / m
        far, farthest = -1.0, 0
        for z in range(m):
            d = 0.0
            for j in range(p):
                d += (X[rest[z], j] - seed[j]) ** 2
            if d > far:
                far, farthest = d, rest[z]
        at[2] = farthest
        extra, extra_distance = -1, np.inf
        for b in range(k):
            distance[b] = np.inf
        for z in range(m):
            i, d = rest[z], 0.0
            b = bucket[i]
            for j in range(p):
                d += (X[i, j] - X[farthest, j]) ** 2
            spare = left[b] > groups - g
            if d < distance[b]:
                if spare and distance[b] < extra_distance:
                    extra, extra_distance = nearest[b], distance[b]
                nearest[b], distance[b] = i, d
            elif spare and d < extra_distance:
                extra, extra_distance = i, d
        for b in range(k):
            labels[nearest[b]] = g
            left[b] -= 1
        if extra >= 0:
            labels[extra] = g
            left[bucket[extra]] -= 1
        kept = 0
        for z in range(m):
            if labels[rest[z]] < 0:
                rest[kept] = rest[z]
                kept += 1
        at[0], at[1] = kept, g + 1
        work -= 3 * m * p
