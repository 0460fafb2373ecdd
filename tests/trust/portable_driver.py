"""Imports every module, and runs SAFE, on a Python that has nothing of Linux: as near to Windows as one gets here.

The modules and functions that Windows lacks are taken away before anything of ours is imported. Other libraries may
need them and are loaded first. `msvcrt`, by which files are locked there, is played by the locks of this system.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
from pathlib import Path
from types import ModuleType

import duckdb  # noqa: F401
import jinja2  # noqa: F401
import numba  # noqa: F401
import pyarrow  # noqa: F401
import typer  # noqa: F401

MODULES = ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "posix", "readline", "syslog")
FUNCTIONS = (
    "getuid", "geteuid", "getgid", "getegid", "chown", "fchown", "lchown", "fchmod", "fork", "setsid", "uname",
    "getpgid", "killpg", "sched_getaffinity", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK",
)  # fmt: skip
SIGNALS = ("SIGHUP", "SIGKILL", "SIGALRM", "SIGVTALRM", "SIGUSR1", "setitimer", "pthread_kill", "ITIMER_VIRTUAL")


def windows_locks() -> tuple[ModuleType, list[bool]]:
    """Return a module `msvcrt` that locks one byte as that of Windows does, and what it answered."""
    import fcntl

    msvcrt, answers = ModuleType("msvcrt"), []

    def locking(descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (2, 1)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            answers.append(sys.exc_info()[0] is None)

    msvcrt.LK_NBLCK, msvcrt.locking = 2, locking  # type: ignore[attr-defined]
    return msvcrt, answers


def main() -> None:
    sys.modules["msvcrt"], answers = windows_locks()
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    for name in SIGNALS:
        if hasattr(signal, name):
            delattr(signal, name)

    import sqlmicro

    imported = []
    for found in pkgutil.walk_packages(sqlmicro.__path__, "sqlmicro."):
        if not found.name.startswith("sqlmicro.spark") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
            imported.append(found.name)
    table, folder = sys.argv[1], Path(sys.argv[2])
    report = sqlmicro.safe(table, columns=["sex", "age", "region"], rest="drop", k=3, to=str(folder / "safe.parquet"))
    sqlmicro.register([table], table="persons", db=str(folder / "w.duckdb"))
    given = {"db": str(folder / "w.duckdb"), "columns": ["age"], "rest": "drop", "k": 3, "in_place": True}
    try:
        sqlmicro.individual_ranking("persons", **given)
        refused = ""
    except sqlmicro.InputError as error:
        refused = str(error)
    kept = sqlmicro.individual_ranking("persons", **given, no_purge=True)
    left = sorted(path.name for path in folder.iterdir() if path.name != "tmp")
    print(
        json.dumps({
            "imported": len(imported), "k": report["k"], "locked": answers.count(True), "refused": refused,
            "in_place": kept["k_released"], "left": [*left, *(path.name for path in (folder / "tmp").iterdir())],
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
