"""A PostgreSQL server: one connection, what it is asked and told, and records out of it and into it as its own text.

Records travel as `COPY … (FORMAT csv)`: the text that the server itself writes and reads for every type, as in its
dumps. Nothing is lost that a dump would not lose, whatever the type.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlmicro.database.postgres_errors import told
from sqlmicro.database.templates import Name, Sql, ident, lit, statement
from sqlmicro.errors import InputError, QueryError
from sqlmicro.system.interrupts import interruptible

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

T = TypeVar("T")
KIND = "postgres"
BLOCK = 1 << 22
"""Bytes of records that are in memory at a time; one that holds a longer record is larger."""
# So that every value has one text only, whatever the server or the role sets.
_SETTINGS = (
    "SET datestyle = 'ISO, YMD'", "SET intervalstyle = 'postgres'", "SET timezone = 'UTC'", "SET bytea_output = 'hex'",
    "SET extra_float_digits = 1", "SET standard_conforming_strings = on",
    "SET row_security = off",  # as pg_dump does: rows that would be hidden are an error, not left out
)  # fmt: skip
# Whoever may create a function or an operator in a schema of the search path could have it called for one of the
# server's own that takes other types: everything is named with its schema.
_TRIGGERS = """SELECT DISTINCT t.tgname::pg_catalog.text FROM pg_catalog.pg_trigger t
WHERE t.tgrelid OPERATOR(pg_catalog.=) ANY ({{ members }})
  AND NOT t.tgisinternal AND t.tgenabled OPERATOR(pg_catalog.<>) 'D' ORDER BY 1"""
_MEMBERS = """WITH RECURSIVE members AS (
  SELECT {{ table | lit }}::pg_catalog.regclass::pg_catalog.oid AS member
  UNION
  SELECT i.inhrelid FROM members JOIN pg_catalog.pg_inherits i ON i.inhparent OPERATOR(pg_catalog.=) members.member)
SELECT c.oid::pg_catalog.int8, n.nspname::pg_catalog.text, c.relname::pg_catalog.text, c.relkind::pg_catalog.text
FROM members JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) members.member
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace ORDER BY 1"""
_READABLE = """SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE'), pg_catalog.row_security_active(c.oid),
  ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
      AND NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') ORDER BY a.attnum)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) {{ schema | lit }} AND c.relname OPERATOR(pg_catalog.=) {{ table | lit }}"""
_PATH = "SELECT unnest FROM pg_catalog.unnest(pg_catalog.current_schemas(true))"


class Member(NamedTuple):
    """A table, or one of its partitions or heirs: its number, its name, and its kind in the words of pg_class."""

    oid: int
    name: Name
    kind: str


class LongRecordError(QueryError):
    """A record is longer than the block it was to be read in."""


