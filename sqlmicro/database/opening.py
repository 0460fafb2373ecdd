"""Opening a DuckDB database for a run: a file, one in memory, or one that stays open afterwards."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from sqlmicro.database import built_ins, mysql, unfinished
from sqlmicro.database.connection import Deferred, close
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import statement
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.options.common import ANY_MACHINE, MachineOptions, OpenDatabase
from sqlmicro.system import memory, parallel, scratch
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import duckdb

_PATIENCE, _PAUSE = 30.0, 0.1
"""Seconds that publishing waits at least for other processes, and between two tries."""
_TICK = 3.0
"""Seconds between two times of a file that can be told apart, on every file system."""
_LOCKED = ("could not set lock", "used by another process")
_HERE = ("unique file handle conflict", "a different configuration than existing")
"""What DuckDB says of a file that another process has open, and of one that this process has."""


_GIVE = "Close it, or work with it in Python: sqlmicro.open(connection)"


@contextmanager
def open_warehouse(
    db: str | OpenDatabase | None,
    *,
    read_only: bool = False,
    publishes: bool = False,
    may_create: bool = False,
    stands_for: str | None = None,
    machine: MachineOptions = ANY_MACHINE,
    progress: Progress | None = None,
    purging: bool = False,
) -> Iterator[DuckDBWarehouse]:
    """Open the database file `db` (None: in memory) for the length of the block, or borrow one that is open.

    What a killed run left unfinished in the file is finished or taken back first, and said; what is not purged yet
    is said too, unless that is being done (`purging`). A run that `publishes` into a file that is there only reads it,
    up to `lock_to_write`. The other parameters are those of a database that is opened here; one in memory can stand
    for a file that is not there yet, and is called like it in SQL.

    Raises
    ------
    InputError
        When the file does not exist, is no database, or is locked by another process.
    """
    if db is not None and not isinstance(db, str):
        with _borrow(db, progress or Progress(enabled=False)) as borrowed:
            yield borrowed
        return
    later = bool(db and publishes and Path(db).exists())
    reads = later or (read_only and bool(db))
    if db:
        _refuse_file(db, may_create=may_create, later=later)
    made = [] if not db or Path(db).exists() else [Path(db), Path(f"{db}.wal")]
    left: list[Path] = []
    if db:
        scratch.sweep(Path(db).resolve().parent)
    warehouse: DuckDBWarehouse | None = None
    with scratch.spill() as temp, parallel.allowed(machine.threads or 0):
        try:
            connection = connect(db, reads, temp, machine, later=later)
            try:
                if made and not _is_empty(connection):
                    made = []  # another process has made the file meanwhile
                if stands_for and not db:
                    _stand_for(connection, stands_for)
                warehouse = DuckDBWarehouse(connection, db or "", progress or Progress(enabled=False))
                warehouse.temp = temp
                if db and reads and unfinished.left(warehouse):
                    close(connection)
                    _settle(db, progress)
                    connection = connect(db, True, temp, machine, later=later)
                    warehouse = DuckDBWarehouse(connection, db, progress or Progress(enabled=False))
                    warehouse.temp = temp
                if later:
                    warehouse.kinds[warehouse.catalog] = "duckdb"
                    warehouse.deferred[warehouse.catalog.lower()] = Deferred(warehouse.catalog, str(db), "--db")
                unfinished.tell(warehouse, settles=not reads, purging=purging)
                yield warehouse
            except BaseException:
                if warehouse is None or not warehouse.committed:
                    left = _removed(made)
                raise
            finally:
                close(connection)
                for mirror in warehouse.mirrors.values() if warehouse else ():
                    mirror.close()
                _removed(left)
        except BaseException as error:
            written = warehouse is not None and warehouse.committed
            if written and isinstance(error, KeyboardInterrupt) and not error.args:
                raise KeyboardInterrupt("the signal came too late: what was asked for is written") from None
            raise


def _settle(db: str, progress: Progress | None) -> None:
    """Finish or take back what a killed run left: that happens where the file is opened to write."""
    with contextlib.suppress(SqlmicroError, OSError), open_warehouse(db, progress=progress, purging=True):
        pass


def _refuse_file(db: str, *, may_create: bool, later: bool) -> None:
    """Refuse a database file that is not there, or that could not be written to `later`."""
    if not may_create and not Path(db).is_file():
        raise InputError(
            "--db",
            f"there must be a database file {db!r}",
            "none",
            "Make one with: sqlmicro register FILE --db DB --table NAME",
        )
    for path, what in ((Path(db), "file"), (Path(db).absolute().parent, "folder")):  # where its log is
        if later and not os.access(path, os.W_OK):
            raise InputError(
                "--db", f"{str(path)!r} must be a {what} that you may write to", "one that you may only read"
            )


def lock_to_write(warehouse: Database, catalogs: Collection[str]) -> bool:
    """Lock those databases, of the names given, that were only read so far; tell whether others may have written.

    Nobody can while they are read, but just before the lock. It waits for other processes as long as the run took.

    Raises
    ------
    InputError
        When one cannot be written to, or another process has it open all the while.
    """
    found = [one for name in dict.fromkeys(map(str.lower, catalogs)) if (one := warehouse.deferred.pop(name, None))]
    written = [_locked_to_write(warehouse, one) for one in found]
    return any(written)


def _locked_to_write(warehouse: Database, one: Deferred) -> bool:
    own, files = one.name == warehouse.catalog, (Path(one.path), Path(f"{one.path}.wal"))
    before = [_written(path) for path in files]
    if own:  # the current one cannot be detached
        warehouse.query("lock", "USE {{ other | ident }}", other=warehouse.stagings[0])
    warehouse.query("lock", "DETACH {{ name | ident }}", name=one.name)
    _attach_to_write(warehouse, one)
    same = None not in before and before == [_written(path) for path in files]
    if own and same:
        warehouse.query("lock", "{{ sql }}", sql=warehouse.place.path)
    elif own:
        warehouse.query("lock", "USE {{ name | ident }}.main", name=one.name)
        warehouse.come_first()
        unfinished.tell(warehouse, settles=True, purging=True)
    return not same


def _written(path: Path) -> tuple[int, ...] | None:
    """Return what tells when a file was written to; None if that was just now, so that it might not tell it again."""
    try:
        found = path.stat()
    except OSError:
        return ()
    if time.time() - max(found.st_mtime, found.st_ctime) < _TICK:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _attach_to_write(warehouse: Database, one: Deferred) -> None:
    now = time.monotonic()
    until = now + max(_PATIENCE, now - one.since)
    path = str(Path(one.path).absolute())
    must = f"{one.path!r} must be a DuckDB database that this process can write to"
    while True:
        if not Path(path).is_file():  # or it would be made
            raise InputError(one.where, must, "no file any more", "Nothing was published")
        told, kind = "", ""
        try:
            text = "ATTACH {{ path | lit }} AS {{ name | ident }} (READ_WRITE, TYPE duckdb)"
            warehouse.attach(text, path=path, name=one.name)
            return
        except Exception as error:
            told, kind = str(error), type(error).__name__
        if not _is_locked(told):
            got = f"one that cannot be written to ({kind})"
            raise InputError(one.where, must, got, "Nothing was published")
        if time.monotonic() > until:
            do = "Nothing was published. Run it again when the other process is done"
            raise InputError(one.where, must, _locked_by(told), do)
        process = scratch.holder(told)
        process = f"process {process}" if process else f"another {'thread' if _is_here(told) else 'process'}"
        warehouse.progress.say(f"waiting for {process}, which has {one.path!r} open")
        time.sleep(_PAUSE)


def _is_locked(told: str) -> bool:
    return any(words in told.lower() for words in (*_LOCKED, *_HERE))


def _is_here(told: str) -> bool:
    return any(words in told.lower() for words in _HERE)


def _locked_by(told: str) -> str:
    """Return what a file is that somebody else has open, from the words of DuckDB."""
    if _is_here(told):
        return "one that this process has open itself"
    process = scratch.holder(told)
    return "one that another process has locked" + (f", {process}" if process else "")


def _is_empty(connection: duckdb.DuckDBPyConnection) -> bool:
    there = "SELECT 1 FROM duckdb_tables() UNION ALL SELECT 1 FROM duckdb_views() WHERE NOT internal"
    return not connection.execute(there).fetchall()


def _removed(made: list[Path]) -> list[Path]:
    """Remove the files of a database that a failed run has made; return those that must be closed first.

    They are removed while this process holds the lock: afterwards they may be those of another one.
    """
    left = []
    for path in made:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            left.append(path)
    return left


@contextmanager
def _borrow(held: OpenDatabase, progress: Progress) -> Iterator[DuckDBWarehouse]:
    """Work in a database that stays open afterwards, without the staging database."""
    with held.cursor() as cursor:
        # Where the configuration is locked, its own settings hold; names are looked up in the catalog anyway.
        with contextlib.suppress(Exception):
            _quieten(cursor)
        warehouse = DuckDBWarehouse(cursor, str(held), progress)
        warehouse.sealable, warehouse.attached = False, list(held.attached)
        warehouse.mirrors = dict(held.mirrors)
        for mirror in held.mirrors.values():
            mirror.look(warehouse)
        try:
            built_ins.settle(cursor)
            built_ins.refuse_other_forms(cursor, _fresh)
            unfinished.tell(warehouse, settles=not held.read_only)
            with parallel.allowed(_threads(cursor)), mysql.rows_alone(cursor):
                yield warehouse
        finally:
            with contextlib.suppress(Exception):
                cursor.rollback()
            for scheme in warehouse.objects:
                cursor.unregister_filesystem(scheme)
            for name in (*warehouse.stagings, *warehouse.attached[len(held.attached) :]):
                cursor.execute(statement("DETACH {{ name | ident }}", name=name))
            for name in warehouse.mirrors.keys() - held.mirrors.keys():
                warehouse.mirrors[name].close()


def _threads(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many threads the database uses: kernels take as many."""
    # all rows: DuckDB 2.0 takes a result of which one was fetched for unfinished, and then registers no table
    found = next(iter(connection.execute("SELECT current_setting('threads')").fetchall()), None)
    return int(found[0]) if found else 0


