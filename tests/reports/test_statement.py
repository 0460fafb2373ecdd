"""The headline is the worst of what was checked, and the statement says what a signature stands for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from conftest import reported
from databases import insert, opened
from hypothesis import given
from hypothesis import strategies as st
from world import Workbench, warehouse

import sqlmicro
from sqlmicro.audits.registry import AuditRow, Check
from sqlmicro.audits.verdict import DIFFERENCES, UNION_K, Attacked, Promised, Verdict, judge
from sqlmicro.audits.verdict_words import headline, sentence
from sqlmicro.database.opening import open_warehouse
from sqlmicro.reports import sections as statement
from sqlmicro.reports.collecting import after_checks
from sqlmicro.reports.content import Section
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.recorded import RecordedCheck, _later
from sqlmicro.reports.risk_sections import result
from sqlmicro.reports.sections import sections

INCOME = 'net "income"'
WORST = ["grey", "green", "amber", "red"]


def row(check: str, value: float | None, threshold: float | None, status: str) -> AuditRow:
    passed = None if status == "measured" else status == "passed"
    reason = "nobody knows" if status == "unknown" else None
    return AuditRow(check, ["a", "s"], value, threshold, False, passed, status, "own_value", reason)  # type: ignore[arg-type]


HELD = Verdict((Promised(5, ("a",), 5),), ("a",), 5, {})
NONE = Verdict((), ("a",), 1, {})


def test_a_check_that_failed_is_red_and_one_that_was_not_made_amber() -> None:
    failed = after_checks(HELD, None, [row("t-closeness", 0.5, 0.2, "failed")])
    assert (failed.colour, failed.passed, headline(failed)) == ("red", False, "k = 5 held, but a check FAILED")
    assert "Failed: t-closeness (a, s) is 0.5, at most 0.2 was demanded." in sentence(failed)
    unknown = after_checks(HELD, None, [row("t-closeness", None, 0.2, "unknown")])
    assert (unknown.colour, unknown.passed) == ("amber", True)
    assert headline(unknown) == "k = 5 held, but not every check was made"
    assert "Not made: t-closeness (a, s) is unknown, at most 0.2 was demanded: nobody knows." in sentence(unknown)
    assert after_checks(HELD, None, [row("t-closeness", 0.5, None, "measured")]) == HELD
    assert after_checks(HELD, None, [row("t-closeness", 0.1, 0.2, "passed")]) == HELD
    assert headline(after_checks(NONE, None, [row("x", 0.5, 0.2, "failed")])) == "No k promised, and a check failed"
    grey = after_checks(NONE, None, [row("x", None, 0.2, "unknown")])
    assert (grey.colour, grey.passed) == ("amber", None)


def test_what_was_published_all_the_same_is_amber_when_it_is_published_too() -> None:
    first = Check("k-anonymity", ["a"], 5, 5, True, True)
    kept = judge([first, Check(UNION_K, [], 5, 5, True, None), Check(DIFFERENCES, [], 5, 5, True, None)], {})
    assert kept.colour == "green"
    waived = judge([first, Check(UNION_K, [], 5, 5, True, None), Check(DIFFERENCES, [], 2, 5, True, None)], {})
    assert waived.colour == "amber"
    assert "Failed, and published all the same: differences is 2, at least 5 was demanded." in sentence(waived)
    assert judge([first, Check(UNION_K, [], 2, 5, True, None)], {}).colour == "amber"


parts = st.fixed_dictionaries({
    "found": st.sampled_from([None, 4, 5, 6]), "released": st.sampled_from([1, 4, 5, 6]),
    "others": st.sampled_from([None, 0, 1, 5]), "joined": st.sampled_from([None, 1, 5]),
    "status": st.sampled_from(["passed", "failed", "unknown", "measured"]), "waived": st.booleans(),
    "rate": st.sampled_from([None, 0.1, 0.9]),
})  # fmt: skip


@given(parts)
def test_the_headline_is_the_worst_of_all(made: dict[str, Any]) -> None:
    """By the rule in words, part by part: the verdict is as bad as the worst of them, and says so."""
    verdict = Verdict(
        (Promised(5, ("a",), made["found"]),), ("a", "b"), made["released"], {}, with_others=made["others"],
        joined=made["joined"], waived=("x",) if made["waived"] else (),
    )  # fmt: skip
    verdict = after_checks(verdict, None, [row("t-closeness", 0.3, 0.2, made["status"])])
    if made["rate"] is not None:
        verdict = verdict.after([Attacked("row-order", made["rate"], made["rate"] - 0.05, 0.0, 100, False)])
    bad = [
        "red" if made["found"] in (None, 4) or made["status"] == "failed" else "green",
        "amber" if made["released"] < 5 else "green",
        "amber" if made["others"] in (0, 1) else "green",
        "amber" if made["joined"] == 1 else "green",
        "amber" if made["status"] == "unknown" else "green",
        "amber" if made["waived"] else "green",
        "amber" if made["rate"] == 0.9 else "green",
    ]
    worst = max(bad, key=WORST.index)
    assert verdict.colour == worst
    assert (headline(verdict) == "k = 5 held") == (worst == "green")
    assert sentence(verdict).startswith("Every combination") == (made["found"] not in (None, 4))
    assert ("NOT held" in headline(verdict)) == (made["found"] in (None, 4))


# Releases


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    rng = random.Random(4)
    path = str(tmp_path_factory.mktemp("statement") / "w.duckdb")
    rows = [
        (i, None if i % 4 == 0 else round(rng.lognormvariate(8, 1), 2), rng.randrange(18, 90),
         rng.choice("abc"), rng.choice(["x", "y", None])) for i in range(300)
    ]  # fmt: skip
    with opened(path) as connection:
        for name in ("records", "alone", "promised"):  # of other people each: their tables have other columns
            connection.execute(
                f'CREATE TABLE {name} ({name}_id INTEGER, "net ""income""" DOUBLE, age INTEGER, '
                "illness VARCHAR, town VARCHAR)"
            )
            insert(connection, name, rows)
    given: dict[str, Any] = {"db": path, "nulls": "pattern", "rest": "drop"}
    sqlmicro.mdav("alone", columns=[INCOME, "age"], k=4, into="single", **given)
    sqlmicro.mdav("records", columns=["age"], k=4, into="first", **given)
    sqlmicro.mdav("records", columns=["age", INCOME], k=4, into="second", alone_because='for "science"', **given)
    sqlmicro.mdav(
        "promised", columns=["age"], k=6, into="diverse", sensitive=["illness"], keep=["illness"], min_l=2, **given
    )
    yield path


