"""Interrupts: a signal before the commit publishes nothing, wherever it comes; one after it stops nothing.

Whole processes, in a terminal (Ctrl-C is typed) and as a background job of a script (which starts with SIGINT ignored).
`INTERRUPTS=10 pytest -m slow -k every_method tests/trust/test_interrupts.py` sends 10 of each kind to each method.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import has_worked

import sqlmicro
from sqlmicro.audits import k_anonymity
from sqlmicro.erasure import purge as purging
from sqlmicro.publish import publish
from sqlmicro.safe_method.search import search

from .test_crash import drive, phase

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
NUMBERS, PERSONS = "x,y,z", "sex,age,city,x"
ENDLESS = ("microaggregate", "--columns", NUMBERS, "--quality", "best", "--time-limit", "600")


def make(path: Path, rows: int) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute(
            "CREATE TABLE t AS SELECT i, hash(i) % 10007 / 7 AS x, hash(i + 1) % 9973 / 3 AS y, "
            "hash(i + 2) % 8161 / 2 AS z, ['f', 'm'][1 + i % 2] AS sex, i * 37 % 90 AS age, hash(i) % 40 AS city, "
            f"1 + i % 5 / 3 AS weight FROM range({rows}) r(i)"
        )


INTERRUPTS = int(os.environ.get("INTERRUPTS", "0"))


@dataclass(frozen=True)
class State:
    """What is in the database: whether t holds the originals, the other tables, and what is recorded."""

    originals: bool
    tables: tuple[str, ...]
    recorded: int


def state(path: Path, rows: int) -> State:
    with duckdb.connect(str(path)) as con:
        tables = [row[0] for row in con.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        recorded = con.execute("SELECT count(*) FROM sqlmicro.releases").fetchone()[0] if "releases" in tables else 0
        # The row numbers are dropped: after a release in place they are NULL.
        same = con.execute("SELECT count(DISTINCT i), count(*) FROM t").fetchone() == (rows, rows)
    return State(same, tuple(tables), recorded)


@contextmanager
def started(command: list[str], folder: Path, *, terminal: bool) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """Start a process that has a terminal of its own, or that is a background job; yield it and how to send."""
    env = {**os.environ, "TMPDIR": str(folder / "tmp")}
    given: dict[str, Any] = {"env": env, "cwd": folder}
    if not terminal:
        ignoring: Callable[[], object] = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
        with (folder / "out").open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, preexec_fn=ignoring, **given)
            yield process, process.send_signal
        return
    ours, theirs = os.openpty()

    def control() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=control, **streams, **given)
    os.close(theirs)

    def read() -> None:
        with suppress(OSError), (folder / "out").open("wb") as out:
            while part := os.read(ours, 65536):
                out.write(part)
                out.flush()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield process, lambda sent: os.write(ours, b"\x03") if sent == signal.SIGINT else process.send_signal(sent)
    finally:
        reader.join(30)
        os.close(ours)


def stop(
    folder: Path, db: Path, arguments: tuple[str, ...], sent: int, wait: Callable[[Any], object], *, terminal: bool
) -> int:
    """Run a command, send it a signal when `wait` returns, and return its exit code as a shell tells it."""
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "sqlmicro", arguments[0], "--db", str(db), "--table", "t", *arguments[1:]]
    with started(command, folder, terminal=terminal) as (process, send):
        wait(process)
        send(sent)
        code = process.wait(600)
    return 128 - code if code < 0 else code


@pytest.mark.parametrize(
    ("sent", "terminal"),
    [
        pytest.param(signal.SIGINT, True, id="Ctrl-C in a terminal"),
        pytest.param(signal.SIGTERM, False, id="SIGTERM as a background job", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, True, id="SIGTERM in a terminal", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, False, id="Ctrl-C as a background job", marks=pytest.mark.slow),
    ],
)
def test_a_search_that_is_interrupted_publishes_nothing(tmp_path: Path, sent: int, terminal: bool) -> None:
    """It had a best grouping so far, which only --time-limit may ask for."""
    db = tmp_path / "w.duckdb"
    make(db, 2000)
    before = db.read_bytes()
    code = stop(
        tmp_path, db, (*ENDLESS, "--rest", "drop", "--in-place"), sent, partial(has_worked, 2), terminal=terminal
    )
    told = (tmp_path / "out").read_text()
    assert code == CODES[sent], told
    assert "interrupted: nothing was published" in told
    assert db.read_bytes() == before
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "tmp", "w.duckdb"]


def test_an_interrupt_leaves_the_direct_search() -> None:
    import numpy as np

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    codes, n = np.array([[i // 9, i % 9] for i in range(81)]), np.arange(81) % 4 + 1
    with pytest.raises(KeyboardInterrupt):
        search(codes, np.zeros((81, 0)), n, 3, np.random.default_rng(0), interrupt)


def interrupted_and_swallowed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a Ctrl-C in it that is lost, as in a destructor or a callback of compiled code."""

    def call(*given: Any, **named: Any) -> Any:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return function(*given, **named)

    return call


