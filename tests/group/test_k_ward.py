"""k-Ward: steps worked by hand, and label by label against naive implementations."""

from __future__ import annotations

import naive_ward as naive
import numpy as np
import pytest

from sqlmicro.errors import InputError
from sqlmicro.group.consecutive_groups import optimal_groups
from sqlmicro.group.k_ward import MOST_RECORDS, k_ward, ward_groups
from sqlmicro.registry import silent


def labels_of(X: np.ndarray, k: int) -> list[int]:
    found: list[int] = k_ward(X, np.random.default_rng(0), silent, k=k).tolist()
    return found


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def test_groups_by_hand() -> None:
    """{0, 1} and {20, 21} begin. 4-5 and 5-6 both cost 1/2, the lower pair is joined first.

    Then 6 goes to {4, 5} for 2/3 · 1.5² = 1.5; to {20, 21} it would be 2/3 · 14.5² = 140. {0, 1} and {4, 5, 6} both
    have k = 2 and are never joined.
    """
    assert labels_of(column(0, 1, 4, 5, 6, 20, 21), 2) == [0, 0, 1, 1, 1, 2, 2]
    # 0.3 goes to {0, 0.1} for 2/3 · 0.25² = 0.04; 5 to {0, 0.1, 0.3} for 3/4 · 4.87² = 17.8, or 2/3 · 95.5² =
    # 6080. {0, 0.1, 0.3, 5} has 2k records, so it is cut into its two smallest and its two largest.
    assert labels_of(column(100, 0, 0.3, 101, 5, 0.1), 2) == [0, 1, 2, 0, 2, 1]
    # Farthest apart are (0, 1) and (11, 0), squared distance 122, with the two nearest of each. (4, 0) goes
    # to the group around (1/3, 1/3) for 3/4 · 122/9 = 10.2; to the other it would be 3/4 · 362/9 = 30.2.
    X = np.array([[0, 0], [1, 0], [0, 1], [10, 0], [10, 1], [11, 0], [4, 0]], dtype=float)
    assert labels_of(X, 3) == [0, 0, 0, 1, 1, 1, 0]


def test_the_smallest_tables() -> None:
    for p in (1, 2):
        X = np.random.default_rng(p).normal(size=(5, p))
        assert labels_of(X, 3) == [0] * 5, "fewer than 2k records are one group"
        assert labels_of(X[:2], 2) == [0, 0]
        assert sorted(np.bincount(labels_of(X[:4], 2)).tolist()) == [2, 2]


def tables(p: int, seed: int) -> list[tuple[str, np.ndarray]]:
    rng = np.random.default_rng([p, seed])
    n = int(rng.integers(20, 34))
    return [
        ("normal", rng.normal(size=(n, p))),
        ("lognormal", np.exp(2 * rng.normal(size=(n, p)))),
        ("offset", rng.normal(size=(n, p)) + 1e6),
        ("ties", rng.integers(0, 5, (n, p)).astype(float)),
        ("evenly spaced", rng.permutation(n)[:, None] * np.ones(p)),
        ("duplicates", np.repeat(rng.integers(0, 50, (n // 4, p)), 4, axis=0).astype(float)),
        ("constant", np.zeros((n, p))),
    ]


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_column_is_grouped_like_the_naive_one(seed: int, k: int) -> None:
    for name, x in tables(1, seed):
        expected = naive.k_ward(x, k, naive.neighbours_joined)
        assert labels_of(x, k) == expected.tolist(), name


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5])
def test_joining_neighbours_only_loses_no_more(k: int) -> None:
    """The source joins the nearest pair wherever it lies; see also the published columns below."""
    for seed in range(8):
        for name, x in tables(1, seed)[:3]:
            expected = naive.k_ward(x, k, naive.nearest_pairs_joined)
            assert naive.sse(x, np.array(labels_of(x, k))) <= naive.sse(x, expected) * (1 + 1e-9), name


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("p", [2, 4, 13])
def test_several_columns_are_grouped_like_the_naive_chain(p: int, k: int) -> None:
    for name, X in tables(p, k):
        expected = naive.k_ward(X, k, naive.chain_joined)
        assert labels_of(X, k) == expected.tolist(), name


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("p", [2, 3])
def test_without_ties_the_chain_makes_the_groups_of_the_definition(p: int, k: int) -> None:
    for _, X in tables(p, k)[:2]:
        expected = naive.k_ward(X, k, naive.nearest_pairs_joined)
        assert labels_of(X, k) == expected.tolist()


@pytest.mark.parametrize("n", [1000, 20_000])
def test_many_values_of_one_column(n: int) -> None:
    x = np.sort(np.random.default_rng(n).normal(size=n))
    labels = np.array(labels_of(x[:, None], 5))
    assert np.all(np.diff(labels) >= 0)
    assert 5 <= np.bincount(labels).min() <= np.bincount(labels).max() < 10

    def loss(groups: np.ndarray) -> float:
        sizes = np.bincount(groups)
        return float((x**2).sum() - (np.bincount(groups, x) ** 2 / sizes).sum())

    assert loss(optimal_groups(x, 5)) <= loss(labels) <= 1.2 * loss(optimal_groups(x, 5))


def test_distances_are_counted() -> None:
    """{0, 1}, 4, 5, {20, 21} have three pairs of neighbours. With 4 and 5 joined all groups have k = 2: no more.

    In two columns there are those from the mean, and from each end of the farthest pair. This is the first looked at:
    nobody else is far enough from the mean. Then (4, 0) looks at three groups, and so does the one nearest to it.
    """
    assert ward_groups(column(0, 1, 4, 5, 20, 21), 2)[1] == 3
    X = np.array([[0, 0], [1, 0], [0, 1], [10, 0], [10, 1], [11, 0], [4, 0]], dtype=float)
    assert ward_groups(X, 3)[1] == 7 + 2 * 7 + 1 + 2 * 3


def test_progress_is_told_to_the_end() -> None:
    for p in (1, 2):
        told: list[tuple[int, int]] = []
        X = np.random.default_rng(0).normal(size=(200, p))
        ward_groups(X, 3, lambda done, total, best="", told=told: told.append((done, total)))
        assert told[-1] == (400, 400)
        assert told == sorted(told)


def test_too_many_records_are_refused() -> None:
    with pytest.raises(InputError, match=f"at most {MOST_RECORDS:,} records of several columns.*mdav"):
        labels_of(np.zeros((MOST_RECORDS + 1, 2)), 3)
