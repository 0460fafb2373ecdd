"""Mondrian: cuts by hand, against a naive recursion, and what is released."""

from __future__ import annotations

import datetime
import os
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from naive_rules import groups_of, keeps, random_rules

from sqlmicro import SqlmicroError
from sqlmicro.guarantees.rules import Rules
from sqlmicro.mask.mondrian import partition
from sqlmicro.registry import silent

TABLES = int(os.environ.get("TABLES", "60"))


def _naive(X: np.ndarray, members: list[int], rules: Rules, strict: bool) -> list[list[int]]:
    """Cut recursively, with lists."""
    k = rules.k
    spread = [max(X[i, j] for i in members) - min(X[i, j] for i in members) for j in range(X.shape[1])]
    for j in sorted(range(X.shape[1]), key=lambda j: (-spread[j], j)):
        if spread[j] <= 0:
            break
        ordered = sorted(members, key=lambda i: X[i, j])
        places = [
            place
            for place in range(k, len(members) - k + 1)
            if not strict or X[ordered[place - 1], j] < X[ordered[place], j]
        ]
        places.sort(key=lambda place: (abs(place - len(members) // 2), place))
        for place in places:
            if rules.only_k or (keeps(rules, ordered[:place]) and keeps(rules, ordered[place:])):
                return _naive(X, ordered[:place], rules, strict) + _naive(X, ordered[place:], rules, strict)
    return [members]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_cuts_are_those_of_the_naive_recursion(seed: int, strict: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(80, 3)) / np.array([5.0, 4.0, 3.0]) if seed % 2 else rng.random((80, 3))
    k = 2 + seed % 4
    labels = partition(X, Rules(k), strict, silent)
    expected = {frozenset(group) for group in _naive(X, list(range(80)), Rules(k), strict)}
    assert {frozenset(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)} == expected
    assert np.bincount(labels).min() >= k


@pytest.mark.parametrize("seed", range(8))
def test_combinations_are_cut_as_all_their_records_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 6, size=(60, 3)), axis=0) / np.array([5.0, 4.0, 3.0])
    records = rng.integers(1, 9, len(X)) ** 2
    k = 2 + 3 * seed
    labels = partition(X, Rules(k), True, silent, records)
    every = np.repeat(np.arange(len(X)), records)
    groups = _naive(X[every], list(range(len(every))), Rules(k), True)
    assert {frozenset(every[group].tolist()) for group in groups} == {
        frozenset(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)
    }
    assert len(groups) > 1 and np.bincount(labels, records).min() >= k


def test_cuts_that_keep_guarantees_are_those_of_the_naive_recursion() -> None:
    cut = 0
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        n = int(rng.integers(4, 60))
        rules, strict = random_rules(rng, n), bool(number % 2)
        if rules.only_k or not keeps(rules, range(n)):
            continue
        X = rng.integers(0, 6, size=(n, 3)) / np.array([5.0, 4.0, 3.0])
        labels = partition(X, rules, strict, silent)
        found = groups_of(labels)
        assert {frozenset(rows) for rows in found.values()} == {
            frozenset(group) for group in _naive(X, list(range(n)), rules, strict)
        }, number
        assert all(keeps(rules, rows) for rows in found.values()), number
        cut += len(found) > 1
    assert cut > TABLES / 10


def test_classes_keep_what_was_asked_for(workbench: Any) -> None:
    draw = random.Random(3)
    table = {
        "age": ("INTEGER", [draw.randrange(80) for _ in range(400)]),
        'net "income"': ("DOUBLE", [draw.gauss(0, 1) for _ in range(400)]),
        "ill": ("VARCHAR", [draw.choice(["a", "b", "c", "d", None]) for _ in range(400)]),
        "who": ("INTEGER", [draw.randrange(150) for _ in range(400)]),
    }
    names = ["age", 'net "income"']
    release = workbench.release(
        "mondrian", workbench.make(table), columns=names, k=3, sensitive=["ill"], min_l=3, max_t=0.3, person=["who"]
    )
    shares = {value: n / 400 for value, n in Counter(table["ill"][1]).items()}
    classes: dict[Any, Counter[Any]] = {}
    for *key, ill in release.records([*names, "ill"]):
        classes.setdefault(tuple(key), Counter())[ill] += 1
    assert len(classes) > 5
    for counts in classes.values():
        size = sum(counts.values())
        assert len(counts) >= 3
        assert sum(abs(counts[value] / size - share) for value, share in shares.items()) / 2 <= 0.3 + 1e-9
    with pytest.raises(SqlmicroError, match="does not hold of all 400 records together"):
        workbench.release(
            "mondrian", workbench.make(table), columns=names, k=3, sensitive=["ill"], min_l=6, rest="drop"
        )


def test_ranges_and_sets_are_released(workbench: Any) -> None:
    table = {
        "age": ("INTEGER", [20, 22, 24, 60, 62, 64]),
        "town": ("VARCHAR", ["a", "b", "a", "c", "c", "c"]),
        "born": ("DATE", [datetime.date(2000, 1, day) for day in (1, 2, 3)] + [datetime.date(1960, 5, 1)] * 3),
        "grade": ("ENUM('low', 'high')", ["low", "low", None, "high", "high", "high"]),
    }
    release = workbench.release("mondrian", workbench.make(table), columns=list(table), k=3)
    assert Counter(release.records(list(table))) == {
        ("[20, 24]", "{a, b}", "[2000-01-01, 2000-01-03]", "low or missing"): 3,
        ("[60, 64]", "c", "1960-05-01", "high"): 3,
    }
    assert release.report["promise"] == ["record"]


@pytest.mark.parametrize("relaxed", [False, True])
def test_random_tables_are_k_anonymous_and_every_value_is_in_its_range(workbench: Any, relaxed: bool) -> None:
    draw = random.Random(7)
    n, k = 300, 5
    table = {
        "x": ("DOUBLE", [draw.choice([None, round(draw.gauss(0, 3), 1)]) if i % 9 == 0 else draw.gauss(0, 3)
                         for i in range(n)]),
        "town": ("VARCHAR", [draw.choice("abcdefgh") for _ in range(n)]),
        "land": ("VARCHAR", [draw.choice("xy") for _ in range(n)]),
        "id": ("INTEGER", list(range(n))),
    }  # fmt: skip
    release = workbench.release(
        "mondrian", workbench.make(table), columns=["x", "town"], by=["land"], keep=["id"], k=k, relaxed=relaxed
    )
    assert min(Counter(release.records(["x", "town", "land"])).values()) >= k
    for number, shown, towns, land in release.records(["id", "x", "town", "land"]):
        value = table["x"][1][number]
        ranges = shown.removesuffix(" or missing") if shown else ""
        if value is None:
            assert shown is None or shown.endswith(" or missing")
        else:
            low, _, high = ranges.strip("[]").partition(", ")
            assert float(low) <= value <= float(high or low)
        assert table["town"][1][number] in towns.strip("{}").split(", ")
        assert land == table["land"][1][number]


@pytest.mark.parametrize("seed", range(5))
def test_ends_of_floating_point_ranges_are_rounded_and_ranges_stay_apart(workbench: Any, seed: int) -> None:
    draw, scale = random.Random(seed), 10.0 ** (5 * seed - 10)
    points = [(draw.gauss(0, scale), draw.choice([draw.expovariate(scale), -0.0, 0.5])) for _ in range(200)]
    table = {"x": ("DOUBLE", [x for x, _ in points]), "y": ("DOUBLE", [y for _, y in points])}
    release = workbench.release(
        "mondrian", workbench.make({**table, "id": ("INTEGER", list(range(200)))}), columns=["x", "y"], keep=["id"], k=3
    )
    boxes: dict[Any, list[int]] = {}
    for *shown, number in release.records(["x", "y", "id"]):
        boxes.setdefault(tuple(shown), []).append(number)
    ends = [[[float(end) for end in side.strip("[]").split(", ")] for side in shown] for shown in boxes]
    for box, members in zip(ends, boxes.values(), strict=True):
        for (low, *_, high), values in zip([side * 2 for side in box], zip(*points, strict=True), strict=True):
            own = [values[number] for number in members]
            below = max((value for value in values if value < min(own)), default=None)
            above = min((value for value in values if value > max(own)), default=None)
            assert low <= min(own) and max(own) <= high
            assert low == min(own) if below is None else 2 * Fraction(low) > Fraction(min(own)) + Fraction(below)
            assert high == max(own) if above is None else 2 * Fraction(high) < Fraction(max(own)) + Fraction(above)
    for one, other in combinations(ends, 2):
        assert any(a[-1] < b[0] or b[-1] < a[0] for a, b in zip(one, other, strict=True))
    digits = [len(end) for shown in boxes for end in shown[0].strip("[]").split(", ")]
    assert sum(digits) / len(digits) < 0.8 * sum(len(str(x)) for x, _ in points) / len(points)


def test_too_few_records_are_refused(workbench: Any) -> None:
    db = workbench.make({"x": ("DOUBLE", [1.0, 2.0])})
    with pytest.raises(SqlmicroError, match="at least k = 3 records"):
        workbench.release("mondrian", db, columns=["x"], k=3)
