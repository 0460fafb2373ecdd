"""SAFE, the direct search: which records of a combination move, where their weights differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.deviations import no_deviation
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import make_problem

if TYPE_CHECKING:
    import numpy as np

_TRIES_PER_MOVER = 200
_TRIES_AT_MOST = 5_000_000
_CHUNK = 100_000


def exchanged(
    codes: np.ndarray,
    numbers: np.ndarray,
    n: np.ndarray,
    k: int,
    records: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
    tick: Tick,
    *,
    means: Sequence[MeanTable] = (),
) -> np.ndarray:
    """Return the target of every record, after exchanges within combinations that bring the weighted tables nearer.

    Parameters
    ----------
    codes, numbers, n, k
        The combinations, as `search.search` takes them.
    records : (source, target, weight), ndarrays of the same length
        Sorted by source: the combination of every record, what it becomes, and its weight.
    rng : Generator
        Same state, same targets.
    tick : callable
        Told (tries, tries at most).
    means : sequence of MeanTable, optional
        The means of subgroups that are kept.

    Returns
    -------
    ndarray of int64
        As often as before, every combination becomes every other.

    Notes
    -----
    The search knows only the mean weight of a combination. Here two records of one combination that become different
    ones swap, by descent on the objective of the search; 200 tries per record that moves, at most five million.

    Examples
    --------
    Of three records one must leave the first combination. That with the least weight does.

    >>> import numpy as np
    >>> codes, records = np.array([[0], [1]]), (np.zeros(3, int), np.array([0, 0, 1]), np.array([0.5, 1.5, 2.0]))
    >>> rng, quiet = np.random.default_rng(0), lambda done, total, best="": None
    >>> exchanged(codes, np.zeros((2, 0)), np.array([3, 2]), 2, records, rng, quiet).tolist()
    [1, 0, 0]
    """
    import numpy as np

    kernels = late("sqlmicro.safe_method._weight_kernels")

    source, target, weight = records[0], records[1].copy(), records[2].astype(np.float32)
    movers = np.flatnonzero(source != target)
    columns = Coordinates.of(codes, numbers, n, k)
    unit = np.bincount(source, weight, len(n)) / np.maximum(n, 1)
    problem, table_of_cell, _ = make_problem(columns, n, unit, k, 0, Objective(), means)
    state = no_deviation(problem, n, table_of_cell)
    every = np.arange(len(n))
    first, last = np.searchsorted(source, every), np.searchsorted(source, every, side="right")
    tries, done = min(_TRIES_AT_MOST, _TRIES_PER_MOVER * len(movers)), 0
    while done < tries:
        # Anew for every chunk: the sums are added in single precision and would drift.
        kernels.weigh(problem, state, source, target, weight)
        size = min(_CHUNK, tries - done)
        kernels.exchange(problem, state, source, target, weight, movers, first, last, size, rng)
        done += size
        tick(done, tries)
    return target
