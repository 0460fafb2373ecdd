"""What a failed or killed run leaves unfinished: files half put in place, and tables released but not purged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run as in_this_process

import sqlmicro
from sqlmicro.database import unfinished
from sqlmicro.database.opening import open_warehouse
from sqlmicro.publish import publish as placing
from sqlmicro.system import moves, scratch

from .test_crash import small_disk

ROWS = 60
USED: dict[str, Any] = {"columns": ["age", "income"], "keep": ["id"], "accept_unique": ["id"], "k": 5, "seed": "s"}
OLD = "the old release\n"


def make(db: Path) -> Path:
    with duckdb.connect(str(db)) as con:
        con.execute(
            "CREATE TABLE persons AS SELECT i AS id, (i * 37) % 90 AS age, sqrt(i) AS income FROM range(?) r(i)", [ROWS]
        )
    return db


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return make(tmp_path / "w.duckdb")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_text(OLD)
    return tmp_path / "x.csv"


def query(db: Path, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(db)) as con:
        return con.execute(text).fetchall()


def publish(db: Path | None, to: Path, **options: Any) -> dict[str, Any]:
    table = "persons" if db else str(to.with_name("persons.parquet"))
    return sqlmicro.individual_ranking(
        table, db=str(db) if db else None, to=str(to), overwrite=True, **{**USED, **options}
    )


def command(db: Path, verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = [sys.executable, "-m", "sqlmicro", verb, "--db", str(db), *arguments]
    return subprocess.run(given, capture_output=True, text=True, timeout=120)


def left(db: Path) -> list[tuple[Any, ...]]:
    return query(db, "SELECT state, release FROM sqlmicro.unfinished ORDER BY ALL")


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


# Files


def full(*_: object, **__: object) -> None:
    raise sqlmicro.QueryError("publish", "there must be room on the disk", "a disk or quota that is full")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [(placing, "record"), (unfinished, "note_pending"), (unfinished, "note_recorded"), (scratch, "fsync")],
)
def test_a_failure_leaves_the_old_file_in_place_and_no_record(
    db: Path, old: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    """The commit of the issue: exit 3, yet the new file was in place, the old one gone, and nothing recorded."""
    publish(db, old.with_name("before.csv"))
    monkeypatch.setattr(moves, "to_disk", lambda path: None)
    monkeypatch.setattr(module, name, full)
    with pytest.raises(sqlmicro.QueryError):
        publish(db, old)
    monkeypatch.undo()
    assert old.read_text() == OLD
    assert query(db, "SELECT target FROM sqlmicro.releases") == [(str(old.with_name("before.csv")),)]
    assert query(db, "SELECT count(DISTINCT release) FROM sqlmicro.audits") == [(1,)]
    assert left(db) == []
    assert hidden(old.parent) == []


def test_a_new_database_of_a_failed_run_is_not_left(tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query(make(tmp_path / "w.duckdb"), f"COPY persons TO '{tmp_path / 'persons.parquet'}'")
    monkeypatch.setattr(unfinished, "note_recorded", full)
    with pytest.raises(sqlmicro.QueryError):
        sqlmicro.individual_ranking(
            str(tmp_path / "persons.parquet"), db=str(tmp_path / "new.duckdb"), to=str(old), overwrite=True, **USED
        )
    assert old.read_text() == OLD
    assert not (tmp_path / "new.duckdb").exists()


@pytest.mark.slow
def test_a_full_disk_at_a_commit_leaves_the_old_file(
    tmp_path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the two commits has no room: a page more is left on the disk each time."""
    real, failures = placing.place, 0
    with small_disk(tmp_path / "disk", 3) as disk:
        for room in range(0, 16_385, 4096):
            db = make(disk / "w.duckdb")

            def filled(*given: Any, room: int = room) -> None:
                (disk / "ballast").write_bytes(bytes(max(0, shutil.disk_usage(disk).free - room)))
                real(*given)

            with monkeypatch.context() as filling:
                filling.setattr(placing, "place", filled)
                try:
                    publish(db, old)
                    published = True
                except sqlmicro.QueryError as error:
                    assert "room on the disk" in str(error)
                    published = False
            failures += not published
            assert (old.read_text() != OLD) == published
            (disk / "ballast").unlink()
            publish(db, tmp_path / "another.csv")
            assert len(query(db, "FROM sqlmicro.releases")) == 1 + published
            assert left(db) == []
            assert hidden(tmp_path) == []
            old.write_text(OLD)
            for path in disk.iterdir():
                path.unlink()
    assert failures


