"""The contract of every kernel: a function of vectors that returns the group of every record."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sqlmicro.registry import Method, silent

SHORT: dict[str, dict[str, Any]] = {"kanonymeans-star": {"population": 4, "survivors": 2, "generations": 2}}
"""Settings that keep a search short; the contract holds however long it goes on."""


def group(method: Method, X: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """Return the labels of a kernel (n,), which are groups of at least k, numbered from 0 without a gap."""
    labels = method.group(X, np.random.default_rng(seed), silent, k=k, **SHORT.get(method.name, {})).labels
    assert isinstance(labels, np.ndarray), "labels are a NumPy array"
    assert np.issubdtype(labels.dtype, np.integer), "labels are integers"
    assert labels.shape == (len(X),), "there is one label for every record"
    assert np.bincount(labels).min() >= k, "every label from 0 to G-1 is a group of at least k"
    return labels


def partition(labels: np.ndarray, names: np.ndarray) -> set[frozenset[int]]:
    """Return the groups as sets of names: their numbers do not matter."""
    return {frozenset(names[labels == label].tolist()) for label in set(labels.tolist())}


@pytest.fixture
def ends() -> Iterator[None]:
    """Fail after 60 seconds, where a kernel would never end."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        pytest.fail("the method does not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


pytestmark = pytest.mark.usefixtures("ends")


@pytest.mark.slow
def test_labels_are_groups_of_at_least_k(kernel: Method) -> None:
    """Of every number of records from k on, in one dimension and in three."""
    for k in (2, 3, 5):
        rng = np.random.default_rng(k)
        for n in [*range(k, 4 * k + 1), 100]:
            for p in (1, 3):
                group(kernel, rng.normal(size=(n, p)), k)


@pytest.mark.slow
def test_records_are_untouched(kernel: Method) -> None:
    """The array belongs to the caller, who may have made it read-only."""
    X = np.random.default_rng(1).normal(size=(50, 3))
    before = X.copy()
    X.setflags(write=False)
    group(kernel, X, 4)
    np.testing.assert_array_equal(X, before)


def test_same_seed_same_labels(kernel: Method) -> None:
    """A release can be made again."""
    X = np.random.default_rng(2).normal(size=(60, 2))
    np.testing.assert_array_equal(group(kernel, X, 3, seed=7), group(kernel, X, 3, seed=7))


def test_row_order_does_not_matter_where_distances_have_no_ties(kernel: Method) -> None:
    """Else the order of a table would be in its release."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, 3))
    order = rng.permutation(len(X))
    assert partition(group(kernel, X, 4), np.arange(70)) == partition(group(kernel, X[order], 4), order)


def test_duplicates_and_constant_columns_work(kernel: Method) -> None:
    """Tables are full of them."""
    rng = np.random.default_rng(4)
    group(kernel, np.zeros((23, 2)), 3)
    group(kernel, np.column_stack([np.zeros(23), rng.normal(size=23)]), 3)
    group(kernel, rng.normal(size=(5, 2))[rng.integers(0, 5, 40)], 4)
    group(kernel, rng.integers(0, 2, (40, 3)).astype(float), 4)
