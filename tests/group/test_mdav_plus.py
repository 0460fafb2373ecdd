"""MDAV⁺ against a naive implementation, and against losses known for reference data."""

from __future__ import annotations

from typing import Any

import naive
import numpy as np
import pytest

from sqlmicro.group import _mdav_plus_kernels as kernels
from sqlmicro.group.mdav_plus import mdav_plus
from sqlmicro.missing.standardise import standardise

LOSSES = {"census": (5.662, 9.007, 14.073), "tarragona": (16.95, 22.87, 33.25)}


def group(X: np.ndarray, k: int) -> np.ndarray:
    return mdav_plus(X, np.random.default_rng(0), lambda done, total: None, k=k)


@pytest.mark.parametrize("kind", naive.KINDS)
def test_labels_equal_the_naive_ones(kind: str) -> None:
    for X, k in naive.random_records(kind, trials=10, largest=500):
        np.testing.assert_array_equal(group(X, k), naive.mdav_plus(X, k), err_msg=f"{kind}, {X.shape}, k = {k}")


def test_a_worked_example() -> None:
    """The centroid of 0, 1, 2, 3, 9, 10, 20 is 6.4: 20 first, with 10 and 9; then 0, with 1 and 2; 3 joins them."""
    assert group(np.array([[0.0], [1], [2], [3], [9], [10], [20]]), 3).tolist() == [1, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("data", LOSSES)
def test_losses_are_the_known_ones(data_folder: Any, data: str) -> None:
    Z = standardise(naive.read_numbers(data_folder / f"{data}.csv"))
    for k, loss in zip((3, 5, 10), LOSSES[data], strict=True):
        digits = 3 if data == "census" else 2
        assert round(naive.information_loss(Z, group(Z, k)), digits) == loss


def test_labels_do_not_depend_on_where_the_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.round(np.random.default_rng(5).normal(size=(500, 3)), 1)
    expected = group(X, 3)
    monkeypatch.setattr(kernels, "WORK_PER_CALL", 1)
    np.testing.assert_array_equal(group(X, 3), expected)
