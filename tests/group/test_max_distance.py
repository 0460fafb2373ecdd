"""The maximum distance method against a naive implementation, and a worked example."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from sqlmicro.errors import InputError
from sqlmicro.group import _max_distance_kernels as kernels
from sqlmicro.group.max_distance import RECORDS_AT_MOST, max_distance


def group(X: np.ndarray, k: int) -> np.ndarray:
    return max_distance(X, np.random.default_rng(0), lambda done, total: None, k=k)


@pytest.mark.parametrize("kind", naive.KINDS)
def test_labels_equal_the_naive_ones(kind: str) -> None:
    for X, k in naive.random_records(kind, trials=10, largest=250):
        np.testing.assert_array_equal(group(X, k), naive.max_distance(X, k), err_msg=f"{kind}, {X.shape}, k = {k}")


def test_a_worked_example() -> None:
    """20 and 0 are farthest apart, 20 farther from the centroid 6.4: 20 with 10, then 0 with 1 (k = 2); 6 and 5; 3."""
    # 3, 5 and 6 are fewer than 2k and at least k: a group.
    assert group(np.array([[0.0], [20], [1], [3], [6], [10], [5]]), 2).tolist() == [1, 0, 1, 2, 2, 0, 2]


def test_fewer_than_k_records_left_join_the_nearest_groups() -> None:
    """0, at 5.2 from the centroid, with 1; 10 with 9 (k = 2); 6 is nearer to 9.5 than to 0.5."""
    assert group(np.array([[10.0], [9], [6], [1], [0]]), 2).tolist() == [1, 1, 1, 0, 0]


def test_more_records_than_it_can_take_are_refused_and_mdav_is_named() -> None:
    with pytest.raises(InputError, match=r"at most 100,000 records\. Got 100,001\. Use mdav"):
        group(np.zeros((RECORDS_AT_MOST + 1, 1)), 3)


def test_labels_do_not_depend_on_where_the_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.round(np.random.default_rng(5).normal(size=(500, 3)), 1)
    expected = group(X, 3)
    monkeypatch.setattr(kernels, "WORK_PER_CALL", 1)
    np.testing.assert_array_equal(group(X, 3), expected)
