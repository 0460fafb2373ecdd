"""What records are read from: a relation, and what is known of it."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from pathlib import Path

from sqlmicro.database.columns import Column
from sqlmicro.database.files import file_format
from sqlmicro.database.templates import Name, ident


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

    def files(self) -> set[Path]:
        """Return the files the label stands for."""
        found = {Path(path).absolute() for path in glob.glob(self.label, recursive=True)}  # noqa: PTH207
        return found | {Path(self.label).absolute()}


def identity_of(relation: Name) -> str:
    """Return the schema and name of a relation, whatever its database is called.

    >>> identity_of(Name("shop", "main", "Persons"))
    '"main"."persons"'
    """
    return ".".join(ident(part) for part in (relation.schema, relation.table) if part).lower()
