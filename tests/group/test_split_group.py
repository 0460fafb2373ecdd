"""Split groups: the worked example of the method's documentation, and what every split keeps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

EXAMPLE = [356, 670, 815, 132, 613, 916, 538, 348, 3, 396, 401]


def naive_split(values: np.ndarray, size: int, remainder: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the new values and the group of every record; sorted descending, of equal values the last row first."""
    n = len(values)
    order = np.lexsort((np.arange(n), values))[::-1]
    released, label = np.empty(n), np.empty(n, dtype=int)
    starts = list(range(0, n, size))
    if remainder == "merge" and n % size:
        starts.pop()
    for group, (start, end) in enumerate(zip(starts, [*starts[1:], n], strict=True)):
        members = order[start:end]
        g = len(members)
        b = max(1, round(g / 2))
        centred = values[members] - values[members[0]]
        mean, sd = centred.mean() + values[members[0]], centred.std()
        released[members[:b]] = mean + sd * np.sqrt((g - b) / b)
        if b < g:
            released[members[b:]] = mean - sd * np.sqrt(b / (g - b))
        label[members] = group
    return released, label


def naive_variance_sum(values: np.ndarray, size: int, remainder: str) -> float:
    _, label = naive_split(values, size, remainder)
    return sum(values[label == g].var() for g in range(label.max() + 1))


def _release(workbench: Any, values: Any, **settings: Any) -> tuple[np.ndarray, Any]:
    db = workbench.make({"number": ("INTEGER", range(len(values))), "x": ("DOUBLE", values)})
    release = workbench.release("split-group", db, columns=["x"], keep=["number"], decimals=True, **settings)
    return np.array(release.columns["x"])[np.argsort(release.columns["number"])], release.report


def test_worked_example_with_the_remainder_as_documented(workbench: Any) -> None:
    """The formula, not the misprints of the documentation: see the docstring of the method."""
    found, report = _release(workbench, EXAMPLE, k=3, remainder="as-documented")
    expected = {
        916: 871.73, 815: 871.73, 670: 657.55, 613: 579.40, 538: 579.40, 401: 393.20,
        396: 381.51, 356: 381.51, 348: 336.97, 132: 132, 3: 3,
    }  # fmt: skip
    assert found.round(2).tolist() == [expected[value] for value in EXAMPLE]
    assert (report["groups"], report["smallest_group"], report["largest_group"]) == (4, 2, 3)
    assert any("below k" in note for note in report["notes"])
    means = [found[np.isin(EXAMPLE, group)].mean().round(2) for group in ((916, 815, 670), (613, 538, 401))]
    assert means == [800.33, 517.33]


def test_worked_example_with_the_last_group_merged(workbench: Any) -> None:
    found, report = _release(workbench, EXAMPLE, k=3)
    last = [396, 356, 348, 132, 3]
    merged = found[np.isin(EXAMPLE, last)]
    assert (report["groups"], report["smallest_group"], report["largest_group"]) == (3, 3, 5)
    assert sorted(Counter(merged.round(6)).values()) == [2, 3]
    assert merged.mean() == pytest.approx(np.mean(last))
    assert merged.var() == pytest.approx(np.var(last))


