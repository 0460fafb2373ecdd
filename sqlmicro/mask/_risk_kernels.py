"""The individual risk of classes, by their records and the sum of their weights, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit


@njit(cache=True, _nrt=False)
def risk_of(size, total):
    """Return the risk of a record of a class, as sql/audit/individual_risk.sql has it."""
    if total <= size:
        return 1.0 / size
    if size == 1:
        return np.log(total) / (total - 1)
    if size == 2:
        odds = 2 / (total - 2)
        return odds - odds * odds * np.log(total / 2)
    return size / total / (size - 1 + size / total)


@njit(cache=True, _nrt=False)
def risk_misses(size, total, limit):
    """Return by how much a class misses the largest risk, in records."""
    if size == 0 or limit == np.inf:
        return 0.0
    risk = risk_of(size, total)
    if risk <= limit * (1 + 1e-10):
        return 0.0
    return size * (risk / limit - 1) if limit > 0 else np.inf


@njit(cache=True)
def all_risk_misses(size, total, limit):
    """Return by how much every class misses the largest risk, in records."""
    missed = np.zeros(len(size))
    for g in range(len(size)):
        missed[g] = risk_misses(size[g], total[g], limit)
    return missed
