"""Plan and apply: what was approved is done exactly; drift of schema, roles or keys releases nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from command import run as command
from world import execute

import sqlmicro
from sqlmicro.jobs import approval, run
from sqlmicro.options.common import PublishSettings
from sqlmicro.system.progress import Progress

POLICY = """
db = "w.duckdb"
seed = "approval"
key_file = "secret"
min_join_k = 1
leave_out = ["articles"]

[[table]]
name = "persons"
drop = ["name"]
[[table.step]]
do = "mdav"
columns = ["age"]
k = 3
[[table.step]]
do = "publish"
into = "persons_r"
overwrite = true

[[table]]
name = "orders"
person = ["customer_id"]
rest = "drop"
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.step]]
do = "publish"
into = "orders_r"
overwrite = true

[[key]]
from = "orders.customer_id"
to = "persons.id"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    execute(
        tmp_path,
        "CREATE TABLE persons AS SELECT i AS id, 'canary ' || i AS name, 18 + (i * 7) % 60 AS age FROM range(60) r(i)",
        "CREATE TABLE orders AS SELECT (i * 11) % 60 AS customer_id, (i * 31) % 97 AS amount FROM range(200) r(i)",
        "CREATE TABLE articles AS SELECT i AS x FROM range(5) r(i)",
    )
    (tmp_path / "secret").write_text("a secret of at least sixteen bytes\n")
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


def change(folder: Path, old: str, new: str) -> None:
    text = (folder / "p.toml").read_text()
    assert old in text
    (folder / "p.toml").write_text(text.replace(old, new))


def planned(folder: Path, **options: Any) -> Any:
    return sqlmicro.plan(str(folder / "p.toml"), **options)


def applied(folder: Path, **options: Any) -> Any:
    return sqlmicro.apply(str(folder / "p.plan.json"), **options)


def told(report: Any) -> list[tuple[str, str, bool]]:
    return [(one["what"], one["where"], one["decided"]) for one in report["differences"]]


def released(folder: Path) -> list[str]:
    (rows,) = execute(folder, "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%_r' ORDER BY ALL")
    return [row[0] for row in rows]


def test_a_plan_is_made_signed_off_and_applied(folder: Path) -> None:
    first = planned(folder)
    assert first["passed"]
    assert told(first) == []
    assert first["keys"] == ["orders (customer_id) to persons (id)"]
    assert {c["name"]: c["role"] for c in first["tables"][0]["columns"]} == {
        "id": "pseudonymise", "name": "drop", "age": "mdav",
    }  # fmt: skip
    assert released(folder) == []
    report = applied(folder, approved=first["hash"])
    assert [table["rows"] for table in report["tables"]] == [60, 200]
    assert released(folder) == ["orders_r", "persons_r"]
    again = planned(folder)
    assert told(again) == []
    assert again["hash"] == first["hash"]
    for name in ("p.plan.json", "p.applied.json"):
        assert "canary" not in (folder / name).read_text()


@pytest.mark.slow
def test_what_a_plan_says_is_done_whatever_the_policy_has_become(folder: Path) -> None:
    planned(folder)
    change(folder, 'drop = ["name"]', 'keep = ["name"]\nidentifier_ok = ["name"]\naccept_unique = ["name"]')
    applied(folder)
    assert execute(folder, "SELECT column_name FROM duckdb_columns() WHERE table_name = 'persons_r'")[0] == [
        ("id",), ("age",)
    ]  # fmt: skip
    assert ("changed role", "persons.name", True) in told(planned(folder))


@pytest.mark.slow_but('"mdav"')
@pytest.mark.parametrize("old", ['"drop"', '"mdav"', '"hash": "', '"rows": 6', '"format": 2', "{", ""])
def test_a_plan_that_was_changed_is_refused(folder: Path, old: str) -> None:
    planned(folder)
    file = folder / "p.plan.json"
    text = file.read_text()
    assert old in text
    new = {'"drop"': '"keep"', '"mdav"': '"shuffle"', '"hash": "': '"hash": "0', '"rows": 6': '"rows": 7'}
    file.write_text(text.replace(old, new.get(old, "[" if old else "x"), 1) if old else "")
    with pytest.raises(sqlmicro.InputError, match=r"p\.plan\.json: must be"):
        applied(folder)
    assert released(folder) == []


def test_another_plan_than_the_one_signed_off_is_refused(folder: Path) -> None:
    signed = planned(folder)["hash"]
    change(folder, "k = 3", "k = 2")
    assert planned(folder)["hash"] != signed
    with pytest.raises(sqlmicro.AuditFailed, match="--approved"):
        applied(folder, approved=signed)


DRIFT = [
    ("ALTER TABLE persons ADD nickname VARCHAR", "new column", "persons.nickname"),
    ('ALTER TABLE orders ADD "net ""income""" INTEGER', "new column", 'orders.net "income"'),
    ("ALTER TABLE orders ALTER amount TYPE DOUBLE", "changed type", "orders.amount"),
    ("ALTER TABLE persons ALTER name TYPE VARCHAR[] USING [name]", "changed type", "persons.name"),
]


