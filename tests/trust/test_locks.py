"""Locks: a release is computed while others read, and what they write before it is published is seen.

DuckDB lets several processes read a file, or one write to it. Where a test says "between", the file is open to nobody
of ours: it was read and computed with, and is to be locked next.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlmicro
from sqlmicro.database import opening
from sqlmicro.publish import publish
from sqlmicro.system import scratch
from sqlmicro.system.progress import Progress

from .test_crash import held, let_go

ROWS = 60
USED: dict[str, Any] = {"columns": ["age", "income"], "keep": ["id"], "accept_unique": ["id"], "rest": "drop", "k": 5}
COMMAND = "individual-ranking --table persons --columns age,income --rest drop --k 5 --seed locks"
DRIVER = """import os, sys, sqlmicro.__main__
from sqlmicro.database import opening
real = opening._attach_to_write
def between(*given):
    {}
    real(*given)
opening._attach_to_write = between
sys.exit(sqlmicro.__main__.main())
"""


def slow(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


def make(path: Path) -> str:
    with duckdb.connect(path) as con:
        con.execute(
            "CREATE TABLE persons AS SELECT i AS id, (i * 37) % 90 AS age, sqrt(i) AS income FROM range(?) r(i)", [ROWS]
        )
    return str(path)


@pytest.fixture
def db(tmp_path: Path) -> str:
    return make(tmp_path / "w.duckdb")


def query(db: str | Path, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(db) as con:
        return con.execute(text).fetchall()


def run(db: str, **given: Any) -> dict[str, Any]:
    return sqlmicro.individual_ranking("persons", db=db, **{**USED, **given})


def between(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> list[object]:
    """Have something happen between reading and publishing; what it returned is in the list."""
    real, done = opening._attach_to_write, []

    def late(*given: Any) -> None:
        monkeypatch.setattr(opening, "_attach_to_write", real)
        done.append(work())
        real(*given)

    monkeypatch.setattr(opening, "_attach_to_write", late)
    return done


def other(text: str, db: str, *, read_only: bool) -> subprocess.CompletedProcess[str]:
    code = f"import duckdb; print(duckdb.connect({db!r}, read_only={read_only}).execute({text!r}).fetchall())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def command(db: str, *given: str, between: str = "pass") -> subprocess.CompletedProcess[str]:
    code = DRIVER.format(between)
    return subprocess.run(
        [sys.executable, "-c", code, *COMMAND.split(), "--db", db, *given], capture_output=True, text=True, check=False
    )


# Others read


def test_another_process_reads_until_the_release_is_published(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = publish.lock_to_write, []

    def late(*given: Any) -> bool:
        seen.append(other("SELECT count(*) FROM persons", db, read_only=True))
        seen.append(other("DELETE FROM persons", db, read_only=False))
        return real(*given)

    monkeypatch.setattr(publish, "lock_to_write", late)
    assert run(db, into="out")["verdict"]
    reader, writer = seen
    assert reader.stdout == f"[({ROWS},)]\n", reader.stderr
    assert writer.returncode == 1 and "lock" in writer.stderr, "what is read holds still"
    assert query(db, "SELECT count(*) FROM out") == [(ROWS,)]


def test_nobody_reads_while_it_is_published(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the tests here would show nothing: the lock is there at last."""
    real, seen = publish.audit_release, []

    def audited(*given: Any) -> Any:
        seen.append(other("FROM persons", db, read_only=True))
        return real(*given)

    monkeypatch.setattr(publish, "audit_release", audited)
    run(db, into="out")
    assert "Could not set lock" in seen[0].stderr


@pytest.mark.slow
def test_a_dry_run_and_what_only_reads_need_no_lock(db: str, tmp_path: Path) -> None:
    before = Path(db).read_bytes()
    holder = held(Path(db), read_only=True)
    try:
        run(db, dry_run=True)
        sqlmicro.profile("persons", db=db)
        sqlmicro.audit("persons", db=db, quasi=["age"])
        sqlmicro.compare("persons", db=db, methods=["individual-ranking"], k=["5"], columns=["income"])
        sqlmicro.attack(original="persons", release=["persons"], db=db, columns=["age"], match=["id"])
        sqlmicro.report(release="persons", db=db, quasi=["age"], to=str(tmp_path / "report.html"))
        sqlmicro.scan(db=db)
        sqlmicro.ledger(db=db)
        sqlmicro.series(db=db)
    finally:
        let_go(holder)
    assert Path(db).read_bytes() == before


