"""MDAV against a naive implementation in exact arithmetic, and against published losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sqlmicro.group.mdav import mdav
from sqlmicro.standardise import standardise

PUBLISHED = {
    "census": (5.6922, 7.4947, 9.0884, 14.1559),
    "tarragona": (16.9326, 19.5460, 22.4619, 33.1929),
    "eia": (0.4829, 0.6713, 1.6667, 3.8397),
}
SIZES = (3, 4, 5, 10)


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
def test_labels_equal_the_naive_ones_without_ties(k: int) -> None:
    rng = np.random.default_rng(k)
    for n in [*range(k, 4 * k + 2), 41, 60]:
        _assert_same(rng.integers(-(10**6), 10**6, (n, int(rng.integers(1, 6)))), k)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_labels_equal_the_naive_ones_with_ties(k: int) -> None:
    rng = np.random.default_rng(10 + k)
    for n in [*range(k, 4 * k + 2), 35, 60]:
        _assert_same(rng.integers(0, 9, (n, 1)), k)
        _assert_same(np.arange(n)[:, None], k)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_labels_equal_the_naive_ones_with_duplicates_and_constant_columns(k: int) -> None:
    rng = np.random.default_rng(20 + k)
    for n in [*range(k, 4 * k + 2), 35, 60]:
        few = rng.integers(-1000, 1000, (max(1, n // 4), 3))
        X = few[rng.integers(0, len(few), n)]
        X[:, 1] = 7
        _assert_same(X, k)
        _assert_same(np.zeros((n, 2), dtype=int), k)


@pytest.mark.parametrize("k", [2, 3, 4, 10])
def test_group_sizes_are_k_but_for_the_last(k: int) -> None:
    rng = np.random.default_rng(30)
    for n in range(k, 5 * k):
        labels = mdav(rng.normal(size=(n, 2)), rng, lambda done, total: None, k=k)
        sizes = np.bincount(labels)
        assert len(sizes) == n // k
        assert (sizes[:-1] == k).all()
        assert k <= sizes[-1] < 2 * k


def test_progress_counts_up_to_the_records_that_get_a_group_of_their_own() -> None:
    seen: list[tuple[int, int]] = []
    mdav(np.random.default_rng(1).normal(size=(20, 2)), np.random.default_rng(1), lambda *now: seen.append(now), k=3)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert all(0 < done <= total == 20 for done, total in seen)


def read_numbers(path: Any) -> np.ndarray:
    return np.genfromtxt(path, delimiter=",", skip_header=1)


def information_loss(Z: np.ndarray, labels: np.ndarray) -> float:
    """Return 100 SSE/SST of standardised columns, group by group."""
    within = sum(((Z[labels == g] - Z[labels == g].mean(axis=0)) ** 2).sum() for g in range(labels.max() + 1))
    return 100 * within / ((Z - Z.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("data", PUBLISHED)
def test_losses_are_the_published_ones(data_folder: Any, data: str) -> None:
    Z = standardise(read_numbers(data_folder / f"{data}.csv"))
    found = []
    for k in SIZES:
        labels = mdav(Z, np.random.default_rng(0), lambda done, total: None, k=k)
        assert np.bincount(labels).min() >= k
        found.append(round(information_loss(Z, labels), 4))
    assert tuple(found) == PUBLISHED[data]


def test_the_command_reports_the_published_loss(data_folder: Any, tmp_path: Any) -> None:
    import sqlmicro

    names = (data_folder / "census.csv").read_text().splitlines()[0].replace('"', "").split(",")
    report = sqlmicro.mdav(
        str(data_folder / "census.csv"), columns=names, k=3, to=str(tmp_path / "released.parquet"), seed="1"
    )
    assert report["IL"] == pytest.approx(5.6922, abs=5e-5)
    assert (report["rows"], report["groups"], report["k"]) == (1080, 360, 3)
