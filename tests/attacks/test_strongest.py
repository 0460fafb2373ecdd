"""The strongest attacker: against every assignment written out, against a plain one, and held to 1/k where k holds."""

from __future__ import annotations

import random
from itertools import permutations
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from .conftest import Attack

pytest.importorskip("numba")

from sqlmicro.attacks import _assignment_kernels as assignment
from sqlmicro.attacks import _linkage_kernels as kernels
from sqlmicro.attacks.linkage import Trial, judges


def odds(likely: np.ndarray, own: np.ndarray, times: np.ndarray, rounds: int = 60) -> np.ndarray:
    """Return the odds of one released record each, every record a candidate of every other."""
    n, m = likely.shape
    near, message = np.tile(np.arange(m), (n, 1)), np.ones((n, m))
    for turn in range(rounds):
        assignment.passed(near, likely, own, times, 1e-12, 1e-12, turn > 0, message, np.empty(m))
    found: np.ndarray = likely * message
    return found


def test_odds_lead_to_what_all_assignments_together_say() -> None:
    rng, agreed, n = np.random.default_rng(1), 0, 6
    for _ in range(40):
        x = rng.normal(size=(n, 2))
        cost = ((x[:, None] - (x + 0.6 * rng.normal(size=(n, 2)))[None]) ** 2).sum(axis=2) / 0.36
        true, ways = np.zeros((n, n)), 0.0
        for order in permutations(range(n)):
            weight = exp(-0.5 * sum(cost[i, j] for i, j in enumerate(order)))
            true[np.arange(n), order] += weight
            ways += weight
        found = odds(np.exp(-0.5 * cost), np.ones(n), np.ones(n))
        found /= found.sum(axis=1, keepdims=True)
        assert np.abs(found - true / ways).mean() < 0.12
        agreed += int((found.argmax(axis=1) == true.argmax(axis=1)).sum())
    assert agreed >= 0.99 * 40 * n


def test_equal_records_have_the_odds_they_would_have_one_by_one() -> None:
    rng = np.random.default_rng(2)
    likely = rng.random((5, 4)) ** 3
    own, times = np.array([2.0, 1.0, 1.0, 3.0, 1.0]), np.array([1.0, 4.0, 1.0, 2.0])
    together = odds(likely, own, times, rounds=20)
    rows, columns = np.repeat(np.arange(5), own.astype(int)), np.repeat(np.arange(4), times.astype(int))
    alone = odds(np.ascontiguousarray(likely[rows][:, columns]), np.ones(8), np.ones(8), rounds=20)
    np.testing.assert_allclose(alone, together[rows][:, columns], rtol=1e-9)


@pytest.mark.parametrize("size", [1, 7, 300])
def test_candidates_are_the_nearest(size: int) -> None:
    rng = np.random.default_rng(size)
    kind, weight = np.array([kernels.NUMERIC, kernels.NOMINAL, kernels.LOW, kernels.HIGH]), np.array([1.0, 2.0, 0.5, 3])
    X, Y = np.floor(rng.random((40, 4)) * 9), np.floor(rng.random((500, 4)) * 9)
    values, times, _ = kernels.distinct(Y)
    near, gap = np.empty((40, size), np.int64), np.empty((40, size))
    forest = kernels.grow(values, times, weight, kind)
    assert assignment.neighbours(forest, X, 0, near, gap) == 40
    far = np.stack([kernels.distances(np.tile(x, (len(values), 1)), values, weight, kind) for x in X])
    np.testing.assert_array_equal(np.sort(gap, axis=1), np.sort(far, axis=1)[:, :size])
    np.testing.assert_array_equal(np.take_along_axis(far, near, axis=1), gap)


def test_each_half_is_judged_by_the_strongest_on_the_other() -> None:
    here, there = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.9])
    trials = [Trial("plain", None, 0.5 * np.ones(4)), Trial("here", None, here), Trial("there", None, there)]
    side = np.array([0, 0, 1, 1])
    assert [one.name for one in judges(trials, side)] == ["there", "here"]
    # The plainest of equals; and where a half has nobody.
    assert [one.name for one in judges([trials[0], Trial("same", None, 0.5 * np.ones(4))], side)] == ["plain", "plain"]
    assert [one.name for one in judges(trials, np.zeros(4, int))] == ["plain", "plain"]


