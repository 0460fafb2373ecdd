"""Databases that stay open between runs, by a connection, ours or somebody else's, or that are locked late in a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Held:
    """An open connection that runs borrow cursors of; it takes the place of the path of a database file.

    A cursor shares the database, and nothing else: its settings, variables, transaction and temporary tables are its
    own, and the connection's stay as they are. `attached` are the names of the databases beside it that stay as long,
    `mirrors` those of them that stand for servers.
    """

    connection: duckdb.DuckDBPyConnection
    path: str = ""
    ours: bool = False
    read_only: bool = False
    attached: tuple[str, ...] = ()
    mirrors: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.path or ":memory:"

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a cursor for the length of the block; what it began and did not commit is rolled back.

        Raises
        ------
        InputError
            When the connection is closed.
        """
        failure: InputError | None = None
        try:
            cursor = self.connection.cursor()
            cursor.execute("SELECT 1")
        except Exception:
            failure = InputError("db", "must be an open connection", "a closed one", "Connect again")
        if failure is not None:
            raise failure
        try:
            yield cursor
        finally:
            close(cursor)

    def in_transaction(self) -> bool:
        """Tell whether the connection has begun a transaction that it has not ended."""
        # Each statement alone is a transaction of its own; a BEGIN within one would fail, and end it.
        first, second = (self.connection.execute("SELECT txid_current()").fetchall() for _ in range(2))
        return bool(first == second)


@dataclass(frozen=True)
class Deferred:
    """A database file that is only read until something is published into it: its name in SQL, and since when."""

    name: str
    path: str
    where: str
    """The option that names it."""
    since: float = field(default_factory=time.monotonic)


def close(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; a statement that Ctrl-C left behind between two lines of ours is interrupted first."""
    with contextlib.suppress(Exception):
        connection.rollback()
    for _ in range(100):
        try:
            connection.close()
            return
        except Exception:
            connection.interrupt()
            time.sleep(0.05)


def borrow(connection: Any) -> Held | None:
    """Return somebody else's connection as one that stays open, or None if it is no connection of DuckDB.

    Raises
    ------
    InputError
        When it is closed.
    """
    if type(connection).__name__ != "DuckDBPyConnection":
        return None
    with Held(connection).cursor() as cursor:
        found = cursor.execute(
            "SELECT path, readonly FROM system.main.duckdb_databases() "
            "WHERE database_name = system.pg_catalog.current_database()"
        ).fetchall()
    path, read_only = found[0]
    return Held(connection, str(Path(path).absolute()) if path else "", read_only=bool(read_only))
