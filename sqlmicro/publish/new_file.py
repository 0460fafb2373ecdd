"""A release as a new file, or as a folder of Parquet files.

A release as an object of a store, or as a folder of Parquet objects.

It is written to a private folder of this machine, audited and recounted there, then uploaded. No raw record is in it.

A release as the content of a table of a lake: one commit for each release.

It is written to one Parquet file, which is audited and recounted; exactly that file is committed. A Delta table is in a
folder of this machine or of a store, an Iceberg table in one of this machine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import quote

from sqlmicro.database.files import copying, file_ending
from sqlmicro.database.templates import Name, Sql, statement
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.publish import targets
from sqlmicro.publish.report import OfJob
from sqlmicro.publish.targets import Statement, Target
from sqlmicro.system import moves
from sqlmicro.system.iceberg import Iceberg
from sqlmicro.system.lake_moves import Delta, Lake, LakeMove
from sqlmicro.system.moves import Placed
from sqlmicro.system.object_moves import FolderMove, ObjectMove
from sqlmicro.system.stores import Store, absolute, check, is_url

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.source import Source
    from sqlmicro.database.warehouse import Database
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

_LONGEST_NAME = 255
_FORMULAS = ("=%", "+%", "-%", "@%", "\t%", "\r%", "\n%")
_TEXTS = ("text", "enum", "other")
_ESCAPED = """SELECT * REPLACE ({% for column in columns %}
  CASE WHEN {% for start in starts %}CAST({{ column | ident }} AS VARCHAR) LIKE {{ start | lit }}
    {% if not loop.last %}OR {% endif %}{% endfor %}
    THEN '''' || CAST({{ column | ident }} AS VARCHAR)
    ELSE CAST({{ column | ident }} AS VARCHAR) END AS {{ column | ident }}
  {% if not loop.last %}, {% endif %}{% endfor %}) FROM (
{{ select }})"""
_ONLY_COLUMN = """SELECT coalesce(CAST({{ column | ident }} AS VARCHAR), '') AS {{ column | ident }} FROM (
{{ select }})"""


@dataclass(frozen=True)
class NewFile:
    """A file; with `partition_by` a folder of Parquet files, with one folder for every value of these columns.

    With `escape_formulas` no text of a CSV file begins as a formula of a spreadsheet does.

    `records` is the database that the release is recorded in, where there is one.
    """

    label: str
    path: Path
    overwrite: bool = False
    keeps: bool = False
    partition_by: tuple[str, ...] = ()
    records: Database | None = None
    escape_formulas: bool = False
    kind: ClassVar[Literal["file"]] = "file"
    name: ClassVar[None] = None
    has_enums: ClassVar[bool] = False
    purge: ClassVar[bool] = False
    widen: ClassVar[bool] = False

    @property
    def place(self) -> str:
        """Its absolute path."""
        return str(self.path)

    @property
    def ending(self) -> str:
        """The ending of its name, which says how it is written; a folder has none."""
        return file_ending(self.label)

    def move(self, new: Path) -> Placed:
        """Return what puts a new file, or a folder of files, in its place; it is written to the disk first."""
        moves.to_disk(new)
        return moves.planned(new, self.path, overwrite=self.overwrite)

    def of_candidate(self, number: int) -> NewFile:
        """Return where a candidate goes that is kept: `<file>_candidate_N.<ending>`."""
        ending = file_ending(self.label)
        label, path = (
            text[: -len(ending)] + f"_candidate_{number}" + text[-len(ending) :]
            for text in (self.label, str(self.path))
        )
        return replace(self, label=label, path=Path(path), keeps=False)

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a file that is there, or cannot be made."""
        if self.keeps:
            # Wherever candidates were kept before, there is a first one.
            self.of_candidate(1).check(run, worked_on, dry=dry)
        if self.partition_by:
            self._check_partitions(run)
        exists = self._existing()
        self.refuse_source(run.source)
        targets.refuse_existing(run, self, "--to", exists, overwrite=self.overwrite, dry=dry)

    def _existing(self) -> str:
        if not self.path.parent.is_dir():
            raise InputError("--to", f"the folder of {self.label!r} must exist", "none", "Make it first")
        if len(self.path.name.encode()) > _LONGEST_NAME:
            raise InputError("--to", f"a file name has at most {_LONGEST_NAME} bytes", str(len(self.path.name)))
        return moves.found(self.path)

    def refuse_source(self, source: Source) -> None:
        """Refuse a source that would be replaced."""
        targets.refuse_source("--to", self.label, self.path, source)

    def _check_partitions(self, run: Run) -> None:
        """Refuse columns that the release does not have: the names of the folders tell their values."""
        released = {column.name for column in run.roles.released}
        left_out = [name for name in self.partition_by if name not in released]
        if left_out:
            must, has = "names columns of the release", "Its columns: " + ", ".join(released)
            raise ParameterError("--partition-by", must, ", ".join(left_out), has)
        escaped = [name for name in self.partition_by if quote(name, safe="") != name]
        if escaped:  # DuckDB writes them into the names of the folders, and reads other names from there
            must = "names columns of letters without accents, digits and any of _ - . ~"
            raise ParameterError("--partition-by", must, ", ".join(escaped), "Rename them first")
        if released <= set(self.partition_by):
            raise ParameterError("--partition-by", "must leave a column to put into the files", "all columns")

    def check_together(self, targets: Sequence[Target]) -> None:
        """Do nothing: files that are in place are taken back together."""

    def check_types(self, run: Run) -> None:
        """Do nothing: a file has whatever columns the release has."""

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statement that writes the file."""
        return [copying(self.written(run, select), self.path, self.partition_by)]

    def written(self, run: Run, select: Sql) -> Sql:
        """Return the SELECT of the records as the file has them.

        Of a single column in CSV, a missing value alone would be a blank line, which readers skip: it is written as "".
        """
        if not self.ending.startswith(".csv"):
            return select
        if self.escape_formulas:
            texts = [
                column.name for column in run.roles.released if column in run.table.text or column.family in _TEXTS
            ]
            select = statement(_ESCAPED, columns=texts, starts=_FORMULAS, select=select) if texts else select
        if len(run.roles.released) > 1:
            return select
        return statement(_ONLY_COLUMN, column=run.roles.released[0].name, select=select)

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return a table of the own database."""
        return targets.own_records(warehouse, table)

    def record_definition(self, text: str) -> str:
        """Return the definition as it is, which is DuckDB's."""
        return text

    def after_publishing(self, report: ReleaseReport) -> None:
        """Do nothing."""


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
            run.log.notes.append(OfJob(_NOT_AT_ONCE.format(self.label)))
        elif self.overwrite:
            run.log.notes.append(OfJob(_VERSIONS.format(self.label)))

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
            run.log.notes.append(OfJob(self.residue.format(self.label)))

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
