"""The loop that decides which records of a combination move where their weights differ, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.safe_method._cost_kernels import cost_of_one, count_more
from sqlmicro.system.compiled import njit


@njit(cache=True, nogil=True, _nrt=False)
def weigh(problem, state, source, target, weight):
    """Compute all deviations anew: each record takes its weight from its combination to its target."""
    state.deviation[:] = 0.0
    state.amount[:] = 0.0
    for r in range(len(source)):
        for end in range(2 if source[r] != target[r] else 0):
            count_more(problem, state, target[r] if end else source[r], weight[r] if end else -weight[r])


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def exchange(problem, state, source, target, weight, movers, first, last, tries, rng):
    """Swap the targets of two records of one combination where tables and sums come nearer; count the swaps.

    Records lie by combination: those of combination i are `first[i]` to `last[i]`. `movers` leave theirs.
    """
    swaps = 0
    for _ in range(tries):
        m = int(rng.random() * len(movers))
        r = movers[m]
        begin, end = first[source[r]], last[source[r]]
        other = begin + int(rng.random() * (end - begin))
        i, j, more = target[r], target[other], weight[r] - weight[other]
        if i == j or more == np.float32(0.0):
            continue
        cost = np.float32(0.0)
        for end in range(2):
            up = more if end else -more
            cost += cost_of_one(problem, state, j if end else i, up)
            count_more(problem, state, j if end else i, up)
        if cost >= np.float32(-1e-6):
            for end in range(2):
                count_more(problem, state, j if end else i, -more if end else more)
        else:
            target[r], target[other] = j, i
            if j == source[r]:
                movers[m] = other
            swaps += 1
    return swaps