class Server:
    """A connection to a server; what its errors say is told in words that quote no record."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def ask(self, text: str, /, **names: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        asked = statement(text, **names)
        return self._call("catalog", lambda: self._connection.execute(asked.encode()).fetchall())

    def tell(self, title: str, text: str, /, **names: Any) -> int:
        """Run a statement; return how many records it has changed."""
        given = statement(text, **names)
        return self._call(title, lambda: int(self._connection.execute(given.encode()).rowcount))

    @contextmanager
    def records(self, table: Name, columns: Sequence[str], block: int = BLOCK) -> Iterator[pa.RecordBatchReader]:
        """Lend the records of a relation as text, in blocks that are read from the server as they are asked for.

        Raises
        ------
        LongRecordError
            When a record is longer than a block.
        """
        text = statement(
            "COPY (SELECT {{ c | idents }} FROM {{ t | ident }}) TO STDOUT (FORMAT csv)",
            c=columns,
            t=server_name(table),
        )
        chunks = _Chunks(self._chunks(text))
        try:
            yield _reader(chunks, columns, block)
        except BaseException:
            if chunks.failure is None and not chunks.too_long:
                raise
        finally:
            chunks.end()
        if chunks.too_long:
            raise LongRecordError("read", f"a record must be shorter than {block >> 20:,} MB", "a longer one")
        if chunks.failure is not None:  # whoever read them has raised an error of its own
            raise told("read", chunks.failure)

    def _chunks(self, text: Sql) -> Iterator[bytes]:
        with self._connection.cursor() as cursor, cursor.copy(text.encode()) as copied:
            for chunk in copied:
                yield bytes(chunk)

    def fill(self, title: str, table: Sql, columns: Sequence[str], batches: Iterable[pa.RecordBatch]) -> int:
        """Write records of text into a table; return how many."""
        from pyarrow import csv

        plain = csv.WriteOptions(include_header=False, quoting_style="all_valid")
        text = statement("COPY {{ sql }} ({{ c | idents }}) FROM STDIN (FORMAT csv)", sql=table, c=columns)

        def copy() -> int:
            with self._connection.cursor() as cursor:
                with cursor.copy(text.encode()) as copied:
                    for batch in batches:
                        block = io.BytesIO()
                        csv.write_csv(batch, block, plain)
                        copied.write(block.getbuffer())
                return int(cursor.rowcount)

        return self._call(title, copy)

    def refuse_unreadable(self, table: Name) -> None:
        """Refuse a relation of which this user may not read every column and every row.

        Raises
        ------
        InputError
            With the rights that are missing.
        """
        ((usage, secured, columns),) = self.ask(_READABLE, schema=table.schema, table=table.table)
        if not usage or columns:
            what = f"to select {', '.join(columns)} of {table}" if columns else ""
            missing = ", ".join(filter(None, ["" if usage else f"USAGE ON SCHEMA {table.schema}", what]))
            raise InputError(
                str(table), "all of it must be readable for this user", f"missing rights: {missing}",
                "Have them granted on the server",
            )  # fmt: skip
        if secured:
            raise InputError(
                str(table), "every record must be readable for this user", "row security, which would hide some",
                "Connect as its owner or as a role with BYPASSRLS: what is hidden would be taken for not there",
            )  # fmt: skip

    def members(self, table: Name) -> list[Member]:
        """Return a table and all partitions and heirs below it."""
        rows = self.ask(_MEMBERS, table=quoted(table))
        return [Member(int(oid), Name("", schema, name), kind) for oid, schema, name, kind in rows]

    def triggers(self, table: Name) -> list[str]:
        """Return the names of the triggers that are switched on, on a table and on all below it."""
        members = array(one.oid for one in self.members(table))
        return [str(name) for (name,) in self.ask(_TRIGGERS, members=members)]

    def refuse_shadowing(self, where: str) -> None:
        """Refuse a server that looks functions up in the user's schemas before its own, which checks of tables call.

        Raises
        ------
        InputError
            With the schema that comes first.
        """
        first = next((str(name) for (name,) in self.ask(_PATH) if not str(name).startswith("pg_temp")), "")
        if first != "pg_catalog":
            raise InputError(
                where,
                "the functions of the server must come first in its search path",
                f"schema {first!r} before pg_catalog",
                "Have it changed: ALTER ROLE … SET search_path, with pg_catalog first or left out",
            )

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        from psycopg.pq import TransactionStatus

        return bool(self._connection.info.transaction_status != TransactionStatus.IDLE)

    def close(self) -> None:
        """Close the connection; what was not committed is rolled back."""
        self._connection.close()

    def _call(self, title: str, function: Callable[[], T]) -> T:
        from psycopg import Error

        try:
            return interruptible(function, self._connection.cancel)
        except Error as error:
            failure = told(title, error)
        raise failure  # out of the block: the server's own words, which may quote records, are not its context


def connect(what: str, *, writes: bool) -> Server:
    """Connect to a server in the words of libpq; without `writes` no statement can change anything.

    Raises
    ------
    psycopg.Error
        What libpq says, which quotes the connection: tell only its kind.
    """
    import psycopg

    connection = psycopg.connect(
        what, autocommit=True, prepare_threshold=None, client_encoding="utf8", application_name="sqlmicro"
    )
    for setting in (*_SETTINGS, *(() if writes else ("SET default_transaction_read_only = on",))):
        connection.execute(setting.encode())
    return Server(connection)


@contextmanager
def patient(server: Server, seconds: int) -> Iterator[None]:
    """Let statements outside of a transaction wait for locks so many seconds at most."""
    server.tell("lock", "SET lock_timeout = {{ wait | lit }}", wait=f"{seconds}s")
    try:
        yield
    finally:
        server.tell("lock", "RESET lock_timeout")


def quoted(relation: Name) -> str:
    """Return the name of a table as the server reads it out of a text."""
    return str(ident(server_name(relation)))


def server_name(relation: Name) -> Name:
    """Return how the server calls a table."""
    return relation._replace(catalog="")


def array(oids: Iterable[int]) -> Sql:
    """Write the numbers of tables as an array of the server."""
    return Sql(f"ARRAY[{', '.join(lit(int(oid)) for oid in oids)}]::pg_catalog.oid[]")


class _Chunks(io.RawIOBase):
    """Chunks of bytes as a file that can be read once."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._left = chunks, b""
        self.failure: BaseException | None = None
        self.too_long = False

    def end(self) -> None:
        """Read no more."""
        with contextlib.suppress(Exception):
            self._chunks.close()  # type: ignore[attr-defined]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        parts, there = [self._left], len(self._left)
        while there < len(buffer):
            chunk = self._next()
            if chunk is None:
                break
            parts.append(chunk)
            there += len(chunk)
        whole = b"".join(parts)
        taken = min(len(buffer), len(whole))
        buffer[:taken], self._left = whole[:taken], whole[taken:]
        return taken

    def _next(self) -> bytes | None:
        try:
            return next(self._chunks, None)
        except BaseException as error:
            self.failure = error
            raise

    def is_empty(self) -> bool:
        """Tell whether there is nothing to read."""
        if not self._left:
            self._left = self._next() or b""
        return not self._left


def _reader(chunks: _Chunks, columns: Sequence[str], block: int) -> pa.RecordBatchReader:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"c{number}" for number in range(len(columns))]
    schema = pa.schema([(name, pa.string()) for name in names])
    options = (
        csv.ReadOptions(column_names=names, block_size=block, use_threads=False),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from csv.open_csv(chunks, *options) if not chunks.is_empty() else ()
        except pa.ArrowInvalid:  # the server's own text is whole: nothing else can be wrong with it
            chunks.too_long = chunks.failure is None
            raise

    return pa.RecordBatchReader.from_batches(schema, batches())
