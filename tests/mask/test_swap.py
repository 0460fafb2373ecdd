"""Swapping and shuffling: margins are exactly as they were, partners are near, no pattern is the same for all keys."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from world import refused

from sqlmicro import InputError, ParameterError

N = 20_000


def _moved(workbench: Any, db: str, n: int, seed: str = "s", **options: Any) -> np.ndarray:
    """Return whose value every record has got (n,): values are distinct, x = 10 times the rank."""
    release = workbench.release("swap", db, columns=["x"], rest="keep", seed=seed, **options)
    found = np.empty(n, dtype=int)
    found[release.columns["i"]] = np.array(release.columns["x"]) / 10
    return found


@pytest.fixture(scope="module")
def db(workbench: Any) -> str:
    """Return a table of N records whose i-th has the i-th smallest value, in random order."""
    order = np.random.default_rng(1).permutation(N)
    return str(workbench.make({"i": ("INTEGER", order.tolist()), "x": ("DOUBLE", (order * 10.0).tolist())}))


@pytest.mark.slow
def test_ranks_are_swapped_in_pairs_within_the_distance(workbench: Any, db: str) -> None:
    for percent in (1.0, 15.0, 50.0):
        found = _moved(workbench, db, N, percent=percent)
        assert (found[found] == np.arange(N)).all(), "pairs; so every value is used exactly once"
        distance = np.abs(found - np.arange(N))
        most = int(N * percent / 100)
        assert distance.max() <= most
        # All blocks are at least as long as if one more were needed; two places in one are a third of it apart.
        shortest = N / (N / most + 1)
        assert distance.max() > 0.9 * shortest
        assert 0.9 * shortest / 3 < distance.mean() < 1.1 * most / 3
        assert (distance == 0).sum() <= 2 * (100 / percent + 2), "at most two of a block stay"


@pytest.mark.slow
def test_no_pattern_is_the_same_for_all_keys(workbench: Any) -> None:
    """Over 30 keys every distance up to the greatest occurs, and no pair of neighbours is never parted by a block."""
    n, most = 60, 6
    db = workbench.make({"i": ("INTEGER", range(n)), "x": ("DOUBLE", [10.0 * i for i in range(n)])})
    moved = np.array([_moved(workbench, db, n, str(seed), percent=10.0) for seed in range(30)])
    assert len({tuple(row) for row in moved}) == 30
    distances = Counter(np.abs(moved - np.arange(n)).ravel().tolist())
    assert set(distances) == set(range(most + 1))
    crossed = [
        (np.minimum(moved, np.arange(n))[:, : i + 1].max() > i) or (moved[:, : i + 1] > i).any() for i in range(n - 1)
    ]
    assert all(crossed), "between any two neighbours some key swaps across"


def test_marginals_stay_in_every_stratum_also_with_ties_and_missing_values(workbench: Any) -> None:
    rng = np.random.default_rng(2)
    land = rng.choice(["a", "b", "c"], 3000, p=[0.7, 0.299, 0.001]).tolist()
    codes = [None if i % 6 == 0 else int(c) for i, c in enumerate(rng.integers(0, 5, 3000))]
    large = (2**62 + rng.permutation(3000)).tolist()
    given: dict[str, tuple[str, Any]] = {
        "i": ("INTEGER", range(3000)),
        "codes": ("TINYINT", codes),
        "large": ("BIGINT", large),
        "land": ("VARCHAR", land),
    }
    db = workbench.make(given)
    release = workbench.release(
        "swap", db, columns=["codes", "large"], by=["land"], percent=10.0, rest="keep", seed="s"
    )
    for name in ("codes", "large"):
        before = Counter(zip(land, given[name][1], strict=True))
        assert Counter(release.records(["land", name])) == before, "whole numbers beyond 2^53 too"
    assert [codes[i] is None for i in release.columns["i"]] == [v is None for v in release.columns["codes"]]
    assert sum(large[i] != v for i, v in zip(release.columns["i"], release.columns["large"], strict=True)) > 2900
    assert any("nothing was swapped in" in note for note in release.report["notes"])


def test_data_swapping_keeps_the_joint_distribution_with_the_strata(workbench: Any) -> None:
    rng = np.random.default_rng(3)
    given: dict[str, tuple[str, Any]] = {
        "i": ("INTEGER", range(N)),
        "town": ("VARCHAR", [f"t{c}" for c in rng.integers(0, 1000, N)]),
        "job": ("VARCHAR", [f"j{c}" for c in rng.integers(0, 1000, N)]),
        "sex": ("VARCHAR", rng.choice(["f", "m"], N).tolist()),
        "age": ("INTEGER", rng.integers(0, 5, N).tolist()),
    }
    db = workbench.make(given)
    options: dict[str, Any] = {"columns": ["town", "job"], "by": ["sex", "age"], "rest": "keep", "seed": "s"}
    release = workbench.release("swap", db, kind="data", rate=0.2, **options)
    names = ["town", "job", "sex", "age"]
    assert Counter(release.records(names)) == Counter(zip(*(given[name][1] for name in names), strict=True))
    changed = sum(given["town"][1][i] != town for i, town in release.records(["i", "town"])) / N
    # Of the 0.2 that take part, all but one in a thousand get another town.
    assert changed == pytest.approx(0.2 * 0.999, abs=5 * np.sqrt(0.16 / N))


def test_every_permutation_is_equally_likely(workbench: Any) -> None:
    """Four records over 480 keys: chi-square over the 24 permutations."""
    from scipy import stats

    found: Counter[tuple[int, ...]] = Counter()
    db = workbench.make(
        {"i": ("INTEGER", range(1600)), "g": ("INTEGER", [i // 4 for i in range(1600)]), "x": ("INTEGER", range(1600))}
    )
    release = workbench.release("shuffle", db, columns=["x"], by=["g"], rest="keep", seed="s")
    x = dict(release.records(["i", "x"]))
    for group in range(400):
        found[tuple(x[4 * group + seat] - 4 * group for seat in range(4))] += 1
    assert len(found) == 24
    assert stats.chisquare(list(found.values())).pvalue > 1e-4


def test_columns_shuffled_together_keep_their_combinations(workbench: Any) -> None:
    given: dict[str, tuple[str, Any]] = {
        "i": ("INTEGER", range(900)),
        "a": ("INTEGER", range(900)),
        "b": ("VARCHAR", [None if i % 3 == 0 else f"b{i}" for i in range(900)]),
    }
    db = workbench.make(given)
    options: dict[str, Any] = {"columns": ["a", "b"], "rest": "keep", "seed": "s"}
    together = workbench.release("shuffle", db, together=True, **options)
    assert Counter(together.records(["a", "b"])) == Counter(zip(given["a"][1], given["b"][1], strict=True))
    apart = workbench.release("shuffle", db, **options)
    assert sum(b == f"b{a}" for a, b in apart.records(["a", "b"])) < 10
    for release in (together, apart):
        assert sorted(release.columns["a"]) == list(range(900))
        assert sum(i == a for i, a in release.records(["i", "a"])) < 10, "a permutation leaves one in place, on average"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"percent": 0.0}, "percent: must be a number above 0"),
        ({"percent": 101.0}, "up to 100"),
        ({}, "--kind rank needs --percent"),
        ({"percent": 5.0, "rate": 0.5}, "--rate does not go with --kind rank"),
        ({"kind": "data"}, "--kind data needs --rate"),
        ({"kind": "data", "rate": 0.0}, "rate: must be a number above 0"),
    ],
)
def test_options_that_cannot_be_are_refused(workbench: Any, options: dict[str, Any], message: str) -> None:
    db = workbench.make({"x": ("INTEGER", range(50))})
    with pytest.raises(ParameterError, match=message):
        workbench.release("swap", db, columns=["x"], **options)


@pytest.mark.parametrize("percent", [5.0, 100.0])
def test_one_value_has_none_to_be_swapped_with(workbench: Any, percent: float) -> None:
    """With 100 % it was released as it is."""
    db = workbench.make({"x": ("INTEGER", [7, None])})
    with refused(r"needs another one to be swapped with.*one value of 'x'", db, kind=InputError):
        workbench.release("swap", db, columns=["x"], percent=percent)


def test_a_distance_of_less_than_one_rank_is_refused(workbench: Any) -> None:
    db = workbench.make({"x": ("INTEGER", range(50))})
    with refused("at least one rank", db, kind=InputError):
        workbench.release("swap", db, columns=["x"], percent=1.9)
