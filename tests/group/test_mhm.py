"""MHM against a naive path and the best cut of it, tried out one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from brute_force import sse

from sqlmicro.group.mhm import mhm, nearest_point_path, path_groups
from sqlmicro.group.small_sets import compiled_from, small_path
from sqlmicro.registry import silent


def naive_path(X: np.ndarray) -> list[int]:
    """Go from the record farthest from the mean to the nearest left, and on; ties go to the lowest row."""

    def squared(point: np.ndarray) -> np.ndarray:
        distances = np.zeros(len(X))
        for column, value in zip(X.T, point, strict=True):
            distances += (column - value) ** 2
        return distances

    path = [int(np.argmax(squared(X.mean(axis=0))))]
    left = np.ones(len(X), dtype=bool)
    left[path[0]] = False
    while left.any():
        path.append(int(np.argmin(np.where(left, squared(X[path[-1]]), np.inf))))
        left[path[-1]] = False
    return path


def naive_cut(X: np.ndarray, k: int) -> float:
    """Return the least loss of all ways to cut the records, as they are ordered, into groups of at least k."""
    losses = []
    for cuts in product([False, True], repeat=len(X) - 1):
        groups = np.concatenate([[0], np.cumsum(cuts)])
        if np.bincount(groups).min() >= k:
            losses.append(sse(X, groups))
    return min(losses)


@pytest.mark.parametrize("p", [1, 2, 4, 13])
def test_the_path_is_the_naive_one(p: int) -> None:
    rng = np.random.default_rng(p)
    for X in (
        rng.normal(size=(150, p)),
        rng.normal(size=(90, p)) + 1e6,
        rng.integers(0, 3, (120, p)).astype(float),
        np.repeat(rng.normal(size=(20, p)), 5, axis=0),
        np.zeros((40, p)),
    ):
        with compiled_from(0):
            assert nearest_point_path(X).tolist() == naive_path(X)
        assert small_path(X).tolist() == naive_path(X)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_cut_of_the_path_loses_less(k: int) -> None:
    rng = np.random.default_rng(k)
    for n in (k, 2 * k, 11, 12):
        X = rng.normal(size=(n, 3))
        order = rng.permutation(n)
        labels = path_groups(X, order, k)
        assert np.all(np.diff(labels[order]) >= 0), "groups are consecutive in the order"
        assert sse(X, labels) == pytest.approx(naive_cut(X[order], k), rel=1e-12)


def test_the_worked_example() -> None:
    """By hand. The mean is (13/3, 1/3), row 2 at (10, 1) is farthest from it; then rows 5, 1, 3, 0, 4 are next.

    Two groups of three are the only way to cut six records at k = 3: {2, 5, 1} and {3, 0, 4}.
    """
    X = np.array([[0.0, 0.0], [6.0, 0.0], [10.0, 1.0], [2.0, 0.0], [-1.0, 0.0], [9.0, 1.0]])
    assert nearest_point_path(X).tolist() == [2, 5, 1, 3, 0, 4]
    assert mhm(X, np.random.default_rng(0), silent, k=3).tolist() == [1, 0, 0, 1, 1, 0]


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    mhm(np.random.default_rng(0).normal(size=(50, 2)), np.random.default_rng(0), lambda d, t, b="": told.append((d, t)))
    assert told[-1] == (100, 100)
    assert told == sorted(told)


@pytest.mark.parametrize("data", ["census", "tarragona", "eia"])
def test_the_path_through_published_data_is_the_naive_one(data_folder: Any, data: str) -> None:
    X = np.genfromtxt(data_folder / f"{data}.csv", delimiter=",", skip_header=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    assert nearest_point_path(X).tolist() == naive_path(X)


def test_the_farthest_record_is_found_from_anywhere() -> None:
    from sqlmicro.group._tree_kernels import as_records, farthest, plant

    X = np.random.default_rng(3).normal(size=(400, 2))
    tree = plant(as_records(X), np.arange(400))
    for q in 3 * np.random.default_rng(4).normal(size=(12, 2)):
        assert farthest(tree, q)[0] == np.argmax(((X - q) ** 2).sum(axis=1))
