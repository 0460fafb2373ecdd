"""ONA* and MONA: a worked example, no move or dissolution left that is a gain, cells, and losses of reference data."""

from __future__ import annotations

from typing import Any

import naive
import numpy as np
import pytest
from brute_force import sse

from sqlmicro.group.mona import mona
from sqlmicro.group.ona_star import ona_star
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import silent


def group(X: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    return ona_star(X, np.random.default_rng(seed), silent, k=k)


@pytest.mark.parametrize("kind", naive.KINDS)
def test_no_change_that_the_method_knows_is_a_gain(kind: str) -> None:
    for X, k in naive.random_records(kind, trials=4, largest=80):
        labels = group(X, k)
        sizes = np.bincount(labels)
        assert k <= sizes.min() <= sizes.max() < 2 * k
        loss, rounding = sse(X, labels), 1e-6 * (1 + float(np.abs(X - X.mean(axis=0)).sum()))
        for i in np.flatnonzero(sizes[labels] > k)[:20]:
            for g in range(len(sizes)):
                other = labels.copy()
                other[i] = g
                assert sse(X, other) >= loss - rounding
        for g in np.flatnonzero(sizes == k)[:5]:
            other = labels.copy()
            for i in np.flatnonzero(labels == g):
                costs = {}
                for h in set(range(len(sizes))) - {g}:
                    at_h = np.flatnonzero(other == h)
                    costs[h] = sse(X[[*at_h, i]], np.zeros(len(at_h) + 1)) - sse(X[at_h], np.zeros(len(at_h)))
                if costs:
                    other[i] = min(costs, key=lambda h: costs[h])
            assert sse(X, other) >= loss - rounding


def test_groups_that_are_plain_are_found_and_counted_from_the_first_row() -> None:
    X = np.array([[100.0, 0], [0, 0], [101, 0], [1, 0], [102, 0], [2, 0], [50, 90], [51, 90], [52, 90], [3, 0]])
    found = min((group(X, 3, seed) for seed in range(8)), key=lambda labels: sse(X, labels))
    assert found.tolist() == [0, 1, 0, 1, 0, 1, 2, 2, 2, 1]
    X = np.random.default_rng(5).normal(size=(60, 3))
    assert naive.partition(group(X, 3)) != naive.partition(group(X, 3, seed=1)), "the seed matters"


@pytest.mark.slow_but("mona")
@pytest.mark.parametrize("method", [ona_star, mona])
def test_records_of_few_values_come_to_an_end(method: Any) -> None:
    rng = np.random.default_rng(3)
    for spread in (2, 5, 8, 90):
        X = standardise(rng.integers(0, spread, size=(600, 2)).astype(float))
        for seed in range(3):
            labels = method(X, np.random.default_rng(seed), silent, k=3)
            sizes = np.bincount(labels)
            assert 3 <= sizes.min() <= sizes.max() < 6


def test_mona_of_one_cell_is_ona_star_and_cells_are_halves_at_the_median() -> None:
    X = np.random.default_rng(7).normal(size=(64, 2)) * [10, 1]
    one = mona(X, np.random.default_rng(0), silent, k=3, rho=1.0)
    np.testing.assert_array_equal(one, group(X, 3))
    halves = mona(X, np.random.default_rng(0), silent, k=3, rho=np.log(32) / np.log(64))
    below = X[:, 0] <= np.sort(X[:, 0])[31]
    assert not set(halves[below]) & set(halves[~below]), "no group crosses the median of the column that varies most"
    for rho in (0.0, 0.3):
        sizes = np.bincount(mona(X, np.random.default_rng(0), silent, k=3, rho=rho))
        assert 3 <= sizes.min() <= sizes.max() <= 5


@pytest.mark.slow
def test_losses_are_below_those_of_mdav_star(data_folder: Any) -> None:
    """The source says that ONA* is significantly better than MDAV*; 5.65 on CENSUS at k = 3."""
    Z = standardise(naive.read_numbers(data_folder / "census.csv"))
    assert naive.information_loss(Z, group(Z, 3)) < 5.6
