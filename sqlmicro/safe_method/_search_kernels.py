"""The loops of the direct search, compiled by numba: the moves, the annealing, and the end of it.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.safe_method._cost_kernels import cost_of_one, count_more
from sqlmicro.safe_method._denial_kernels import count_in, opens, take_in
from sqlmicro.system.compiled import njit

CLOSED = 0
COMPOUND, TOGGLE, PAIR, UNIT, TRANSFER = range(5)
"""Kinds of proposals: a combination below k opens or closes with up to k single records at others that make up for it;
alone; or with another that does the opposite. One record comes or goes; or moves."""


class Proposal(NamedTuple):
    """A change of several combinations at once, the first `size[0]` entries; the first entry leads."""

    at: np.ndarray
    by: np.ndarray
    size: np.ndarray


@njit(cache=True, inline="always")
def _fits(problem, now, j, step, whole):
    """Tell whether a combination may follow with `step` records more: open or close, or get one and stay open."""
    if not whole:
        return now != CLOSED and problem.low[j] <= now + step <= problem.high[j]
    if step > 0:
        return now == CLOSED and problem.high[j] >= step
    return now == -step and problem.n[j] < problem.k


@njit(cache=True, inline="always")
def propose(problem, state, proposal, kind, rng):
    """Make one proposal of a kind; tell whether it is possible. Those that follow are near ones, mostly."""
    at, by, near, k = proposal.at, proposal.by, problem.near, problem.k
    whole, every, some = kind <= PAIR, len(problem.n), len(problem.small)
    if whole and some == 0:
        return False
    i = int(rng.random() * (some if whole else every))
    i = problem.small[i] if whole else i
    now = state.n[i]
    step = (k if now == CLOSED else -k) if whole else -1
    if kind == UNIT and rng.random() < 0.5:
        step = 1
    if (whole and now != CLOSED and now != k) or (not whole and not _fits(problem, now, i, step, False)):
        return False
    at[0], by[0], size, followers = i, step, 1, 1 if kind in (PAIR, TRANSFER) else 0
    if kind == COMPOUND:
        followers = 1 + int(rng.random() * k)
    step = -step if kind == PAIR or step == -1 else (-1 if step > 0 else 1)
    for _ in range(3 * k if kind == COMPOUND else followers):
        if size > followers:
            break
        if near.shape[1] > 0 and rng.random() < (0.85 if kind == COMPOUND else 0.7):
            j = near[i, int(rng.random() * near.shape[1])]
        else:
            j = int(rng.random() * (some if kind == PAIR else every))
            j = problem.small[j] if kind == PAIR else j
        fits = _fits(problem, state.n[j], j, step, kind == PAIR)
        for z in range(size):
            fits = fits and at[z] != j
        if fits:
            at[size], by[size] = j, step
            size += 1
    proposal.size[0] = size
    return size > followers or kind == COMPOUND


@njit(cache=True, inline="always")
def _other_cost(problem, state, proposal):
    """Return the growth of what does not depend on tables: records moved, and the total."""
    shift, moved = 0, 0
    for z in range(proposal.size[0]):
        i, by = proposal.at[z], proposal.by[z]
        shift += by
        moved += abs(state.n[i] + by - problem.n[i]) - abs(state.n[i] - problem.n[i])
    total = state.total[0]
    return problem.record_price * moved + problem.total_price * float((total + shift) ** 2 - total**2)


@njit(cache=True, inline="always")
def carry_out(problem, state, proposal, allowance):
    """Carry out a proposal if it costs no more than `allowance`; tell whether it was carried out."""
    cost = _other_cost(problem, state, proposal)
    size, at, by = proposal.size[0], proposal.at, proposal.by
    for z in range(size):
        up = np.float32(by[z]) * problem.unit[at[z]]
        cost += cost_of_one(problem, state, at[z], up)
        if z + 1 < size:  # the next one's cost depends on it
            count_more(problem, state, at[z], up)
    accepted = cost <= allowance
    for z in range(size):
        last = z + 1 == size
        if accepted == last:  # the last one is still to be counted; all others have been
            count_more(problem, state, at[z], np.float32(by[z] if last else -by[z]) * problem.unit[at[z]])
        if accepted:
            state.n[at[z]] += by[z]
            state.total[0] += by[z]
    return accepted


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def anneal(problem, state, denial, proposal, shares, proposals, hot, cold, rng):
    """Make proposals while the temperature falls geometrically; return how many were carried out.

    `shares` are the cumulated shares of the kinds; the rest are transfers. What a placement gives away has its price.
    """
    accepted = 0
    temperature = hot
    for number in range(proposals):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / proposals)
        which, kind = rng.random(), COMPOUND
        while kind < len(shares) and which >= shares[kind]:
            kind += 1
        if not propose(problem, state, proposal, kind, rng):
            continue
        allowance = -temperature * np.log(1.0 - rng.random())
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
