"""SAFE, the direct search: how often every combination shall occur, so that every table stays nearly as it was."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.registry import Tick
from sqlmicro.standardise import standardise

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._search_kernels import Problem, Proposal, State

Effort = Literal["fast", "full"]

MAX_TABLES = 256
_ORDER = 3
_SUM_TERMS = 120
_MOMENT_TERMS = 80
_BANDS = 20
_NEAR = 12
_CHUNK = 100_000
# Proposals per combination, and at most, for the 121 tables and 44 sums of 6 nominal and 2 numeric columns.
_PROPOSALS_PER_COMBINATION: dict[Effort, int] = {"fast": 400, "full": 2_000}
_PROPOSALS: dict[Effort, int] = {"fast": 1_700_000, "full": 6_500_000}
_TERMS_OF_PROPOSALS = 165
# Above so many bytes of cell numbers a proposal takes twice as long.
_CACHE = 16_000_000
_LEAST_PROPOSALS = 5_000
# Cumulated shares of compound moves, toggles, pairs of toggles, single records; the rest are transfers of a record.
_SHARES = (0.2, 0.4, 0.6, 0.76)


@dataclass(frozen=True)
class Objective:
    """The prices of the search, in units of one record that is missing in one cell of one table.

    A cell with deviation d costs |d| + curve d² + steep (|d| - bound)² above the bound, times the weight of its table.
    A plain sum of |d| would leave single cells with large deviations. Bounds and temperatures follow k, because the
    smallest change is to open or close a combination with k records.

    Attributes
    ----------
    curve, steep : float
        Weights of the squared deviation, and of the squared deviation above the bound.
    bounds : tuple of float
        Of tables of one, two and three columns, as shares of k.
    value_weight, value_bound : float
        Of tables with numeric values or bands: their weight, and their bound as a multiple of that of nominal ones.
    sum_weight, whole_weight : float
        Of the sums of a cell, in standard deviations; and of the sums of the whole file.
    record_price, total_price : float
        Of a record that moves, and of the squared deviation of the number of records while the search runs.
    hot, cold : float
        First and last temperature, as shares of k².
    """

    curve: float = 0.1
    steep: float = 12.0
    bounds: tuple[float, float, float] = (0.4, 0.6, 0.8)
    value_weight: float = 0.25
    value_bound: float = 2.0
    sum_weight: float = 0.5
    whole_weight: float = 300.0
    record_price: float = 2.0
    total_price: float = 0.5
    hot: float = 1.4
    cold: float = 0.06


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
        Whether the time limit or an interruption ended the search early.
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
    max_shift: int | None = None,
    effort: Effort = "full",
    restarts: int = 1,
    time_limit: float | None = None,
    objective: Objective | None = None,
) -> Placement:
    """Place all records so that every combination occurs at least k times or not at all and tables hardly change.

    Simulated annealing on how often each of the occurring combinations occurs, from a systematic rounding. A proposal
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
        Records per combination, at least 1.
    k : int
        Records a combination has at least in the release, if it occurs.
    rng : Generator
        Same state, same placement, as long as no time limit is hit.
    tick : callable
        Told (proposals, proposals at most).
    max_shift : int, optional
        A combination of at least k records keeps them give or take so many, others get at most so many more than k.
        By default k / 2, rounded up. Exceeded only where the number of records could not be kept otherwise.
    effort : {"fast", "full"}
        About 5 or 25 CPU seconds at most.
    restarts : int
        Searches from different starts; the best is returned. Each costs as much as the first.
    time_limit : float, optional
        Seconds after which the best placement so far is returned; so does an interruption from the keyboard.
    objective : Objective, optional
        Other prices.

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

    from sqlmicro.safe_method import _search_kernels as kernels

    started = time.monotonic()
    n = np.asarray(n, dtype=np.int64)
    _check(codes, numbers, n, k, max_shift, restarts)
    prices = objective or Objective()
    columns = _Columns.of(codes, numbers, n, k)
    if n.min() >= k:
        return _placement(columns, n, n.copy(), 0.0, 0, False)
    problem, table_of_cell = _problem(columns, n, k, -(-k // 2) if max_shift is None else max_shift, prices)
    proposals = _proposals(problem, effort)
    best, least, done, stopped = n, np.inf, 0, False
    for restart in range(restarts):
        state = _start(problem, columns, table_of_cell, rng)
        schedule = _Schedule(proposals, k, prices, restart, restarts, started, time_limit)
        tried, stopped = _anneal(problem, state, schedule, rng, tick)
        done += tried
        kernels.refresh(problem, state)
        kernels.settle(problem, state)
        kernels.refresh(problem, state)
        reached = float(kernels.objective(problem, state, table_of_cell))
        if reached < least:
            best, least = state.n, reached
        if stopped:
            break
    return _placement(columns, n, best, least, done, stopped)


def _check(codes: np.ndarray, numbers: np.ndarray, n: np.ndarray, k: int, max_shift: int | None, restarts: int) -> None:
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
    if n.min() < 1:
        raise InputError("search", "every combination must occur", "a combination with no record")


@dataclass(frozen=True)
class _Columns:
    """The combinations as coordinates: every column numbered 0, 1, …; numeric ones by value and by band."""

    nominal: list[np.ndarray]
    values: list[np.ndarray]
    coordinates: list[tuple[int, bool, np.ndarray]]  # (column it belongs to, nominal?, number per combination)
    standardised: np.ndarray
    codes: np.ndarray  # (cells, q) and
    ranks: np.ndarray  # (cells, p): what near combinations and short ways are measured by

    @classmethod
    def of(cls, codes: np.ndarray, numbers: np.ndarray, n: np.ndarray, k: int) -> _Columns:
        import numpy as np

        nominal = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T]
        values = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in numbers.T]
        coordinates = [(j, True, column) for j, column in enumerate(nominal)]
        ranks = np.zeros(numbers.shape, dtype=np.float32)
        for j, value in enumerate(values):
            records = np.bincount(value, n)
            rank = (np.cumsum(records) - records / 2) / records.sum()
            ranks[:, j] = rank[value]
            if len(records) * k <= n.sum():
                coordinates.append((len(nominal) + j, False, value))
            if len(records) > _BANDS:
                bands = np.unique((rank * _BANDS).astype(np.int64), return_inverse=True)[1].reshape(-1)
                coordinates.append((len(nominal) + j, False, bands[value]))
        as_codes = np.stack(nominal, axis=1) if nominal else np.zeros((len(n), 0))
        return cls(nominal, values, coordinates, standardise(numbers, n), as_codes.astype(np.int32), ranks)

    @property
    def all(self) -> list[np.ndarray]:
        """The columns that tell combinations apart."""
        return [*self.nominal, *self.values]