@pytest.mark.slow_but("{'in_place': True}")
@pytest.mark.parametrize("target", [{"into": "out"}, {"in_place": True}, {"to": "out.csv"}], ids=str)
def test_who_does_not_let_go_is_named(
    db: str, target: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "_PATIENCE", 0.0)
    before = Path(db).read_bytes()
    holder = held(Path(db), read_only=True)
    try:
        started = Path(f"/proc/{holder.pid}/comm").read_text().strip()
        with pytest.raises(sqlmicro.InputError, match="Nothing was published") as refused:
            run(db, **target)
        assert f"another process has locked, {holder.pid} ({started})" in str(refused.value)
        assert "input()" not in str(refused.value), "arguments may hold secrets"
    finally:
        let_go(holder)
    assert Path(db).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_who_lets_go_in_time_is_waited_for(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = held(Path(db), read_only=True)
    told: list[str] = []

    def say(_: Progress, text: str) -> None:
        told.append(text)
        if len(told) == 1:
            let_go(holder)

    monkeypatch.setattr(Progress, "say", say)
    run(db, into="out")
    assert len(told) == 1 and f"waiting for process {holder.pid} (" in told[0]
    assert query(db, "SELECT count(*) FROM out") == [(ROWS,)]


def test_waiting_is_told_once_and_ends_with_ctrl_c(db: str) -> None:
    holder = held(Path(db), read_only=True)
    try:
        child = subprocess.Popen(
            [sys.executable, "-c", DRIVER.format("pass"), *COMMAND.split(), "--db", db],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stderr is not None
        told = next(line for line in child.stderr if "waiting" in line)
        child.send_signal(signal.SIGINT)
        rest = child.stderr.read()
        assert child.wait() == 130
        assert f"process {holder.pid}" in told and "waiting" not in rest
    finally:
        let_go(holder)
    assert query(db, "SELECT table_name FROM duckdb_tables()") == [("persons",)]


# Others write


def test_a_new_table_is_of_what_was_read(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: query(db, "DELETE FROM persons WHERE id >= 6"))
    assert run(db, into="out")["rows"] == ROWS
    assert query(db, "SELECT count(*) FROM out") == [(ROWS,)]
    assert query(db, "SELECT count(*) FROM persons") == [(6,)], "nothing of theirs is lost"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE persons SET age = 1 WHERE id = 3", "DROP TABLE persons",
        *map(slow, ("INSERT INTO persons VALUES (9, 1, 1)", "DELETE FROM persons", "ALTER TABLE persons ADD x INT")),
    ],
)  # fmt: skip
def test_in_place_nothing_that_others_wrote_is_lost(db: str, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: query(db, change))
    with pytest.raises(sqlmicro.InputError, match="must not change between reading and publishing"):
        run(db, in_place=True)
    with duckdb.connect() as con:
        expected = make(Path(db).with_name("expected.duckdb"))
        query(expected, change)
        con.execute(f"ATTACH '{db}' AS found (READ_ONLY); ATTACH '{expected}' AS expected (READ_ONLY)")
        tables = [con.execute(f"SELECT table_name, sql FROM duckdb_tables() WHERE database_name = '{name}'").fetchall()
                  for name in ("found", "expected")]  # fmt: skip
        assert tables[0] == tables[1]
        if tables[0]:
            assert con.execute("FROM found.persons EXCEPT ALL FROM expected.persons").fetchall() == []


def test_an_index_that_came_between_is_seen(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: query(db, "CREATE UNIQUE INDEX one ON persons (age)"))
    with pytest.raises(sqlmicro.InputError, match="must have no unique index"):
        run(db, in_place=True)


def test_a_table_of_the_same_name_that_came_between_stays(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: query(db, "CREATE TABLE out AS SELECT 1 AS theirs"))
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        run(db, into="out")
    assert query(db, "FROM out") == [(1,)]


