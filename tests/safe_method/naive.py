"""Naive references: the dense 0/1 matrix Z, and unification record by record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any

import numpy as np

Rows = list[tuple[Any, ...]]


def naive_distance(
    original: Rows, changed: Rows, nominal: list[int], numeric: list[int], order: int
) -> tuple[float, float]:
    """Return (count part, sum part): Z has a column per combination of values that occurs in either file."""
    sets = [chosen for size in range(1, order + 1) for chosen in combinations(nominal, size)] or [()]
    n = len(original)
    X, Y = (_numbers(rows, numeric) for rows in (original, changed))
    totals = np.abs(X).sum(axis=0)
    counts, sums = [], []
    for chosen in sets:
        cells = sorted({tuple(repr(row[j]) for j in chosen) for row in [*original, *changed]})
        Z, W = (one_hot(rows, chosen, cells) for rows in (original, changed))
        counts.append(np.abs(Z.T @ Z - W.T @ W).sum() / (2 * n))
        difference = np.abs(Z.T @ X - W.T @ Y).sum(axis=0)
        sums += [d / total if total > 0 else 0.0 for d, total in zip(difference, totals, strict=True)]
    return float(np.mean(counts)), float(np.mean(sums)) if sums else 0.0


def naive_shifts(
    original: Rows, changed: Rows, number: int, by: Sequence[int], least: int = 30, weight: int | None = None
) -> list[float]:
    """Return the shift of every mean of a subgroup in standard errors; inf where it is gone. One value: no error.

    Where a column has weights, a record counts its weight by the mean weight.
    """

    def groups(rows: Rows) -> dict[Any, list[tuple[float, float]]]:
        found = defaultdict(list)
        for row in rows:
            if row[number] is not None:
                found[tuple(row[j] for j in by)].append(
                    (float(row[number]), unit * float(row[weight]) if weight else 1.0)
                )
        return found

    def mean(values: list[tuple[float, float]]) -> float:
        return sum(x * w for x, w in values) / sum(w for _, w in values)

    unit = 1.0 if weight is None else len(original) / sum(float(row[weight]) for row in original)
    before, after = groups(original), groups(changed)
    shifts = []
    for key, values in before.items():
        n = sum(w for _, w in values)
        if n >= least - 1e-6 and len({x for x, _ in values}) > 1:
            s = stdev(x for x, _ in values) if weight is None else None
            squares = sum(w * (x - mean(values)) ** 2 for x, w in values)
            error = (sqrt(squares / (n - 1)) if s is None else s) / sqrt(n)
            centre = mean(values) if weight else fmean(x for x, _ in values)
            shifts.append(abs(mean(after[key]) - centre) / error if key in after else inf)
    return shifts


def one_hot(rows: Rows, chosen: tuple[int, ...], cells: list[tuple[str, ...]]) -> np.ndarray:
    """Return Z (n, cells): 1 where the record is in the cell."""
    Z = np.zeros((len(rows), len(cells)))
    for i, row in enumerate(rows):
        Z[i, cells.index(tuple(repr(row[j]) for j in chosen))] = 1
    return Z


def _numbers(rows: Rows, numeric: list[int]) -> np.ndarray:
    """Return the numeric columns; a missing value adds nothing to a sum."""
    numbers = [[0.0 if row[j] is None else float(row[j]) for j in numeric] for row in rows]
    return np.array(numbers, dtype=float).reshape(len(rows), -1)


def number_of(values: Sequence[Any], how: str, digits: int | None) -> Any:
    """Return what a numeric column becomes in a group, in exact arithmetic; `digits` None: it is not rounded."""
    present = sorted(Fraction(value) for value in values if value is not None)
    if 2 * len(present) < len(values):
        return None
    if how == "median":
        found = (present[(len(present) - 1) // 2] + present[len(present) // 2]) / 2
    else:
        found = sum(present, Fraction()) / len(present)
    if how == "mean" or digits is None:
        return float(found)
    rounded = round(found * 10**digits)  # half to even
    return rounded if digits == 0 else Decimal(rounded).scaleb(-digits)


def mode_of(values: Sequence[Any]) -> Any:
    """Return the most frequent value, of equally frequent ones the smallest, None last."""
    return min(Counter(values).items(), key=lambda item: (-item[1], item[0] is None, item[0] or ""))[0]


def medoid_of(records: Sequence[tuple[Any, ...]], nominal: Sequence[int]) -> tuple[Any, ...]:
    """Return the nominal values of the record that agrees with the most values; of equally near ones the first."""
    near = [sum(record[j] == other[j] for other in records for j in nominal) for record in records]
    return tuple(records[near.index(max(near))][j] for j in nominal)
