"""kanonymeans against a naive reading of its text, steps worked by hand, and the optimum of small data."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from brute_force import best_grouping
from looping import each
from naive_kanonymeans import naive_first_centres, naive_group_around, naive_steps, partition

from sqlmicro.group import kanonymeans as module
from sqlmicro.group.kanonymeans import Rules, centroids, first_centres, group_around, kanonymeans, loss
from sqlmicro.group.mdav_plus import mdav_plus
from sqlmicro.registry import silent

MERGES = ("inner-loop", "outer-loop", "single-pass")
MEASURES = ("centroid", "sse")


def draw(kind: str, seed: int, n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, p)),
        "far from 0": lambda: rng.normal(size=(n, p)) + 1e6,
        "skewed": lambda: np.exp(2 * rng.normal(size=(n, p))),
        # Sums of whole numbers are exact: distances that are equal are computed as equal.
        "ties": lambda: rng.integers(0, 6, (n, p)).astype(float),
        "far ties": lambda: rng.integers(0, 3, (n, p)).astype(float) + 1e6,
        "five records": lambda: rng.integers(0, 9, (5, p)).astype(float)[rng.integers(0, 5, n)],
        "constant": lambda: np.full((n, p), 3.0),
    }[kind]()
    return np.asarray(X)


KINDS = ("normal", "far from 0", "skewed", "ties", "far ties", "five records", "constant")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@each("init", ["forgy", "kmeans++"])
@each("measure", MEASURES)
@each("merge", MERGES)
def test_groups_are_those_of_the_naive_reference(kind: str, init: Any, merge: Any, measure: Any) -> None:
    for seed, (n, p, k, centres) in enumerate([(22, 1, 2, None), (25, 2, 3, None), (27, 4, 5, 2), (21, 13, 4, 15)]):
        X = draw(kind, seed, n, p)
        drawn = first_centres(X, k, centres, init, np.random.default_rng(seed))
        naive = naive_first_centres(X, k, centres, init, np.random.default_rng(seed))
        np.testing.assert_array_equal(drawn, naive)
        for inside in (False, True):
            settings: dict[str, Any] = {"init": init, "merge": merge, "measure": measure, "inside": inside}
            found = kanonymeans(X, np.random.default_rng(seed), silent, k=k, centres=centres, **settings)
            expected = naive_group_around(X, naive, k, merge, measure, inside)
            assert partition(found) == partition(expected), (seed, inside)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@each("merge", MERGES)
def test_groups_of_larger_data_are_those_of_the_naive_reference(kind: str, merge: Any) -> None:
    for seed, (n, p, k) in enumerate([(200, 2, 3), (150, 8, 2), (260, 1, 5)]):
        X = draw(kind, 100 + seed, n, p)
        for measure in MEASURES:
            found = kanonymeans(X, np.random.default_rng(seed), silent, k=k, merge=merge, measure=measure)
            naive = naive_first_centres(X, k, None, "kmeans++", np.random.default_rng(seed))
            assert partition(found) == partition(naive_group_around(X, naive, k, merge, measure, True)), (seed, measure)


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def merged(X: np.ndarray, labels: list[int], k: int, merge: Any, measure: Any = "centroid") -> list[list[float]]:
    found = module._merge(X, np.array(labels), Rules(k, merge, measure, False, 100))
    return sorted(sorted(X[found == g, 0].tolist()) for g in set(found.tolist()))


def test_joining_by_hand() -> None:
    X = column(0.0, 1.0, 1.9, 3.2)
    # In turn: 0 takes 1 (nearer than 1.9); then 1.9 takes 3.2 (1.69) rather than the pair at 0.5 (1.96).
    assert merged(X, [0, 1, 2, 3], 2, "inner-loop") == [[0.0, 1.0], [1.9, 3.2]]
    # The nearest pair first: 1 with 1.9 (0.81), then 0 with that pair at 1.45 (2.10), and 3.2 is left over.
    assert merged(X, [0, 1, 2, 3], 2, "outer-loop") == [[0.0, 1.0, 1.9, 3.2]]
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, 6.0]])
    # 0 and 1 are joined first (4, against 9 between 2 and 3); their centroid is then at 9 from record 2, as 3 is.
    found = module._merge(X, np.arange(4), Rules(2, "outer-loop", "centroid", False, 100))
    assert found.tolist() == [0, 0, 0, 0]
    X, labels = column(0.0, 1.0, 1.9, 4.0, 4.0, 4.0, 20.0, 20.0, 20.0), [0, 1, 2, 3, 3, 3, 4, 4, 4]
    # 0 takes 1, then 1.9, and has three.
    assert merged(X, labels, 3, "inner-loop") == [[0.0, 1.0, 1.9], [4.0, 4.0, 4.0], [20.0, 20.0, 20.0]]
    # 0 with 1 would not have three: it takes the three at 4, and 1 and 1.9 join the group thus made.
    assert merged(X, labels, 3, "single-pass") == [[0.0, 1.0, 1.9, 4.0, 4.0, 4.0], [20.0, 20.0, 20.0]]
    X = column(0.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.2)
    labels = [0, 1, 1, 1, 1, 1, 2]
    # By centroids the five are nearer, 1 against 1.44; the SSE grows by 5/6 · 1 with them, by 1/2 · 1.44 with -1.2.
    assert merged(X, labels, 2, "inner-loop", "centroid") == [[-1.2, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    assert merged(X, labels, 2, "inner-loop", "sse") == [[-1.2, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]]


def test_split_by_hand() -> None:
    X = column(0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 10.0)
    # Centroid 30/7: 10 is farthest and takes 9 and 5; then 0 takes 1 and 2; 3 is nearer to their 1 than to 8.
    labels = module._split(X, np.zeros(7, dtype=np.int64), 3)
    assert partition(labels) == {frozenset({4, 5, 6}), frozenset({0, 1, 2, 3})}
    assert (module._split(X[:5], np.zeros(5, dtype=np.int64), 3) == 0).all(), "groups below 2k stay whole"


@each("kind", ["normal", "ties", "five records"])
def test_split_of_all_records_is_mdav_plus(kind: str) -> None:
    for seed, (n, p, k) in enumerate([(60, 2, 3), (83, 5, 7), (41, 1, 2)]):
        X = draw(kind, seed, n, p)
        expected = mdav_plus(X, np.random.default_rng(0), silent, k=k)
        assert partition(module._split(X, np.zeros(n, dtype=np.int64), k)) == partition(expected)


LIVELOCK = column(1.0, 1.0, 1.0, 2.0, 2.0, 8.0)
FIRST = [column(2.0)[0], column(2.0)[0], column(1.0)[0]]


def test_merge_and_split_inside_the_iterations_may_go_in_a_circle_and_end() -> None:
    """Both 2 leave 8 for the group at 1; 8 alone is joined to all and cut from them; then it gets them back."""
    together = frozenset({frozenset({0, 1, 2}), frozenset({3, 4, 5})})
    cut = frozenset({frozenset({3, 5}), frozenset({0, 1}), frozenset({2, 4})})
    endless = naive_steps(LIVELOCK, FIRST, 2, "inner-loop", "centroid")
    assert [partition(labels) for labels in islice(endless, 6)] == [together, cut] * 3
    told: list[int] = []
    rules = Rules(2, "inner-loop", "centroid", True, 1000)
    labels = group_around(LIVELOCK, np.array(FIRST), rules, lambda done, total, best="": told.append(done))
    assert told == [1, 2, 3], "the third iteration brings back the first grouping"
    # The pair 2, 8 and the others have 18.5; 2, 2, 8 have 24.
    assert partition(labels) == cut
    assert loss(LIVELOCK, labels, centroids(LIVELOCK, labels)) == 18.5


@each("k", [2, 3, 4])
def test_loss_is_never_below_the_optimum_and_sometimes_reaches_it(k: int) -> None:
    reached = 0
    for seed in range(6):
        X = draw("normal", seed, 9 + seed % 2, 2)
        best = best_grouping(X, k)[0]
        for merge in MERGES:
            labels = kanonymeans(X, np.random.default_rng(seed), silent, k=k, merge=merge)  # type: ignore[arg-type]
            found = loss(X, labels, centroids(X, labels))
            assert found >= best * (1 - 1e-12)
            reached += found <= best * (1 + 1e-12)
    assert reached >= 3


def test_centres_that_are_more_than_the_records_or_one_alone() -> None:
    X = draw("normal", 0, 30, 3)
    for centres in (1, 30, 500):
        labels = kanonymeans(X, np.random.default_rng(0), silent, k=4, centres=centres)
        assert np.bincount(labels).min() >= 4
        assert np.bincount(labels).max() < 8


def test_slices_of_any_size_give_the_same_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    X = draw("ties", 5, 300, 3)
    for merge in MERGES:
        options: dict[str, Any] = {"k": 3, "merge": merge, "inside": False, "centres": 60}
        whole = kanonymeans(X, np.random.default_rng(1), silent, **options)
        monkeypatch.setattr(module, "_SLICE", 50)
        np.testing.assert_array_equal(kanonymeans(X, np.random.default_rng(1), silent, **options), whole)
        monkeypatch.undo()


def test_every_group_lies_in_the_box_of_its_leaf() -> None:
    from sqlmicro.group import _kanonymeans_kernels as kernels

    X = draw("normal", 6, 600, 2)
    groups = kernels.gather(X, np.arange(600) // 3, 200)
    leaves = len(groups.tree.first) // 2 + 1
    assert leaves > 8
    assert sorted(set(groups.leaf.tolist())) == list(range(leaves - 1, 2 * leaves - 1))
    assert (groups.tree.box[groups.leaf, 0] <= groups.means).all()
    assert (groups.tree.box[groups.leaf, 1] >= groups.means).all()
