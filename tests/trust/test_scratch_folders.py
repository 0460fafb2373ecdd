"""Scratch folders: those of killed runs are removed, and nothing that is not ours, however it is called."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

import sqlmicro
from sqlmicro.system import scratch

CANARY = "CANARY-4711"
NAME = ".sqlmicro.0123456789abcdef"


def left_by_a_killed_run(parent: Path) -> Path:
    """Return the folder that a process made in `parent` before it was killed."""
    code = f"""
import os, pathlib
from sqlmicro.system import scratch
with scratch.folder(pathlib.Path({str(parent)!r})) as folder:
    (folder / "spilled").mkdir()
    (folder / "spilled" / "raw.tmp").write_text({CANARY!r})
    print(folder.parent, flush=True)
    os.kill(os.getpid(), {signal.SIGKILL})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return Path(done.stdout.strip())


def tree(parent: Path) -> dict[str, str]:
    """Return every path below a folder, with the content of files."""
    return {
        str(path.relative_to(parent)): path.read_text() if path.is_file() else ""
        for path in sorted(parent.rglob("*"))
        if path.suffix not in (".duckdb", ".wal")
    }


def strangers(parent: Path) -> None:
    """Make what somebody else may have called similarly, or left a part of."""
    for name in (".sqlmicro-keys", ".sqlmicro-dead", ".sqlmicro", ".sqlmicro.0123", f"{NAME}0", NAME, NAME.upper()):
        (parent / name / "work").mkdir(parents=True)
        (parent / name / "seed").write_text("a secret of the user")
    near = parent / ".sqlmicro.1123456789abcdef"  # with a marker that is another folder's
    (near / "work").mkdir(parents=True)
    (near / "sqlmicro-run").write_bytes(scratch._mark(parent / NAME))
    ours = parent / "elsewhere" / ".sqlmicro.2123456789abcdef"  # ours in all, but reached by a link
    (ours / "work").mkdir(parents=True)
    (ours / "sqlmicro-run").write_bytes(scratch._mark(ours))
    (parent / ours.name).symlink_to(ours)
    linked = parent / ".sqlmicro.3123456789abcdef"  # with a link for a marker
    (linked / "work").mkdir(parents=True)
    (parent / "marker").write_bytes(scratch._mark(linked))
    (linked / "sqlmicro-run").symlink_to(parent / "marker")
    (parent / ".sqlmicro.4123456789abcdef").write_text("a file")


def unfinished(parent: Path) -> list[Path]:
    """Make what a run leaves that is killed while it makes its folder: nothing is in it yet."""
    empty, unmarked = parent / ".sqlmicro.5123456789abcdef", parent / ".sqlmicro.6123456789abcdef"
    empty.mkdir()
    unmarked.mkdir()
    (unmarked / "sqlmicro-run").touch()
    return [empty, unmarked]


def test_only_folders_with_our_name_and_marker_are_removed(tmp_path: Path) -> None:
    """The issue's case: .sqlmicro-keys/seed beside the database."""
    db = tmp_path / "w.duckdb"
    with duckdb.connect(str(db)) as con:
        con.execute("CREATE TABLE persons AS SELECT i, i % 7 AS x FROM range(60) r(i)")
    strangers(tmp_path)
    full = tmp_path / ".sqlmicro.7123456789abcdef"  # with something beside an empty marker
    full.mkdir()
    (full / "sqlmicro-run").touch()
    (full / "seed").write_text("a secret of the user")
    before = tree(tmp_path)
    emptied = unfinished(tmp_path)
    dead = left_by_a_killed_run(tmp_path)
    assert (dead / "work" / "spilled" / "raw.tmp").read_text() == CANARY
    sqlmicro.individual_ranking("persons", db=str(db), columns=["x"], rest="drop", k=3, in_place=True)
    assert not any(path.exists() for path in (dead, *emptied))
    assert tree(tmp_path) == before


def test_the_folder_of_a_run_that_lives_stays(tmp_path: Path) -> None:
    with scratch.folder(tmp_path) as alive:
        (alive / "raw.tmp").write_text(CANARY)
        scratch.sweep(tmp_path)
        with scratch.folder(tmp_path) as second:
            assert second != alive
        assert tree(alive) == {"raw.tmp": CANARY}
        assert alive.stat().st_mode & 0o777 == alive.parent.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user: run as root")
@pytest.mark.parametrize("part", ["", "sqlmicro-run"], ids=["folder", "marker"])
def test_what_belongs_to_another_user_stays(tmp_path: Path, part: str) -> None:
    dead = left_by_a_killed_run(tmp_path)
    os.chown(dead / part, 12345, 12345)
    scratch.sweep(tmp_path)
    assert (dead / "work" / "spilled" / "raw.tmp").exists()


def test_a_sweep_that_is_killed_is_taken_up_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marker is the last thing to go: what is left of the folder is still known to be ours."""
    dead, real = left_by_a_killed_run(tmp_path), shutil.rmtree

    def killed(path: Path, **options: bool) -> None:
        real(path / "spilled")
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        scratch.sweep(tmp_path)
    monkeypatch.undo()
    assert dead.exists()
    scratch.sweep(tmp_path)
    assert not dead.exists()


@pytest.mark.parametrize("seconds", [0.3, pytest.param(1.5, marks=pytest.mark.slow)])
def test_many_runs_that_start_at_once_do_not_sweep_each_other(tmp_path: Path, seconds: float) -> None:
    failures: list[BaseException] = []
    end = time.monotonic() + seconds

    def run() -> None:
        try:
            while time.monotonic() < end:
                with scratch.folder(tmp_path) as folder:
                    (folder / "raw.tmp").write_text(CANARY)
                    scratch.sweep(tmp_path)
                    assert (folder / "raw.tmp").read_text() == CANARY
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_the_option_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path / "none"))
    with pytest.raises(sqlmicro.InputError, match="TMPDIR") as caught:
        sqlmicro.profile(str(Path(__file__).parents[2] / "examples" / "persons.csv"))
    assert caught.value.exit_code == 2


def test_a_lock_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    first, second = (os.open(tmp_path / "lock", os.O_RDWR) for _ in range(2))
    assert scratch.taken(first)
    assert not scratch.taken(second)
    os.close(first)
    assert scratch.taken(second)
    os.close(second)


@pytest.mark.parametrize("moment", ["just before the block begins", "just as it ends"])
def test_a_signal_that_skips_the_end_of_a_block_leaves_no_folder(tmp_path: Path, moment: str) -> None:
    """It is answered between two lines of `contextlib`, and the process ends at once."""
    code = f"""
import contextlib, signal, sys
from sqlmicro import __main__
kind = contextlib._GeneratorContextManager
enter, leave = kind.__enter__, kind.__exit__
def begins(self):
    result = enter(self)
    if self.gen.__qualname__ == "folder":
        signal.raise_signal(signal.SIGINT)
    return result
def ends(self, *error):
    if self.gen.__qualname__ == "folder":
        signal.raise_signal(signal.SIGINT)
    return leave(self, *error)
if {moment!r} == "just as it ends":
    kind.__exit__ = ends
else:
    kind.__enter__ = begins
sys.argv = ["sqlmicro", "mdav", "--table", {str(tmp_path / "persons.csv")!r}, "--columns", "x", "--k", "3", "--dry-run"]
__main__.main()
"""
    (tmp_path / "persons.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(9)))
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 130, done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
