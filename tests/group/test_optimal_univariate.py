"""Optimal univariate microaggregation against brute force, exact rational arithmetic and another program."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from brute_force import best_grouping, sse
from looping import each

from sqlmicro.errors import InputError
from sqlmicro.group.consecutive_groups import consecutive_groups, optimal_groups


def exact_sse(values: np.ndarray, labels: np.ndarray) -> Fraction:
    """Return the loss of a grouping without any rounding."""
    total = Fraction(0)
    for label in range(int(labels.max()) + 1):
        group = [Fraction(float(value)) for value in values[labels == label]]
        mean = sum(group) / len(group)
        total += sum((value - mean) ** 2 for value in group)
    return total


def exact_optimum(values: np.ndarray, k: int) -> Fraction:
    """Return the least loss of groups of k to 2k-1 consecutive values, without any rounding: the textbook program."""
    x = [Fraction(float(value)) for value in values]
    sums, squares = [Fraction(0)], [Fraction(0)]
    for value in x:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)

    def loss(start: int, end: int) -> Fraction:
        return squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)

    best: list[Fraction | None] = [Fraction(0)]
    for end in range(1, len(x) + 1):
        ways = [
            before + loss(start, end)
            for start in range(max(0, end - 2 * k + 1), end - k + 1)
            if (before := best[start]) is not None
        ]
        best.append(min(ways) if ways else None)
    assert best[-1] is not None
    return best[-1]


def partitions(records: list[int], k: int) -> list[list[list[int]]]:
    """Return every way to part records into groups of at least k; consecutive or not."""
    if not records:
        return [[]]
    first, rest = records[0], records[1:]
    found = []
    for chosen in range(1 << len(rest)):
        group = [first, *(record for bit, record in enumerate(rest) if chosen >> bit & 1)]
        left = [record for record in rest if record not in group]
        if len(group) >= k and (not left or len(left) >= k):
            found += [[group, *others] for others in partitions(left, k)]
    return found


def _columns() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "normal": rng.normal(size=200),
        "lognormal": np.exp(3 * rng.normal(size=200)),
        "ties": rng.integers(0, 9, 200).astype(float),
        "constant": np.full(20, 0.1),
        "two values": np.repeat([0.0, 1.0], [3, 40]),
        "seconds of a day": rng.integers(0, 86_400, 200).astype(float),
        "a code for missing": np.concatenate([[-999_999_999.0] * 2, rng.normal(size=150)]),
    }


@each(("n", "k"), [(2, 2), (5, 2), (9, 2), (6, 3), (11, 3), (12, 3), (5, 5), (10, 5)])
def test_no_grouping_loses_less(n: int, k: int) -> None:
    """Against every grouping there is, not only those of consecutive values in groups below 2k."""
    rng = np.random.default_rng(n * k)
    for x in (rng.normal(size=n), rng.integers(0, 4, n).astype(float), np.exp(2 * rng.normal(size=n))):
        labels = optimal_groups(np.sort(x), k)
        assert sse(np.sort(x)[:, None], labels) == pytest.approx(best_grouping(x[:, None], k)[0], rel=1e-12, abs=1e-15)


def test_the_brute_force_tries_every_partition() -> None:
    X = np.random.default_rng(2).normal(size=(8, 2))
    losses = [
        sum(((X[group] - X[group].mean(axis=0)) ** 2).sum() for group in partition)
        for partition in partitions(list(range(8)), 2)
    ]
    assert len(losses) == 715, "partitions of 8 into parts of at least 2, OEIS A000296"
    assert best_grouping(X, 2)[0] == pytest.approx(min(losses), rel=1e-12)


@each("name, offset, k", product(_columns(), [0.0, 1e6, 1e9, -1e9], [2, 5, 10]))
def test_the_loss_is_the_optimum_of_exact_arithmetic_at_any_offset(name: str, offset: float, k: int) -> None:
    values = np.sort(_columns()[name] + offset)
    labels = optimal_groups(values, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert np.all(np.diff(labels) >= 0)
    optimum = exact_optimum(values, k)
    assert optimum <= exact_sse(values, labels) <= optimum * Fraction(1 + 1e-12)


def test_a_large_loss_does_not_swallow_the_small_ones_behind_it() -> None:
    rest = np.sort(np.random.default_rng(3).normal(size=300))
    values = np.concatenate([[-1e12, -1e9, -1e6], rest])
    labels = optimal_groups(values, 3)
    assert labels[:4].tolist() == [0, 0, 0, 1], "the three outliers are alone"
    # The first groups behind them are chosen at the precision of the large loss.
    behind = labels[30:]
    begin = 30 + int(np.argmax(behind > behind[0]))
    tail = values[begin:]
    assert exact_sse(tail, labels[begin:] - labels[begin]) <= exact_optimum(tail, 3) * Fraction(1 + 1e-12)


def test_the_worked_example_and_equally_good_groupings() -> None:
    """Losses by hand: {1,2,3},{4,90,91,92} 2 + 5658.75; {1,2,3,4},{90,91,92} 5 + 2; all in one 13 874."""
    assert optimal_groups(np.array([1.0, 2.0, 3.0, 4.0, 90.0, 91.0, 92.0]), 3).tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert np.bincount(optimal_groups(np.zeros(8), 3)).tolist() == [5, 3]
    assert np.bincount(optimal_groups(np.zeros(9), 3)).tolist() == [3, 3, 3]


@each(("values", "must"), [([1.0, 3.0, 2.0], "ascending"), ([1.0, 2.0], "at least k = 3")])
def test_wrong_input_is_refused(values: list[float], must: str) -> None:
    with pytest.raises(InputError, match=must):
        optimal_groups(np.array(values), 3)


@each("p", [1, 2, 13])
def test_records_in_an_order_are_grouped_like_the_naive_program(p: int) -> None:
    X = np.random.default_rng(p).normal(size=(60, p)) + 1e6
    for k in (2, 3, 7):
        best: dict[int, tuple[float, list[int]]] = {0: (0.0, [])}
        for end in range(k, 61):
            ways = [
                (best[end - size][0] + ((X[end - size : end] - X[end - size : end].mean(axis=0)) ** 2).sum(), size)
                for size in range(k, 2 * k)
                if end - size in best
            ]
            loss, size = min(ways)
            best[end] = loss, [*best[end - size][1], size]
        assert np.bincount(consecutive_groups(X, k)).tolist() == best[60][1]


@each("k", [3, 5, 10])
@each(("data", "file"), [("cen", "census"), ("tar", "tarragona")])
def test_losses_are_those_of_another_program(
    data_folder: Any, reference_folder: Any, data: str, file: str, k: int
) -> None:
    with (data_folder / f"{file}.csv").open(newline="") as lines:
        names = next(csv.reader(lines))
    X = np.genfromtxt(data_folder / f"{file}.csv", delimiter=",", skip_header=1)
    with (reference_folder / "univariate_optimal_vs_fixed.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["data"] == data and int(row["k"]) == k]
    assert len(rows) == 13
    for row in rows:
        values = np.sort(X[:, names.index(row["variable"])])
        loss = sse(values[:, None], optimal_groups(values, k))
        assert loss == pytest.approx(float(row["sse_optimal"]), rel=1e-11), row["variable"]
        assert loss <= float(row["sse_fixed"]) * (1 + 1e-12)


# The method, through the public API


def _released(workbench: Any, table: dict[str, tuple[str, Any]], /, **options: Any) -> dict[str, list[Any]]:
    n = len(next(iter(table.values()))[1])
    db = workbench.make({"number": ("INTEGER", range(n)), **table})
    release = workbench.release("optimal-univariate", db, keep=["number"], **options)
    order = np.argsort(release.columns["number"])
    return {name: [values[i] for i in order] for name, values in release.columns.items()}


def _expected(values: list[float | None], k: int, representative: str) -> list[float | None]:
    present = [i for i, value in enumerate(values) if value is not None]
    order = sorted(present, key=lambda i: (values[i], i))
    labels = optimal_groups(np.array([values[i] for i in order], dtype=float), k)
    released: list[float | None] = [None] * len(values)
    average = np.mean if representative == "mean" else np.median
    for label in range(labels.max() + 1):
        members = [order[position] for position in np.flatnonzero(labels == label)]
        for i in members:
            released[i] = float(average([values[j] for j in members]))
    return released


@pytest.mark.parametrize("representative", ["mean", "median"])
def test_columns_are_grouped_each_on_its_own_and_missing_values_stay(workbench: Any, representative: str) -> None:
    rng = np.random.default_rng(4)
    x: list[float | None] = rng.normal(size=60).tolist()
    gaps = [None if i % 4 == 0 else value for i, value in enumerate(rng.integers(0, 9, 60).astype(float).tolist())]
    released = _released(
        workbench,
        {"x": ("DOUBLE", x), "gaps": ("DOUBLE", gaps), "empty": ("DOUBLE", [None] * 60)},
        columns=["x", "gaps", "empty"],
        k=4,
        nulls="keep",
        representative=representative,
        decimals=True,
    )
    assert released["x"] == pytest.approx(_expected(x, 4, representative), rel=1e-12)
    for found, expected in zip(released["gaps"], _expected(gaps, 4, representative), strict=True):
        assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))
    assert released["empty"] == [None] * 60


def test_strata_are_grouped_each_on_its_own(workbench: Any) -> None:
    rng = np.random.default_rng(5)
    x, region = rng.normal(size=50).tolist(), [("north", "south", None)[int(i)] for i in rng.integers(0, 3, 50)]
    columns = {"x": ("DOUBLE", x), "region": ("VARCHAR", region)}
    released = _released(workbench, columns, columns=["x"], by=["region"], k=3)
    for stratum in ("north", "south", None):
        inside = [i for i in range(50) if region[i] == stratum]
        expected = _expected([x[i] for i in inside], 3, "mean")
        assert [released["x"][i] for i in inside] == pytest.approx(expected, rel=1e-12)


def test_a_stratum_with_too_few_values_of_a_column_is_refused(workbench: Any) -> None:
    x = [1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0, 8.0]
    db = workbench.make({"x": ("DOUBLE", x), "sex": ("INTEGER", [0, 0, 0, 0, 1, 1, 1, 1])})
    with pytest.raises(InputError, match="the smallest has 3"):
        workbench.release("optimal-univariate", db, columns=["x"], by=["sex"], k=4, nulls="keep")
