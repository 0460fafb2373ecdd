"""The attack `same-order` on tables that are made to stand in one order, or in two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from databases import opened

import sqlmicro

N = 600
ODD = 'net "income"'


def tables(workbench: Any, *releases: dict[str, tuple[str, Any]]) -> tuple[str, list[str]]:
    """Return a database with the table `records` and releases of it; the names of the releases."""

    db = str(workbench.make(original()))
    names = []
    for number, columns in enumerate(releases, 1):
        other = workbench.make(columns)
        with opened(db) as connection:
            connection.execute(f"ATTACH '{other}' AS other (READ_ONLY)")
            connection.execute(f"CREATE TABLE release_{number} AS SELECT * FROM other.records")
        names.append(f"release_{number}")
    return db, names


def original() -> dict[str, tuple[str, Any]]:
    rng = np.random.default_rng(1)
    return {
        ODD: ("DOUBLE", rng.lognormal(8, 0.5, N).round(2).tolist()),
        "age": ("INTEGER", rng.integers(18, 90, N).tolist()),
        "town": ("VARCHAR", rng.choice(["Ulm", "Au", "Köln"], N).tolist()),
    }


def with_values(order: np.ndarray, **changed: Any) -> dict[str, tuple[str, Any]]:
    """Return the records in an order, some columns of which hold other values."""
    made = {}
    for name, (kind, given) in original().items():
        values = np.array(changed.get(name.replace('net "income"', "income"), given), dtype=object)
        made[name] = ("DOUBLE" if kind == "INTEGER" and name in changed else kind, values[order].tolist())
    return made


def noisy(amount: float, deviates: np.ndarray) -> np.ndarray:
    income = np.array(original()[ODD][1])
    noise: np.ndarray = income + amount * income.std(ddof=1) * deviates
    return noise


def rows_of(db: str, names: list[str], **options: Any) -> dict[str, dict[str, Any]]:
    """Return what the attack measured: `agreement` and `rebuilt`."""
    found = sqlmicro.attack(db=db, original="records", release=names, **options)["attacks"]
    rows = [row for row in found if row["name"] == "same-order"]
    return {"agreement" if "agreement" in row else "rebuilt": row for row in rows}


@pytest.fixture(scope="module")
def deviates() -> np.ndarray:
    return np.random.default_rng(2).normal(size=N)


@pytest.fixture(scope="module")
def orders() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.permutation(N), rng.permutation(N)


def test_two_noises_of_one_deviate_in_one_order_are_undone(workbench: Any, deviates: Any, orders: Any) -> None:
    """(0.3 A - 0.5 B) / (0.3 - 0.5) is the income of everybody; nobody had to name a match."""
    one = orders[0]
    db, names = tables(workbench, *(with_values(one, income=noisy(a, deviates)) for a in (0.5, 0.3)))
    found = rows_of(db, names)
    assert found["rebuilt"]["rate"] == 1.0
    assert found["rebuilt"]["chance"] < 0.01
    assert found["rebuilt"]["rebuilt"] == f"-1.5 x release 1 + 2.5 x release 2 of {ODD}"
    assert found["agreement"]["rate"] > 0.95
    assert found["agreement"]["correlations"][ODD] > 0.9
    assert found["agreement"]["residuals"][ODD] == pytest.approx(1, abs=0.02)


def test_independent_noise_in_one_order_agrees_but_is_not_undone(workbench: Any, deviates: Any, orders: Any) -> None:
    other = np.random.default_rng(4).normal(size=N)
    pairs = zip((0.5, 0.3), (deviates, other), strict=True)
    db, names = tables(workbench, *(with_values(orders[0], income=noisy(a, u)) for a, u in pairs))
    found = rows_of(db, names, attack="same-order")
    assert found["agreement"]["rate"] > 0.95
    assert abs(found["agreement"]["residuals"][ODD]) < 0.3
    # The age, kept as it is, is again beside the income it belongs to nowhere: noise is no value of the original.
    assert "age of release" in found["rebuilt"]["rebuilt"]


def test_two_shuffles_in_one_order_give_the_link_back(workbench: Any, orders: Any) -> None:
    rng = np.random.default_rng(5)
    income, age = original()[ODD][1], original()["age"][1]
    mixed = (
        with_values(orders[0], income=rng.permutation(income)),
        with_values(orders[0], age=rng.permutation(age).astype(float)),
    )
    found = rows_of(*tables(workbench, *mixed), attack="same-order")
    assert found["rebuilt"]["rate"] == 1.0
    assert found["rebuilt"]["chance"] < 0.1
    assert found["rebuilt"]["rebuilt"] == f"age of release 1 beside {ODD} of release 2"


def test_two_groupings_in_one_order_have_the_same_person_in_one_place(workbench: Any, orders: Any) -> None:
    """Means of 5 and of 7 neighbours by income, as individual ranking has them."""
    income = np.array(original()[ODD][1])
    rank = np.argsort(np.argsort(income))
    means = [np.array([income[rank // k == g].mean() for g in rank // k]) for k in (5, 7)]
    db, names = tables(workbench, *(with_values(orders[0], income=values) for values in means))
    assert rows_of(db, names)["agreement"]["rate"] > 0.95


@pytest.mark.parametrize("shared", [True, False])
def test_in_two_orders_nothing_is_found(workbench: Any, deviates: Any, orders: Any, shared: bool) -> None:
    """Not even where the noise is one and the same: nobody knows which record belongs to which."""
    other = deviates if shared else np.random.default_rng(4).normal(size=N)
    made = [with_values(o, income=noisy(a, u)) for o, a, u in zip(orders, (0.5, 0.3), (deviates, other), strict=True)]
    found = rows_of(*tables(workbench, *made), attack="same-order")
    low, high = found["agreement"]["ci"]
    assert low < 0.5 < high
    assert found["agreement"]["residuals"][ODD] is None
    assert found["rebuilt"]["rate"] < found["rebuilt"]["chance"] + 4 * np.sqrt(0.25 / found["rebuilt"]["n"])


def test_missing_values_other_columns_and_a_different_number_of_records(workbench: Any, orders: Any) -> None:
    """The releases have a column that the original lacks, missing values, and one of them fewer records."""
    one = with_values(orders[0])
    one[ODD] = ("DOUBLE", [None if i % 10 == 0 else value for i, value in enumerate(one[ODD][1])])
    two = {name: (kind, values[:-50]) for name, (kind, values) in with_values(orders[0]).items()}
    two["other"] = ("INTEGER", list(range(N - 50)))
    found = rows_of(*tables(workbench, one, two))
    assert found["agreement"]["rate"] > 0.99
    assert found["agreement"]["n"] == N - 50


def test_one_release_alone_has_no_order_to_share(workbench: Any, orders: Any) -> None:
    db, names = tables(workbench, with_values(orders[0]))
    assert rows_of(db, names) == {}
    with pytest.raises(sqlmicro.ParameterError, match="second --release"):
        rows_of(db, names, attack="same-order")


def test_every_two_of_three_releases_are_laid_side_by_side(workbench: Any, orders: Any) -> None:
    db, names = tables(workbench, *(with_values(orders[number]) for number in (0, 1, 0)))
    found = sqlmicro.attack(db=db, original="records", release=names, attack="same-order")["attacks"]
    agreeing = {row["releases"]: row["rate"] > 0.9 for row in found if "agreement" in row}
    assert agreeing == {"1 and 2": False, "1 and 3": True, "2 and 3": False}
