"""Ctrl-C where something else comes between it and the program: compiled code, and code made of text."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sqlmicro.interrupts import plainly_interrupted


def test_what_compiled_code_makes_of_ctrl_c_is_ctrl_c_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), plainly_interrupted():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:  # as a callback of the compiler swallows it, and then fails
            raise RuntimeError from None
    with pytest.raises(RuntimeError), plainly_interrupted():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


TEXT = """
import signal, sqlmicro.__main__, sqlmicro.cli
signal.signal(signal.SIGINT, signal.default_int_handler)

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
