"""A PostgreSQL server beside the own database: `crm.public.persons` is a table in memory that stands for the server's.

DuckDB needs no extension for that. Every relation of the server is there with its columns, and is filled with its
records when it is looked at (`read`). What sqlmicro writes about releases into schema `sqlmicro` is written here, and
sent to the server just before the commit (`commit`). Everything else that changes the server is told to it
(`publish/postgres.py`), in the same transaction, and read back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from sqlmicro.database import postgres_types
from sqlmicro.database.postgres import BLOCK, LongRecordError, Server, quoted, server_name
from sqlmicro.database.postgres_types import ServerType
from sqlmicro.database.templates import Name, Sql, ident, statement

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlmicro.database.warehouse import Database

SCHEMA = "sqlmicro"
_BEFORE = "sqlmicro as read"
"""The schema in which the records of releases are kept as they were read, to tell what has been added."""
_KINDS = "ARRAY['r', 'p', 'v', 'm', 'f']::pg_catalog.\"char\"[]"
_TABLES = ("r", "p")
_LONGEST = 1 << 30
_SCHEMAS = """SELECT n.nspname::pg_catalog.text FROM pg_catalog.pg_namespace n
WHERE n.nspname OPERATOR(pg_catalog.!~) '^pg_' AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema' ORDER BY 1"""
_COLUMNS = (
    """SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text, c.relkind::pg_catalog.text,
  a.attname::pg_catalog.text, a.atttypid::pg_catalog.int8, a.atttypmod
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
WHERE c.relkind OPERATOR(pg_catalog.=) ANY ("""
    + _KINDS
    + """) AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
  AND n.nspname OPERATOR(pg_catalog.!~) '^pg_' AND n.nspname OPERATOR(pg_catalog.<>) 'information_schema'
ORDER BY c.oid, a.attnum"""
)
_TYPES = """SELECT t.oid::pg_catalog.int8, t.typname::pg_catalog.text, t.typtype::pg_catalog.text,
  t.typbasetype::pg_catalog.int8, t.typtypmod, n.nspname OPERATOR(pg_catalog.=) 'pg_catalog'
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace"""
_LABELS = """SELECT e.enumtypid::pg_catalog.int8, e.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum e
ORDER BY 1, e.enumsortorder"""
_MADE = (
    "CREATE OR REPLACE TABLE {{ t | ident }} ({% for c in columns %}{{ c.name | ident }} {{ c.kind | sqltype }}"
    "{% if not loop.last %}, {% endif %}{% endfor %})"
)


class MirroredColumn(NamedTuple):
    """A column of a relation of the server: its type in DuckDB, and whether it is read into it with loss."""

    name: str
    kind: str
    is_lossy: bool


class Mirrored(NamedTuple):
    """A relation of the server: its kind, in the words of pg_class, and its columns."""

    kind: str
    columns: tuple[MirroredColumn, ...]