def test_macros_that_came_between_are_not_called(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that nobody knew when the search path was set, and a macro in it that is called like ours."""
    lie = "CREATE SCHEMA s; CREATE MACRO s.count(x) AS 7; CREATE MACRO main.min(x) AS 7; CREATE MACRO hash(x) AS 7"
    between(monkeypatch, lambda: query(db, lie))
    report = run(db, into="out")
    assert [check["value"] for check in report["audits"] if check["check"] == "rows"] == [ROWS]


def test_the_ledger_knows_what_was_published_between(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two releases of the same people at the same time: the second is measured with the first."""
    given = {"columns": ["age", "income"], "rest": "drop", "k": 5}

    def first() -> dict[str, Any]:
        return sqlmicro.mdav("persons", db=db, into="first", **given)

    done = between(monkeypatch, first)
    with pytest.raises(sqlmicro.AuditFailed, match=r"together with .*release 1 \(first\)"):
        sqlmicro.mdav("persons", db=db, into="second", **{**given, "k": 7})
    assert len(done) == 1
    assert query(db, "SELECT id, target FROM sqlmicro.releases") == [(1, "first")]
    with pytest.raises(duckdb.CatalogException):
        query(db, "FROM second")


@pytest.mark.slow
def test_who_is_erased_between_stays_erased(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"columns": ["age"], "rest": "drop", "row_key": ["id"], "k": 4, "overwrite": True, "series": "nightly"}

    def night() -> dict[str, Any]:
        return sqlmicro.mdav("persons", db=db, into="out", **given)

    night()
    query(db, "DELETE FROM persons WHERE id = 7")
    night()
    before = query(db, "SELECT count(*) FROM sqlmicro.series_seats WHERE NOT here")
    assert before == [(1,)]
    between(monkeypatch, lambda: sqlmicro.series("forget", "nightly", row_key_value=["7"], db=db))
    with pytest.raises(sqlmicro.InputError, match="one run at a time"):
        night()
    assert query(db, "SELECT count(*) FROM sqlmicro.series_seats WHERE NOT here") == [(0,)]
    night()


def test_risks_are_told_to_be_of_what_was_measured(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, lambda: query(db, "UPDATE persons SET age = 1"))
    sqlmicro.audit("persons", db=db, quasi=["age"], per_record="record_risk")
    ((content,),) = query(db, "SELECT content FROM sqlmicro.risk_tables")
    sqlmicro.audit("persons", db=db, quasi=["age"], per_record="record_risk_2")
    after = query(db, "SELECT content FROM sqlmicro.risk_tables WHERE name = 'record_risk_2'")
    assert after != [(content,)], "the table is another one by now"


@pytest.mark.slow_but("True")
@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_looked_at_again_where_nobody_has_written(
    db: str, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times of the file tell, if they are not just now; else everything is looked at."""
    seen = []
    monkeypatch.setattr(publish.recording, "check", lambda *given: seen.append(given))
    if quiet:
        monkeypatch.setattr(opening, "_TICK", 0.0)
    run(db, into="out")
    assert len(seen) == (1 if quiet else 2)
    between(monkeypatch, lambda: query(db, "CREATE TABLE out_2 AS SELECT 1 AS theirs"))
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        run(db, into="out_2")
    assert query(db, "SELECT id FROM sqlmicro.releases") == [(1,)]


# Two at once


@pytest.mark.slow
def test_two_publish_at_once(db: str) -> None:
    """One waits for the other, whoever comes first."""
    first, second = (
        subprocess.Popen(
            [sys.executable, "-c", DRIVER.format("pass"), *COMMAND.split(), "--db", db, "--into", into],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for into in ("one", "two")
    )  # fmt: skip
    for child in (first, second):
        _, told = child.communicate()
        assert child.returncode == 0 or "another process has locked" in told, told
    done = [into for into, child in (("one", first), ("two", second)) if child.returncode == 0]
    assert done, "at least one is published"
    assert sorted(query(db, "SELECT target FROM sqlmicro.releases")) == [(into,) for into in done]


# Stopped


@pytest.mark.slow_but("2-130---into=out")
@pytest.mark.parametrize(
    ("sent", "code", "target"),
    [
        (signal.SIGKILL, -signal.SIGKILL, "--in-place"),
        slow(signal.SIGINT, 130, "--into=out"),
        slow(signal.SIGKILL, -signal.SIGKILL, "--into=out"),
        slow(signal.SIGTERM, 143, "--in-place"),
    ],
)
def test_a_kill_between_leaves_the_file_as_it_was(db: str, sent: int, code: int, target: str) -> None:
    before = Path(db).read_bytes()
    done = command(db, target, between=f"os.kill(os.getpid(), {int(sent)})")
    assert done.returncode == code, done.stderr
    assert Path(db).read_bytes() == before
    assert query(db, "SELECT count(*) FROM persons") == [(ROWS,)]
    assert command(db, target).returncode == 0


def test_what_a_killed_writer_left_in_its_log_is_read_and_stays(db: str) -> None:
    write = f"import duckdb, os; c = duckdb.connect({db!r}); c.execute('INSERT INTO persons VALUES (60, 5, 5)')"
    write += "; os._exit(9)"
    subprocess.run([sys.executable, "-c", write], check=False)
    assert Path(f"{db}.wal").exists()
    assert run(db, dry_run=True)["rows"] == ROWS + 1
    assert run(db, into="out")["rows"] == ROWS + 1
    assert query(db, "SELECT count(*) FROM persons") == [(ROWS + 1,)]


# The file


@pytest.mark.slow_but("memory")
@pytest.mark.parametrize(
    "name", ["memory", "system", 'net "income"', *map(slow, ("staging", "temp", "main", "a.b", "MEMORY"))]
)
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    db = make(tmp_path / f"{name}.duckdb")
    run(db, into="out")
    run(db, in_place=True, no_purge=True)
    assert query(db, "SELECT id FROM sqlmicro.releases") == [(1,), (2,)]


def test_a_file_that_is_gone_is_not_made_anew(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between(monkeypatch, Path(db).unlink)
    with pytest.raises(sqlmicro.InputError, match="no file any more"):
        run(db, into="out")
    assert not Path(db).exists()


def test_another_file_in_its_place_is_not_changed_in_place(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = make(Path(db).with_name("fresh.duckdb"))
    query(fresh, "UPDATE persons SET income = 0")
    before = Path(fresh).read_bytes()
    between(monkeypatch, lambda: Path(fresh).replace(db))
    with pytest.raises(sqlmicro.InputError, match="must not change between reading and publishing"):
        run(db, in_place=True)
    assert Path(db).read_bytes() == before


@pytest.mark.parametrize("put", ["text", "folder"])
def test_what_is_no_database_by_now_is_refused(db: str, put: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def replaced() -> None:
        Path(db).unlink()
        Path(db).write_text("no database") if put == "text" else Path(db).mkdir()

    between(monkeypatch, replaced)
    with pytest.raises(sqlmicro.InputError, match="can write to"):
        run(db, into="out")


def test_a_file_that_this_process_has_open_itself_is_told_before_the_work(db: str) -> None:
    for read_only in (True, False):
        with (
            duckdb.connect(db, read_only=read_only),
            pytest.raises(sqlmicro.InputError, match="this process has open itself"),
        ):
            run(db, into="out")
    run(db, into="out")


def test_another_thread_that_reads_is_waited_for(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader: list[duckdb.DuckDBPyConnection] = []
    told: list[str] = []

    def say(_: Progress, text: str) -> None:
        told.append(text)
        reader[0].close()

    between(monkeypatch, lambda: reader.append(duckdb.connect(db, read_only=True)))
    monkeypatch.setattr(Progress, "say", say)
    run(db, into="out")
    assert told == [f"waiting for another thread, which has {db!r} open"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_nobody_may_write_to_is_told_before_the_work(db: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder for its log the database could commit nothing."""
    protected = Path(db) if what == "file" else Path(db).parent
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == protected and mode == os.W_OK))
    with pytest.raises(sqlmicro.InputError, match=f"must be a {what} that you may write to"):
        run(db, into="out")
    run(db, dry_run=True)


