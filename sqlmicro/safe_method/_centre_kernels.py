"""The loop of k-means that takes nearly all of its time, compiled by numba: which centre is nearest to each row.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from sqlmicro.system.compiled import njit


@njit(cache=True, nogil=True, _nrt=False)
def nearest(X, centres, half, score, near):
    """Fill `near` (n,) with the nearest of the centres (p, c) for rows X (n, p), of equally near ones the first.

    `half` (c,) has half of the square of each, and `score` (c,) is working space. A coordinate of 0 costs nothing:
    most of those of nominal columns are.
    """
    n, p = X.shape
    c = len(half)
    for i in range(n):
        for z in range(c):
            score[z] = half[z]
        for j in range(p):
            x = X[i, j]
            if x != 0.0:
                for z in range(c):
                    score[z] -= x * centres[j, z]
        best = 0
        for z in range(1, c):
            if score[z] < score[best]:
                best = z
        near[i] = best
