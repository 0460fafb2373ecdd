"""A plan that somebody has edited is not applied, also when its hash is made anew; nor one over a view for a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from world import execute

import sqlmicro
from sqlmicro.jobs import approval, run
from sqlmicro.system.progress import Progress

POLICY = """
db = "w.duckdb"
[[table]]
name = "persons"
drop = ["id"]
rows_are_persons = true
[[table.step]]
do = "mdav"
columns = ["age"]
k = 5
[[table.step]]
do = "publish"
into = "persons_r"
overwrite = true
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Return a plan that was made, of a table of 40 persons."""
    execute(tmp_path, "CREATE TABLE persons AS SELECT i AS id, 18 + i % 20 AS age FROM range(40) AS r(i)")
    (tmp_path / "p.toml").write_text(POLICY)
    assert sqlmicro.plan(str(tmp_path / "p.toml"))["passed"]
    return tmp_path / "p.plan.json"


def edited(plan: Path, change: Callable[[Any], object]) -> str:
    """Edit a plan, make its hash anew as its maker does, and return the hash."""
    told = json.loads(plan.read_text())
    change(told)
    body = {name: value for name, value in told.items() if name not in ("hash", "seal")}
    told["hash"] = sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
    plan.write_text(json.dumps(told))
    return str(told["hash"])


def k_of_two(told: Any) -> None:
    (table,) = told["job"]["table"]
    table["step"][0]["k"] = 2


def released(plan: Path) -> int:
    ((count,),) = execute(plan.parent, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'persons_r'")[0]
    return int(count)


@pytest.mark.parametrize("seal", ["its own", "none", "another", "no text"])
def test_an_edited_plan_is_not_applied_with_a_new_hash(plan: Path, seal: str) -> None:
    signed = json.loads(plan.read_text())["hash"]
    hashed = edited(plan, k_of_two)
    others = {"its own": {}, "none": {"seal": None}, "another": {"seal": "0" * 32}, "no text": {"seal": {"a": 1}}}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), **others[seal]}))
    for approved in (None, signed):
        with pytest.raises(sqlmicro.AuditFailed, match=r"(?s)apply.*Nothing was published"):
            sqlmicro.apply(str(plan), approved=approved)
    assert not released(plan)
    assert not (plan.parent / "p.applied.json").exists()
    assert sqlmicro.apply(str(plan), approved=hashed, dry_run=True), "whoever signs it off decides"


def test_a_seal_is_of_one_plan(plan: Path) -> None:
    """That of an earlier plan of the same user is none of this one."""
    before = json.loads(plan.read_text())
    (plan.parent / "p.toml").write_text(POLICY.replace("k = 5", "k = 4"))
    sqlmicro.plan(str(plan.parent / "p.toml"))
    weaker = json.loads(plan.read_text())
    assert before["seal"] != weaker["seal"] and before["hash"] != weaker["hash"]
    plan.write_text(json.dumps({**weaker, "seal": before["seal"]}))
    with pytest.raises(sqlmicro.AuditFailed):
        sqlmicro.apply(str(plan))
    plan.write_text(json.dumps(before))
    assert sqlmicro.apply(str(plan))


def test_a_plan_of_another_user_needs_its_hash(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = json.loads(plan.read_text())["hash"]
    monkeypatch.setenv("SQLMICRO_SECRET", "another secret of at least sixteen bytes")
    with pytest.raises(sqlmicro.AuditFailed, match="Give --approved HASH"):
        sqlmicro.apply(str(plan))
    assert not released(plan)
    sqlmicro.apply(str(plan), approved=hashed)
    assert released(plan)
    monkeypatch.setenv("SQLMICRO_SECRET", "a third secret of at least sixteen bytes")
    differences = sqlmicro.plan(str(plan.parent / "p.toml"))["differences"]
    assert [(one["what"], one["decided"]) for one in differences] == [("not sealed by this user", True)]


def test_what_is_checked_is_what_is_done(plan: Path) -> None:
    """The file is read once: an edit that comes after the check changes neither what is done nor what is noted."""
    options = approval.ApplyOptions(plan=str(plan))
    told = approval.approved_plan(options)
    edited(plan, k_of_two)
    jobs = approval.approved_jobs(options, told, Progress(enabled=False))
    assert [step.settings["k"] for job in jobs for step in job.steps] == [5]
    run.execute(jobs)
    approval.note_applied(options, told)
    noted = json.loads((plan.parent / "p.applied.json").read_text())
    assert noted["job"]["table"][0]["step"][0]["k"] == 5


def test_a_table_that_became_a_view_is_drift(plan: Path) -> None:
    execute(
        plan.parent, "ALTER TABLE persons RENAME TO hidden", "CREATE TABLE one AS SELECT 18 AS age",
        "CREATE VIEW persons AS SELECT id, age FROM hidden",
    )  # fmt: skip
    with pytest.raises(sqlmicro.AuditFailed, match="a view in place of a table persons"):
        sqlmicro.apply(str(plan))
    assert not released(plan)


def test_a_table_that_becomes_a_view_is_decided_in_a_plan(plan: Path) -> None:
    sqlmicro.apply(str(plan))
    execute(plan.parent, "ALTER TABLE persons RENAME TO hidden", "CREATE VIEW persons AS SELECT id, age FROM hidden")
    policy = plan.parent / "p.toml"
    policy.write_text('leave_out = ["hidden"]\n' + POLICY)
    report = sqlmicro.plan(str(policy))
    told = [(one["what"], one["where"], one["decided"]) for one in report["differences"]]
    assert (report["passed"], told) == (False, [("a view in place of a table", "persons", False)])
    assert sqlmicro.plan(str(policy), accept=["persons"])["passed"]
    sqlmicro.apply(str(plan))
    assert sqlmicro.plan(str(policy))["differences"] == []


@pytest.mark.slow
def test_a_table_that_becomes_a_view_after_the_check_is_drift(plan: Path) -> None:
    options = approval.ApplyOptions(plan=str(plan))
    jobs = approval.approved_jobs(options, approval.approved_plan(options), Progress(enabled=False))
    execute(plan.parent, "ALTER TABLE persons RENAME TO hidden", "CREATE VIEW persons AS SELECT id, age FROM hidden")
    with pytest.raises(sqlmicro.AuditFailed, match="a view in place of a table persons"):
        run.execute(jobs)
    assert not released(plan)


@pytest.mark.parametrize("change", ["CREATE OR REPLACE VIEW inner_view AS SELECT id, age + 1 AS age FROM hidden",
                                    "CREATE OR REPLACE MACRO moved(x) AS x + 2"])  # fmt: skip
def test_a_view_that_reads_otherwise_is_drift(plan: Path, change: str) -> None:
    """Its own text, or that of a view or macro that it reads through; a plan says so, and has it accepted."""
    execute(
        plan.parent, "ALTER TABLE persons RENAME TO hidden", "CREATE MACRO moved(x) AS x",
        "CREATE VIEW inner_view AS SELECT id, moved(age) AS age FROM hidden",
        "CREATE VIEW persons AS SELECT id, age FROM inner_view",
    )  # fmt: skip
    policy = plan.parent / "p.toml"
    policy.write_text('leave_out = ["hidden", "inner_view"]\n' + POLICY)
    assert sqlmicro.plan(str(policy), accept=["persons"])["passed"]
    execute(plan.parent, change)
    with pytest.raises(sqlmicro.AuditFailed, match="another text of the view persons"):
        sqlmicro.apply(str(plan))
    assert not released(plan)
    assert sqlmicro.plan(str(policy), accept=["persons"])["passed"]
    sqlmicro.apply(str(plan))
    assert released(plan)
    execute(plan.parent, change.replace("+ 1", "+ 3").replace("+ 2", "+ 4"))
    report = sqlmicro.plan(str(policy))
    told = [(one["what"], one["where"], one["decided"]) for one in report["differences"]]
    assert (report["passed"], told) == (False, [("another text of the view", "persons", False)])
