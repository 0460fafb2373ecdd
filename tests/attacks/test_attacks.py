"""Attacks on groups, sensitive values and several releases: small examples by hand, figures of others."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

import pytest

from sqlmicro.attacks import attacked
from sqlmicro.attacks.inference import all_alike
from sqlmicro.attacks.key_replay import best_of
from sqlmicro.attacks.registry import attacks, wilson
from sqlmicro.verbs import rehearsal

from .conftest import Attack

IDS = [1, 2, 3, 4, 5, 6]
FEW: dict[str, list[Any]] = {"id": IDS, "x": [1.0, 2.0, 6.0, 10.0, 11.0, 15.0]}


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_as_newcombe_prints_them(hits: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    assert wilson(hits / n, n) == pytest.approx((low, high), abs=5e-5)


def test_all_members_but_one_know_the_last(attack: Attack) -> None:
    exact = {"id": IDS[::-1], "x": [12.0, 12.0, 12.0, 3.0, 3.0, 3.0]}
    (row,) = attack({"original": FEW, "release": exact}, match="id", attack="insider")["attacks"].values()
    assert row["rate"] == 1.0
    assert row["groups"] == "records"
    assert row["n"] == 6
    # The mean of the second group rounded to tens is off by 2 for everybody, and three times as much for the others.
    rounded = {**exact, "x": [10.0, 10.0, 10.0, 3.0, 3.0, 3.0]}
    (row,) = attack({"original": FEW, "release": rounded}, match="id", attack="insider")["attacks"].values()
    assert row["rate"] == 0.5
    # Within 0.2 of 5.39 standard deviations 3 or 10 is near enough to 2, 10 and 11: half of the guesses each.
    (row,) = attack({"original": FEW, "release": rounded}, match="id", attack="insider", within=0.2)["attacks"].values()
    assert row["chance"] == pytest.approx((0.5 + 0.5 + 0.5) / 6)


def test_groups_of_a_column_alone(attack: Attack) -> None:
    original = {"id": IDS[:4], "x": [1.0, 3.0, 5.0, 7.0], "y": [1.0, 4.0, 2.0, 3.0]}
    release = {"id": IDS[:4], "x": [2.0, 2.0, 6.0, 6.0], "y": [1.5, 3.5, 1.5, 3.5]}
    (row,) = attack({"original": original, "release": release}, match="id", attack="insider")["attacks"].values()
    assert row["rate"] == 1.0
    assert row["groups"] == "columns"
    assert row["by_column"] == {"x": 1.0, "y": 1.0}


def test_classes_with_one_sensitive_value(attack: Attack) -> None:
    original = {"sex": list("ffmmm")}
    release = {"sex": list("ffmmm"), "illness": ["flu", "flu", "flu", None, "flu"]}
    report = attack({"original": original, "release": release}, sensitive="illness", attack="homogeneity")
    row = report["attacks"]["homogeneity"]
    assert row["rate"] == 2 / 5
    # Of five records with four alike: two of one value in 6 of 10 draws, three in 4 of 10.
    assert row["chance"] == pytest.approx((2 * 0.6 + 3 * 0.4) / 5)
    assert row["sensitive"] == "illness"
    assert report["columns"] == ["sex"]


@pytest.mark.parametrize(("size", "values"), [(2, [3, 2]), (3, [4, 1, 3]), (1, [2, 5]), (4, [1, 1, 2])])
def test_draws_of_one_value(size: int, values: list[int]) -> None:
    assert all_alike(size, values) == pytest.approx(sum(comb(v, size) for v in values) / comb(sum(values), size))


@pytest.mark.parametrize(("guesses", "n", "share"), [(3, 2, 0.4), (2, 4, 0.1), (1, 3, 0.5)])
def test_the_best_of_several_guesses(guesses: int, n: int, share: float) -> None:
    chance = [comb(n, hits) * share**hits * (1 - share) ** (n - hits) for hits in range(n + 1)]
    expected = 0.0
    for hits in product(range(n + 1), repeat=guesses):
        weight = 1.0
        for one in hits:
            weight *= chance[one]
        expected += weight * max(hits) / n
    assert best_of(guesses, n, share) == pytest.approx(expected)


def test_noise_averages_out(attack: Attack) -> None:
    original = {"id": IDS[:3], "x": [0.0, 10.0, 20.0]}
    up = {"id": [3, 2, 1], "x": [23.0, 10.05, 3.0]}
    down = {"id": [1, 2, 3], "x": [-3.0, 10.0, 18.0]}
    report = attack(
        {"original": original, "release": up, "second": down},
        release=("release", "second"),
        match="id",
        attack="averaging",
    )
    row = report["attacks"]["averaging"]
    # 0 and 10.025 are within a tenth, 20.5 is not; of the first release 10.05 is.
    assert row["rate"] == pytest.approx(2 / 3)
    assert row["one_release"] == pytest.approx(1 / 3)
    assert row["releases"] == 2
    assert row["chance"] == pytest.approx(1 / 9)


def test_two_groupings_of_the_same_records(attack: Attack) -> None:
    first = {"id": IDS, "x": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]}
    second = {"id": IDS, "y": [1.0, 1.0, 2.0, 1.0, 2.0, 2.0]}
    tables = {"original": {"id": IDS, "x": IDS, "y": IDS}, "release": first, "second": second}
    options: dict[str, Any] = {"release": ("release", "second"), "match": "id", "attack": "difference"}
    (row,) = attack(tables, **options)["attacks"].values()
    # {1, 2}, {3}, {4}, {5, 6} are left of two groupings that are 3-anonymous each.
    assert (row["k"], row["rate"], row["chance"]) == (3, 1.0, 0.0)
    assert row["linked"] == pytest.approx(4 / 6)
    (row,) = attack(tables, **options, k=2)["attacks"].values()
    assert row["rate"] == pytest.approx(2 / 6)
    (row,) = attack(tables, **options, k=4)["attacks"].values()
    assert row["chance"] == 1.0


def test_every_attack_names_its_source_and_its_templates() -> None:
    from sqlmicro.database.templates import all_templates

    known = set(all_templates())
    used = set()
    for found in attacks().values():
        assert found.source
        assert set(found.templates) <= known
        used |= set(found.templates)
    # What the verdict is counted on, the attack on what joins, who is linked, and people who are held out.
    counted = {"attack/with_persons.sql", "attack/with_pseudonyms.sql", "attack/linked.sql", *rehearsal.TEMPLATES}
    # And targets that are drawn on Spark.
    counted |= set(attacked.TEMPLATES)
    assert {name for name in known if name.startswith("attack/")} <= used | counted
