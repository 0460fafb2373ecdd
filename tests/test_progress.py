"""Progress: a line with rate and time left after two seconds on a terminal, elsewhere one a minute."""

import re
import sys
import threading
import time

from sqlmicro.system import progress
from sqlmicro.system.progress import Progress


class Terminal:
    """Collects what is written; says it is a terminal."""

    def __init__(self, tty):
        self.tty, self.text = tty, ""

    def isatty(self):
        return self.tty

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class Clock:
    """Time that passes when a test says so; who sleeps meanwhile has done what it woke up for when it goes on."""

    def __init__(self, monkeypatch):
        self.now, self.asleep, self.turn = 1000.0, 0, threading.Condition()
        monkeypatch.setattr(progress, "time", self)

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        with self.turn:
            until, self.asleep = self.now + seconds, self.asleep + 1
            self.turn.notify_all()
            self.turn.wait_for(lambda: self.now >= until)

    def passes(self, seconds, ends=False):
        """Let time pass once somebody sleeps, up to when he sleeps again, or ends."""
        with self.turn:
            assert self.turn.wait_for(lambda: self.asleep, timeout=60)
            before, self.now = self.asleep, self.now + seconds
            self.turn.notify_all()
            assert ends or self.turn.wait_for(lambda: self.asleep > before, timeout=60)


def show(monkeypatch, *, tty, until="", enabled=True, steps=8, columns=120, text="group by mdav"):
    """Return what is shown of a stage that goes on until a pattern is seen, or for some steps."""
    terminal = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.1 if until else 60)
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    with Progress(enabled).stage(text, 1000) as shown:
        for step in range(1000 if until else steps):
            shown.tick(min(50 + 5 * step, 999), 1000)
            if until and re.search(until, plain(terminal.text)):
                break
            time.sleep(0.02 if until else 0)
    return terminal.text


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_terminal_sees_how_many_rows_are_done_the_rate_and_the_time_left(monkeypatch):
    text = show(monkeypatch, tty=True, until=r"[1-9]\d* rows/s, \d+ s left")
    seen = plain(text)
    assert "group by mdav" in seen
    assert re.search(r"\d+ of 1,000 rows \(\d+ %\)", seen), seen
    assert re.search(r"[1-9]\d* rows/s, \d+ s left", seen), seen
    assert text.rstrip().endswith("\x1b[2K"), "the line is wiped at the end"


def test_a_short_stage_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True) == ""


def test_a_pipe_sees_nothing(monkeypatch):
    assert show(monkeypatch, tty=False) == ""


def test_a_pipe_sees_a_line_a_minute_with_the_time_left(monkeypatch):
    clock, terminal = Clock(monkeypatch), Terminal(False)
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress().stage("group by mdav", 1000) as shown:
        for step in range(3):
            shown.tick(200 + 200 * step, 1000)
            clock.passes(60)
    assert terminal.text.splitlines() == [
        "group by mdav: 200 of 1,000 rows (20 %), 4 min left, 1 min",
        "group by mdav: 400 of 1,000 rows (40 %), 3 min left, 2 min",
        "group by mdav: 600 of 1,000 rows (60 %), 2 min left, 3 min",
    ]


def test_a_pipe_sees_nothing_where_lines_are_not_wanted(monkeypatch):
    terminal = Terminal(False)
    monkeypatch.setattr(sys, "stderr", terminal)
    for shown in (Progress(enabled=False), Progress(lines=False)):
        shown.expect("about 4 min", 240, tell=True)
        with shown.stage("group", 10):
            assert shown._minutes is None
    assert terminal.text == ""


def test_after_the_work_no_line_is_written_and_no_thread_is_left(monkeypatch):
    clock, terminal = Clock(monkeypatch), Terminal(False)
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress()
    with shown.stage("group"):
        pass
    clock.passes(60, ends=True)
    shown._minutes.join(60)
    assert not shown._minutes.is_alive() and terminal.text == ""
    clock.asleep = 0
    with shown.stage("audit"):
        clock.passes(60)
    assert terminal.text == "audit: working, 1 min\n"


def test_a_statement_inside_a_kernel_leaves_its_line_as_it_was(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal(False))
    shown = Progress()
    with shown.stage("outer", 100):
        shown.tick(50, 100)
        with shown.stage("inner", 10):
            shown.tick(3, 10)
            assert shown.minute().startswith("inner: 3 of 10 rows (30 %)")
        assert shown.minute().startswith("outer: 50 of 100 rows (50 %)")


def test_the_time_left_in_all_is_told_and_that_it_takes_longer(monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", Terminal(False))
    shown = Progress()
    clock[0] = 1010.0  # the start, which is over
    shown.expect("about 5 min", 300, tell=True)
    assert sys.stderr.text == "about 5 min\n"
    clock[0] = 1070.0
    assert shown.minute() == "working, 1 min; about 4 min left in all"
    clock[0] = 1400.0
    assert shown.minute() == "working, 7 min; longer than expected"


def test_a_pipe_that_nobody_reads_ends_the_lines_and_not_the_work(monkeypatch):
    clock = Clock(monkeypatch)

    class Broken(Terminal):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken(False))
    with Progress().stage("group") as shown:
        clock.passes(60, ends=True)
        shown._minutes.join(60)
        assert not shown._minutes.is_alive()


def test_quiet_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, enabled=False) == ""


def test_a_line_fits_the_terminal(monkeypatch):
    lines = re.split(r"[\r\n]+", plain(show(monkeypatch, tty=True, columns=40, until="group")))
    assert 0 < max(map(len, lines)) <= 40


def test_a_name_with_brackets_is_shown_as_it_is(monkeypatch):
    assert "[red]net[/red]" in plain(show(monkeypatch, tty=True, text="[red]net[/red]", until="net"))
