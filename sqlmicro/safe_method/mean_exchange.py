"""SAFE, the direct search: which records move, so that averaged columns keep the means of subgroups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.mean_cells import MeanCells, MeanTable

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._mean_kernels import Averaged

_SLACK, _WAY_PRICE = 0.8, 0.2
"""Shifts up to so many standard errors cost nothing; what a value costs that a record loses, in standard errors."""
_TRIES_PER_MOVER, _TRIES_AT_MOST, _CHUNK = 200, 5_000_000, 100_000


def exchanged(
    tables: Sequence[MeanTable],
    columns: Coordinates,
    X: np.ndarray,
    records: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
    tick: Tick,
) -> np.ndarray:
    """Return the target of every record, after swaps of targets that bring the means of subgroups nearer.

    Parameters
    ----------
    tables : sequence of MeanTable
        The means, by the positions of the averaged and of the nominal columns.
    columns : Coordinates
        The combinations.
    X : ndarray of shape (R, M)
        The averaged columns of the records; NaN where missing.
    records : (source, target, weight), ndarrays of shape (R,)
        Sorted by source: the combination of every record, what it becomes, and its weight.
    rng : Generator
        Same state, same targets.
    tick : callable
        Told (tries, tries at most).

    Returns
    -------
    ndarray of int64
        Every combination has as many records as before, of the same weights: no table of counts changes.

    Notes
    -----
    A record that moves takes its value along, which the search does not see. By descent, 200 tries per record that
    moves, at most five million, and none where all shifts are small.

    Examples
    --------
    Of two records one moves. The search took the one with the large income; the other shifts no mean.

    >>> import numpy as np
    >>> columns = Coordinates.of(np.array([[0], [1]]), np.zeros((2, 0)), np.array([40, 40]), 3)
    >>> X = np.concatenate([np.arange(40.0), np.arange(40.0)])[:, None]
    >>> source, target = np.repeat([0, 1], 40), np.repeat([0, 1], 40)
    >>> target[36:40] = 1
    >>> rng, quiet = np.random.default_rng(0), lambda done, total, best="": None
    >>> found = exchanged([MeanTable(0, (0,))], columns, X, (source, target, np.ones(80)), rng, quiet)
    >>> bool(abs(X[found == 0].mean() - 19.5) < np.sqrt(1640 / 12 / 40))
    True
    """
    import numpy as np

    exchange = late("sqlmicro.safe_method._mean_kernels", "exchange")

    source, target = records[0], records[1].copy()
    weight = records[2].astype(np.float64)
    movers = np.flatnonzero(source != target)
    there = ~np.isnan(X)
    spread = np.array([column[has].std() if has.any() else 0.0 for column, has in zip(X.T, there.T, strict=True)])
    centred = np.where(there, X - np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1), 0.0)
    x = centred / np.where(spread > 0, spread, 1.0)
    means = _averaged(tables, columns, x, there, source, weight)
    shifts = np.zeros(len(means.centre))
    every = np.arange(len(columns.codes))
    first, last = np.searchsorted(source, every), np.searchsorted(source, every, side="right")
    tries, done = min(_TRIES_AT_MOST, _TRIES_PER_MOVER * len(movers)), 0
    while done < tries and weigh(means, shifts, source, target, weight):
        size = min(_CHUNK, tries - done)
        exchange(means, shifts, source, target, weight, movers, first, last, size, rng)
        done += size
        tick(done, tries)
    return target


def weigh(means: Averaged, shifts: np.ndarray, source: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    """Compute all shifts anew, and return what they cost."""
    import numpy as np

    moved = np.flatnonzero(source != target)
    shifts[:] = 0.0
    for t, column in enumerate(means.column):
        x = np.where(means.there[moved, column], means.x[moved, column], np.nan)
        for ends, sign in ((source, -1.0), (target, 1.0)):
            g = means.cell[ends[moved], t]
            shifts += np.bincount(g, sign * weight[moved] * np.nan_to_num(x - means.centre[g]), len(shifts))
    return float(means.price @ np.maximum(0.0, np.abs(shifts) - means.slack))


def _averaged(
    tables: Sequence[MeanTable],
    columns: Coordinates,
    x: np.ndarray,
    there: np.ndarray,
    source: np.ndarray,
    weight: np.ndarray,
) -> Averaged:
    """Return the problem: the subgroups of the records' own combinations, and those of all combinations."""
    import numpy as np

    codes = columns.codes.astype(np.int64)
    C, M = len(codes), x.shape[1]
    # Behind the records one row per combination that no record is in; a flag tells missing values from the others.
    rows = np.concatenate([codes[source], codes])
    flags = np.concatenate([~there, np.zeros((C, M), dtype=np.bool_)]).astype(np.int64)
    values = np.concatenate([x, np.zeros((C, M))])
    n = np.concatenate([np.ones(len(source), dtype=np.int64), np.zeros(C, dtype=np.int64)])
    unit = np.concatenate([weight, np.ones(C)])
    q = codes.shape[1]
    own = [MeanTable(table.column, (*table.by, q + table.column)) for table in tables]
    found = MeanCells.of(own, [*rows.T, *flags.T], values, n, unit)
    make: Callable[..., Averaged] = late("sqlmicro.safe_method._mean_kernels", "Averaged")
    return make(
        np.ascontiguousarray(found.cell[len(source) :]), found.column, found.centre, _SLACK * found.error,
        found.per_error(1.0), np.ascontiguousarray(x), np.ascontiguousarray(there),
        columns.codes, columns.ranks, _WAY_PRICE,
    )  # fmt: skip
