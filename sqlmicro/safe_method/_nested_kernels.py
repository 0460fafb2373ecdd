"""The loops of the direct search inside blocks, compiled by numba: no record leaves its block.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.safe_method._cost_kernels import cost_of_one, count_more
from sqlmicro.safe_method._nearest_kernels import distance
from sqlmicro.system.compiled import njit

CLOSED = 0
_SWAPS, _TRANSFERS = 0.4, 0.7  # cumulated shares; the rest open or close with many others


@njit(cache=True, inline="always")
def _of_block(first, member, b, rng):
    return member[first[b] + int(rng.random() * (first[b + 1] - first[b]))]


@njit(cache=True, inline="always")
def _moved(state, now, i, by):
    """Return by how much the number of records grows that combination i has more or fewer than at first."""
    return abs(state.n[i] + by - now[i]) - abs(state.n[i] - now[i])


@njit(cache=True, inline="always")
def _give(problem, state, now, i, by):
    """Give combination i `by` records more; return what that costs."""
    up = np.float32(by) * problem.unit[i]
    cost = problem.record_price * _moved(state, now, i, by) + cost_of_one(problem, state, i, up)
    count_more(problem, state, i, up)
    state.n[i] += by
    return cost


@njit(cache=True, inline="always")
def _take_back(problem, state, i, by):
    count_more(problem, state, i, np.float32(-by) * problem.unit[i])
    state.n[i] -= by


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def _pair(problem, state, now, i, j, by, allowance):
    """Let `by` records of combination i become j if it costs no more than `allowance`; tell whether they did."""
    cost = 0.0
    for end in range(2):
        cost += _give(problem, state, now, j if end else i, by if end else -by)
    if cost > allowance:
        for end in range(2):
            _take_back(problem, state, j if end else i, by if end else -by)
        return False
    return True


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def _many(problem, state, now, first, member, b, least, i, at, allowance, rng):
    """Open combination i of block b with records of the others, or close it and let them have its records."""
    opens = state.n[i] == CLOSED
    by, left, size = (-1, least, 0) if opens else (1, state.n[i], 0)
    cost, at[0] = 0.0, i
    for step in range(1 + 8 * left):
        j = i if step == 0 else _of_block(first, member, b, rng)
        if step > 0 and (left == 0 or cost > 50 * allowance + 1e6):
            break
        if step > 0 and (j == i or state.n[j] == CLOSED or state.n[j] + by < least):
            continue
        cost += _give(problem, state, now, j, by if step else -by * left)
        at[size] = j
        size += 1
        left -= step > 0
    if left == 0 and cost <= allowance:
        return True
    for z in range(size):
        _take_back(problem, state, at[z], by if z else -by * (size - 1 + left))
    return False


@njit(cache=True, nogil=True, _nrt=False)
def anneal(problem, state, now, block, first, member, least, at, proposals, hot, cold, rng):
    """Make proposals while the temperature falls geometrically; return how many were carried out.

    Combinations of a block are `member` from `first` on; open ones have `least` records of their block, or more.
    """
    accepted, temperature = 0, hot
    for number in range(proposals):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / proposals)
        i = member[int(rng.random() * len(member))]
        b = block[i]
        allowance, which = -temperature * np.log(1.0 - rng.random()), rng.random()
        if which >= _TRANSFERS:
            accepted += _many(problem, state, now, first, member, b, least[b], i, at, allowance, rng)
            continue
        j = _of_block(first, member, b, rng)
        if which < _SWAPS:  # one takes the place of another
            if state.n[i] == CLOSED:
                i, j = j, i
            if i != j and state.n[i] != CLOSED and state.n[j] == CLOSED:
                accepted += _pair(problem, state, now, i, j, state.n[i], allowance)
        elif i != j and state.n[i] > least[b] and state.n[j] != CLOSED:
            accepted += _pair(problem, state, now, i, j, 1, allowance)
    return accepted


@njit(cache=True, nogil=True, _nrt=False)
def uncross(codes, ranks, block, cell, target, reach):
    """Swap the targets of two moved records of a block, at most `reach` apart, where that shortens their ways."""
    for a in range(len(cell)):
        for b in range(a + 1, min(a + 1 + reach, len(cell))):
            if block[target[b]] != block[target[a]]:
                break
            if cell[a] == cell[b] or target[a] == target[b]:
                continue
            now = distance(codes, ranks, cell[a], target[a]) + distance(codes, ranks, cell[b], target[b])
            other = distance(codes, ranks, cell[a], target[b]) + distance(codes, ranks, cell[b], target[a])
            if other < now - np.float32(1e-4):
                target[a], target[b] = target[b], target[a]
