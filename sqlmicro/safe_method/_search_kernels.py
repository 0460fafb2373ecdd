"""The loops of the direct search, compiled by numba: the moves, the annealing, and the end of it.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.safe_method._cost_kernels import apply, cost_of_one, cost_of_pair
from sqlmicro.system.compiled import njit

CLOSED = 0


class Proposal(NamedTuple):
    """A change of several combinations at once, the first `size[0]` entries; the first entry leads."""

    at: np.ndarray
    by: np.ndarray
    size: np.ndarray


@njit(cache=True, inline="always")
def _below(rng, n):
    return int(rng.random() * n)


@njit(cache=True, inline="always")
def _admissible(problem, state, i, by):
    """Tell whether an open combination may get `by` records more and stay open."""
    now = state.n[i]
    return now != CLOSED and problem.low[i] <= now + by <= problem.high[i]


@njit(cache=True)
def _partner(problem, i, rng, share_near, others):
    if problem.near.shape[1] > 0 and rng.random() < share_near:
        return problem.near[i, _below(rng, problem.near.shape[1])]
    return others[_below(rng, len(others))]


@njit(cache=True)
def _propose_toggle(problem, state, proposal, rng):
    """Open a closed combination with k records, or close one that has k."""
    if len(problem.small) == 0:
        return False
    i = problem.small[_below(rng, len(problem.small))]
    if state.n[i] == CLOSED:
        by = problem.k
    elif state.n[i] == problem.k:
        by = -problem.k
    else:
        return False
    proposal.at[0], proposal.by[0], proposal.size[0] = i, by, 1
    return True


@njit(cache=True)
def _propose_pair(problem, state, proposal, rng):
    """Close one combination and open another: k records move."""
    if len(problem.small) == 0:
        return False
    i = problem.small[_below(rng, len(problem.small))]
    j = _partner(problem, i, rng, 0.7, problem.small)
    if state.n[i] == CLOSED and state.n[j] == problem.k:
        i, j = j, i
    if i == j or state.n[i] != problem.k or problem.n[i] >= problem.k or state.n[j] != CLOSED:
        return False
    if problem.high[j] < problem.k:  # it may not open
        return False
    proposal.at[0], proposal.by[0], proposal.at[1], proposal.by[1] = i, -problem.k, j, problem.k
    proposal.size[0] = 2
    return True


@njit(cache=True)
def _propose_unit(problem, state, proposal, rng):
    """Give an open combination one record more or less."""
    i = _below(rng, len(problem.n))
    by = 1 if rng.random() < 0.5 else -1
    if not _admissible(problem, state, i, by):
        return False
    proposal.at[0], proposal.by[0], proposal.size[0] = i, by, 1
    return True


@njit(cache=True)
def _propose_transfer(problem, state, proposal, rng):
    """Move one record from an open combination to another."""
    i = _below(rng, len(problem.n))
    if not _admissible(problem, state, i, -1):
        return False
    if problem.near.shape[1] > 0 and rng.random() < 0.7:
        j = problem.near[i, _below(rng, problem.near.shape[1])]
    else:
        j = _below(rng, len(problem.n))
    if i == j or not _admissible(problem, state, j, 1):
        return False
    proposal.at[0], proposal.by[0], proposal.at[1], proposal.by[1] = i, -1, j, 1
    proposal.size[0] = 2
    return True


@njit(cache=True)
def _propose_compound(problem, state, proposal, rng):
    """Toggle a combination and make up for it by single records at up to k others, near ones first."""
    if not _propose_toggle(problem, state, proposal, rng):
        return False
    lead, k = proposal.at[0], problem.k
    sign = -1 if proposal.by[0] > 0 else 1
    wanted, size = 1 + _below(rng, k), 1
    for _ in range(3 * k):
        if size > wanted:
            break
        if problem.near.shape[1] > 0 and rng.random() < 0.85:
            j = problem.near[lead, _below(rng, problem.near.shape[1])]
        else:
            j = _below(rng, len(problem.n))
        taken = not _admissible(problem, state, j, sign)
        for z in range(size):
            taken = taken or proposal.at[z] == j
        if not taken:
            proposal.at[size], proposal.by[size] = j, sign
            size += 1
    proposal.size[0] = size
    return True


@njit(cache=True)
def _other_cost(problem, state, proposal):
    """Return the growth of what does not depend on tables: records moved, and the total."""
    shift, moved = 0, 0
    for z in range(proposal.size[0]):
        i, by = proposal.at[z], proposal.by[z]
        shift += by
        moved += abs(state.n[i] + by - problem.n[i]) - abs(state.n[i] - problem.n[i])
    total = state.total[0]
    return problem.record_price * moved + problem.total_price * float((total + shift) ** 2 - total**2)


@njit(cache=True)
def carry_out(problem, state, proposal, allowance):
    """Carry out a proposal if it costs no more than `allowance`; tell whether it was carried out."""
    cost = _other_cost(problem, state, proposal)
    size, at, by = proposal.size[0], proposal.at, proposal.by
    applied = 0
    if size == 1:
        cost += cost_of_one(problem, state, at[0], by[0])
    elif size == 2 and by[0] == -by[1]:
        i, j, moved = at[0], at[1], np.float32(by[1])
        cost += cost_of_pair(problem, state, i, j, moved * problem.unit[i], moved * problem.unit[j])
    else:
        for z in range(size):
            cost += cost_of_one(problem, state, at[z], by[z])
            apply(problem, state, at[z], by[z])
        applied = size
    if cost > allowance:
        for z in range(applied):
            apply(problem, state, at[z], -by[z])
        return False
    for z in range(size):
        if applied == 0:
            apply(problem, state, at[z], by[z])
        state.n[at[z]] += by[z]
        state.total[0] += by[z]
    return True


@njit(cache=True)
def propose(problem, state, proposal, shares, rng):
    """Make one proposal; tell whether it is possible.

    `shares` are the cumulated shares of compound, toggle, pair, unit; the rest are transfers.
    """
    which = rng.random()
    if which < shares[0]:
        return _propose_compound(problem, state, proposal, rng)
    if which < shares[1]:
        return _propose_toggle(problem, state, proposal, rng)
    if which < shares[2]:
        return _propose_pair(problem, state, proposal, rng)
    if which < shares[3]:
        return _propose_unit(problem, state, proposal, rng)
    return _propose_transfer(problem, state, proposal, rng)


@njit(cache=True)
def anneal(problem, state, proposal, shares, proposals, hot, cold, rng):
    """Make proposals while the temperature falls geometrically; return how many were carried out."""
    accepted = 0
    temperature = hot
    for number in range(proposals):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / proposals)
        if propose(problem, state, proposal, shares, rng):
            allowance = -temperature * np.log(1.0 - rng.random())
            accepted += carry_out(problem, state, proposal, allowance)
    return accepted


@njit(cache=True)
def settle(problem, state):
    """Bring the number of records back to that of the original, at each step by the cheapest change there is."""
    while state.total[0] != 0:
        excess = state.total[0]
        by = -1 if excess > 0 else 1
        best, least, best_by = -1, np.inf, by
        for i in range(len(problem.n)):
            now = state.n[i]
            if now == CLOSED or now + by < problem.k:
                continue
            outside = max(problem.low[i] - now - by, now + by - problem.high[i], 0)
            cost = cost_of_one(problem, state, i, by) + problem.record_price * outside * (1 + outside)
            if cost < least:
                best, least = i, cost
        if best < 0:
            best, best_by = _open_or_close(problem, state, excess)
        apply(problem, state, best, best_by)
        state.n[best] += best_by
        state.total[0] += best_by


@njit(cache=True)
def _open_or_close(problem, state, excess):
    """Return the cheapest combination to close, or to open if nothing is open, and by how many records."""
    best, least = -1, np.inf
    for i in range(len(problem.n)):
        if (state.n[i] == CLOSED) == (excess < 0) and problem.high[i] >= problem.k:
            cost = cost_of_one(problem, state, i, problem.k if excess < 0 else -state.n[i])
            if cost < least:
                best, least = i, cost
    return best, (problem.k if excess < 0 else -state.n[best])
