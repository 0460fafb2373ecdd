"""Where a release goes: a new table, a file, or the table itself; what cannot be is refused before any work is done."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlmicro.database import postgres, triggers
from sqlmicro.database.source import Source, file_format, find_relation, schema_exists, target_name
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import PublishSettings
from sqlmicro.publish import in_place

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run

SCHEMA = "sqlmicro"
FILES = (
    ".parquet", ".csv", ".csv.gz", ".csv.zst", ".json", ".json.gz", ".json.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"
)  # fmt: skip
_LONGEST_NAME = 255


@dataclass(frozen=True)
class Target:
    """Where a release goes.

    A file with `partition_by` is a folder of Parquet files, with one folder for every value of these columns.
    `database` is the kind of database a table is in, and `file` its file where that is attached.
    """

    kind: Literal["table", "file", "in place"]
    label: str
    name: Name | None = None
    path: Path | None = None
    overwrite: bool = False
    widen: bool = False
    keeps: bool = False
    purge: bool = False
    partition_by: tuple[str, ...] = ()
    database: str = "duckdb"
    file: str = ""

    @property
    def on_server(self) -> bool:
        """Whether a table of a server is changed in place, which purges it itself."""
        return self.kind == "in place" and self.database == postgres.KIND

    def of_candidate(self, number: int) -> Target:
        """Return where a candidate goes that is kept: `<table>_candidate_N`, or `<file>_candidate_N.<ending>`."""
        behind = f"_candidate_{number}"
        if self.path is None:
            assert self.name is not None
            name = self.name._replace(table=self.name.table + behind)
            return replace(self, label=self.label + behind, name=name, keeps=False)
        ending = file_ending(self.label)
        label, path = (text[: -len(ending)] + behind + text[-len(ending) :] for text in (self.label, str(self.path)))
        return replace(self, label=label, path=Path(path), keeps=False)


def file_ending(path: str) -> str:
    """Return the ending that says how a file is written; a folder has none.

    >>> file_ending("release.csv.gz"), file_ending("release/")
    ('.csv.gz', '')
    """
    return next((ending for ending in FILES if path.lower().endswith(ending)), "")


def choose_target(source: Source, settings: PublishSettings, *, keeps: bool = False) -> Target:
    """Return the one target that the settings name; by default the table `<table>_anonymized`.

    `keeps` says whether the candidates of SAFE are to be published beside it.

    Raises
    ------
    ParameterError
        When more than one is named, or a target cannot be.
    """
    into, to, in_place = settings.into, settings.to, settings.in_place
    named = [
        option
        for option, given in (("--into", into is not None), ("--to", to is not None), ("--in-place", in_place))
        if given
    ]
    if len(named) > 1:
        raise ParameterError("target", "a release goes to one place", " and ".join(named), "Choose one of them")
    if settings.widen and not in_place:
        raise ParameterError(
            "--widen",
            "goes with --in-place",
            "another target",
            "A new table or file has means in full precision anyway",
        )
    if settings.no_purge and not in_place:
        raise ParameterError("--no-purge", "goes with --in-place", "another target", "Nothing is replaced then")
    if keeps and in_place:
        raise ParameterError(
            "--keep-candidates",
            "goes with a new table or file, beside which the candidates are put",
            "--in-place",
            "Use --into NAME or --to FILE",
        )
    if settings.partition_by:
        return _partitioned(to, settings.partition_by, keeps)
    if to is not None:
        if not to.lower().endswith(FILES):
            raise ParameterError("--to", f"must be a path that ends in {', '.join(FILES)}", repr(to))
        return Target("file", to, path=Path(to).absolute(), overwrite=settings.overwrite, keeps=keeps)
    if in_place:
        if not source.is_table:
            raise InputError(
                "--in-place", "needs a table of the database", "a view or a file", "Use --into NAME or --to FILE"
            )
        return Target("in place", source.label, name=source.relation, widen=settings.widen, purge=not settings.no_purge)
    if into is not None:
        return Target("table", into, name=target_name(into, "--into"), overwrite=settings.overwrite, keeps=keeps)
    if source.is_file:
        stem = Path(source.label).name.partition(".")[0].replace("*", "").strip("_- ") or "records"
        name = Name("", "", f"{stem}_anonymized")
    else:
        name = source.relation._replace(table=f"{source.relation.table}_anonymized")
    return Target("table", "", name=name, overwrite=settings.overwrite, keeps=keeps)


def _partitioned(to: str | None, partition_by: tuple[str, ...], keeps: bool) -> Target:
    if to is None or keeps or file_format(to) is not None:
        got = "--keep-candidates" if keeps else "another target" if to is None else repr(to)
        raise ParameterError("--partition-by", "goes with --to FOLDER, which Parquet files are put into", got)
    return Target("file", to, path=Path(to).absolute(), partition_by=partition_by)


def in_database(warehouse: Warehouse, target: Target) -> Target:
    """Return a target with its name in full, its label, and what is known of the database it is in.

    Raises
    ------
    InputError, ParameterError
        When tables of that database cannot be changed in place.
    """
    if target.name is None:
        return target
    name = warehouse.full(target.name)
    kind, file = warehouse.kind_of(name.catalog), warehouse.file_of(name.catalog)
    target = replace(
        target,
        label=target.label or warehouse.label(name),
        name=name,
        database=kind,
        file=file if kind == "duckdb" else "",
    )
    if target.kind != "in place" or kind == "duckdb":
        return target
    if kind != postgres.KIND:
        raise InputError(
            "--in-place",
            "needs a table of a DuckDB or PostgreSQL database",
            f"one of a {kind} database",
            "Use --into NAME, then replace the table with the means of that database",
        )
    if target.widen:
        raise ParameterError("--widen", "changes the types of a DuckDB table", "a PostgreSQL table", "Use ALTER TABLE")
    return target


def check_target(run: Run, target: Target, worked_on: Collection[Column], *, dry: bool) -> None:
    """Refuse a target that exists, or a table whose columns cannot be worked on in place, before any work is done.

    Raises
    ------
    InputError
        With the reason and the way out. In a dry run an existing target is only noted.
    """
    if target.kind == "in place":
        in_place.check(run, worked_on, widen=target.widen)
        return
    if target.keeps:
        # Wherever candidates were kept before, there is a first one.
        check_target(run, target.of_candidate(1), worked_on, dry=dry)
    if target.partition_by:
        _check_partitions(run, target)
    option = "--to" if target.kind == "file" else "--into"
    exists = _existing(run, target)
    if exists == "a table" and target.overwrite and target.name:
        _refuse_lost_triggers(run.warehouse, target.name)
    stays = exists in ("a view", "a folder")
    if not exists or (target.overwrite and not stays):
        return
    way = "Choose another name" + ("" if stays else ", or add --overwrite")
    if not dry:
        raise InputError(option, f"{target.label!r} must not exist yet", exists, way)
    run.notes.append(f"{target.label!r} exists already: publishing will need another name or --overwrite")


def _refuse_lost_triggers(warehouse: Warehouse, name: Name) -> None:
    found = find_relation(warehouse, name)
    names = triggers.on(warehouse, found[0]) if found else []
    if names:
        raise InputError(
            "--overwrite",
            "the table that is replaced must have no triggers, which would be gone with it",
            ", ".join(names),
            "Drop them, and make them again afterwards, or choose another name",
        )


def _existing(run: Run, target: Target) -> str:
    """Return what is in the target's place already: "a file", "a table", "a view", or nothing."""
    itself = "a release does not replace its own source this way"
    if target.path is not None:
        if not target.path.parent.is_dir():
            raise InputError("--to", f"the folder of {target.label!r} must exist", "none", "Make it first")
        if run.source.is_file and target.path in run.source.files():
            raise InputError("--to", itself, repr(target.label), "Choose another name")
        if len(target.path.name.encode()) > _LONGEST_NAME:
            raise InputError("--to", f"a file name has at most {_LONGEST_NAME} bytes", str(len(target.path.name)))
        return "a folder" if target.path.is_dir() else "a file" if target.path.exists() else ""
    assert target.name is not None
    if target.name.schema.lower() == SCHEMA:
        raise InputError("--into", f"must not be in schema {SCHEMA}, which holds releases and audits", target.label)
    if target.name.schema and not schema_exists(run.warehouse, target.name):
        raise InputError("--into", f"schema {target.name.schema!r} must exist", "none", "Make it with CREATE SCHEMA")
    found = find_relation(run.warehouse, target.name)
    if found and found[0] == run.source.relation:
        raise InputError("--into", itself, repr(target.label), "Use --in-place")
    return "" if found is None else "a table" if found[1] else "a view"


def _check_partitions(run: Run, target: Target) -> None:
    """Refuse columns that the release does not have: the names of the folders tell their values."""
    released = {column.name for column in run.roles.released}
    left_out = [name for name in target.partition_by if name not in released]
    if left_out:
        raise ParameterError(
            "--partition-by", "names columns of the release", ", ".join(left_out), "Its columns: " + ", ".join(released)
        )
    if released <= set(target.partition_by):
        raise ParameterError("--partition-by", "must leave a column to put into the files", "all columns")
