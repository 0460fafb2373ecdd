"""Locks of open files: the only place that knows how a system locks.

They end with the process that holds them, however it ends. Nothing here is needed to import the package: a lock that a
system does not have is missed where it is asked for.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from sqlmicro.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


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
        Everywhere but on Linux.
    """
    if not (sys.platform.startswith("linux") and hasattr(fcntl, "F_OFD_SETLK")):
        raise InputError(
            where,
            "rewriting a database file needs locks of open files, as Linux has them",
            f"a system without them ({sys.platform})",
            "Publish with --into or --to, or with --no-purge and run sqlmicro purge on Linux",
        )


def database_taken(descriptor: int, *, alone: bool) -> bool:
    """Lock a database file that is open as DuckDB does: to read it, or alone. Tell whether that could be done at once.

    Unlike DuckDB's own, the lock belongs to the open file (fcntl(2), F_OFD_SETLK): it does not end when somebody else
    in this process closes the same file.
    """
    kind = fcntl.F_WRLCK if alone else fcntl.F_RDLCK
    whole = struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, whole)
    except (BlockingIOError, PermissionError):
        return False
    return True


def fsync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":  # which writes names by itself and opens no folder
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
