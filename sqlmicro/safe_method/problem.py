"""SAFE, the direct search: which tables and sums take part, and what their deviations cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.amounts import Tables, amounts_of
from sqlmicro.safe_method.coordinates import Coordinates, near_ones
from sqlmicro.safe_method.informative import informative_sets
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.passed_on import PassedOn

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem
    from sqlmicro.safe_method.objective import Objective

MAX_TABLES = 256
_ORDER = 3


@dataclass(frozen=True)
class Limits:
    """What the deviations should not exceed.

    Attributes
    ----------
    limit : ndarray of shape (T,)
        The deviation that no cell of a table should exceed.
    first : ndarray of shape (T,)
        Where in the deviations each table begins.
    whole : ndarray of int
        The amounts of the whole file: their price follows the temperature.
    sums : int
        How many of the amounts are sums of the numeric columns.
    """

    limit: np.ndarray
    first: np.ndarray
    whole: np.ndarray
    sums: int

    def beyond(self, deviation: np.ndarray, times: float = 1.0) -> float:
        """Return by how many records all cells together are above so many times their limits."""
        import numpy as np

        limit = times * np.repeat(self.limit, np.diff(np.append(self.first, len(deviation))))
        return float(np.maximum(0.0, np.abs(deviation) - limit).sum())

    def exceeded(self, deviation: np.ndarray) -> np.ndarray:
        """Tell for every table whether a cell deviates by more than the limit."""
        import numpy as np

        if not len(self.first):
            return np.zeros(0, dtype=np.bool_)
        above: np.ndarray = np.maximum.reduceat(np.abs(deviation), self.first) > self.limit
        return above


def make_problem(
    columns: Coordinates,
    n: np.ndarray,
    unit: np.ndarray,
    k: int,
    max_shift: int,
    prices: Objective,
    means: Sequence[MeanTable] = (),
    passed: PassedOn | None = None,
) -> tuple[Problem, np.ndarray, Limits]:
    """Return the search problem, the table of every cell, and the limits of the tables.

    `passed` has the deviations that other parts of the file have left.
    """
    import numpy as np

    Problem = late("sqlmicro.safe_method._cost_kernels", "Problem")

    sets = table_sets(columns)
    tables = Tables.of(columns, sets)
    by_value = np.array([not is_nominal(columns, s) for s in sets], dtype=np.bool_)
    bounds = k * np.array([prices.bounds[len(s) - 1] for s in sets])
    limits = [(prices.limits if is_nominal(columns, s) else prices.value_limits)[len(s) - 1] for s in sets]
    nominal = [(), *(s for s in sets if is_nominal(columns, s))]
    amounts = amounts_of(columns, n, unit, k, prices, nominal, means)
    left = np.zeros(tables.cells), np.zeros(amounts.tables.cells)
    if passed:
        left = passed.open(columns, (sets, tables), (amounts.sets, amounts.tables))
    problem = Problem(
        n=n,
        unit=unit.astype(np.float32),
        low=np.maximum(k, np.where(n < k, k, n - max_shift)),
        high=np.maximum(n, k) + max_shift,
        small=np.flatnonzero(n < k),
        near=near_ones(columns),
        cell=tables.cell,
        first=tables.first,
        weight=np.where(by_value, prices.value_weight, 1.0).astype(np.float32),
        bound=(bounds * np.where(by_value, prices.value_bound, 1.0)).astype(np.float32),
        steep=np.full(len(sets), prices.steep, dtype=np.float32),
        amount_cell=amounts.tables.cell,
        amount_first=amounts.tables.first,
        amount_value=amounts.which,
        amount_weight=amounts.weight,
        amount_slack=amounts.slack,
        value=amounts.value,
        left=left[0].astype(np.float32),
        amount_left=left[1].astype(np.float32),
        k=k,
        curve=float(prices.curve),
        record_price=float(prices.record_price),
        total_price=float(prices.total_price),
    )
    # Less a hair, since 0.6 x 5 is a little above 3.
    limit = np.ceil(k * np.array(limits) - 1e-9)
    return problem, tables.of_cell, Limits(limit, tables.first.astype(np.int64), amounts.whole, amounts.sums)


def table_sets(columns: Coordinates) -> list[tuple[int, ...]]:
    """Return the coordinates of every table that takes part; a column never meets its own bands.

    All tables of one column do. Of too many pairs of nominal columns those do that tell most of each other.
    """
    owner = [column for column, _, _ in columns.coordinates]
    nominal = [j for j, (_, is_one, _) in enumerate(columns.coordinates) if is_one]
    chosen: list[tuple[int, ...]] = [(j,) for j in range(len(owner))]
    most = max(MAX_TABLES, len(chosen) + MAX_TABLES // 2)
    for order in range(2, _ORDER + 1):
        left = most - len(chosen)
        if left <= 0:
            break
        if order == 2 and comb(len(nominal), 2) > left:
            sets = informative_sets(columns.codes, 2, left)[len(nominal) :]
        else:
            sets = [s for s in combinations(range(len(owner)), order) if len({owner[c] for c in s}) == order]
            sets.sort(key=lambda s: not is_nominal(columns, s))
        chosen += _spread(sets, left)
    return chosen


def is_nominal(columns: Coordinates, coordinates: tuple[int, ...]) -> bool:
    """Tell whether a table is made of nominal columns only."""
    return all(columns.coordinates[c][1] for c in coordinates)


def _spread(sets: list[tuple[int, ...]], most: int) -> list[tuple[int, ...]]:
    """Return at most so many of the sets, evenly spaced."""
    return sets if len(sets) <= most else [sets[i * len(sets) // most] for i in range(most)]
