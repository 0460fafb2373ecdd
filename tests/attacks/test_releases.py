"""Releases of this package under attack: what a method promises is what an attacker meets."""

from __future__ import annotations

import random
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from databases import opened

import sqlmicro
from sqlmicro.registry import Promise
from sqlmicro.verbs.attacking import least

TARRAGONA = ("FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "SALES", "LABOR.COSTS")


def table_of(folder: Path, file: str, db: Path) -> str:
    """Make the table `records` of a reference file, with a column id that numbers the records."""

    with opened(db) as connection:
        connection.execute(
            f"CREATE TABLE records AS SELECT row_number() OVER () AS id, * FROM read_csv('{folder / file}')"
        )
    return str(db)


def by_name(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in report["attacks"]}


def holds(row: dict[str, Any], bound: float) -> bool:
    """Tell whether a rate keeps to a bound, but for three standard errors."""
    return bool(row["rate"] <= bound + 3 * sqrt(bound * (1 - bound) / row["n"]))


@pytest.fixture(scope="module")
def tarragona(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return table_of(data_folder, "tarragona.csv", tmp_path_factory.mktemp("tarragona") / "t.duckdb")


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5, 10])
def test_k_anonymous_records_are_linked_by_one_in_k(tarragona: str, k: int) -> None:
    sqlmicro.mdav(
        "records",
        db=tarragona,
        columns=TARRAGONA,
        keep="id",
        accept_unique="id",
        rest="drop",
        k=k,
        into=f"mdav_{k}",
        seed="t",
        alone_because="each is attacked alone",
    )
    report = sqlmicro.attack(db=tarragona, original="records", release=f"mdav_{k}", match="id")
    found = by_name(report)
    assert holds(found["linkage"], 1 / k)
    assert found["linkage"]["rate"] > 0.5 / k
    for name in ("row-order", "key-replay"):
        assert holds(found[name], found[name]["chance"]), name
    assert (report["promise"], report["k"]) == ("record", k)
    assumed = sqlmicro.attack(
        db=tarragona, original="records", release=f"mdav_{k}", columns=TARRAGONA, attack="linkage"
    )
    assert found["linkage"]["rate"] <= by_name(assumed)["linkage"]["rate"] <= 1 / k


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5, 10])
def test_census_is_linked_by_one_in_k(data_folder: Path, tmp_path: Path, k: int) -> None:
    db = table_of(data_folder, "census.csv", tmp_path / "c.duckdb")
    sqlmicro.mdav(
        "records", db=db, columns=_all_but_id(db), keep="id", accept_unique="id", k=k, into="released", seed="c"
    )
    found = by_name(sqlmicro.attack(db=db, original="records", release="released", match="id"))
    assert holds(found["linkage"], 1 / k)
    for name in ("row-order", "key-replay"):
        assert holds(found[name], found[name]["chance"]), name


@pytest.mark.slow
def test_columns_alone_are_linked_nearly_always(workbench: Any) -> None:
    rng = random.Random(1)
    columns: dict[str, tuple[str, list[Any]]] = {"id": ("INTEGER", list(range(5000)))}
    columns |= {name: ("DOUBLE", [rng.gauss(0, 1) for _ in range(5000)]) for name in "abcdef"}
    db = workbench.make(columns)
    sqlmicro.individual_ranking(
        "records", db=db, columns=tuple("abcdef"), keep="id", accept_unique="id", k=3, into="released"
    )
    report = sqlmicro.attack(db=db, original="records", release="released", match="id")
    found = by_name(report)
    assert found["linkage"]["rate"] > 0.99
    assert found["linkage"]["rates"]["intersection"] > 0.99
    assert (report["promise"], report["k"]) == ("column", None)
    assert "not k-anonymous" in report["promises"]
    gated = sqlmicro.audit("released", db=db, original="records", match="id", max_linkage=0.3, measure="linkage")
    (row,) = gated["audits"]
    assert (row["status"], row["value"]) == ("failed", found["linkage"]["rate"])
    assert row["ci"] == found["linkage"]["ci"]
    assert gated["passed"] is False
    unknown = sqlmicro.audit("released", db=db, max_linkage=0.3)
    assert unknown["passed"] is False
    assert unknown["audits"][0]["status"] == "unknown"


