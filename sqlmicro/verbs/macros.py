"""The command `macros`: the audits as macros of a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.audits import runner
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name, Sql
from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param
from sqlmicro.reports.results import MacroReport, MacrosReport
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class MacrosOptions:
    """Where the macros go."""

    db: Annotated[str | None, Param("Database file to install the macros into.", metavar="FILE", env="SQLMICRO_DB")] = (
        None
    )
    print: Annotated[bool, Param("Print the statements instead, for the DuckDB shell.")] = False


def macros_values(options: MacrosOptions, progress: Progress) -> MacrosReport:
    """Install the audits as macros of a database, or print them: audits in plain SQL, without this program."""

    if not options.print:
        if not options.db:
            raise ParameterError("macros, --db", "a database file is needed", "none", "Give --db FILE, or --print")
        with open_warehouse(options.db, progress=progress) as warehouse, warehouse.transaction():
            must = "the macros call DuckDB's own functions, but in a shell they would find yours"
            warehouse.refuse_shadowing("macros", must, "Give your macros other names")
            with warehouse.using(Name("", warehouse.catalog, "main")):
                for _, _, statement in runner.definitions():
                    warehouse.execute("macros", "{{ statement }}", statement=Sql(statement.removesuffix(";")))
    return MacrosReport(
        None if options.print else options.db,
        [MacroReport(call, title) for call, title, _ in runner.definitions()],
        runner.script() if options.print else None,
    )