def told(section: Section) -> dict[str, list[str]]:
    """Return the items, texts and rows of each part of the statement."""
    parts = {}
    for block in section.blocks:
        rows = [" | ".join(row) for row in block.table.rows] if block.table else []
        parts[str(block.heading)] = [*block.text, *block.items, *rows, *block.form]
    return parts


def signed(facts: Facts) -> dict[str, list[str]]:
    (section,) = [section for section in sections(facts) if section.key == "statement"]
    assert sections(facts)[0] is not None and sections(facts)[0].key == "statement"
    return told(section)


@pytest.mark.slow
def test_the_statement_of_a_release_that_is_alone(db: str) -> None:
    facts = reported("report", release="single", db=db, sample=50)
    assert facts.verdict.colour == "green"
    found = signed(facts)
    assert found["What is promised"] == ['At least 4 records share every combination of values of net "income", age.']
    assert "The unit is one record." in found["Whom it protects"][0]
    assert "Knows these columns of a person exactly, the quasi-identifiers: net \"income\", age." in found[
        "Who is assumed to attack"
    ]  # fmt: skip
    (first, *_) = [line for line in found["What was checked"] if "|" in line]
    assert first == f'Smallest class over net "income", age | at least 4 | {facts.verdict.k} | passed'
    assert any(line.startswith("The attack insider: needs --match") for line in found["What was not checked"])
    assert found["What rests on the word of whoever made the release"] == ["Nothing."]
    assert found["Signature"][1:] == ["Name", "Function", "Place and date", "Signature"]


@pytest.mark.slow
def test_other_releases_lower_the_first_one_too(db: str) -> None:
    """The second was published although both do not keep k together: whoever has the first has that problem too."""
    for name in ("first", "second"):
        facts = reported("report", release=name, db=db, sample=0)
        assert facts.verdict.colour == "amber", name
        assert "together with other releases" in facts.verdict.headline
        assert (
            "Smallest class together with other releases, as recorded | at least 4 | 1 | passed over"
            in signed(facts)["What was checked"]
        )
        said = signed(facts)["What rests on the word of whoever made the release"]
        assert any('“for "science"”' in line for line in said), name
    with duckdb.connect(db) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS sqlmicro.withdrawn (release BIGINT, moment TIMESTAMP, reason VARCHAR)"
        )
        connection.execute("INSERT INTO sqlmicro.withdrawn VALUES (3, now()::TIMESTAMP, 'nobody has it')")
    try:
        assert reported("report", release="first", db=db, sample=0).verdict.colour == "green"
        second = reported("report", release="second", db=db, sample=0)
        assert second.verdict.colour == "amber"
        assert "Nobody has this release any more: “nobody has it”." in signed(second)[
            "What rests on the word of whoever made the release"
        ]  # fmt: skip
    finally:
        with duckdb.connect(db) as connection:
            connection.execute("DROP TABLE sqlmicro.withdrawn")


