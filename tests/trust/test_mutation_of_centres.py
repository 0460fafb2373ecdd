"""kanonymeans-star mutates as its source says: in m_c children m_s centres each give way to random records."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from sqlmicro.group import kanonymeans_star as module
from sqlmicro.group.kanonymeans import centroids, group_around
from sqlmicro.group.kanonymeans_star import kanonymeans_star
from sqlmicro.registry import silent


def test_so_many_children_have_so_many_centres_exchanged_for_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set of first centres is watched: a child without recombination is its parent but for what was exchanged."""
    X = np.random.default_rng(1).normal(size=(90, 3))
    records = {tuple(row) for row in X.tolist()}
    first: list[np.ndarray] = []
    made: list[np.ndarray] = []

    def watched(data: np.ndarray, centres: np.ndarray, *rest: Any) -> np.ndarray:
        labels = group_around(data, centres, *rest)
        first.append(centres.copy())
        made.append(centroids(data, labels))
        return labels

    monkeypatch.setattr(module, "group_around", watched)
    for mutated, exchanged in ((2, 4), (0, 1), (None, 1), (None, 1000)):
        first.clear()
        made.clear()
        given: dict[str, Any] = {"population": 5, "survivors": 1, "recombine": False, "generations": 1}
        kanonymeans_star(X, np.random.default_rng(0), silent, k=3, mutated=mutated, exchanged=exchanged, **given)
        parents = made[:5]
        for number, child in enumerate(first[5:9]):
            lost = []
            for parent in parents:
                left = Counter(map(tuple, parent.tolist())) - Counter(map(tuple, child.tolist()))
                lost.append(left.total())
            nearest = parents[int(np.argmin(lost))]
            expected = min(exchanged, len(nearest)) if mutated is None or number < mutated else 0
            new = Counter(map(tuple, child.tolist())) - Counter(map(tuple, nearest.tolist()))
            assert (len(child), min(lost), new.total()) == (len(nearest), expected, expected), (mutated, exchanged)
            assert set(new) <= records


def test_order_of_the_rows_does_not_matter() -> None:
    X = np.random.default_rng(2).normal(size=(80, 2))
    order = np.random.default_rng(3).permutation(80)
    given: dict[str, Any] = {"population": 4, "generations": 2, "exchanged": 5}
    one = kanonymeans_star(X, np.random.default_rng(0), silent, k=4, **given).labels
    other = kanonymeans_star(X[order], np.random.default_rng(0), silent, k=4, **given).labels
    groups = {frozenset(np.flatnonzero(one == g).tolist()) for g in set(one.tolist())}
    assert {frozenset(order[other == g].tolist()) for g in set(other.tolist())} == groups
