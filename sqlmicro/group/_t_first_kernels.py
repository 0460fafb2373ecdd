"""The t-closeness-first construction of groups, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit


@njit(cache=True, nogil=True)
def t_first(X, bucket, left, labels, rest, at, groups, work):
    """Form groups of the nearest record of each bucket, around seeds as in MDAV, until `work` is done.

    A bucket that has more records than groups are still to be formed gives a second one where that is the nearest.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records.
    bucket : ndarray of shape (n,), int64
        The bucket of every record, by its rank in the sensitive column.
    left : ndarray of shape (k,), int64
        How many records of each bucket are left; changed.
    labels : ndarray of shape (n,), int64
        The group of every record, -1 for none yet; changed.
    rest : ndarray of shape (n,), int64
        Records left, the first at[0] of them; changed.
    at : ndarray of shape (3,), int64
        How many records are left, groups formed, and the last seed; changed.
    groups : int
        How many groups are to be formed.
    work : int
        How much to do in this call.
    """
    p, k = X.shape[1], len(left)
    nearest, distance, seed = np.empty(k, np.int64), np.empty(k), np.empty(p)
    while at[1] < groups and work > 0:
        m, g = at[0], at[1]
        for j in range(p):
            seed[j] = 0.0 if g % 2 == 0 else X[at[2], j]
        if g % 2 == 0:
            for z in range(m):
                for j in range(p):
                    seed[j] += X[rest[z], j] / m
        far, farthest = -1.0, 0
        for z in range(m):
            d = 0.0
            for j in range(p):
                d += (X[rest[z], j] - seed[j]) ** 2
            if d > far:
                far, farthest = d, rest[z]
        at[2] = farthest
        extra, extra_distance = -1, np.inf
        for b in range(k):
            distance[b] = np.inf
        for z in range(m):
            i, d = rest[z], 0.0
            b = bucket[i]
            for j in range(p):
                d += (X[i, j] - X[farthest, j]) ** 2
            spare = left[b] > groups - g
            if d < distance[b]:
                if spare and distance[b] < extra_distance:
                    extra, extra_distance = nearest[b], distance[b]
                nearest[b], distance[b] = i, d
            elif spare and d < extra_distance:
                extra, extra_distance = i, d
        for b in range(k):
            labels[nearest[b]] = g
            left[b] -= 1
        if extra >= 0:
            labels[extra] = g
            left[bucket[extra]] -= 1
        kept = 0
        for z in range(m):
            if labels[rest[z]] < 0:
                rest[kept] = rest[z]
                kept += 1
        at[0], at[1] = kept, g + 1
        work -= 3 * m * p
