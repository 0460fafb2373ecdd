"""Opening a DuckDB database for a run: a file, one in memory, or one that stays open afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro.database import built_ins, unfinished
from sqlmicro.database.connection import close
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import statement
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.options.common import ANY_MACHINE, MachineOptions, OpenDatabase
from sqlmicro.system import scratch
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import duckdb


@contextmanager
def open_warehouse(
    db: str | OpenDatabase | None,
    *,
    read_only: bool = False,
    may_create: bool = False,
    stands_for: str | None = None,
    machine: MachineOptions = ANY_MACHINE,
    progress: Progress | None = None,
    purging: bool = False,
) -> Iterator[DuckDBWarehouse]:
    """Open the database file `db` (None: in memory) for the length of the block, or borrow one that is open.

    What a killed run left unfinished in the file is finished or taken back first, and said; what is not purged yet
    is said too, unless that is being done (`purging`). The other parameters are those of a database that is opened
    here; one in memory can stand for a file that is not there yet, and is called like it in SQL.

    Raises
    ------
    InputError
        When the file does not exist, is no database, or is locked by another process.
    """
    if db is not None and not isinstance(db, str):
        with _borrow(db, progress or Progress(enabled=False)) as borrowed:
            yield borrowed
        return
    if db and not may_create and not Path(db).is_file():
        raise InputError(
            "--db",
            f"there must be a database file {db!r}",
            "none",
            "Make one with: sqlmicro register FILE --db DB --table NAME",
        )
    made = [] if not db or Path(db).exists() else [Path(db), Path(f"{db}.wal")]
    if db:
        scratch.sweep(Path(db).resolve().parent)
    warehouse: DuckDBWarehouse | None = None
    with scratch.spill() as temp:
        try:
            connection = connect(db, read_only and bool(db), temp, machine)
            try:
                if stands_for and not db:
                    _stand_for(connection, stands_for)
                warehouse = DuckDBWarehouse(connection, db or "", progress or Progress(enabled=False))
                if db and read_only and unfinished.left(warehouse):
                    close(connection)
                    with (
                        contextlib.suppress(SqlmicroError, OSError),
                        open_warehouse(db, progress=progress, purging=True),
                    ):
                        pass  # opened to write, it is settled
                    connection = connect(db, True, temp, machine)
                    warehouse = DuckDBWarehouse(connection, db, progress or Progress(enabled=False))
                unfinished.tell(warehouse, settles=not read_only, purging=purging)
                yield warehouse
            finally:
                close(connection)
        except BaseException as error:
            written = warehouse is not None and warehouse.committed
            for path in made if not written else ():  # what failed leaves no new file behind
                path.unlink(missing_ok=True)
            if written and isinstance(error, KeyboardInterrupt) and not error.args:
                raise KeyboardInterrupt("the signal came too late: what was asked for is written") from None
            raise


@contextmanager
def _borrow(held: OpenDatabase, progress: Progress) -> Iterator[DuckDBWarehouse]:
    """Work in a database that stays open afterwards, without the staging database."""
    with held.cursor() as cursor:
        # Where the configuration is locked, its own settings hold; names are looked up in the catalog anyway.
        with contextlib.suppress(Exception):
            _quieten(cursor)
        warehouse = DuckDBWarehouse(cursor, str(held), progress)
        warehouse.sealable, warehouse.attached = False, list(held.attached)
        try:
            built_ins.settle(cursor)
            built_ins.refuse_other_forms(cursor, _fresh)
            unfinished.tell(warehouse, settles=not held.read_only)
            yield warehouse
        finally:
            with contextlib.suppress(Exception):
                cursor.rollback()
            for name in (*warehouse.stagings, *warehouse.attached[len(held.attached) :]):
                cursor.execute(statement("DETACH {{ name | ident }}", name=name))


def connect(db: str | None, read_only: bool, temp: Path, machine: MachineOptions) -> duckdb.DuckDBPyConnection:
    """Open a database file, or one in memory, that spills into the folder `temp`.

    Raises
    ------
    InputError
        When the file is no database, or is locked by another process.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(temp),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if machine.memory_limit:
        config["memory_limit"] = machine.memory_limit
    if machine.threads:
        config["threads"] = machine.threads
    try:
        # As a path: DuckDB takes names such as md:x for other systems than files.
        connection = duckdb.connect(str(Path(db).absolute()) if db else ":memory:", read_only=read_only, config=config)
    except duckdb.IOException as error:
        locked = "lock" in str(error).lower()
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database that this process can open",
            "one that another process has locked" if locked else "one that cannot be read as a database",
            "Wait for the other process, or stop it"
            if locked
            else "A CSV or Parquet file is given as --table, not as --db",
        ) from None
    except duckdb.Error as error:
        if machine.memory_limit and isinstance(error, duckdb.ParserException | duckdb.InvalidInputException):
            raise InputError("--memory-limit", "must read like 4GB", repr(machine.memory_limit)) from None
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database",
            type(error).__name__,
            "A CSV or Parquet file is given as --table, not as --db",
        ) from None
    _quieten(connection)
    return connection


def _fresh() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect()


def _stand_for(connection: duckdb.DuckDBPyConnection, file: str) -> None:
    """Give a database in memory the name that DuckDB gives a file, where it can have that."""
    names = {"name": Path(file).name.partition(".")[0] or "memory"}
    with contextlib.suppress(Exception):  # such as a reserved name
        connection.execute(statement("ATTACH ':memory:' AS {{ name | ident }}", **names))
        connection.execute(statement("USE {{ name | ident }}", **names))


def _quieten(connection: duckdb.DuckDBPyConnection) -> None:
    """Let no name mean a Python variable, and have progress counted but not printed."""
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