def noisy(n: int, seed: int, amount: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Return correlated numbers, and the same with noise that correlates as they do."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(4, 4)) + 2.0
    return (x := rng.normal(size=(n, 4)) @ mixed), x + amount * rng.normal(size=(n, 4)) @ mixed


def tables(X: np.ndarray, Y: np.ndarray, order: np.ndarray) -> dict[str, dict[str, list[Any]]]:
    original: dict[str, list[Any]] = {"id": list(range(len(X)))}
    release: dict[str, list[Any]] = {"id": order.tolist()}
    original |= {f"x{j}": column.tolist() for j, column in enumerate(X.T)}
    return {"original": original, "release": release | {f"x{j}": c.tolist() for j, c in enumerate(Y[order].T)}}


@pytest.mark.slow
def test_it_is_as_strong_as_an_attacker_who_knows_the_noise(attack: Attack) -> None:
    scipy = pytest.importorskip("scipy.optimize")
    X, Y = noisy(400, 3)
    found = attack(tables(X, Y, np.random.default_rng(4).permutation(400)), match="id")["attacks"]["linkage"]
    whiten = np.linalg.inv(np.linalg.cholesky(np.cov((Y - X).T)))
    cost = (((X @ whiten.T)[:, None] - (Y @ whiten.T)[None]) ** 2).sum(axis=2)
    plain = float((scipy.linear_sum_assignment(cost)[1] == np.arange(400)).mean())
    assert plain > 1.5 * found["rates"]["nearest"]
    assert found["rate"] >= 0.95 * plain
    assert found["n"] == 400
    assert any(name.startswith("Mahalanobis") for name in found["strongest"])


@pytest.mark.slow
def test_no_order_of_a_table_changes_what_is_found(attack: Attack) -> None:
    """Half of the records have a double, and both tables are in the same order, the reverse, or none."""
    X, Y = noisy(60, 5)
    X, Y = np.concatenate([X, X[:30]]).round(), np.concatenate([Y, Y[:30]]).round()
    rates = []
    for order in (np.arange(90), np.arange(90)[::-1], np.random.default_rng(6).permutation(90)):
        rates.append(attack(tables(X, Y, order), match="id", attack="linkage")["attacks"]["linkage"]["rates"])
    assert rates[1] == pytest.approx(rates[0], abs=1e-9)
    assert rates[2] == pytest.approx(rates[0], abs=1e-9)


@pytest.mark.slow
def test_what_tells_nothing_is_not_linked(attack: Attack) -> None:
    rng = np.random.default_rng(7)
    made = tables(rng.normal(size=(300, 3)), rng.normal(size=(300, 3)), rng.permutation(300))
    found = attack(made, match="id", attack="linkage")["attacks"]["linkage"]
    assert found["rate"] <= found["chance"] + 3 * sqrt(found["chance"] / 300)
    one = {"original": {"id": [1], "x": [1.0]}, "release": {"id": [1], "x": [2.0]}}
    assert attack(one, match="id", attack="linkage")["attacks"]["linkage"]["rate"] == 1.0


def test_nominal_values_that_changed_at_random_are_weighed(attack: Attack) -> None:
    """Rare values that agree tell more than frequent ones (Fellegi & Sunter)."""
    rng = random.Random(8)
    values = {name: [rng.choice("aaaaaaabbbccdefghijk") for _ in range(400)] for name in ("u", "v", "w", "x", "y")}
    original = {"id": list(range(400)), **values}
    release = {"id": original["id"]} | {
        name: [rng.choice(column) if rng.random() < 0.2 else value for value in column]
        for name, column in values.items()
    }
    found = attack({"original": original, "release": release}, match="id", attack="linkage")["attacks"]["linkage"]
    assert found["rate"] > 1.05 * found["rates"]["nearest"]


KINDS = ("ties", "doubles", "codes", "missing")


def people(kind: str, n: int, seed: int) -> dict[str, tuple[str, list[Any]]]:
    """Return records with many ties, each twice, with codes, or with missing values."""
    rng = random.Random(seed)
    columns: dict[str, tuple[str, list[Any]]] = {"id": ("INTEGER", list(range(n)))}
    a = [rng.randrange(12) for _ in range(n)]
    b = [round(value + rng.gauss(0, 2)) for value in a]
    if kind == "doubles":
        a, b = [rng.gauss(0, 1) for _ in range(n // 2)] * 2, [rng.gauss(0, 1) for _ in range(n // 2)] * 2
    missing = [None if kind == "missing" and rng.random() < 0.1 else value for value in b]
    columns |= {
        "a": ("DOUBLE", [float(v) for v in a]),
        "b": ("DOUBLE", [None if v is None else float(v) for v in missing]),
    }
    if kind == "codes":
        columns["c"] = ("VARCHAR", [rng.choice("aaabbc") for _ in range(n)])
    return columns


METHODS: dict[str, dict[str, Any]] = {
    "mdav": {}, "microaggregate": {}, "suppress": {}, "mondrian": {}, "safe": {}, "single_axis": {}, "kanonymeans": {},
}  # fmt: skip
QUICK = {("mdav", "doubles"), ("microaggregate", "ties"), ("suppress", "codes"), ("mondrian", "missing")}


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        pytest.param(method, kind, marks=[] if (method, kind) in QUICK else pytest.mark.slow)
        for method in METHODS for kind in KINDS
    ],
)  # fmt: skip
def test_a_k_anonymous_release_is_not_linked_more_often_than_once_in_k(workbench: Any, method: str, kind: str) -> None:
    import sqlmicro

    k, n = 4, 200
    columns = people(kind, n, 9)
    db, known = workbench.make(columns), tuple(name for name in columns if name != "id")
    if kind == "codes" and method in ("mdav", "kanonymeans", "single_axis"):
        known = ("a", "b")
    given = {"nulls": "pattern"} if kind == "missing" and method not in ("suppress", "mondrian", "safe") else {}
    getattr(sqlmicro, method)(
        "records", db=db, columns=known, keep="id", accept_unique="id", rest="drop", k=k, into="released", **given,
        **METHODS[method],
    )  # fmt: skip
    report = sqlmicro.attack(db=db, original="records", release="released", match="id", columns=known, attack="linkage")
    (found,) = report["attacks"]
    assert report["k"] >= k
    assert found["rate"] <= 1 / k + 3 * sqrt(1 / k * (1 - 1 / k) / found["n"])
    # Not only within three standard errors: what no attacker can tell apart shares every hit.
    assert max(found["rate"], *found["rates"].values()) <= 1 / k + 1e-12


@pytest.mark.slow
def test_what_was_published_of_the_noise_is_used(workbench: Any) -> None:
    import sqlmicro

    X, _ = noisy(300, 10)
    columns: dict[str, tuple[str, list[Any]]] = {"id": ("INTEGER", list(range(300)))}
    columns |= {f"x{j}": ("DOUBLE", column.tolist()) for j, column in enumerate(X.T)}
    db = workbench.make(columns)
    for number, (method, settings) in enumerate((
        ("noise", {"amount": 0.5}), ("noise", {"amount": 0.5, "kind": "linear"}),
        ("noise", {"amount": 0.5, "kind": "nonlinear"}), ("swap", {"percent": 15.0}),
    )):  # fmt: skip
        getattr(sqlmicro, method)(
            "records", db=db, columns=("x0", "x1", "x2", "x3"), keep="id", accept_unique="id", into=f"out_{number}",
            alone_because="each is attacked alone", seed="s", **settings,
        )  # fmt: skip
        report = sqlmicro.attack(db=db, original="records", release=f"out_{number}", match="id", attack="linkage")
        (found,) = report["attacks"]
        (told,) = (rate for name, rate in found["rates"].items() if name.endswith("as published"))
        assert told >= 0.93 * max(found["rates"].values()), settings
        assert "published" in found["assumed"]
