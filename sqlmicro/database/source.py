"""What records are read from: a relation, and what is known of it."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

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
    said: tuple[str, ...] = ()
    """What is said of how it was read."""
    reads: frozenset[str] = frozenset()
    """The paths, patterns and URLs that it is read from, those in a view as well."""
    reads_more: bool = False
    """Whether a view reads what its text does not tell."""
    definition: str = ""
    """A hash of the text of a view, and of those of the views and macros that it reads through."""

    @property
    def kind(self) -> Literal["table", "view", "file"]:
        """What it is in its database, if it is in one."""
        return "table" if self.is_table else "file" if self.is_file else "view"

    @property
    def is_text(self) -> bool:
        """Whether it is read from CSV or JSON, which is done once only."""
        return self.is_file and file_format(self.label) in ("csv", "json")

    @property
    def is_csv(self) -> bool:
        """Whether its records are from CSV, which options of the reader are for."""
        return not (self.is_table or self.is_frame) and file_format(self.label) == "csv"

    @property
    def identity(self) -> str:
        """What the source is called in the keys of draws: schema and name; of a file or frame the names of its columns.

        So the exports of two days are one source, wherever they are, and files of other columns are others, whatever
        they are called. The types are no part of it: of a CSV file they are guessed anew every day. Nor is the name of
        a database: it is that of the file, or was given when it was attached.
        """
        if not (self.is_file or self.is_frame):
            return identity_of(self.relation)
        return json.dumps(sorted({column.name.lower() for column in self.columns}))

    @property
    def people(self) -> str:
        """Where its people are, as a ledger knows them: schema and name; of a file its path, or URL, without days.

        A ledger takes two sources for the same people if they agree in this, or in the names and types of all columns.
        Frames are nowhere.
        """
        return place_of(self.label) if self.is_file else self.identity

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


_DAY = r"(?:19|20)\d\d[-_.]?\d\d(?:[-_.]?\d\d)?(?:T?[-_]?\d{4,6}Z?)?"
_DAILY = re.compile(
    rf"[0-9a-f]{{8}}-(?:[0-9a-f]{{4}}-){{3}}[0-9a-f]{{12}}|(?<![0-9A-Za-z]){_DAY}(?![0-9A-Za-z])"
    r"|(?<=/)(?:year|month|day|hour|date|dt|ds)=[^/]*(?=/)|(?<=/)(?:19|20)\d\d(?:/\d\d){0,2}(?=/)"
)
"""What is another in every export of a path: days, hours, the identifiers that Spark gives, folders of partitions."""
_NUMBER = re.compile(r"(?<![0-9A-Za-z])\d+(?![0-9A-Za-z])")


def place_of(path: str) -> str:
    """Return the resolved path, or the URL, of a file without what is another in every export; also of a pattern.

    Numbers stay in the names of folders, and in those of files where letters are beside them.

    >>> place_of("/lake/2026-11-01/orders_7.csv"), place_of("/lake/site1/table1.csv")
    ('/lake//orders_.csv', '/lake/site1/table1.csv')
    >>> place_of("s3://lake/customers/dt=2026-11-01/part-00001-6cf31a0e-9d5c-4c1b-8a3e-0f6b7c2d1e4f-c000.parquet")
    's3://lake/customers//part---c000.parquet'
    """
    if not is_url(path):
        lake = next((kind for kind in ("delta:", "iceberg:") if path.startswith(kind)), "")
        path = lake + Path(path.removeprefix(lake).removeprefix("file:")).resolve().as_posix()
    folder, slash, name = _DAILY.sub("", path).rpartition("/")
    return f"{folder}{slash}{_NUMBER.sub('', name)}"


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
        yield from (one for one in {path, unquote(path)} if os.path.lexists(one))  # Spark names files by URLs
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
