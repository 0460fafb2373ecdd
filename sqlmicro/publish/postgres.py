"""Tables of an attached PostgreSQL database: a new one, and one that is anonymized in place.

In place is one transaction: the table is locked against writers, compared with what was read from it, emptied and
filled again, audited by reading it back, and recorded. The definition of the table stays: constraints, defaults,
indexes, grants. What forbids the change, or would lose or leak something, is refused beforehand: triggers, for one.

Afterwards `VACUUM (FULL, ANALYZE)` writes the table and its indexes into new files and replaces its statistics, which
quote frequent values. What it does not reach is told with every release (`NOT_ERASED`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.postgres import ask, command, server_name
from sqlmicro.database.templates import Name, statement
from sqlmicro.erasure import purge as erased
from sqlmicro.erasure.purge import ServerPurge
from sqlmicro.errors import InputError, QueryError
from sqlmicro.publish.in_place import InPlace, refuse_triggers
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.targets import Statement

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

NOT_ERASED = (
    "the original records are still in the write-ahead log (WAL) until its segments are recycled, and in everything "
    "made from it or before: archived WAL, replicas, base backups, dumps, snapshots of the disk",
    "values may be in the log of the server, in dead rows of pg_statistic until it is vacuumed, and in blocks the disk "
    "has freed but not yet overwritten",
)
_PATIENCE = "30s"
# These come back from DuckDB as they were; others may lose digits or be refused by the server.
_EXACT = (
    "bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "bpchar", "date", "time", "timestamp",
    "timestamptz", "uuid", "bytea", "json", "jsonb",
)  # fmt: skip
# Whoever may create a function or an operator in a schema of the search path could have it called for one of the
# server's own that takes other types: everything is named with its schema.
_TABLE = """SELECT c.relkind::pg_catalog.text, c.relispartition, pg_catalog.row_security_active(c.oid) AS secured,
  EXISTS (SELECT 1 FROM pg_catalog.pg_inherits i
    WHERE i.inhparent OPERATOR(pg_catalog.=) c.oid OR i.inhrelid OPERATOR(pg_catalog.=) c.oid) AS inherits,
  EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r
    WHERE r.ev_class OPERATOR(pg_catalog.=) c.oid AND r.rulename OPERATOR(pg_catalog.<>) '_RETURN') AS rules
FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass"""
_COLUMNS = """SELECT a.attname::pg_catalog.text, t.typname::pg_catalog.text, t.typtype::pg_catalog.text, a.atttypmod,
  a.attnotnull, a.attgenerated::pg_catalog.text OPERATOR(pg_catalog.<>) '' AS generated
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
WHERE a.attrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass
  AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped"""
_UNIQUE = """SELECT x.indexrelid::pg_catalog.regclass::pg_catalog.text, a.attname::pg_catalog.text
FROM pg_catalog.pg_index x LEFT JOIN pg_catalog.pg_attribute a
  ON a.attrelid OPERATOR(pg_catalog.=) x.indrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (x.indkey)
WHERE x.indrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass
  AND (x.indisunique OR x.indisexclusion) AND x.indexprs IS NULL AND x.indpred IS NULL
UNION ALL
SELECT x.indexrelid::pg_catalog.regclass::pg_catalog.text, NULL FROM pg_catalog.pg_index x
WHERE x.indrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass
  AND (x.indisunique OR x.indisexclusion) AND (x.indexprs IS NOT NULL OR x.indpred IS NOT NULL)"""
_CHILDREN = """SELECT conrelid::pg_catalog.regclass::pg_catalog.text FROM pg_catalog.pg_constraint
WHERE contype OPERATOR(pg_catalog.=) 'f'
  AND confrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass"""
_COPIES = """WITH RECURSIVE reads AS (
  SELECT {{ table | lit }}::pg_catalog.regclass::pg_catalog.oid AS relation
  UNION
  SELECT r.ev_class FROM reads JOIN pg_catalog.pg_depend d ON d.refobjid OPERATOR(pg_catalog.=) reads.relation
    AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
  JOIN pg_catalog.pg_rewrite r ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    AND r.oid OPERATOR(pg_catalog.=) d.objid)
SELECT c.oid::pg_catalog.regclass::pg_catalog.text
FROM reads JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) reads.relation
WHERE c.relkind OPERATOR(pg_catalog.=) 'm' ORDER BY 1"""
_FILE = "SELECT pg_catalog.pg_relation_filenode({{ table | lit }}::pg_catalog.regclass)::pg_catalog.int8"


@dataclass(frozen=True)
class PostgresTable(NewTable):
    """A new table."""

    has_enums: ClassVar[bool] = False


@dataclass(frozen=True)
class PostgresInPlace(InPlace):
    """A table whose records are replaced; with `purge` the server writes it into new files afterwards."""

    on_server: ClassVar[bool] = True

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table that cannot be changed in place."""
        refuse_triggers(self.warehouse, self.name)
        used = {column.name for column in worked_on}
        emptied = {column.name for column in run.roles.dropped}
        kept = {column.name for column in run.source.columns} - used - emptied
        run.notes += check(self.warehouse, self.name, used=used, kept=kept, emptied=emptied)

    def locking(self) -> Callable[[], None]:
        """Lock the table against writers until the transaction ends."""
        return partial(lock, self.warehouse, self.name)

    def look_again(self, run: Run) -> None:
        """Do nothing: the server lets nobody else write to a locked table."""

    def emptying(self) -> Statement:
        """Return the statement that deletes all records."""
        return command(self.name, "DELETE FROM {{ table | ident }}")

    def after_publishing(self, report: ReleaseReport) -> None:
        """Purge, and write into the report whether that was done, and why not."""
        stays, dry = stays_readable(self.name), report.dry_run
        made = erased.after_publishing(lambda: purge(self.warehouse, self.name), stays, dry=dry, wanted=self.purge)
        report.purged(made, () if dry else NOT_ERASED)


