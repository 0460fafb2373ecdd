"""A release as the content of a Delta table, in a folder of this machine or of a store: one commit for each release.

It is written to one Parquet file, which is audited and recounted; exactly that file is committed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.targets import Target
from sqlmicro.system.delta_moves import Delta, DeltaMove
from sqlmicro.system.stores import absolute, check, is_url

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run

PREFIX = "delta:"
_REFUSED = set(" ,;{}()\n\t=")
"""What names of columns may not have in Parquet files of a table without a mapping of names (the protocol of Delta)."""
_RESIDUE = (
    "what was replaced in {!r} is vacuumed: earlier versions cannot be read any more; the log of the table keeps what "
    "earlier commits say of their files, and a bucket that keeps versions keeps the files"
)


@dataclass(frozen=True)
class DeltaTable(NewFile):
    """A Delta table: all its records are those of the release."""

    @property
    def place(self) -> str:
        """The kind, and the absolute path or URL of its folder."""
        return PREFIX + self.folder

    @property
    def folder(self) -> str:
        """The absolute path or URL of its folder."""
        return absolute(self.label.removeprefix(PREFIX))

    @property
    def ending(self) -> str:
        """How it is written."""
        return ".parquet"

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a folder that is there, or names of columns that a table cannot have."""
        wrong = [column.name for column in run.roles.released if _REFUSED & set(column.name)]
        if wrong:
            must = "columns of a Delta table have names without blanks and without any of ,;{}()="
            raise InputError("--to", must, ", ".join(wrong), "Drop or rename them, or release to a Parquet file")
        super().check(run, worked_on, dry=dry)
        if self.overwrite:
            run.notes.append(_RESIDUE.format(self.label))

    def check_together(self, targets: Sequence[Target]) -> None:
        """Refuse other releases beside it: what is committed stays."""
        if len(targets) > 1:
            got = f"{len(targets)} releases"
            raise InputError("--to", "a commit to a Delta table is not taken back: one for a job", got, "Split the job")

    def move(self, new: Path) -> DeltaMove:
        """Return what commits a file."""
        delta = Delta(self.folder, "--to")
        return DeltaMove(delta, new, delta.version() if self.overwrite else None)

    def _existing(self, run: Run) -> str:
        if is_url(self.folder):
            check(self.folder, "--to", written=True)
        elif not Path(self.folder).parent.is_dir():
            raise InputError("--to", f"the folder of {self.label!r} must exist", "none", "Make it first")
        self._refuse_source(run, run.source.is_file and absolute(run.source.label) == self.folder)
        if Delta(self.folder, "--to").version() is not None:
            return "a Delta table"
        local = Path(self.folder)
        taken = not is_url(self.folder) and local.exists() and not (local.is_dir() and not any(local.iterdir()))
        return "a folder" if taken else ""
