"""Records that change seats between the groups of a SAFE file, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from sqlmicro.guarantees._state_kernels import misses, put, settle, take
from sqlmicro.system.compiled import njit

_LOOKED_AT = 64  # members of the other group
_NEAR = 0.5  # of the partners are near, the others anywhere


@njit(cache=True, _nrt=False)
def _apart(X, codes, i, o):
    """Return how far two records are from each other: squared distance of the numbers, one for every other value."""
    found = 0.0
    for j in range(X.shape[1]):
        found += (X[i, j] - X[o, j]) ** 2
    for j in range(codes.shape[1]):
        found += codes[i, j] != codes[o, j]
    return found


@njit(cache=True, _nrt=False)
def _best_seat(state, columns, k, codes, anchor, i, b, z, price):
    """Return the record of group b, from its member z on, with which i changes seats best; -1 if nothing is gained."""
    X, a, size, best, found = state.X, state.label[i], state.size[b], -1e-12, -1
    now = state.missed[a] + state.missed[b]
    for _ in range(min(size, _LOOKED_AT)):
        o = state.member[state.start[b] + z]
        z = z + 1 if z + 1 < size else 0
        cost = _apart(X, codes, i, anchor[b]) + _apart(X, codes, o, anchor[a])
        cost -= _apart(X, codes, i, anchor[a]) + _apart(X, codes, o, anchor[b])
        if cost - price * now >= best:
            continue
        after = misses(state, columns, k, a, -1, i, o)
        if cost + price * (after - now) < best:
            after += misses(state, columns, k, b, -1, o, i)
            if after <= now and cost + price * (after - now) < best:
                best, found = cost + price * (after - now), o
    return found


@njit(cache=True, _nrt=False)
def exchange(state, columns, k, codes, anchor, strata, order, place, wanting, rng, reach, price, proposals):
    """Let records of groups that miss something change seats with others of their stratum; return how many did.

    Groups keep their sizes, and no two of them together miss more than before. A partner is one of the `reach` records
    next to the record in `order`, or any.
    """
    made, n = 0, len(order)
    for _ in range(proposals):
        g = wanting[int(rng.random() * len(wanting))]
        i = state.member[state.start[g] + int(rng.random() * state.size[g])]
        other = order[int(rng.random() * n)]
        if rng.random() < _NEAR:
            at = place[i] + int(rng.random() * (2 * reach + 1)) - reach
            other = order[min(max(at, 0), n - 1)]
        b = state.label[other]
        if b == g or strata[other] != strata[i]:
            continue
        z = int(rng.random() * state.size[b])
        found = _best_seat(state, columns, k, codes, anchor, i, b, z, price)
        if found >= 0:
            take(state, columns, i)
            take(state, columns, found)
            put(state, columns, i, b)
            put(state, columns, found, g)
            settle(state, columns, k, g)
            settle(state, columns, k, b)
            made += 1
    return made