def lock(warehouse: DuckDBWarehouse, relation: Name) -> None:
    """Lock a table against writers until the transaction ends.

    The locks come before anything is read: the snapshot of the transaction then has all that others have committed.

    Raises
    ------
    InputError
        When another transaction holds the table. Nothing was written.
    """
    held = False
    try:
        text, names = command(
            relation,
            "SET LOCAL lock_timeout = '" + _PATIENCE + "'; LOCK TABLE {{ table | ident }} IN EXCLUSIVE MODE",
        )
        warehouse.execute("publish", text, **names)
    except QueryError:
        held = True
    if held:
        raise InputError(
            "--in-place",
            f"{str(relation)!r} must be free to be locked, and you must be allowed to change it",
            f"no lock within {_PATIENCE}",
            "Nothing was changed. Wait for the other transactions, or ask for the rights",
        )


def check(
    warehouse: DuckDBWarehouse,
    relation: Name,
    *,
    used: Collection[str],
    kept: Collection[str],
    emptied: Collection[str],
) -> list[str]:
    """Refuse a table that cannot be changed in place, and return what must be known of one that can.

    Parameters
    ----------
    warehouse, relation
        The table.
    used, kept, emptied : collection of str
        Its columns: those that get other values, those that stay as they are, those that are dropped.

    Raises
    ------
    InputError
        With the reason.
    """
    ((kind, is_partition, secured, inherits, rules),) = ask(warehouse, relation, _TABLE)
    if kind != "r" or is_partition or inherits:
        _refuse("the table must be an ordinary one", "a partitioned, inherited or foreign table")
    if secured:
        _refuse("every record must be seen and changed", "a table with row security that holds for this user")
    if rules:
        _refuse("the table must have no rules", "at least one")
    for name, type_name, type_kind, modifier, not_null, generated in ask(warehouse, relation, _COLUMNS):
        if generated:
            _refuse("the table must have no generated columns", name)
        if name in emptied and not_null:
            _refuse("a dropped column is emptied, which NOT NULL forbids", name)
        exact = type_name in _EXACT or type_kind == "e" or (type_name == "numeric" and modifier >= 0)
        if name in kept and not exact:
            _refuse("a column that is kept must be of a type that DuckDB reads without loss", f"{name} ({type_name})")
    for index, column in ask(warehouse, relation, _UNIQUE):
        if column is None:
            _refuse("the table must have no unique index on an expression or on some of its records", index)
        if column in used:
            _refuse("no column of a PRIMARY KEY, UNIQUE or EXCLUDE can be anonymized", column)
    children = ask(warehouse, relation, _CHILDREN)
    if children:
        _refuse("no table may refer to it by a foreign key", _listed(children))
    copies = ask(warehouse, relation, _COPIES)
    if copies:
        return [f"materialized views hold the originals until they are refreshed: {_listed(copies)}"]
    return []


def purge(warehouse: DuckDBWarehouse, relation: Name) -> ServerPurge:
    """Have the server write the table into new files, without the replaced records.

    Returns
    -------
    ServerPurge

    Raises
    ------
    SqlmicroError
        When the server refuses, or does nothing since the table belongs to somebody else.
    """
    started = time.time()
    before = ask(warehouse, relation, _FILE)
    vacuum = str(statement("VACUUM (FULL, ANALYZE) {{ table | ident }}", table=server_name(relation)))
    warehouse.query(
        "purge",
        "CALL postgres_execute({{ catalog | lit }}, {{ vacuum | lit }}, use_transaction = false)",
        catalog=relation.catalog,
        vacuum=vacuum,
    )
    if ask(warehouse, relation, _FILE) == before:
        raise InputError(
            "purge", "only the owner of a table can vacuum it", "another user", f"Have its owner run: {vacuum}"
        )
    return ServerPurge(list(NOT_ERASED), round(time.time() - started, 3))


def stays_readable(relation: Name) -> str:
    """Say until when replaced values can be read in the files of the server."""
    way = str(statement("VACUUM (FULL, ANALYZE) {{ table | ident }}", table=server_name(relation)))
    return f"the replaced values stay readable in the files of the server until: {way}"


def _listed(rows: Iterable[tuple[Any, ...]]) -> str:
    return ", ".join(sorted({str(row[0]) for row in rows}))


def _refuse(must: str, got: str) -> NoReturn:
    raise InputError("--in-place", must, got, "Use --into NAME, or --keep or --drop the column")