@pytest.mark.slow_but("ALTER TABLE orders ALTER amount TYPE DOUBLE-changed type-orders.amount")
@pytest.mark.parametrize(("statement", "what", "where"), DRIFT)
def test_drift_of_the_schema_releases_nothing_until_it_is_decided(
    folder: Path, statement: str, what: str, where: str
) -> None:
    planned(folder)
    applied(folder)
    execute(folder, "DROP TABLE persons_r", "DROP TABLE orders_r", statement)
    with pytest.raises(sqlmicro.AuditFailed) as caught:
        applied(folder)
    assert f"{what} {where}" in str(caught.value)
    before = (folder / "p.plan.json").read_bytes()
    report = planned(folder)
    assert told(report) == [(what, where, False)]
    assert (report["passed"], report["plan"], report["hash"]) == (False, None, None)
    assert (folder / "p.plan.json").read_bytes() == before
    assert command("plan", "p.toml", cwd=folder).returncode == 1
    assert released(folder) == []
    column = where.partition(".")[2]
    if what == "changed type":
        assert planned(folder, accept=[where])["passed"]
    else:
        named = json.dumps(column)
        if where.startswith("persons"):
            change(folder, 'drop = ["name"]', f'drop = ["name", {named}]')
        else:
            change(folder, 'rest = "drop"', f"drop = [{named}]")
        assert told(planned(folder)) == [(what, where, True)]
    applied(folder)
    assert released(folder) == ["orders_r", "persons_r"]
    assert told(planned(folder)) == []


def test_a_table_that_nobody_decided_is_no_plan(folder: Path) -> None:
    execute(folder, 'CREATE SCHEMA "s 1"', 'CREATE TABLE "s 1".extra (x INTEGER)')
    report = planned(folder)
    assert told(report) == [("new table", '"s 1".extra', False)]
    assert not report["passed"]
    change(folder, '["articles"]', """["articles", '"s 1".extra']""")
    assert planned(folder)["passed"]


@pytest.mark.slow
def test_new_records_are_what_every_night_brings_unless_exact(folder: Path) -> None:
    planned(folder)
    assert applied(folder, exact=True)["passed"] is not False
    execute(folder, "INSERT INTO orders VALUES (3, 5)")
    with pytest.raises(sqlmicro.AuditFailed, match=r"records must be those .*Got orders"):
        applied(folder, exact=True)
    assert [table["rows"] for table in applied(folder)["tables"]] == [60, 201]


@pytest.mark.slow
def test_exact_needs_a_secret_that_lasts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SQLMICRO_SEED", raising=False)
    change(folder, 'seed = "approval"\n', "")
    planned(folder)
    applied(folder, exact=True)
    # A container without a home, in which no secret can be kept.
    monkeypatch.delenv("SQLMICRO_SECRET")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "p.toml"))
    signed = planned(folder)["hash"]
    with pytest.raises(sqlmicro.AuditFailed, match="Give --approved HASH"):
        applied(folder)
    with pytest.raises(sqlmicro.InputError, match="needs a secret that lasts"):
        applied(folder, exact=True, approved=signed)
    applied(folder, approved=signed)


def test_another_key_of_pseudonyms_is_refused(folder: Path) -> None:
    planned(folder)
    (folder / "secret").write_text("another secret of sixteen bytes\n")
    with pytest.raises(sqlmicro.AuditFailed, match="another key of pseudonyms of persons"):
        applied(folder)


def test_values_that_make_a_column_an_identifier_are_a_change_of_roles(folder: Path) -> None:
    change(folder, 'rest = "drop"\n', "")
    change(folder, 'do = "shuffle"\ncolumns = ["amount"]', 'do = "safe"\nmethod = "cluster"\nalgorithm = ["mdav"]')
    execute(folder, "ALTER TABLE orders ADD note VARCHAR", "UPDATE orders SET note = 'n' || amount % 4")
    planned(folder)
    execute(folder, "UPDATE orders SET note = 'u' || amount || '@example.org'")
    with pytest.raises(sqlmicro.AuditFailed, match=r"changed role orders\.note"):
        applied(folder)


@pytest.mark.slow
def test_a_table_that_changes_between_the_check_and_the_run_is_refused(folder: Path) -> None:
    planned(folder)
    options = approval.ApplyOptions(plan=str(folder / "p.plan.json"))
    jobs = approval.approved_jobs(options, approval.approved_plan(options), Progress(enabled=False))
    execute(folder, "ALTER TABLE orders ADD late VARCHAR")
    with pytest.raises(sqlmicro.AuditFailed, match=r"new column orders\.late"):
        run.execute(jobs)
    assert released(folder) == []


