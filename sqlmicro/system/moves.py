"""Files that are put in place: the old one is kept beside it until the new one is recorded, and comes back otherwise.

Objects of a store are put in place in the same steps: see `object_moves`.

What is kept has a hidden name in the same folder, and is the old file itself under a second name where the file system
has hard links: at no moment is there nothing in the place. Only what was put there is ever removed again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Protocol

from sqlmicro.system import locks
from sqlmicro.system.whole_files import FILE, FOLDER, LINK, came_meanwhile, found, put_new

_ENDING = ".sqlmicro-kept"
_KEPT = re.compile(r"\.[0-9a-f]{16}\.sqlmicro-kept")


class Placed(Protocol):
    """What is put in a place, can be taken back from there, and leaves nothing of what it replaced."""

    def put(self) -> None:
        """Put it there; what was there stays kept."""

    def take_back(self) -> None:
        """Put back what was there; what somebody else has put there since stays."""

    def forget(self) -> None:
        """Remove what was there."""


@dataclass(frozen=True)
class Move:
    """A new file or folder, its place, where the old one is kept (None: there is none), and the digest of the new."""

    new: Path
    place: Path
    kept: Path | None
    digest: str

    def __post_init__(self) -> None:
        kept = self.kept
        if kept is not None and not (kept.parent == self.place.parent and _KEPT.fullmatch(kept.name)):
            raise ValueError("what is kept has a name of our own, in the same folder")

    def put(self) -> None:
        """Put the new file in its place."""
        if self.kept is not None and _keep(self.place, self.kept):
            self.new.replace(self.place)
            return
        try:
            put_new(self.new, self.place)
        except FileExistsError:
            raise came_meanwhile("--to", self.place) from None

    def take_back(self) -> None:
        """Put the old file back; what somebody else has put there since stays."""
        if self.kept is not None and os.path.lexists(self.kept):
            if is_put(self) or not os.path.lexists(self.place):
                if self.place.is_dir():  # which nothing can be renamed over
                    _remove(self.place)
                self.kept.replace(self.place)
            _remove(self.kept)  # renaming one name of a file over another of it does nothing
        elif is_put(self):
            _remove(self.place)

    def forget(self) -> None:
        """Remove the old file."""
        if self.kept is not None:
            _remove(self.kept)


def planned(new: Path, place: Path, *, overwrite: bool) -> Move:
    """Return the move of a new file, or a folder of files, to its place.

    Raises
    ------
    InputError
        When something has come there since it was looked at, which is not to be replaced, or of another kind.
    """
    there = found(place)
    if there and not (overwrite and (there == FOLDER if new.is_dir() else there in (FILE, LINK))):
        raise came_meanwhile("--to", place)
    kept = place.with_name(f".{secrets.token_hex(8)}{_ENDING}") if there else None
    return Move(new, place, kept, digest(new))


def digest(path: Path) -> str:
    """Return what tells a file, or a folder with all its files, from any other: its time and content.

    The time is part of it so that nobody can have a file removed by saying what is in it.
    """
    if path.is_file():
        with path.open("rb") as file:
            return f"{path.stat().st_mtime_ns} {file_digest(file, 'sha256').hexdigest()}"
    files = sorted(part for part in path.rglob("*") if part.is_file())
    return sha256("".join(f"{part.relative_to(path)}\0{digest(part)}\0" for part in files).encode()).hexdigest()


def put(moves: Iterable[Placed]) -> None:
    """Put the new files in their places, one after the other; the old ones stay kept."""
    for move in moves:
        move.put()


def is_put(move: Move) -> bool:
    """Tell whether the new file is in its place."""
    place = move.place
    if place.is_symlink() or not (place.is_file() or (place.is_dir() and any(place.iterdir()))):
        return False
    return digest(place) == move.digest


def take_back(moves: Sequence[Placed]) -> None:
    """Put the old files back, the last first."""
    for move in reversed(moves):
        move.take_back()


def forget(moves: Iterable[Placed]) -> None:
    """Remove the old files."""
    for move in moves:
        move.forget()


def open_to_others(path: Path) -> None:
    """Give a file, or a folder and all in it, the mode it would have had from the start."""
    mask = _umask()
    for part in (path, *path.rglob("*")):
        part.chmod((0o777 if part.is_dir() else 0o666) & ~mask)


def to_disk(path: Path) -> None:
    """Write a file, or a folder with all in it, to the disk."""
    for part in (path, *path.rglob("*")):
        locks.fsync(part)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _keep(place: Path, kept: Path) -> bool:
    """Keep what is in a place; tell whether anything is there still."""
    try:
        os.link(place, kept, follow_symlinks=False)
    except OSError:  # a file system without hard links, or a file of somebody else
        try:
            place.replace(kept)
        except FileNotFoundError:
            return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