def connect(
    db: str | None, read_only: bool, temp: Path, machine: MachineOptions, *, later: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open a database file, or one in memory, that spills into the folder `temp`.

    One that is written to `later` is attached to a connection of its own, which can attach it anew.

    Raises
    ------
    InputError
        When the file is no database, or is locked by another process.
    """
    memory.refuse_too_little()
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
    # As a path: DuckDB takes names such as md:x for other systems than files.
    path = str(Path(db).absolute()) if db else ":memory:"
    try:
        if later:
            connection = _attached(path, duckdb.connect(config=config))
        else:
            connection = duckdb.connect(path, read_only=read_only, config=config)
            if not read_only and Path(f"{path}.wal").exists():
                _drop_log(connection)
    except duckdb.IOException as error:
        locked = _is_locked(str(error))
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database that this process can open",
            _locked_by(str(error)) if locked else "one that cannot be read as a database",
            "Wait for the other process, or stop it"
            if locked
            else "A CSV or Parquet file is given as --table, not as --db",
        ) from None
    except duckdb.Error as error:
        if machine.memory_limit and isinstance(error, duckdb.ParserException | duckdb.InvalidInputException):
            raise InputError("--memory-limit", "must read like 4GB", repr(machine.memory_limit)) from None
        here = _is_here(str(error))
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database" + " that this process can open" * here,
            _locked_by(str(error)) if here else type(error).__name__,
            _GIVE if here else "A CSV or Parquet file is given as --table, not as --db",
        ) from None
    if db and not later and not _is_of_file(connection):
        connection.close()
        raise InputError(
            "--db", f"{db!r} must be a DuckDB database", "a file of data, which DuckDB would only show as a view",
            "A CSV or Parquet file is given as --table, not as --db",
        )  # fmt: skip
    _quieten(connection)
    return connection


def _is_of_file(connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether a connection is to a database file: asked for a CSV or Parquet file, DuckDB gives one in memory."""
    path = "SELECT path FROM system.main.duckdb_databases() WHERE NOT internal"  # no macro of the owner
    return connection.execute(path).fetchall() != [(None,)]


def _drop_log(connection: duckdb.DuckDBPyConnection) -> None:
    """Have DuckDB drop the log of a commit that was cut off: it may hold values that were never published.

    DuckDB reads past it, but keeps it until somebody has written something.
    """
    written = f"sqlmicro_{token_hex(8)}"
    for text in ("BEGIN", "CREATE SCHEMA {{ s | ident }}", "DROP SCHEMA {{ s | ident }}", "COMMIT", "CHECKPOINT"):
        connection.execute(statement(text, s=written))


def _attached(path: str, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Attach a file to be read as the only database of a connection, by the name that DuckDB gives it."""
    if scratch.open_here(Path(path)):  # DuckDB tells only once it is to be written to
        connection.close()
        got = _locked_by(_HERE[0])
        raise InputError("--db", f"{path!r} must be a DuckDB database that this process can open", got, _GIVE)
    home = "memory"  # as DuckDB calls the database of such a connection
    try:
        if Path(path).name.partition(".")[0].lower() == home:
            home = f"sqlmicro_{token_hex(8)}"
            connection.execute(statement("ATTACH ':memory:' AS {{ home | ident }}", home=home))
            connection.execute(statement("USE {{ home | ident }}", home=home))
            connection.execute("DETACH memory")
        connection.execute(statement("ATTACH {{ path | lit }} (READ_ONLY, TYPE duckdb)", path=path))
        own = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> $1"
        ((name,),) = connection.execute(own, [home]).fetchall()
        # With its schema: alone, the name pg_catalog is taken for the schema of that name.
        connection.execute(statement("USE {{ name | ident }}.main", name=name))
        connection.execute(statement("DETACH {{ home | ident }}", home=home))
    except BaseException:
        connection.close()
        raise
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
