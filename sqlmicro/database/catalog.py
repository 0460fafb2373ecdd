"""The catalog of the database: names as users write them, and what there is of that name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlmicro.database import postgres
from sqlmicro.database.templates import Name, ident
from sqlmicro.database.warehouse import Database, Mirrors
from sqlmicro.errors import InputError, ParameterError

# The views of the system are made when they are first listed, which takes as long as ten look-ups.
_TAKEN = """SELECT database_name FROM duckdb_databases() UNION ALL SELECT schema_name FROM duckdb_schemas()
UNION ALL SELECT table_name FROM duckdb_tables() WHERE database_name <> 'system'
UNION ALL SELECT view_name FROM duckdb_views() WHERE database_name <> 'system'"""


def split_name(text: str) -> list[str]:
    """Split `catalog.schema.name` at the dots outside double quotes.

    >>> split_name('main."a.b"'), split_name("persons")
    (['main', 'a.b'], ['persons'])
    """
    parts = re.findall(r'"(?:[^"]|"")*"|[^."]+', text)
    if ".".join(parts) != text or not 1 <= len(parts) <= 3:
        return [text]
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]


def target_name(text: str, where: str) -> Name:
    """Return the qualified name of a relation to be made.

    >>> str(target_name("archive.persons", "--into"))
    'archive.persons'
    """
    parts = split_name(text)
    if not all(parts) or "\0" in text:
        raise ParameterError(where, "must be a name, schema.name or catalog.schema.name", repr(text))
    return Name(*([""] * (3 - len(parts))), *parts)


def find_table(warehouse: Database, text: str) -> tuple[Name, bool] | None:
    """Look `text` up in the catalog: its qualified name and whether it is a table (not a view), or None.

    A name without a schema means the one in the current schema; the catalog decides, never a file or a variable.
    """
    parts = split_name(text)
    found = find_relation(warehouse, Name("", "", text))
    return found or (find_relation(warehouse, Name(*[""] * (3 - len(parts)), *parts)) if len(parts) > 1 else None)


def find_relation(warehouse: Database, name: Name) -> tuple[Name, bool] | None:
    """Look a qualified name up in the catalog: as it is spelled there and whether it is a table, or None."""
    mirror = _looked_at(warehouse, name)
    found = _relations(warehouse, name).get(name.table.lower())
    if found is None:
        return None
    relation, is_table = found
    return _reached(warehouse, relation), is_table and (mirror is None or mirror.is_table(relation))


def find_beside(warehouse: Database, names: Sequence[Name]) -> list[Name | None]:
    """Look tables or views of one schema up at once, as `find_relation` does one after the other."""
    _looked_at(warehouse, names[0])
    there = _relations(warehouse, names[0])
    found = [there.get(name.table.lower()) for name in names]
    return [one and _reached(warehouse, one[0]) for one in found]


def _looked_at(warehouse: Database, name: Name) -> Mirrors | None:
    """Return the server of a relation, if it is on one, which is asked for the tables of releases first."""
    catalog, schema, _ = warehouse.full(name)
    mirror = warehouse.mirrors.get(catalog.lower())
    if mirror:
        mirror.find(warehouse, schema)
    return mirror


def _relations(warehouse: Database, name: Name) -> dict[str, tuple[Name, bool]]:
    """Return the relations in the schema of a name, by theirs in small letters, and whether each is a table.

    Of a database that only this process can write to they stay until a statement changes something.
    """
    catalog, schema, _ = warehouse.full(name)

    def listed() -> dict[str, tuple[Name, bool]]:
        rows = warehouse.query("catalog", _LISTED, [catalog, schema])
        return {table.lower(): (Name(database, of, table), is_table) for database, of, table, is_table in rows}

    staged = catalog.lower() in map(str.lower, warehouse.stagings)
    if staged or catalog.lower() in warehouse.mirrors or kind_of(warehouse, catalog) != "duckdb":
        return listed()
    return warehouse.once(("relations", catalog.lower(), schema.lower()), listed)


def _reached(warehouse: Database, relation: Name) -> Name:
    """Return a relation as it was found, unless it is of a server that DuckDB's own extension reaches."""
    if relation.catalog.lower() not in warehouse.mirrors and kind_of(warehouse, relation.catalog) == postgres.KIND:
        raise InputError(
            str(relation), "a PostgreSQL server must be one that sqlmicro has connected to itself",
            "a database that DuckDB's own extension has attached", "Attach it with --attach NAME=postgres:…",
        )  # fmt: skip
    return relation


