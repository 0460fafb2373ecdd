"""Who became whom when every released record is taken once: nearest candidates, their scores and odds, by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

Records are distinct on both sides and count as often as they occur, so that equal ones have equal odds: no tie is ever
broken by the order of a table.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.attacks._linkage_kernels import LEAF, NOMINAL, NUMERIC, WORK_PER_CALL, _bound, gap_of, to_leaf
from sqlmicro.system.compiled import njit

_LEAST = 1e-12
"""The least share of its odds that a record leaves to others: what is certain stays finite."""


@njit(cache=True, _nrt=False)
def _sift(gap, near, distance, number):
    """Replace the farthest of a heap of candidates."""
    at, size = 0, len(gap)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and gap[child + 1] > gap[child]:
            child += 1
        if gap[child] <= distance:
            break
        gap[at], near[at] = gap[child], near[child]
        at = child
    gap[at], near[at] = distance, number


@njit(cache=True)
def neighbours(forest, X, start, near, gap):
    """Find the nearest distinct records of rows of X from `start` on, as many as `near` and `gap` (n, K) have room for.

    Fills `near` with their numbers and `gap` with the squared distances, in no order, until enough records were looked
    at; returns the next row.
    """
    inner = len(forest.total) // 2
    node, bound, distance = np.empty(64, dtype=np.int64), np.empty(64), np.empty(LEAF)
    looked, i = 0, start
    while i < len(X) and looked < WORK_PER_CALL:
        q = X[i]
        gap[i, :], near[i, :] = np.inf, -1
        node[0], bound[0], left_over = 0, 0.0, 1
        while left_over > 0:
            left_over -= 1
            v = node[left_over]
            if bound[left_over] >= gap[i, 0]:
                continue
            if v >= inner:
                leaf = v - inner
                records = to_leaf(forest, leaf, q, distance)
                looked += records
                for r in range(records):
                    if distance[r] < gap[i, 0]:
                        _sift(gap[i], near[i], distance[r], forest.number[leaf, r])
                        looked += 4
                continue
            left, right = 2 * v + 1, 2 * v + 2
            to_left, to_right = _bound(forest, left, q), _bound(forest, right, q)
            looked += 4
            if to_right < to_left:
                left, right, to_left, to_right = right, left, to_right, to_left
            node[left_over], bound[left_over] = right, to_right
            node[left_over + 1], bound[left_over + 1] = left, to_left
            left_over += 2
        i += 1
    return i


@njit(cache=True, _nrt=False)
def scored(X, Y, near, kind, weight, gain, table, step, tail, cost):
    """Fill `cost` (n, K) with twice the negative log odds that a row of X became its candidates in Y.

    A number counts `weight` times the squared difference, or, where `table` (p, B) has several levels, what that says
    of the difference times `step`; a nominal value that agrees counts minus `gain` (m, p), one that does not 0. With a
    `tail` above 0 squares count by so many times their logarithm: distances are compared by their ratio.
    """
    last = table.shape[1] - 1
    for i in range(len(X)):
        for at in range(near.shape[1]):
            y, total, agreed = near[i, at], 0.0, 0.0
            for j in range(X.shape[1]):
                if kind[j] == NOMINAL:
                    if X[i, j] == Y[y, j]:
                        agreed += gain[y, j]
                elif kind[j] == NUMERIC and last > 0:
                    total += table[j, int(min(abs(X[i, j] - Y[y, j]) * step, last))]
                else:
                    total += gap_of(X[i, j], Y[y, j], weight[j], kind[j])
            cost[i, at] = (tail * np.log(total + _LEAST) if tail > 0 else total) - agreed


@njit(cache=True, _nrt=False)
def passed(near, likely, own, times, outside, untaken, damped, message, taken):
    """Pass messages once between records and what they may have become: each released record is taken about once.

    `likely` (n, K) is how likely a candidate is by itself, `outside` that it is none of them, and `untaken` how likely
    a released record is nobody's here. `own` and `times` say how often records occur. Changes `message` (n, K), which
    times `likely` gives the odds of one of the released records, and uses `taken` (m,).
    """
    n, size = near.shape
    taken[:] = 0.0
    for again in range(2):
        for i in range(n):
            total = outside
            for at in range(size):
                total += times[near[i, at]] * likely[i, at] * message[i, at]
            for at in range(size):
                others = max(total - likely[i, at] * message[i, at], _LEAST * total)
                share = likely[i, at] / others
                if not again:
                    taken[near[i, at]] += own[i] * share
                    continue
                wanted = untaken + taken[near[i, at]]
                left = max(wanted - share, _LEAST * wanted)
                message[i, at] = np.sqrt(message[i, at] / left) if damped else 1 / left