@dataclass
class Mirror:
    """The relations of a server as they are in the database `name` in memory."""

    name: str
    server: Server
    writes: bool
    relations: dict[Name, Mirrored] = field(default_factory=dict)
    block: int = BLOCK
    read_now: set[Name] = field(default_factory=set)
    """What has been read in this run, or in the transaction that is open."""

    def look(self, warehouse: Database) -> None:
        """Let the database in memory have the relations that the server has now, without records."""
        schemas = [str(row[0]) for row in self.server.ask(_SCHEMAS)]
        there = {str(row[0]) for row in warehouse.query("catalog", _KNOWN, [self.name])}
        for schema in (*schemas, _BEFORE):
            if schema not in there:
                warehouse.query("mirror", "CREATE SCHEMA IF NOT EXISTS {{ s | ident }}", s=Name("", self.name, schema))
        found = self._relations()
        for name in self.relations.keys() - found.keys():
            warehouse.query("mirror", "DROP TABLE {{ t | ident }}", t=name)
        for name, relation in found.items():
            if self.relations.get(name) != relation:
                warehouse.query("mirror", _MADE, t=name, columns=relation.columns)
        self.relations, self.read_now = found, set()

    def _relations(self) -> dict[Name, Mirrored]:
        """Return the relations of the server; DuckDB could not tell apart names that differ in case only."""
        types = self._types()
        columns: dict[Name, list[MirroredColumn]] = {}
        kinds: dict[Name, str] = {}
        for schema, table, kind, column, number, modifier in self.server.ask(_COLUMNS):
            name = Name(self.name, schema, table)
            kinds[name] = kind
            shown = postgres_types.here(number, modifier, types)
            columns.setdefault(name, []).append(
                MirroredColumn(column, shown, postgres_types.is_lossy(number, modifier, types))
            )
        alike = _alike(kinds)
        return {
            name: Mirrored(kind, tuple(columns[name]))
            for name, kind in kinds.items()
            if name not in alike and len({c.name.lower() for c in columns[name]}) == len(columns[name])
        }

    def _types(self) -> dict[int, ServerType]:
        labels: dict[int, list[str]] = {}
        for number, label in self.server.ask(_LABELS):
            labels.setdefault(number, []).append(label)
        return {
            number: ServerType(name, own, kind, under, modifier, tuple(labels.get(number, ())))
            for number, name, kind, under, modifier, own in self.server.ask(_TYPES)
        }

    def is_table(self, name: Name) -> bool:
        """Tell whether a relation holds records of its own; for DuckDB the server's views are tables too."""
        return name not in self.relations or self.relations[name].kind in _TABLES

    def triggers(self, name: Name) -> list[str]:
        """Return the names of the triggers on a relation, none where the server does not have it yet."""
        return self.server.triggers(name) if name in self.relations else []

    def close(self) -> None:
        """Leave the server; what was not committed is rolled back."""
        self.server.close()

    def read(self, warehouse: Database, name: Name, *, again: bool = False) -> None:
        """Fill the table in memory with the records of the server's, unless that has been done in this run."""
        if not again and name in self.read_now:
            return
        try:
            self._fill(warehouse, name)
        except LongRecordError:
            if self.block >= _LONGEST:
                raise
            self.block *= 16  # it stays so: what is read in a transaction later cannot be tried twice
            self.read(warehouse, name, again=True)
        self.read_now.add(name)
        if name.schema == SCHEMA:
            before = "CREATE OR REPLACE TABLE {{ b | ident }} AS SELECT * FROM {{ t | ident }}"
            warehouse.query("mirror", before, b=name._replace(schema=_BEFORE), t=name)

    def _fill(self, warehouse: Database, name: Name) -> None:
        columns = self.relations[name].columns
        self.server.refuse_unreadable(name)
        warehouse.query("mirror", _MADE, t=name, columns=columns)
        values = postgres_types.listed([postgres_types.read(f"c{n}", c.kind) for n, c in enumerate(columns)])
        if columns:
            text = "INSERT INTO {{ t | ident }} SELECT {{ sql }} FROM {{ view | ident }}"
            with self.server.records(name, [c.name for c in columns], self.block) as records:
                warehouse.pour(records, text, t=name, sql=values)

    def find(self, warehouse: Database, schema: str) -> None:
        """Read the tables of releases, all at once, when one of them is looked up."""
        for name in self._records() if schema.lower() == SCHEMA else ():
            self.read(warehouse, name)

    def _records(self) -> list[Name]:
        return [name for name in self.relations if name.schema == SCHEMA]

    # Writing

    def begin(self, warehouse: Database) -> None:
        """Begin a transaction on the server, in which everything that was read is read anew, unless one is open."""
        if self.server.in_transaction:
            return
        self.server.tell("publish", "BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.read_now = set()
        for name in self._records():  # what was read before the snapshot of the transaction counts no more
            warehouse.query("mirror", "DELETE FROM {{ t | ident }}", t=name)

    def commit(self, warehouse: Database) -> None:
        """Send what was written about releases to the server, and commit."""
        if self.server.in_transaction:
            self._send(warehouse)
            self.server.tell("publish", "COMMIT")

    def roll_back(self) -> None:
        """Take back everything since `begin`."""
        if self.server.in_transaction:
            self.server.tell("publish", "ROLLBACK")

    def text(self, warehouse: Database, select: Sql, kinds: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield the records of a SELECT as the text that the server reads, for columns of types; else of their own."""
        found = warehouse.query("describe", "DESCRIBE {{ select }}", select=select)
        of = [(str(name), str(kind)) for name, kind, *_ in found]
        values = [
            postgres_types.written(name, wanted, kind)
            for (name, kind), wanted in zip(of, kinds or [kind for _, kind in of], strict=True)
        ]
        texts = statement("SELECT {{ sql }} FROM (\n{{ select }})", sql=postgres_types.listed(values), select=select)
        return warehouse.batches(texts)

    def make(self, warehouse: Database, name: Name, select: Sql, *, replacing: bool = False) -> None:
        """Make a table on the server from a SELECT, and read it back."""
        described = [
            (str(c), str(kind)) for c, kind, *_ in warehouse.query("describe", "DESCRIBE {{ select }}", select=select)
        ]
        if replacing:
            self.server.tell("publish", "DROP TABLE IF EXISTS {{ t | ident }}", t=server_name(name))
        self._create("publish", name, described)
        columns = [column for column, _ in described]
        self.server.fill("publish", Sql(quoted(name)), columns, self.text(warehouse, select))
        self.learn(warehouse, name)
        self.read(warehouse, name, again=True)

    def learn(self, warehouse: Database, name: Name) -> None:
        """Take note of how the server has made a table."""
        self.relations[name] = self._relations()[name]
        warehouse.query("mirror", _MADE, t=name, columns=self.relations[name].columns)

    def _create(self, title: str, name: Name, columns: Sequence[tuple[str, str]], key: Collection[str] = ()) -> None:
        typed = [f"{ident(column)} {postgres_types.there(kind)}" for column, kind in columns]
        keys = [f"PRIMARY KEY ({', '.join(ident(column) for column in key)})"] if key else []
        self.server.tell(
            title, "CREATE TABLE {{ t | ident }} ({{ sql }})", t=server_name(name), sql=Sql(", ".join([*typed, *keys]))
        )

    def _send(self, warehouse: Database) -> None:
        """Make the tables of releases that the server lacks, and send it the rows that are new; others are replaced."""
        tables = warehouse.query("mirror", _RECORDS, [self.name, SCHEMA])
        if tables and (SCHEMA,) not in self.server.ask(
            _SCHEMAS
        ):  # IF NOT EXISTS wants the right to make one all the same
            self.server.tell("record", "CREATE SCHEMA {{ s | ident }}", s=SCHEMA)
        for table, key in tables:
            name = Name(self.name, SCHEMA, table)
            columns = warehouse.describe(name)
            if name not in self.relations:
                self._create("record", name, columns, key or ())
            self._send_rows(warehouse, name, columns)

    def _send_rows(self, warehouse: Database, name: Name, columns: Sequence[tuple[str, str]]) -> None:
        new = statement("SELECT * FROM {{ t | ident }}", t=name)
        if name in self.read_now:
            before = statement("SELECT * FROM {{ b | ident }}", b=name._replace(schema=_BEFORE))
            gone = "SELECT count(*) FROM ({{ before }} EXCEPT ALL {{ new }})"
            if warehouse.query("mirror", gone, before=before, new=new)[0][0]:
                self.server.tell("record", "DELETE FROM {{ t | ident }}", t=server_name(name))
            else:
                new = statement("{{ new }} EXCEPT ALL {{ before }}", new=new, before=before)
        kinds = [kind for _, kind in columns]
        names = [column for column, _ in columns]
        self.server.fill("record", Sql(quoted(name)), names, self.text(warehouse, new, kinds))


_KNOWN = "SELECT schema_name FROM duckdb_schemas() WHERE database_name = $1"
_RECORDS = """SELECT table_name, any_value(k.constraint_column_names) FILTER (WHERE k.constraint_type = 'PRIMARY KEY')
FROM duckdb_tables() AS t
LEFT JOIN duckdb_constraints() AS k USING (database_name, schema_name, table_name)
WHERE database_name = $1 AND schema_name = $2 GROUP BY table_name ORDER BY table_name"""


def _alike(names: Collection[Name]) -> set[Name]:
    """Return the names that differ from another one in case only."""
    seen: dict[tuple[str, str], list[Name]] = {}
    for name in names:
        seen.setdefault((name.schema.lower(), name.table.lower()), []).append(name)
    return {name for found in seen.values() if len(found) > 1 for name in found}


def commit(warehouse: Database) -> None:
    """Commit on every server that is written to, which is one."""
    for mirror in warehouse.mirrors.values():
        mirror.commit(warehouse)


def roll_back(warehouse: Database) -> None:
    """Roll back on every server, as far as it answers: what it has not committed it rolls back by itself."""
    for mirror in warehouse.mirrors.values():
        with contextlib.suppress(Exception):
            mirror.roll_back()


def mirror_of(warehouse: Database, name: Name) -> Mirror:
    """Return the mirror that a relation is in."""
    found = warehouse.mirrors[name.catalog.lower()]
    assert isinstance(found, Mirror)
    return found
