"""The kernel of nearest released records against every distance written out, with each kind of column there is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro.attacks import _linkage_kernels as kernels


@pytest.mark.parametrize("seed", range(3))
def test_nearest_and_ties_are_those_of_all_distances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = np.array([kernels.NUMERIC, kernels.NOMINAL, kernels.LOW, kernels.HIGH])
    weight = np.array([1.0, 2.0, 0.5, 3.0])
    scale = np.array([20.0, 4.0, 12.0, 12.0])
    # Whole numbers, so that many records are equally far; several leaves of the tree.
    X, Y = np.floor(rng.random((60, 4)) * scale), np.floor(rng.random((400, 4)) * scale)
    apart = Y[None] - X[:, None]
    # The low end of a range tells of a value below it, the high end of one above it.
    gap = [apart[:, :, 0] ** 2, apart[:, :, 1] != 0, np.maximum(apart[:, :, 2], 0) ** 2,
           np.minimum(apart[:, :, 3], 0) ** 2]  # fmt: skip
    expected = sum(w * g for w, g in zip(weight, gap, strict=True))
    least, ties = np.empty(60), np.empty(60, dtype=np.int64)
    values, times, _ = kernels.distinct(Y)
    forest = kernels.grow(values, times, weight, kind)
    row = 0
    while row < len(X):
        row = kernels.nearest(forest, X, row, least, ties)
    np.testing.assert_array_equal(least, expected.min(axis=1))
    np.testing.assert_array_equal(ties, (expected == least[:, None]).sum(axis=1))