@pytest.mark.parametrize("target", [{"into": "o"}, {"to": "o.csv"}, {"in_place": True}], ids=str)
def test_an_interrupt_that_was_lost_does_not_reach_the_commit(
    tmp_path: Path, target: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 100)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(publish, "audit_release", interrupted_and_swallowed(publish.audit_release))
    with pytest.raises(KeyboardInterrupt):
        sqlmicro.individual_ranking("t", db=str(db), columns=["x"], rest="drop", k=5, **target)
    assert state(db, 100) == State(True, ("t",), 0)
    assert [path.name for path in tmp_path.iterdir()] == ["w.duckdb"]


def test_an_interrupt_between_commit_and_purge_lets_the_purge_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 100)
    purge, done = purging.purge, []

    def interrupted(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        done.append(purge(*given, **named))
        return done[0]

    monkeypatch.setattr(purging, "purge", interrupted)
    with pytest.raises(KeyboardInterrupt, match="too late"):
        sqlmicro.individual_ranking("t", db=str(db), columns=["x"], rest="drop", k=5, in_place=True)
    assert done[0].purged
    assert not state(db, 100).originals
    assert state(db, 100).recorded == 1


def test_a_release_in_a_session_hears_of_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 100)
    with sqlmicro.open(str(db)) as session:
        release = session.individual_ranking("t", columns=["x"], rest="drop", k=5)
        monkeypatch.setattr(k_anonymity, "class_sizes", interrupted_and_swallowed(k_anonymity.class_sizes))
        with pytest.raises(KeyboardInterrupt):
            release.publish(into="o")
    assert state(db, 100) == State(True, ("t",), 0)


@pytest.mark.slow
@pytest.mark.long
def test_signals_at_every_kind_of_statement(tmp_path: Path) -> None:
    """Before the commit: exit 130 or 143 and the old state. After it: exit 0, and nothing is left to purge.

    The signals come in turn before the first statement of each kind; INTERRUPTS=1 sends both at 60 moments.
    """
    moments = [(sent, number / 60) for number in range(1, 61) for sent in CODES]
    first, stops = drive(tmp_path, **({"stops": moments} if INTERRUPTS else {"kinds": list(CODES)}))
    assert len(stops) > 25
    for found in stops:
        sent = found["stop"][0]
        expected = {"old": CODES[sent], "new, purged": 0}
        assert found["status"] == expected[phase(first, found)], found
    assert {phase(first, found) for found in stops} == {"old", "new, purged"}


@dataclass(frozen=True)
class Long:
    """A method that takes more than a second on so many records."""

    rows: int
    arguments: tuple[str, ...]
    target: tuple[str, ...] = ("--in-place",)


