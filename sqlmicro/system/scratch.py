"""Private folders: what is written on the way to a result, read by nobody else and swept when its run was killed.

A private folder is called `.sqlmicro.` and 16 hexadecimal digits. In it are a marker, which holds that name, and the
folder `work`. A run holds a lock on its marker for as long as it lives. The lock goes with the process, however that
ends; the next start removes every folder whose name, owner and marker are ours and whose marker is not locked. Whatever
else is called similarly belongs to somebody else. Process numbers would not do: they are used again, and a container
sees others than its neighbour with whom it shares the disk.

A run that is killed while it makes or removes its folder leaves one with an empty marker, or none, and nothing else in
it. The next start removes that too; a run that was only slow finds its folder gone and makes another.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlmicro.errors import InputError
from sqlmicro.system import locks
from sqlmicro.system.interrupts import uninterrupted

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
        while not locks.taken(lock):
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
        left = stat.S_ISREG(status.st_mode) and is_own(status) and locks.taken(lock)
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
