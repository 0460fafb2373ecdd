"""The loop that decides which records move where columns are averaged, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.safe_method._nearest_kernels import distance
from sqlmicro.system.compiled import njit

_SAME_SOURCE = 0.5  # of the partners; the others are any records that move


class Averaged(NamedTuple):
    """What stays as it is; R records, C combinations, G tables of means, S subgroups, M averaged columns."""

    cell: np.ndarray  # (C, G) the subgroup of each combination
    column: np.ndarray  # (G,)
    centre: np.ndarray  # (S,)
    slack: np.ndarray  # (S,)
    price: np.ndarray  # (S,)
    x: np.ndarray  # (R, M) the values, in standard deviations
    there: np.ndarray  # (R, M) whether they are not missing
    codes: np.ndarray  # (C, q) and
    ranks: np.ndarray  # (C, p): what the way of a record is measured by
    way_price: float


@njit(cache=True, inline="always")
def _shifted(means, weight, target, r, s, t, end):
    """Return a subgroup of table t, and by how much its shift grows if records r and s swap their targets."""
    g, m = means.cell[target[s] if end else target[r], t], means.column[t]
    one = means.x[s, m] - means.centre[g] if means.there[s, m] else 0.0
    other = means.x[r, m] - means.centre[g] if means.there[r, m] else 0.0
    return g, weight[r] * (other - one if end else one - other)


@njit(cache=True, inline="always")
def _way(means, source, target, r, s):
    """Return by how much the ways of two records become longer if they swap their targets."""
    found = np.float32(0.0)
    for z in range(4):
        away, to = source[r] if z < 2 else source[s], target[s] if 0 < z < 3 else target[r]
        way = distance(means.codes, means.ranks, away, to)
        found += way if z % 2 else -way
    return found


@njit(cache=True, inline="always")
def cost_of_swap(means, shifts, source, target, weight, r, s):
    """Return by how much the cost grows if two records of one weight swap their targets."""
    found = means.way_price * _way(means, source, target, r, s)
    for t in range(len(means.column)):
        if means.cell[target[r], t] != means.cell[target[s], t]:
            for end in range(2):
                g, by = _shifted(means, weight, target, r, s, t, end)
                before, after = abs(shifts[g]) - means.slack[g], abs(shifts[g] + by) - means.slack[g]
                found += means.price[g] * (max(0.0, after) - max(0.0, before))
    return found


@njit(cache=True, nogil=True, _nrt=False)
def exchange(means, shifts, source, target, weight, movers, first, last, tries, rng):
    """Swap the targets of two records where the means of subgroups come nearer; return how many did.

    Records lie by combination: those of combination i are `first[i]` to `last[i]`. `movers` leave theirs. Every
    combination becomes every other as often as before: no table changes.
    """
    swaps = 0
    for _ in range(tries):
        m = int(rng.random() * len(movers))
        r = movers[m]
        if rng.random() < _SAME_SOURCE:
            begin, end = first[source[r]], last[source[r]]
            s = begin + int(rng.random() * (end - begin))
        else:
            s = movers[int(rng.random() * len(movers))]
        if target[r] == target[s] or weight[r] != weight[s]:
            continue
        if cost_of_swap(means, shifts, source, target, weight, r, s) < -1e-9:
            if target[s] == source[s]:
                movers[m] = s
            for t in range(len(means.column)):
                if means.cell[target[r], t] != means.cell[target[s], t]:
                    for end in range(2):
                        g, by = _shifted(means, weight, target, r, s, t, end)
                        shifts[g] += by
            target[r], target[s] = target[s], target[r]
            swaps += 1
    return swaps
