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
    few: np.ndarray  # (P,) whether fewer than k records have it in the original
    invented: np.ndarray  # (P,) whether none has
    others: np.ndarray  # (P, J) number of the values of the other columns, of every column in turn: a guess
    alone: np.ndarray  # (G,) the combination of the only person with these values, or -1
    now: np.ndarray  # (P,) records in the release
    open: np.ndarray  # (G,) how many combinations with these values are shown, and
    last: np.ndarray  # (G,) the sum of their numbers: the number of the one that is shown, where it is one
    shown: np.ndarray  # (2,) those of few that are shown: all, invented
    guessed: np.ndarray  # (2, J) persons for whom exactly one value is shown: the true one, another
    share: float  # of those of few that are shown, so many shall be invented
    right: np.ndarray  # (J,) most that may be guessed right
    dear: np.ndarray  # (1 + J,) price of an invented one, or of a wrong guess, that is lacking


@njit(cache=True, inline="always")
def _weigh(denial, i, old, new):
    """Take in that combination i has `new` records after `old`."""
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
    cost = 0.0
    lacking = denial.share * denial.shown[0] - denial.shown[1]
    if lacking > 0:
        cost += denial.dear[0] * lacking
    for j in range(denial.guessed.shape[1]):
        right, wrong = denial.guessed[0, j], denial.guessed[1, j]
        lacking = right * (1.0 - denial.right[j]) - wrong * denial.right[j]
        if lacking > 0:
            cost += denial.dear[1 + j] * lacking
    return cost


@njit(cache=True, inline="always")
def _opens(state, proposal):
    """Tell whether a proposal opens or closes a combination."""
    for z in range(proposal.size[0]):
        now = state.n[proposal.at[z]]
        if now == 0 or now + proposal.by[z] == 0:
            return True
    return False


@njit(cache=True, inline="always")
def _take_in(denial, state, proposal, sign):
    """Take in what a proposal changes, or, with sign -1, take it back; the placement itself has not changed."""
    for z in range(proposal.size[0]):
        i, by = proposal.at[z], proposal.by[z]
        if sign > 0:
            _weigh(denial, i, state.n[i], state.n[i] + by)
        else:
            _weigh(denial, i, state.n[i] + by, state.n[i])


@njit(cache=True)
def recount(denial, n):
    """Compute anew what a placement gives away."""
    denial.now[:] = 0
    denial.open[:] = 0
    denial.last[:] = 0
    denial.shown[:] = 0
    denial.guessed[:] = 0
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
        allowance = -temperature * np.log(1.0 - rng.random())
        opens = _opens(state, proposal)
        if opens:
            before = _cost(denial)
            _take_in(denial, state, proposal, 1)
            allowance -= _cost(denial) - before
        if carry_out(problem, state, proposal, allowance):
            accepted += 1
            if not opens:
                for z in range(proposal.size[0]):
                    denial.now[denial.of[proposal.at[z]]] += proposal.by[z]
        elif opens:
            _take_in(denial, state, proposal, -1)
    return accepted
