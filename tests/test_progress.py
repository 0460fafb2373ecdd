"""Progress: nothing where no terminal is, a line with rate and time left after two seconds where one is."""

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


def test_quiet_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, enabled=False) == ""


def test_a_line_fits_the_terminal(monkeypatch):
    lines = re.split(r"[\r\n]+", plain(show(monkeypatch, tty=True, columns=40)))
    assert 0 < max(map(len, lines)) <= 40


def test_a_name_with_brackets_is_shown_as_it_is(monkeypatch):
    assert "[red]net[/red]" in plain(show(monkeypatch, tty=True, text="[red]net[/red]"))
