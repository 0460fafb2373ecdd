"""What a release is good for: tables, means of subgroups, relations of numbers, and a model that is fitted on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sqlmicro.attacks import attacked
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np

BINS, ORDERS, LEAST_RECORDS = 10, (1, 2, 3), 30
_TABLES, _VALUES, _RIDGE = 300, 100, 1.0
_DATES = ("date", "timestamp", "timestamptz")


@dataclass(frozen=True)
class File:
    """Records: the numbers of their nominal values (n, q), and numeric columns (n, p), NaN where missing."""

    codes: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class TableDeviation:
    """How far the tables of so many columns are off: on average in percent of the records, and the largest count."""

    tables: int
    mean: float
    largest: int


@dataclass(frozen=True)
class Usefulness:
    """What a release keeps. None where there is nothing to measure."""

    tables: dict[str, TableDeviation]
    """By the number of columns; numbers in ten bins."""
    bands: float | None
    """How far the tables of a number in ten bins by a nominal column are off, in percent."""
    means_off: float | None
    """The share of the means of subgroups of 30 that are off by more than a standard error."""
    correlation: float | None
    """The largest error of a correlation of two numbers."""

    @property
    def table_loss(self) -> float:
        """The mean over tables of one, two and three columns, each of these counting the same."""
        return sum(one.mean for one in self.tables.values()) / max(1, len(self.tables))


def read(
    warehouse: Warehouse, original: Name, released: Name, nominal: Sequence[Column], numeric: Sequence[Column],
    in_ranges: Sequence[Column] = (),
) -> tuple[File, File]:  # fmt: skip
    """Return the records of two relations; of a range of numbers its middle, of one without an end the other end."""
    import numpy as np

    plain = [column for column in numeric if column not in in_ranges]
    texts = [column for column in numeric if column in in_ranges]
    found = warehouse.arrays(
        "audit/both_files.sql", original=original, released=released, nominal=nominal, numeric=plain, ranges=texts
    )
    n, count = int(found["is_first"].sum()), len(found["is_first"])
    columns = []
    for column in numeric:
        values = found[column.staged]
        if column in texts:
            dates = column.family in _DATES
            values = np.array([*map(_plain, values[:n]), *(middle(text, dates) for text in values[n:])])
        columns.append(np.array(values, dtype=float))
    numbers = np.array(columns, dtype=float).reshape(-1, count).T
    codes = np.array([found[c.staged] for c in nominal], dtype=np.int64).reshape(-1, count).T
    return File(codes[:n], numbers[:n]), File(codes[n:], numbers[n:])


def _plain(text: str | None) -> float:
    return float("nan") if text is None else float(text)


def middle(text: str | None, dates: bool) -> float:
    """Return the middle of what a text stands for; of a range without an end the other end, NaN where it says nothing.

    >>> [middle(text, False) for text in ("[20, 30)", "< 5", "7", "*", None)]
    [25.0, 5.0, 7.0, nan, nan]
    """
    import math

    found = attacked.read_range(text, dates) if text is not None else None
    ends = [end for end in found or () if math.isfinite(end)]
    return sum(ends) / len(ends) if ends else math.nan


def measure(original: File, released: File) -> Usefulness:
    """Return what a release keeps of the original.

    Tables are compared by total variation: half the sum of the deviations of all counts, in percent of the records. Of
    more than 300 tables of a size, 300 are looked at, evenly spaced.
    """
    import numpy as np

    first, second = _binned(original, released)
    columns = np.concatenate([first, second]), len(first)
    q, width = original.codes.shape[1], first.shape[1]
    tables = {}
    for order in ORDERS:
        chosen = list(combinations(range(width), order))
        chosen = [chosen[i * len(chosen) // _TABLES] for i in range(_TABLES)] if len(chosen) > _TABLES else chosen
        if chosen:
            found = [_apart(*columns, some) for some in chosen]
            mean = sum(apart for apart, _ in found) / len(found)
            tables[str(order)] = TableDeviation(len(found), mean, max(largest for _, largest in found))
    bands = [_apart(*columns, (j, number))[0] for j in range(q) for number in range(q, width)]
    return Usefulness(
        tables, sum(bands) / len(bands) if bands else None, _means_off(original, released),
        _correlation_error(original.numbers, released.numbers),
    )  # fmt: skip


def _binned(original: File, released: File) -> tuple[np.ndarray, np.ndarray]:
    """Return the nominal columns and the numeric ones in ten bins of the original; what is missing is a bin."""
    import numpy as np

    found = []
    for own, other in zip(original.numbers.T, released.numbers.T, strict=True):
        there = own[~np.isnan(own)]
        ends = np.quantile(there, np.arange(1, BINS) / BINS, method="higher") if len(there) else there
        # From the middle between two values: one that was rounded in its last digit stays in its bin.
        cuts, values = np.unique(ends), np.unique(there)
        before = values[np.maximum(np.searchsorted(values, cuts) - 1, 0)]
        middles = (before + cuts) / 2
        found.append([np.where(np.isnan(x), BINS, np.searchsorted(middles, x, side="right")) for x in (own, other)])
    sides = [
        np.hstack([file.codes, *(pair[side][:, None] for pair in found)]).astype(np.int64)
        for side, file in enumerate((original, released))
    ]
    return sides[0], sides[1]


def _apart(columns: np.ndarray, n: int, some: Sequence[int]) -> tuple[float, int]:
    """Return the total variation between the table of the first n records and that of the others, and the largest."""
    import numpy as np

    of = numbered([columns[:, j] for j in some])
    cells = int(of.max(initial=0)) + 1
    apart = np.abs(np.bincount(of[:n], minlength=cells) - np.bincount(of[n:], minlength=cells))
    return 100 * float(apart.sum()) / (2 * max(n, 1)), int(apart.max(initial=0))


def _means_off(original: File, released: File) -> float | None:
    """Return the share of the means of numbers by one and two nominal columns that are off by a standard error."""
    import numpy as np

    q, looked, off = original.codes.shape[1], 0, 0
    sets = [*((j,) for j in range(q)), *combinations(range(q), 2)]
    n = len(original.codes)
    both = np.concatenate([original.codes, released.codes])
    for some in sets[:_TABLES]:
        of = numbered([both[:, j] for j in some])
        cells = int(of.max(initial=0)) + 1
        for own, other in zip(original.numbers.T, released.numbers.T, strict=True):
            (had, mean, error), (has, now, _) = (
                _moments(of[side], x, cells) for side, x in ((slice(None, n), own), (slice(n, None), other))
            )
            counts = (had >= LEAST_RECORDS) & (error > 0)
            looked += int(counts.sum())
            off += int((counts & ((has == 0) | (np.abs(now - mean) > error))).sum())
    return off / looked if looked else None


def _moments(of: np.ndarray, x: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of every subgroup how many have a value, its mean, and the standard error of it."""
    import numpy as np

    there = ~np.isnan(x)
    of, x = of[there], x[there]
    n = np.bincount(of, minlength=cells)
    mean = np.bincount(of, x, cells) / np.maximum(n, 1)
    squares = np.bincount(of, (x - mean[of]) ** 2, cells)
    return n, mean, np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))


