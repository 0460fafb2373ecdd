"""Private folders: what is written on the way to a result, read by nobody else and swept when its run was killed.

A private folder is called `.sqlmicro.` and 16 hexadecimal digits. In it are a marker, which holds that name, and the
folder `work`. A run holds a lock on its marker for as long as it lives. The lock goes with the process, however that
ends; the next start removes every folder whose name, owner and marker are ours and whose marker is not locked. Whatever
else is called similarly belongs to somebody else. Process numbers would not do: they are used again, and a container
sees others than its neighbour with whom it shares the disk.

A run that is killed while it makes or removes its folder leaves one with an empty marker, or none, and nothing else in
it. The next start removes that too; a run that was only slow finds its folder gone and makes another.

Locks of open files: the only place that knows how a system locks.

They end with the process that holds them, however it ends. Nothing here is needed to import the package: a lock that a
system does not have is missed where it is asked for.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlmicro.errors import InputError
from sqlmicro.system.interrupts import uninterrupted
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


_NAME = re.compile(r"\.sqlmicro\.[0-9a-f]{16}")
_MARKER, _WORK = "sqlmicro-run", "work"
_held: dict[Path, int] = {}  # the folders of this process, and the locks on their markers


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """Make a folder of mode 0700 in `parent` for the length of the block; what earlier runs left is removed first.

    Raises
    ------
    OSError
        When `parent` cannot be written to.
    """
    sweep(parent)
    made: list[Path] = []
    try:
        with uninterrupted():
            made.append(_made(parent))
        yield made[0] / _WORK
    finally:
        with uninterrupted():
            for path in made:
                _remove(path, _held.pop(path))


@contextmanager
def spill() -> Iterator[Path]:
    """Make a private folder where the system keeps temporary files: TMPDIR.

    Raises
    ------
    InputError
        When there is no such place that can be written to.
    """
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(folder(Path(tempfile.gettempdir())))
        except OSError as error:
            raise InputError(
                "TMPDIR", "must be a folder for temporary files that you may write to",
                error.strerror or type(error).__name__, "Set TMPDIR to one",
            ) from None  # fmt: skip
        yield made


def sweep(parent: Path) -> None:
    """Remove the folders in `parent` that runs of this user left behind: they may hold raw records."""
    with contextlib.suppress(OSError):
        for name in os.listdir(parent):  # noqa: PTH208 - there may be many, and a path of each takes longer than all else
            if _NAME.fullmatch(name):
                with contextlib.suppress(OSError):
                    _remove_left(parent / name)


def remove_all() -> None:
    """Remove the folders that this process still holds, where it ends without leaving their blocks."""
    while _held:
        _remove(*_held.popitem())


def is_own(status: os.stat_result) -> bool:
    """Tell whether a file is this user's; where users have no numbers (Windows) its folder decides who may read it."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _made(parent: Path) -> Path:
    """Return a new folder, which is held from then on."""
    while True:
        path = parent / f".sqlmicro.{secrets.token_hex(8)}"
        path.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):  # a sweep took it for one that was left
            _held[path] = _marked(path)
            return path


def _marked(path: Path) -> int:
    """Write the marker of a new folder, make the folder `work` and return the lock on the marker."""
    lock = os.open(path / _MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        while not taken(lock):
            time.sleep(0.01)  # a sweep is looking at it
        os.write(lock, _mark(path))
        (path / _WORK).mkdir(mode=0o700)
    except BaseException:
        _remove(path, lock)
        raise
    return lock


def _remove_left(path: Path) -> None:
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or not is_own(status):
        return
    try:
        lock = os.open(path / _MARKER, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        path.rmdir()  # which leaves a folder with anything in it
        return
    status = os.fstat(lock)
    try:
        left = stat.S_ISREG(status.st_mode) and is_own(status) and taken(lock)
        mark = os.read(lock, 100) if left else b""
        left = left and (mark == _mark(path) or (not mark and os.listdir(path) == [_MARKER]))  # noqa: PTH208
    except BaseException:
        os.close(lock)
        raise
    if left:
        _remove(path, lock)
    else:
        os.close(lock)


def _remove(path: Path, lock: int) -> None:
    """Remove a folder of ours; the marker last, so that what is left by a kill in between is found again.

    The lock is held meanwhile, but where the system keeps what is open (Windows).
    """
    try:
        shutil.rmtree(path / _WORK, ignore_errors=True)
        _remove_emptied(path)
    finally:
        os.close(lock)
    _remove_emptied(path)


def _remove_emptied(path: Path) -> None:
    if not (path / _WORK).exists():
        with contextlib.suppress(OSError):
            (path / _MARKER).unlink(missing_ok=True)
            path.rmdir()


def _mark(path: Path) -> bytes:
    return f"A private folder of sqlmicro, {path.name}\n".encode()
