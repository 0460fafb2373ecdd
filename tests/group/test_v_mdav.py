"""V-MDAV against a naive implementation, and worked examples."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from looping import each

from sqlmicro.group import _mdav_plus_kernels as kernels
from sqlmicro.group.v_mdav import v_mdav


def group(X: np.ndarray, k: int, gamma: float) -> np.ndarray:
    return v_mdav(X, np.random.default_rng(0), lambda done, total: None, k=k, gamma=gamma)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.7, 1.0, 1.1, 3.0])
@each("kind", naive.KINDS)
def test_labels_equal_the_naive_ones(kind: str, gamma: float) -> None:
    for X, k in naive.random_records(kind, trials=4, largest=300, seed=int(10 * gamma)):
        np.testing.assert_array_equal(
            group(X, k, gamma), naive.v_mdav(X, k, gamma), err_msg=f"{kind}, {X.shape}, k = {k}, gamma = {gamma}"
        )


LINE = np.array([[0.0], [1], [2], [4], [7], [8], [9], [30]])


def test_a_far_record_stays_out() -> None:
    """The centroid is 7.6, 30 is farthest and takes 9 (k = 2). Next 8: d_in = 1 = d_out, not below 1.0 · 1."""
    # Then 0 with 1; 2: d_in = 1 < d_out = 2 joins, three are the most. Left are 4, 7, 8: a last group.
    assert group(LINE, 2, 1.0).tolist() == [1, 1, 1, 2, 2, 2, 0, 0]


def test_with_a_larger_gamma_a_group_takes_a_record_that_lies_between() -> None:
    """8 joins 30 and 9, since 1 < 1.1 · 1; then 0, 1 and 2 as before; 4 and 7 are the last group."""
    assert group(LINE, 2, 1.1).tolist() == [1, 1, 1, 2, 2, 0, 0, 0]


def test_with_gamma_0_no_group_takes_more_than_k() -> None:
    X = np.random.default_rng(1).normal(size=(101, 3))
    assert sorted(np.bincount(group(X, 5, 0.0)).tolist()) == [5] * 19 + [6]


def test_clustered_records_lose_less_with_a_large_gamma() -> None:
    """What the source says gamma is for: clusters of 5 to 8 records, k = 5."""
    rng = np.random.default_rng(2)
    centers = rng.uniform(-100, 100, (60, 2))
    X = np.repeat(centers, rng.integers(5, 9, 60), axis=0)
    X = X + rng.normal(size=X.shape)
    losses = [naive.information_loss(X, group(X, 5, gamma)) for gamma in (0.2, 1.1)]
    assert losses[1] < losses[0]


def test_labels_do_not_depend_on_where_the_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.round(np.random.default_rng(5).normal(size=(500, 3)), 1)
    expected = group(X, 3, 1.1)
    monkeypatch.setattr(kernels, "WORK_PER_CALL", 1)
    np.testing.assert_array_equal(group(X, 3, 1.1), expected)
