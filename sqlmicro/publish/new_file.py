"""A release as a new file, or as a folder of Parquet files."""

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
from sqlmicro.publish.targets import Statement, Target
from sqlmicro.system import moves, whole_files
from sqlmicro.system.moves import Placed

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
    from sqlmicro.database.source import Source
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
    records: DuckDBWarehouse | None = None
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
        return whole_files.found(self.path)

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
            texts = [column.name for column in run.roles.released if column in run.text or column.family in _TEXTS]
            select = statement(_ESCAPED, columns=texts, starts=_FORMULAS, select=select) if texts else select
        if len(run.roles.released) > 1:
            return select
        return statement(_ONLY_COLUMN, column=run.roles.released[0].name, select=select)

    def record_table(self, warehouse: DuckDBWarehouse, table: str) -> Name:
        """Return a table of the own database."""
        return targets.own_records(warehouse, table)

    def record_definition(self, text: str) -> str:
        """Return the definition as it is, which is DuckDB's."""
        return text

    def after_publishing(self, report: ReleaseReport) -> None:
        """Do nothing."""
