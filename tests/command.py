"""The command line, run in this process: the start of another costs half a second and is a subject of few tests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sqlmicro.cli import app


def run(*arguments: object, cwd: str | Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as in a pipe, and return what a process would: its code, its data and its talk."""
    words = [str(argument) for argument in arguments]
    env = {"COLUMNS": "80", "NO_COLOR": "1", "SQLMICRO_DB": None, **environment}
    with contextlib.chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(app, words, env=env, prog_name="sqlmicro")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def cpu(process: subprocess.Popen[Any]) -> float:
    """Return the seconds that a process has had the processor; none once it has ended."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def has_worked(seconds: float, process: subprocess.Popen[Any]) -> None:
    """Wait until a process has had the processor for so many seconds, however long that takes."""
    while process.poll() is None and cpu(process) <= seconds:
        time.sleep(0.01)
