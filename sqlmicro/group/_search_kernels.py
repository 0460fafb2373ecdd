"""The search for groups of small loss, compiled by numba: local search and annealing.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.group._move_kernels import (
    chain,
    chain_cost,
    create,
    cycle,
    cycle_cost,
    dissolve,
    exchange,
    exchange_cost,
    join_cost,
    leave_cost,
    relocate,
    squared_distance,
)
from sqlmicro.system.compiled import njit

_A, _B, _C = np.uint64(13), np.uint64(7), np.uint64(17)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_SHIFT_20 = np.uint64(44)
_KINDS, _SHIFT_KIND = np.uint64(1023), np.uint64(10)

# Of 1024 proposals, so many are below each of these.
_DISSOLVE, _CREATE, _RELOCATE, _EXCHANGE, _CHAIN = 25, 51, 400, 770, 890

# An exchange with a group whose mean is farther is hardly ever a gain.
_EXCHANGE_WITHIN = 4.0


@njit(cache=True, nogil=True, inline="always")
def _random(state):
    """Advance the xorshift generator of Marsaglia (2003); 64 random bits."""
    state ^= state << _A
    state ^= state >> _B
    state ^= state << _C
    return state


@njit(cache=True, nogil=True, inline="always")
def _below(bits, count):
    """Return a number from 0 to count-1 from 32 random bits."""
    return np.int64((bits * np.uint64(count)) >> _HALF)


@njit(cache=True, nogil=True, _nrt=False)
def descend(X, groups, unit, k, near, rows):
    """Make the best relocation or exchange of each of some records with the groups near to its own.

    Only groups of one unit take part.

    Returns the number of records that were moved.
    """
    most = groups.members.shape[1]
    size, mean, members, owner = groups.size, groups.mean, groups.members, groups.owner
    moves = 0
    for x in rows:
        a = np.int64(groups.label[x])
        if owner[a] != unit:
            continue
        own = squared_distance(X[x], mean[a])
        # A gain that is but rounding is none.
        best = -1e-9 * own
        to = np.int64(-1)
        place = np.int64(-1)
        for t in range(near.shape[1]):
            b = np.int64(near[a, t])
            if owner[b] != unit:
                continue
            other = squared_distance(X[x], mean[b])
            if size[a] > k and size[b] < most:
                found = other * size[b] / (size[b] + 1.0) - own * size[a] / (size[a] - 1.0)
                if found < best:
                    best, to, place = found, b, -1
            if other < _EXCHANGE_WITHIN * own:
                weight = 1.0 / size[a] + 1.0 / size[b]
                for m in range(size[b]):
                    found = exchange_cost(X[x], X[members[b, m]], mean[a], mean[b], weight)
                    if found < best:
                        best, to, place = found, b, m
        if to < 0:
            continue
        moves += 1
        if place < 0:
            relocate(X, groups, x, to)
        else:
            exchange(X, groups, x, np.int64(members[to, place]))
    return moves


@njit(cache=True, nogil=True, inline="always")
def _rank(bits, reach):
    """Return a place in a list of near records from the 20 highest of 64 random bits; near places come more often."""
    rank = np.int64(bits >> _SHIFT_20)
    return ((rank * rank >> 20) * reach) >> 20


@njit(cache=True, nogil=True)
def anneal(X, groups, unit, k, near, who, state, proposals, temperature, exponential):
    """Propose random moves of the records `who`, and make each that costs no more than the temperature allows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records.
    groups : Groups
        Groups of k to 2k-1 records; changed.
    unit : int
        Whose groups take part in moves.
    k : int
        Smallest number of records in a group.
    near : ndarray of shape (n, reach), int32
        Records near to each; the group that takes part in a move is that of one of them.
    who : ndarray of int64
        Records to propose moves of.
    state : ndarray of uint64
        State of the random numbers of every unit, not 0; its own is changed.
    proposals : int
        Number of moves proposed.
    temperature : float
        A move that costs c is made with probability exp(-c/temperature).
    exponential : ndarray
        Quantiles of the standard exponential distribution, as many as a power of two up to 4096, in any order.

    Returns
    -------
    float
        What the moves cost, negative where the loss has fallen.
    """
    reach = near.shape[1]
    most = groups.members.shape[1]
    label, size, mean, members, owner = groups.label, groups.size, groups.mean, groups.members, groups.owner
    bits = state[unit]
    cost = 0.0
    for _ in range(proposals):
        bits = _random(bits)
        x = who[_below(bits & _LOW, len(who))]
        rank = _rank(bits, reach)
        bits = _random(bits)
        kind = np.int64(bits & _KINDS)
        bound = temperature * exponential[np.int64(bits >> _SHIFT_KIND) & (len(exponential) - 1)]
        a = np.int64(label[x])
        if owner[a] != unit:
            continue
        if kind < _DISSOLVE:
            cost += dissolve(X, groups, unit, a, near, bound)
            continue
        if kind < _CREATE:
            cost += create(X, groups, unit, k, x, near, bound)
            continue
        b = np.int64(label[near[x, rank]])
        if a == b or owner[b] != unit:
            continue
        if kind < _RELOCATE and size[a] > k and size[b] < most:
            found = join_cost(X, groups, x, b) + leave_cost(X, groups, x, a)
            if found <= bound:
                cost += found
                relocate(X, groups, x, b)
            continue
        z = np.int64(members[b, _below(bits >> _HALF, np.int64(size[b]))])
        if kind < _EXCHANGE:
            found = exchange_cost(X[x], X[z], mean[a], mean[b], 1.0 / size[a] + 1.0 / size[b])
            if found <= bound:
                cost += found
                exchange(X, groups, x, z)
            continue
        bits = _random(bits)
        c = np.int64(label[near[z, _rank(bits, reach)]])
        if c in (a, b) or owner[c] != unit:
            continue
        if kind < _CHAIN and size[a] > k and size[c] < most:
            found = chain_cost(X, groups, x, z, c)
            if found <= bound:
                cost += found
                chain(X, groups, x, z, c)
            continue
        v = np.int64(members[c, _below(bits & _LOW, np.int64(size[c]))])
        found = cycle_cost(X, groups, x, z, v)
        if found <= bound:
            cost += found
            cycle(X, groups, x, z, v)
    state[unit] = bits
    return cost
