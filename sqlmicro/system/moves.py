"""Files that are put in place: the old one is kept beside it until the new one is recorded, and comes back otherwise.

Objects of a store are put in place in the same steps: see `object_moves`.

What is kept has a hidden name in the same folder, and is the old file itself under a second name where the file system
has hard links: at no moment is there nothing in the place. Only what was put there is ever removed again.

Files that are put in a place whole or not at all, and never in place of what nobody wanted replaced.

What is in a place is looked at before the work, so that it is not in vain, and nothing takes the place of what has come
there since: a second name (`link`) or a new folder is made only where nothing is, in one step of the file system.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Protocol

from sqlmicro.errors import InputError
from sqlmicro.system import scratch

FILE, FOLDER, LINK, OTHER = "a file", "a folder", "a link to nothing", "a pipe, a device or a socket"
_CAME = "something that was put there meanwhile"


def found(path: Path) -> str:
    """Return what is in a place, by whatever link: nothing, or one of the words above."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return LINK if os.path.lexists(path) else ""
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER


def refuse(where: str, path: Path, label: str, *, overwrite: bool) -> None:
    """Refuse a file that cannot be put in a place.

    Raises
    ------
    InputError
        When something is there, unless it is a file that may be replaced.
    """
    there = found(path)
    stays = there in (FOLDER, OTHER)
    if there and (stays or not overwrite):
        way = "Choose another name" + ("" if stays else ", or add --overwrite")
        raise InputError(where, f"{label!r} must not exist yet", there, way)


def came_meanwhile(where: str, path: Path, do: str = "Nothing was published. Choose another name") -> InputError:
    """Return the refusal of a place that was free when the work began."""
    return InputError(where, f"{str(path)!r} must not exist yet", _CAME, do)


def put_new(new: Path, place: Path) -> None:
    """Put a file or a folder where nothing is.

    Raises
    ------
    FileExistsError
        When there is something; it stays, and the new one too.
    """
    if os.name == "nt":  # where it is never put over another
        new.rename(place)
    elif new.is_dir():
        place.mkdir()
        try:
            new.rename(place)
        except OSError:
            _leave(place)
            raise
    else:
        try:
            os.link(new, place, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            new.replace(place)
        else:
            new.unlink()


def _leave(place: Path) -> None:
    """Remove a folder that was made as a place, unless somebody has put something into it."""
    with contextlib.suppress(OSError):
        place.rmdir()


def write(where: str, path: Path, data: bytes, *, overwrite: bool, mode: int = 0o666, do: str = "") -> None:
    """Write a file beside its place, then put it there.

    Raises
    ------
    InputError
        When that cannot be done; `do` is what is said then.
    """
    beside = path.with_name(f".sqlmicro-{secrets.token_hex(6)}{path.suffix}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(beside, flags, mode), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        there = found(path)
        if overwrite and there in (FILE, LINK):
            beside.replace(path)
        elif there:
            raise FileExistsError
        else:
            put_new(beside, path)
    except FileExistsError:
        raise came_meanwhile(where, path, do) from None
    except OSError as error:
        raise InputError(
            where, f"{str(path)!r} must be a file that can be written", error.strerror or "an error", do
        ) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


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
        scratch.fsync(part)


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
