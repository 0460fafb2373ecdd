"""The search for a release that can be denied, compiled by numba: what it gives away, and the annealing that prices it.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.safe_method._search_kernels import carry_out, propose
from sqlmicro.system.compiled import njit


class Denial(NamedTuple):
    """What a placement gives away; C combinations, P in the columns that keep their values, J of these, G guesses."""

    of: np.ndarray  # (C,) the combination of the kept columns
    price: np.ndarray  # (C,) of opening
    few: np.ndarray  # (P,) whether fewer than k records have it in the original
    invented: np.ndarray  # (P,) whether none has
    others: np.ndarray  # (P, J) number of the values of the other columns, of every column in turn: a guess
    alone: np.ndarray  # (G,) the combination of the only person with these values, or -1
    now: np.ndarray  # (P,) records in the release
    open: np.ndarray  # (G,) how many combinations with these values are shown, and
    last: np.ndarray  # (G,) the sum of their numbers: the number of the one that is shown, where it is one
    shown: np.ndarray  # (2,) those of few that are shown: all, invented
    guessed: np.ndarray  # (2, J) persons for whom exactly one value is shown: the true one, another
    opened: np.ndarray  # (1,) price of what is open
    share: float  # of those of few that are shown, so many shall be invented
    right: np.ndarray  # (J,) most that may be guessed right
    dear: np.ndarray  # (1 + J,) price of an invented one, or of a wrong guess, that is lacking


@njit(cache=True, inline="always")
def _weigh(denial, i, old, new):
    """Take in that combination i has `new` records after `old`."""
    if (old > 0) != (new > 0):
        denial.opened[0] += denial.price[i] if new > 0 else -denial.price[i]
    p = denial.of[i]
    before = denial.now[p]
    after = before + new - old
    denial.now[p] = after
    if (before > 0) == (after > 0):
        return
    sign = 1 if after > 0 else -1
    if denial.few[p]:
        denial.shown[0] += sign
        denial.shown[1] += sign * denial.invented[p]
    for j in range(denial.others.shape[1]):
        g = denial.others[p, j]
        person = denial.alone[g]
        if person >= 0 and denial.open[g] == 1:
            denial.guessed[0 if denial.last[g] == person else 1, j] -= 1
        denial.open[g] += sign
        denial.last[g] += sign * p
        if person >= 0 and denial.open[g] == 1:
            denial.guessed[0 if denial.last[g] == person else 1, j] += 1


@njit(cache=True, inline="always")
def _cost(denial):
    cost = denial.opened[0]
    lacking = denial.share * denial.shown[0] - denial.shown[1]
    if lacking > 0:
        cost += denial.dear[0] * lacking
    for j in range(denial.guessed.shape[1]):
        right, wrong = denial.guessed[0, j], denial.guessed[1, j]
        lacking = right * (1.0 - denial.right[j]) - wrong * denial.right[j]
        if lacking > 0:
            cost += denial.dear[1 + j] * lacking
    return cost


@njit(cache=True)
def recount(denial, n):
    """Compute anew what a placement gives away."""
    denial.now[:] = 0
    denial.open[:] = 0
    denial.last[:] = 0
    denial.shown[:] = 0
    denial.guessed[:] = 0
    denial.opened[:] = 0.0
    for i in range(len(n)):
        if n[i] > 0:
            _weigh(denial, i, 0, n[i])


@njit(cache=True)
def anneal(problem, state, denial, proposal, shares, proposals, hot, cold, rng):
    """Make proposals as `_search_kernels.anneal` does; what is given away has its price."""
    accepted = 0
    temperature = hot
    for number in range(proposals):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / proposals)
        if not propose(problem, state, proposal, shares, rng):
            continue
        before = _cost(denial)
        for z in range(proposal.size[0]):
            i = proposal.at[z]
            _weigh(denial, i, state.n[i], state.n[i] + proposal.by[z])
        growth = _cost(denial) - before
        allowance = -temperature * np.log(1.0 - rng.random())
        if carry_out(problem, state, proposal, allowance - growth):
            accepted += 1
        else:
            for z in range(proposal.size[0]):
                i = proposal.at[z]
                _weigh(denial, i, state.n[i] + proposal.by[z], state.n[i])
    return accepted