@pytest.mark.slow
def test_what_was_promised_of_sensitive_columns_is_measured_again(db: str) -> None:
    """The column need not be named to the report; when somebody makes a class alike, the report is red."""
    facts = reported("report", release="diverse", db=db, sample=50)
    assert (facts.sensitive, facts.verdict.colour) == (["illness"], "green")
    assert "illness" not in facts.attacked
    (check,) = [one for one in facts.audits if one.check == "l-diversity"]
    assert (check.threshold, check.passed) == (2, True)
    assert "l-diversity of illness: at least 2." in signed(facts)["What is promised"]
    assert "Nobody outside knows illness of a person (sensitive)." in signed(facts)[
        "What rests on the word of whoever made the release"
    ]  # fmt: skip
    with duckdb.connect(db) as connection:
        before = connection.execute("SELECT rowid, illness FROM diverse").fetchall()
        connection.execute("UPDATE diverse SET illness = 'a' WHERE age = (SELECT min(age) FROM diverse)")
    try:
        facts = reported("report", release="diverse", db=db, sample=0)
        assert (facts.verdict.status, facts.passed) == ("broken", False)
        assert facts.verdict.headline == "k = 6 held, but a check FAILED"
        assert "Failed: l-diversity (age, illness) is 1, at least 2 was demanded." in facts.verdict.sentence
    finally:
        with duckdb.connect(db) as connection:
            update = (
                "UPDATE diverse SET illness = i FROM (SELECT unnest($1) AS r, unnest($2) AS i) WHERE diverse.rowid = r"
            )
            connection.execute(update, [list(values) for values in zip(*before, strict=True)])


def test_a_check_that_was_recorded_as_failed_is_never_passed_over(db: str) -> None:
    with duckdb.connect(db) as connection:
        connection.execute("INSERT INTO sqlmicro.audits VALUES (1, 'global-risk', 0.5, 0.1, false)")
    try:
        facts = reported("report", release="single", db=db, sample=0)
        assert facts.verdict.colour == "red"
        assert "Failed: global-risk is 0.5, at most 0.1 was demanded." in facts.verdict.sentence
        assert any("1 failed, 0 passed over | FAILED" in line for line in signed(facts)["What was checked"])
    finally:
        with duckdb.connect(db) as connection:
            connection.execute("DELETE FROM sqlmicro.audits WHERE \"check\" = 'global-risk'")


