"""Crashes: whatever stops a release in place, the table is as it was or released as a whole, and so it is recorded."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlmicro
from sqlmicro.erasure import purge as purging

from .test_erasure import make

KILLS, WHOLE = int(os.environ.get("KILLS", "24")), "WHOLE" in os.environ
DRIVER = Path(__file__).with_name("crash_driver.py")
ROWS = 300
IN_PLACE = ("--columns", "income,born", "--keep", "sex", "--drop", "name,token,grade", "--k", "5", "--in-place")


def drive(folder: Path, **plan: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the driver; return what the table is before and after, and what every stop left."""
    make(folder / "pristine.duckdb", ROWS, compressed=False)
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(folder), json.dumps(plan)], capture_output=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"}, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *stops = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["old"]["releases"], first["new"]["releases"]) == ([], [[1, ROWS, 1]])
    assert first["old"]["canaries"] > ROWS > 150 > first["new"]["canaries"], "the labels of an ENUM type stay"
    return first, stops


def phase(first: dict[str, Any], stop: dict[str, Any]) -> str:
    """Return what a stop left, and hold it to be one of the states there may be."""
    for name in ("old", "new"):
        same = ("rows", "count", "releases", "audits")
        if all(stop[key] == first[name][key] for key in same):
            assert stop["left"] == ["w.duckdb"], f"the next start sweeps what was left: {stop}"
            if name == "old":
                return "old"
            return "new, not purged" if stop["canaries"] > first["new"]["canaries"] else "new, purged"
    raise AssertionError(f"a mix: {stop}")


CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
BEFORE, LATER = 0.3, 0.75
SOME = ([0.05, 0.75, 1], [(signal.SIGINT, BEFORE), (signal.SIGTERM, LATER)])
MANY = (
    [0.05, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.75, 0.9, 0.98, 0.99, 1],
    [(sent, share) for sent in CODES for share in (BEFORE, LATER)],
)


@pytest.mark.parametrize(
    ("killed", "ended"), [pytest.param(*SOME, id="some"), pytest.param(*MANY, id="many", marks=pytest.mark.slow)]
)
def test_a_kill_leaves_the_old_or_the_new_state_and_a_signal_ends_in_one_of_them(
    tmp_path: Path, killed: list[float], ended: list[tuple[int, float]]
) -> None:
    """A signal before the commit publishes nothing, and a later one lets the purge finish."""
    first, stops = drive(tmp_path, stops=[*((signal.SIGKILL, share) for share in killed), *ended])
    dead, over = stops[: len(killed)], stops[len(killed) :]
    assert all(stop["status"] == -signal.SIGKILL for stop in dead)
    found = [phase(first, stop) for stop in dead]
    assert set(found) == {"old", "new, not purged", "new, purged"}, found
    assert found == sorted(found, key=["old", "new, not purged", "new, purged"].index), "states follow one another"
    for (sent, share), stop in zip(ended, over, strict=True):
        before = share == BEFORE
        assert phase(first, stop) == ("old" if before else "new, purged")
        assert stop["status"] == (CODES[sent] if before else 0), stop["err"]
        assert stop["left_before"] == ["w.duckdb"], "no log, no temporary folder"
        assert ("nothing was published" in stop["err"]) == before
        assert ("too late" in stop["err"]) != before


@pytest.mark.slow
@pytest.mark.long
def test_a_kill_at_every_kind_of_statement_while_files_are_put_in_place(tmp_path: Path) -> None:
    """Two releases in one job: pending record, two renames, final record; the next start settles all of it.

    WHOLE=1 kills at every statement, also where the one before was of the same kind.
    """
    make(tmp_path / "pristine.duckdb", ROWS, compressed=False)
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path), json.dumps({"files": "whole" if WHOLE else "each kind"})],
        capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "0"}, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *stops = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(first["new"]["releases"]) == 2
    assert not set(first["old"]["files"]) & set(first["new"]["files"])
    found = []
    for stop in stops:
        assert stop["status"] == -signal.SIGKILL
        same = [
            name
            for name in ("old", "new")
            if all(stop[key] == first[name][key] for key in ("rows", "files", "releases", "audits"))
        ]
        assert same, f"a mix: {stop}"
        assert stop["left"] == ["a.csv", "b.csv", "job.toml", "w.duckdb"], "nothing hidden is left"
        found += same
    assert found == sorted(found, key=["old", "new"].index), "states follow one another"
    assert set(found) == {"old", "new"}