def test_only_the_database_that_is_written_to_is_locked(db: str, tmp_path: Path) -> None:
    archive = make(tmp_path / "archive.duckdb")
    holder = held(Path(db), read_only=True)
    try:
        run(db, attach=[f"Old={archive}"], into="old.main.out")
    finally:
        let_go(holder)
    assert query(archive, "SELECT count(*), (SELECT count(*) FROM sqlmicro.releases) FROM out") == [(ROWS, 1)]


def test_an_attached_database_is_locked_as_late(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = make(tmp_path / "archive.duckdb")
    done = between(monkeypatch, lambda: query(archive, "CREATE TABLE out AS SELECT 1 AS theirs"))
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        run(db, attach=[f"old={archive}"], into="old.main.out")
    assert len(done) == 1
    assert query(archive, "FROM out") == [(1,)]


# The process


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Conflicting lock is held in /usr/bin/my-tool_3.1 (PID 4194305). See", "4194305 (my-tool_3.1)"),
        ("Conflicting lock is held in my tool --password=x (PID 4194305) by user eve.", "4194305"),
        ("Conflicting lock is held in PID 4194305. See", "4194305"),
        ("Lock is already held in current process, likely another DuckDB instance", ""),
        ("", ""),
    ],
)
def test_a_process_is_named_without_its_arguments(text: str, told: str) -> None:
    assert scratch.holder(text) == told


def test_a_name_that_would_clear_the_screen_is_shown_as_it_is_written() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("names of processes are set as Linux has them")
    libc = ctypes.CDLL(None)
    before = Path("/proc/self/comm").read_bytes().strip()
    libc.prctl(15, b"\x1b[2J", 0, 0, 0)
    try:
        assert scratch.holder(f"held in x (PID {os.getpid()})") == f"{os.getpid()} (\\x1b[2J)"
    finally:
        libc.prctl(15, before, 0, 0, 0)
