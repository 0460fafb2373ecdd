"""A risk-utility map holds only what was measured in the same way over the same columns."""

from __future__ import annotations

import random
from typing import Any

import pytest
from conftest import reported
from world import Workbench

import sqlmicro
from sqlmicro.reports.sections import sections
from sqlmicro.system.reporting import as_json

COLUMNS = ["age", "zip", "household", "rooms", 'net "income"']


@pytest.fixture
def db(workbench: Workbench) -> str:
    rng = random.Random(11)
    return workbench.make({
        "age": ("INTEGER", [rng.randrange(18, 90) for _ in range(300)]),
        "zip": ("INTEGER", [rng.randrange(50) for _ in range(300)]),
        "household": ("INTEGER", [rng.randrange(1, 6) for _ in range(300)]),
        "rooms": ("INTEGER", [rng.randrange(1, 8) for _ in range(300)]),
        'net "income"': ("DOUBLE", [round(rng.lognormvariate(8, 1), 2) for _ in range(300)]),
        "town": ("VARCHAR", [rng.choice("abcdef") for _ in range(300)]),
    })  # fmt: skip


@pytest.mark.slow
def test_a_release_that_keeps_columns_is_not_called_better(db: str) -> None:
    """`mdav` of three columns (k = 1 over the five that it released) stood at a risk of 1/5, left of `safe` of five."""
    sqlmicro.mdav(
        "records", db=db, columns=COLUMNS[:3], keep=COLUMNS[3:], drop=["town"], accept_unique=COLUMNS[4:], k=5,
        into="three", alone_because="a test",
    )  # fmt: skip
    sqlmicro.mdav("records", db=db, columns=COLUMNS, drop=["town"], k=5, into="five", alone_because="a test")
    sqlmicro.mdav("records", db=db, columns=COLUMNS[:3], rest="drop", k=5, into="fewer", alone_because="a test")
    facts = reported("report", release="five", db=db, sample=300)
    found = as_json(facts)
    points = {point["label"]: point for point in found["candidates"]}
    assert set(points) == {"three", "five"}
    assert found["other_candidates"] == [{"label": "fewer", "why": "has other columns"}]
    # The risk is that of an attack with all five columns, for both.
    for label, point in points.items():
        attacked = sqlmicro.attack(original="records", release=label, db=db, columns=COLUMNS, attack="linkage")
        assert point["risk"] == attacked["attacks"][0]["rate"]
    assert points["three"]["risk"] > 0.9 > 0.2 >= points["five"]["risk"]
    # Loss is the mean over the five: what was kept lost nothing.
    three = sqlmicro.mdav("records", db=db, columns=COLUMNS[:3], rest="drop", k=5, into="again", alone_because="a test")
    assert points["three"]["loss"] == pytest.approx(sum(three["IL_by_column"].values()) / 5, rel=0.2)
    (section,) = [section for section in sections(facts) if section.key == "map"]
    assert section.blocks[0].text[-1] == "Not on this map, because they were not measured alike:"
    assert section.blocks[0].items == ["fewer: has other columns"]


@pytest.mark.slow
def test_a_loss_that_was_not_measured_is_not_zero(db: str) -> None:
    """Ages recoded to ranges have no IL: such a release is on no map, instead of at a loss of 0."""
    for name in ("a", "b"):
        sqlmicro.mdav("records", db=db, columns=["age", "zip"], rest="drop", k=5, into=name)
    sqlmicro.generalize("records", db=db, columns=["age", "zip"], width=["age=20", "zip=20"], rest="drop", into="wide")
    found = sqlmicro.report(release="a", db=db, sample=50)
    assert [point["label"] for point in found["candidates"]] == ["a", "b"]
    assert found["other_candidates"] == [{"label": "wide", "why": "its loss was not measured for every column"}]


@pytest.mark.slow
def test_a_release_that_is_gone_is_on_no_map(db: str) -> None:
    import duckdb

    for name in ("a", "b", "c"):
        sqlmicro.mdav("records", db=db, columns=COLUMNS, drop=["town"], k=5, into=name)
    with duckdb.connect(db) as connection:
        connection.execute("DROP TABLE b")
    found = sqlmicro.report(release="a", db=db, sample=50)
    assert [point["label"] for point in found["candidates"]] == ["a", "c"]
    assert sqlmicro.report(release="a", db=db, sample=0)["candidates"] == []


@pytest.mark.slow
def test_candidates_are_compared_over_all_that_is_released(db: str) -> None:
    """Strata are released too, also by methods that have none: every candidate is linked with the same columns."""
    options: dict[str, Any] = {"db": db, "columns": ["age", "zip"], "by": ["household"], "seed": "1"}
    report = sqlmicro.compare("records", methods=["mdav", "noise(amount=0.2)"], k=["5"], **options)
    assert [row["columns"] for row in report["candidates"]] == [["age", "zip", "household"]] * 2
    assert all(row["on_map"] for row in report["candidates"])
    verdicts = [row["verdict"] for row in report["candidates"]]
    assert [(one["status"], one["passed"]) for one in verdicts] == [("held", True), ("none", None)]
    assert verdicts[0]["attack"]["rate"] == report["candidates"][0]["risk"]


@pytest.mark.slow
def test_what_was_measured_over_other_columns_is_on_no_map(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pseudonyms are known to nobody: what is left to attack with are the strata, which is no risk to compare."""
    from sqlmicro.reports.audit_text import compare

    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef-of-the-test")
    options: dict[str, Any] = {"db": db, "columns": ["town"], "by": ["household"], "max_risk": 1.0}
    found = reported("compare", "records", methods=["mdav", "suppress", "pseudonymise"], k=["5"], **options)
    report = as_json(found)
    rows = {row["method"]: row for row in report["candidates"]}
    assert rows["pseudonymise"]["columns"] == ["household"]
    assert not rows["pseudonymise"]["on_map"]
    assert not rows["pseudonymise"]["front"]
    assert report["best"] in ("mdav k=5", "suppress k=5")
    assert "measured over other columns: pseudonymise (household)" in " ".join(compare(found).split())
    alone = sqlmicro.compare("records", db=db, columns=["town"], methods=["mdav", "pseudonymise"], k=["5"])
    assert "an attacker may know" in alone["candidates"][1]["error"]
