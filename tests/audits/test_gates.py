"""Gates: what passes, what fails, what is unknown, and where the results land."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run

import sqlmicro
from sqlmicro.audits.registry import AuditRow, audits, gates

PERSONS = {
    "id": ("INTEGER", list(range(12))),
    "age": ("INTEGER", [20, 20, 20, 30, 30, 30, 40, 40, 40, 50, 50, 50]),
    "illness": ("VARCHAR", ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "flu", "flu", "cold", "cold", "flu"]),
    "income": ("DOUBLE", [float(v) for v in range(100, 112)]),
}


def command(*arguments: str) -> tuple[int, str, str]:
    done = run(*arguments)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def db(workbench: Any) -> str:
    path: str = workbench.make(PERSONS)
    return path


def test_gates_pass_fail_and_exit(db: str) -> None:
    base = ("audit", "--db", db, "--table", "records", "--quasi", "age", "--sensitive", "illness")
    code, out, _ = command(*base, "--min-k", "3", "--min-l", "1", "--max-alpha", "1", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["passed"]
    assert {row["check"]: row["status"] for row in report["audits"] if row["asked"]} == dict.fromkeys(
        ("k-anonymity", "l-diversity", "alpha-k-anonymity"), "passed"
    )
    code, out, _ = command(*base, "--min-k", "4", "--min-l", "2", "--max-t", "0.5")
    assert code == 1
    failed = [line.split()[0] for line in out.splitlines() if "FAILED" in line]
    assert failed == ["k-anonymity", "l-diversity"]
    assert "below k         12 records in 4 classes" in out
    code, out, err = command(*base, "--min-k", "4", "--quiet")
    assert (code, out, err) == (1, "", "audit: the audit failed\n")


def test_an_audit_that_could_not_run_fails_the_gate_that_asked_for_it(db: str) -> None:
    code, out, _ = command(
        "audit", "--db", db, "--table", "records", "--quasi", "age", "--max-t", "0.9", "--max-il", "10", "--json"
    )
    rows = {row["check"]: row for row in json.loads(out)["audits"]}
    assert code == 1
    for check, needs in (("t-closeness", "needs --sensitive"), ("information-loss", "needs --original and --match")):
        row = rows[check]
        assert (row["value"], row["passed"], row["status"], row["reason"]) == (None, False, "unknown", needs)
    code, out, _ = command("audit", "--db", db, "--table", "records", "--quasi", "age", "--max-t", "0.9")
    assert code == 1
    assert "unknown: needs --sensitive" in out


def test_without_a_gate_it_only_measures(db: str) -> None:
    report = sqlmicro.audit("records", db=db, quasi=["id"])
    assert report["passed"] is None
    assert {row["check"] for row in report["audits"]} == {
        "k-anonymity", "sample-uniques", "prosecutor-risk", "marketer-risk", "contribution"
    }  # fmt: skip
    assert [row["check"] for row in sqlmicro.audit("records", db=db, quasi=["id"], measure="suda")["audits"]] == [
        "suda"
    ]


def test_wrong_options_are_the_users_error(db: str) -> None:
    for given, words in (
        ({"measure": "k-anonymty"}, "Did you mean 'k-anonymity'"),
        ({"sensitive": ["age"]}, "either a quasi-identifier or sensitive"),
        ({"weight": "illness"}, "must be a column of numbers"),
        ({"min_k": 2.5}, "whole number"),
        ({"original": "records", "measure": "regression", "regress": "income"}, "y ~ x1"),
        ({"original": "nowhere"}, "must be a table"),
    ):
        with pytest.raises(sqlmicro.SqlmicroError) as refused:
            sqlmicro.audit("records", db=db, quasi=["age"], **given)
        assert refused.value.exit_code == 2
        assert words in str(refused.value)


@pytest.mark.slow
def test_results_land_beside_the_release(db: str) -> None:
    release = sqlmicro.mdav(
        "records", db=db, columns=["income"], keep=["id"], accept_unique=["id"], rest="drop", k=3, into="out"
    )
    number = release["release"]

    def recorded() -> list[Any]:
        with duckdb.connect(db, read_only=True) as connection:
            return connection.execute(
                'SELECT "check", value, threshold, passed FROM sqlmicro.audits WHERE release = $1', [number]
            ).fetchall()

    before = recorded()
    given = {"original": "records", "match": "id", "max_il": 50.0, "min_l": 2}
    report = sqlmicro.audit("out", db=db, quasi=["income"], **given)
    assert (report["release"], report["recorded"]) == (number, True)
    after = recorded()
    for row in before:
        assert row in after
    il = next(row for row in report["audits"] if row["check"] == "information-loss")
    assert ("information-loss (income)", il["value"], 50.0, True) in after
    assert ("l-diversity (income)", None, 2.0, False) in after
    assert il["value"] == pytest.approx(release["IL"])
    sqlmicro.audit("out", db=db, quasi=["income"], **given)
    assert sorted(map(str, recorded())) == sorted(map(str, after))
    sqlmicro.audit("records", db=db, quasi=["income"])
    assert len(recorded()) == len(after)


@pytest.mark.slow
def test_a_database_that_cannot_be_written_to_is_audited_all_the_same(db: str) -> None:
    sqlmicro.mdav("records", db=db, columns=["income"], rest="drop", k=3, into="out")
    arguments = ("audit", "--db", db, "--table", "out", "--quasi", "income", "--min-k", "3", "--json")
    with duckdb.connect(db, read_only=True):  # another process reads it, so that nobody may write
        done = subprocess.run([sys.executable, "-m", "sqlmicro", *arguments], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert (done.returncode, found["passed"], found["recorded"]) == (0, True, False)
    code, out, _ = command(*arguments)
    assert (code, json.loads(out)["recorded"]) == (0, True)


def test_a_job_is_held_to_any_gate(db: str, tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    text = f"""
db = "{db}"
table = "records"
keep = ["illness"]
drop = ["id"]
[[step]]
do = "mdav"
columns = ["age", "income"]
k = 3
[[gate]]
quasi = ["age", "income"]
sensitive = ["illness"]
min_k = 3
max_il = LOSS
min_l = 1
[[step]]
do = "publish"
into = "out"
"""
    job.write_text(text.replace("LOSS", "0.001"))
    with pytest.raises(sqlmicro.AuditFailed, match=r"gate 1.*information-loss .* needed at most 0.001"):
        sqlmicro.run(str(job))
    job.write_text(text.replace("LOSS", "90"))
    report = sqlmicro.run(str(job))
    rows = {row["check"]: row for row in report["audits"] if "status" in row}
    assert rows["information-loss"]["value"] == pytest.approx(report["IL"])
    assert rows["l-diversity"]["columns"] == ["age", "income", "illness"]
    with duckdb.connect(db, read_only=True) as connection:
        found = connection.execute("""SELECT "check", threshold FROM sqlmicro.audits""").fetchall()
    assert ("information-loss (age, income)", 90.0) in found
    job.write_text(text.replace("max_il = LOSS", 'original = "records"').replace('"out"', '"other"'))
    with pytest.raises(sqlmicro.JobError, match="gate 1: 'original' is not a parameter here"):
        sqlmicro.run(str(job))


def test_every_audit_says_what_it_needs_where_it_is_from_and_how_it_is_gated() -> None:
    known = audits()
    assert len({found.gate for found in known.values() if found.gate}) == len([f for f in known.values() if f.gate])
    for name, found in known.items():
        assert name == name.lower()
        assert "," not in name and " " not in name  # as a value of --measure
        assert found.source
        assert found.summary.endswith(".")
        assert not found.gate or found.gate.startswith("min_" if found.at_least else "max_")
    assert {gate.name for gate in gates()} >= {"min_k", "min_l", "max_t", "max_il", "max_risk"}


def test_rows_read_as_sentences() -> None:
    row = AuditRow("l-diversity", ["a", "b"], None, 2, True, False, "unknown", "own_value", "x")
    assert row.told == "l-diversity (a, b) is unknown: x, needed at least 2"
