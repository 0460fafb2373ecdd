"""SAFE, the direct search: how often every combination shall occur, so that every table stays nearly as it was."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.registry import Tick
from sqlmicro.safe_method import deniable
from sqlmicro.safe_method.annealing import Effort, Schedule, anneal, deny, proposals_for, rounded_start
from sqlmicro.safe_method.coordinates import Coordinates, counted_pairs
from sqlmicro.safe_method.deniable import Pool, begun, denial_of, opened_up, restricted
from sqlmicro.safe_method.deviations import objective as objective_of
from sqlmicro.safe_method.deviations import placed_as, refresh, settle
from sqlmicro.safe_method.given_away import recount
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import make_problem
from sqlmicro.safe_method.reassignment import reassigned

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Placement:
    """How often every combination occurs in the release, and which records become which combination.

    Attributes
    ----------
    new_n : ndarray of shape (cells,)
        Records per combination: 0 or at least k; the sum is that of the original.
    cell, target, count : ndarrays of the same length
        `count` records of combination `cell` become `target`; those that stay have cell == target.
    objective : float
        What the search made small; comparable between searches of the same file with the same k only.
    proposals : int
        Changes that were tried.
    stopped : bool
        Whether the time limit ended the search early.
    """

    new_n: np.ndarray
    cell: np.ndarray
    target: np.ndarray
    count: np.ndarray
    objective: float
    proposals: int
    stopped: bool

    @property
    def moved(self) -> int:
        """Return how many records become another combination."""
        return int(self.count[self.cell != self.target].sum())


def search(
    codes: np.ndarray,
    numbers: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    weights: np.ndarray | None = None,
    max_shift: int | None = None,
    effort: Effort = "full",
    share: float = 1.0,
    restarts: int = 1,
    time_limit: float | None = None,
    objective: Objective | None = None,
    pool: Pool | None = None,
    means: Sequence[MeanTable] = (),
) -> Placement:
    """Place all records so that every combination occurs at least k times or not at all and tables hardly change.

    Simulated annealing on how often each of the combinations occurs, from a systematic rounding. A proposal
    opens or closes combinations below k, gives single records to open ones, or does both at once; its cost is the
    change of the deviations of all tables of up to three columns that the combinations count in.

    Parameters
    ----------
    codes : ndarray of shape (cells, q)
        Number of the nominal value, per combination; equal numbers are equal values.
    numbers : ndarray of shape (cells, p)
        Numeric values as they are. Their distinct values and bands of them take part as columns of the tables, and
        their sums, squares and products by nominal cell are kept. NaN is a value.
    n : ndarray of shape (cells,)
        Records per combination, at least 1; 0 for the invented ones of a pool.
    k : int
        Records a combination has at least in the release, if it occurs.
    rng : Generator
        Same state, same placement, as long as no time limit is hit.
    tick : callable
        Told (proposals, proposals at most).
    weights : ndarray of shape (cells,), optional
        Mean weight of the records of each combination, which tables and sums count instead of records; 1 by default. A
        weight of 1 should be that of an average record, since the prices are in units of one record.
    max_shift : int, optional
        A combination of at least k records keeps them give or take so many, others get at most so many more than k.
        By default k / 2, rounded up. Exceeded only where the number of records could not be kept otherwise.
    effort : {"fast", "full"}
        About 5 or 25 CPU seconds at most.
    share : float
        Of that time, where the records are a part of a file.
    restarts : int
        Searches from different starts; the best is returned. Each costs as much as the first.
    time_limit : float, optional
        Seconds after which the best placement so far is returned.
    objective : Objective, optional
        Other prices.
    pool : Pool, optional
        What may be shown so that the release can be denied; by default every combination may.
    means : sequence of MeanTable, optional
        The means of subgroups that are kept, by nominal and numeric positions; by default none.

    Returns
    -------
    Placement

    Raises
    ------
    InputError
        If there are fewer than k records.
    ParameterError
        If k is below 2, or another parameter below its minimum.

    Notes
    -----
    Tables of one column come first, then of two and three; above `MAX_TABLES` only evenly spaced ones of the last order
    take part, nominal ones first. Memory is 4 bytes x cells x tables. A numeric column whose values mostly occur fewer
    than k times takes part by its bands only.

    Examples
    --------
    >>> import numpy as np
    >>> codes, n = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([4, 1, 2, 5])
    >>> found = search(codes, np.zeros((4, 0)), n, 3, np.random.default_rng(0), lambda done, total: None)
    >>> found.new_n.tolist()
    [4, 0, 3, 5]
    """
    import numpy as np

    started = time.monotonic()
    n = np.asarray(n, dtype=np.int64)
    check(codes, numbers, n, k, max_shift, restarts, 0 if pool else 1)
    prices = deniable.prices_of(objective or Objective()) if pool else objective or Objective()
    columns = Coordinates.of(codes, numbers, n, k)
    if n[n > 0].min() >= k and not (pool and pool.few[n > 0].any()):
        return placed(columns, n, n.copy(), 0.0, 0, False)
    unit = np.ones(len(n)) if weights is None else weights
    shift = -(-k // 2) if max_shift is None else max_shift
    problem, table_of_cell, limits = make_problem(columns, n, unit, k, shift, prices, means)
    proposals = int((deniable.PROPOSALS if pool else 1) * proposals_for(problem, limits, effort, share))
    denial = None
    if pool:
        may_open = opened_up(pool, problem, limits, table_of_cell)
        problem, denial = restricted(problem, may_open, pool.few), denial_of(pool, k)
    best, least, done, stopped = n, np.inf, 0, False
    for restart in range(restarts):
        if pool:
            state = placed_as(problem, begun(pool, problem, may_open), table_of_cell)
            if denial:
                recount(denial, state.n)
        else:
            state = rounded_start(problem, columns, table_of_cell, rng)
        schedule = Schedule(proposals, k, prices, restart, restarts, started, time_limit)
        tried, stopped = anneal(problem, state, limits, schedule, rng, tick, denial)
        done += tried
        refresh(problem, state)
        settle(problem, state)
        if pool and denial:
            refresh(problem, state)
            done += deny(problem, state, limits, schedule, rng, denial, pool.few, pool.insists, stopped)
        refresh(problem, state)
        reached = objective_of(problem, state, table_of_cell)
        if reached < least:
            best, least = state.n, reached
        if stopped:
            break
    return placed(columns, n, best, least, done, stopped)


def check(
    codes: np.ndarray,
    numbers: np.ndarray,
    n: np.ndarray,
    k: int,
    max_shift: int | None,
    restarts: int = 1,
    fewest: int = 1,
) -> None:
    """Refuse what no search can do; a combination has at least `fewest` records."""
    for name, value, least in (("k", k, 2), ("max_shift", 0 if max_shift is None else max_shift, 0)):
        if value < least:
            raise ParameterError(f"search, {name}", f"must be at least {least}", str(value))
    if restarts < 1:
        raise ParameterError("search, restarts", "must be at least 1", str(restarts))
    if codes.ndim != 2 or numbers.ndim != 2 or not len(codes) == len(numbers) == len(n):
        raise InputError("search", "codes, numbers and n must have one row per combination")
    if codes.shape[1] + numbers.shape[1] == 0:
        raise InputError("search", "there must be a nominal or a numeric column", "none")
    if n.sum() < k:
        raise InputError("search", f"there must be at least k = {k} records", f"{int(n.sum())}")
    if n.min() < fewest:
        raise InputError("search", "every combination must occur", "a combination with no record")


def placed(
    columns: Coordinates, n: np.ndarray, new_n: np.ndarray, objective: float, proposals: int, stopped: bool
) -> Placement:
    """Say which records become what, for the number of records every combination shall have."""
    import numpy as np

    leaving, joining = reassigned(columns, n, new_n)
    stay = np.flatnonzero(np.minimum(n, new_n))
    gone, come, moved = counted_pairs(leaving, joining)
    return Placement(
        new_n,
        np.concatenate([stay, gone]),
        np.concatenate([stay, come]),
        np.concatenate([np.minimum(n, new_n)[stay], moved]),
        objective,
        proposals,
        stopped,
    )
