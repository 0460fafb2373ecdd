"""An attack says which attacks it did not try, and why: what is not in a table is not taken for harmless."""

from __future__ import annotations

import json
import random

import pytest
from conftest import reported
from databases import opened
from typer.testing import CliRunner
from world import Workbench

import sqlmicro
from sqlmicro.attacks.registry import attacks
from sqlmicro.cli import app
from sqlmicro.reports.page import markdown
from sqlmicro.system.reporting import as_json

CONTROL = "--control TABLE, or to be named with --attack: the release is then rehearsed"


@pytest.fixture
def db(workbench: Workbench) -> str:
    rng = random.Random(1)
    path = workbench.make({
        "id": ("INTEGER", list(range(120))), "age": ("INTEGER", [rng.randrange(18, 90) for _ in range(120)]),
        "town": ("VARCHAR", [rng.choice("abc") for _ in range(120)]),
    })  # fmt: skip
    sqlmicro.mdav("records", db=path, columns=["age"], keep=["id", "town"], accept_unique=["id"], k=3, into="out")
    return path


def test_what_was_not_tried_is_listed_with_its_reason(db: str) -> None:
    report = sqlmicro.attack(original="records", release="out", db=db)
    left = {row["name"]: row["why"] for row in report["not_tried"]}
    assert left == {
        "all-records": "needs --person, and a release that has its columns: they tell which records belong together",
        "insider": "needs --match",
        "homogeneity": "needs --sensitive",
        "known-columns": "needs --known-columns",
        "membership": f"needs {CONTROL}",
        "singling-out": f"needs {CONTROL}",
        "linkability": f"needs {CONTROL}",
        "inference": f"needs --sensitive and {CONTROL}",
        "leave-one-out": f"needs {CONTROL}",
        "averaging": "needs --match and a second --release",
        "same-order": "needs a second --release",
        "difference": "needs --match and a second --release",
        "totals": "needs a second --release",
    }
    # Every attack there is was tried or is listed.
    assert {row["name"] for row in report["attacks"]} | set(left) == set(attacks())
    matched = sqlmicro.attack(original="records", release="out", db=db, match="id", sensitive="town")
    assert {row["name"] for row in matched["not_tried"]} == {
        "all-records", "averaging", "same-order", "difference", "totals", "membership",
        "singling-out", "linkability", "inference", "leave-one-out", "known-columns",
    }  # fmt: skip
    # Who asks for one has not asked for the others.
    assert sqlmicro.attack(original="records", release="out", db=db, attack="row-order")["not_tried"] == []


@pytest.mark.slow
def test_text_json_and_report_say_it(db: str) -> None:
    given = ["attack", "--db", db, "--original", "records", "--release", "out"]
    shown = " ".join(CliRunner().invoke(app, given).stdout.split())
    assert "not tried all-records: needs --person, and a release that has its columns" in shown
    assert "insider: needs --match" in shown
    told = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert [row["name"] for row in told["not_tried"]][:2] == ["all-records", "insider"]
    found = reported("report", release="out", db=db, sample=50)
    assert as_json(found.not_tried) == told["not_tried"]
    assert "The attack insider: needs --match.\n- The attack homogeneity: needs --sensitive." in markdown(found)


def test_what_found_nothing_to_attack_is_said_too(db: str) -> None:
    """Two releases with no record in common cannot be intersected: that is a reason, not a silence."""

    with opened(db) as connection:
        connection.execute("CREATE TABLE first AS FROM out WHERE id < 60")
        connection.execute("CREATE TABLE second AS FROM out WHERE id >= 60")
    report = sqlmicro.attack(original="records", release=["first", "second"], db=db, match="id")
    left = {row["name"]: row["why"] for row in report["not_tried"]}
    assert left["difference"] == "--match must find the records of one release in the other"
