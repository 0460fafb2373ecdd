"""k-means++ on weighted rows, and the merging of groups below k."""

from __future__ import annotations

import numpy as np
import pytest
from looping import each

from sqlmicro.safe_method.kmeans import kmeans, merge_small, nearest_centre


def _quiet(done: int, total: int) -> None:
    pass


def _sse(X: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    for group in np.unique(labels):
        inside, w = X[labels == group], weights[labels == group]
        center = (w[:, None] * inside).sum(axis=0) / w.sum()
        total += float((w[:, None] * (inside - center) ** 2).sum())
    return total


def _rows(seed: int, n: int = 120, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 10, (6, p))
    return centers[rng.integers(0, 6, n)] + rng.normal(size=(n, p)), rng.integers(1, 9, n).astype(float)


@each("clusters", [1, 2, 6, 30])
def test_clusters_are_tighter_than_the_whole_and_than_random_ones(clusters: int) -> None:
    X, weights = _rows(1)
    labels = kmeans(X, weights, clusters, np.random.default_rng(2), _quiet)
    assert sorted(set(labels)) == list(range(labels.max() + 1))
    assert labels.max() + 1 <= clusters
    found, whole = _sse(X, weights, labels), _sse(X, weights, np.zeros(len(X)))
    chance = _sse(X, weights, np.random.default_rng(3).integers(0, clusters, len(X)))
    assert found <= whole * (1 + 1e-12)
    if clusters > 1:
        assert found < chance < whole
    if clusters == 6:
        assert found < 0.2 * whole


def test_no_row_is_nearer_to_the_mean_of_another_cluster() -> None:
    X, weights = _rows(4)
    labels = kmeans(X, weights, 6, np.random.default_rng(5), _quiet)
    centers = np.array(
        [np.average(X[labels == g], axis=0, weights=weights[labels == g]) for g in range(labels.max() + 1)]
    )
    distances = ((X[:, None] - centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), labels)


def test_the_nearest_centre_is_that_of_the_smallest_distance_and_of_equal_ones_the_first() -> None:
    X, rng = _rows(10)[0], np.random.default_rng(11)
    X = np.hstack([X, np.eye(5)[rng.integers(0, 5, len(X))]])  # 0/1 columns beside numbers
    centres = X[rng.choice(len(X), 20, replace=False)] + rng.normal(size=(20, 8))
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert nearest_centre(X, centres).tolist() == distances.argmin(axis=1).tolist()
    assert nearest_centre(np.array([[1.0, 0.0]]), np.array([[9.0, 9.0], [0.0, 1.0], [2.0, 1.0]])).tolist() == [1]


def test_weights_pull_the_centers() -> None:
    """Rows at 0, 1 and 10 in two clusters: weight decides on which side 1 ends when it lies between heavy rows."""
    X = np.array([[0.0], [4.0], [6.0], [10.0]])
    heavy_ends = kmeans(X, np.array([99.0, 1.0, 1.0, 99.0]), 2, np.random.default_rng(0), _quiet)
    assert heavy_ends[0] == heavy_ends[1] != heavy_ends[2] == heavy_ends[3]


def test_same_seed_same_clusters_and_rows_are_untouched() -> None:
    X, weights = _rows(6)
    before = X.copy(), weights.copy()
    first, second = (kmeans(X, weights, 12, np.random.default_rng(7), _quiet) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    others = [kmeans(X, weights, 12, np.random.default_rng(seed), _quiet) for seed in range(5)]
    assert any(not np.array_equal(first, other) for other in others)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(weights, before[1])


@each("clusters", [1, 5, 50])
def test_duplicates_constants_and_single_rows(clusters: int) -> None:
    rng = np.random.default_rng(8)
    assert set(kmeans(np.zeros((20, 2)), np.ones(20), clusters, rng, _quiet)) == {0}
    assert kmeans(np.ones((1, 3)), np.ones(1), clusters, rng, _quiet).tolist() == [0]
    three = np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 1.0]], 7, axis=0)
    labels = kmeans(three, np.ones(21), clusters, rng, _quiet)
    assert all(len(set(labels[start : start + 7])) == 1 for start in (0, 7, 14))
    assert labels.max() + 1 == min(clusters, 3)


def test_more_records_per_row_are_the_same_as_more_rows() -> None:
    """Well separated bunches are found whatever the draws: as weights or as repeated rows."""
    X = np.array([[0.0], [0.5], [100.0], [100.5], [200.0]])
    n = np.array([3, 1, 2, 2, 5])
    weighted = kmeans(X, n.astype(float), 3, np.random.default_rng(9), _quiet)
    repeated = kmeans(np.repeat(X, n, axis=0), np.ones(n.sum()), 3, np.random.default_rng(9), _quiet)
    pairs = set(zip(np.repeat(weighted, n), repeated, strict=True))
    assert len(pairs) == 3


@each("seed", range(40))
def test_merging_leaves_no_group_below_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 60)), int(rng.integers(2, 9))
    X, weights = rng.integers(0, 4, (n, 2)).astype(float), rng.integers(1, 4, n).astype(float)
    labels = np.unique(rng.integers(0, n, n), return_inverse=True)[1]
    merged = merge_small(X, weights, labels, k)
    sizes = np.bincount(merged, weights)
    assert merged.shape == (n,)
    assert sorted(set(merged)) == list(range(len(sizes)))
    assert sizes.min() >= k or len(sizes) == 1
    # Whole groups are merged, never torn apart; where all were large enough nothing happens.
    assert len(set(zip(labels, merged, strict=True))) == labels.max() + 1
    if np.bincount(labels, weights).min() >= k:
        np.testing.assert_array_equal(merged, labels)


def test_a_small_group_joins_the_group_with_the_nearest_centroid() -> None:
    X = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0], [60.0]])
    assert merge_small(X, np.ones(7), np.array([0, 0, 0, 1, 1, 1, 2]), 3).tolist() == [0, 0, 0, 1, 1, 1, 1]
    heavy = np.array([1, 1, 1, 1, 1, 1, 3.0])
    assert merge_small(X, heavy, np.array([0, 0, 0, 1, 1, 1, 2]), 3).tolist() == [0, 0, 0, 1, 1, 1, 2]


@pytest.mark.slow
def test_many_rows_are_clustered_by_a_sample_of_their_records() -> None:
    """24 clusters of all rows fit better than the six they were drawn around, and a heavy row is drawn more often."""
    X, weights = _rows(7, n=40_000)
    labels = kmeans(X, weights, 24, np.random.default_rng(0), _quiet)
    assert labels.shape == (40_000,)
    assert sorted(set(labels.tolist())) == list(range(24))
    assert _sse(X, weights, labels) < weights.sum() * X.shape[1]
    np.testing.assert_array_equal(labels, kmeans(X, weights, 24, np.random.default_rng(0), _quiet))
    heavy = np.where(np.arange(40_000) < 20, 1e6, 1.0)
    X[:20] = np.linspace(1000, 1019, 20)[:, None]
    assert len(set(kmeans(X, heavy, 20, np.random.default_rng(0), _quiet)[:20].tolist())) >= 15
