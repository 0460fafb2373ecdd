"""The place for a release that the options name."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlmicro.database import postgres
from sqlmicro.database.catalog import file_of, kind_of, target_name
from sqlmicro.database.files import WRITTEN, file_format, file_stem
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import PublishSettings
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_file import LAKE_TABLES, NewFile, NewObject
from sqlmicro.publish.new_table import DuckLakeTable, MySQLTable, NewTable, SQLiteTable
from sqlmicro.publish.postgres import PostgresInPlace, PostgresTable
from sqlmicro.publish.targets import Target
from sqlmicro.system.stores import check, is_url

TABLES: dict[str, type[NewTable]] = {
    "duckdb": NewTable,
    "postgres": PostgresTable,
    "mysql": MySQLTable,
    "sqlite": SQLiteTable,
    "ducklake": DuckLakeTable,
}
"""What a new table is in each kind of database."""


def choose_target(warehouse: Database, source: Source, settings: PublishSettings, *, keeps: bool = False) -> Target:
    """Return the one target that the settings name; by default the table `<table>_anonymized`.

    `keeps` says whether the candidates of SAFE are to be published beside it.

    Raises
    ------
    ParameterError
        When more than one is named, or a target cannot be.
    InputError
        When the table cannot be changed in place.
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
    if settings.escape_formulas and not (to or "").lower().endswith((".csv", ".csv.gz", ".csv.zst")):
        raise ParameterError("--escape-formulas", "goes with --to FILE.csv", "another target", "Leave it out")
    if settings.partition_by:
        return _partitioned(warehouse, to, settings, keeps)
    if to is not None and to.startswith(tuple(LAKE_TABLES)) and not keeps:
        return _file(warehouse, to, keeps, settings)
    if to is not None:
        if is_url(to):
            check(to, "--to", written=True)
        if not to.lower().endswith(WRITTEN):
            raise ParameterError("--to", f"must be a path that ends in {', '.join(WRITTEN)}", repr(to))
        return _file(warehouse, to, keeps, settings)
    if in_place:
        if not source.is_table:
            raise InputError(
                "--in-place", "needs a table of the database", "a view or a file", "Use --into NAME or --to FILE"
            )
        return _in_place(warehouse, source, widen=settings.widen, purge=not settings.no_purge)
    if into is not None:
        name = target_name(into, "--into")
    elif source.is_file:
        name = Name("", "", f"{file_stem(source.label)}_anonymized")
    else:
        name = source.relation._replace(table=f"{source.relation.table}_anonymized")
    name = warehouse.full(name)
    # What other kinds of databases lack is what a DuckLake lacks.
    made = TABLES.get(kind_of(warehouse, name.catalog), DuckLakeTable)
    return made(warehouse, into or warehouse.label(name), name, settings.overwrite, keeps)


def _file(warehouse: Database, to: str, keeps: bool, settings: PublishSettings) -> NewFile:
    records = None if warehouse.in_memory else warehouse
    made, path = NewFile, Path(to).absolute()
    if is_url(to) or to.startswith(tuple(LAKE_TABLES)):
        made = next((table for prefix, table in LAKE_TABLES.items() if to.startswith(prefix)), NewObject)
        path = (warehouse.temp or Path(tempfile.gettempdir())) / "release"
    overwrite = settings.overwrite and not settings.partition_by
    return made(to, path, overwrite, keeps, settings.partition_by, records, settings.escape_formulas)


def _partitioned(warehouse: Database, to: str | None, settings: PublishSettings, keeps: bool) -> Target:
    if to is None or keeps or file_format(to) is not None:
        got = "--keep-candidates" if keeps else "another target" if to is None else repr(to)
        raise ParameterError("--partition-by", "goes with --to FOLDER, which Parquet files are put into", got)
    if is_url(to):
        check(to, "--to", written=True)
    return _file(warehouse, to, keeps, settings)


def _in_place(warehouse: Database, source: Source, *, widen: bool, purge: bool) -> Target:
    """Return the table itself, as a target; refuse databases whose tables cannot be changed in place."""
    name = warehouse.full(source.relation)
    kind = kind_of(warehouse, name.catalog)
    label = source.label or warehouse.label(name)
    if kind == "duckdb":
        return InPlace(warehouse, label, name, widen, purge, file_of(warehouse, name.catalog))
    if kind != postgres.KIND:
        raise InputError(
            "--in-place",
            "needs a table of a DuckDB or PostgreSQL database",
            f"one of a {kind} database",
            "Use --into NAME, then replace the table with the means of that database",
        )
    if widen:
        raise ParameterError("--widen", "changes the types of a DuckDB table", "a PostgreSQL table", "Use ALTER TABLE")
    return PostgresInPlace(warehouse, label, name, purge=purge)
