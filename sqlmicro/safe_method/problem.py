"""SAFE, the direct search: which tables and sums take part, and what their deviations cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.coordinates import Coordinates, near_ones, numbered
from sqlmicro.standardise import standardise

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem

MAX_TABLES = 256
_ORDER = 3
_SUM_TERMS = 120
_MOMENT_TERMS = 80


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
    limits, value_limits : tuple of float
        Deviations that no cell should exceed, as shares of k, rounded up: of tables of one, two and three nominal
        columns, and of tables with numeric values or bands. The price above the bound rises where one does.
    sum_weight, whole_weight : float
        Of the sums of a cell, in standard deviations; and by how much more those of the whole file count. If they count
        too much, no record can move any more that would bring a single cell back into its limit.
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
    limits: tuple[float, float, float] = (0.6, 0.8, 1.0)
    value_limits: tuple[float, float, float] = (1.0, 1.6, 7 / 3)
    sum_weight: float = 0.5
    whole_weight: float = 30.0
    record_price: float = 2.0
    total_price: float = 0.5
    hot: float = 1.4
    cold: float = 0.06


@dataclass(frozen=True)
class Limits:
    """The deviation that no cell of a table should exceed, and where in the deviations each table begins."""

    limit: np.ndarray
    first: np.ndarray

    def exceeded(self, deviation: np.ndarray) -> np.ndarray:
        """Tell for every table whether a cell deviates by more than the limit."""
        import numpy as np

        if not len(self.first):
            return np.zeros(0, dtype=np.bool_)
        above: np.ndarray = np.maximum.reduceat(np.abs(deviation), self.first) > self.limit
        return above


def make_problem(
    columns: Coordinates, n: np.ndarray, unit: np.ndarray, k: int, max_shift: int, prices: Objective
) -> tuple[Problem, np.ndarray, Limits]:
    """Return the search problem, the table of every cell, and the limits of the tables."""
    import numpy as np

    Problem = late("sqlmicro.safe_method._cost_kernels", "Problem")

    sets = table_sets(columns)
    cell, table_of_cell = _tables(columns, sets)
    by_value = np.array([not is_nominal(columns, s) for s in sets], dtype=np.bool_)
    bounds = k * np.array([prices.bounds[len(s) - 1] for s in sets])
    limits = [(prices.limits if is_nominal(columns, s) else prices.value_limits)[len(s) - 1] for s in sets]
    x, products = columns.standardised, _products(columns.standardised, n)
    nominal = [(), *(s for s in sets if is_nominal(columns, s))]
    sums = [s for s in nominal if len(s) < _ORDER][: 1 + _SUM_TERMS // max(1, x.shape[1])] if x.size else []
    moments = [s for s in nominal if len(s) < 2][: 1 + _MOMENT_TERMS // max(1, products.shape[1])] if x.size else []
    problem = Problem(
        n=n,
        unit=unit.astype(np.float32),
        low=np.maximum(k, np.where(n < k, k, n - max_shift)),
        high=np.maximum(n, k) + max_shift,
        small=np.flatnonzero(n < k),
        near=near_ones(columns),
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
        steep=np.full(len(sets), prices.steep, dtype=np.float32),
        record_price=float(prices.record_price),
        total_price=float(prices.total_price),
    )
    first = np.searchsorted(table_of_cell, np.arange(len(sets)))
    # Less a hair, since 0.6 x 5 is a little above 3.
    return problem, table_of_cell, Limits(np.ceil(k * np.array(limits) - 1e-9), first)


def table_sets(columns: Coordinates) -> list[tuple[int, ...]]:
    """Return the coordinates of every table that takes part; a column never meets its own bands."""
    owner = [column for column, _, _ in columns.coordinates]
    chosen: list[tuple[int, ...]] = []
    for order in range(1, _ORDER + 1):
        sets = [s for s in combinations(range(len(owner)), order) if len({owner[c] for c in s}) == order]
        sets.sort(key=lambda s: not is_nominal(columns, s))
        chosen += _spread(sets, MAX_TABLES - len(chosen))
    return chosen


def is_nominal(columns: Coordinates, coordinates: tuple[int, ...]) -> bool:
    """Tell whether a table is made of nominal columns only."""
    return all(columns.coordinates[c][1] for c in coordinates)


def _spread(sets: list[tuple[int, ...]], most: int) -> list[tuple[int, ...]]:
    """Return at most so many of the sets, evenly spaced."""
    return sets if len(sets) <= most else [sets[i * len(sets) // most] for i in range(most)]


def _tables(columns: Coordinates, sets: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of every table that each combination counts in, and the table of every cell."""
    import numpy as np

    # Unsigned: the kernels then need not look for negative indices.
    cell = np.zeros((len(columns.codes), len(sets)), dtype=np.uint32)
    table_of_cell: list[np.ndarray] = []
    cells = 0
    for t, coordinates in enumerate(sets):
        if coordinates:
            cell[:, t] = numbered([columns.coordinates[c][2] for c in coordinates])
        size = int(cell[:, t].max()) + 1
        cell[:, t] += np.uint32(cells)
        table_of_cell.append(np.full(size, t))
        cells += size
    return cell, np.concatenate([*table_of_cell, np.zeros(0, dtype=np.int64)])


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
