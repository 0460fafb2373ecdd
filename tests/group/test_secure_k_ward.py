"""Secure representatives by hand, against every end there is, and the method through the public API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sqlmicro.errors import ParameterError
from sqlmicro.group.secure_k_ward import secure_values, secure_whole_values


def one_group(values: Sequence[float], tolerance: float, ratio: float) -> float:
    found = secure_values(np.array(values), np.zeros(len(values), dtype=int), tolerance, ratio)
    return float(found.representatives[0])


def secure_ratio(values: np.ndarray, place: float, tolerance: float) -> float:
    return float((np.abs(values - place) >= tolerance).sum() / len(values))


def naive_secure(
    x: np.ndarray, labels: np.ndarray, tolerance: float, ratio: float, as_printed: bool = False
) -> np.ndarray:
    """Try every end of every group; `as_printed` swaps the branches, as the lecture notes print them."""
    plus = minus = 0.0
    found = []
    for label in range(labels.max() + 1):
        group = x[labels == label]
        mean = group.mean()
        if secure_ratio(group, mean, tolerance) >= ratio:
            found.append(mean)
            continue
        right = min(c for c in group + tolerance if c >= mean and secure_ratio(group, c, tolerance) >= ratio)
        left = max(c for c in group - tolerance if c <= mean and secure_ratio(group, c, tolerance) >= ratio)
        if (plus <= -minus) != as_printed:
            found.append(right)
            plus += len(group) * (right - mean)
        else:
            found.append(left)
            minus += len(group) * (left - mean)
    return np.array(found)


def test_representatives_by_hand() -> None:
    """{0, 1, 2}, ε = 1.5, mean 1: no value is 1.5 away, γ = 0. At 1.5 one is (0), at 2.5 two are, at 3.5 all."""
    assert one_group([0, 1, 2], 1.5, 0.0) == 1.0
    assert one_group([0, 1, 2], 1.5, 1 / 3) == 1.5
    assert one_group([2, 0, 1], 1.5, 2 / 3) == 2.5
    assert one_group([0, 1, 2], 1.5, 1.0) == 3.5
    # {1, 5, 9}, ε = 4, mean 5: two of three are at least 4 away, the ratio counts a distance of exactly ε.
    assert one_group([1, 5, 9], 4, 2 / 3) == 5.0
    assert one_group([1, 5, 9], 4, 0.7) == 13.0, "at 9 only 1 and 5 are 4 away, at 13 all are"
    assert one_group([1, 5, 9], 4.5, 2 / 3) == 9.5, "at 5.5 only 1 is, at 9.5 also 5"
    assert one_group([7, 7, 7], 0.25, 0.1) == 7.25
    assert one_group([7, 7, 7], 0.0, 1.0) == 7.0, "without a tolerance nothing is too close"
    # Constant groups, ε = 1. Sizes 3, 2, 2, 4 move the sum by +3; then -2, -2; then, at -1, by +4.
    sizes = [3, 2, 2, 4]
    labels = np.repeat(np.arange(4), sizes)
    found = secure_values(labels * 100.0, labels, 1.0, 0.5)
    assert found.representatives.tolist() == [1.0, 99.0, 199.0, 301.0]
    assert (found.changed, found.deviation, found.loss) == (4, 3.0, 11.0)


@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.75, 1.0])
def test_representatives_are_the_nearest_safe_ends(ratio: float) -> None:
    rng = np.random.default_rng(int(ratio * 100))
    for size in (4, 8, 32):
        # Eighths, and means of a power of two of them: nothing is rounded and every comparison is exact.
        x = rng.integers(0, 400, 30 * size) / 8
        labels = np.repeat(np.arange(30), size)
        order = rng.permutation(len(x))
        for tolerance in (0.125, 2.0, 30.0):
            found = secure_values(x[order], labels[order], tolerance, ratio)
            expected = naive_secure(x, labels, tolerance, ratio)
            np.testing.assert_allclose(found.representatives, expected, rtol=1e-14)
            means = np.bincount(labels, x) / size
            moved = expected - means
            assert found.changed == (np.abs(moved) > 1e-12).sum()
            assert found.deviation == pytest.approx(size * moved.sum(), abs=1e-9)
            assert found.loss == pytest.approx(size * (moved**2).sum(), abs=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_what_is_released_is_safe_in_its_own_arithmetic(offset: float) -> None:
    """Rounding must not bring a value back into the tolerance: the reader checks with the numbers as they are."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=600) + offset
    labels = rng.permutation(np.arange(600) % 100)
    for tolerance, ratio in ((0.1, 0.9), (0.3, 0.5), (1e-9, 1.0), (2.7, 1.0)):
        found = secure_values(x, labels, tolerance, ratio)
        for label in range(100):
            group = x[labels == label]
            assert secure_ratio(group, found.representatives[label], tolerance) >= ratio


