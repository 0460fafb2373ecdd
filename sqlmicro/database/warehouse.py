"""The warehouse: the only place that executes SQL.

A `Warehouse` is a DuckDB connection with a private staging database beside the user's own. Staging lives in memory,
spills into a private folder that is swept at the start and at the end, and is gone when the connection closes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlmicro.database import built_ins, unfinished
from sqlmicro.database.connection import Held, close
from sqlmicro.database.redact import wrapped
from sqlmicro.database.templates import Name, Sql, ident, render, statement
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.options.common import ANY_MACHINE, MachineOptions
from sqlmicro.system import scratch
from sqlmicro.system.interrupts import committing, interruptible, uninterrupted
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa

    from sqlmicro.system.secrets import Secret

T = TypeVar("T")
ORDER = "sqlmicro_order"
"""The session variable with the key of the order of a release."""


@dataclass(frozen=True)
class Logged:
    """A statement as it was run, for `--show-sql`."""

    title: str
    sql: str


class Warehouse:
    """An open database, the staging database beside it, and the list of the statements that were run."""

    reads_json = True

    def __init__(self, connection: duckdb.DuckDBPyConnection, db: str, progress: Progress) -> None:
        self._connection = connection
        self.reading = ""
        self.readable: set[str] | None = set()
        self.folders: set[str] = set()
        self.attached: list[str] = []
        self.committed = False
        self.sealable = True
        self.db = db
        self.progress = progress
        self.log: list[Logged] = []
        self.loaded: list[Name] = []
        self.secrets: dict[str | None, Secret] = {}
        self._stagings: list[str] = []
        self.staging = ""
        self._place = self._call("open", lambda: built_ins.come_first(connection))
        self.log.append(Logged("search path", self._place.path + ";"))
        self.add_staging()

    @property
    def catalog(self) -> str:
        """What the own database is called in SQL."""
        return self._place.catalog

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the run ends."""
        return self.db == ""

    @property
    def has_file(self) -> bool:
        """Whether the database is a file, in which what is deleted stays readable."""
        return self.db not in ("", ":memory:")

    @classmethod
    @contextmanager
    def open(
        cls,
        db: str | Held | None,
        *,
        read_only: bool = False,
        may_create: bool = False,
        stands_for: str | None = None,
        machine: MachineOptions = ANY_MACHINE,
        progress: Progress | None = None,
        purging: bool = False,
    ) -> Iterator[Warehouse]:
        """Open the database file `db` (None: in memory) for the length of the block, or borrow one that is open.

        What a killed run left unfinished in the file is finished or taken back first, and said; what is not purged yet
        is said too, unless that is being done (`purging`). The other parameters are those of a database that is opened
        here; one in memory can stand for a file that is not there yet, and is called like it in SQL.

        Raises
        ------
        InputError
            When the file does not exist, is no database, or is locked by another process.
        """
        if isinstance(db, Held):
            with cls._borrow(db, progress or Progress(enabled=False)) as borrowed:
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
        warehouse: Warehouse | None = None
        with scratch.spill() as temp:
            try:
                connection = connect(db, read_only and bool(db), temp, machine)
                try:
                    if stands_for and not db:
                        _stand_for(connection, stands_for)
                    warehouse = cls(connection, db or "", progress or Progress(enabled=False))
                    if db and unfinished.left(warehouse) and read_only:
                        close(connection)
                        with contextlib.suppress(SqlmicroError, OSError), cls.open(db, progress=progress, purging=True):
                            pass  # opened to write, it is settled
                        connection = connect(db, True, temp, machine)
                        warehouse = cls(connection, db, progress or Progress(enabled=False))
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

    def add_staging(self) -> None:
        """Attach a staging database and make it the one in which relations are staged from here on."""
        self.staging = self.free_name("staging")
        self._stagings.append(self.staging)
        self._run_plain("staging", statement("ATTACH ':memory:' AS {{ name | ident }} (READ_WRITE)", name=self.staging))

    @classmethod
    @contextmanager
    def _borrow(cls, held: Held, progress: Progress) -> Iterator[Warehouse]:
        """Work in a database that stays open afterwards, without the staging database."""
        with held.cursor() as cursor:
            # Where the configuration is locked, its own settings hold; names are looked up in the catalog anyway.
            with contextlib.suppress(Exception):
                _quieten(cursor)
            warehouse = cls(cursor, str(held), progress)
            warehouse.sealable, warehouse.attached = False, list(held.attached)
            try:
                built_ins.settle(cursor)
                built_ins.refuse_other_forms(cursor, _fresh)
                unfinished.tell(warehouse, settles=not held.read_only)
                yield warehouse
            finally:
                with contextlib.suppress(Exception):
                    cursor.rollback()
                for name in (*warehouse._stagings, *warehouse.attached[len(held.attached) :]):
                    cursor.execute(statement("DETACH {{ name | ident }}", name=name))

    # Running templates

    def staged(self, table: str) -> Name:
        """Return the name of a staging relation."""
        return Name(self.staging, "", table)

    def run(self, template: str, into: str, *, view: bool = False, rows: int = 0, **params: Any) -> Name:
        """Create the staging relation `into` from a template, and return its name.

        `rows` is what the progress line counts towards. A view is not computed until something reads it.
        """
        target = self.staged(into)
        wrap = (
            "CREATE OR REPLACE VIEW {{ target | ident }} AS\n{{ select }};"
            if view
            else "CREATE OR REPLACE TABLE {{ target | ident }} AS\n{{ select }};"
        )
        text = statement(wrap, target=target, select=render(template, **params))
        with self.progress.stage(into.replace("_", " "), rows, share=self._share):
            self._run_logged(template, text)
        return target

    def rows(self, template: str, *, log: bool = True, rows: int = 0, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a template."""
        text = render(template, **params)
        if log:
            self.log.append(Logged(template, text + ";"))
        with self.progress.stage(Path(template).stem.replace("_", " "), rows, share=self._share):
            return self._call(template, lambda: self._connection.execute(text).fetchall())

    def record(self, template: str, **params: Any) -> dict[str, Any]:
        """Return the only row of a template as a dictionary."""
        text = render(template, **params)
        self.log.append(Logged(template, text + ";"))

        def fetch() -> dict[str, Any]:
            cursor = self._connection.execute(text)
            names = [column[0] for column in cursor.description or ()]
            return dict(zip(names, cursor.fetchall()[0], strict=True))

        return self._call(template, fetch)

    def arrays(self, template: str, **params: Any) -> dict[str, np.ndarray]:
        """Return the columns of a template as NumPy arrays, read as Arrow batches."""
        text = render(template, **params)
        self.log.append(Logged(template, text + ";"))

        def fetch() -> dict[str, np.ndarray]:
            table = self._connection.sql(text).to_arrow_table()
            return {name: table.column(name).to_numpy() for name in table.column_names}

        return self._call(template, fetch)

    def table(self, relation: Name) -> pa.Table:
        """Return the records of a relation as an Arrow table."""
        text = statement("SELECT * FROM {{ r | ident }}", r=relation)
        found: pa.Table = self._call("table", lambda: self._connection.sql(text).to_arrow_table())
        return found

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create the staging relation `into` from an Arrow table, such as the labels of a kernel."""
        target = self.staged(into)
        view = self.free_name("sqlmicro_arrow")
        self._call(into, lambda: self._connection.register(view, table))
        text = statement(
            "CREATE OR REPLACE TABLE {{ target | ident }} AS SELECT * FROM {{ view | ident }}", target=target, view=view
        )
        self._call(into, lambda: self._connection.execute(text))
        self._call(into, lambda: self._connection.unregister(view))
        types = self.describe(target)
        shown = statement(
            "-- {{ comment | comment }}\nCREATE OR REPLACE TABLE {{ target | ident }} ("
            "{% for name, kind in types %}{{ name | ident }} {{ kind | sqltype }}"
            "{% if not loop.last %}, {% endif %}{% endfor %});",
            target=target,
            types=types,
            comment=comment,
        )
        self.log.append(Logged(into, shown))
        self.loaded.append(target)
        return target

    # Statements that are no SELECT

    def execute(self, title: str, text: str, /, **params: Any) -> None:
        """Run one statement that is no SELECT: `text` is a constant, `params` are its names and literals."""
        self._run_logged(title, statement(text, **params) + ";")

    def create(self, kind: str, target: Name, template: str, **params: Any) -> None:
        """Create a TABLE or VIEW of the user's from a template."""
        text = (
            "CREATE VIEW {{ target | ident }} AS\n{{ select }}"
            if kind == "VIEW"
            else ("CREATE TABLE {{ target | ident }} AS\n{{ select }}")
        )
        with self.progress.stage(f"register {target}", share=self._share):
            self.execute("register", text, target=target, select=render(template, **params))

    def log_only(self, title: str, text: str, /, **params: Any) -> None:
        """Put a statement into the log that is not run: what a dry run would have done."""
        if text:
            self.log.append(Logged(title, statement(text, **params) + ";"))

    def rehearse(self, into: str, select: Sql) -> Name:
        """Create a staging relation that stands for one a dry run does not publish."""
        target = self.staged(into)
        self.execute(
            into, "CREATE OR REPLACE TABLE {{ target | ident }} AS\n{{ select }}", target=target, select=select
        )
        return target

    def insert(self, title: str, text: str, values: Sequence[object], /, **params: Any) -> None:
        """Run one statement with bound values; the values stay out of the log."""
        bound = statement(text, **params)
        self._call(title, lambda: self._connection.execute(bound, list(values)))

    def attach(self, text: str, /, **params: Any) -> None:
        """Run one ATTACH outside the log. Its errors are the database's own, which quote the URL: tell only their kind.

        Raises
        ------
        Exception
            What the database raises.
        """
        bound = statement(text, **params)
        interruptible(lambda: self._connection.execute(bound), self._connection.interrupt)

    def query(self, title: str, text: str, values: Sequence[object] = (), /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a look-up in the catalog or in our own tables; it is not part of the log."""
        bound = statement(text, **params)
        return self._call(title, lambda: self._connection.execute(bound, list(values)).fetchall())

    def set_key(self, name: str, key: str) -> None:
        """Bind a secret key of keyed hashes to a variable of the session; the key is never part of a statement."""
        self.insert("key", "SET VARIABLE {{ name | ident }} = $1", [key], name=name)
        self.log_only(
            "key",
            "-- The run used a secret key in place of this one.\n"
            "SET VARIABLE {{ name | ident }} = CAST(uuid() AS VARCHAR)",
            name=name,
        )

    def forget(self, relation: Name) -> None:
        """Drop a staging table that no later step reads."""
        self.execute("load", "DROP TABLE {{ relation | ident }}", relation=relation)

    def set_pads(self, inner: bytes, outer: bytes) -> None:
        """Bind the pads of a keyed hash (HMAC); they are as secret as its key and never part of a statement."""
        for name, pad in (("sqlmicro_inner_pad", inner), ("sqlmicro_outer_pad", outer)):
            self.insert("pads", "SET VARIABLE {{ name | ident }} = $1", [pad], name=name)
            self.log_only(
                "pads",
                "-- The run used a secret pad in place of this one.\n"
                "SET VARIABLE {{ name | ident }} = encode(concat(uuid(), uuid()))",
                name=name,
            )

    def seal(self, *folders: Path) -> None:
        """Let the database reach no file from here on but those it was told to read, and those in `folders`.

        Settings are locked, and no extension can be loaded. A view may read files of its own that we do not know: where
        one is read, only the settings are locked. A database that was only borrowed keeps its settings. What has been
        attached stays within reach: its file, the data files of a DuckLake, and everything a server lets its user do.
        """
        if not self.sealable:
            return
        if self.readable is not None:
            self.insert("seal", "SET allowed_paths = {{ paths | lit }}", [], paths=sorted(self.readable))
            allowed = sorted(self.folders | {str(folder) for folder in folders})
            self.insert("seal", "SET allowed_directories = {{ folders | lit }}", [], folders=allowed)
            self.insert("seal", "SET enable_external_access = false", [])
        self.insert("seal", "SET lock_configuration = true", [])

    @contextmanager
    def transaction(self, *, releasing: bool = False) -> Iterator[None]:
        """Commit at the end of the block, or roll everything back.

        With `releasing` it is the commit that makes a release visible: signals that come later stop nothing.
        """
        self.execute("publish", "BEGIN TRANSACTION")
        done = False
        try:
            yield
            with committing() if releasing else uninterrupted():  # or nobody would know whether it was done
                self.execute("publish", "COMMIT")
                done = self.committed = True
        except BaseException:
            if not done:
                with contextlib.suppress(Exception):
                    self._connection.rollback()
            raise

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run the block as one transaction that publishes nothing, such as book-keeping; it is not part of the log."""
        self.query("aside", "BEGIN TRANSACTION")
        try:
            yield
            self.query("aside", "COMMIT")
        except BaseException:
            with contextlib.suppress(Exception):
                self._connection.rollback()
            raise

    @contextmanager
    def as_others_see(self) -> Iterator[None]:
        """Read, in the block, what is committed by now, whatever transaction is open."""
        own = self._connection
        self._connection = own.cursor()
        try:
            # A cursor has the path of the database, in which the owner's macros come first.
            self._connection.execute(self._place.path)
            yield
        finally:
            close(self._connection)
            self._connection = own

    # The catalog

    def full(self, name: Name) -> Name:
        """Return the name of a relation with its database and schema, whose defaults are those of the connection."""
        catalog = name.catalog or self.catalog
        return Name(catalog, name.schema or (self._place.schema if catalog == self.catalog else "main"), name.table)

    def label(self, name: Name) -> str:
        """Return a relation as its owner calls it: without what goes without saying."""
        if name.catalog not in ("", self.catalog):
            return str(name)
        return name.table if name.schema in ("", "main") else f"{name.schema}.{name.table}"

    def refuse_shadowing(self, where: str, must: str, do: str) -> None:
        """Refuse a database with macros that are called like built-in functions.

        Raises
        ------
        InputError
            With their names.
        """
        names = self._call("catalog", lambda: built_ins.shadowing(self._connection, self.catalog))
        if names:
            raise InputError(where, must, f"macros called {', '.join(names)}", do)

    @contextmanager
    def using(self, schema: Name) -> Iterator[None]:
        """Have names without a schema mean this one for a statement that the database's owner wrote."""
        self.query("use", "USE {{ schema | ident }}", schema=schema)
        try:
            yield
        finally:
            self.query("use", "{{ sql }}", sql=self._place.path)

    def describe(self, relation: Name) -> list[tuple[str, str]]:
        """Return name and type of every column of a relation."""
        found = self.query(
            "describe", "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {{ r | ident }})", r=relation
        )
        return [(str(name), str(kind)) for name, kind in found]

    def count(self, relation: Name) -> int:
        """Return the number of rows of a relation."""
        return int(self.query("count", "SELECT count(*) FROM {{ r | ident }}", r=relation)[0][0])

    def script(self) -> str:
        """Return every statement that was run, as one script for a DuckDB shell with a database file of that name."""
        back = statement("USE {{ schema | ident }};", schema=Name("", self.catalog, self._place.schema))
        return "\n\n".join((*(entry.sql for entry in self.log), back)) + "\n"

    def steps(self) -> str:
        """Return the statements that were run, whatever the database file is called and whichever schemas it has."""
        run = "\n\n".join(entry.sql for entry in self.log if entry.sql != self._place.path + ";")
        return run.replace(ident(self.catalog) + ".", "")

    @cached_property
    def version(self) -> str:
        """The version of DuckDB, such as v1.5.5."""
        return str(self.query("version", "SELECT version()")[0][0])

    def kind_of(self, catalog: str) -> str:
        """Return what kind of database a catalog is: duckdb, postgres, sqlite, mysql or ducklake."""
        found = self.query(
            "catalog", "SELECT type FROM duckdb_databases() WHERE lower(database_name) = lower($1)", [catalog]
        )
        return str(found[0][0]) if found else "duckdb"

    def has_attached(self, catalog: str) -> bool:
        """Tell whether a catalog is a database that was attached to this one on request."""
        return catalog.lower() in {name.lower() for name in self.attached}

    def file_of(self, catalog: str) -> str:
        """Return the path of an attached database, "" for the own one."""
        if catalog == self.catalog:
            return ""
        found = self.query(
            "catalog", "SELECT path FROM duckdb_databases() WHERE lower(database_name) = lower($1)", [catalog]
        )
        return str(found[0][0] or "") if found else ""

    def free_name(self, wish: str) -> str:
        """Return `wish`, numbered if a database, schema, table or view is called so already."""
        taken = {
            str(row[0]).lower()
            for row in self.query(
                "catalog",
                "SELECT database_name FROM duckdb_databases() UNION ALL SELECT schema_name FROM duckdb_schemas() "
                "UNION ALL SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()",
            )
        }
        name, number = wish, 1
        while name in taken:
            number += 1
            name = f"{wish}_{number}"
        return name

    def _share(self) -> float:
        return float(self._connection.query_progress()) / 100

    def _run_logged(self, title: str, text: Sql | str) -> None:
        self.log.append(Logged(title, text))
        self._call(title, lambda: self._connection.execute(text))

    def _run_plain(self, title: str, text: Sql) -> None:
        self._run_logged(title, text + ";")

    def _call(self, title: str, function: Callable[[], T]) -> T:
        """Run `function`, which Ctrl-C can interrupt, and tell its errors in words that quote no record."""
        try:
            return interruptible(function, self._connection.interrupt)
        except Exception as error:
            failure = wrapped(title, error, self.reading)
        raise failure  # out of the block: the database's own error, which may quote records, is not its context


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
