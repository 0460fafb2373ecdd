"""What a release is good for, beside plain Python that counts cell by cell, and regressions worked by hand."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from statistics import correlation, mean, stdev

import numpy as np
import pytest

from sqlmicro.audits.usefulness import File, accuracy, measure


def _files(n: int = 400) -> tuple[File, File]:
    rng = np.random.default_rng(4)
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 4, n)], axis=1)
    numbers = np.stack([rng.integers(0, 60, n) + 5 * codes[:, 0], rng.normal(0, 1, n)], axis=1).astype(float)
    numbers[:7, 1] = np.nan
    other = numbers + np.where(rng.random((n, 2)) < 0.3, rng.normal(0, 9, (n, 2)), 0)
    moved = np.where(rng.random((n, 2)) < 0.1, rng.integers(0, 3, (n, 2)), codes)
    return File(codes, numbers), File(moved[:-5], other[:-5])


def _bins(own: list[float], values: list[float]) -> list[int]:
    """Naively: a value is in as many bins as there are deciles of the original that it is nearer to from above."""
    there = sorted(x for x in own if not math.isnan(x))
    cuts = {there[math.ceil((len(there) - 1) * i / 10)] for i in range(1, 10)}
    ends = []
    for cut in cuts:
        below = [x for x in there if x < cut]
        ends.append(((max(below) if below else cut) + cut) / 2)
    return [10 if math.isnan(x) else sum(x >= end for end in ends) for x in values]


def _columns(first: File, second: File) -> tuple[list[list[int]], list[list[int]]]:
    numbers = [
        [_bins(own, values) for own, values in zip(first.numbers.T.tolist(), file.numbers.T.tolist(), strict=True)]
        for file in (first, second)
    ]
    return [*first.codes.T.tolist(), *numbers[0]], [*second.codes.T.tolist(), *numbers[1]]


def test_tables_and_bands_are_those_that_plain_python_counts() -> None:
    first, second = _files()
    found = measure(first, second)
    before, after = _columns(first, second)

    def apart(some: tuple[int, ...]) -> Counter[tuple[int, ...]]:
        had, has = (Counter(zip(*(side[j] for j in some), strict=True)) for side in (before, after))
        return Counter({cell: abs(had[cell] - has[cell]) for cell in had | has})

    for order in (1, 2, 3):
        tables = [apart(some) for some in combinations(range(4), order)]
        kept = found.tables[str(order)]
        assert kept.tables == len(tables)
        assert kept.mean == pytest.approx(mean(100 * t.total() / (2 * 400) for t in tables), abs=1e-9)
        assert kept.largest == max(max(t.values()) for t in tables)
    bands = [100 * apart((j, x)).total() / 800 for j in (0, 1) for x in (2, 3)]
    assert found.bands == pytest.approx(mean(bands), abs=1e-9)
    assert found.table_loss == pytest.approx(mean(one.mean for one in found.tables.values()))


def test_means_and_correlations_are_those_that_plain_python_finds() -> None:
    first, second = _files()
    found, looked, off = measure(first, second), 0, 0
    for some in ((0,), (1,), (0, 1)):
        groups: list[dict[tuple[int, ...], list[list[float]]]] = []
        for file in (first, second):
            groups.append({})
            for code, values in zip(file.codes.tolist(), file.numbers.tolist(), strict=True):
                groups[-1].setdefault(tuple(code[j] for j in some), []).append(values)
        for cell, rows in groups[0].items():
            for x in (0, 1):
                had = [row[x] for row in rows if not math.isnan(row[x])]
                has = [row[x] for row in groups[1].get(cell, []) if not math.isnan(row[x])]
                if len(had) >= 30:
                    looked += 1
                    off += not has or abs(mean(has) - mean(had)) > stdev(had) / math.sqrt(len(had))
    assert 0 < off < looked
    assert found.means_off == pytest.approx(off / looked)
    pairs = [[row for row in file.numbers.tolist() if not math.isnan(row[1])] for file in (first, second)]
    r = [correlation(*zip(*rows, strict=True)) for rows in pairs]
    assert found.correlation == pytest.approx(abs(r[0] - r[1]), abs=1e-9)


def test_a_file_keeps_all_of_itself_and_nothing_is_measured_of_nothing() -> None:
    first, _ = _files(200)
    found = measure(first, first)
    assert (found.table_loss, found.bands, found.means_off, found.correlation) == (0, 0, 0, 0)
    names = measure(File(first.codes, first.numbers[:, :0]), File(first.codes, first.numbers[:, :0]))
    assert (names.bands, names.means_off, names.correlation) == (None, None, None)


def test_a_ridge_regression_worked_by_hand() -> None:
    """x is -1 and 1, standardised as it is, y is 2x: the slope is 4 / (2 + 1). At x = 3 it tells 4 of 6."""
    nothing = np.zeros((2, 0), dtype=int)
    fitted = File(nothing, np.array([[-1.0, -2.0], [1.0, 2.0]]))
    held_out = File(nothing, np.array([[3.0, 6.0], [-3.0, -6.0]]))
    assert accuracy(fitted, held_out, nominal=False) == pytest.approx(1 - 2 * 2**2 / (2 * 6**2))


def test_classes_are_told_by_what_goes_with_them() -> None:
    """The class is the first column, the second tells it nine times of ten; a class that nobody has seen is missed."""
    told = np.array([0, 1] * 50)
    seen = np.where(np.arange(100) % 10 == 9, 1 - told, told)
    fitted = File(np.stack([seen, told], axis=1), np.zeros((100, 0)))
    held_out = File(np.array([[0, 0], [1, 1], [0, 1], [1, 2]]), np.zeros((4, 0)))
    assert accuracy(fitted, held_out, nominal=True) == 0.5
