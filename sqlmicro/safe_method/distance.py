"""The SAFE distance: by how much the tables of two files differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import comb

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError
from sqlmicro.safe_method.informative import RECORDS, informative_sets

SETS_AT_MOST = 500
"""So many tables of each number of columns above one are measured at most: their number grows with its square."""
_MOST_GROUPED = 63
_MOST_CORRELATED = 20


@dataclass(frozen=True)
class Weights:
    """How much the two parts of the distance count."""

    counts: float = 1.0
    sums: float = 1.0

    def check(self, where: str) -> Weights:
        """Return the weights, or raise ParameterError when neither part counts."""
        if self.counts == self.sums == 0:
            raise ParameterError(where, "count_weight or sum_weight must be above 0", "0 for both")
        return self


EQUAL = Weights()


@dataclass(frozen=True)
class Deviations:
    """By how much the cells of some tables differ."""

    tables: int
    """How many tables."""
    count_deviation: float
    """The sum of |dA| over the cells."""
    count_max: float
    share_changed: float
    """The share of the cells whose count is another."""
    sum_deviation: dict[str, float]
    """Of each numeric column the sum of |dT| over the sum of |x|, the mean over the tables."""
    sum_max: dict[str, float]


@dataclass(frozen=True)
class SafeDistance:
    """The SAFE distance between two files, and its parts before they are weighted."""

    distance: float
    counts: float
    sums: float
    weights: Weights
    orders: dict[str, Deviations]
    """By the number of columns of a table, and `all` of them."""


@dataclass(frozen=True)
class Moments:
    """Mean, variance and covariance of the numeric columns of a file; of more than 20 no covariances."""

    mean: dict[str, float | None] = field(default_factory=dict)
    variance: dict[str, float | None] = field(default_factory=dict)
    covariance: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class MomentsBeforeAfter:
    """The moments of both files."""

    before: Moments
    after: Moments


@dataclass(frozen=True)
class _Table:
    """By how much one table differs: a count is a share of the records, a sum one of the sum of |x|."""

    order: int
    cells: int
    cells_changed: int
    count: float
    count_deviation: float
    count_max: float
    sums: list[float]
    sum_max: list[float]


def table_sets(warehouse: Warehouse, cells: Name, nominal: Sequence[Column], order: int) -> list[tuple[Column, ...]]:
    """Return the sets of 1 to `order` nominal columns that make tables; without nominal columns the one empty set.

    Of each number of columns these are all sets, or where there are more than `SETS_AT_MOST` those whose columns tell
    most of each other in some combinations `cells` that occur: see `informative`.
    """
    import numpy as np

    q = len(nominal)
    if all(comb(q, size) <= SETS_AT_MOST for size in range(2, order + 1)):
        codes = np.zeros((0, q), dtype=np.int64)
    else:
        read = warehouse.arrays("safe/nominal_codes.sql", cells=cells, nominal=nominal, most=RECORDS)
        codes = np.array([read[column.staged] for column in nominal], dtype=np.int64).T
    return [tuple(nominal[j] for j in s) for s in informative_sets(codes, order, SETS_AT_MOST)] or [()]


def left_out(nominal: Sequence[Column], order: int) -> str:
    """Return what is said of tables that are not measured; nothing where all are.

    >>> columns = [Column(f"c{i}", "VARCHAR", f"c{i}") for i in range(40)]
    >>> left_out(columns[:9], 3), left_out(columns, 2)
    ('', 'tables: of 780 sets of 2 columns the 500 that tell most of each other are measured')
    """
    found = [(size, sets) for size in range(2, order + 1) if (sets := comb(len(nominal), size)) > SETS_AT_MOST]
    many = " and ".join(f"{sets:,} sets of {size} columns" for size, sets in found)
    return f"tables: of {many} the {SETS_AT_MOST:,} that tell most of each other are measured" if many else ""


def batches(
    nominal: Sequence[Column], sets: Sequence[tuple[Column, ...]]
) -> list[tuple[list[Column], list[tuple[Column, ...]]]]:
    """Return some sets of columns in batches, each with the columns it needs: DuckDB groups by 63 columns at most.

    >>> columns = [Column(f"c{i}", "VARCHAR", f"c{i}") for i in range(100)]
    >>> found = batches(columns, [(a, b) for a in columns for b in columns if a.name < b.name])
    >>> max(len(used) for used, _ in found) <= 63, sum(len(sets) for _, sets in found)
    (True, 4950)
    """
    size = _MOST_GROUPED // max(1, *(len(table) for table in sets))
    block = {column: number // size for number, column in enumerate(nominal)}
    found: dict[tuple[int, ...], list[tuple[Column, ...]]] = {}
    for table in sets:
        key = (0,) if len(nominal) <= _MOST_GROUPED else tuple(sorted({block[column] for column in table}))
        found.setdefault(key, []).append(table)
    return [([c for c in nominal if any(c in table for table in tables)], tables) for tables in found.values()]


def measure(
    warehouse: Warehouse,
    original: Name,
    changed: Name,
    nominal: Sequence[Column],
    numeric: Sequence[Column],
    order: int,
    weights: Weights = EQUAL,
) -> SafeDistance:
    """Return the SAFE distance between two files and its parts.

    Parameters
    ----------
    warehouse : Warehouse
        Where both relations are.
    original, changed : Name
        Combinations that occur, with n: one aggregated to cells, so that every table is a roll-up of it. Where records
        have weights, n is their sum.
    nominal, numeric : sequences of Column
        The columns that make the tables, and those that are summed in their cells.
    order : int
        Tables of up to so many nominal columns; of each number of columns at most `SETS_AT_MOST`.
    weights : Weights
        How much the count part and the sum part count in the distance; 1 each.

    Returns
    -------
    SafeDistance

    Notes
    -----
    distance = mean over tables of sum |dA| / 2n + mean over tables and numeric columns of sum |dT| / sum |x|, each part
    times its weight; 0 for equal files. A candidate is better only if this one number is smaller. Source: Höhne, SAFE.
    The cost is one pass over the cells of both files; memory follows the combinations that occur.
    """
    rows = []
    for columns, sets in batches(nominal, table_sets(warehouse, original, nominal, order)):
        found = warehouse.rows(
            "safe/deviations.sql", original=original, changed=changed, nominal=columns, numeric=numeric, sets=sets
        )
        rows += [(len(columns) - int(table_id).bit_count(), *rest) for table_id, *rest in found]
    totals = warehouse.record("safe/totals.sql", cells=original, numeric=numeric)
    records = float(totals["records"])
    tables = []
    for size, cells, cells_changed, deviation, largest, *sums in rows:
        shares = [
            float(sums[2 * j]) / absolute if (absolute := float(totals[f"absolute_{j + 1}"] or 0)) > 0 else 0.0
            for j in range(len(numeric))
        ]
        largest_sums = [float(sums[2 * j + 1]) for j in range(len(numeric))]
        count = float(deviation) / (2 * records)
        counts = (_number(deviation), _number(largest))
        tables.append(_Table(size, int(cells), int(cells_changed), count, *counts, shares, largest_sums))
    count_part = _mean([table.count for table in tables])
    sum_part = _mean([share for table in tables for share in table.sums])
    orders = sorted({table.order for table in tables})
    parts = {str(o): _parts([t for t in tables if t.order == o], numeric) for o in orders}
    parts["all"] = _parts(tables, numeric)
    # Rounded to what the order of the additions leaves certain, so that equal files compare equal.
    distance = round(weights.counts * count_part + weights.sums * sum_part, 12)
    return SafeDistance(distance, round(count_part, 12), round(sum_part, 12), weights, parts)


def numeric_loss(warehouse: Warehouse, cells: Name, released: Name, members: Name, numeric: Sequence[Column]) -> float:
    """Return IL in percent over the numeric columns that vary; 0 without any."""
    if not numeric:
        return 0.0
    row = warehouse.record("safe/numeric_loss.sql", cells=cells, members=members, released=released, numeric=numeric)
    pairs = [(row[f"sse_{i}"] or 0.0, row[f"sst_{i}"] or 0.0) for i in range(1, len(numeric) + 1)]
    shares = [sse / sst for sse, sst in pairs if sst > 0]
    return round(100 * _mean(shares), 9)


def sums(warehouse: Warehouse, cells: Name, numeric: Sequence[Column]) -> dict[str, float]:
    """Return the total of every numeric column of a file."""
    row = warehouse.record("safe/totals.sql", cells=cells, numeric=numeric)
    return {column.name: float(row[f"total_{i}"] or 0) for i, column in enumerate(numeric, 1)}


def moments(warehouse: Warehouse, cells: Name, numeric: Sequence[Column]) -> Moments:
    """Return mean, variance and covariance of the numeric columns of a file; of more than 20 no covariances."""
    found = Moments()
    if not numeric:
        return found
    indices = range(1, len(numeric) + 1)
    pairs = [(i, j) for i in indices for j in indices if i == j or (i < j and len(numeric) <= _MOST_CORRELATED)]
    row = warehouse.record("safe/moments.sql", cells=cells, numeric=numeric, pairs=pairs)
    for i, column in enumerate(numeric, 1):
        found.mean[column.name] = row[f"mean_{i}"]
    for i, j in pairs:
        name = numeric[i - 1].name if i == j else f"{numeric[i - 1].name}, {numeric[j - 1].name}"
        (found.variance if i == j else found.covariance)[name] = row[f"covariance_{i}_{j}"]
    return found


def _parts(tables: Sequence[_Table], numeric: Sequence[Column]) -> Deviations:
    cells = sum(table.cells for table in tables)
    return Deviations(
        len(tables),
        sum(table.count_deviation for table in tables),
        max(table.count_max for table in tables),
        sum(table.cells_changed for table in tables) / cells if cells else 0.0,
        {c.name: _mean([t.sums[j] for t in tables]) for j, c in enumerate(numeric)},
        {c.name: max(t.sum_max[j] for t in tables) for j, c in enumerate(numeric)},
    )


def _number(count: int | Decimal) -> float:
    """Return a count as a whole number, a sum of weights as what it is."""
    return int(count) if count == int(count) else float(count)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
