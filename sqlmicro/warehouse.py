"""The warehouse: the only place that executes SQL.

A `Warehouse` is a DuckDB connection with a private staging database beside the user's own. Staging lives in memory,
spills into a private folder that is swept at the start and at the end, and is gone when the connection closes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlmicro.errors import InputError, QueryError
from sqlmicro.progress import Progress
from sqlmicro.templates import Name, Sql, render, statement

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa

T = TypeVar("T")
_TEMP_PREFIX = "sqlmicro-"
_KEY_VARIABLE = "sqlmicro_key"


@dataclass(frozen=True)
class Logged:
    """A statement as it was run, for `--show-sql`."""

    title: str
    sql: str


class Warehouse:
    """An open database, the staging database beside it, and the list of the statements that were run."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, db: str, progress: Progress) -> None:
        self._connection = connection
        self.reading = ""
        self.db = db
        self.progress = progress
        self.log: list[Logged] = []
        self.loaded: list[Name] = []
        self._staging = self._free_name("staging")
        self._run_plain(
            "staging", statement("ATTACH ':memory:' AS {{ name | ident }} (READ_WRITE)", name=self._staging)
        )

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the run ends."""
        return self.db == ""

    @classmethod
    @contextmanager
    def open(
        cls,
        db: str | None,
        *,
        read_only: bool = False,
        may_create: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Warehouse]:
        """Open the database file `db` (None: in memory) for the length of the block.

        Raises
        ------
        InputError
            When the file does not exist, is no database, or is locked by another process.
        """
        if db and not may_create and not Path(db).is_file():
            raise InputError(
                "--db",
                f"there must be a database file {db!r}",
                "none",
                "Make one with: sqlmicro register FILE --db DB --table NAME",
            )
        made = [] if not db or Path(db).exists() else [Path(db), Path(f"{db}.wal")]
        _sweep()
        temp = Path(tempfile.mkdtemp(prefix=f"{_TEMP_PREFIX}{os.getpid()}-"))
        try:
            connection = _connect(db, read_only and bool(db), temp, memory_limit, threads)
            try:
                yield cls(connection, db or "", progress or Progress(enabled=False))
            finally:
                with contextlib.suppress(Exception):
                    connection.rollback()
                _close(connection)
        except BaseException:
            for path in made:  # what failed leaves no new file behind
                path.unlink(missing_ok=True)
            raise
        finally:
            shutil.rmtree(temp, ignore_errors=True)

    # Running templates

    def staged(self, table: str) -> Name:
        """Return the name of a staging relation."""
        return Name(self._staging, "", table)

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

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create the staging relation `into` from an Arrow table, such as the labels of a kernel."""
        target = self.staged(into)
        view = self._free_name("sqlmicro_arrow")
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

    def query(self, title: str, text: str, values: Sequence[object] = (), /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a look-up in the catalog or in our own tables; it is not part of the log."""
        bound = statement(text, **params)
        return self._call(title, lambda: self._connection.execute(bound, list(values)).fetchall())

    def set_key(self, key: str) -> None:
        """Bind the secret key of the keyed hashes; it is never part of a statement."""
        self._call(
            "key",
            lambda: self._connection.execute(
                statement("SET VARIABLE {{ name | ident }} = $1", name=_KEY_VARIABLE), [key]
            ),
        )
        self.log.append(
            Logged(
                "key",
                statement(
                    "-- The run used a secret key in place of this one.\n"
                    "SET VARIABLE {{ name | ident }} = CAST(uuid() AS VARCHAR);",
                    name=_KEY_VARIABLE,
                ),
            )
        )

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

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block, or roll everything back."""
        self.execute("publish", "BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            with contextlib.suppress(Exception):
                self._connection.rollback()
            raise
        self.execute("publish", "COMMIT")

    # The catalog

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
        """Return every statement that was run, as one script for the DuckDB shell."""
        return "\n\n".join(entry.sql for entry in self.log) + "\n"

    def _free_name(self, wish: str) -> str:
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
        """Run `function` in a thread of its own, so that Ctrl-C can interrupt the database at once."""
        result: list[T] = []
        failure: list[BaseException] = []
        # An event, not Thread.join: a join that Ctrl-C interrupts takes the thread for finished while it still runs.
        done = threading.Event()

        def work() -> None:
            try:
                result.append(function())
            except BaseException as error:
                failure.append(error)
            finally:
                done.set()

        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
            done.wait()
        except KeyboardInterrupt:
            while thread.is_alive() and not done.is_set():
                self._connection.interrupt()
                done.wait(0.05)
            raise
        if failure:
            raise _wrapped(title, failure[0], self.reading) from None
        return result[0]


def _close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; a statement that Ctrl-C left behind between two lines of ours is interrupted first."""
    for _ in range(100):
        try:
            connection.close()
            return
        except Exception:
            connection.interrupt()
            time.sleep(0.05)


def _connect(
    db: str | None, read_only: bool, temp: Path, memory_limit: str | None, threads: int | None
) -> duckdb.DuckDBPyConnection:
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(temp),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if memory_limit:
        config["memory_limit"] = memory_limit
    if threads:
        config["threads"] = threads
    try:
        connection = duckdb.connect(db or ":memory:", read_only=read_only, config=config)
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
        if memory_limit and isinstance(error, duckdb.ParserException | duckdb.InvalidInputException):
            raise InputError("--memory-limit", "must read like 4GB", repr(memory_limit)) from None
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database",
            type(error).__name__,
            "A CSV or Parquet file is given as --table, not as --db",
        ) from None
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    return connection


def _wrapped(title: str, error: BaseException, reading: str = "") -> BaseException:
    """Turn the database's error into one that quotes no record; `reading` names the files that are being read."""
    import duckdb

    if not isinstance(error, duckdb.Error):
        return error
    kind = type(error).__name__
    if isinstance(error, duckdb.OutOfMemoryException):
        return QueryError(
            title,
            "the statement must fit into memory or the temporary folder",
            kind,
            "Raise --memory-limit, or free disk space for the temporary folder (TMPDIR)",
        )
    if isinstance(error, duckdb.ConstraintException):
        return InputError(
            title,
            "the released values must meet the constraints of the table",
            kind,
            "Publish with --into NAME instead of --in-place, or drop the constraint first",
        )
    if title == "publish" and isinstance(error, duckdb.ConversionException):
        return InputError(
            title, "the released values must fit the types of the table", kind, "Use --widen, or --into NAME"
        )
    if reading and not isinstance(error, duckdb.CatalogException):
        line = re.search(r"\bLine: (\d+)", str(error))
        return InputError(
            reading,
            "must be readable in its format, every value in the type of its column",
            kind + (f" at line {line.group(1)}" if line else ""),
            "Check the file, and for CSV --delimiter, --quote, --encoding, --decimal, --null-string and --no-header",
        )
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
        # These name tables and columns, never record values: they are raised before a record is read.
        return QueryError(title, "the database must accept the statement", f"{kind}: {str(error).splitlines()[0]}")
    return QueryError(
        title,
        "the database must run the statement",
        kind,
        "Its own words may quote records and are left out; run the output of --show-sql to see them",
    )


def _sweep() -> None:
    """Remove the temporary folders of runs that were killed: they may hold raw rows."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_TEMP_PREFIX}*-*"):
        owner = folder.name.removeprefix(_TEMP_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            status = folder.lstat()
            ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if ours and owner.isdigit() and not _alive(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
