"""What records are read from: a relation, and what is known of it."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from sqlmicro.database.columns import Column
from sqlmicro.database.files import file_format
from sqlmicro.database.templates import Name, ident
from sqlmicro.system.stores import is_url


@dataclass(frozen=True)
class Source:
    """A relation records are read from, and what is known of it."""

    relation: Name
    label: str
    columns: tuple[Column, ...]
    is_table: bool
    is_file: bool = False
    is_frame: bool = False
    objects: frozenset[str] = frozenset()
    """The URLs of the objects it is read from."""
    reads: frozenset[str] = frozenset()
    """The paths, patterns and URLs that it is read from, those in a view as well."""
    reads_more: bool = False
    """Whether a view reads what its text does not tell."""

    @property
    def is_text(self) -> bool:
        """Whether it is read from CSV or JSON, which is done once only."""
        return self.is_file and file_format(self.label) in ("csv", "json")

    @property
    def identity(self) -> str:
        """What the source is called in the keys of draws: schema and name; a file's name without folder and digits.

        So the exports of two days are one source, `persons-2026-11-01.csv` and `persons-2026-11-02.csv`. The database's
        own name is no part of it: it is that of the file, or was given when it was attached. Frames have no name.
        """
        if self.is_frame:
            return ""
        if self.is_file:
            return re.sub(r"\d+", "", Path(self.label).name)
        return identity_of(self.relation)

    def loses(self, place: str | Path) -> bool:
        """Tell whether records of the source would go with what is at a path, or at a URL.

        Files are compared by what they are: a link, or another way to a folder, leads to the same file.
        """
        if isinstance(place, str) and is_url(place):
            return place in self.objects or any(is_url(one) and fnmatchcase(place, one) for one in self.reads)
        target = _identity(place)
        if target is None:
            return False
        inside, whole = {target, *_folders(place)}, Path(place).is_dir()
        for file in (file for pattern in self.reads for file in _found(pattern)):
            if _identity(file) in (inside if Path(file).is_dir() else {target}):
                return True
            if whole and target in _folders(file):
                return True
        return False


def identity_of(relation: Name) -> str:
    """Return the schema and name of a relation, whatever its database is called.

    >>> identity_of(Name("shop", "main", "Persons"))
    '"main"."persons"'
    """
    return ".".join(ident(part) for part in (relation.schema, relation.table) if part).lower()


def _found(pattern: str) -> Iterator[str]:
    """Yield what a path or pattern stands for now, as DuckDB reads it."""
    path = pattern.removeprefix("file:")
    path = os.path.expanduser(f"/{path.lstrip('/')}" if path != pattern and path.startswith("/") else path)  # noqa: PTH111
    with contextlib.suppress(OSError, ValueError):  # a text of a view that is no path at all
        if os.path.lexists(path):
            yield path
        yield from glob.iglob(path, recursive=True)  # noqa: PTH207  (the pattern may be absolute)


def _identity(path: str | Path) -> tuple[int, int] | None:
    """Return what tells a file or folder from all others, whatever it is called; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _folders(path: str | Path) -> set[tuple[int, int] | None]:
    """Return what the folders above a file are: those of its name, and those of what it links to."""
    ways = (Path(path).absolute(), Path(path).resolve())
    return {_identity(folder) for way in ways for folder in way.parents if folder.parent != folder}
