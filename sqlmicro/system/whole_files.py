"""Files that are put in a place whole or not at all, and never in place of what nobody wanted replaced.

What is in a place is looked at before the work, so that it is not in vain, and nothing takes the place of what has come
there since: a second name (`link`) or a new folder is made only where nothing is, in one step of the file system.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from sqlmicro.errors import InputError

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
