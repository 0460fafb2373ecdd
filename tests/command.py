"""The command line, run in this process: the start of another costs half a second and is a subject of few tests."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

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
