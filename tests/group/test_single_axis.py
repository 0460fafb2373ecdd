"""Single axis: the three axes against naive numpy, also far from 0."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import tie_order

from sqlmicro.database.columns import Column
from sqlmicro.database.opening import open_warehouse
from sqlmicro.group.single_axis import first_component, scaled_moments

OFFSETS = (0.0, 1e6, 1e9)


def _z_scores(X: np.ndarray) -> np.ndarray:
    """Return z-scores; the first record is taken off first, so that far from 0 no digit is lost."""
    X = X - X[0]
    deviation = X.std(axis=0, ddof=1)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def _naive(X: np.ndarray, axis: np.ndarray, k: int) -> np.ndarray:
    """Return the group means, groups of k along the axis, the last takes the remainder."""
    place = tie_order(range(len(X)))
    order = np.lexsort(([place[i] for i in range(len(X))], axis))
    released = np.empty_like(X)
    starts = range(0, len(X) // k * k, k)
    for number, start in enumerate(starts):
        members = order[start : start + k if number < len(starts) - 1 else len(X)]
        released[members] = X[members[0]] + (X[members] - X[members[0]]).mean(axis=0)
    return released


def _release(workbench: Any, X: np.ndarray, **settings: Any) -> np.ndarray:
    names = [f"x{j}" for j in range(X.shape[1])]
    db = workbench.make(
        {"number": ("INTEGER", range(len(X))), **{name: ("DOUBLE", X[:, j]) for j, name in enumerate(names)}}
    )
    release = workbench.release("single-axis", db, columns=names, keep=["number"], row_key=["number"], **settings)
    assert release.report["k"] >= settings["k"]
    return np.array(release.records(names))[np.argsort(release.columns["number"])]


def _data(n: int, offset: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    # Multiples of 2^-10, so that nothing is lost in adding the offset.
    return np.round((common * [1.0, 2.0, -0.7] + rng.normal(size=(n, 3))) * 1024) / 1024 + offset


@pytest.mark.slow
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("k", [3, 7])
def test_z_sum_orders_by_the_sum_of_z_scores(workbench: Any, k: int, offset: float) -> None:
    X = _data(61, offset, seed=k)
    found = _release(workbench, X, k=k, axis="z-sum", remainder="last")
    np.testing.assert_allclose(found - offset, _naive(X, _z_scores(X).sum(axis=1), k) - offset, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("offset", OFFSETS)
def test_pc1_orders_by_the_first_principal_component(workbench: Any, offset: float) -> None:
    X = _data(61, offset, seed=9)
    Z = _z_scores(X)
    loadings = np.linalg.svd(Z)[2][0]
    loadings *= np.sign(loadings[np.argmax(np.abs(loadings))])
    found = _release(workbench, X, k=4, axis="pc1", remainder="last")
    np.testing.assert_allclose(found - offset, _naive(X, Z @ loadings, 4) - offset, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("offset", OFFSETS)
def test_a_column_can_be_the_axis(workbench: Any, offset: float) -> None:
    X = _data(50, offset, seed=11)
    found = _release(workbench, X, k=4, axis="X1", remainder="last")
    np.testing.assert_allclose(found - offset, _naive(X, X[:, 1], 4) - offset, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["z-sum", "pc1", "x1"])
def test_a_constant_column_contributes_nothing(workbench: Any, axis: str) -> None:
    X = _data(30, 0.0, seed=12)
    X[:, 0] = 0.1
    with_constant = _release(workbench, X, k=3, axis=axis)
    assert (np.unique(with_constant[:, 0]).size, with_constant[0, 0]) == (1, pytest.approx(0.1, rel=1e-15))
    without = _release(workbench, X[:, 1:], k=3, axis="x0" if axis == "x1" else axis)
    np.testing.assert_array_equal(with_constant[:, 1:], without)


@pytest.mark.parametrize("axis", ["z-sum", "pc1"])
def test_every_column_constant_still_makes_groups(workbench: Any, axis: str) -> None:
    found = _release(workbench, np.full((7, 2), 5.0), k=3, axis=axis)
    np.testing.assert_array_equal(found, np.full((7, 2), 5.0))


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import pyarrow as pa

    columns = [Column(f"x{j}", "DOUBLE", f"x{j}") for j in range(X.shape[1])]
    with open_warehouse(None) as warehouse:
        table = pa.table([pa.array(X[:, j], from_pandas=True) for j in range(X.shape[1])], [c.name for c in columns])
        work = SimpleNamespace(relation=warehouse.load(table, "given", "test"), record=warehouse.record)
        return scaled_moments(work, columns)


def test_loadings_are_those_of_another_program(data_folder: Any, reference_folder: Any) -> None:
    expected = json.loads((reference_folder / "pca_tarragona.json").read_text())
    X = np.genfromtxt(data_folder / "tarragona.csv", delimiter=",", skip_header=1)
    loadings = first_component(_moments(X)[1])
    np.testing.assert_allclose(loadings, expected["loading1"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("offset", OFFSETS)
def test_moments_are_those_of_the_columns_scaled_to_0_and_1(offset: float) -> None:
    X = _data(200, offset, seed=13)
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    means, covariance = _moments(X)
    np.testing.assert_allclose(means, scaled.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(scaled.T), rtol=1e-10)


def test_a_missing_value_counts_as_the_mean(workbench: Any) -> None:
    X = _data(40, 0.0, seed=14)
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    means, covariance = _moments(gaps)
    low, width = np.nanmin(gaps, axis=0), np.nanmax(gaps, axis=0) - np.nanmin(gaps, axis=0)
    np.testing.assert_allclose(means, ((filled - low) / width).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(((filled - low) / width).T), rtol=1e-10)


def test_an_axis_that_is_no_column_is_refused(workbench: Any) -> None:
    from sqlmicro import ParameterError

    db = workbench.make({"a": ("DOUBLE", range(9)), "b": ("DOUBLE", range(9))})
    with pytest.raises(ParameterError, match="axis"):
        workbench.release("single-axis", db, k=3, columns=["a"], keep=["b"], axis="b")
