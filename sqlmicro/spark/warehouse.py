"""The warehouse on Spark: `database.warehouse.Warehouse` over a Spark session.

Staging relations are temporary views of a session of our own. Those that are read often, or whose records are numbered,
are persisted where Spark keeps such data.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlmicro.database.columns import make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Sql, ident, is_ordered, render, statement
from sqlmicro.database.warehouse import Logged, Row
from sqlmicro.errors import InputError, QueryError
from sqlmicro.options.reader import AS_FOUND, ReaderOptions
from sqlmicro.spark import select_corrections
from sqlmicro.spark.session import apart, fit, keyed, opened
from sqlmicro.spark.translate import INSTEAD, Correction, translate

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sqlmicro.system.progress import Progress
    from sqlmicro.system.secrets import Secret

T = TypeVar("T")
_TYPES = {
    "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE", "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE", "binary": "BLOB",
}  # fmt: skip
"""The types of Spark, as DuckDB calls them."""
_KEPT = ("safe/cells.sql", "safe/assigned.sql", "audit/cells.sql")
_KEYED = ("load/numbered.sql", "load/copies_apart.sql")
"""What all else is joined to by row_id: it is parted and sorted by that once, not by every join."""
_ENDS = ("replace/released.sql",)
"""What ends a step."""
_READ_ONCE = ("load/column_profile.sql",)
"""What is asked of the source several times, which takes long and tells the same each time."""
_MOST_TO_ALL = 500_000
"""A relation of at most so many rows is sent to all workers, to be joined where the records are."""
_OF_COMBINATIONS = ("mask/cell_codes.sql", "mask/ladder_codes.sql")
_OF_PERSONS = (
    "safe/persons_of_cells.sql", "safe/cells_of_short_groups.sql", "safe/seats_of_cells.sql",
    "mask/cells_of_records.sql", "load/guaranteed.sql", "load/unit_counts.sql", "load/unit_of_records.sql",
    "load/stratum_numbers.sql", "group/labels.sql", "audit/numbered_sides.sql",
)  # fmt: skip
"""What is read into NumPy here: combinations of values; numbers of persons, of combinations and of classes.

