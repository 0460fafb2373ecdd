"""Groups of large excess grown around centres, compiled by numba: columns found fast, before pricing searches them all.

The loop fills arrays that are given to it, see `_kanonymeans_kernels`. Imported only inside functions, since numba
takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import internal, njit


@njit(cache=True, nogil=True)
def grow_groups(X, prices, centres, k, threshold, rounds, members, sizes):
    """Search a group of large excess near each of the centres (c, p); set `members` (c, largest) and `sizes` (c,).

    Returns how many groups were found, which are the first.
    The SSE is the least sum of squared distances to any point, so that for a fixed centre the best group takes the
    records with the largest price less squared distance. Its mean is the next centre, until nothing changes.
    """
    p, largest = X.shape[1], members.shape[1]
    taken, values, centre = np.empty(largest, np.int64), np.empty(largest), np.empty(p)
    groups = 0
    for start in range(len(centres)):
        centre[:] = centres[start]
        before = -np.inf
        for _ in range(rounds):
            size, excess = _best_around(X, prices, centre, k, taken, values)
            if excess <= before + 1e-12:
                break
            before = excess
            centre[:] = 0.0
            for z in range(size):
                for c in range(p):
                    centre[c] += X[taken[z], c] / size
        if before > threshold:
            members[groups, :size] = taken[:size]
            sizes[groups] = size
            groups += 1
    return groups


@internal(_nrt=False)
def _best_around(X, prices, centre, k, taken, values):
    """Set `taken` to the k..largest records with the largest price less distance; return their number and the sum."""
    largest = len(values)
    values[:] = -np.inf
    for i in range(len(X)):
        value = prices[i]
        for c in range(X.shape[1]):
            difference = X[i, c] - centre[c]
            value -= difference * difference
        if value > values[largest - 1]:
            at = largest - 1
            while at > 0 and values[at - 1] < value:
                values[at], taken[at] = values[at - 1], taken[at - 1]
                at -= 1
            values[at], taken[at] = value, i
    size, total = 0, 0.0
    while size < largest and (size < k or values[size] > 0):
        total += values[size]
        size += 1
    return size, total
