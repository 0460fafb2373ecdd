"""`sqlmicro report`: what it finds, what it refuses, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import reported
from databases import opened
from typer.testing import CliRunner
from world import Workbench

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.sections import sections

from .conftest import CITY, INCOME, RECORDS, TABLE, World


def test_what_was_promised_and_found(facts: dict[str, Any], world: World) -> None:
    assert (facts["release"], facts["table"], facts["source"]) == (1, "release", TABLE)
    assert facts["quasi"] == [INCOME, "age"]
    assert facts["kept"] == ["person", CITY]
    assert facts["records_before"] == {"recorded": RECORDS, "now": RECORDS}
    assert facts["min_k"] == 3
    (step,) = facts["steps"]
    assert (step["method"], step["k"]) == ("mdav", 3)
    assert step["promise"].startswith("every record occurs at least k times")
    with duckdb.connect(world.db, read_only=True) as connection:
        il, k = connection.execute("SELECT il, k FROM sqlmicro.releases WHERE id = 1").fetchall()[0]
    assert facts["loss"]["IL"] == il
    verdict = facts["verdict"]
    assert verdict["promised"] == [{"k": 3, "columns": [INCOME, "age"], "found": k}]
    assert (verdict["status"], verdict["k"], verdict["k_released"]) == ("lowered", k, 1)
    assert verdict["columns"] == ["person", INCOME, "age", CITY]
    (check,) = [row for row in facts["audits"] if row["check"] == "k-anonymity"]
    assert (check["value"], check["threshold"], check["passed"]) == (k, 3, True)


def test_releases_of_the_same_source_are_on_the_map(facts: dict[str, Any]) -> None:
    points = {point["label"]: point for point in facts["candidates"]}
    assert set(points) == {"release", "coarse", "by column"}
    assert {point["risk"] for point in points.values()} == {1.0}  # person is released, and tells who it is
    assert points["release"]["loss"] < points["coarse"]["loss"]
    assert points["release"]["chosen"]
    assert set(points["release"]) == {"label", "risk", "loss", "command", "chosen", "front"}


def test_attacks_are_made_on_a_sample(found: Facts, facts: dict[str, Any]) -> None:
    assert facts["attacks"]
    (section,) = [section for section in sections(found) if section.key == "attacks"]
    assert "it does not cover person" in " ".join(section.blocks[0].text)
    for attack in facts["attacks"]:
        assert set(attack) == {"name", "rate", "ci", "chance", "n"}
        assert attack["ci"][0] <= attack["rate"] <= attack["ci"][1]
        assert attack["n"] <= 50


def test_deviations_by_table_add_up(facts: dict[str, Any]) -> None:
    """The only nominal column was kept as it was: one table, no deviation."""
    (table,) = facts["deviations"]["tables"]
    assert (table["columns"], table["share"], table["changed"], table["cells"]) == ([CITY], 0.0, 0, 5)


def test_deviations_by_hand(workbench: Workbench) -> None:
    """6 records, a one-way and a two-way table. u: x 3 to 2, y 3 to 4: one record of six moved.

    The pairs were (x, p) 2, (x, q) 1, (y, p) 1, (y, q) 2 and are (x, p) 2, (y, p) 2, (y, q) 2: one of six again.
    """
    before = {"u": ("VARCHAR", ["x", "x", "x", "y", "y", "y"]), "v": ("VARCHAR", ["p", "p", "q", "p", "q", "q"])}
    after = {"u": ("VARCHAR", ["x", "x", "y", "y", "y", "y"]), "v": ("VARCHAR", ["p", "p", "p", "p", "q", "q"])}
    db = workbench.make(before, "before")
    other = workbench.make(after, "after")
    with duckdb.connect(db) as connection:
        connection.execute(f"ATTACH '{other}' AS other (READ_ONLY)")
        connection.execute('CREATE TABLE "after" AS FROM other."after"')
    found = sqlmicro.report(release="after", db=db, original="before", quasi=["u", "v"], sample=0, min_k=2)
    tables = {tuple(table["columns"]): table for table in found["deviations"]["tables"]}
    assert {key: table["share"] for key, table in tables.items()} == {
        ("u",): pytest.approx(1 / 6), ("v",): pytest.approx(1 / 6), ("u", "v"): pytest.approx(1 / 6),
    }  # fmt: skip
    assert tables["u", "v"]["changed"] == 2
    assert found["verdict"]["promised"] == [{"k": 2, "columns": ["u", "v"], "found": 2}]
    assert (found["verdict"]["status"], found["verdict"]["k"]) == ("held", 2)
    assert found["release"] is None


def test_what_nobody_promised_is_not_held(world: World) -> None:
    """Of each column alone k = 4 was promised: so many records are behind every figure too."""
    found = sqlmicro.report(release="by column", db=world.db, sample=0)
    assert [found["verdict"][name] for name in ("status", "k", "k_released")] == ["none", None, 1]
    assert found["min_k"] == 4
    assert found["passed"] is None
    asked = sqlmicro.report(release="by column", db=world.db, sample=0, min_k=4)
    assert [asked["verdict"][name] for name in ("status", "k", "k_released")] == ["broken", 1, 1]
    assert not asked["passed"]


def test_persons_are_counted_where_they_are_named(world: World) -> None:
    found = sqlmicro.report(release="release", db=world.db, sample=0, person="person", sensitive=[CITY])
    assert "at least 3 persons (person)" in found["verdict"]["sentence"]
    assert {"l-diversity", "t-closeness"} <= {row["check"] for row in found["audits"]}


@pytest.mark.slow
def test_what_a_release_in_place_has_emptied_is_not_released(tmp_path: Path) -> None:
    """They are columns of the table, but hold nothing; what somebody fills since counts."""
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute("CREATE TABLE records AS SELECT i % 4 AS x, 'n' || i AS name, i AS y FROM range(24) AS r(i)")
    sqlmicro.mdav("records", db=db, columns=["x"], k=3, rest="drop", in_place=True)
    found = sqlmicro.report(release="records", db=db)
    assert (found["verdict"]["columns"], found["quasi"]) == (["x"], ["x"])
    assert "released too" not in json.dumps(found)
    with opened(db) as connection:
        connection.execute("UPDATE records SET y = rowid")
    found = sqlmicro.report(release="records", db=db)
    assert (found["verdict"]["columns"], found["verdict"]["k_released"]) == (["x", "y"], 1)


@pytest.mark.slow
def test_in_place_there_is_no_before(workbench: Workbench) -> None:
    db = workbench.make({"x": ("DOUBLE", [float(i) for i in range(60)])})
    sqlmicro.mdav("records", db=db, columns=["x"], k=3, in_place=True)
    found = reported("report", release="1", db=db)
    assert found.original is None
    assert "there is no before" in found.no_original
    assert found.attacks == []
    assert all(bar.before is None for column in found.columns for bar in column.bars)
    from sqlmicro.reports.page import html

    assert "took the place of the original" in html(found)


@pytest.mark.slow
def test_a_source_that_is_gone_or_has_changed_is_said(workbench: Workbench) -> None:
    from sqlmicro.reports.page import markdown

    db = workbench.make({"x": ("DOUBLE", [float(i) for i in range(60)])})
    sqlmicro.mdav("records", db=db, columns=["x"], k=3, into="out")
    with opened(db) as connection:
        connection.execute("DELETE FROM records WHERE x < 5")
    assert "the original now has 55" in markdown(reported("report", release="out", db=db, sample=0))
    with opened(db) as connection:
        connection.execute("DROP TABLE records")
    found = sqlmicro.report(release="out", db=db, sample=0)
    assert found["no_original"] == "its source, records, is no longer there; name it with --original"
    with opened(db) as connection:
        connection.execute('DROP TABLE "out"')
    with pytest.raises(InputError, match="what was published as 'out' must still be there"):
        sqlmicro.report(release="1", db=db)


def test_missing_values_and_dates(workbench: Workbench) -> None:
    """Missing values take part as a value of a nominal column, in none of the bins; dates are shown as days.

    The days 1 to 28 three times and 1 to 6: (3 · 406 + 21)/90 = 13.8 lies in the 13th.
    """
    days = [f"2020-01-{1 + i % 28:02d}" for i in range(90)]
    db = workbench.make(
        {
            "day": ("VARCHAR", days),
            "g": ("VARCHAR", [None if i % 3 == 0 else "a" for i in range(90)]),
            "x": ("DOUBLE", [None if i % 2 else float(i) for i in range(90)]),
        }
    )
    with opened(db) as connection:
        connection.execute("CREATE TABLE original AS SELECT CAST(day AS DATE) AS day, g, x FROM records")
        connection.execute("CREATE TABLE released AS FROM original")
    found = sqlmicro.report(release="released", db=db, original="original", quasi=["g"], sample=0)
    columns = {column["name"]: column for column in found["columns"]}
    assert {bar["label"]: bar["before"] for bar in columns["g"]["bars"]} == {
        "a": pytest.approx(2 / 3), "missing": pytest.approx(1 / 3),
    }  # fmt: skip
    assert sum(bar["before"] for bar in columns["x"]["bars"]) == pytest.approx(1)
    assert columns["day"]["bars"][0]["label"].startswith("below 2020-01-")
    assert columns["day"]["summary"][0] == {"label": "mean", "before": "2020-01-13", "after": "2020-01-13"}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"release": "99"}, InputError, "must be the number of a release .* There are: 3, 2, 1"),
        ({"release": "nobody"}, InputError, "must be a table or view"),
        ({"release": TABLE}, ParameterError, "--quasi: Is needed|--quasi: is needed"),
        ({"release": "1", "to": "report.pdf"}, ParameterError, "must end in .html"),
        ({"release": "1", "to": "nowhere/report.html"}, InputError, "the folder of 'nowhere/report.html' must exist"),
        ({"release": "1", "original": "release"}, InputError, "must not be the release itself"),
        ({"release": "1", "original": "nobody"}, InputError, "must be a table or view"),
        ({"release": "1", "overwrite": True}, ParameterError, "goes with --to"),
    ],
)
def test_what_cannot_be_is_refused(world: World, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sqlmicro.report(db=world.db, **options)


def test_a_file_is_written_once(world: World, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    given = ["report", "--db", world.db, "--release", "release", "--sample", "0", "--to", str(path)]
    first = CliRunner().invoke(app, given)
    assert first.exit_code == 0, first.output
    assert "k = 3 held" in first.stdout
    assert str(path) in "".join(first.stdout.split())
    content = path.read_text(encoding="utf-8")
    assert content.startswith("<!DOCTYPE html>")
    again = CliRunner().invoke(app, given)
    assert again.exit_code == 2
    assert "must not exist yet" in again.output
    assert CliRunner().invoke(app, [*given, "--overwrite"]).exit_code == 0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_text_goes_to_a_file_or_is_printed(world: World, tmp_path: Path) -> None:
    given = ["report", "--db", world.db, "--release", "release", "--sample", "0"]
    printed = CliRunner().invoke(app, [*given, "--markdown"])
    assert printed.stdout.startswith("# Release release\n")
    assert CliRunner().invoke(app, [*given, "--to", str(tmp_path / "report.md")]).exit_code == 0
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == printed.stdout
    as_json = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert as_json["verdict"]["status"] == "lowered"
    assert as_json["markdown"] is None


def test_a_promise_that_is_broken_is_a_failure(world: World) -> None:
    given = ["report", "--db", world.db, "--release", "by column", "--sample", "0", "--min-k", "5"]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 1
    assert "k = 5 NOT held" in found.stdout


def test_what_is_promised_of_each_column_is_measured_of_each(workbench: Workbench) -> None:
    """individual-ranking keeps two diagnoses for every released value, and promises nothing of pairs of values."""
    place = [i * 7 % 60 for i in range(60)]
    columns = {
        "age": ("BIGINT", list(range(60))), "pay": ("BIGINT", place), "sick": ("VARCHAR", ["abc"[i % 3] for i in place])
    }  # fmt: skip
    db = workbench.make(columns)
    given = {"columns": ["age", "pay"], "sensitive": ["sick"], "min_l": 2, "k": 3}
    sqlmicro.individual_ranking("records", db=db, into="out", **given)
    with opened(db) as connection:
        counts = "SELECT min(n) FROM (SELECT count(DISTINCT sick) AS n FROM out GROUP BY {})"
        of_age, of_pay, of_both = (
            connection.execute(counts.format(names)).fetchall()[0][0] for names in ("age", "pay", "age, pay")
        )
        assert of_both < 2 <= min(of_age, of_pay)
    found = sqlmicro.report(release="out", db=db, sample=0)
    rows = [
        (row["columns"], row["value"]) for row in found["audits"] if row["check"] == "l-diversity" and row["passed"]
    ]
    assert rows == [(["age", "sick"], of_age), (["pay", "sick"], of_pay)]
    assert found["verdict"]["status"] == "none"  # no k was promised over both, and no check failed
    with opened(db) as connection:
        connection.execute("UPDATE out SET sick = 'a' WHERE age = (SELECT min(age) FROM out)")
    assert sqlmicro.report(release="out", db=db, sample=0)["verdict"]["status"] == "broken"


def test_a_release_to_a_file_is_found_in_the_ledger(workbench: Workbench, tmp_path: Path) -> None:
    """Files without a database are recorded in the ledger of the user, or in the one that is named."""
    db = workbench.make({"x": ("BIGINT", list(range(30))), "y": ("BIGINT", [i * 7 % 30 for i in range(30)])})
    with opened(db) as connection:
        connection.execute(f"COPY records TO '{tmp_path / 'r.parquet'}'")
    source, out, ledger = (str(tmp_path / name) for name in ("r.parquet", "out.parquet", "own.duckdb"))
    for number, more in enumerate(({}, {"ledger": ledger})):
        sqlmicro.mdav(source, columns=["x", "y"], k=3, to=out, overwrite=True, **more)
        found = sqlmicro.report(release=out, sample=0, **more)
        assert (found["release"], found["verdict"]["status"], found["quasi"]) == (1, "held", ["x", "y"]), number
        assert sqlmicro.report(release="1", sample=0, **more)["table"] == found["table"]
    with pytest.raises(ParameterError, match="--quasi"):
        sqlmicro.report(release=out, sample=0, ledger=str(tmp_path / "none.duckdb"))
