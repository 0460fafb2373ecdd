"""Progress: a line with rate and time left after two seconds on a terminal, elsewhere one a minute."""

import re
import sys
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


def show(monkeypatch, *, tty, enabled=True, steps=8, columns=120, text="group by mdav"):
    terminal = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    with Progress(enabled).stage(text, 1000) as shown:
        for step in range(steps):
            shown.tick(50 + 50 * step, 1000)
            time.sleep(0.1)
    return terminal.text


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_terminal_sees_how_many_rows_are_done_the_rate_and_the_time_left(monkeypatch):
    text = show(monkeypatch, tty=True)
    seen = plain(text)
    assert "group by mdav" in seen
    assert re.search(r"\d+ of 1,000 rows \(\d+ %\)", seen), seen
    assert re.search(r"[1-9]\d* rows/s, \d+ s left", seen), seen
    assert text.rstrip().endswith("\x1b[2K"), "the line is wiped at the end"


def test_a_short_stage_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, steps=0) == ""


def test_a_pipe_sees_nothing(monkeypatch):
    assert show(monkeypatch, tty=False) == ""


def test_a_pipe_sees_a_line_a_minute_with_the_time_left(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.25)
    lines = show(monkeypatch, tty=False).splitlines()
    assert 2 <= len(lines) <= 4
    for line in lines:
        assert re.search(r"^group by mdav: \d+ of 1,000 rows \(\d+ %\), \d+ s left, \d+ s$", line), line


def test_a_pipe_sees_nothing_where_lines_are_not_wanted(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    assert show(monkeypatch, tty=False, enabled=False) == ""
    terminal = Terminal(False)
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress(lines=False)
    shown.expect("about 4 min", 240, tell=True)
    with shown.stage("group", 10):
        time.sleep(0.2)
    assert terminal.text == ""


def test_after_the_work_no_line_is_written_and_no_thread_is_left(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    terminal = Terminal(False)
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Progress()
    with shown.stage("group"):
        pass
    shown._minutes.join(1)
    assert not shown._minutes.is_alive() and terminal.text == ""
    with shown.stage("audit"):
        time.sleep(0.2)
    assert "audit: working" in terminal.text


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
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)

    class Broken(Terminal):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Broken(False))
    with Progress().stage("group") as shown:
        time.sleep(0.2)
        assert not shown._minutes.is_alive()


def test_quiet_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, enabled=False) == ""


def test_a_line_fits_the_terminal(monkeypatch):
    lines = re.split(r"[\r\n]+", plain(show(monkeypatch, tty=True, columns=40)))
    assert 0 < max(map(len, lines)) <= 40


def test_a_name_with_brackets_is_shown_as_it_is(monkeypatch):
    assert "[red]net[/red]" in plain(show(monkeypatch, tty=True, text="[red]net[/red]"))
