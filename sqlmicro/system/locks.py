"""Locks of open files: the only place that knows how a system locks.

They end with the process that holds them, however it ends. Nothing here is needed to import the package: a lock that a
system does not have is missed where it is asked for.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import sys
from pathlib import Path

from sqlmicro.errors import InputError
from sqlmicro.system.printable import shown

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_HELD = re.compile(r"(?:([\w./+-]+) |.*)\(?PID (\d+)")


def taken(descriptor: int) -> bool:
    """Lock an open file against all who lock it by this function, and tell whether that could be done at once.

    Raises
    ------
    OSError
        When the file system has no locks.
    """
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    import msvcrt

    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def check_database_locks(where: str) -> None:
    """Refuse a system on which a database file cannot be locked for this process alone.

    Raises
    ------
    InputError
        On Windows.
    """
    if fcntl is None:
        raise InputError(
            where,
            "rewriting a database file needs locks of files as Linux has them, and macOS",
            f"a system without them ({sys.platform})",
            "Publish with --into or --to, or with --no-purge and run sqlmicro purge on Linux",
        )


def database_taken(descriptor: int, *, alone: bool) -> bool:
    """Lock a database file that is open as DuckDB does: to read it, or alone. Tell whether that could be done at once.

    On Linux, unlike DuckDB's own, the lock belongs to the open file (fcntl(2), F_OFD_SETLK): it does not end when
    somebody else in this process closes the same file. Elsewhere it does: who relies on it looks at the file again.
    """
    try:
        if sys.platform.startswith("linux") and hasattr(fcntl, "F_OFD_SETLK"):
            kind = fcntl.F_WRLCK if alone else fcntl.F_RDLCK
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
        else:
            fcntl.lockf(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def holder(text: str) -> str:
    """Return which process has a file locked, from the words of DuckDB: its number and the name of its command.

    The arguments of a command may hold secrets, and are left out.

    >>> holder("Conflicting lock is held in /usr/bin/python3.11 (PID 4194305). See also …")
    '4194305 (python3.11)'
    """
    found = _HELD.match(text.rpartition("lock is held in ")[2])
    if found is None:
        return ""
    path, number = found.groups()
    name = Path(path or "").name
    with contextlib.suppress(OSError):  # no such system, or the process has ended
        name = Path(f"/proc/{number}/comm").read_text(errors="replace").strip()
    return f"{number} ({shown(name)})" if name else number


def open_here(path: Path) -> bool:
    """Tell whether this process has a file open, where the system tells."""
    asked = path.stat()
    with contextlib.suppress(OSError):
        for opened in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):  # that of the folder itself
                if os.path.samestat(opened.stat(), asked):
                    return True
    return False


def fsync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":  # which writes names by itself and opens no folder
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
