"""Private folders: what is written on the way to a result, read by nobody else and swept when its run was killed.

A run holds a lock on its folder for as long as it lives. The lock goes with the process, however that ends; the next
start removes every folder that is not locked. Process numbers would not do: they are used again, and a container
sees others than its neighbour with whom it shares the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = ".sqlmicro-"


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """Make a folder of mode 0700 in `parent` for the length of the block; what earlier runs left is removed first.

    Raises
    ------
    OSError
        When `parent` cannot be written to.
    """
    sweep(parent)
    path, lock = _made(parent)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def spill() -> contextlib.AbstractContextManager[Path]:
    """Make a private folder where the system keeps temporary files: TMPDIR."""
    return folder(Path(tempfile.gettempdir()))


def sweep(parent: Path) -> None:
    """Remove the folders in `parent` that runs of this user left behind: they may hold raw records."""
    with contextlib.suppress(OSError):
        for path in parent.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                    _remove_unlocked(path)


def _made(parent: Path) -> tuple[Path, int]:
    """Return a new folder and the lock on it; a sweep that found it before it was locked has removed it."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists():
                    return path, lock
            os.close(lock)


def _remove_unlocked(path: Path) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
