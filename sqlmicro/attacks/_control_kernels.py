"""Nearest released records, those that two halves of a record share, and records in a box, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

Some thousand targets are held against the whole release, record by record: a sum that is beyond the best so far is not
finished, so that a target looks at one or two columns of most records.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.attacks._linkage_kernels import WORK_PER_CALL as WORK_PER_CALL
from sqlmicro.attacks._linkage_kernels import gap_of
from sqlmicro.system.compiled import njit


@njit(cache=True, _nrt=False)
def _distance(x, y, weight, kind, widest, most):
    """Return the squared distance, or the largest gap of a column (`widest`); infinity where it is beyond `most`."""
    total = 0.0
    for j in range(len(x)):
        gap = gap_of(x[j], y[j], weight[j], kind[j])
        if not widest:
            total += gap
        elif gap > total:
            total = gap
        if total > most:
            return np.inf
    return total


@njit(cache=True, _nrt=False)
def nearest(X, Y, weight, kind, widest, gaps, which):
    """Fill (t, c): the distances of the c nearest rows of Y, ascending, and which they are; the first of equal ones."""
    c = gaps.shape[1]
    for i in range(len(X)):
        for j in range(c):
            gaps[i, j], which[i, j] = np.inf, -1
        for r in range(len(Y)):
            found = _distance(X[i], Y[r], weight, kind, widest, gaps[i, c - 1])
            if found >= gaps[i, c - 1]:
                continue
            at = c - 1
            while at > 0 and gaps[i, at - 1] > found:
                gaps[i, at], which[i, at] = gaps[i, at - 1], which[i, at - 1]
                at -= 1
            gaps[i, at], which[i, at] = found, r


@njit(cache=True)
def shared(X, Y, weight, kind, parts, times, counts):
    """Fill (t, 3): how many released records are nearest by the one half of a record, by the other, and by both.

    `parts` (p,) says of which half a column is, 0 or 1; every row of Y stands for `times` records.
    """
    p = X.shape[1]
    least = np.empty(2)
    apart = np.empty(2)
    for i in range(len(X)):
        least[:] = np.inf
        counts[i, :] = 0
        for r in range(len(Y)):
            apart[:] = 0.0
            for j in range(p):
                half = parts[j]
                if apart[half] <= least[half]:
                    apart[half] += gap_of(X[i, j], Y[r, j], weight[j], kind[j])
            for half in range(2):
                if apart[half] < least[half]:
                    least[half], counts[i, half], counts[i, 2] = apart[half], 0, 0
            for half in range(2):
                if apart[half] == least[half]:
                    counts[i, half] += times[r]
            if apart[0] == least[0] and apart[1] == least[1]:
                counts[i, 2] += times[r]


@njit(cache=True, _nrt=False)
def inside(low, high, V, most, counts, last):
    """Fill (g,): how many rows of V lie within every box (g, p), ends included, counted up to `most`; and the last."""
    for g in range(len(low)):
        counts[g], last[g] = 0, -1
        for r in range(len(V)):
            held = True
            for j in range(V.shape[1]):
                if V[r, j] < low[g, j] or V[r, j] > high[g, j]:
                    held = False
                    break
            if held:
                counts[g] += 1
                last[g] = r
                if counts[g] >= most:
                    break
