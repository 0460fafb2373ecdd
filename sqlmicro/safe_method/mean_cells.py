"""SAFE, the direct search: the means of subgroups as sums that a placement changes, linear in its counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import numbered
from sqlmicro.safe_method.means import LEAST_RECORDS

if TYPE_CHECKING:
    import numpy as np

_ALIKE = 1e-6
"""A standard deviation below it, where that of the column is 1, is what the arithmetic leaves."""


@dataclass(frozen=True)
class MeanTable:
    """The means of a numeric column in the cells of some nominal ones; all are positions."""

    column: int
    by: tuple[int, ...]


@dataclass(frozen=True)
class MeanCells:
    """The subgroups of some tables as arrays; S subgroups, C combinations, G tables.

    Attributes
    ----------
    cell : ndarray of shape (C, G)
        The subgroup of every combination.
    column : ndarray of shape (G,)
        The numeric column whose means they are.
    centre : ndarray of shape (S,)
        The mean of each in the original.
    error : ndarray of shape (S,)
        The standard error of the mean, times the records: so much the sum of the distances from the mean may be off
        where the mean may by one standard error. 0 where there are too few records, or all are alike.
    """

    cell: np.ndarray
    column: np.ndarray
    centre: np.ndarray
    error: np.ndarray

    @classmethod
    def of(
        cls, tables: Sequence[MeanTable], codes: Sequence[np.ndarray], x: np.ndarray, n: np.ndarray, unit: np.ndarray
    ) -> MeanCells:
        """Number the subgroups of combinations with `n` records each, which count `unit` each.

        >>> import numpy as np
        >>> found = MeanCells.of([MeanTable(0, (0,))], [np.array([0, 0, 1])], np.array([[1.0], [3.0], [5.0]]),
        ...                      np.array([20, 20, 99]), np.ones(3))
        >>> found.cell[:, 0].tolist(), found.centre.tolist(), found.error.round(3).tolist()
        ([0, 0, 1], [2.0, 5.0], [6.405, 0.0])
        """
        import numpy as np

        cell = np.zeros((len(n), len(tables)), dtype=np.uint32)
        centres, errors, size = [np.zeros(0)], [np.zeros(0)], 0
        for t, table in enumerate(tables):
            of = numbered([codes[j] for j in table.by])
            records, weight, values = np.bincount(of, n), np.bincount(of, n * unit), x[:, table.column]
            mean = np.bincount(of, n * unit * values) / np.where(weight > 0, weight, 1.0)
            squares = np.bincount(of, n * unit * (values - mean[of]) ** 2)
            error = np.sqrt(squares * records / np.maximum(records - 1, 1))
            cell[:, t] = of + size
            centres.append(mean)
            errors.append(np.where((records >= LEAST_RECORDS) & (error > _ALIKE * np.sqrt(records)), error, 0.0))
            size += len(records)
        column = np.array([table.column for table in tables], dtype=np.int64)
        return cls(cell, column, np.concatenate(centres), np.concatenate(errors))

    def of_tables(self, x: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the cells of the tables that have a subgroup with an error, and how far rows are from the means.

        The distances have shape (C, tables) and are in standard errors; 0 in subgroups without one.
        """
        import numpy as np

        own = [g for g in range(len(self.column)) if (self.error[self.cell[:, g]] > 0).any()]
        cell, error = self.cell[:, own], self.error[self.cell[:, own]]
        distance = x[:, self.column[own]] - self.centre[cell]
        return (
            [column - column.min() for column in cell.T],
            np.divide(distance, error, out=np.zeros(distance.shape), where=error > 0),
        )

    def per_error(self, price: float) -> np.ndarray:
        """Return the price of a standard error as that of a unit of the sum; 0 where there is no error."""
        import numpy as np

        there = self.error > 0
        return np.where(there, price / np.where(there, self.error, 1.0), 0.0)