@pytest.mark.slow
def test_persons_that_were_never_counted_are_no_green(workbench: Workbench) -> None:
    """k in persons was counted when it was published; without that record nothing says that it holds."""
    rng = random.Random(2)
    db = workbench.make({
        "person": ("INTEGER", [i // 2 for i in range(200)]),
        "age": ("INTEGER", [rng.randrange(60) for _ in range(200)]),
    })  # fmt: skip
    sqlmicro.mdav("records", db=db, columns=["age"], k=4, person=["person"], rest="drop", into="out")
    facts = reported("report", release="out", db=db, sample=0)
    assert (facts.verdict.colour, facts.verdict.headline) == ("green", "k = 4 held, counted in records")
    with duckdb.connect(db) as connection:
        connection.execute("DELETE FROM sqlmicro.audits WHERE \"check\" LIKE 'persons%'")
    facts = reported("report", release="out", db=db, sample=0)
    assert facts.verdict.colour == "amber"
    assert "Not made: persons (person) were never counted." in facts.verdict.sentence


def test_what_only_somebody_says_is_told_apart(db: str) -> None:
    facts = reported("report", release="single", db=db, sample=0)
    claims = replace(facts.claims, rows_are_persons=True, of_person=["age"], identifier_ok=[INCOME], withdrawn="gone")
    said = statement.only_said(replace(facts, claims=claims)).items
    assert said == [
        "Every row is a person of its own.", "age are the same in all records of a person.",
        'net "income" look like identifiers and are none.', "Nobody has this release any more: “gone”.",
    ]  # fmt: skip


def test_every_column_has_its_missing_rates(db: str) -> None:
    """75 of 300 incomes are missing before; town is not released. A release with no original has its own rates."""
    facts = reported("report", release="second", db=db, sample=0)
    (section,) = [section for section in sections(facts) if section.key == "columns"]
    table = section.blocks[0].table
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    assert rows[INCOME][2:5] == ["mdav", "25.0 %", "25.0 %"]
    assert rows["age"][2:5] == ["mdav", "0 %", "0 %"]
    assert set(rows) == {INCOME, "age"}
    with opened(db) as connection:
        connection.execute("CREATE TABLE elsewhere AS FROM second")
    bare = reported("report", release="elsewhere", db=db, quasi=["age"], sample=0)
    (section,) = [section for section in sections(bare) if section.key == "columns"]
    table = section.blocks[0].table
    assert table is not None
    assert [str(name) for name in table.header] == ["Column", "Scale", "What became of it", "Missing"]
    assert {row[0]: row[3] for row in table.rows} == {INCOME: "25.0 %", "age": "0 %"}


# The map


@pytest.mark.slow
def test_a_loss_that_was_measured_in_another_way_is_not_on_the_map(workbench: Workbench) -> None:
    """pram takes an integer as a name: its loss is the share of values changed, which is no IL."""
    rng = random.Random(9)
    db = workbench.make({
        "age": ("INTEGER", [rng.randrange(40) for _ in range(200)]),
        "x": ("DOUBLE", [rng.random() for _ in range(200)]),
    })  # fmt: skip
    given: dict[str, Any] = {"db": db, "rest": "drop", "alone_because": "compared in the house"}
    sqlmicro.mdav("records", columns=["age", "x"], k=4, into="a", **given)
    sqlmicro.mdav("records", columns=["age", "x"], k=8, into="b", **given)
    sqlmicro.pram("records", columns=["age"], keep=["x"], keep_probability=0.9, accept_unique=["x"], into="c", **given)
    sqlmicro.mdav("records", columns=["age", "x"], k=9, into="d", **given)
    with opened(db) as connection:
        connection.execute("DROP TABLE d")
    facts = reported("report", release="a", db=db, sample=50)
    assert [point.label for point in facts.candidates] == ["a", "b"]
    assert {one.label: str(one.why) for one in facts.other_candidates} == {
        "c": "its loss was measured in another way", "d": "it is gone, or is another table by now",
    }  # fmt: skip
    (section,) = [section for section in sections(facts) if section.key == "map"]
    assert "IL for age, x." in section.blocks[0].text[0]
    alone = reported("report", release="c", db=db, sample=50)
    assert len(alone.candidates) == 1
    assert {one.label for one in alone.other_candidates} == {"a", "b", "d"}
    assert "map" not in [section.key for section in sections(alone)]


def test_persons_that_were_counted_below_k_are_no_green() -> None:
    known = SimpleNamespace(audits=[RecordedCheck("persons (a)", 2, 5, False)], together=[])
    found = after_checks(replace(HELD, uncounted="person"), known, [])  # type: ignore[arg-type]
    assert found.colour == "amber"
    assert found.not_run == ("persons (person) were never counted",)


def test_a_check_that_was_not_made_did_not_pass() -> None:
    said = [str(result(RecordedCheck("x", *one))) for one in ((None, 1, False), (None, 1, True), (2, 1, None))]
    assert said == ["NOT MADE", "NOT MADE", "passed over"]


def test_what_a_withdrawn_release_did_beside_this_one_counts_no_more(tmp_path: Path) -> None:
    db = warehouse(
        tmp_path,
        "CREATE SCHEMA sqlmicro",
        """CREATE TABLE sqlmicro.releases AS
        FROM (VALUES (1, 'p', 's', NULL), (2, 'p', 's', 'a reason'), (3, 'q', 't', 'x'))
        AS r(id, people, schema_hash, alone_because)""",
        """CREATE TABLE sqlmicro.audits AS SELECT id AS release, 'union-k' AS "check", 6.0 - id AS value,
        5.0 AS threshold, NULL::BOOLEAN AS passed FROM sqlmicro.releases""",
    )
    with open_warehouse(db, read_only=True) as opened_:
        both, one = (_later(opened_, 1, withdrawn) for withdrawn in ([], [2]))
    assert ([check.value for check in both[0]], both[1]) == ([5, 4], {2: "a reason"})
    assert ([check.value for check in one[0]], one[1]) == ([5], {})