@pytest.mark.slow
def test_a_file_system_without_hard_links_keeps_the_old_file_too(
    db: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(os, "link", none)
    with monkeypatch.context() as failing:
        failing.setattr(unfinished, "note_recorded", full)
        with pytest.raises(sqlmicro.QueryError):
            publish(db, old)
    assert old.read_text() == OLD
    publish(db, old)
    assert old.read_text() != OLD
    assert hidden(old.parent) == []


def test_without_a_database_several_files_are_there_all_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (
        moves.planned(_written(tmp_path / f"new{n}"), _written(tmp_path / f"place{n}"), overwrite=True) for n in (1, 2)
    )
    third = moves.planned(_written(tmp_path / "new3"), tmp_path / "place3", overwrite=True)
    real = Path.replace

    def failing(path: Path, target: Path) -> Path:
        if path == second.new:
            raise OSError(28, "No space left on device")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="No space"):
        moves.put([third, first, second])
    moves.take_back([third, first, second])
    assert [first.place.read_text(), second.place.read_text()] == ["place1", "place2"]
    assert not third.place.exists()
    assert hidden(tmp_path) == []


def _written(path: Path) -> Path:
    path.write_text(path.name)
    return path


def killed(db: Path, to: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Leave what a kill at this point leaves: nothing runs any more."""

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(*{"before": (moves, "put"), "after": (unfinished, "note_recorded")}[at], kill)
        for module, name in ((moves, "take_back"), (unfinished, "take_back")):
            dying.setattr(module, name, lambda *_: None)
        with pytest.raises(Killed):
            publish(db, to)
    assert left(db) == [("pending", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("verb", ["profile", "audit", "purge"])
def test_the_next_command_settles_it_whether_it_reads_or_writes(
    db: Path, old: Path, monkeypatch: pytest.MonkeyPatch, at: str, verb: str
) -> None:
    killed(db, old, monkeypatch, at)
    arguments = {"profile": ["--table", "persons"], "audit": ["--table", "persons", "--quasi", "age"], "purge": []}
    done = command(db, verb, *arguments[verb])
    assert done.returncode == 0, done.stderr
    end = "it is taken back" if at == "before" else "it is finished"
    if verb != "purge":
        assert done.stderr.count("release 1 was killed while its files were put in place") == 1
        assert end in done.stderr
    assert query(db, "SELECT count(*) FROM sqlmicro.releases") == [(int(at == "after"),)]
    assert query(db, "SELECT count(*) > 0 FROM sqlmicro.audits") == [(at == "after",)]
    assert (old.read_text() == OLD) == (at == "before")
    assert hidden(old.parent) == []
    assert left(db) == []


@pytest.mark.slow
def test_a_database_that_cannot_be_written_to_is_read_all_the_same(
    db: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(db, old, monkeypatch, "before")
    holder = duckdb.connect(str(db), read_only=True)
    try:
        done = command(db, "profile", "--table", "persons")
    finally:
        holder.close()
    assert done.returncode == 0, done.stderr
    assert "release 1 was killed while its files were put in place: open it to write" in done.stderr
    assert left(db) == [("pending", 1)]


def test_a_file_that_somebody_has_put_there_since_stays(db: Path, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(db, old, monkeypatch, "after")
    old.write_text("somebody else's")
    with open_warehouse(str(db)):
        pass
    assert old.read_text() == "somebody else's"
    assert hidden(old.parent) == []
    assert left(db) == []
    assert query(db, "SELECT count(*) FROM sqlmicro.releases") == [(0,)]


@pytest.mark.slow
def test_a_database_of_somebody_else_has_no_file_of_ours_removed(db: Path, tmp_path: Path) -> None:
    """The table may say what it likes: only what has a name of our own is removed, or what was written just then."""
    precious, known = _written(tmp_path / "precious"), _written(tmp_path / "known")
    (tmp_path / "empty").mkdir()
    publish(db, tmp_path / "x.csv")
    content = moves.digest(known).split()[1]
    rows = [
        ("a", "recorded", tmp_path / "x", precious, "d"),
        ("b", "pending", tmp_path / "gone", precious, "d"),
        ("c", "pending", tmp_path / "gone", tmp_path / "deeper" / ".0123456789abcdef.sqlmicro-kept", "d"),
        ("d", "pending", known, None, content),
        ("e", "pending", known, None, f"0 {content}"),
        ("f", "pending", tmp_path / "empty", None, moves.digest(tmp_path / "empty")),
        ("f", "pending", tmp_path / "gone", None, "d"),
        ("g", "pending", known, None, f"0 {content}"),
        ("g", "pending", tmp_path / "gone", None, "d"),
    ]
    for run, state, place, kept, digest in rows:
        with duckdb.connect(str(db)) as con:
            con.execute(
                "INSERT INTO sqlmicro.unfinished VALUES (?, 77, ?, ?, ?, ?)",
                [run, state, str(place), None if kept is None else str(kept), digest],
            )
    with open_warehouse(str(db)):
        pass
    assert precious.read_text() == "precious"
    assert known.read_text() == "known"
    assert (tmp_path / "empty").is_dir()
    assert query(db, "SELECT count(*) FROM sqlmicro.releases") == [(1,)]


def test_a_run_that_is_alive_in_another_thread_is_left_alone(
    db: Path, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = moves.put, []

    def put(planned: Any) -> None:
        real(planned)
        with sqlmicro.open(other) as session:
            seen.append(session.connection.execute("SELECT count(*) FROM sqlmicro.unfinished").fetchall())
            session.profile("persons")

    with duckdb.connect(str(db)) as other:
        monkeypatch.setattr(moves, "put", put)
        with sqlmicro.open(other) as session:
            session.individual_ranking("persons", **USED).publish(to=str(old), overwrite=True)
    assert seen == [[(1,)]]
    assert old.read_text() != OLD
    assert left(db) == []
    assert query(db, "SELECT count(*) FROM sqlmicro.releases") == [(1,)]


# Released in place, not purged


@pytest.mark.slow
def test_what_is_not_purged_is_said_by_the_next_command_and_finished_by_purge(db: Path) -> None:
    sqlmicro.individual_ranking("persons", db=str(db), in_place=True, no_purge=True, **USED)
    sqlmicro.individual_ranking("persons", db=str(db), in_place=True, no_purge=True, **USED)
    assert left(db) == [("not purged", 1), ("not purged", 2)]
    said = "release 1, 2 in place is published, but not purged yet"
    for verb in ("profile", "audit"):
        done = command(db, verb, "--table", "persons", *(["--quasi", "age"] if verb == "audit" else []))
        assert done.stderr.count(said) == 1, done.stderr
        assert f"sqlmicro purge --db {db}" in done.stderr
    done = command(db, "purge")
    assert (done.returncode, done.stderr) == (0, "")
    assert "1, 2" in done.stdout
    assert left(db) == []
    assert command(db, "profile", "--table", "persons").stderr == ""


@pytest.mark.slow
def test_a_release_in_place_that_is_purged_leaves_nothing_to_say(db: Path) -> None:
    report = sqlmicro.individual_ranking("persons", db=str(db), in_place=True, **USED)
    assert report["purge"]["releases"] == [1]
    assert left(db) == []


@pytest.mark.slow
def test_a_purge_that_fails_leaves_it_recorded(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlmicro.erasure.purge._replace", full)
    report = sqlmicro.individual_ranking("persons", db=str(db), in_place=True, **USED)
    assert report["purge_failed"]
    assert left(db) == [("not purged", 1)]


@pytest.mark.slow
def test_an_attached_file_knows_itself_that_it_is_not_purged(db: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.duckdb"
    duckdb.connect(str(own)).close()
    sqlmicro.individual_ranking("o.main.persons", db=str(own), attach=f"o={db}", in_place=True, no_purge=True, **USED)
    assert left(db) == [("not purged", 1)]
    assert "not purged yet" in in_this_process("profile", "--db", db, "--table", "persons").stderr
    sqlmicro.purge(db=str(db))
    assert left(db) == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_folder_takes_the_place_of_a_folder_or_gives_it_back(tmp_path: Path, fails: bool) -> None:
    place, new = tmp_path / "release", tmp_path / "new"
    for folder, name in ((place, "old.parquet"), (new, "part.parquet")):
        folder.mkdir()
        (folder / name).write_text(name)
    move = moves.planned(new, place, overwrite=True)
    moves.put([move])
    assert [path.name for path in place.iterdir()] == ["part.parquet"]
    if fails:
        moves.take_back([move])
    else:
        moves.forget([move])
    assert [path.name for path in place.iterdir()] == ["old.parquet" if fails else "part.parquet"]
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("kept", [5, 0.5, -1])
def test_the_log_of_a_commit_that_was_cut_off_is_dropped_by_the_next_start_that_may_write(
    tmp_path: Path, kept: float
) -> None:
    """DuckDB reads past it and keeps it until somebody writes: values that were never published would stay there."""
    db, log = tmp_path / "w.duckdb", tmp_path / "w.duckdb.wal"
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'old' || i AS x FROM range(300) r(i)")
    commit = "CREATE OR REPLACE TABLE t AS SELECT 'CANARY-' || i AS x FROM range(300) r(i)"
    killed = f"import duckdb, os; c = duckdb.connect({str(db)!r}); c.execute({commit!r}); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", killed], check=False)
    whole = log.read_bytes()
    log.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    with open_warehouse(str(db), read_only=True) as warehouse:
        assert warehouse.query("look", "SELECT min(x), count(*) FROM t") == [("old0", 300)]
    assert log.exists(), "who only reads changes nothing"
    with open_warehouse(str(db)) as warehouse:
        assert not log.exists()
        assert warehouse.query("look", "SELECT min(x), count(*) FROM t") == [("old0", 300)]
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]
    assert b"CANARY-" not in db.read_bytes()
    with duckdb.connect(str(db)) as connection:
        assert (
            connection.execute("SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'sqlm%'").fetchall()
            == []
        )
