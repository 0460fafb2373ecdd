"""Tables of an attached PostgreSQL database that are anonymized in place.

One transaction: the table is locked against writers, compared with what was read from it, emptied and filled again,
audited by reading it back, and recorded. The definition of the table stays: constraints, defaults, indexes, grants.
What forbids the change, or would lose or leak something, is refused beforehand: triggers, for one.

Afterwards `VACUUM (FULL, ANALYZE)` writes the table and its indexes into new files and replaces its statistics, which
quote frequent values. What it does not reach is told with every release (`NOT_ERASED`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlmicro.database.templates import Name, ident, statement
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, QueryError

KIND = "postgres"
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
_TRIGGERS = """SELECT tgname::pg_catalog.text FROM pg_catalog.pg_trigger
WHERE tgrelid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass
  AND NOT tgisinternal AND tgenabled OPERATOR(pg_catalog.<>) 'D' ORDER BY 1"""
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
_KIND = """SELECT relkind::pg_catalog.text FROM pg_catalog.pg_class
WHERE oid OPERATOR(pg_catalog.=) {{ table | lit }}::pg_catalog.regclass"""
_FILE = "SELECT pg_catalog.pg_relation_filenode({{ table | lit }}::pg_catalog.regclass)::pg_catalog.int8"
_PATH = "SELECT unnest FROM pg_catalog.unnest(pg_catalog.current_schemas(true))"


def ask(warehouse: Warehouse, relation: Name, text: str) -> list[tuple[Any, ...]]:
    """Return what the server answers to a query about a table."""
    asked = statement(text, table=str(ident(_own(relation))))
    return warehouse.query(
        "catalog",
        "SELECT * FROM postgres_query({{ catalog | lit }}, {{ asked | lit }})",
        catalog=relation.catalog,
        asked=str(asked),
    )


def refuse_shadowing(warehouse: Warehouse, catalog: str, where: str) -> None:
    """Refuse a server that looks functions up in the user's schemas before its own, which DuckDB's statements call.

    Raises
    ------
    InputError
        With the schema that comes first.
    """
    asked = warehouse.query(
        "catalog", "SELECT * FROM postgres_query({{ catalog | lit }}, {{ asked | lit }})", catalog=catalog, asked=_PATH
    )
    first = next((str(name) for (name,) in asked if not str(name).startswith("pg_temp")), "")
    if first != "pg_catalog":
        raise InputError(
            where,
            "the functions of the server must come first in its search path",
            f"schema {first!r} before pg_catalog",
            "Have it changed: ALTER ROLE … SET search_path, with pg_catalog first or left out",
        )


def is_table(warehouse: Warehouse, relation: Name) -> bool:
    """Tell whether a relation holds records of its own; for DuckDB the server's views are tables too."""
    return ask(warehouse, relation, _KIND)[0][0] in ("r", "p")


def command(relation: Name, text: str) -> tuple[str, dict[str, Any]]:
    """Return the statement, and its names, that has the server run `text` on a table in the open transaction."""
    told = str(statement(text, table=_own(relation)))
    return "CALL postgres_execute({{ catalog | lit }}, {{ told | lit }})", {"catalog": relation.catalog, "told": told}


def emptying(relation: Name) -> tuple[str, dict[str, Any]]:
    """Return the statement that deletes all records of a table, and its names."""
    return command(relation, "DELETE FROM {{ table | ident }}")


def lock(warehouse: Warehouse, relation: Name) -> None:
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


def triggers(warehouse: Warehouse, relation: Name) -> list[str]:
    """Return the names of the triggers on a table that are switched on."""
    return [str(name) for (name,) in ask(warehouse, relation, _TRIGGERS)]


def check(
    warehouse: Warehouse, relation: Name, *, used: Collection[str], kept: Collection[str], emptied: Collection[str]
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


@dataclass(frozen=True)
class ServerPurge:
    """What a purge on a server left, and how long it took."""

    not_erased: list[str]
    seconds: float


def purge(warehouse: Warehouse, relation: Name) -> ServerPurge:
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
    vacuum = str(statement("VACUUM (FULL, ANALYZE) {{ table | ident }}", table=_own(relation)))
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
    way = str(statement("VACUUM (FULL, ANALYZE) {{ table | ident }}", table=_own(relation)))
    return f"the replaced values stay readable in the files of the server until: {way}"


def _own(relation: Name) -> Name:
    """Return how the server calls a table."""
    return relation._replace(catalog="")


def _listed(rows: Iterable[tuple[Any, ...]]) -> str:
    return ", ".join(sorted({str(row[0]) for row in rows}))


def _refuse(must: str, got: str) -> None:
    raise InputError("--in-place", must, got, "Use --into NAME, or --keep or --drop the column")
