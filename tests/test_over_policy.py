"""What is done with every release of a policy by one command: checked, certified, verified, reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command import run
from databases import opened
from world import execute, warehouse

import sqlmicro
from sqlmicro.api import python_function

POLICY = """db = "w.duckdb"
seed = "over"
leave_out = []
min_join_k = 1
"""
TABLE = """
[[table]]
name = "{0}"
drop = ["id"]
[[table.step]]
do = "mdav"
columns = ["age", "pay"]
k = 3
[[table.step]]
do = "publish"
{1}
overwrite = true
"""
verify = python_function("verify")
NAMES = ("one", "two", "three")


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a policy whose three releases are out, and a key to sign with."""
    folder = tmp_path_factory.mktemp("applied")
    made = "CREATE TABLE {} AS SELECT i AS id, 20 + i * 7 % 50 AS age, i * 31 % 900 AS pay FROM range(60) r(i)"
    warehouse(folder, *map(made.format, NAMES))
    targets = ("", 'into = "others"', 'into = "Third \\"one\\""')
    text = POLICY + "".join(map(TABLE.format, NAMES, targets))
    (folder / "policy.toml").write_text(text)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / "key")], check=True)
    assert run("plan", "policy.toml", cwd=folder).returncode == 0
    assert run("apply", "policy.plan.json", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def copy(applied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for one in applied.iterdir():
        if one.is_file():
            (tmp_path / one.name).write_bytes(one.read_bytes())
    (tmp_path / "key").chmod(0o600)
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "w.duckdb") as con:  # a file is known by its path
        con.execute("UPDATE sqlmicro.releases SET place = replace(place, ?, ?)", [str(applied), str(tmp_path)])
    return tmp_path


def stranger(*words: str) -> subprocess.CompletedProcess[str]:
    """Check as somebody does who has the one file."""
    return subprocess.run([sys.executable, "-m", "sqlmicro.verify", *words], capture_output=True, text=True)


def codes(report: dict[str, Any]) -> list[int]:
    return [one["exit_code"] for one in report["releases"]]


def test_one_command_for_all(applied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(applied)
    said = [
        run("check", "policy.toml"),
        run("certify", "policy.plan.json", "--to", "out", "--key", "key"),
        run("verify", "policy.toml", "--certificate", "out", "--signers", "key.pub"),
        run("report", "policy.toml", "--to", "pages"),
    ]
    assert [one.returncode for one in said] == [0, 0, 0, 0], [one.stderr for one in said]
    for one in said:
        assert all(name in one.stdout for name in ("one_anonymized", "others", "Third"))
        assert "3 of 3 releases of policy." in one.stdout
    assert "next  sqlmicro certify policy.toml" in said[0].stdout and "next  sqlmicro verify" in said[1].stdout
    pages = sorted(one.name for one in (applied / "pages").iterdir())
    assert pages == ["Third~20~~22~one~22~.html", "one_anonymized.html", "others.html"]
    assert "signed by key, with the key SHA256:" in " ".join(said[2].stdout.split())


def test_a_stranger_verifies_what_was_written(copy: Path) -> None:
    assert sqlmicro.certify("policy.toml", to="out", key="key")["exit_code"] == 0
    (copy / "signers").write_text(f"owner {(copy / 'key.pub').read_text()}")
    with opened(copy / "w.duckdb") as con:
        pq.write_table(con.sql("FROM others ORDER BY ALL").to_arrow_table(), copy / "others.parquet")
    words = ["others.parquet", "out/others.certificate.json"]
    assert stranger(*words, "--signers", "signers").stdout.startswith("VERIFIED")
    done = stranger(*reversed(words), "--any-signer")
    assert done.returncode == 2 and "Give RELEASE first" in done.stderr


def test_one_that_fails_keeps_no_other_from_it(copy: Path) -> None:
    sqlmicro.certify("policy.toml", to="out", key="key")
    execute(copy, "UPDATE others SET age = age + rowid")
    assert codes(sqlmicro.check("policy.toml")) == [0, 1, 0]
    assert codes(verify("policy.toml", certificate="out", signers="key.pub")) == [0, 1, 0]
    assert codes(sqlmicro.certify("policy.toml", to="again", key="key")) == [0, 1, 0]
    assert codes(sqlmicro.report(policy="policy.toml", to="pages")) == [0, 1, 0]
    execute(copy, "DROP TABLE others")
    done = run("check", "policy.toml")
    assert done.returncode == 2 and "2 of 3 releases" in done.stdout and "next" not in done.stdout
    assert run("verify", "policy.toml", "--certificate", "out", "--signers", "key.pub").returncode == 2


def test_what_is_there_must_be_what_the_policy_has_published(copy: Path) -> None:
    """A column of names beside, a release of another job, one that was withdrawn, and a policy that asks for more."""
    execute(copy, "CREATE OR REPLACE TABLE others AS SELECT *, 'Anna ' || rowid AS name FROM others")
    given = {"columns": ["age", "pay"], "drop": ["id"], "k": 2, "alone_because": "a test"}
    sqlmicro.mdav("one", db="w.duckdb", **given, into="one_anonymized", overwrite=True)
    sqlmicro.ledger("withdraw", 3, reason="a test", db="w.duckdb")
    for done in (sqlmicro.check("policy.toml"), sqlmicro.report(policy="policy.toml", to="pages")):
        assert codes(done) == [1, 1, 1]
        steps, content, out = (one["found"] for one in done["releases"])
        assert "must be released by the steps of the policy" in steps and "must be a release that is out" in out
        assert "must be as it was published" in content and "Anna" not in content
    text = (copy / "policy.toml").read_text()
    (copy / "policy.toml").write_text(text.replace("k = 3", "k = 20"))
    done = run("check", "policy.toml")
    assert done.returncode == 2 and "must be as it was applied" in " ".join(done.stderr.split())
    assert run("check", "policy.plan.json").returncode == 1


def test_who_signed_is_asked_for(copy: Path) -> None:
    sqlmicro.certify("policy.toml", to="out", unsigned=True)
    found = run("verify", "policy.toml", "--certificate", "out", "--signers", "key.pub", "--json")
    assert found.returncode == 1 and codes(json.loads(found.stdout)) == [1, 1, 1]
    assert codes(verify("policy.toml", certificate="out", any_signer=True)) == [0, 0, 0]


def test_what_is_asked_wrongly_is_told(copy: Path) -> None:
    (copy / "file.txt").write_text("")
    for words, said in (
        (["certify", "policy.toml", "--to", "a.json", "--key", "key"], "must be a folder"),
        (
            ["certify", "policy.toml", "--to", "out", "--unsigned", "--rows-to", "a.parquet"],
            "Certify that release alone",
        ),
        (["report", "policy.toml"], "names a folder"),
        (["report"], "--release ID|TABLE, or of all releases of a POLICY"),
        (["check", "nothing.toml"], "there must be a job file"),
        (["verify", "policy.toml", "--certificate", "out", "--signers", "none.pub"], "or a public key"),
        (["verify", "absent", "--db", "w.duckdb", "--certificate", "a.json"], "names a file or a table"),
    ):
        done = run(*words)
        assert done.returncode == 2 and said in " ".join(done.stderr.split()), done.stderr
