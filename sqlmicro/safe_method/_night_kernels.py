"""The loops that carry a file of SAFE on to the next night, compiled by numba: only counts that may be shown are tried.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.safe_method._cost_kernels import cost_of_one, count_more
from sqlmicro.safe_method._denial_kernels import count_in, opens, take_in
from sqlmicro.safe_method._search_kernels import carry_out
from sqlmicro.system.compiled import njit


class Choices(NamedTuple):
    """The counts that each combination may have tonight, ascending; those of i are from first[i] to first[i + 1]."""

    first: np.ndarray  # (C + 1,)
    count: np.ndarray
    price: np.ndarray  # of each of these counts, whatever the tables are
    movable: np.ndarray  # combinations with more than one


@njit(cache=True, nogil=True)
def admissible(pairs, first, count, k):
    """Tell of every pair (combination, count) whether the count is 0, was shown, or differs by k from all that were.

    The counts that combination i was shown with are from first[i] to first[i + 1].
    """
    found = np.zeros(len(pairs), np.bool_)
    for p in range(len(pairs)):
        i, new = pairs[p, 0], pairs[p, 1]
        fits = new == 0 or new >= k
        for z in range(first[i], first[i + 1]):
            fits = fits and (new == count[z] or abs(new - count[z]) >= k)
        found[p] = fits
    return found


@njit(cache=True, inline="always")
def _below(rng, n):
    return int(rng.random() * n)


@njit(cache=True, nogil=True, _nrt=False)
def _some(choices, i, now, rng):
    """Return by how much a combination changes if it takes any other of its counts."""
    low, many = choices.first[i], choices.first[i + 1] - choices.first[i]
    z = _below(rng, many)
    if choices.count[low + z] == now:
        z = (z + 1 + _below(rng, many - 1)) % many
    return choices.count[low + z] - now


@njit(cache=True, nogil=True, _nrt=False)
def _nearest(choices, i, now, wanted):
    """Return the change of a combination that is nearest to a wanted one; 0 if none has its sign."""
    best, least = 0, np.int64(1) << 60
    for z in range(choices.first[i], choices.first[i + 1]):
        by = choices.count[z] - now
        if by * wanted > 0 and abs(by - wanted) < least:
            best, least = by, abs(by - wanted)
    return best


@njit(cache=True, inline="always")
def _price(choices, i, now):
    for z in range(choices.first[i], choices.first[i + 1]):
        if choices.count[z] == now:
            return choices.price[z]
    return 0.0


@njit(cache=True, inline="always")
def _propose(problem, state, choices, proposal, rng):
    """Let a combination change to another of its counts; up to two others, near ones first, make up for it."""
    i = choices.movable[_below(rng, len(choices.movable))]
    by = _some(choices, i, state.n[i], rng)
    proposal.at[0], proposal.by[0], size = i, by, 1
    partners = _below(rng, 5)  # 0: alone, 1 to 3: with another, 4: with two
    rest = -by
    for _ in range(0 if partners == 0 else 1 if partners < 4 else 2):
        if rest == 0:
            break
        lead = proposal.at[_below(rng, size)]
        if problem.near.shape[1] > 0 and rng.random() < 0.7:
            j = problem.near[lead, _below(rng, problem.near.shape[1])]
        else:
            j = choices.movable[_below(rng, len(choices.movable))]
        taken = False
        for z in range(size):
            taken = taken or proposal.at[z] == j
        if taken:
            continue
        back = _nearest(choices, j, state.n[j], rest)
        if back != 0:
            proposal.at[size], proposal.by[size] = j, back
            size += 1
            rest -= back
    proposal.size[0] = size


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def anneal(problem, state, denial, choices, proposal, proposals, hot, cold, rng):
    """Make proposals while the temperature falls geometrically; return how many were carried out."""
    accepted = 0
    temperature = hot
    if len(choices.movable) == 0:
        return accepted
    for number in range(proposals):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / proposals)
        _propose(problem, state, choices, proposal, rng)
        allowance = -temperature * np.log(1.0 - rng.random())
        for z in range(proposal.size[0]):
            i = proposal.at[z]
            allowance += _price(choices, i, state.n[i]) - _price(choices, i, state.n[i] + proposal.by[z])
        shows = opens(state, proposal)
        if shows:
            allowance -= take_in(denial, state, proposal, False)
        if carry_out(problem, state, proposal, allowance):
            accepted += 1
            if not shows:
                count_in(denial, proposal)
        elif shows:
            take_in(denial, state, proposal, True)
    return accepted


@njit(cache=True, inline="always")
def _change(problem, state, i, by):
    """Give combination i `by` records more."""
    count_more(problem, state, i, np.float32(by) * problem.unit[i])
    state.n[i] += by
    state.total[0] += by


@njit(cache=True, nogil=True)
def _cheapest(problem, state, choices, locked, most):
    """Return for every change up to `most` either way the two cheapest combinations that can make it, and the costs."""
    at = np.full((2 * most + 1, 2), -1)
    cost = np.full((2 * most + 1, 2), np.inf)
    for i in choices.movable:
        if locked[i]:
            continue
        for z in range(choices.first[i], choices.first[i + 1]):
            by = choices.count[z] - state.n[i]
            if by == 0 or abs(by) > most:
                continue
            found, d = cost_of_one(problem, state, i, np.float32(by) * problem.unit[i]), by + most
            if found < cost[d, 0]:
                at[d, 1], cost[d, 1] = at[d, 0], cost[d, 0]
                at[d, 0], cost[d, 0] = i, found
            elif found < cost[d, 1]:
                at[d, 1], cost[d, 1] = i, found
    return at, cost


@njit(cache=True, nogil=True)
def settle(problem, state, choices, locked, most, rounds):
    """Bring the number of records to where its deviation is 0, by the cheapest changes; tell whether that was possible.

    One combination, or two that make up for each other, close the gap, where any can; else the nearest change is made.
    """
    for _ in range(rounds):
        gap = -state.total[0]
        if gap == 0:
            return True
        at, cost = _cheapest(problem, state, choices, locked, most)
        best, least, one, two = -1, np.inf, 0, 0
        if abs(gap) <= most and cost[gap + most, 0] < np.inf:
            best, least, one = at[gap + most, 0], cost[gap + most, 0], gap
        other = -1
        for by in range(-most, most + 1):
            rest = gap - by
            if by == 0 or rest == 0 or abs(rest) > most:
                continue
            for z in range(2):
                a, b = at[by + most, 0], at[rest + most, z]
                if a >= 0 and b >= 0 and a != b:
                    price = cost[by + most, 0] + cost[rest + most, z]
                    if price < least:
                        best, other, least, one, two = a, b, price, by, rest
        if best < 0:
            nearest = abs(gap)
            for d in range(2 * most + 1):
                left = abs(gap - (d - most))
                if at[d, 0] >= 0 and left < nearest:
                    best, one, nearest = at[d, 0], d - most, left
        if best < 0:
            return False
        _change(problem, state, best, one)
        if other >= 0:
            _change(problem, state, other, two)
    return state.total[0] == 0
