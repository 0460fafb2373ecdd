"""Linkage by distance, by ranks, by columns and by place: small examples by hand, and references in plain NumPy."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

import numpy as np
import pytest

from . import naive
from .conftest import Attack

FOUR: dict[str, list[Any]] = {"id": [1, 2, 3, 4], "x": [0.0, 10.0, 20.0, 30.0]}
PAIRS: dict[str, list[Any]] = {"id": [3, 1, 4, 2], "x": [25.0, 5.0, 25.0, 5.0]}
MIXED = ("a", "b", "c", "d")


def mixed(n: int, m: int, seed: int) -> tuple[dict[str, list[Any]], dict[str, list[Any]], list[int]]:
    """Return an original of few values, many of them equal and some missing, a distorted part of it, and the places."""
    rng = random.Random(seed)
    original: dict[str, list[Any]] = {
        "id": list(range(n)),
        "a": [rng.choice([None, 1, 2, 3, 5, 8]) for _ in range(n)],
        "b": [rng.gauss(2010.0, 3.0) // 1 for _ in range(n)],
        "c": [rng.choice("xyz") for _ in range(n)],
        "d": [rng.choice(["red", "green", "blue", "black", "grey"]) for _ in range(n)],
    }
    rows = rng.sample(range(n), m)
    release: dict[str, list[Any]] = {"id": rows}
    release |= {
        name: [rng.choice(values) if rng.random() < 0.3 else values[row] for row in rows]
        for name, values in original.items()
        if name != "id"
    }
    release["d"] = ["white" if value == "grey" else value for value in release["d"]]
    return original, release, [rows.index(i) if i in rows else -1 for i in range(n)]


def test_by_hand(attack: Attack) -> None:
    report = attack({"original": FOUR, "release": PAIRS}, match="id")
    found = report["attacks"]
    # Everybody is nearest to two records, of which one is the own.
    assert found["linkage"]["rate"] == 0.5
    assert found["linkage"]["chance"] == 0.25
    assert found["linkage"]["n"] == 4
    assert found["row-order"]["rate"] == 0.0
    assert report["truth"] == "match"
    assert report["records"] == [4, 4]


def test_without_a_match_the_worst_is_assumed(attack: Attack) -> None:
    wrong = {"x": [5.0, 5.0, 5.0, 100.0]}
    report = attack({"original": {"x": FOUR["x"]}, "release": wrong})
    assert report["truth"] == "assumed"
    assert report["attacks"]["linkage"]["rate"] == pytest.approx(1 / 3)
    # All are nearest to the three alike. So is the record at the same place of the first three; chance is ties/m.
    assert report["attacks"]["row-order"]["rate"] == 0.75
    assert report["attacks"]["row-order"]["chance"] == 0.75


@pytest.mark.slow_but("1-False", "2-False")
@pytest.mark.parametrize("matched", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_against_record_by_record(attack: Attack, matched: bool, seed: int) -> None:
    original, release, places = mixed(300, 250, seed)
    truth = places if matched else None
    options: dict[str, Any] = {"match": "id"} if matched else {"columns": MIXED}
    found = attack({"original": original, "release": release}, **options)["attacks"]
    before, after = [original[name] for name in MIXED], [release[name] for name in MIXED]
    distances = naive.squared_distances(before, after)
    near = found["linkage"]["rates"]["nearest"] if matched else found["linkage"]["rate"]
    assert near == pytest.approx(naive.linked(distances, truth), rel=1e-9)
    assert found["linkage"]["chance"] == 1 / 250
    assert found["linkage"]["n"] == (250 if matched else 300)


def test_many_dimensions_of_equal_and_far_records() -> None:
    from sqlmicro.attacks import _linkage_kernels as kernels

    rng = np.random.default_rng(4)
    Y = rng.integers(0, 4, (900, 3)).astype(float)
    Y[:, 2] *= 1e6
    X = rng.integers(-1, 5, (200, 3)).astype(float)
    weight, kind = np.array([2.0, 1.0, 1e-12]), np.array([kernels.NUMERIC, kernels.NOMINAL, kernels.NUMERIC])
    values, times, _ = kernels.distinct(Y)
    forest = kernels.grow(values, times, weight, kind)
    least, ties = np.empty(200), np.empty(200, dtype=np.int64)
    assert kernels.nearest(forest, X, 0, least, ties) == 200
    gaps = X[:, None] - Y
    distances = 2.0 * gaps[..., 0] ** 2 + (gaps[..., 1] != 0) + 1e-12 * gaps[..., 2] ** 2
    assert least.tolist() == pytest.approx(distances.min(axis=1).tolist())
    assert ties.tolist() == np.isclose(distances, distances.min(axis=1)[:, None], rtol=1e-9).sum(axis=1).tolist()


def test_scales_and_order_keeping_codes_do_not_hide_from_ranks(attack: Attack) -> None:
    rng = random.Random(5)
    x = [rng.gauss(0, 1) for _ in range(200)]
    order = rng.sample(range(200), 200)
    found = attack(
        {
            "original": {"id": list(range(200)), "x": x},
            "release": {"id": order, "x": [x[i] ** 3 + 1000 for i in order]},
        },
        match="id",
    )["attacks"]
    assert found["linkage"]["rate"] == 1.0
    assert found["linkage"]["rates"]["nearest"] < 0.05


@pytest.mark.slow
def test_places(attack: Attack) -> None:
    rng = random.Random(7)
    x = [rng.gauss(0, 1) for _ in range(300)]
    original = {"id": list(range(300)), "x": x}
    same = attack({"original": original, "release": original}, match="id")["attacks"]["row-order"]
    assert same["rate"] == 1.0
    assert same["chance"] == 1 / 300
    assert same["order_correlation"] == pytest.approx(1)
    assumed = attack({"original": {"x": x}, "release": {"x": x}})["attacks"]["row-order"]
    assert (assumed["rate"], assumed["chance"]) == (1.0, pytest.approx(1 / 300))
    # Without the first record nobody is at the own place, but the order is kept.
    rest = {name: values[1:] for name, values in original.items()}
    found = attack({"original": original, "release": rest}, match="id")["attacks"]["row-order"]
    assert found["rate"] == 0.0
    assert found["order_correlation"] == pytest.approx(1)


@pytest.mark.slow
def test_a_sample_is_the_same_each_time(attack: Attack) -> None:
    original, release, _ = mixed(300, 300, 8)
    first, again = (
        attack({"original": original, "release": release}, match="id", sample=50, attack="linkage") for _ in range(2)
    )
    assert first == again
    assert first["tried"] == first["attacks"]["linkage"]["n"] == 50
    assert first["attacks"]["linkage"]["chance"] == 1 / 300


def test_ranges_are_read(attack: Attack) -> None:
    original = {"id": [1, 2, 3, 4, 5], "age": [21, 29, 30, None, 70]}
    release = {"id": [5, 4, 3, 2, 1], "age": [">= 65", None, "[30, 40)", "[20, 30)", "[20, 30)"]}
    report = attack({"original": original, "release": release}, match="id")
    # 30 is at the end of [20, 30) too, which is taken to hold it: three candidates.
    assert report["attacks"]["linkage"]["rates"]["nearest"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 + 1) / 5)
    assert report["notes"] == ["released as ranges, and read as such: age"]
    # Of values in no range the nearer end counts: 50 is nearer to 40 than to 65; of dates, days.
    far = {**original, "age": [21, 29, 50, None, 70]}
    assert attack({"original": far, "release": release}, match="id")["attacks"]["linkage"]["rates"]["nearest"] == 0.8
    days = {"day": [date(2020, 1, day) for day in (1, 5, 9)]}
    months = {"day": ["[2020-01-01, 2020-01-05]", "[2020-01-01, 2020-01-05]", "2020-01-09"]}
    assert attack({"original": days, "release": months})["attacks"]["linkage"]["rate"] == pytest.approx(2 / 3)


def test_ranges_of_mondrian_hold_the_truth(workbench: Any) -> None:
    import sqlmicro

    rng = random.Random(9)
    columns: dict[str, tuple[str, list[Any]]] = {"id": ("INTEGER", list(range(600)))}
    columns |= {name: ("INTEGER", [rng.randrange(100) for _ in range(600)]) for name in "ab"}
    db = workbench.make(columns)
    sqlmicro.mondrian("records", db=db, columns=("a", "b"), keep="id", accept_unique="id", k=5, into="released")
    report = sqlmicro.attack(db=db, original="records", release="released", match="id")
    found = {row["name"]: row for row in report["attacks"]}
    assert 0.15 < found["linkage"]["rate"] <= 0.2
    assert found["linkage"]["rate"] == pytest.approx(found["linkage"]["rates"]["nearest"], rel=0.1)
