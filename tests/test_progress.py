"""Progress: nothing where no terminal is, a line with numbers after two seconds where one is."""

import sys
import time

from sqlmicro import progress
from sqlmicro.progress import Progress


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


def show(monkeypatch, *, tty, enabled=True, seconds=0.4):
    terminal = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    with Progress(enabled).stage("group by mdav", 1000) as shown:
        shown.tick(250, 1000)
        time.sleep(seconds)
    return terminal.text


def test_a_terminal_sees_how_many_rows_are_done(monkeypatch):
    text = show(monkeypatch, tty=True)
    assert "group by mdav: 250 of 1,000 rows (25 %)" in text
    assert text.endswith("\r\x1b[2K"), "the line is wiped at the end"


def test_a_short_stage_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, seconds=0.0) == ""


def test_a_pipe_sees_nothing(monkeypatch):
    assert show(monkeypatch, tty=False) == ""


def test_quiet_says_nothing(monkeypatch):
    assert show(monkeypatch, tty=True, enabled=False) == ""


def test_a_line_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    lines = show(monkeypatch, tty=True).split("\r\x1b[2K")
    assert max(map(len, lines)) <= 29
