"""A release as the content of a table of a lake: one commit for each release.

It is written to one Parquet file, which is audited and recounted; exactly that file is committed. A Delta table is in a
folder of this machine or of a store, an Iceberg table in one of this machine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.errors import InputError
from sqlmicro.publish import targets
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.night import OfJob
from sqlmicro.publish.targets import Target
from sqlmicro.system.delta import Delta
from sqlmicro.system.iceberg import Iceberg
from sqlmicro.system.lake_moves import Lake, LakeMove
from sqlmicro.system.stores import absolute, check, is_url

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.source import Source
    from sqlmicro.pipeline import Run

_REFUSED = set(" ,;{}()\n\t=")
"""What names of columns may not have in Parquet files of a Delta table without a mapping of names (its protocol)."""


@dataclass(frozen=True)
class LakeTable(NewFile):
    """A table of a lake: all its records are those of the release."""

    prefix: ClassVar[str] = ""
    residue: ClassVar[str] = ""
    """What is said of what was replaced."""

    @property
    def place(self) -> str:
        """The kind, and the absolute path or URL of its folder."""
        return self.prefix + self.folder

    @property
    def folder(self) -> str:
        """The absolute path or URL of its folder."""
        return absolute(self.label.removeprefix(self.prefix))

    @property
    def ending(self) -> str:
        """How it is written."""
        return ".parquet"

    @property
    def lake(self) -> Lake:
        """The table."""
        raise NotImplementedError

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a folder that is there."""
        super().check(run, worked_on, dry=dry)
        if self.overwrite:
            run.notes.append(OfJob(self.residue.format(self.label)))

    def check_together(self, targets: Sequence[Target]) -> None:
        """Refuse other releases beside it: what is committed stays."""
        if len(targets) > 1:
            must = f"a commit to a table of {self.lake.format} is not taken back: one for a job"
            raise InputError("--to", must, f"{len(targets)} releases", "Split the job")

    def move(self, new: Path) -> LakeMove:
        """Return what commits a file."""
        lake = self.lake
        return LakeMove(lake, new, lake.version() if self.overwrite else None)

    def refuse_source(self, source: Source) -> None:
        """Refuse a source that would be replaced."""
        targets.refuse_source("--to", self.label, self.folder, source)

    def _existing(self) -> str:
        if is_url(self.folder):
            self._check_url()
        elif not Path(self.folder).parent.is_dir():
            raise InputError("--to", f"the folder of {self.label!r} must exist", "none", "Make it first")
        lake = self.lake
        if lake.version() is not None:
            return f"a table of {lake.format}"
        local = Path(self.folder)
        taken = not is_url(self.folder) and local.exists() and not (local.is_dir() and not any(local.iterdir()))
        return "a folder" if taken else ""

    def _check_url(self) -> None:
        check(self.folder, "--to", written=True)


@dataclass(frozen=True)
class DeltaTable(LakeTable):
    """A Delta table."""

    prefix: ClassVar[str] = "delta:"
    residue: ClassVar[str] = (
        "what was replaced in {!r} is vacuumed: earlier versions cannot be read any more; the log of the table keeps "
        "what earlier commits say of their files, and a bucket that keeps versions keeps the files"
    )

    @property
    def lake(self) -> Delta:
        """The table."""
        return Delta(self.folder, "--to")

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a folder that is there, or names of columns that a table cannot have."""
        wrong = [column.name for column in run.roles.released if _REFUSED & set(column.name)]
        if wrong:
            must = "columns of a Delta table have names without blanks and without any of ,;{}()="
            raise InputError("--to", must, ", ".join(wrong), "Drop or rename them, or release to a Parquet file")
        super().check(run, worked_on, dry=dry)


@dataclass(frozen=True)
class IcebergTable(LakeTable):
    """An Iceberg table in a folder, without a catalog."""

    prefix: ClassVar[str] = "iceberg:"
    residue: ClassVar[str] = (
        "what was replaced in {!r} has expired, and its files are removed: earlier snapshots cannot be read any more; "
        "copies of the folder keep them"
    )

    @property
    def lake(self) -> Iceberg:
        """The table."""
        return Iceberg(self.folder, "--to")

    def _check_url(self) -> None:
        must = "a release to Iceberg goes to a folder of this machine: in a store, a catalog makes the commits"
        raise InputError("--to", must, "a URL", "Release to delta:URL, or to an object")


LAKE_TABLES: dict[str, type[LakeTable]] = {table.prefix: table for table in (DeltaTable, IcebergTable)}
"""The tables of lakes that can be released to, by what stands before their folder."""
