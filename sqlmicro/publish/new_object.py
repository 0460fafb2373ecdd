"""A release as an object of a store, or as a folder of Parquet objects.

It is written to a private folder of this machine, audited and recounted there, then uploaded. No raw record is in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.database.files import copying
from sqlmicro.database.templates import Sql
from sqlmicro.publish import targets
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.night import OfJob
from sqlmicro.publish.targets import Statement
from sqlmicro.system.object_moves import FolderMove, ObjectMove
from sqlmicro.system.stores import Store, absolute

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.source import Source
    from sqlmicro.pipeline import Run

_VERSIONS = "what was replaced stays in {!r} as an earlier version, if the bucket keeps versions"
_NOT_AT_ONCE = "the files of {!r} are put there one after the other: until all are there, it has a mark"


@dataclass(frozen=True)
class NewObject(NewFile):
    """An object; with `partition_by` a folder of Parquet objects. It is made in a private folder of this machine."""

    @property
    def place(self) -> str:
        """Its URL."""
        return absolute(self.label)

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse an object that is there, or cannot be made."""
        super().check(run, worked_on, dry=dry)
        if self.partition_by:
            run.notes.append(OfJob(_NOT_AT_ONCE.format(self.label)))
        elif self.overwrite:
            run.notes.append(OfJob(_VERSIONS.format(self.label)))

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statement that would write it, from a DuckDB that reaches its store."""
        return [copying(self.written(run, select), self.label, self.partition_by)]

    def move(self, new: Path) -> ObjectMove | FolderMove:
        """Return what puts a file, or a folder of files, in its place."""
        if self.partition_by:
            return FolderMove(self._store(), new, self.place)
        return ObjectMove(self._store(), new, self.place, self.overwrite)

    def of_candidate(self, number: int) -> NewObject:
        """Return where a candidate goes that is kept: `<URL>_candidate_N.<ending>`."""
        named = super().of_candidate(number)
        return replace(self, label=named.label, keeps=False)

    def refuse_source(self, source: Source) -> None:
        """Refuse a source that would be replaced."""
        targets.refuse_source("--to", self.label, self.place, source)

    def _existing(self) -> str:
        store = self._store()
        store.bucket(self.place)
        if self.partition_by:
            return "a folder" if store.under(self.place) else ""
        return "an object" if store.stored(self.place) else ""

    def _store(self) -> Store:
        return Store(self.place, "--to", written=True)