_LISTED = """SELECT database_name, schema_name, table_name, true FROM duckdb_tables()
WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2)
UNION ALL
SELECT database_name, schema_name, view_name, false FROM duckdb_views()
WHERE database_name <> 'system' AND NOT internal
  AND lower(database_name) = lower($1) AND lower(schema_name) = lower($2)"""


def tables_of(warehouse: Database, names: Sequence[Name]) -> set[str]:
    """Return which tables of one schema are there, by their names in lower case."""
    there = _relations(warehouse, names[0])
    return {name for name in (name.table.lower() for name in names) if there.get(name, (None, False))[1]}


def schema_exists(warehouse: Database, name: Name) -> bool:
    """Tell whether the schema of a qualified name exists; main is one that nobody can drop."""
    if name.schema == "main" and name.catalog == warehouse.catalog and kind_of(warehouse, name.catalog) == "duckdb":
        return True
    found = warehouse.query(
        "catalog",
        "SELECT count(*) FROM duckdb_schemas() "
        "WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2)",
        list(warehouse.full(name)[:2]),
    )
    return bool(found[0][0])


def free_name(warehouse: Database, wish: str) -> str:
    """Return `wish`, numbered if a database, schema, table or view is called so already."""
    taken = {str(row[0]).lower() for row in warehouse.query("catalog", _TAKEN)}
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    return name


def kind_of(warehouse: Database, catalog: str) -> str:
    """Return what kind of database a catalog is: duckdb, postgres, sqlite, mysql or ducklake.

    What is attached to a connection that we have opened nobody else can replace, so that it is asked for once.
    """
    if catalog.lower() in warehouse.mirrors:
        return postgres.KIND
    known = warehouse.kinds.get(catalog)
    if known is not None:
        return known
    found = warehouse.query(
        "catalog", "SELECT type FROM duckdb_databases() WHERE lower(database_name) = lower($1)", [catalog]
    )
    if found and warehouse.sealable:
        warehouse.kinds[catalog] = str(found[0][0])
    return str(found[0][0]) if found else "duckdb"


def has_attached(warehouse: Database, catalog: str) -> bool:
    """Tell whether a catalog is a database that was attached to this one on request."""
    return catalog.lower() in {name.lower() for name in warehouse.attached}


def file_of(warehouse: Database, catalog: str) -> str:
    """Return the path of an attached database, "" for the own one."""
    if catalog == warehouse.catalog:
        return ""
    found = warehouse.query(
        "catalog", "SELECT path FROM duckdb_databases() WHERE lower(database_name) = lower($1)", [catalog]
    )
    return str(found[0][0] or "") if found else ""


def table_labels(warehouse: Database) -> list[str]:
    """Return the tables of the database and of those attached to it, as `--table` names them; ours are left out."""
    rows = warehouse.query(
        "catalog",
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
        "WHERE NOT internal AND NOT temporary AND schema_name NOT IN ('sqlmicro', 'information_schema', 'pg_catalog') "
        "AND (database_name = $1 OR list_contains($2, database_name)) ORDER BY ALL",
        [warehouse.catalog, warehouse.attached],
    )
    made = _released(warehouse)
    labels = (label(warehouse, Name(*row)) for row in rows)
    return [found for found in labels if found not in made]


def label(warehouse: Database, name: Name) -> str:
    """Return how `--table` names a relation: without what goes without saying."""
    if name.catalog != warehouse.catalog:
        parts: tuple[str, ...] = name
    else:
        parts = (name.table,) if name.schema == "main" else (name.schema, name.table)
    if len(parts) == 1:
        return parts[0]
    return ".".join(part if re.fullmatch(r"\w+", part) else ident(part) for part in parts)


def _released(warehouse: Database) -> set[str]:
    """Return the tables of the database, and of those beside it, that are recorded as releases."""
    made: set[str] = set()
    for catalog in (warehouse.catalog, *warehouse.attached):
        releases = Name(catalog, "sqlmicro", "releases")
        if find_relation(warehouse, releases):
            rows = warehouse.query("catalog", "SELECT DISTINCT target FROM {{ r | ident }}", r=releases)
            made |= {str(target) for (target,) in rows}
    return made