def _numbered(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return 0..G-1 for the distinct rows of some numbered columns, in their lexicographic order."""
    import numpy as np

    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size > 2**62 // width:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            size = int(key.max()) + 1
        key, size = key * width + column, size * width
    if size > 4 * len(key) + 100_000:
        return np.unique(key, return_inverse=True)[1].reshape(-1)
    occurs = np.zeros(size, dtype=np.int64)
    occurs[key] = 1
    numbered: np.ndarray = (np.cumsum(occurs) - 1)[key]
    return numbered


def _table_sets(columns: _Columns) -> list[tuple[int, ...]]:
    """Return the coordinates of every table that takes part; a column never meets its own bands."""
    owner = [column for column, _, _ in columns.coordinates]
    chosen: list[tuple[int, ...]] = []
    for order in range(1, _ORDER + 1):
        sets = [s for s in combinations(range(len(owner)), order) if len({owner[c] for c in s}) == order]
        sets.sort(key=lambda s: not _is_nominal(columns, s))
        chosen += _spread(sets, MAX_TABLES - len(chosen))
    return chosen


def _is_nominal(columns: _Columns, coordinates: tuple[int, ...]) -> bool:
    return all(columns.coordinates[c][1] for c in coordinates)


def _spread(sets: list[tuple[int, ...]], most: int) -> list[tuple[int, ...]]:
    """Return at most so many of the sets, evenly spaced."""
    return sets if len(sets) <= most else [sets[i * len(sets) // most] for i in range(most)]


def _tables(columns: _Columns, sets: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of every table that each combination counts in, and the table of every cell."""
    import numpy as np

    # Unsigned: the kernels then need not look for negative indices.
    cell = np.zeros((len(columns.codes), len(sets)), dtype=np.uint32)
    table_of_cell: list[np.ndarray] = []
    cells = 0
    for t, coordinates in enumerate(sets):
        if coordinates:
            cell[:, t] = _numbered([columns.coordinates[c][2] for c in coordinates])
        size = int(cell[:, t].max()) + 1
        cell[:, t] += np.uint32(cells)
        table_of_cell.append(np.full(size, t))
        cells += size
    return cell, np.concatenate([*table_of_cell, np.zeros(0, dtype=np.int64)])


def _problem(columns: _Columns, n: np.ndarray, k: int, max_shift: int, prices: Objective) -> tuple[Problem, np.ndarray]:
    """Return the search problem, and the table of every cell."""
    import numpy as np

    from sqlmicro.safe_method._search_kernels import Problem

    sets = _table_sets(columns)
    cell, table_of_cell = _tables(columns, sets)
    by_value = np.array([not _is_nominal(columns, s) for s in sets])
    bounds = k * np.array([prices.bounds[len(s) - 1] for s in sets])
    x, products = columns.standardised, _products(columns.standardised, n)
    nominal = [(), *(s for s in sets if _is_nominal(columns, s))]
    sums = [s for s in nominal if len(s) < _ORDER][: 1 + _SUM_TERMS // max(1, x.shape[1])] if x.size else []
    moments = [s for s in nominal if len(s) < 2][: 1 + _MOMENT_TERMS // max(1, products.shape[1])] if x.size else []
    problem = Problem(
        n=n,
        low=np.maximum(k, np.where(n < k, k, n - max_shift)),
        high=np.maximum(n, k) + max_shift,
        small=np.flatnonzero(n < k),
        near=_near(columns),
        cell=cell,
        weight=np.where(by_value, prices.value_weight, 1.0).astype(np.float32),
        bound=(bounds * np.where(by_value, prices.value_bound, 1.0)).astype(np.float32),
        sum_cell=_tables(columns, sums)[0],
        sum_weight=_sum_weights(sums, prices),
        x=np.ascontiguousarray(x, dtype=np.float32),
        moment_cell=_tables(columns, moments)[0],
        moment_weight=_sum_weights(moments, prices),
        xx=np.ascontiguousarray(products, dtype=np.float32),
        k=k,
        curve=float(prices.curve),
        steep=float(prices.steep),
        record_price=float(prices.record_price),
        total_price=float(prices.total_price),
    )
    return problem, table_of_cell


def _sum_weights(sets: Sequence[tuple[int, ...]], prices: Objective) -> np.ndarray:
    import numpy as np

    return np.array([prices.sum_weight * (1 if s else prices.whole_weight) for s in sets], dtype=np.float32)


def _products(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the squares and products of the columns, standardised; squares only where products would be too many."""
    import numpy as np

    p = x.shape[1]
    pairs = [(a, b) for a in range(p) for b in range(a, p)]
    if len(pairs) > _MOMENT_TERMS // 4:
        pairs = [(a, a) for a in range(p)]
    return standardise(np.array([x[:, a] * x[:, b] for a, b in pairs]).reshape(-1, len(x)).T, n)


def _near(columns: _Columns) -> np.ndarray:
    """Return the combinations near to each: the nearest of its neighbours in orders that start with each column."""
    import numpy as np

    from sqlmicro.safe_method._search_kernels import nearest

    every = columns.all
    turned = [every[j:] + every[:j] for j in range(min(len(every), _NEAR))]
    orders = np.array([np.argsort(_numbered(order), kind="stable") for order in turned], dtype=np.int32)
    near = np.zeros((len(columns.codes), min(_NEAR, len(columns.codes) - 1)), dtype=np.int32)
    if near.size:
        nearest(columns.codes, columns.ranks, orders, 3, near)
    return near


def _proposals(problem: Problem, effort: Effort) -> int:
    """Return how many proposals are made: in proportion to the combinations, but no more than fit into the time."""
    terms = problem.cell.shape[1] + problem.sum_cell.shape[1] * problem.x.shape[1]
    most = _PROPOSALS[effort] * min(2.0, _TERMS_OF_PROPOSALS / max(1, terms))
    if problem.cell.nbytes > _CACHE:
        most /= 2
    return int(min(most, max(_LEAST_PROPOSALS, _PROPOSALS_PER_COMBINATION[effort] * len(problem.n))))


def _start(problem: Problem, columns: _Columns, table_of_cell: np.ndarray, rng: np.random.Generator) -> State:
    """Round systematically: along the combinations below k, open one whenever k more records were passed."""
    import numpy as np

    from sqlmicro.safe_method._search_kernels import State, refresh

    order = np.argsort(_numbered(columns.all), kind="stable")
    order = order[problem.n[order] < problem.k]
    passed = (np.cumsum(problem.n[order]) + rng.integers(problem.k)) // problem.k
    placed = problem.n.copy()
    placed[order] = np.where(np.diff(passed, prepend=0) > 0, problem.k, 0)
    state = State(
        n=placed,
        deviation=np.zeros(len(table_of_cell), dtype=np.int32),
        sums=_zeros(problem.sum_cell, problem.x),
        moments=_zeros(problem.moment_cell, problem.xx),
        total=np.zeros(1, dtype=np.int64),
    )
    refresh(problem, state)
    return state


def _zeros(cell: np.ndarray, x: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.zeros((x.shape[1], int(cell.max(initial=0)) + 1), dtype=np.float32)


@dataclass(frozen=True)
class _Schedule:
    """How many proposals one of the restarts makes, at which temperatures, and when it has to end."""

    proposals: int
    k: int
    prices: Objective
    restart: int
    restarts: int
    started: float
    time_limit: float | None

    def temperature(self, done: int) -> float:
        hot, cold = self.prices.hot, self.prices.cold
        return self.k**2 * hot * math.pow(cold / hot, done / self.proposals)

    def whole_weight(self, temperature: float) -> float:
        # Low while it is hot: else rare extreme values freeze before the rest can make up for them.
        return self.prices.sum_weight * self.prices.whole_weight * self.temperature(self.proposals) / temperature

    def is_over(self) -> bool:
        return self.time_limit is not None and time.monotonic() - self.started >= self.time_limit


def _anneal(
    problem: Problem, state: State, schedule: _Schedule, rng: np.random.Generator, tick: Tick
) -> tuple[int, bool]:
    """Anneal in chunks; return the proposals made and whether it ended early."""
    import numpy as np

    from sqlmicro.safe_method._search_kernels import anneal, refresh

    def run(proposals: int, hot: float, cold: float) -> None:
        for weight in (problem.sum_weight, problem.moment_weight):
            weight[:1] = schedule.whole_weight(cold)
        refresh(problem, state)  # the sums are added in single precision and would drift
        anneal(problem, state, proposal, np.array(_SHARES), proposals, hot, cold, rng)

    proposal = _proposal(problem.k)
    done, stopped = 0, False
    try:
        while done < schedule.proposals and not stopped:
            size = min(_CHUNK, schedule.proposals - done)
            run(size, schedule.temperature(done), schedule.temperature(done + size))
            done += size
            tick(schedule.restart * schedule.proposals + done, schedule.restarts * schedule.proposals)
            stopped = done < schedule.proposals and schedule.is_over()
    except KeyboardInterrupt:
        stopped = True
    if stopped:
        # What was found while it was hot is worth little before it is cooled.
        cold = schedule.temperature(schedule.proposals)
        run(min(_CHUNK, schedule.proposals), cold, cold)
    return done, stopped


def _proposal(k: int) -> Proposal:
    import numpy as np

    from sqlmicro.safe_method._search_kernels import Proposal

    # A compound move is the combination that leads, and up to k others.
    return Proposal(np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64), np.zeros(1, np.int64))


def _placement(
    columns: _Columns, n: np.ndarray, new_n: np.ndarray, objective: float, proposals: int, stopped: bool
) -> Placement:
    """Say which records become what, for the number of records every combination shall have."""
    import numpy as np

    leaving, joining = _ways(columns, n, new_n)
    stay = np.flatnonzero(np.minimum(n, new_n))
    pairs, moved = np.unique(np.stack([leaving, joining]), axis=1, return_counts=True)
    return Placement(
        new_n,
        np.concatenate([stay, pairs[0]]),
        np.concatenate([stay, pairs[1]]),
        np.concatenate([np.minimum(n, new_n)[stay], moved]),
        objective,
        proposals,
        stopped,
    )


_ROUNDS = 80
_REACH = 100


def _ways(columns: _Columns, n: np.ndarray, new_n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every record that moves where it leaves and where it goes, so that few values change.

    First those that can keep all values but one, then all but two; the others in lexicographic order. Within equal
    values they are matched in the order of the rest. Then targets are swapped where that shortens two ways.
    """
    import numpy as np

    from sqlmicro.safe_method._search_kernels import uncross

    touched = np.flatnonzero(n != new_n)
    every = [column[touched] for column in columns.all]
    away = np.repeat(np.arange(len(touched)), np.maximum(0, n - new_n)[touched])
    to = np.repeat(np.arange(len(touched)), np.maximum(0, new_n - n)[touched])
    left, joined = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for changed in _changed_columns(len(every)):
        if len(away) == 0:
            break
        same = [column for j, column in enumerate(every) if j not in changed]
        block = _numbered(same) if same else np.zeros(len(touched), dtype=np.int64)
        order = _numbered([block, *(every[j] for j in changed)])
        away, to = away[np.argsort(order[away], kind="stable")], to[np.argsort(order[to], kind="stable")]
        one, other = _matched(block[away], block[to])
        left.append(away[one])
        joined.append(to[other])
        away, to = np.delete(away, one), np.delete(to, other)
    leaving, joining = touched[np.concatenate(left)], touched[np.concatenate(joined)]
    place = _numbered(columns.all)
    for end in (leaving, joining):
        order = np.argsort(place[end], kind="stable")
        leaving, joining = leaving[order], joining[order]
        uncross(columns.codes, columns.ranks, leaving, joining, _REACH)
    return leaving, joining


def _changed_columns(columns: int) -> list[tuple[int, ...]]:
    """Return the sets of columns that may change, one round each; last all of them.

    >>> _changed_columns(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    sets = [s for size in (1, 2) for s in combinations(range(columns), size) if size < columns]
    return [*sets[:_ROUNDS], tuple(range(columns))]


def _matched(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions in two sorted arrays that match: the first of a value with the first, and so on.

    >>> import numpy as np
    >>> one, other = _matched(np.array([1, 1, 4, 7]), np.array([1, 1, 1, 7]))
    >>> one.tolist(), other.tolist()
    ([0, 1, 3], [0, 1, 3])
    """
    import numpy as np

    most = max(len(one), len(other)) + 1
    keys = [block * most + np.arange(len(block)) - np.searchsorted(block, block) for block in (one, other)]
    _, first, second = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return first, second
