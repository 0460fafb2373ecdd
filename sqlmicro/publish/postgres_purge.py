"""The purge of a PostgreSQL table: the server writes it, and its statistics, into new files.

`VACUUM (FULL, ANALYZE)` writes a table and its indexes anew and replaces its statistics, which quote frequent values.
The dead rows of these are in `pg_statistic`, which is written anew too, where the user may do that. What is not reached
is told with every release (`NOT_ERASED`).
"""

from __future__ import annotations

import time

from sqlmicro.database.mirror import Mirror
from sqlmicro.database.postgres import Member, Server, array, patient, quoted, server_name
from sqlmicro.database.templates import Name, ident, statement
from sqlmicro.erasure.purge import ServerPurge
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.publish.postgres_checks import above

_LOG = (
    "the original records are still in the write-ahead log (WAL) until its segments are recycled, and in everything "
    "made from it or before: archived WAL, replicas, base backups, dumps, snapshots of the disk"
)
_ELSEWHERE = "values may be in the log of the server, and in blocks the disk has freed but not yet overwritten"
_CATALOG = (
    "what the catalog of the server quotes stays, and is not compared with records: comments, views, functions, "
    "checks, defaults, labels of ENUM types"
)
_STATISTICS = (
    "values that were frequent are in dead rows of pg_statistic until a superuser runs: VACUUM (FULL) pg_statistic, "
    "pg_statistic_ext_data"
)
NOT_ERASED = (_LOG, _ELSEWHERE, _CATALOG, _STATISTICS)
"""What a release in place leaves where nobody has purged."""
_PATIENCE = 30
_CATALOGS = (Name("", "pg_catalog", "pg_statistic"), Name("", "pg_catalog", "pg_statistic_ext_data"))
_FILES = """SELECT c.oid::pg_catalog.int8, pg_catalog.pg_relation_filenode(c.oid)::pg_catalog.int8
FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) ANY ({{ members }}) ORDER BY 1"""
_FILE = "SELECT pg_catalog.pg_relation_filenode({{ table | lit }}::pg_catalog.regclass)::pg_catalog.int8"
_DEAD = """SELECT coalesce(sum(pg_catalog.pg_stat_get_dead_tuples(c.oid)), 0)::pg_catalog.int8
FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) ANY ({{ members }})"""
_CAN_COUNT = "SELECT pg_catalog.to_regprocedure('pg_catalog.pg_stat_force_next_flush()') IS NOT NULL"
_COUNT = "SELECT pg_catalog.pg_stat_force_next_flush()"
_OWNED = """SELECT c.oid::pg_catalog.int8 FROM pg_catalog.pg_class c
WHERE c.oid OPERATOR(pg_catalog.=) ANY ({{ members }}) AND pg_catalog.pg_has_role(c.relowner, 'USAGE')"""
_VACUUM = "VACUUM (FULL, ANALYZE) {{ t | ident }}"


def purge(mirror: Mirror, relation: Name) -> ServerPurge:
    """Have the server write the table into new files, without the replaced records.

    Returns
    -------
    ServerPurge

    Raises
    ------
    SqlmicroError
        When the server refuses, does nothing since the table belongs to somebody else, or keeps the replaced records
        for a transaction that can still see them.
    """
    started, server = time.time(), mirror.server
    stored = _stored(mirror, relation)
    members = array(one.oid for one in stored)
    _count(server)
    before = server.ask(_FILES, members=members)
    with patient(server, _PATIENCE):
        for one in stored:
            server.tell("purge", _VACUUM, t=one.name)
        after = server.ask(_FILES, members=members)
        if set(before) & set(after):
            raise InputError(
                "purge",
                "only the owner of a table can vacuum it",
                "another user",
                f"Have its owner run: {_way(stored)}",
            )
        if dead := server.ask(_DEAD, members=members)[0][0]:
            raise InputError(
                "purge", "no transaction may be open that can still see the replaced records",
                f"{dead:,} records that the server keeps for one", f"When it has ended, run: {_way(stored)}",
            )  # fmt: skip
        left = _analyzed_above(mirror, relation)
        left += [] if _statistics(mirror) else [_STATISTICS]
    return ServerPurge([_LOG, _ELSEWHERE, _CATALOG, *left], round(time.time() - started, 3))


def _count(server: Server) -> None:
    """Have the server count what this session has deleted: what it has not yet, ANALYZE takes off the dead records."""
    if server.ask(_CAN_COUNT)[0][0]:
        server.ask(_COUNT)
    else:  # before PostgreSQL 15 it does so with the next statement after a second
        time.sleep(1.1)
        server.ask(_CAN_COUNT)


def _stored(mirror: Mirror, relation: Name) -> list[Member]:
    """Return the tables that have files: a partitioned one has none of its own."""
    return [one for one in mirror.server.members(relation) if one.kind == "r"]


def _analyzed_above(mirror: Mirror, relation: Name) -> list[str]:
    """Replace the statistics that tables have of all their partitions and heirs; return what could not be."""
    whole = {one.name: one.oid for one in mirror.server.members(relation) if one.kind == "p"} | above(mirror, relation)
    owned = {int(oid) for (oid,) in mirror.server.ask(_OWNED, members=array(whole.values()))}
    for name in (name for name, oid in whole.items() if oid in owned):
        mirror.server.tell("purge", "ANALYZE {{ t | ident }}", t=name)
    return [
        f"the statistics of {name} quote frequent values until its owner runs: ANALYZE {ident(name)}"
        for name, oid in whole.items() if oid not in owned
    ]  # fmt: skip


def _statistics(mirror: Mirror) -> bool:
    """Write the catalogs of statistics into new files, without dead rows; tell whether that could be done."""
    server = mirror.server
    for catalog in _CATALOGS:
        before = server.ask(_FILE, table=quoted(catalog))
        try:
            server.tell("purge", "VACUUM (FULL) {{ t | ident }}", t=catalog)
        except SqlmicroError:
            return False
        if server.ask(_FILE, table=quoted(catalog)) == before:
            return False
    return True


def _way(stored: list[Member]) -> str:
    return "; ".join(str(statement(_VACUUM, t=server_name(one.name))) for one in stored)


def stays_readable(mirror: Mirror, relation: Name) -> str:
    """Say until when replaced values can be read in the files of the server."""
    return f"the replaced values stay readable in the files of the server until: {_way(_stored(mirror, relation))}"
