"""The command `register`: files as a table or view of a database."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlmicro.database.catalog import find_relation, schema_exists, target_name
from sqlmicro.database.columns import Column
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.encodings import in_utf8
from sqlmicro.database.files import file_format, reading
from sqlmicro.database.finding import describe, invented_names, may_read, open_files
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.identifiers.reading import Understood, understood
from sqlmicro.options.common import DbOption, MachineOptions, RegisterSettings
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports.results import ReadAs, RegisterReport
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class RegisterOptions(RegisterSettings, DbOption, MachineOptions, ReaderOptions):
    """What `sqlmicro register` takes."""


def register_values(options: RegisterOptions, progress: Progress) -> RegisterReport:
    """Register files as a table or view of a database."""

    if not options.database:
        raise ParameterError(
            "register, --db",
            "a database file is needed; a table in memory would be gone at once",
            "none",
            "Give --db FILE or set SQLMICRO_DB",
        )
    if not options.files:
        raise ParameterError("register", "at least one file is needed", "none")
    reader = options.given()
    with open_warehouse(options.database, may_create=True, machine=options, progress=progress) as warehouse:
        folder = None if options.view else warehouse.temp or Path(tempfile.gettempdir())
        files, their = in_utf8(options.files, reader, folder)
        told = _understood(warehouse, files, their, options.files[0])
        template, params = reading(files, their)
        warehouse.reading = ", ".join(options.files)
        may_read(warehouse, params["paths"])
        warehouse.seal()
        target = warehouse.full(target_name(options.table, "--table"))
        if not schema_exists(warehouse, target):
            schema = warehouse.label(target).rpartition(".")[0]
            raise InputError("--table", f"schema {schema!r} must exist", "none", "Make it with CREATE SCHEMA")
        if options.view:
            must = "a view reads its files with DuckDB's own functions, each time"
            warehouse.refuse_shadowing("--view", must, "Give the macros other names, or leave out --view")
        found = find_relation(warehouse, target)
        if found is not None and not options.overwrite:
            raise InputError(
                "--table",
                f"{options.table!r} must not exist yet",
                "a table" if found[1] else "a view",
                "Choose another name, or add --overwrite",
            )

        def make(more: Mapping[str, object]) -> None:
            with warehouse.transaction():
                if found is not None:
                    kind = "DROP TABLE {{ name | ident }}" if found[1] else "DROP VIEW {{ name | ident }}"
                    warehouse.execute("register", kind, name=found[0])
                how = [*params["options"], *more.items()]
                warehouse.create("VIEW" if options.view else "TABLE", target, template, **{**params, "options": how})

        try:
            make(told.options)
        except InputError as error:
            if not told.options:
                raise
            told = Understood({}, (f"the first rows can be read by {_named(told)}, but not all: {error.got}",))
            make({})
        described = warehouse.describe(target)
        columns = [name for name, _ in described]
        for text in invented_names(options.files[0], columns, reader):
            progress.say(text)
        made: Literal["view", "table"] = "view" if options.view else "table"
        return RegisterReport(
            options.table, made, str(options.database), warehouse.count(target), columns,
            [kind for _, kind in described], _read_as(reader, told.options), [*told.open],
        )  # fmt: skip


def _understood(
    warehouse: DuckDBWarehouse, files: Sequence[str], reader: Mapping[str, object], label: str
) -> Understood:
    """Return how CSV files are to be read, besides what was given; nothing of other files."""
    if file_format(label) != "csv":
        return Understood({}, ())

    def opened(options: Mapping[str, object]) -> tuple[Column, ...]:
        return describe(warehouse, open_files(warehouse, files, options, label=label, name="as_found"))

    warehouse.reading = label
    columns = opened(reader)
    source = Source(warehouse.staged("as_found"), label, columns, is_table=False, is_file=True)
    return understood(warehouse, source, reader, opened)


_OPTIONS = {
    "delim": ("fields are divided by", "--delimiter"), "quote": ("fields are in", "--quote"),
    "decimal_separator": ("decimal separator", "--decimal"), "thousands": ("separator of thousands", "--thousands"),
    "dateformat": ("dates are written", "--date-format"), "nullstr": ("missing values", "--null-string"),
    "encoding": ("encoding", "--encoding"),
}  # fmt: skip


def _named(told: Understood) -> str:
    """Return the options that were taken for a file, as they are called here."""
    return ", ".join(one.option for one in _read_as({}, told.options))


def _read_as(given: Mapping[str, object], guessed: Mapping[str, object]) -> list[ReadAs]:
    """Return how files were read, in words, with the option that says otherwise."""
    found = []
    for name, value in {**given, **guessed}.items():
        if name in _OPTIONS:
            what, option = _OPTIONS[name]
            text = ", ".join(filter(None, value)) if isinstance(value, list) else str(value)
            found.append(ReadAs(what, text, option, name in guessed))
    return found
