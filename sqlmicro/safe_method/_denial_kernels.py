"""The search for a release that can be denied, compiled by numba: what a placement gives away, and what that costs.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
def price(denial):
    """Return what it costs that too few combinations are invented, or too few guesses wrong."""
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
def opens(state, proposal):
    """Tell whether a proposal opens or closes a combination."""
    found = False
    for z in range(proposal.size[0]):
        now = state.n[proposal.at[z]]
        found = found or now == 0 or now + proposal.by[z] == 0
    return found


@njit(cache=True, inline="always")
def take_in(denial, state, proposal, back):
    """Take in what a proposal changes, or take it back; the placement itself has not changed."""
    for z in range(proposal.size[0]):
        i, by = proposal.at[z], proposal.by[z]
        now = state.n[i]
        _weigh(denial, i, now + by if back else now, now if back else now + by)


@njit(cache=True, inline="always")
def count_in(denial, proposal):
    """Count the records that a proposal moved, where it opened and closed nothing."""
    for z in range(proposal.size[0]):
        denial.now[denial.of[proposal.at[z]]] += proposal.by[z]
