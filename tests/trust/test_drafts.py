"""A draft is a release that is out nowhere: trying is free, and what is published is exactly what was tried."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run
from databases import opened
from world import refused

import sqlmicro
from sqlmicro.publish import drafts

GIVEN = ("--columns", "age,sex", "--rest", "drop")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    with opened(path) as connection:
        connection.execute(
            """CREATE TABLE t AS SELECT i AS id, (i * 37) % 90 AS age, ['f', 'm'][1 + i % 2] AS sex,
            'Zyxwvut' || i AS name FROM range(200) r(i)"""
        )
    return path


def draft(db: Path, method: str = "suppress", *more: str) -> Path:
    done = run(method, "--db", db, "--table", "t", *GIVEN, "--draft", "--json", *more)
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["draft"])


def rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    with opened(path, read_only=True) as connection:
        return sorted(map(repr, connection.execute(f"FROM {table}").fetchall()))


def of_draft(folder: Path) -> list[str]:
    return sorted(map(repr, duckdb.sql(f"FROM '{folder}/rows.parquet'").fetchall()))


@pytest.mark.parametrize("method", ["suppress", "mdav", "shuffle"])
def test_what_is_published_is_what_was_drafted(db: Path, method: str) -> None:
    given = (*GIVEN, "--nominal", "sex") if method == "mdav" else GIVEN
    words = [method, "--db", db, "--table", "t", *given, "--draft", "--json"]
    folder = Path(json.loads(run(*words).stdout)["draft"])
    drafted = of_draft(folder)
    assert run("ledger", "--db", db, "--json").returncode in (0, 2)
    done = run("publish-draft", folder, "--into", "o")
    assert done.returncode == 0, done.stderr
    assert rows(db, "o") == drafted
    assert not folder.exists()
    assert not folder.parent.exists(), "nothing is left beside the database"


def test_trying_five_methods_is_refused_by_nothing_and_counts_nowhere(db: Path) -> None:
    before = db.read_bytes()
    folders = [draft(db, "mdav", "--nominal", "sex"), *(draft(db, "suppress", "--k", str(k)) for k in (4, 5, 6, 7))]
    assert db.read_bytes() == before, "nothing is written into the database"
    assert len({*folders}) == 5
    done = run("publish-draft", folders[2], "--into", "o")
    assert done.returncode == 0, done.stderr
    with opened(db, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM sqlmicro.releases").fetchall() == [(1,)]
    refused = run("publish-draft", folders[0], "--into", "p")
    assert refused.returncode == 1, "it is judged together with what is out by now"
    assert "use --draft or sqlmicro compare" in refused.stderr
    assert folders[0].exists()


def test_a_draft_of_other_records_is_not_published(db: Path) -> None:
    folder = draft(db)
    with opened(db) as connection:
        connection.execute("UPDATE t SET sex = 'x' WHERE id < 5")
    done = run("publish-draft", folder, "--into", "o")
    assert (done.returncode, "must make the release that was drafted" in done.stderr) == (2, True)
    with opened(db, read_only=True) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("t",)]


def test_another_secret_publishes_no_draft_whose_draws_depend_on_it(db: Path) -> None:
    folder = draft(db, "shuffle")
    done = run("publish-draft", folder, "--into", "o", SQLMICRO_SECRET="another lasting secret of the tests")
    assert (done.returncode, "by the same secret" in done.stderr) == (2, True)


def test_only_the_user_reads_a_draft_and_it_tells_no_value_but_those_released(db: Path) -> None:
    folder = draft(db)
    for path in (folder.parent, folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert "Zyxwvut" not in "".join(path.read_bytes().decode("latin-1") for path in folder.iterdir())


def test_a_draft_is_erased_after_a_day(db: Path) -> None:
    old, killed = draft(db), db.parent / "sqlmicro-drafts" / "mdav-9"
    killed.mkdir()
    (killed / "rows.parquet").write_text("half of it")
    for folder in (old, killed):
        os.utime(folder, (time.time() - 25 * 3600,) * 2)
    new = draft(db)
    assert (old.exists(), killed.exists(), new.exists()) == (new == old, False, True)
    os.utime(new, (time.time() - 25 * 3600,) * 2)
    done = run("publish-draft", new, "--into", "o")
    assert (done.returncode, "within 24 hours" in done.stderr) == (2, True)
    assert not new.exists()


@pytest.mark.parametrize(
    "more", [("--into", "o"), ("--to", "o.csv"), ("--in-place",), ("--overwrite",), ("--dry-run",), ("--series", "n")]
)
def test_a_draft_goes_nowhere(db: Path, more: tuple[str, ...]) -> None:
    done = run("suppress", "--db", db, "--table", "t", *GIVEN, "--draft", *more)
    assert (done.returncode, f"Got {more[0]}" in done.stderr) == (2, True), done.stderr
    assert [path.name for path in db.parent.iterdir()] == [db.name]


def test_what_is_no_draft_is_not_published(db: Path, tmp_path: Path) -> None:
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "draft.json").write_text('{"format": 1, "method": "nosuch", "given": {}, "fingerprint": ""}')
    for name in ("nowhere", "fake", "w.duckdb"):
        assert run("publish-draft", tmp_path / name, "--into", "o").returncode == 2
    assert run("publish-draft", draft(db), "--into", "o", "--series", "n").returncode == 2


def test_nobody_else_can_put_a_draft_in_the_place_of_one(db: Path, tmp_path: Path) -> None:
    folder = draft(db)
    folder.chmod(0o770)
    done = run("publish-draft", folder, "--into", "o")
    assert (done.returncode, "must be yours" in done.stderr) == (2, True)
    folder.parent.chmod(0o777)
    words = ["suppress", "--db", db, "--table", "t", *GIVEN, "--draft"]
    assert "must be yours" in run(*words).stderr
    folder.parent.rename(tmp_path / "elsewhere")
    folder.parent.symlink_to(tmp_path / "elsewhere")
    assert "must be yours" in run(*words).stderr


def test_a_failed_draft_leaves_nothing(db: Path) -> None:
    assert run("suppress", "--db", db, "--table", "t", "--columns", "nosuch", "--draft").returncode == 2
    assert [path.name for path in db.parent.iterdir()] == [db.name]


def test_the_same_in_python(db: Path) -> None:
    tried = sqlmicro.suppress("t", db=str(db), columns=["age", "sex"], rest="drop", draft=True)
    assert tried["release"] is None
    report = sqlmicro.publish_draft(tried["draft"], into="o")
    assert report["k_released"] >= 3
    assert "draft" not in report


@pytest.mark.skipif(os.name == "nt", reason="modes")
@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702])
def test_a_folder_that_others_write_to_is_none_for_drafts(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(0o755)
    drafts._refuse_open(tmp_path, "draft")
    tmp_path.chmod(mode)
    with refused("written by nobody else"):
        drafts._refuse_open(tmp_path, "draft")