The other templates have the values of every record.
"""
MOST_COMBINATIONS = 10_000_000
"""So many combinations of values are searched at the driver."""
MOST_SEATS = 20_000_000
"""Of so many records the numbers of person, combination and class come to the driver, 32 bytes each."""
_ROWS_OF_A_PARTITION = 2**33  # monotonically_increasing_id counts within a partition up to this


class SparkWarehouse:
    """A Spark session, and the relations a run stages in it."""

    reads_json = keeps_order = False
    database = None

    def __init__(self, session: SparkSession, progress: Progress, *, numbers: bool = True) -> None:
        self.session, self.progress, self._numbers = session, progress, numbers
        self.log: list[Logged] = []
        self.loaded: list[Name] = []
        self.secrets: dict[str | None, Secret] = {}
        self.staging, self.committed = "", False
        self._persisted: list[DataFrame] = []
        self._beside = ExitStack()
        self._fetched: dict[Name, Name] = {}
        self._read: dict[str, list[tuple[Any, ...]]] = {}
        self._records: dict[Name, int] = {}
        self._steps = 0

    @classmethod
    @contextmanager
    def open(cls, master: str | None, progress: Progress, *, numbers: bool = True) -> Iterator[SparkWarehouse]:
        """Open a session for the length of the block; the one that runs already is used where there is one.

        `numbers` says whether the records of a source are numbered, as those that are released must be. Spark does not
        take statements with certain joins over records that are.

        Raises
        ------
        InputError
            When pyspark or Java is missing, or no session can be had.
        """
        with opened(master) as session:
            warehouse = cls(session, progress, numbers=numbers)
            try:
                yield warehouse
            finally:
                warehouse._beside.close()
                for frame in warehouse._persisted:
                    with contextlib.suppress(Exception):
                        frame.unpersist()

    # What the pipeline asks of a warehouse

    @cached_property
    def small(self) -> DuckDBWarehouse:
        """The DuckDB in memory at the driver, where combinations are worked on; its statements go into our log."""
        opened: DuckDBWarehouse = self._beside.enter_context(open_warehouse(None, progress=self.progress))
        opened.log = self.log
        return opened

    def fetch(self, relation: Name) -> Name:
        """Bring a relation of combinations to the driver.

        Raises
        ------
        InputError
            When there are more than `MOST_COMBINATIONS`.
        """
        table = self._at_driver("fetch", frame := self.frame(relation))
        self.put(_small(frame, len(table)), relation.table)
        there = self.small.load(
            table, relation.table, "filled with the combinations that Spark found; DuckDB from here"
        )
        self._fetched[there] = relation
        return there

    def hand_over(self, relation: Name) -> Name:
        """Bring a relation of the driver here; one that was fetched is here still."""
        if relation not in self._fetched:
            table = self.small.table(relation)
            self._fetched[relation] = self.load(
                table, relation.table, "filled with what the driver made; Spark from here"
            )
        return self._fetched[relation]

    def source(self, table: str, options: ReaderOptions = AS_FOUND, name: str = "source") -> Source:
        """Return the Parquet files or the table of Spark's catalog that `--table` names.

        Raises
        ------
        InputError
            When there are none.
        """
        is_file = "/" in table or table.lower().endswith((".parquet", ".pq"))

        def read() -> DataFrame:
            found = self.session.read.parquet(table) if is_file else self.session.table(table)
            found.schema  # noqa: B018  (a Connect server looks for it only when it is asked something)
            return found

        try:
            frame = self.call("load", read)
        except QueryError:
            frame = None
        if frame is None:
            must = "must be Parquet files, or a table that Spark's catalog has"
            raise InputError("--engine spark, input", must, repr(table))
        relation = self.put(frame, name)
        if self._numbers:
            self.in_order(relation, name)
        described = [column for column in self.describe(relation) if column[0] != "rowid"]
        reads = frozenset(self.call("load", frame.inputFiles))
        return Source(relation, table, tuple(make_columns(described)), is_table=False, is_file=is_file, reads=reads)

    def in_order(self, relation: Name, into: str) -> int:
        """Create the staging relation `into` with the records of another, numbered; return how many there are.

        The sizes of the partitions also tell how many tasks the statements of the run are worth.
        """
        frame = self.frame(relation)
        sizes = self._sizes(frame)
        records = sum(sizes.values())
        fit(self.session, records)
        self.put(self.numbered(frame, sizes), into)
        return records

    def staged(self, table: str) -> Name:
        """Return the name of a staging relation."""
        return Name("", "", table)

    def run(self, template: str, into: str, *, view: bool = False, rows: int = 0, **params: Any) -> Name:
        """Create the staging relation `into` from a template, and return its name."""
        order = () if is_ordered(template) else (select_corrections.without_order,)
        frame = self._frame(template, render(INSTEAD.get(template, template), **params), into, *order)
        if template in _ENDS:
            frame = self._ended(template, frame)
        elif template in _KEPT:
            frame = self.keep(frame)
        elif template in _KEYED and not view:
            frame = self.keep(keyed(self.session, frame))
        if is_ordered(template):
            frame = self.numbered(self.keep(frame))
        return self.put(frame, into)

    def define(self, into: str, text: str, *, keep: bool = False, **params: Any) -> Name:
        """Create the staging relation `into` from a SELECT of DuckDB's that is a constant."""
        frame = self._frame(into, statement(text, **params), into)
        return self.put(self.keep(frame) if keep else frame, into)

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create the staging relation `into` from a small Arrow table."""
        self.log.append(Logged(into, f"-- {into}: {comment}"))
        frame = self.call(into, lambda: self.session.createDataFrame(table))
        self.loaded.append(self.put(_small(frame, len(table)), into))
        return self.loaded[-1]

    def rows(self, template: str, *, log: bool = True, rows: int = 0, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a template."""
        text = render(template, **params)
        found = self._read.get(text)
        if found is None:
            frame = self._frame(template, text, "")
            found = [tuple(row) for row in self.call(template, frame.collect)]
            self._read |= {text: found} if template in _READ_ONCE else {}
        return found

    def record(self, template: str, **params: Any) -> Row:
        """Return the only row of a template as a dictionary."""
        frame = self._frame(template, render(template, **params), "")
        found: Row = self.call(template, frame.collect)[0].asDict()
        return found

    def arrays(self, template: str, **params: Any) -> dict[str, np.ndarray]:
        """Return the columns of a template as NumPy arrays: combinations of values, or numbers, never records.

        Raises
        ------
        InputError
            For other templates, and for more than `MOST_COMBINATIONS` or `MOST_SEATS`.
        """
        if template not in (*_OF_COMBINATIONS, *_OF_PERSONS):
            must = "combinations of values come to the driver, never records"
            got = f"what needs all records in one place ({Path(template).stem.replace('_', ' ')})"
            raise InputError("--engine spark", must, got, "Use --engine duckdb for it; see sqlmicro help spark")
        frame = self._frame(template, render(template, **params), "")
        if template in _OF_PERSONS:
            table = self._at_driver(template, frame, MOST_SEATS, "numbers of persons with a combination of values")
        else:
            table = self._at_driver(template, frame)
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def query(self, title: str, text: str, /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT of DuckDB's over our own tables; it is not part of the log."""
        sql = translate(statement(text, **params))
        return [tuple(row) for row in self.call(title, lambda: self.session.sql(sql).collect())]

    def set_key(self, name: str, key: str) -> None:
        """Bind a secret key of keyed hashes to a variable of the session; the key is never part of a statement."""
        self._bind(name, "STRING", key)
        shown = f"DECLARE OR REPLACE VARIABLE {_quoted(name)} STRING DEFAULT uuid();"
        self.log.append(Logged("key", "-- The run used a secret key in place of this one.\n" + shown))

    def set_pads(self, inner: bytes, outer: bytes) -> None:
        """Bind the pads of a keyed hash (HMAC); they are as secret as its key and never part of a statement."""
        for name, pad in (("sqlmicro_inner_pad", inner), ("sqlmicro_outer_pad", outer)):
            self._bind(name, "BINARY", bytearray(pad))
            shown = f"DECLARE OR REPLACE VARIABLE {_quoted(name)} BINARY DEFAULT encode(uuid(), 'UTF-8');"
            self.log.append(Logged("pads", "-- The run used a secret pad in place of this one.\n" + shown))

    def _bind(self, name: str, kind: str, value: object) -> None:
        self.call("key", lambda: self.session.sql(f"DECLARE OR REPLACE VARIABLE {_quoted(name)} {kind}"))
        self.call("key", lambda: self.session.sql(f"SET VARIABLE {_quoted(name)} = :value", args={"value": value}))

    def forget(self, relation: Name) -> None:
        """Do nothing: what is persisted stays until the end, for what is made of it may have to be made again."""

    def describe(self, relation: Name) -> list[tuple[str, str]]:
        """Return name and type of every column of a relation; the types are called as DuckDB calls them."""
        fields = self.frame(relation).schema.fields
        return [(field.name, duckdb_type(field.dataType.simpleString())) for field in fields]

    def count(self, relation: Name) -> int:
        """Return the number of rows of a relation."""
        if relation not in self._records:
            self._records[relation] = int(self.query("count", "SELECT count(*) FROM {{ r | ident }}", r=relation)[0][0])
        return self._records[relation]

    def aside(self) -> AbstractContextManager[None]:
        """Run the block as it is: Spark has no transactions, and nothing of the owner's is changed."""
        return nullcontext()

    def write(self, select: Sql, path: Path, partition_by: tuple[str, ...] = (), *, rows: int = 0) -> Name:
        """Write the records of a SELECT to a new folder of Parquet files, and return what reads it back."""
        frame = self._frame("published", select, "published", select_corrections.in_parts)
        writer = frame.write.option("compression", "zstd").partitionBy(*partition_by)
        self.call("publish", lambda: writer.parquet(str(path)))
        return self.put(self.call("audit", lambda: self.session.read.parquet(str(path))), "read_back")

    def script(self) -> str:
        """Return every statement that was run, in Spark's SQL."""
        return self.steps() + "\n"

    def steps(self) -> str:
        """Return the statements that were run; relations are named without a database."""
        return "\n\n".join(entry.sql for entry in self.log)

    # Data frames

    def frame(self, relation: Name) -> DataFrame:
        """Return a relation as a data frame."""
        return self.session.table(_quoted(relation.table))

    def put(self, frame: DataFrame, into: str) -> Name:
        """Make a data frame a staging relation."""
        apart(frame).createOrReplaceTempView(_quoted(into))
        name = self.staged(into)
        self._records.pop(name, None)
        self._read = {text: rows for text, rows in self._read.items() if str(ident(name)) not in text}
        return name

    def keep(self, frame: DataFrame) -> DataFrame:
        """Compute a data frame once, when it is first read."""
        kept = frame.persist()
        self._persisted.append(kept)
        return kept

    def checkpoint(self, title: str, frame: DataFrame) -> DataFrame:
        """Compute a data frame once, when it is first read, and forget how it was made.

        What is persisted is found again by its plan: not where the plan calls Python and is read in a WITH (Spark 4.3),
        and not once the view that it was made of is replaced. A Connect client gives a checkpoint to the session that
        is active, which cannot be read from another (where a session of ours was opened beside the one that runs). It
        is persisted there.
        """
        made = self.call(title, partial(frame.localCheckpoint, eager=False))
        if made.sparkSession is not self.session:
            return self.keep(frame)
        self._persisted.append(made)
        return made

    def _ended(self, title: str, frame: DataFrame) -> DataFrame:
        """Compute what ends a step once. Of all steps but the first, forget how it was made.

        A plan grows several times over with every step, and is read by each. What is persisted stays parted by row_id.
        """
        first, self._steps = not self._steps, self._steps + 1
        return self.keep(frame) if first else self.checkpoint(title, frame)

    def numbered(self, frame: DataFrame, sizes: Mapping[int, int] | None = None) -> DataFrame:
        """Return a data frame with `rowid`, from 0, in the order of its partitions and of the records in them.

        One row for each partition comes to the driver, unless the sizes of the partitions are known.
        """
        from pyspark.sql import functions

        sizes = self._sizes(frame) if sizes is None else sizes
        starts, start = [], 0
        for partition in range(max(sizes, default=-1) + 1):
            starts.append(start)
            start += sizes.get(partition, 0)
        before = functions.element_at(
            functions.lit(starts or [0]).cast("array<bigint>"), functions.spark_partition_id() + 1
        )
        place = functions.monotonically_increasing_id() % _ROWS_OF_A_PARTITION
        return frame.select((before + place).alias("rowid"), "*")

    def _sizes(self, frame: DataFrame) -> dict[int, int]:
        """Return the number of records of every partition that has any."""
        from pyspark.sql import functions

        counts = frame.groupBy(functions.spark_partition_id().alias("p")).count()
        return {int(row[0]): int(row[1]) for row in self.call("number", counts.collect)}

    def call(self, title: str, function: Callable[[], T]) -> T:
        """Run `function` and tell its errors without their words, which may quote records."""
        try:
            return function()
        except Exception as error:
            condition = getattr(error, "getCondition", lambda: None)() or type(error).__name__
        raise QueryError(title, "Spark must be able to run this", condition)

    def _at_driver(
        self, title: str, frame: DataFrame, most: int | None = None, what: str = "combinations of values"
    ) -> pa.Table:
        """Bring the combinations of a data frame to the driver; refuse too many."""
        most = most or MOST_COMBINATIONS
        table: pa.Table = self.call(title, frame.limit(most + 1).toArrow)
        if len(table) > most:
            must, got = f"at most {most:,} {what} come to the driver", f"{self.call(title, frame.count):,}"
            raise InputError("--engine spark", must, got, "Use fewer columns, or coarser ones: generalize")
        return table

    def _frame(self, title: str, sql: str, into: str, *corrected: Correction) -> DataFrame:
        text = translate(sql, *corrected)
        shown = _quoted(into)
        head = "" if not into else "CREATE OR REPLACE TEMPORARY VIEW " + shown + " AS\n"
        self.log.append(Logged(title, head + text + ";"))
        return self.call(title, lambda: self.session.sql(text))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _small(frame: DataFrame, rows: int) -> DataFrame:
    """Return a relation of so many rows, to be sent to all workers if it is small."""
    return frame.hint("broadcast") if rows <= _MOST_TO_ALL else frame


def duckdb_type(spark: str) -> str:
    """Return the name that DuckDB has for a type of Spark's.

    >>> duckdb_type("bigint"), duckdb_type("decimal(10,2)"), duckdb_type("array<int>")
    ('BIGINT', 'DECIMAL(10,2)', 'INTEGER[]')
    """
    found = re.fullmatch(r"array<(.*)>", spark)
    if found:
        return duckdb_type(found[1]) + "[]"
    return _TYPES.get(spark, spark.upper())
