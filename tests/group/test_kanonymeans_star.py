"""kanonymeans-star against a naive reading of its text, against the optimum of small data, and when it is stopped."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from brute_force import best_grouping
from naive_kanonymeans import naive_star, partition
from test_kanonymeans import draw

from sqlmicro.group.kanonymeans import centroids, kanonymeans, loss
from sqlmicro.group.kanonymeans_star import kanonymeans_star
from sqlmicro.registry import silent

SEARCHES: list[dict[str, Any]] = [
    {"population": 5, "survivors": 2, "recombine": True, "mutated": None, "exchanged": 2, "generations": 3},
    {"population": 4, "survivors": 1, "recombine": False, "mutated": 2, "exchanged": 99, "generations": 2},
    {"population": 3, "survivors": 9, "recombine": True, "mutated": 0, "exchanged": 1, "generations": 1},
]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", ["normal", "skewed", "ties", "five records", "constant"])
def test_groups_are_those_of_the_naive_reference(kind: str, search: dict[str, Any]) -> None:
    for seed, (n, p, k) in enumerate([(21, 2, 3), (19, 1, 2)]):
        X = draw(kind, seed, n, p)
        found = kanonymeans_star(X, np.random.default_rng(seed), silent, k=k, **search).labels
        assert partition(found) == partition(naive_star(X, np.random.default_rng(seed), k, **search))


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
def test_loss_is_never_below_the_optimum_and_mostly_reaches_it(k: int) -> None:
    reached = 0
    for seed in range(6):
        X = draw("normal", seed, 10 + seed % 2, 2)
        best = best_grouping(X, k)[0]
        labels = kanonymeans_star(X, np.random.default_rng(seed), silent, k=k).labels
        found = loss(X, labels, centroids(X, labels))
        assert found >= best * (1 - 1e-12)
        reached += found <= best * (1 + 1e-12)
    assert reached >= 4


def test_search_is_never_worse_than_its_first_individual_and_shows_the_best_so_far() -> None:
    X = draw("skewed", 3, 150, 3)
    told: list[tuple[int, int, str]] = []
    found = kanonymeans_star(X, np.random.default_rng(3), lambda *now: told.append(now), k=3, generations=5)
    first = kanonymeans(X, np.random.default_rng(3), silent, k=3, merge="inner-loop", measure="centroid")
    losses = [float(best.removeprefix("IL ")) for _, _, best in told]
    assert losses == sorted(losses, reverse=True)
    total = loss(X, np.zeros(150, dtype=np.int64), X.mean(axis=0)[None])
    assert losses[0] == pytest.approx(100 * loss(X, first, centroids(X, first)) / total, rel=1e-3)
    assert losses[-1] == pytest.approx(100 * loss(X, found.labels, centroids(X, found.labels)) / total, rel=1e-3)
    assert losses[-1] < losses[0]
    assert {(done, total) for done, total, _ in told} <= {(done, 5) for done in range(6)}
    assert found.notes == ()


def test_time_limit_ends_the_search_with_a_note() -> None:
    X = draw("normal", 4, 60, 2)
    found = kanonymeans_star(X, np.random.default_rng(4), silent, k=3, time_limit=0.0)
    first = kanonymeans(X, np.random.default_rng(4), silent, k=3, merge="inner-loop", measure="centroid")
    assert partition(found.labels) == partition(first), "one individual is always made"
    assert found.notes == ("kanonymeans-star reached its time limit: the best grouping found by then is used",)


@pytest.mark.slow
def test_a_signal_at_any_moment_ends_the_run() -> None:
    """Where compiled code makes Python objects, a signal could be lost in a SystemError or crash the process."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    X = draw("normal", 7, 150, 5)
    kanonymeans_star(X, np.random.default_rng(7), silent, k=3, generations=1)
    rng = np.random.default_rng(7)
    before = signal.signal(signal.SIGVTALRM, interrupt)
    interrupted = 0
    try:
        for seed in range(500):
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.004 + 0.01 * rng.random())
                kanonymeans_star(X, np.random.default_rng(seed), silent, k=3, generations=1000)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert interrupted == 500
