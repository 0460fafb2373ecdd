"""The seam between the pipeline and an engine: what DuckDB and Spark do for it, each in its own way.

The engines are the only places that execute SQL: `duckdb_warehouse.py`, and `spark/warehouse.py`. Both keep
`Warehouse`, which mypy proves, and both run its conformance suite, the row cases of `tests/sql`. One that is a
`Database` too is asked for more by what publishes, remembers and erases; nobody else names an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

from sqlmicro.database.connection import Deferred
from sqlmicro.database.templates import Name, Select, Sql
from sqlmicro.options.reader import AS_FOUND, ReaderOptions

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sqlmicro.database.built_ins import Place
    from sqlmicro.database.pinned import PinnedObjects
    from sqlmicro.database.source import Source
    from sqlmicro.system.progress import Progress
    from sqlmicro.system.secrets import Secret

T = TypeVar("T")
ORDER = "sqlmicro_order"
"""The session variable with the key of the order of a release."""


@dataclass(frozen=True)
class Logged:
    """A statement as it was run, for `--show-sql`."""

    title: str
    sql: str


Row: TypeAlias = dict[str, Any]
"""The only row of a template, by the names of its columns."""


class Warehouse(Protocol):
    """An engine with the relations of a run: what the pipeline, its methods and the audits ask of it."""

    progress: Progress
    log: list[Logged]
    """The statements that were run."""
    loaded: list[Name]
    """The relations that no statement fills, but a kernel."""
    staging: str
    """Where relations are staged."""
    secrets: dict[str | None, Secret]
    """The keys of pseudonyms that were asked for, by their file."""
    committed: bool
    """Whether something was published."""

    @property
    def reads_json(self) -> bool:
        """Whether the engine looks into JSON, lists and structs."""

    @property
    def keeps_order(self) -> bool:
        """Whether the records of a relation stay in the order in which they were stored."""

    @property
    def database(self) -> Database | None:
        """The database that its relations are in, beside what the owner has; None on a cluster."""

    @property
    def small(self) -> Warehouse:
        """Where relations of combinations are worked on: this one, or a DuckDB beside it at the driver of a cluster."""

    def fetch(self, relation: Name) -> Name:
        """Bring a relation of combinations, which records share, to `small`; return its name there."""

    def hand_over(self, relation: Name) -> Name:
        """Bring a relation of `small` here; return its name."""

    def source(self, table: str, options: ReaderOptions = AS_FOUND, name: str = "source") -> Source:
        """Return the records that `--table` names: a relation, or files that are read as the options say.

        `name` is that of the staging relation over files.
        """

    def staged(self, table: str) -> Name:
        """Return the name of a staging relation."""

    def run(self, template: str, into: str, *, view: bool = False, rows: int = 0, **params: Any) -> Name:
        """Create the staging relation `into` from a template, and return its name.

        `rows` is what the progress line counts towards. A view is not computed until something reads it. Where the
        order of the template means something, the relation has it in `rowid`, from 0.
        """

    def rows(self, template: str, *, log: bool = True, rows: int = 0, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a template."""

    def record(self, template: str, **params: Any) -> Row:
        """Return the only row of a template as a dictionary."""

    def arrays(self, template: str, **params: Any) -> dict[str, np.ndarray]:
        """Return the columns of a template as NumPy arrays."""

    def query(self, title: str, text: str, /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT of DuckDB's that is a constant; it is not part of the log."""

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create the staging relation `into` from an Arrow table, such as the labels of a kernel."""

    def set_key(self, name: str, key: str) -> None:
        """Bind a secret key of keyed hashes to a variable of the session; the key is never part of a statement."""

    def set_pads(self, inner: bytes, outer: bytes) -> None:
        """Bind the pads of a keyed hash (HMAC); they are as secret as its key and never part of a statement."""

    def forget(self, relation: Name) -> None:
        """Drop a staging table that no later step reads."""

    def describe(self, relation: Name) -> list[tuple[str, str]]:
        """Return name and type of every column of a relation; the types are called as DuckDB calls them."""

    def count(self, relation: Name) -> int:
        """Return the number of rows of a relation."""

    def aside(self) -> AbstractContextManager[None]:
        """Run the block as one transaction that publishes nothing, where the engine has transactions."""

    def write(self, select: Sql, path: Path, partition_by: tuple[str, ...] = (), *, rows: int = 0) -> Name:
        """Write the records of a SELECT to a new file that nobody else can read yet, and return what reads it back.

        The ending of `path` says how; without one it becomes a folder of Parquet files.
        """

    def script(self) -> str:
        """Return every statement that was run, as one script."""

    def steps(self) -> str:
        """Return the statements that were run, wherever the relations of the owner are."""


class Mirrors(Protocol):
    """A server, for which a database in memory stands."""

    def find(self, warehouse: Database, schema: str) -> None:
        """Read the tables of releases when one of them is looked up."""

    def read(self, warehouse: Database, name: Name) -> None:
        """Fill a table in memory with the records of the server's."""

    def is_table(self, name: Name) -> bool:
        """Tell whether a relation holds records of its own."""

    def triggers(self, name: Name) -> list[str]:
        """Return the names of the triggers on a relation."""

    def look(self, warehouse: Database) -> None:
        """Let the database in memory have the relations that the server has now."""

    def commit(self, warehouse: Database) -> None:
        """Commit on the server, where a transaction is open."""

    def roll_back(self) -> None:
        """Roll back on the server, where a transaction is open."""

    def close(self) -> None:
        """Leave the server."""


class Database(Warehouse, Protocol):
    """A warehouse with a catalog of its own, others beside it, and the files it may read: where releases are known.

    The registry of releases, the ledger and the memory of a series are in one, and erasure looks into its file.
    """

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
    place: Place
    """Where names without a database are looked for."""
    releases: Name | None
    """The registry of releases, where it is elsewhere."""

    @property
    def catalog(self) -> str:
        """What the own database is called in SQL."""

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the run ends."""

    @property
    def has_file(self) -> bool:
        """Whether it is a file, in which what is deleted stays readable."""

    @property
    def memory(self) -> int:
        """How many bytes it may have in memory."""

    @property
    def version(self) -> str:
        """The version of DuckDB, such as v1.5.5."""

    def full(self, name: Name) -> Name:
        """Return the name of a relation with its database and schema."""

    def label(self, name: Name) -> str:
        """Return a relation as its owner calls it: without what goes without saying."""

    def using(self, schema: Name) -> AbstractContextManager[None]:
        """Have names without a schema mean this one for a statement that the owner wrote."""

    def transaction(self, *, releasing: bool = False) -> AbstractContextManager[None]:
        """Commit at the end of the block, or roll everything back.

        With `releasing` it is the commit that makes a release visible: signals that come later stop nothing.
        """

    def as_others_see(self) -> AbstractContextManager[None]:
        """Read, in the block, what is committed by now, whatever transaction is open."""

    def come_first(self) -> None:
        """Put the built-in functions before those of the current database, as it is now."""

    def seal(self, *folders: Path) -> None:
        """Let it reach no file from here on but those it was told to read, and those in `folders`."""

    def add_staging(self) -> None:
        """Make a new staging database the one in which relations are staged from here on."""

    def execute(self, title: str, text: str, /, **params: Any) -> None:
        """Run one statement that is no SELECT: `text` is a constant, `params` are its names and literals."""

    def insert(self, title: str, text: str, values: Sequence[object], /, **params: Any) -> None:
        """Run one statement with bound values; the values stay out of the log."""

    def create(self, kind: str, target: Name, template: str, **params: Any) -> None:
        """Create a TABLE or VIEW of the owner's from a template."""

    def rehearse(self, into: str, select: Sql) -> Name:
        """Create a staging relation that stands for one a dry run does not publish."""

    def table(self, relation: Name | Select) -> pa.Table:
        """Return the records of a relation as an Arrow table."""

    def words(self, into: str, key: str, n: int) -> Name:
        """Create the staging relation `into` of n words that a release is put in order by: see `Key.words`."""

    def fill(self, records: pa.Table | pa.RecordBatchReader, into: str) -> Name:
        """Create the staging relation `into` from records of Arrow's, which is not logged."""

    def lent(self, records: pa.Table | pa.RecordBatchReader) -> Name:
        """Return a relation of records in memory: a transaction that writes elsewhere cannot write to staging."""

    def query(self, title: str, text: str, values: Sequence[object] = (), /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a look-up in the catalog or in our own tables; it is not part of the log."""

    def once(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` returns; where the connection is ours, as it did unless a statement was run meanwhile."""

    def reach(self, objects: PinnedObjects) -> None:
        """Let the database read objects of a store: those that are added."""

    def attach(self, text: str, /, **params: Any) -> None:
        """Run one ATTACH outside the log."""

    def pour(self, records: pa.Table | pa.RecordBatchReader, text: str, /, **params: Any) -> None:
        """Run one statement that reads the relation `view` of Arrow's; it is not part of the log."""

    def batches(self, relation: Name | Sql) -> Iterator[pa.RecordBatch]:
        """Yield the records of a relation or SELECT as Arrow batches; the connection is busy until the last."""

    def log_only(self, title: str, text: str, /, **params: Any) -> None:
        """Put a statement into the log that is not run."""

    def refuse_shadowing(self, where: str, must: str, do: str) -> None:
        """Refuse a database with macros that are called like built-in functions."""


def database_of(warehouse: Warehouse) -> Database:
    """Return the database of a warehouse, where a cluster was refused before."""
    assert warehouse.database is not None
    return warehouse.database


class InOnePlace:
    """A warehouse on one machine: combinations are where the records are."""

    @property
    def small(self) -> Self:
        """Where relations of combinations are worked on: here."""
        return self

    def fetch(self, relation: Name) -> Name:
        """Return a relation, which is where it should be."""
        return relation

    hand_over = fetch


def aligned(warehouse: Warehouse, *relations: Name) -> bool:
    """Tell whether relations of one run have the same records: all of them, so that a place is a row_id.

    Only a warehouse that keeps their order can join them by place.
    """
    if not warehouse.keeps_order:
        return False
    text = "SELECT count(*), coalesce(max(row_id) + 1, 0) FROM {{ r | ident }}"
    # row_id is unique and begins at 0: where the greatest is that of the last place, none is left out and none added
    return len({number for relation in relations for number in warehouse.query("aligned", text, r=relation)[0]}) == 1
