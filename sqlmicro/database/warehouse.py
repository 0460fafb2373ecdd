"""The seam between the pipeline and an engine: what DuckDB and Spark do for it, each in its own way.

The engines are the only places that execute SQL: `duckdb_warehouse.py`, and `spark/warehouse.py`. Both keep this
protocol, which mypy proves, and both run its conformance suite, the row cases of `tests/sql`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from sqlmicro.database.templates import Name, Sql
from sqlmicro.options.reader import AS_FOUND, ReaderOptions

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sqlmicro.database.source import Source
    from sqlmicro.system.progress import Progress
    from sqlmicro.system.secrets import Secret

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