@pytest.mark.slow
def test_a_dry_run_publishes_nothing_and_is_not_the_last_plan(folder: Path) -> None:
    planned(folder)
    applied(folder, dry_run=True)
    assert released(folder) == []
    assert not (folder / "p.applied.json").exists()


KILLED = """
import os, sys, sqlmicro
from sqlmicro.publish import publish
real, calls = publish.record, []
def record(*given):
    calls.append(given)
    if len(calls) == 2:
        os.kill(os.getpid(), 9)
    return real(*given)
publish.record = record
sqlmicro.apply(sys.argv[1])
"""


@pytest.mark.slow
def test_a_kill_between_two_tables_publishes_neither(folder: Path) -> None:
    planned(folder)
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder / "p.plan.json")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert released(folder) == []
    assert not (folder / "p.applied.json").exists()
    applied(folder)
    assert released(folder) == ["orders_r", "persons_r"]
    assert execute(folder, "SELECT count(*) FROM sqlmicro.releases") == [[(2,)]]


@pytest.mark.slow
def test_a_signal_after_the_commit_waits_until_the_plan_is_noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(folder)
    real = run._finish

    def finish(*given: Any, **more: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        real(*given, **more)

    monkeypatch.setattr(run, "_finish", finish)
    with pytest.raises(KeyboardInterrupt, match="too late"):
        applied(folder)
    assert released(folder) == ["orders_r", "persons_r"]
    assert (folder / "p.applied.json").exists()


def test_one_table_and_files_can_be_planned(folder: Path) -> None:
    execute(folder, f"COPY persons TO '{folder}/persons.parquet'")
    (folder / "p.toml").write_text(
        'table = "persons.parquet"\ndrop = ["id", "name"]\n[[step]]\ndo = "mdav"\ncolumns = ["age"]\n'
        '[[step]]\ndo = "publish"\nto = "out.parquet"\n'
    )
    assert planned(folder)["passed"]
    assert applied(folder)["rows"] == 60
    assert (folder / "out.parquet").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('table = "t"\n[[step]]\ndo = "audit"\nquasi = ["a"]\nmin_k = 2\n', "must anonymize"),
        (POLICY.replace('db = "w', 'engine = "spark"\ndb = "w'), "engine duckdb"),
        (POLICY.replace('[[table.step]]\ndo = "mdav"', '[[table.step]]\ndo = "profile"\n[[table.step]]\ndo = "mdav"'),
         "registers or profiles"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned(folder: Path, text: str, words: str) -> None:
    (folder / "p.toml").write_text(text)
    with pytest.raises(sqlmicro.SqlmicroError, match=words):
        planned(folder)


@pytest.mark.slow
def test_what_is_decided_of_joins_is_shown_to_whoever_signs_off(folder: Path) -> None:
    planned(folder)
    applied(folder)
    change(folder, "min_join_k = 1", 'join_depth = 0\nknown = ["orders: none", "persons: count"]')
    differences = planned(folder)["differences"]
    assert [(one["where"], one["was"], one["now"], one["decided"]) for one in differences] == [
        ("join_depth", "as by default", "0", True),
        ("min_join_k", "1", "as by default", True),
        ("known", "as by default", "orders: none, persons: count", True),
    ]


def test_pseudonyms_without_a_key_are_not_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan without the key could never be applied: with a key it is not what was approved."""
    monkeypatch.delenv("SQLMICRO_PSEUDONYM_KEY", raising=False)
    with duckdb.connect(tmp_path / "w.duckdb") as c:
        c.execute("CREATE TABLE people AS SELECT i AS person_id, i % 7 AS age FROM range(60) r(i)")
    policy = tmp_path / "p.toml"
    policy.write_text(
        f'db = "{tmp_path / "w.duckdb"}"\n[[table]]\nname = "people"\n'
        '[[table.step]]\ndo = "pseudonymise"\ncolumns = ["person_id"]\n'
        '[[table.step]]\ndo = "mdav"\ncolumns = ["age"]\nk = 3\n[[table.step]]\ndo = "publish"\n'
    )
    with pytest.raises(sqlmicro.InputError, match="approved with it"):
        sqlmicro.plan(str(policy))
    assert not list(tmp_path.glob("*.json"))
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "ab" * 32)
    assert sqlmicro.plan(str(policy))["passed"]


def test_a_view_that_nobody_decided_is_no_plan(monkeypatch):
    monkeypatch.setattr(approval, "table_labels", lambda _: ["persons"])
    monkeypatch.setattr(approval, "views", lambda _: [SimpleNamespace(label=name) for name in ("told", "new")])
    job = SimpleNamespace(
        options=SimpleNamespace(table="persons", leave_out=["told"]), publish=PublishSettings(into="out")
    )
    assert [(one.what, one.where, one.decided) for one in approval._undecided(None, [job])] == [
        ("new view", "new", False)
    ]