@pytest.mark.parametrize("key", [{}, pytest.param({"row_key": "id"}, marks=pytest.mark.slow)], ids=["place", "key"])
def test_a_seed_that_is_published_is_found(workbench: Any, tmp_path: Path, key: dict[str, str]) -> None:
    rng = random.Random(2)
    columns = {"id": ("INTEGER", rng.sample(range(300), 300)), "x": ("DOUBLE", [rng.random() for _ in range(300)])}
    db = workbench.make(columns)
    sqlmicro.mdav(
        "records", db=db, columns="x", keep="id", accept_unique="id", k=4, seed="2026-11", into="released", **key
    )
    told = tmp_path / "manifest.json"
    told.write_text('{"note": ["we used", {"seed": "2026-11"}]}', encoding="utf-8")
    options: dict[str, Any] = {"db": db, "original": "records", "release": "released", "attack": "key-replay"}
    (row,) = sqlmicro.attack(match="id", manifest=str(told), **options)["attacks"]
    assert row["rate"] == 1.0
    (row,) = sqlmicro.attack(match="id", **options)["attacks"]
    assert holds(row, row["chance"])
    (row,) = sqlmicro.attack(columns="x", manifest=str(told), **options)["attacks"]
    # Among the nearest is the own group, but where a neighbour's is nearer.
    assert row["rate"] > 0.7
    assert row["chance"] < 0.2


def test_a_published_seed_undoes_an_order_in_which_records_were_numbered_by_their_values(workbench: Any) -> None:
    """One column alone is sorted as it is read; ties go by the hash, records without a value come last."""
    rng = random.Random(3)
    values = [None, None, None, *(rng.randrange(40) / 4 for _ in range(197))]
    db = workbench.make({"id": ("INTEGER", rng.sample(range(200), 200)), "x": ("DOUBLE", values)})
    given: dict[str, Any] = {"db": db, "keep": "id", "accept_unique": "id", "columns": "x", "into": "released"}
    sqlmicro.individual_ranking("records", k=3, nulls="keep", seed="2026-11", rows_are_persons=True, **given)
    attacked = {"db": db, "original": "records", "release": "released", "attack": "key-replay", "match": "id"}
    told = workbench.folder / "manifest.json"
    for seed, found in (("2026-11", True), ("2026-12", False)):
        told.write_text(f'{{"seed": "{seed}"}}', encoding="utf-8")
        (row,) = sqlmicro.attack(**attacked, manifest=str(told))["attacks"]
        assert (row["rate"] == 1.0) is found
        assert found or holds(row, row["chance"])


@pytest.mark.parametrize(
    ("steps", "promise"),
    [
        (["record"], "record"),
        (["record", "column"], "column"),
        (["block", "record"], "block"),
        (["masked", "record"], "masked"),
    ],
)
def test_several_steps_promise_what_the_weakest_does(steps: list[Promise], promise: Promise) -> None:
    assert least(steps) == promise


def test_a_safe_release_is_known_by_its_promise(workbench: Any) -> None:
    """One of its settings is called `method` too, and must not stand for the name of the step."""
    towns = random.Random(5).choices("ab", k=40)
    db = workbench.make({"id": ("INTEGER", list(range(40))), "town": ("VARCHAR", towns)})
    sqlmicro.safe(
        "records", db=db, columns="town", keep="id", accept_unique="id", method="search", seed="1", into="released"
    )
    found = sqlmicro.attack(db=db, original="records", release="released", match="id", attack="linkage")
    assert found["promise"] == "record"


def _all_but_id(db: str) -> tuple[str, ...]:

    with opened(db, read_only=True) as connection:
        names = [row[0] for row in connection.execute("DESCRIBE records").fetchall()]
    return tuple(name for name in names if name != "id")
