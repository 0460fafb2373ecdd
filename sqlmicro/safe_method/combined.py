"""SAFE, the direct search: the combinations of a stratum as the search takes them, with those that are invented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.plausible import Invented

File = tuple["np.ndarray", "np.ndarray", "np.ndarray", int]
"""Codes, numbers and records of combinations, and k: what `search.search` takes first."""


@dataclass(frozen=True)
class Combined:
    """The distinct combinations of some cells.

    Attributes
    ----------
    codes, numbers : ndarrays of shape (combinations, …)
        As the search takes them: a missing number is the mean, and a code of its own tells it.
    n : ndarray of shape (combinations,)
        Records of each.
    first, of_cell : ndarrays
        The first cell of every combination, and the combination of every cell.
    flagged : tuple of int
        The numbers with missing values, in the order of their codes, which come last.
    """

    codes: np.ndarray
    numbers: np.ndarray
    n: np.ndarray
    first: np.ndarray
    of_cell: np.ndarray
    flagged: tuple[int, ...]

    @classmethod
    def of(cls, codes: np.ndarray, raw: np.ndarray, n: np.ndarray, apart: np.ndarray | None = None) -> Combined:
        """Return the combinations of cells with these codes, numbers (NaN where missing) and records.

        Cells that `apart` tells apart are combinations of their own, also where all values are the same.
        """
        import numpy as np

        missing = np.isnan(raw)
        present = np.maximum((~missing).sum(axis=0), 1)
        means = np.where(missing, 0.0, raw).sum(axis=0) / present
        flagged = np.flatnonzero(missing.any(axis=0))
        codes = np.hstack([codes, missing[:, flagged].astype(np.int64)])
        numbers = np.where(missing, means, raw)
        rows = np.hstack([codes.astype(float), numbers, *([] if apart is None else [apart[:, None]])])
        if rows.shape[1]:
            reduced = numbered([np.unique(column, return_inverse=True)[1].reshape(-1) for column in rows.T])
        else:
            reduced = np.zeros(len(rows), dtype=np.int64)
        first = np.zeros(int(reduced.max(initial=-1)) + 1, dtype=np.int64)
        first[reduced[::-1]] = np.arange(len(reduced))[::-1]
        counts = np.bincount(reduced, n, len(first)).astype(np.int64)
        return cls(codes[first], numbers[first], counts, first, reduced, tuple(int(j) for j in flagged))

    @property
    def values(self) -> np.ndarray:
        """Every column as numbers from 0, codes first; a missing number is a value of its own."""
        import numpy as np

        q = self.codes.shape[1] - len(self.flagged)
        columns = [*self.codes[:, :q].T]
        for j, number in enumerate(self.numbers.T):
            flag = self.codes[:, q + self.flagged.index(j)] if j in self.flagged else np.zeros(len(number))
            columns.append(np.unique(np.stack([flag, number]), axis=1, return_inverse=True)[1].reshape(-1))
        return np.array(columns, dtype=np.int64).reshape(-1, len(self.n)).T

    def file(self, k: int, new: Invented | None) -> File:
        """Return the combinations as the search takes them, those that are invented last."""
        import numpy as np

        if new is None:
            return self.codes, self.numbers, self.n, k
        codes, numbers = self.codes[new.base], self.numbers[new.base]
        q = self.codes.shape[1] - len(self.flagged)
        for column in np.unique(new.column):
            rows = np.flatnonzero(new.column == column)
            donor, j = new.donor[rows], int(column) - q
            if j < 0:
                codes[rows, column] = self.codes[donor, column]
                continue
            numbers[rows, j] = self.numbers[donor, j]
            if j in self.flagged:
                flag = q + self.flagged.index(j)
                codes[rows, flag] = self.codes[donor, flag]
        return (
            np.concatenate([self.codes, codes]),
            np.concatenate([self.numbers, numbers]),
            np.concatenate([self.n, np.zeros(len(codes), dtype=np.int64)]),
            k,
        )