def test_the_sum_stays_and_as_printed_it_would_not() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(3, 6, 400)
    labels = np.repeat(np.arange(400), sizes)
    x = 10.0 * labels + rng.normal(0, 0.1, len(labels))
    found = secure_values(x, labels, 1.0, 0.8)
    means = np.bincount(labels, x) / sizes
    largest = np.abs(sizes * (found.representatives - means)).max()
    assert found.changed == 400
    assert abs(found.deviation) <= largest
    printed = naive_secure(x, labels, 1.0, 0.8, as_printed=True)
    assert np.all(printed[1:] <= means[1:] + 2), "always the left one, once the sum is not above 0"
    assert abs(float((sizes * (printed - means)).sum())) > 100 * abs(found.deviation)


def test_groups_without_values_have_no_representative() -> None:
    found = secure_values(np.array([1.0, 1.0]), np.array([2, 2]), 0.5, 0.5, groups=4)
    assert np.isnan(found.representatives).tolist() == [True, True, False, True]
    assert (found.changed, found.deviation) == (1, 1.0)


# The method, through the public API


def _groups(columns: dict[str, list[Any]], names: Sequence[str], order: np.ndarray) -> list[tuple[Any, ...]]:
    return [tuple(columns[name][i] for name in names) for i in order]


@pytest.mark.slow
@pytest.mark.parametrize("grouping", ["k-ward", "mdav"])
def test_released_values_are_safe_and_the_groups_are_those_of_the_grouping(workbench: Any, grouping: str) -> None:
    rng = np.random.default_rng(5)
    n = 120
    table = {
        "number": ("INTEGER", range(n)),
        "x": ("DOUBLE", np.round(rng.normal(size=n), 1)),
        "age": ("INTEGER", rng.integers(0, 6, n) * 10),
    }
    db = workbench.make(table)
    options = {"columns": ["x", "age"], "keep": ["number"], "row_key": ["number"], "k": 4}
    plain = workbench.release(grouping, db, **options)
    release = workbench.release("secure-k-ward", db, tolerance=0.2, ratio=0.6, grouping=grouping, **options)
    before = _groups(plain.columns, ["x", "age"], np.argsort(plain.columns["number"]))
    after = _groups(release.columns, ["x", "age"], np.argsort(release.columns["number"]))
    assert release.report["k"] >= 4
    changed = 0
    for name, j in (("x", 0), ("age", 1)):
        original = np.asarray(table[name][1], dtype=float)
        tolerance = 0.2 * original.std(ddof=1)
        for group in set(before):
            members = [i for i in range(n) if before[i] == group]
            (representative,) = {after[i][j] for i in members}
            safe = secure_ratio(original[members], representative, tolerance) >= 0.6
            assert safe
            if secure_ratio(original[members], group[j], tolerance) >= 0.6:
                assert representative == pytest.approx(group[j], rel=1e-12)
            else:
                changed += 1
    assert changed > 10
    notes = [note for note in release.report["notes"] if "too close" in note]
    assert [note.split(":")[0] for note in notes] == ["x", "age"]
    assert sum(int(note.split("the mean of ")[1].split()[0]) for note in notes) == changed


def test_missing_values_and_strata(workbench: Any) -> None:
    n = 24
    x = [None if i % 8 < 4 else float(i // 8) for i in range(n)]
    db = workbench.make(
        {"x": ("DOUBLE", x), "y": ("DOUBLE", range(n)), "region": ("INTEGER", [i // 8 for i in range(n)])}
    )
    options = {"columns": ["x", "y"], "by": ["region"], "k": 4, "nulls": "pattern", "tolerance": 0.5, "ratio": 1.0}
    release = workbench.release("secure-k-ward", db, decimals=True, **options)
    deviation = np.array([value for value in x if value is not None]).std(ddof=1)
    for region in range(3):
        found = {release.columns["x"][i] for i in range(n) if release.columns["region"][i] == region}
        moved = 0.5 * deviation * (1 if region % 2 == 0 else -1)
        assert None in found
        assert list(found - {None}) == [pytest.approx(region + moved, rel=1e-12)]


@pytest.mark.parametrize("settings", [{"grouping": "single-axis"}, {"grouping": "mdva"}, {"ratio": 1.5}])
def test_wrong_settings_are_refused(workbench: Any, settings: dict[str, Any]) -> None:
    db = workbench.make({"x": ("DOUBLE", [1.0, 2.0, 3.0, 4.0])})
    with pytest.raises(ParameterError):
        workbench.release("secure-k-ward", db, columns=["x"], **settings)


@pytest.mark.parametrize(("tolerance", "changed"), [(1.0, 0), (1.5, 1)])
def test_a_whole_mean_at_the_tolerance_is_far_enough(tolerance, changed):
    found = secure_whole_values(np.array([0.0, 0.0, 2.0, 2.0]), np.zeros(4, int), tolerance, 1.0)
    assert found.changed == changed
    assert found.representatives.tolist() == ([4.0] if changed else [1.0])