METHODS = {
    "safe, search": Long(3000, ("safe", "--columns", PERSONS, "--method", "search")),
    "safe, search with weights": Long(
        3000, ("safe", "--columns", f"{PERSONS}", "--method", "search", "--weights", "weight")
    ),
    "safe, best": Long(1500, ("safe", "--columns", PERSONS)),
    "microaggregate": Long(4000, ("microaggregate", "--columns", NUMBERS)),
    "microaggregate, best": Long(1500, (*ENDLESS[:-1], "4")),
    "microaggregate, certified": Long(200, (*ENDLESS[:-1], "4", "--certify")),
    "kanonymeans-star": Long(450, ("kanonymeans-star", "--columns", NUMBERS)),
    "k-ward": Long(6000, ("k-ward", "--columns", NUMBERS)),
    "max-distance": Long(20_000, ("max-distance", "--columns", NUMBERS)),
    "mhm": Long(40_000, ("mhm", "--columns", NUMBERS)),
    "mdav": Long(60_000, ("mdav", "--columns", NUMBERS)),
    "mondrian": Long(150_000, ("mondrian", "--columns", NUMBERS), ("--into", "o")),
    "suppress": Long(100_000, ("suppress", "--columns", "sex,age,city")),
    "individual-ranking": Long(200_000, ("individual-ranking", "--columns", NUMBERS)),
}


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Return the CPU seconds that a process takes to release a hundred records: its start, and all but the method."""
    folder, took = tmp_path_factory.mktemp("short"), []
    arguments = ("mdav", "--columns", NUMBERS, "--rest", "drop", "--into", "o", "--overwrite")
    make(folder / "w.duckdb", 100)
    for _ in range(2):  # the first may compile the code that it imports
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = stop(folder, folder / "w.duckdb", arguments, 0, lambda process: None, terminal=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert code == 0, (folder / "out").read_text()
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_takes_more_than_a_second(tmp_path: Path, name: str, short: float) -> None:
    """A terminal sends SIGINT to the whole group; INTERRUPTS=3 sends both signals both ways at three moments.

    Without it one of two signals is sent, in turn by method, and the other if that came too late.

    The first moment is when one that has little to group would be at its end, the others are later.
    """
    moments = INTERRUPTS or 1
    two = ((signal.SIGINT, True), (signal.SIGTERM, False))[:: -1 if list(METHODS).index(name) % 2 else 1]
    sources = product(CODES, (True, False)) if INTERRUPTS else two
    long, db = METHODS[name], tmp_path / "w.duckdb"
    make(tmp_path / "pristine.duckdb", long.rows)
    arguments = (*long.arguments, "--rest", "drop", "--k", "3", *long.target, "--json")
    counts = {"method": name, "interrupted": 0, "published": 0, "too late": 0}
    for (sent, terminal), moment in product(sources, range(moments)):
        shutil.copy(tmp_path / "pristine.duckdb", db)
        wait = partial(has_worked, (1 + moment / 4) * short)
        found = stop(tmp_path, db, arguments, sent, wait, terminal=terminal)
        left = state(db, long.rows)
        assert list((tmp_path / "tmp").iterdir()) == [], (
            f"exit {found} after {signal.Signals(sent).name}, {moment}",
            sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "tmp").rglob("*")),
            (tmp_path / "out").read_text(),
        )
        if found == CODES[sent]:
            counts["interrupted"] += 1
            counts["published"] += left != State(True, ("t",), 0)
            if not INTERRUPTS:
                break
        else:
            assert found == 0, (tmp_path / "out").read_text()
            counts["too late"] += 1
            shutil.copy(tmp_path / "pristine.duckdb", db)
            assert stop(tmp_path, db, arguments, 0, lambda process: None, terminal=False) == 0
            assert left == state(db, long.rows), "it is published, recorded and purged, as if nothing had come"
    print(json.dumps(counts))
    assert counts["published"] == 0
    assert counts["interrupted"] >= moments
