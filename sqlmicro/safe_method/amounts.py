"""SAFE, the direct search: the tables of counts that combinations count in, and the amounts that should stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import BANDS, Coordinates, numbered
from sqlmicro.safe_method.mean_cells import MeanCells, MeanTable

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.objective import Objective

_SUM_TERMS = 120
_MOMENT_TERMS = 80


@dataclass(frozen=True)
class Tables:
    """The cell that every combination counts in, table by table; C combinations, T tables.

    Attributes
    ----------
    cell : ndarray of shape (C, T)
        The cell within the table, in 16 bits where all fit: a proposal reads a whole row of them.
    first : ndarray of shape (T,)
        Where the cells of each table begin in an array of all.
    of_cell : ndarray of int
        The table of every cell.
    """

    cell: np.ndarray
    first: np.ndarray
    of_cell: np.ndarray

    @property
    def cells(self) -> int:
        """The number of cells of all tables."""
        return len(self.of_cell)

    @classmethod
    def of(cls, columns: Coordinates, sets: Sequence[tuple[int, ...]]) -> Tables:
        """Number the cells of the tables of some sets of coordinates."""
        own = (numbered([columns.coordinates[c][2] for c in s]) if s else None for s in sets)
        return cls.numbered(own, len(sets), len(columns.codes))

    @classmethod
    def numbered(cls, cells: Iterable[np.ndarray | None], tables: int, combinations: int) -> Tables:
        """Put together what is numbered table by table; None for a table of one cell."""
        import numpy as np

        # Unsigned: the kernels then need not look for negative indices.
        cell = np.zeros((combinations, tables), dtype=np.uint16)
        sizes = np.ones(tables, dtype=np.int64)
        for t, own in enumerate(cells):
            if own is not None:
                sizes[t] = int(own.max(initial=0)) + 1
                if sizes[t] > 2**16 and cell.dtype == np.uint16:
                    cell = cell.astype(np.uint32)
                cell[:, t] = own
        first = (np.cumsum(sizes) - sizes).astype(np.uint32)
        return cls(cell, first, np.repeat(np.arange(tables), sizes))


@dataclass(frozen=True)
class Amounts:
    """The sums that should stay, A of them, one after the other; `_cost_kernels.Problem` says what is what."""

    tables: Tables
    which: np.ndarray
    weight: np.ndarray
    slack: np.ndarray
    value: np.ndarray
    whole: np.ndarray
    """The amounts of the whole file."""
    sums: int
    """How many are sums of the numeric columns; the others are of squares and products, and of means."""
    sets: tuple[tuple[int, ...], ...]
    """The coordinates of the table of each, but of the means, which are the last."""


def amounts_of(
    columns: Coordinates,
    n: np.ndarray,
    unit: np.ndarray,
    k: int,
    prices: Objective,
    nominal: Sequence[tuple[int, ...]],
    means: Sequence[MeanTable],
) -> Amounts:
    """Return the amounts: sums, squares and products by the cells of some nominal tables, and the means of subgroups.

    `nominal` are the sets of coordinates of nominal tables, () for the whole file.
    """
    import numpy as np

    x, products = columns.standardised, columns.products
    sums = [s for s in nominal if len(s) < 3][: 1 + _SUM_TERMS // max(1, x.shape[1])] if x.size else []
    moments = [s for s in nominal if len(s) < 2][: 1 + _MOMENT_TERMS // max(1, products.shape[1])] if x.size else []
    by_value = _of_few_values(columns) if prices.few_values_weight else []
    groups, distances = MeanCells.of(means, columns.nominal, x, n, unit).of_tables(x)
    p, q = x.shape[1], products.shape[1]
    # Of every table one amount per value: (coordinates, value, weight).
    listed = [(s, j, prices.sum_weight * (1 if s else prices.whole_weight)) for s in sums for j in range(p)]
    first = len(listed)
    listed += [(s, p + j, prices.sum_weight * (1 if s else prices.whole_weight)) for s in moments for j in range(q)]
    listed += [(s, p + j, prices.few_values_weight) for s in by_value for j in range(q)]
    numbers = {s: numbered([columns.coordinates[c][2] for c in s]) if s else None for s, _, _ in listed}
    cells = [*(numbers[s] for s, _, _ in listed), *groups]
    whole = np.array([not s for s, _, _ in listed] + [False] * len(groups), dtype=np.bool_)
    weights = [weight for _, _, weight in listed] + [prices.mean_price * k**2] * len(groups)
    slack = np.full(len(cells), prices.mean_slack)
    slack[: len(listed)] = np.where(whole[: len(listed)], prices.slack * n.sum(), 0.0)
    return Amounts(
        Tables.numbered(cells, len(cells), len(n)),
        np.array([j for _, j, _ in listed] + [p + q + g for g in range(len(groups))], dtype=np.uint32),
        np.array(weights, dtype=np.float32),
        slack.astype(np.float32),
        np.hstack([x, products, distances], dtype=np.float32),
        np.flatnonzero(whole),
        first,
        tuple(s for s, _, _ in listed),
    )


def _of_few_values(columns: Coordinates) -> list[tuple[int, ...]]:
    """Return the tables of one numeric column each that has few values."""
    first = len(columns.nominal)
    numeric = [(c, columns.values[j - first]) for c, (j, nominal, _) in enumerate(columns.coordinates) if not nominal]
    return [(c,) for c, values in numeric if values.max() < BANDS]
