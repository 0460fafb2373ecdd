"""Sums of records in twice the usual precision, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from sqlmicro.system.compiled import njit


@njit(cache=True, nogil=True, inline="always")
def add(total, j, x):
    """Add x to the j-th column of a sum (2, p) and what rounding took from it: as if exact, whatever the order."""
    a = total[0, j]
    s = a + x
    b = s - a
    lost = total[1, j] + ((a - (s - b)) + (x - b))
    total[0, j] = s + lost
    total[1, j] = lost - (total[0, j] - s)


@njit(cache=True, nogil=True, _nrt=False)
def add_up(X, rows, total):
    """Add some rows of X to a sum."""
    for row in rows:
        for j in range(X.shape[1]):
            add(total, j, X[row, j])
