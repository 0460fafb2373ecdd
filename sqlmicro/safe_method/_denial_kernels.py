"""The search for a release that can be denied, compiled by numba: what a placement gives away, and what that costs.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit


class Denial(NamedTuple):
    """What a placement gives away, whatever columns somebody knows.

    C combinations, P in the columns that keep their values, J of these, S sets of columns, R rare combinations of the
    columns of a set, which fewer than k persons have in the original, W sizes of sets.
    """

    of: np.ndarray  # (C,) the combination of the kept columns
    kept: np.ndarray  # (P, J) its values
    first: np.ndarray  # (P + 1,) where the rare combinations that it belongs to begin in
    rare: np.ndarray  # those of all
    set_of: np.ndarray  # (R,) the set that it is of
    invented: np.ndarray  # (R,) whether nobody has it
    alone: np.ndarray  # (R,) the combination of kept columns of the only person who has it, or -1
    size_of: np.ndarray  # (S,) which size the set has
    inside: np.ndarray  # (S, J) whether it has the column; no set of columns has none, but those that look alike
    now: np.ndarray  # (P,) records in the release
    open: np.ndarray  # (R,) how many combinations of kept columns show it, and
    last: np.ndarray  # (R,) the sum of their numbers: the number of the one that does, where it is one
    shown: np.ndarray  # (S, 2) rare ones that are shown: all, invented
    guessed: (
        np.ndarray
    )  # (W, J, 2) persons alone in a set of the size and shown, by the guess of a column: right, wrong
    share: np.ndarray  # (S,) of those shown, so many shall be invented
    right: np.ndarray  # (J,) most that may be guessed right
    dear: np.ndarray  # (S,) price of an invented one that is lacking, and
    dear_guess: np.ndarray  # (W, J) of a wrong guess


@njit(cache=True, inline="always")
def _guess(denial, r, by):
    """Count the guesses from a rare combination that one shows, and one person has; return what it costs."""
    cost = 0.0
    s, person, shown = denial.set_of[r], denial.alone[r], denial.last[r]
    w = denial.size_of[s]
    for j in range(denial.kept.shape[1]):
        if denial.inside[s, j]:
            continue
        which = 0 if denial.kept[shown, j] == denial.kept[person, j] else 1
        most, counts = denial.right[j], denial.guessed[w, j]
        before = counts[0] * (1.0 - most) - counts[1] * most
        counts[which] += by
        after = counts[0] * (1.0 - most) - counts[1] * most
        cost += denial.dear_guess[w, j] * (max(after, 0.0) - max(before, 0.0))
    return cost


@njit(cache=True, inline="always")
def _weigh(denial, i, old, new):
    """Take in that combination i has `new` records after `old`; return by how much what is given away costs more."""
    p = denial.of[i]
    before = denial.now[p]
    after = before + new - old
    denial.now[p] = after
    cost = 0.0
    if (before > 0) == (after > 0):
        return cost
    sign = 1 if after > 0 else -1
    for z in range(denial.first[p], denial.first[p + 1]):
        r = denial.rare[z]
        alone = denial.alone[r] >= 0
        if alone and denial.open[r] == 1:
            cost += _guess(denial, r, -1)
        was = denial.open[r]
        denial.open[r] += sign
        denial.last[r] += sign * p
        if alone and denial.open[r] == 1:
            cost += _guess(denial, r, 1)
        if was == 0 or denial.open[r] == 0:
            s = denial.set_of[r]
            counts = denial.shown[s]
            lacking = denial.share[s] * counts[0] - counts[1]
            counts[0] += sign
            counts[1] += sign * denial.invented[r]
            lacks = denial.share[s] * counts[0] - counts[1]
            cost += denial.dear[s] * (max(lacks, 0.0) - max(lacking, 0.0))
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
    """Take in what a proposal changes, or take it back, the placement itself unchanged; return what it costs."""
    cost = 0.0
    for z in range(proposal.size[0]):
        i, by = proposal.at[z], proposal.by[z]
        now = state.n[i]
        cost += _weigh(denial, i, now + by if back else now, now if back else now + by)
    return cost


@njit(cache=True, inline="always")
def count_in(denial, proposal):
    """Count the records that a proposal moved, where it opened and closed nothing."""
    for z in range(proposal.size[0]):
        denial.now[denial.of[proposal.at[z]]] += proposal.by[z]


@njit(cache=True, nogil=True, _nrt=False)
def recount(denial):
    """Count anew what a placement gives away, from the records in `now`."""
    denial.open[:] = 0
    denial.last[:] = 0
    denial.shown[:] = 0
    denial.guessed[:] = 0
    for p in range(len(denial.now)):
        if denial.now[p] > 0:
            for z in range(denial.first[p], denial.first[p + 1]):
                denial.open[denial.rare[z]] += 1
                denial.last[denial.rare[z]] += p
    for r in range(len(denial.open)):
        if denial.open[r] > 0:
            denial.shown[denial.set_of[r], 0] += 1
            denial.shown[denial.set_of[r], 1] += denial.invented[r]
        if denial.open[r] == 1 and denial.alone[r] >= 0:
            _guess(denial, r, 1)
