"""Ctrl-C where something else comes between it and the program: compiled code, code made of text, a thread's start."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

from sqlmicro.system import interrupts
from sqlmicro.system.interrupts import committing, interruptible, uninterrupted, watched


def test_what_compiled_code_makes_of_ctrl_c_is_ctrl_c_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), watched():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:  # as a callback of the compiler swallows it, and then fails
            raise RuntimeError from None
    with pytest.raises(RuntimeError), watched():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_ctrl_c_that_was_swallowed_ends_the_block_and_never_reaches_the_commit() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), watched():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with committing():
            done.append("committed")
    assert not done


def test_a_signal_after_the_commit_is_told_at_the_end_in_words() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt, match="too late"), watched():
        with committing():
            signal.raise_signal(signal.SIGINT)
            done.append("committed")
        signal.raise_signal(signal.SIGINT)
        done.append("purged")
    assert done == ["committed", "purged"]


def test_a_failed_commit_is_none() -> None:
    """What was put off until then ends the run."""
    with pytest.raises(KeyboardInterrupt), watched():
        with pytest.raises(ValueError, match="full"), committing():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("full")
        with uninterrupted():
            pass


def test_two_signals_of_one_wish_do_not_stop_the_tidying_up() -> None:
    """`timeout` sends its signal to the process and to the group."""
    tidied = []
    with pytest.raises(KeyboardInterrupt), watched():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            tidied.append(True)
    assert tidied


def test_handlers_of_the_program_around_are_used_and_given_back() -> None:
    """A service that only notes a signal, to stop after the present table, gets its table."""
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    own = signal.getsignal(signal.SIGINT)
    try:
        with watched():
            signal.raise_signal(signal.SIGINT)
            with committing():
                pass
        assert noted == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is own
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with watched(), committing():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with watched(), committing():
            seen.append(interrupts._current)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None]


def test_a_statement_whose_thread_was_about_to_start_never_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run behind the back of the rollback, and commit by itself."""
    ran, start = [], threading.Thread.start
    kept: list[threading.Thread] = []

    def late(thread: threading.Thread) -> None:
        kept.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "_own", threading.local())
    monkeypatch.setattr(threading.Thread, "start", late)
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: ran.append(True), lambda: None)
    start(kept[0])
    kept[0].join(60)
    assert not kept[0].is_alive() and not ran


def test_a_statement_that_a_thread_was_about_to_take_never_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a thread that runs already, which goes on with the next statement."""
    ran: list[int] = []
    interruptible(lambda: ran.append(0), lambda: None)
    worker = interrupts._own.worker
    take = worker.take

    kept: list[interrupts._Task] = []

    def late(task: interrupts._Task) -> None:
        kept.append(task)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "take", late)
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: ran.append(1), lambda: None)
    monkeypatch.undo()
    take(kept[0])
    assert kept[0].done.wait(60)
    interruptible(lambda: ran.append(2), lambda: None)
    assert ran == [0, 2]


def test_statements_of_a_thread_share_one_that_keeps_nothing_of_them() -> None:
    class Records:
        pass

    def fail() -> None:
        raise ValueError(Records())

    found = interruptible(Records, lambda: None)
    alive = [weakref.ref(found)]
    try:
        interruptible(fail, lambda: None)
    except ValueError as error:
        alive.append(weakref.ref(error.args[0]))
    del found
    assert [ref() for ref in alive] == [None, None]
    own = {interruptible(threading.get_ident, lambda: None) for _ in range(3)}
    others: set[int] = set()
    thread = threading.Thread(target=lambda: others.add(interruptible(threading.get_ident, lambda: None)))
    thread.start()
    thread.join()
    assert len(own) == len(others) == 1 and not own & others and threading.get_ident() not in own


def test_a_statement_that_was_left_behind_holds_up_no_other() -> None:
    """As by an exception of a handler of the program around, such as that of a time limit."""
    stop = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda number, frame: (_ for _ in ()).throw(TimeoutError))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError):
            interruptible(lambda: stop.wait(20), lambda: None)
        assert interruptible(lambda: "next", lambda: None) == "next"
    finally:
        signal.signal(signal.SIGALRM, before)
        stop.set()


def test_the_thread_of_a_thread_ends_with_it_and_a_fork_gets_its_own() -> None:
    before = threading.active_count()
    threads = [threading.Thread(target=interruptible, args=(int, lambda: None)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before
    code = (
        "import os; from sqlmicro.system.interrupts import interruptible as run; run(int, int); child = os.fork();"
        "run(int, int); child or os._exit(7); raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=30, check=False).returncode == 7


def test_a_statement_that_runs_has_ended_when_ctrl_c_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, ended = threading.Event(), []

    def statement() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        stop.wait(20)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        interruptible(statement, stop.set)
    assert ended


TEXT = """
import signal, sqlmicro.__main__, sqlmicro.cli

def app():
    try:
        exec("signal.raise_signal(signal.SIGINT)")
    except KeyboardInterrupt:
        raise SystemExit(130)

sqlmicro.cli.app = app
sqlmicro.__main__.main()
"""


def test_ctrl_c_in_code_made_of_text_exits_130_too(tmp_path: Path) -> None:
    """Python remembers such a Ctrl-C, answered or not: a module run by -m would end by the signal."""
    (tmp_path / "interrupted.py").write_text(TEXT)
    assert subprocess.run([sys.executable, "-m", "interrupted"], cwd=tmp_path).returncode == 130
