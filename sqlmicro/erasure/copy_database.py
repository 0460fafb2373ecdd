"""Copying a database into a fresh file, and comparing the two: catalog, number and content of the records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlmicro.database import unfinished
from sqlmicro.database.catalog import free_name
from sqlmicro.database.content import content
from sqlmicro.database.templates import Name, Sql, ident
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure import catalog_texts, enums, statements
from sqlmicro.errors import QueryError
from sqlmicro.system.sentences import names

T = TypeVar("T")
WHERE = "purge"
_LITTLE = 400 * 2**20
"""Bytes in which records are copied and compared where that is enough: else both files would stay in memory."""
_KINDS = (
    "schemas", "types", "sequences", "tables", "columns", "constraints", "indexes", "views", "functions", "triggers",
)  # fmt: skip
# These differ from file to file, as does what ends in oid. A sequence that was used starts where it goes on.
_PASSING = ("database_name", "estimated_size", "start_value", "constraint_index")


@dataclass(frozen=True)
class Copy:
    """What was copied; `notes` say what the catalog still quotes that no record holds."""

    tables: int
    rows: int
    storage_version: str
    narrowed: int
    notes: list[str]


@dataclass(frozen=True)
class Table:
    """A table to copy, where its records are read from, and the tables its foreign keys refer to."""

    name: Name
    source: Name
    columns: tuple[str, ...]
    parents: frozenset[tuple[str, str]]
    indexed: bool
    """Whether it has an index, which is made in memory."""


def copy_database(warehouse: Database, file: Path, narrow_enums: bool) -> Copy:
    """Copy the open database into `file`, and compare what is read back from the disk.

    The definitions are copied first, by way of memory, so that what is taken out of them is never in the file; then the
    records table by table, parents of foreign keys before their children: in one transaction DuckDB 1.5 does not find
    the parents. Triggers come last, so that they do not fire.

    Raises
    ------
    QueryError
        When the copy differs from the original.
    """
    old = warehouse.catalog
    fresh = free_name(warehouse, "fresh")
    version = storage_version(warehouse, old)
    block = warehouse.query(WHERE, "SELECT block_size FROM pragma_database_size() WHERE database_name = $1", [old])
    options = {"path": str(file), "fresh": fresh, "version": version.rstrip("+"), "block": int(block[0][0])}
    warehouse.query(
        WHERE,
        "ATTACH {{ path | lit }} AS {{ fresh | ident }} "
        "(READ_WRITE, STORAGE_VERSION {{ version | lit }}, BLOCK_SIZE {{ block }})",
        **options,
    )
    labels = enums.unused(warehouse, old)
    with catalog_texts.definitions(warehouse, old) as made:
        narrowed = enums.narrow(warehouse, made, labels) if narrow_enums else {}
        typed = statements.make_anew(warehouse, made)
        warehouse.query(WHERE, catalog_texts.COPY, old=made, new=fresh)
    found = _tables(warehouse, old)
    rows = 0
    for table in _parents_first(found):
        size = warehouse.count(table.source)
        rows += size
        with warehouse.progress.stage(f"purge {table.name.table}", size):
            if table.indexed:
                _copy_records(warehouse, table, fresh)
            else:
                _in_little_memory(warehouse, partial(_copy_records, warehouse, table, fresh))
    _copy_triggers(warehouse, old, fresh)
    warehouse.query(WHERE, "DETACH {{ fresh | ident }}", fresh=fresh)
    warehouse.query(WHERE, "ATTACH {{ path | lit }} AS {{ fresh | ident }} (READ_ONLY)", path=str(file), fresh=fresh)
    _compare(warehouse, old, fresh, found, narrowed)
    warehouse.query(WHERE, "DETACH {{ fresh | ident }}", fresh=fresh)
    notes = [enums.told(enum) for enum in labels if enum.definition not in narrowed]
    return Copy(len(found), rows, version, len(narrowed), [*notes, *_quoting(warehouse, old, typed)])


def _copy_records(warehouse: Database, table: Table, fresh: str) -> None:
    warehouse.query(
        WHERE,
        "INSERT INTO {{ target | ident }} ({{ columns | idents }}) "
        "SELECT {{ columns | idents }} FROM {{ source | ident }}",
        target=table.name._replace(catalog=fresh),
        source=table.source,
        columns=table.columns,
    )


def _in_little_memory(warehouse: Database, ask: Callable[[], T]) -> T:
    """Return what `ask` returns; what fails in little memory is asked again with all that the database may have."""
    most = warehouse.memory
    if most > _LITTLE:
        try:
            _allow(warehouse, _LITTLE)
            return ask()
        except QueryError:
            pass
        finally:
            _allow(warehouse, most)
    return ask()


def _allow(warehouse: Database, memory: int) -> None:
    warehouse.query(WHERE, "SET memory_limit = {{ size | lit }}", size=f"{memory / 2**20}MiB")


def _quoting(warehouse: Database, catalog: str, typed: Sequence[str]) -> list[str]:
    """Return what definitions and comments quote that no record holds, or may; `typed` are views as they were."""
    notes = [
        f"{found.literals} texts or numbers that no record holds, in {found.kind} {found.where}; make it anew without "
        "them"
        for found in catalog_texts.not_held(warehouse, catalog)
    ]
    comments = [f"{kind} {where}" for kind, where, _ in catalog_texts.comments(warehouse, catalog)]
    if comments:
        notes.append(
            f"{len(comments):,} comments stay as they were written, of {names(comments, 6)}: whether they quote what "
            "was replaced only a reader can tell (sqlmicro residue lists all); take out those that do with "
            "COMMENT ON … IS NULL"
        )
    if typed:
        notes.append(
            "the statements of views that could not be made anew, as they were typed, with comments: "
            f"{names(typed, 6)}; a view over a table that is gone is best dropped"
        )
    return notes


def storage_version(warehouse: Database, catalog: str) -> str:
    """Return the storage version of a database as it shows it, such as 'v1.0.0+'."""
    found = warehouse.query(
        WHERE, "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = $1", [catalog]
    )
    return str(found[0][0])


def _tables(warehouse: Database, catalog: str) -> list[Table]:
    """Return the tables of a database with the columns that are stored."""
    found = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = $1 AND NOT internal "
        "ORDER BY ALL",
        [catalog],
    )
    columns = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = $1 "
        "ORDER BY schema_name, table_name, column_index",
        [catalog],
    )
    parents = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name, referenced_table FROM duckdb_constraints() "
        "WHERE database_name = $1 AND constraint_type = 'FOREIGN KEY'",
        [catalog],
    )
    indexed = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name FROM duckdb_indexes() WHERE database_name = $1 UNION "
        "SELECT schema_name, table_name FROM duckdb_constraints() WHERE database_name = $1 "
        "AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')",
        [catalog],
    )
    return [
        Table(
            Name(catalog, schema, table),
            _source(warehouse, Name(catalog, schema, table)),
            tuple(
                name for s, t, name, kind in columns if (s, t) == (schema, table) and not is_generated(sql, name, kind)
            ),
            frozenset((s, parent) for s, t, parent in parents if (s, t) == (schema, table) and parent != table),
            (schema, table) in indexed,
        )
        for schema, table, sql in found
    ]


def _source(warehouse: Database, table: Name) -> Name:
    """Return what the records of a table are read from: in the fresh file no release waits for the purge any more."""
    if table[1:] == (unfinished.SCHEMA, unfinished.TABLE):
        return unfinished.without_purged(warehouse, table.catalog)
    return table


def is_generated(sql: str, column: str, kind: str) -> bool:
    """Tell whether a column is computed; only the definition of the table tells.

    >>> is_generated("CREATE TABLE t(a INTEGER, b INTEGER GENERATED ALWAYS AS((a * 2)));", "b", "INTEGER")
    True
    """
    return any(f"{name} {kind} GENERATED ALWAYS AS" in sql for name in (column, ident(column)))


def _parents_first(tables: Sequence[Table]) -> list[Table]:
    """Order tables so that a foreign key refers to one that comes before; those of a circle come last."""
    left = list(tables)
    ordered: list[Table] = []
    known = {table.name[1:] for table in tables}
    while left:
        done = {table.name[1:] for table in ordered}
        ready = [table for table in left if table.parents & known <= done] or left
        ordered += ready
        left = [table for table in left if table not in ready]
    return ordered


def _copy_triggers(warehouse: Database, old: str, fresh: str) -> None:
    if not catalog_texts.has(warehouse, "triggers"):
        return
    found = warehouse.query(
        WHERE, "SELECT schema_name, sql FROM duckdb_triggers() WHERE database_name = $1 AND NOT temporary", [old]
    )
    for schema, sql in found:
        with warehouse.using(Name("", fresh, schema)):
            warehouse.query(WHERE, "{{ sql }}", sql=Sql(str(sql).rstrip("; ")))


def _compare(warehouse: Database, old: str, fresh: str, tables: Sequence[Table], narrowed: Mapping[str, str]) -> None:
    """Refuse a copy that differs: in any entry of the catalog, or in the records of a table."""
    differ = [kind for kind in _KINDS if _catalog(warehouse, kind, old, narrowed) != _catalog(warehouse, kind, fresh)]
    for table in tables:
        both = (table.source, table.name._replace(catalog=fresh))
        before, after = (_in_little_memory(warehouse, partial(content, warehouse, one)) for one in both)
        if (before.records, before.hashes) != (after.records, after.hashes):
            differ.append(f"the records of {table.name.table}")
    if differ:
        raise QueryError(
            WHERE,
            "the copy must be equal to the database",
            f"differences in {', '.join(differ)}",
            "The file is as it was; please report this",
        )


def _catalog(warehouse: Database, kind: str, catalog: str, narrowed: Mapping[str, str] | None = None) -> list[str]:
    """Return every entry of one kind as text, without what differs from file to file; ENUM types as `narrowed`."""
    if kind == "triggers" and not catalog_texts.has(warehouse, kind):
        return []
    rows = warehouse.query(
        WHERE,
        "SELECT to_json(entry) FROM {{ function }}() AS entry WHERE database_name = $1",
        [catalog],
        function=Sql(f"duckdb_{kind}"),
    )
    return sorted(_comparable(json.loads(row[0]), narrowed or {}) for row in rows)


def _comparable(entry: dict[str, Any], narrowed: Mapping[str, str]) -> str:
    kept = {name: value for name, value in entry.items() if not (name.endswith("oid") or name in _PASSING)}
    for name, value in kept.items():
        if isinstance(value, str):
            kept[name] = enums.narrowed(value, narrowed)
        elif name == "labels" and value:
            kept[name] = enums.labels_of(enums.narrowed(enums.definition(value), narrowed))
    return json.dumps(kept, sort_keys=True)
