"""Attacks on persons with several records, against plain Python; and what a k of persons bounds, or does not."""

from __future__ import annotations

import math
import os
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sqlmicro
from sqlmicro.attacks.attacked import Persons
from sqlmicro.attacks.inference import Alike
from sqlmicro.attacks.linkage import measured

from . import naive
from .conftest import Attack

TABLES = int(os.environ.get("TABLES", "20"))
MORE = pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, TABLES), marks=pytest.mark.slow)], ids=str)

NAMES = ["linkage", "all-records"]


def visits(seed: int) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return records of persons who have several, some of nobody, and a distorted part of them under pseudonyms."""
    rng = random.Random(seed)
    n, persons = rng.randint(30, 80), rng.randint(3, 12)
    original: dict[str, list[Any]] = {
        "id": list(range(n)),
        "a": [rng.choice([1, 2, 3, 5, 8]) for _ in range(n)],
        "b": [rng.gauss(0, 1) for _ in range(n)],
        "c": [rng.choice("xyz") for _ in range(n)],
        "who": [rng.choice([*range(persons), None]) for _ in range(n)],
    }
    rows = rng.sample(range(n), n - rng.randint(0, 9))
    release: dict[str, list[Any]] = {
        "id": rows,
        "a": [original["a"][i] if rng.random() < 0.6 else 2 for i in rows],
        "b": [round(original["b"][i]) + 0.0 for i in rows],
        "c": [original["c"][i] if rng.random() < 0.8 else "x" for i in rows],
        "who": [None if original["who"][i] is None else (original["who"][i] * 7) % 13 + 100 for i in rows],
    }
    return original, release


@pytest.mark.slow
@MORE
def test_the_share_of_persons_is_what_plain_python_finds(attack: Attack, seeds: range) -> None:
    known = ("a", "b", "c")
    for seed in seeds:
        original, release = visits(seed)
        distances = naive.squared_distances([original[c] for c in known], [release[c] for c in known])
        owners = [original["who"][i] for i in release["id"]]
        nearest = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-15
        held = [i for i in original["id"] if i in release["id"]]
        who = [original["who"][i] for i in held]
        tables = {"original": original, "release": release}
        found = attack(tables, match="id", person="who", attack=NAMES)
        rates = {name: row["rate"] for name, row in found["attacks"].items()}
        rates["linkage"] = found["attacks"]["linkage"]["rates"]["nearest"]
        expected = {
            "linkage": naive.persons_linked(nearest[held], who, owners, known=True),
            "all-records": naive.linked_by_all(distances[held], who, release["who"], owners),
        }
        assert {name: rates[name] for name in expected} == pytest.approx(expected), seed
        assert found["attacks"]["linkage"]["n"] == len(set(who)) == found["persons"]
        assert found["attacks"]["linkage"]["chance"] == 1 / len(set(owners))
        # The same without the match: pseudonyms tell which records belong together, and the worst is assumed.
        found = attack(tables, columns=known, person="who", attack=NAMES)
        rates = {name: row["rate"] for name, row in found["attacks"].items()}
        expected = {
            "linkage": naive.persons_linked(nearest, original["who"], release["who"], known=False),
            "all-records": naive.linked_by_all(distances, original["who"], release["who"], None),
        }
        assert {name: rates[name] for name in expected} == pytest.approx(expected), seed
        # Without the person in the release only the match tells whose a record is, and nothing what belongs together.
        bare = {"original": original, "release": {name: release[name] for name in ("id", *known)}}
        found = attack(bare, match="id", person="who")
        linked = naive.persons_linked(nearest[held], who, owners, known=True)
        assert found["attacks"]["linkage"]["rates"]["nearest"] == pytest.approx(linked), seed
        assert {row["name"] for row in found["not_tried"]} >= {"all-records"}


def test_places_and_classes_of_persons_by_hand(attack: Attack) -> None:
    """Person 1 has records 1 and 2, in a class with 3 of person 2: both had the flu, and she a cold too."""
    original = {"id": [1, 2, 3, 4, 5], "x": [1.0, 1.0, 1.0, 5.0, 5.0], "who": [1, 1, 2, 3, None],
                "ill": ["flu", "cold", "flu", "gout", "flu"]}  # fmt: skip
    release = {"id": [2, 1, 4, 3, 5], "x": [1.0, 1.0, 5.0, 1.0, 5.0], "ill": ["cold", "flu", "gout", "flu", "flu"]}
    given: dict[str, Any] = {"match": "id", "sensitive": "ill", "columns": "x"}
    found = attack({"original": original, "release": release}, person="who", **given)["attacks"]
    # At places 1 and 2 is the other record of person 1, at 5 that of nobody; at 3 and 4 are those of one another.
    assert (found["row-order"]["rate"], found["row-order"]["unit"]) == (0.5, "persons")
    # 1 - (3/5)^2 for person 1, 1/5 for each of the others.
    assert found["row-order"]["chance"] == pytest.approx((16 / 25 + 3 / 5) / 4)
    # The class of persons 1 and 2 has the flu in common, though not all records do; that of 3 and nobody has nothing.
    assert (found["homogeneity"]["rate"], found["homogeneity"]["n"]) == (0.5, 4)
    by_record = attack({"original": original, "release": release}, **given)["attacks"]
    assert (by_record["homogeneity"]["rate"], by_record["homogeneity"]["unit"]) == (0.0, "records")


def test_classes_of_two_releases_in_persons(attack: Attack) -> None:
    """The second release sets one of two records of person 1 apart."""
    original = {"id": [1, 2, 3, 4], "x": [1, 1, 1, 1], "y": [1, 2, 2, 2], "who": [1, 1, 2, 3]}
    first, second = {"id": [1, 2, 3, 4], "x": [1, 1, 1, 1]}, {"id": [1, 2, 3, 4], "y": [1, 2, 2, 2]}
    found = attack(
        {"original": original, "release": first, "second": second}, release=["release", "second"], match="id",
        person="who", attack="difference", k=3,
    )["attacks"]["difference"]  # fmt: skip
    # Person 1 is alone by record 1; 2 and 3 share their class with her other record.
    assert (found["rate"], found["n"], found["chance"]) == (pytest.approx(1 / 3), 3, pytest.approx(1 / 3))
    assert found["linked"] == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)


def released(k: int, persons: int) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return three visits of persons and a release in which every class has k persons, dealt anew for every visit."""
    rng = np.random.default_rng(1)
    who: list[int] = []
    x: list[float] = []
    means: list[float] = []
    for visit in range(3):
        who += rng.permutation(persons).tolist()
        centres = 1000.0 * visit + 10.0 * (np.arange(persons) // k)
        own = centres + rng.normal(size=persons) * 0.01
        x += own.tolist()
        means += np.repeat(own.reshape(-1, k).mean(axis=1), k).tolist()
    original: dict[str, list[Any]] = {"id": list(range(len(x))), "x": x, "who": who}
    return original, {"id": original["id"], "x": means, "who": [(w + 1) * 7919 for w in who]}


@pytest.mark.parametrize("matched", [True, False])
def test_one_record_is_linked_at_most_once_in_k_persons_but_all_of_them_are_more(attack: Attack, matched: bool) -> None:
    original, release = released(5, 120)
    options: dict[str, Any] = {"match": "id"} if matched else {"columns": "x"}
    if not matched:
        release = {name: release[name] for name in ("x", "who")}
    report = attack({"original": original, "release": release}, person="who", **options)
    found, n = report["attacks"], 120
    assert found["linkage"]["rate"] <= 1 / 5 + 3 * math.sqrt(0.2 * 0.8 / n)
    assert found["linkage"]["n"] == n
    assert found["linkage"]["rate"] == pytest.approx(0.2)
    assert found["all-records"]["rate"] > 0.9
    assert (report["verdict"]["unit"], report["verdict"]["k_released"]) == ("who", 5 if not matched else 1)


def test_a_key_that_is_released_as_it_is_counts_as_known(attack: Attack) -> None:
    """A pseudonym does not, as long as no value of it is one of the original."""
    original, release = released(5, 20)
    raw = {"x": release["x"], "who": original["who"]}
    for given, k in ({"x": release["x"], "who": release["who"]}, 5), (raw, 1):
        report = attack({"original": original, "release": given}, person="who", columns="x", attack="all-records")
        assert report["verdict"]["k_released"] == k
        assert report["verdict"]["apart"] == ({"who": "pseudonym"} if k == 5 else {})


def test_what_nothing_tells_is_refused(attack: Attack) -> None:
    original = {"id": [1, 2], "x": [1.0, 2.0], "who": [1, 1]}
    tables = {"original": original, "release": {"id": [1, 2], "x": [1.0, 2.0]}}
    with pytest.raises(sqlmicro.SqlmicroError, match="must tell whose a released record is"):
        attack(tables, person="who")
    with pytest.raises(sqlmicro.SqlmicroError, match="says whose record it is"):
        attack({"original": original, "release": original}, person="who", columns=["who", "x"], match="id")
    with pytest.raises(sqlmicro.SqlmicroError, match="--person"):
        attack(tables, person="nobody", match="id")
    with pytest.raises(sqlmicro.SqlmicroError, match="all-records"):
        attack(tables, person="who", match="id", attack="all-records")
    # One person alone is found; two records of hers do not make two of her.
    report = attack(tables, person="who", match="id")
    assert report["attacks"]["linkage"]["rate"] == 1.0
    assert report["verdict"]["k_released"] == 1
    assert (report["persons"], report["tried"]) == (1, 2)


def test_chance_is_one_in_the_persons_and_the_best_record_of_each_counts() -> None:
    """Four records of two persons, of six records of three in the release."""
    persons = Persons(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2]), None)
    attacked = SimpleNamespace(persons=persons, whole=(4, 6), tried=np.arange(4), unit="persons")
    found = measured(attacked, np.array([1.0, 0.0, 0.5, 0.25]), Alike("s"))  # type: ignore[arg-type]
    assert (found.rate, found.chance, found.n) == (0.75, 1 / 3, 2)
