"""Whether nobody else can change what is read from a place: code that is loaded from one where others write is theirs.

That takes more than the mode of a file: who may write to a folder above it can put another folder in its place, and who
owns one of them may open it to himself. A folder that all may write to is fine where it is sticky, as /tmp is, and what
is in it belongs to nobody else.

Where rights are no owner and mode, as on Windows, the folders of a user are closed to others by the system, and nothing
is looked at.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MOST_LINKS = 40
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def user() -> int | None:
    """Return the number of the user whose rights this process has; None where users have none."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def is_closed(path: Path, owner: int | None = None) -> bool:
    """Tell whether only root, this user and an `owner` can change what is at a path, or make it where nothing is.

    Links are followed, and looked at as well as the folders that they lead through.
    """
    this = user()
    if this is None:
        return True
    trusted = {0, this, owner}
    waiting, current, links = [*reversed(path.absolute().parts[1:])], Path("/"), 0
    try:
        if not _is_closed(current.lstat(), trusted, inside=bool(waiting)):
            return False
        while waiting:
            part = waiting.pop()
            if part == "..":
                current = current.parent
                continue
            status = (current / part).lstat()
            if stat.S_ISLNK(status.st_mode):
                links += 1
                if status.st_uid not in trusted or links > _MOST_LINKS:
                    return False
                to = (current / part).readlink()
                current = Path("/") if to.is_absolute() else current
                waiting += reversed(to.parts[1:] if to.is_absolute() else to.parts)
                continue
            if not _is_closed(status, trusted, inside=bool(waiting)):
                return False
            current /= part
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_closed(status: os.stat_result, trusted: set[int | None], *, inside: bool) -> bool:
    """Tell it of one folder or file; of a folder, whether what is `inside` and belongs to who is trusted stays."""
    sticky = inside and stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    return status.st_uid in trusted and (not status.st_mode & _OTHERS or bool(sticky))