def test_variable_size_of_the_worked_example_is_3(workbench: Any) -> None:
    sums = [naive_variance_sum(np.array(EXAMPLE, float), size, "as-documented") for size in (3, 4, 5)]
    assert np.round(sums, 2).tolist() == [22498.92, 39214.94, 28719.28]
    fixed, _ = _release(workbench, EXAMPLE, k=3, remainder="as-documented")
    found, report = _release(workbench, EXAMPLE, k=3, remainder="as-documented", variable=True)
    assert found.tolist() == fixed.tolist()
    assert any("groups of 3" in note for note in report["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("remainder", ["merge", "as-documented"])
def test_variable_size_is_the_one_with_the_smallest_sum_of_variances(workbench: Any, remainder: str) -> None:
    rng = np.random.default_rng(3)
    chosen = set()
    for n in (11, 30, 53):
        # Every record in a tight bunch of five: sizes other than 5 cut through bunches.
        values = np.repeat(rng.permutation(n)[: -(-n // 5)] * 100.0, 5)[:n] + rng.normal(size=n)
        sums = {size: naive_variance_sum(values, size, remainder) for size in range(3, 6) if size <= n}
        best = min(sums, key=lambda size: (sums[size], size))
        found, report = _release(workbench, values, k=3, remainder=remainder, variable=True)
        assert any(f"groups of {best}" in note for note in report["notes"])
        np.testing.assert_allclose(found, naive_split(values, best, remainder)[0], rtol=1e-9, atol=1e-9)
        chosen.add(best)
    assert len(chosen) > 1


@pytest.mark.slow
@pytest.mark.parametrize("remainder", ["merge", "as-documented"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_values_equal_the_naive_ones(workbench: Any, k: int, remainder: str) -> None:
    rng = np.random.default_rng(k)
    for n in (2 * k - 1, 50):
        values = rng.normal(0, 100, n)
        found, _ = _release(workbench, values, k=k, remainder=remainder)
        np.testing.assert_allclose(found, naive_split(values, k, remainder)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_mean_and_variance_of_every_group_are_kept(workbench: Any, offset: float) -> None:
    values = np.round(np.random.default_rng(1).normal(0, 50, 62) * 1024) / 1024 + offset
    found, report = _release(workbench, values, k=4)
    _, label = naive_split(values, 4, "merge")
    assert report["smallest_group"] >= 4
    for group in range(label.max() + 1):
        before, after = values[label == group] - offset, found[label == group] - offset
        assert len(before) >= 4
        # At 1e9 a double carries seven decimals: the mean is kept to one part in 1e15 of the values.
        assert after.mean() == pytest.approx(before.mean(), rel=1e-9, abs=1e-15 * offset)
        assert after.var() == pytest.approx(before.var(), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", ["group", "column"])
def test_a_shuffle_keeps_the_values_and_moves_them(workbench: Any, shuffle: str) -> None:
    values = np.random.default_rng(2).normal(0, 100, 80)
    plain, _ = _release(workbench, values, k=4)
    found, _ = _release(workbench, values, k=4, shuffle=shuffle, seed="1")
    again, _ = _release(workbench, values, k=4, shuffle=shuffle, seed="1")
    other, _ = _release(workbench, values, k=4, shuffle=shuffle, seed="2")
    assert Counter(found) == Counter(plain)
    assert found.tolist() == again.tolist()
    assert found.tolist() != plain.tolist()
    assert found.tolist() != other.tolist()
    _, label = naive_split(values, 4, "merge")
    within = all(Counter(found[label == g]) == Counter(plain[label == g]) for g in range(label.max() + 1))
    assert within == (shuffle == "group")


def test_a_shuffle_of_the_column_stays_within_strata(workbench: Any) -> None:
    rng = np.random.default_rng(8)
    x, region = rng.normal(size=60), ["north", "south"] * 30
    columns = {"number": ("INTEGER", range(60)), "x": ("DOUBLE", x), "region": ("VARCHAR", region)}
    options: dict[str, Any] = {"columns": ["x"], "by": ["region"], "keep": ["number"], "k": 3, "seed": "s"}
    db = workbench.make(columns)
    plain = workbench.release("split-group", db, **options)
    shuffled = workbench.release("split-group", db, shuffle="column", **options)
    assert Counter(plain.records(["region", "x"])) == Counter(shuffled.records(["region", "x"]))
    assert Counter(plain.records(["number", "x"])) != Counter(shuffled.records(["number", "x"]))


def test_two_columns_are_shuffled_each_on_its_own(workbench: Any) -> None:
    """One permutation for all columns would leave the records together."""
    x = np.random.default_rng(9).normal(size=60)
    db = workbench.make({"x": ("DOUBLE", x), "y": ("DOUBLE", x)})
    release = workbench.release("split-group", db, columns=["x", "y"], k=3, shuffle="column", seed="s")
    assert release.columns["x"] != release.columns["y"]
    assert Counter(release.columns["x"]) == Counter(release.columns["y"])
