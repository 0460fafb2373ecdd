"""Compile the kernels once before the workers start, each of which would compile the same ones.

What is compiled stays beside the package, or in NUMBA_CACHE_DIR; a note of what it was compiled from is in pytest's own
cache, so that this runs again only when a kernel, numba or the place has changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTE = "sqlmicro/compiled"
SHARES = ("with rules", "without")
"""What is compiled by each process: about the same work, and little that both need."""
PROGRAM = """
import sys
import sqlmicro
from sqlmicro.verbs import warm_up
wanted = sys.argv[1] == "with rules"
calls = [call for call in warm_up.all_calls() if (call.verb == "safe" or "sensitive" in call.settings) == wanted]
warm_up.all_calls = lambda: calls
sqlmicro.warm_up()
"""


def compiled_from() -> list[str]:
    """Return what compiled code depends on: the kernels as they are now, the versions and the place."""
    kernels = sorted((ROOT / "sqlmicro").rglob("*_kernels.py"))
    found = [f"{path.relative_to(ROOT)} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in kernels]
    return [*found, sys.version, version("numba"), str(ROOT), os.environ.get("NUMBA_CACHE_DIR", "")]


def compile_once(config: pytest.Config) -> None:
    """Compile what the tests call, where a whole suite is about to be given to several workers."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.collectonly
    cache = getattr(config, "cache", None)
    if not whole or cache is None or hasattr(config, "workerinput") or config.getoption("dist", "no") == "no":
        return
    wanted = compiled_from()
    if cache.get(NOTE, None) == wanted:
        return
    started = time.monotonic()
    command = [sys.executable, "-c", PROGRAM]
    parts = [subprocess.Popen([*command, share], cwd=ROOT, stdout=subprocess.DEVNULL) for share in SHARES]
    if not any([part.wait() for part in parts]):  # noqa: C419 (all are waited for)
        cache.set(NOTE, wanted)
    print(f"kernels compiled in {time.monotonic() - started:.0f} s; they are kept for the next time")
