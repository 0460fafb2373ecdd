"""MDAV against naive implementations in exact and in double precision, and against published results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive
import numpy as np
import pytest

from sqlmicro.group import _halving_kernels as halving
from sqlmicro.group import _mdav_kernels as kernels
from sqlmicro.group import _shell_kernels as shells
from sqlmicro.group import _tree_kernels as trees
from sqlmicro.group import small_sets
from sqlmicro.group.mdav import mdav, mdav_labels
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import silent

PUBLISHED = {
    "census": (5.6922, 7.4947, 9.0884, 14.1559),
    "tarragona": (16.9326, 19.5460, 22.4619, 33.1929),
    "eia": (0.4829, 0.6713, 1.6667, 3.8397),
}
SIZES = (3, 4, 5, 10)


@pytest.fixture(autouse=True)
def by_the_trees() -> Iterator[None]:
    """Let small sets too be grouped by what large sets are grouped by."""
    with small_sets.compiled_from(0):
        yield


def naive_mdav(rows: list[list[int]], k: int) -> list[int]:
    """Group whole-number rows by the text of the method; distances are exact, of equal ones the lowest row counts."""
    labels = [-1] * len(rows)
    rest = list(range(len(rows)))
    groups = 0

    def to_row(i: int, j: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True))

    def to_centroid(i: int) -> int:
        # The distance times len(rest), squared: a whole number.
        sums = [sum(column) for column in zip(*(rows[j] for j in rest), strict=True)]
        return sum((len(rest) * a - s) ** 2 for a, s in zip(rows[i], sums, strict=True))

    def group_around(center: int) -> None:
        nonlocal groups
        for i in sorted(rest, key=lambda i: (to_row(i, center), i))[:k]:
            labels[i] = groups
            rest.remove(i)
        groups += 1

    while len(rest) >= 3 * k:
        far = max(rest, key=lambda i: (to_centroid(i), -i))
        group_around(far)
        group_around(max(rest, key=lambda i: (to_row(i, far), -i)))
    if len(rest) >= 2 * k:
        group_around(max(rest, key=lambda i: (to_centroid(i), -i)))
    for i in rest:
        labels[i] = groups
    return labels


def _assert_same(X: np.ndarray, k: int) -> None:
    found = mdav(X.astype(float), np.random.default_rng(0), lambda done, total: None, k=k)
    assert found.tolist() == naive_mdav(X.tolist(), k), f"k = {k}, X = {X.tolist()}"


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7])
def test_labels_equal_the_naive_ones(k: int) -> None:
    """Without ties, with them, and with duplicates and columns that are constant."""
    rng = np.random.default_rng(k)
    for n in [*range(k, 4 * k + 2), 35, 60]:
        _assert_same(rng.integers(-(10**6), 10**6, (n, int(rng.integers(1, 6)))), k)
        _assert_same(rng.integers(0, 9, (n, 1)), k)
        _assert_same(np.arange(n)[:, None], k)
        few = rng.integers(-1000, 1000, (max(1, n // 4), 3))
        X = few[rng.integers(0, len(few), n)]
        X[:, 1] = 7
        _assert_same(X, k)
        _assert_same(np.zeros((n, 2), dtype=int), k)


@pytest.mark.parametrize("trials, largest", [(12, 700), pytest.param(3, 4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", naive.KINDS)
def test_labels_equal_the_plain_ones(kind: str, trials: int, largest: int) -> None:
    for X, k in naive.random_records(kind, trials, largest, seed=int(largest > 700)):
        np.testing.assert_array_equal(mdav_labels(X, k), naive.mdav(X, k), err_msg=f"{kind}, {X.shape}, k = {k}")


@pytest.mark.parametrize("kind", naive.KINDS)
def test_small_sets_have_the_same_labels_in_numpy_and_in_a_loop(kind: str) -> None:
    for X, k in naive.random_records(kind, trials=12, largest=700, seed=2):
        expected, before = mdav_labels(X, k), X.copy()
        for name, labels in (("numpy", small_sets.small_mdav(X, k, silent)), ("loop", small_sets.looped_mdav(X, k))):
            assert labels.tobytes() == expected.tobytes(), f"{name}, {kind}, {X.shape}, k = {k}"
        np.testing.assert_array_equal(X, before)


def test_the_first_small_sets_are_grouped_in_numpy_until_that_would_take_longer_than_compiling() -> None:
    X = np.random.default_rng(3).normal(size=(1000, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_sets, "_spent", 0.0)
        patch.setattr(small_sets, "looped_mdav", None)  # it would fail
        seen: list[tuple[int, int]] = []
        first = mdav_labels(X, 3, lambda done, total, best="": seen.append((done, total)))
        assert seen[-1] == (1000, 1000)
        assert 0 < small_sets._spent < 0.1
        patch.setattr(small_sets, "_SECONDS", small_sets._spent)
        patch.setattr(small_sets, "small_mdav", None)
        np.testing.assert_array_equal(mdav_labels(X, 3), first)


def test_tree_and_shell_find_the_farthest_record_also_when_most_are_gone() -> None:
    X = np.round(np.random.default_rng(5).normal(size=(1500, 3)), 1)
    rest = np.arange(len(X))
    tree, shell = trees.plant(X, rest), shells.sort(X, rest)
    rows, distances = np.empty(3, dtype=np.int64), np.empty(3)
    gone = np.random.default_rng(6).permutation(len(X))[:1400]
    for number, row in enumerate(gone):
        shells.remove_all(tree, shell, np.array([row]))
        if number % 50 == 0:
            rest = np.setdiff1d(np.arange(len(X)), gone[: number + 1])
            for point in (X[row], X.mean(axis=0), np.zeros(3)):
                expected = naive.farthest(X, rest, point)
                assert trees.farthest(tree, point)[0] == expected
                assert shells.farthest_in_shell(tree, shell, point)[0] == expected
                assert trees.nearest(tree, point, 3, rows, distances)[0] == 3
                assert rows.tolist() == naive.nearest(X, rest, point, 3).tolist()


def test_labels_do_not_depend_on_where_the_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.round(np.random.default_rng(5).normal(size=(500, 3)), 1)
    expected = mdav_labels(X, 3)
    monkeypatch.setattr(kernels, "WORK_PER_CALL", 1)
    monkeypatch.setattr(shells, "SORT_AGAIN_AFTER", 0)
    monkeypatch.setattr(trees, "POINTS_PER_CALL", 1)
    monkeypatch.setattr(halving, "POINTS_PER_CALL", 1)
    np.testing.assert_array_equal(mdav_labels(X, 3), expected)


def test_ctrl_c_is_noticed_between_calls_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(done: int, total: int, best: str = "") -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "WORK_PER_CALL", 1)
    with pytest.raises(KeyboardInterrupt):
        mdav_labels(np.random.default_rng(0).normal(size=(100, 2)), 3, interrupt)


def test_records_may_be_of_any_layout_and_are_not_changed() -> None:
    X = np.random.default_rng(7).normal(size=(3, 90)).T
    X.setflags(write=False)
    np.testing.assert_array_equal(mdav_labels(X, 4), naive.mdav(X, 4))
    whole = (10 * X).astype(int)
    np.testing.assert_array_equal(mdav_labels(whole, 4), naive.mdav(whole.astype(float), 4))


@pytest.mark.parametrize("n", [300, pytest.param(100_000, marks=pytest.mark.slow)])
def test_records_that_are_all_alike_are_grouped_in_their_order_and_soon(n: int) -> None:
    """In the larger case, looking at all records of equal distance would take many minutes."""
    np.testing.assert_array_equal(mdav_labels(np.full((n, 4), 2.5), 4), np.arange(n) // 4)


def test_progress_counts_up_to_the_records_that_get_a_group_of_their_own() -> None:
    seen: list[tuple[int, int]] = []
    mdav(np.random.default_rng(1).normal(size=(20, 2)), np.random.default_rng(1), lambda *now: seen.append(now), k=3)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert all(0 < done <= total == 20 for done, total in seen)


@pytest.mark.parametrize("data", PUBLISHED)
def test_losses_are_the_published_ones(data_folder: Any, data: str) -> None:
    Z = standardise(naive.read_numbers(data_folder / f"{data}.csv"))
    found = []
    for k in SIZES:
        labels = mdav(Z, np.random.default_rng(0), lambda done, total: None, k=k)
        assert np.bincount(labels).min() >= k
        found.append(round(naive.information_loss(Z, labels), 4))
    assert tuple(found) == PUBLISHED[data]


@pytest.mark.parametrize(("data", "results"), [("census", "census"), ("tarragona", "tarragona"), ("eia", "eia11")])
def test_released_values_are_those_of_sdcmicro_where_ties_go_to_the_highest_record(
    data_folder: Any, reference_folder: Any, data: str, results: str
) -> None:
    """sdcMicro's rule for ties is ours with the rows in reverse; its groups with equal means bear the same number."""
    Z = standardise(naive.read_numbers(data_folder / f"{data}.csv"))
    groups = naive.read_numbers(reference_folder / f"mdav_groups_{results}.csv").astype(int)
    for column, k in enumerate((3, 5, 10)):
        found = mdav_labels(Z[::-1], k)[::-1]
        np.testing.assert_allclose(
            naive.group_means(Z, found), naive.group_means(Z, groups[:, column]), rtol=0, atol=1e-9
        )


def test_the_command_reports_the_published_loss(data_folder: Any, tmp_path: Any) -> None:
    import sqlmicro

    names = (data_folder / "census.csv").read_text().splitlines()[0].replace('"', "").split(",")
    report = sqlmicro.mdav(
        str(data_folder / "census.csv"), columns=names, k=3, to=str(tmp_path / "released.parquet"), seed="1"
    )
    assert report["IL"] == pytest.approx(5.6922, abs=5e-5)
    assert (report["rows"], report["groups"], report["k"]) == (1080, 360, 3)
