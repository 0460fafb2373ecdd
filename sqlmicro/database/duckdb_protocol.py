"""What the modules that look into a DuckDB database ask of it; the warehouse on DuckDB is one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlmicro.database.connection import Deferred
from sqlmicro.database.templates import Name, Sql
from sqlmicro.database.warehouse import Warehouse

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from sqlmicro.database.pinned import PinnedObjects

T = TypeVar("T")


class Mirrors(Protocol):
    """A server, for which a database in memory stands."""

    def find(self, warehouse: DuckDB, schema: str) -> None:
        """Read the tables of releases when one of them is looked up."""

    def read(self, warehouse: DuckDB, name: Name) -> None:
        """Fill a table in memory with the records of the server's."""

    def is_table(self, name: Name) -> bool:
        """Tell whether a relation holds records of its own."""

    def triggers(self, name: Name) -> list[str]:
        """Return the names of the triggers on a relation."""

    def look(self, warehouse: DuckDB) -> None:
        """Let the database in memory have the relations that the server has now."""

    def commit(self, warehouse: DuckDB) -> None:
        """Commit on the server, where a transaction is open."""

    def roll_back(self) -> None:
        """Roll back on the server, where a transaction is open."""

    def close(self) -> None:
        """Leave the server."""


class DuckDB(Warehouse, Protocol):
    """An open database with a catalog of its own, others beside it, and the files it may read."""

    db: str
    """The path of its file."""
    temp: Path | None
    """The folder that it spills to, and that is emptied when it is closed."""
    reading: str
    """What errors in reading files call them."""
    readable: set[str] | None
    """The files it may read once it is sealed; None: any."""
    folders: set[str]
    """The folders it may read once it is sealed."""
    objects: dict[str, PinnedObjects]
    """The objects it may read, by the store they are in."""
    attached: list[str]
    """The databases beside it."""
    deferred: dict[str, Deferred]
    """The files that are only read until something is published into them, by their names in small letters."""
    kinds: dict[str, str]
    """The kinds of databases that were asked for."""
    mirrors: dict[str, Mirrors]
    """The servers beside it, by the names of their databases here in small letters."""
    sealable: bool
    """Whether the connection is ours, so that nobody else attaches databases to it."""
    stagings: list[str]
    """The databases in which relations are staged."""

    @property
    def catalog(self) -> str:
        """What the own database is called in SQL."""

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the run ends."""

    @property
    def version(self) -> str:
        """The version of DuckDB, such as v1.5.5."""

    def full(self, name: Name) -> Name:
        """Return the name of a relation with its database and schema."""

    def query(self, title: str, text: str, values: Sequence[object] = (), /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a look-up in the catalog or in our own tables; it is not part of the log."""

    def once(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` returns; where the connection is ours, as it did unless a statement was run meanwhile."""

    def reach(self, objects: PinnedObjects) -> None:
        """Let the database read objects of a store: those that are added."""

    def attach(self, text: str, /, **params: Any) -> None:
        """Run one ATTACH outside the log."""

    def pour(self, records: pa.RecordBatchReader, text: str, /, **params: Any) -> None:
        """Run one statement that reads the relation `view` of Arrow's; it is not part of the log."""

    def batches(self, relation: Name | Sql) -> Iterator[pa.RecordBatch]:
        """Yield the records of a relation or SELECT as Arrow batches; the connection is busy until the last."""

    def log_only(self, title: str, text: str, /, **params: Any) -> None:
        """Put a statement into the log that is not run."""

    def refuse_shadowing(self, where: str, must: str, do: str) -> None:
        """Refuse a database with macros that are called like built-in functions."""
