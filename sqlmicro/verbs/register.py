"""The command `register`: files as a table or view of a database."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlmicro.database.catalog import find_relation, schema_exists, target_name
from sqlmicro.database.encodings import in_utf8
from sqlmicro.database.files import reading
from sqlmicro.database.finding import invented_names, may_read
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import DbOption, MachineOptions, RegisterSettings
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports.results import RegisterReport
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
        with warehouse.transaction():
            if found is not None:
                kind = "DROP TABLE {{ name | ident }}" if found[1] else "DROP VIEW {{ name | ident }}"
                warehouse.execute("register", kind, name=found[0])
            warehouse.create("VIEW" if options.view else "TABLE", target, template, **params)
        columns = [name for name, _ in warehouse.describe(target)]
        for text in invented_names(options.files[0], columns, reader):
            progress.say(text)
        made: Literal["view", "table"] = "view" if options.view else "table"
        return RegisterReport(options.table, made, str(options.database), warehouse.count(target), columns)