def _correlation_error(original: np.ndarray, released: np.ndarray) -> float | None:
    """Return the largest error of the correlation of two columns that vary; one that varies no more has none left."""
    import numpy as np

    errors = []
    for i, j in combinations(range(original.shape[1]), 2):
        before, after = (_correlation(x[:, i], x[:, j]) for x in (original, released))
        if before is not None:
            errors.append(abs((after or 0.0) - before))
    return float(np.max(errors)) if errors else None


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    import numpy as np

    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


@dataclass(frozen=True)
class Features:
    """What a model reads of records: numbers, standardised as those it was fitted on, and a 0/1 column per value."""

    shift: np.ndarray
    scale: np.ndarray
    values: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, file: File) -> Features:
        """Return the features of the records that a model is fitted on; of a nominal column at most 100 values."""
        import numpy as np

        known = [x[~np.isnan(x)] for x in file.numbers.T]
        shift = np.array([x.mean() if len(x) else 0.0 for x in known])
        scale = np.array([x.std() if len(x) and np.ptp(x) > 0 else 1.0 for x in known])
        values = []
        for code in file.codes.T:
            found, counts = np.unique(code, return_counts=True)
            values.append(np.sort(found[np.argsort(-counts, kind="stable")[:_VALUES]]))
        return cls(shift, scale, tuple(values))

    def read(self, file: File) -> np.ndarray:
        """Return the features (n, m) of records; what is missing is at the mean."""
        import numpy as np

        numbers = np.nan_to_num((file.numbers - self.shift) / self.scale)
        parts = [code[:, None] == values for code, values in zip(file.codes.T, self.values, strict=True)]
        return np.hstack([np.ones((len(numbers), 1)), numbers, *(part.astype(float) for part in parts)])


def accuracy(fitted: File, held_out: File, *, nominal: bool) -> float | None:
    """Return how well a ridge regression that is fitted on some records tells the target of others.

    The target is the last nominal column, or the last number. For a nominal one the share that is told rightly, by a
    0/1 regression per class; else R². Source: Hoerl and Kennard 1970; the penalty is 1, none for the constant.
    """
    import numpy as np

    (x, told), (other, truth) = (_without_target(file, nominal) for file in (fitted, held_out))
    if not len(told) or not len(truth):
        return None
    features = Features.of(x)
    X, Y = features.read(x), features.read(other)
    classes = np.unique(told)
    y = (told[:, None] == classes).astype(float) if nominal else told[:, None]
    penalty = _RIDGE * np.eye(X.shape[1])
    penalty[0, 0] = 0.0
    guess = Y @ np.linalg.solve(X.T @ X + penalty, X.T @ y)
    if nominal:
        return float((classes[guess.argmax(axis=1)] == truth).mean())
    around = float(((truth - truth.mean()) ** 2).sum())
    return 1 - float(((truth - guess[:, 0]) ** 2).sum()) / around if around else None


def _without_target(file: File, nominal: bool) -> tuple[File, np.ndarray]:
    """Return the records that have a target, without it, and the target."""
    import numpy as np

    if nominal:
        return File(file.codes[:, :-1], file.numbers), file.codes[:, -1]
    told = file.numbers[:, -1]
    there = ~np.isnan(told)
    return File(file.codes[there], file.numbers[there, :-1]), told[there]
