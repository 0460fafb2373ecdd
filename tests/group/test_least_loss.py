"""The lower bound of microaggregate: never above the best of all groupings, summed over strata, shown and in JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from brute_force import best_grouping, sse

from sqlmicro.group.local_search import Search
from sqlmicro.group.microaggregate import microaggregate
from sqlmicro.group.records import run_kernel
from sqlmicro.registry import Grouping, Loss, rounded_up, silent
from sqlmicro.work import Outcome

KINDS = ("normal", "ties", "duplicates", "outlier", "offset", "alike")


def few(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, int]:
    """Return a few records, at least 2k, and k."""
    k = int(rng.integers(2, 5))
    n, p = int(rng.integers(2 * k, 11)), int(rng.integers(2, 4))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3)
    if kind == "ties":
        X = rng.integers(0, 4, (n, p)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif kind == "outlier":
        X[0] *= 1000
    elif kind == "offset":
        X += 1e6
    elif kind == "alike":
        X[:] = 1.5
    return X, k


def naive(X: np.ndarray, k: int) -> float:
    distances = np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    return float(distances[:, 1:k].sum()) / (2 * k)


@pytest.mark.slow_but("normal", "duplicates", "offset")
@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_never_above_the_optimum(kind: str) -> None:
    rng = np.random.default_rng([1, KINDS.index(kind)])
    reached = 0.0
    for _ in range(40):
        X, k = few(rng, kind)
        optimum, _ = best_grouping(X, k)
        found = microaggregate(X, np.random.default_rng(0), silent, k=k, quality="fast")
        assert found.least is not None
        assert 0 <= found.least <= optimum
        reached = max(reached, found.least / optimum if optimum else 0.0)
    assert kind == "alike" or reached > 0.5, "a bound that is far too low is worth nothing"


def test_groups_of_pairs_are_bounded_by_their_loss() -> None:
    """Two records far from all others lose half of their squared distance: here the bound is exact."""
    X = np.array([[0.0, 0], [3, 4], [100, 0], [100, 2]])
    found = microaggregate(X, np.random.default_rng(0), silent, k=2)
    assert found.least == pytest.approx(25 / 2 + 4 / 2, rel=1e-8)


@pytest.mark.parametrize("p", [2, 12])
def test_exact_lists_give_the_sum_of_the_smallest_distances_and_others_no_more(p: int) -> None:
    X = np.random.default_rng(p).normal(size=(700, p))
    for k in (3, 10):
        exact = Search(X, k, np.random.default_rng(0), reach=16, leaves=10_000).least
        assert exact == pytest.approx(naive(X, k), rel=1e-8)
        short = Search(X, k, np.random.default_rng(0), reach=6, leaves=1).least
        assert 0 < short <= exact
    assert short < exact, "some lists were cut short"


def test_strata_add_up_and_an_unknown_bound_makes_none() -> None:
    X = np.array([[0.0], [2], [10], [14]])
    labels = np.array([0, 0, 1, 1])
    assert Loss.of(X, labels, [1.0, 4.0]) == Loss(10.0, 5.0)
    assert Loss.of_all([Loss(2.0, 1.0), Loss.of(X, labels, [1.0, 4.0])]) == Loss(12.0, 6.0)
    assert Loss.of(X, labels, [1.0, None]) is None
    assert Loss.of(X, labels, []) is None
    moved = Loss.of(X + 1e9, labels, [1.0])
    assert moved is not None
    assert moved.sse == pytest.approx(sse(X, labels))
    assert Loss(12.0, 6.0).above_optimum == 100.0


def test_percentages_are_rounded_up() -> None:
    assert [rounded_up(percent) for percent in (0.0, 0.5501, 7.0, 99.1, 123.4)] == ["0", "0.56", "7", "100", "130"]


@pytest.mark.slow
@pytest.mark.parametrize("by", [["--drop", "s"], ["--by", "s"]])
def test_a_release_says_how_far_it_is_above_the_optimum(tmp_path: Path, by: list[str]) -> None:
    rng = np.random.default_rng(3)
    rows = [f"{a:.3f},{b:.3f},{i % 2}" for i, (a, b) in enumerate(rng.normal(size=(60, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(['"net ""income""",y,s', *rows]) + "\n", encoding="utf-8")

    def told(*options: str) -> str:
        command = [sys.executable, "-m", "sqlmicro", "microaggregate", "--table", "t.csv", "--dry-run", "--k", "3"]
        keys = ["--columns", 'net "income"', "--columns", "y", "--seed", "1", *by, *options]
        return subprocess.run([*command, *keys], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    report: dict[str, Any] = json.loads(told("--json"))
    (step,) = report["steps"]
    assert 0 < step["above_optimum"] < 200
    assert f"at most {rounded_up(step['above_optimum'])} % above the optimum" in told("--details")


@pytest.mark.parametrize(("bounds", "least"), [((1.0, 4.0), 5.0), ((None, 4.0), None), ((1.0, None, 4.0), None)])
def test_parts_and_blocks_add_up_and_an_unknown_bound_of_one_makes_none(
    bounds: tuple[float | None, ...], least: float | None
) -> None:
    left = list(bounds)
    work: Any = SimpleNamespace(
        outcome=Outcome(), streams=lambda: lambda: None,
        note=lambda text: work.outcome.account.notes.append(text),
        group_strata=lambda strata, k, text, kernel, threads: kernel(np.arange(2), silent, 0),
    )  # fmt: skip
    method: Any = SimpleNamespace(
        name="m", module="sqlmicro.m", told=lambda part, settings: settings.get(part),
        group=lambda X, rng, tick, k: Grouping(np.zeros(2, np.int64), ("a note",), left.pop(0)),
    )  # fmt: skip
    for _ in bounds:
        run_kernel(work, method, {"k": 2}, np.array([[0.0], [2.0]]), np.zeros(2, np.int64))
    assert Loss.of_all(work.outcome.account.losses) == (None if least is None else Loss(2.0 * len(bounds), least))
    assert work.outcome.account.notes == ["a note"]