@pytest.mark.slow
@pytest.mark.long
def test_kills_at_random_moments(tmp_path: Path) -> None:
    """One in each of as many parts of a run; KILLS=250 makes as many."""
    first, stops = drive(tmp_path, random=KILLS)
    assert all(stop["status"] == -signal.SIGKILL for stop in stops)
    found = Counter(phase(first, stop) for stop in stops)
    swept = sum(any(name.startswith(".sqlmicro.") for name in stop["left_before"]) for stop in stops)
    print(json.dumps({"duckdb": duckdb.__version__, "kills": found.total(), **found, "folders swept": swept}))
    assert found.total() == KILLS
    assert {"old", "new, not purged"} <= set(found), "after the rename little is left to be done"
    assert swept > 0.08 * KILLS


# Disks, locks and permissions


@pytest.fixture
def db(tmp_path: Path) -> Path:
    make(tmp_path / "w.duckdb", 2000, compressed=False)
    return tmp_path / "w.duckdb"


def command(
    verb: str, db: Path, *arguments: str, before: Sequence[str] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    table = () if verb == "purge" else ("--table", "persons")
    given = [*before, sys.executable, "-m", "sqlmicro", verb, "--db", str(db), *table, *arguments]
    return subprocess.run(given, capture_output=True, text=True, timeout=120, **options)


def release(db: Path, **options: Any) -> dict[str, Any]:
    return sqlmicro.individual_ranking(
        "persons", db=str(db), columns=["income"], keep=["sex"], rest="drop", k=5, in_place=True, **options
    )


def state(db: Path) -> tuple[int, int, int]:
    """Return the number of names left, of records, and of releases recorded."""
    with duckdb.connect(str(db), read_only=True) as con:
        recorded = con.execute("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'sqlmicro'").fetchone()[0]
        releases = con.execute("SELECT count(*) FROM sqlmicro.releases").fetchone()[0] if recorded else 0
        names, rows = con.execute("SELECT count(name), count(*) FROM persons").fetchone()
    return names, rows, releases


def no_leftovers(folder: Path) -> bool:
    return not [path for path in folder.iterdir() if path.name.startswith(".") or path.suffix == ".wal"]


@contextmanager
def small_disk(folder: Path, megabytes: int):  # type: ignore[no-untyped-def]
    """Mount a small file system, where that is allowed."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount a small file system: run as root, in a container with --cap-add SYS_ADMIN")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_told_beforehand_and_changes_nothing(tmp_path: Path, db: Path) -> None:
    with small_disk(tmp_path / "disk", 3) as disk:
        small = Path(shutil.copy(db, disk))
        before = small.read_bytes()
        done = command("individual-ranking", small, *IN_PLACE)
        assert done.returncode == 2 and "MB free" in done.stderr and "--no-purge" in done.stderr, done.stderr
        assert small.read_bytes() == before
        (disk / "ballast").write_bytes(bytes(max(0, shutil.disk_usage(disk).free - 20_000)))
        done = command("individual-ranking", small, *IN_PLACE, "--no-purge")
        assert done.returncode == 3 and "room on the disk" in done.stderr, done.stderr
        (disk / "ballast").unlink()
        assert state(small) == (2000, 2000, 0)
        assert [path.name for path in disk.iterdir() if path.name.startswith(".")] == []
        duckdb.connect(str(small)).close()  # DuckDB removes the log of a transaction that did not come to its end
        assert state(small) == (2000, 2000, 0)
        assert no_leftovers(disk)


def limited(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
def test_a_disk_that_fills_during_the_purge_leaves_the_file_as_it_was(db: Path) -> None:
    release(db, no_purge=True)
    before = db.read_bytes()
    done = command("purge", db, preexec_fn=limited(60_000))
    assert done.returncode == 3 and "room on the disk" in done.stderr, done.stderr
    assert db.read_bytes() == before
    assert no_leftovers(db.parent)
    sqlmicro.purge(db=str(db))
    assert state(db) == (0, 2000, 1)


def held(db: Path, *, read_only: bool = False) -> subprocess.Popen[str]:
    """Open the database in another process, and hold it."""
    code = f"import duckdb; c = duckdb.connect({str(db)!r}, read_only={read_only}); print('held', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def let_go(holder: subprocess.Popen[str]) -> None:
    holder.communicate("\n", timeout=30)


def test_a_lock_of_another_process_changes_nothing(db: Path) -> None:
    before = db.read_bytes()
    holder = held(db)
    try:
        for work in (lambda: release(db), lambda: sqlmicro.purge(db=str(db))):
            with pytest.raises(sqlmicro.InputError, match="another process has locked"):
                work()
    finally:
        let_go(holder)
    assert db.read_bytes() == before


def test_a_lock_between_publishing_and_purge_is_told(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, holders = purging.purge, []

    def purge(*given: Any) -> purging.PurgeReport:
        holders.append(held(db))
        return real(*given)

    monkeypatch.setattr(purging, "purge", purge)
    report = release(db)
    let_go(holders[0])
    assert report["purge_failed"] and not report["purged"]
    assert "locked" in report["not_purged_because"] and "the release is published" in report["warning"]
    assert state(db) == (0, 2000, 1)


@pytest.mark.slow
def test_nobody_writes_while_the_file_is_replaced_and_a_reader_stops_it(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = purging._like, []

    def like(fresh: Path, file: Path) -> None:
        real(fresh, file)
        write = f"import duckdb; duckdb.connect({str(db)!r}).execute('DELETE FROM persons')"
        seen.append(subprocess.run([sys.executable, "-c", write], capture_output=True, text=True))
        seen.append(held(db, read_only=True))

    monkeypatch.setattr(purging, "_like", like)
    monkeypatch.setattr(purging, "_PATIENCE", 0.2)
    before = db.stat().st_ino
    with pytest.raises(sqlmicro.InputError, match="used by nobody else"):
        sqlmicro.purge(db=str(db))
    writer, reader = seen
    let_go(reader)
    assert writer.returncode == 1 and "lock" in writer.stderr
    assert db.stat().st_ino == before
    assert state(db) == (2000, 2000, 0)
    assert no_leftovers(db.parent)


def test_a_log_of_a_killed_writer_is_taken_in_and_never_replayed(db: Path) -> None:
    """DuckDB 1.5 replays whatever log has the name of the file, also onto another one."""
    killed = (
        f"import duckdb, os; c = duckdb.connect({str(db)!r}); c.execute('PRAGMA disable_checkpoint_on_shutdown'); "
        "c.execute('INSERT INTO persons (sex) SELECT ? FROM range(7)', ['x']); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", killed], check=False)
    assert Path(f"{db}.wal").stat().st_size > 0
    sqlmicro.purge(db=str(db))
    assert not Path(f"{db}.wal").exists()
    assert state(db) == (2000, 2007, 0)


@pytest.mark.slow
def test_read_only_files_and_folders_are_refused_before_any_work(tmp_path: Path, db: Path) -> None:
    # Root passes every permission, unless it gives that power away.
    plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    probe = "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK))"
    db.chmod(0o444)
    if plain and (
        shutil.which("setpriv") is None
        or subprocess.run([*plain, sys.executable, "-c", probe, str(db)], capture_output=True).returncode
    ):
        pytest.skip("root may write everywhere: run the tests as another user, or with setpriv (util-linux)")
    before = db.read_bytes()
    for mode, folder_mode in ((0o444, 0o755), (0o644, 0o555)):
        db.chmod(mode)
        tmp_path.chmod(folder_mode)
        try:
            for verb, arguments in (("individual-ranking", IN_PLACE), ("purge", ())):
                done = command(verb, db, *arguments, before=plain)
                assert done.returncode == 2 and done.stderr.startswith("error: "), (verb, oct(mode), done.stderr)
        finally:
            tmp_path.chmod(0o755)
        assert db.read_bytes() == before
        assert no_leftovers(tmp_path)
