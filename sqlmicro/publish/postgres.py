"""Tables of an attached PostgreSQL database: a new one, and one that is anonymized in place.

In place is one transaction: the table is locked against writers, compared with what was read from it, changed, audited
by reading it back, and recorded. The definition of the table stays: constraints, defaults, indexes, grants. What
forbids the change, or would lose or leak something, is refused beforehand (`postgres_checks`): triggers, for one.

The records are deleted and written anew, in an order that tells nothing. Where others refer to them, they are updated
instead, by their key, which stays: nothing cascades. What goes over the line is the server's own text of a value, so
that nothing is lost of a type that DuckDB does not have.

The rights that publishing needs on a PostgreSQL server: those that are missing are named before the work.

What is granted is asked of the server, which decides in the end: roles, owners and superusers are its own.

What PostgreSQL says of a table that is to be changed in place: what forbids it, and how it can be done.

What forbids the change, or would lose or leak something, is refused before any work. Looked at are the table and all
partitions and heirs below it, since a statement on the table reaches them.

The purge of a PostgreSQL table: the server writes it, and its statistics, into new files.

`VACUUM (FULL, ANALYZE)` writes a table and its indexes anew and replaces its statistics, which quote frequent values.
The dead rows of these are in `pg_statistic`, which is written anew too, where the user may do that. What is not reached
is told with every release (`NOT_ERASED`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn

from sqlmicro.database.mirror import Mirror, mirror_of
from sqlmicro.database.postgres import Member, Server, array, patient, quoted, server_name
from sqlmicro.database.templates import Name, Params, Sql, ident, statement
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure import purge as erased
from sqlmicro.erasure.purge import ServerPurge
from sqlmicro.errors import InputError, QueryError, SqlmicroError
from sqlmicro.publish.in_place import InPlace, refuse_triggers
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.targets import SCHEMA, Statement

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

_RECORDS = ("releases", "audits", "memory", "contents")
"""The tables that every release is recorded in."""
_OF_SCHEMA = """SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE'), pg_catalog.has_schema_privilege(n.oid, 'CREATE')
FROM pg_catalog.pg_namespace n WHERE n.nspname OPERATOR(pg_catalog.=) {{ schema | lit }}"""
_OF_TABLES = """SELECT c.relname::pg_catalog.text, pg_catalog.has_table_privilege(c.oid, 'SELECT'),
  pg_catalog.has_table_privilege(c.oid, 'INSERT'), pg_catalog.has_table_privilege(c.oid, 'UPDATE'),
  pg_catalog.has_table_privilege(c.oid, 'DELETE'), pg_catalog.pg_has_role(c.relowner, 'USAGE')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) {{ schema | lit }}
  AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p']::pg_catalog."char"[]) ORDER BY 1"""
_OF_DATABASE = """SELECT pg_catalog.has_database_privilege(d.oid, 'CREATE'),
  pg_catalog.has_database_privilege(d.oid, 'TEMPORARY'), d.datname::pg_catalog.text
FROM pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()"""
_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "ownership")


def of_new_table(server: Server, name: Name) -> list[str]:
    """Return the rights that are missing to make a table, or to make it anew."""
    missing = _of_schema(server, name.schema)
    there = {table: rights for table, *rights in server.ask(_OF_TABLES, schema=name.schema)}
    if name.table in there and not there[name.table][_RIGHTS.index("ownership")]:
        missing.append(f"ownership of {name.schema}.{name.table}")
    return missing + _of_records(server)


def of_table(server: Server, name: Name, needed: Sequence[str], *, temporary: bool) -> list[str]:
    """Return the rights that are missing to change the records of a table, by way of temporary tables or not."""
    there = {table: rights for table, *rights in server.ask(_OF_TABLES, schema=name.schema)}
    missing = [
        f"{right} ON {name.schema}.{name.table}"
        for right, given in zip(_RIGHTS, there.get(name.table, ()), strict=False)
        if right in needed and not given
    ]
    _, may, database = server.ask(_OF_DATABASE)[0]
    missing += [f"TEMPORARY ON DATABASE {database}"] if temporary and not may else []
    return missing + _of_records(server)


def refuse(missing: Sequence[str], where: str, notes: list[str], *, dry: bool) -> None:
    """Refuse to begin without rights; in a dry run they are only noted.

    Raises
    ------
    InputError
        With those that are missing.
    """
    if missing and dry:
        notes.append(f"publishing will need rights on the server: {', '.join(missing)}")
    elif missing:
        must = "publishing and recording a release must be allowed on the server"
        raise InputError(where, must, f"missing rights: {', '.join(missing)}", "Have them granted")


def _of_schema(server: Server, schema: str, *, makes: bool = True) -> list[str]:
    found = server.ask(_OF_SCHEMA, schema=schema)
    if not found:
        return []
    usage, create = found[0]
    needed = (("USAGE", usage), ("CREATE", create or not makes))
    return [f"{right} ON SCHEMA {schema}" for right, given in needed if not given]


def _of_records(server: Server) -> list[str]:
    """Return the rights that are missing to record a release, where others may have recorded some before."""
    if not server.ask(_OF_SCHEMA, schema=SCHEMA):
        create, _, database = server.ask(_OF_DATABASE)[0]
        return [] if create else [f"for schema {SCHEMA}, CREATE ON DATABASE {database}"]
    tables = server.ask(_OF_TABLES, schema=SCHEMA)
    makes = not {*_RECORDS} <= {name for name, *_ in tables}
    missing = _of_schema(server, SCHEMA, makes=makes)
    for name, select, insert, *_ in tables:
        needed = (("SELECT", select), ("INSERT", insert))
        missing += [f"{right} ON {SCHEMA}.{name}" for right, given in needed if not given]
    return missing


Way = Literal["update", "rejoin", "refill"]
"""How records are replaced: updated by their key; deleted and written anew, with what is kept as it is from the server
by their key; or deleted and written anew as a whole."""
# Whoever may create a function or an operator in a schema of the search path could have it called for one of the
# server's own that takes other types: everything is named with its schema.
_TABLES = """SELECT c.relkind::pg_catalog.text, pg_catalog.row_security_active(c.oid) AS secured,
  EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r
    WHERE r.ev_class OPERATOR(pg_catalog.=) c.oid AND r.rulename OPERATOR(pg_catalog.<>) '_RETURN') AS rules
FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) ANY ({{ members }})"""
_COLUMNS = """SELECT a.attrelid::pg_catalog.int8, a.attname::pg_catalog.text, a.attnotnull,
  a.attgenerated::pg_catalog.text OPERATOR(pg_catalog.<>) '' AS generated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid OPERATOR(pg_catalog.=) ANY ({{ members }})
  AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_UNIQUE = """SELECT x.indrelid::pg_catalog.int8, x.indexrelid::pg_catalog.regclass::pg_catalog.text,
  x.indisprimary, x.indisunique AND x.indimmediate AND x.indisvalid AS is_key,
  x.indexprs IS NOT NULL OR x.indpred IS NOT NULL AS partial,
  ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) x.indrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (x.indkey)
    ORDER BY a.attnum) AS names
FROM pg_catalog.pg_index x
WHERE x.indrelid OPERATOR(pg_catalog.=) ANY ({{ members }}) AND (x.indisunique OR x.indisexclusion)"""
_CHILDREN = """SELECT f.conrelid::pg_catalog.regclass::pg_catalog.text,
  ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) f.confrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (f.confkey)) AS names
FROM pg_catalog.pg_constraint f
WHERE f.contype OPERATOR(pg_catalog.=) 'f' AND f.confrelid OPERATOR(pg_catalog.=) ANY ({{ members }})"""
_COPIES = """WITH RECURSIVE reads AS (
  SELECT r.relation::pg_catalog.oid FROM pg_catalog.unnest({{ members }}) AS r(relation)
  UNION
  SELECT r.ev_class FROM reads JOIN pg_catalog.pg_depend d ON d.refobjid OPERATOR(pg_catalog.=) reads.relation
    AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
  JOIN pg_catalog.pg_rewrite r ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    AND r.oid OPERATOR(pg_catalog.=) d.objid)
SELECT c.oid::pg_catalog.regclass::pg_catalog.text
FROM reads JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) reads.relation
WHERE c.relkind OPERATOR(pg_catalog.=) 'm' ORDER BY 1"""
_ABOVE = """WITH RECURSIVE above AS (
  SELECT {{ table | lit }}::pg_catalog.regclass::pg_catalog.oid AS member
  UNION
  SELECT i.inhparent FROM above JOIN pg_catalog.pg_inherits i ON i.inhrelid OPERATOR(pg_catalog.=) above.member)
SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text, c.oid::pg_catalog.int8
FROM above JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) above.member
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.<>) {{ table | lit }}::pg_catalog.regclass ORDER BY 3"""


class Parts(NamedTuple):
    """The columns of a table by what becomes of them: they get other values, stay as they are, or are emptied."""

    used: Collection[str]
    kept: Collection[str]
    emptied: Collection[str]


@dataclass(frozen=True)
class Plan:
    """How the records of a table are replaced, and what must be known of it."""

    way: Way
    written: tuple[str, ...]
    """The columns that get values."""
    stay: tuple[str, ...]
    """The columns whose values never leave the server."""
    key: tuple[str, ...]
    """The columns that tell records apart, where they are needed."""
    notes: tuple[str, ...]


def plan(mirror: Mirror, relation: Name, parts: Parts) -> Plan:
    """Return how a table is changed in place; refuse one that cannot be.

    Raises
    ------
    InputError
        With the reason.
    """
    server, members = mirror.server, mirror.server.members(relation)
    oids = array(one.oid for one in members)
    own = next(one.oid for one in members if quoted(one.name) == quoted(relation))
    _check_tables(server.ask(_TABLES, members=oids))
    defined = server.ask(_COLUMNS, members=oids)
    generated = _check_columns(defined, own, parts)
    keys = _check_unique(server.ask(_UNIQUE, members=oids), own, parts)
    children = server.ask(_CHILDREN, members=oids)
    referred = {name for _, names in children for name in names}
    if moved := referred & {*parts.used, *parts.emptied}:
        _refuse("a column that other tables refer to must be kept", ", ".join(sorted(moved)))
    columns = [c.name for c in mirror.relations[relation].columns if c.name not in generated]
    lossy = {c.name for c in mirror.relations[relation].columns if c.is_lossy}
    kept = [name for name in columns if name in parts.kept]
    not_null = {name for oid, name, needed, _ in defined if oid == own and needed}
    fit = [key for key in keys if not set(key) & lossy and set(key) <= not_null and set(key) <= set(kept)]
    heirs = len(members) > 1 and all(one.kind == "r" for one in members)
    way: Way = "update" if children or heirs else "rejoin" if lossy & set(kept) else "refill"
    if way != "refill" and not fit:
        _refuse(
            "a table that others refer to, that has heirs, or that keeps a numeric without a precision must have a "
            "primary key, by which its records are found again",
            "none, or only one that is no key of such types",
        )
    key = fit[0] if way != "refill" else ()
    stay = [name for name in kept if name not in key and (way == "update" or name in lossy)]
    notes = [_order(children)] if way == "update" else []
    if copies := server.ask(_COPIES, members=array([*(one.oid for one in members), *above(mirror, relation).values()])):
        notes.append(f"materialized views hold the originals until they are refreshed: {_listed(copies)}")
    if generated:
        notes.append(f"the server computes anew, from what is released: {', '.join(sorted(generated))}")
    return Plan(way, tuple(name for name in columns if name not in stay), tuple(stay), tuple(key), tuple(notes))


def above(mirror: Mirror, relation: Name) -> dict[Name, int]:
    """Return the tables that a table is a partition or heir of, directly or not, with their numbers."""
    rows = mirror.server.ask(_ABOVE, table=quoted(relation))
    return {Name("", schema, table): int(oid) for schema, table, oid in rows}


def _check_tables(rows: Sequence[tuple[Any, ...]]) -> None:
    for kind, secured, rules in rows:
        if kind not in ("r", "p"):
            _refuse("the table and its partitions must be on this server", "a foreign table")
        if secured:
            _refuse("every record must be seen and changed", "a table with row security that holds for this user")
        if rules:
            _refuse("the table must have no rules", "at least one")


def _check_columns(rows: Sequence[tuple[Any, ...]], own: int, parts: Parts) -> set[str]:
    """Refuse columns that cannot become what they are to; return those that the server computes."""
    known = {name for oid, name, _, _ in rows if oid == own}
    unknown = {name for _, name, _, _ in rows} - known
    if unknown:
        _refuse("tables that inherit from it must have no columns of their own", ", ".join(sorted(unknown)))
    generated = {name for _, name, _, computed in rows if computed}
    if changed := generated - set(parts.kept):
        _refuse("a generated column is kept, and computed anew by the server", ", ".join(sorted(changed)))
    if forbidden := {name for _, name, not_null, _ in rows if not_null and name in parts.emptied}:
        _refuse("a dropped column is emptied, which NOT NULL forbids", ", ".join(sorted(forbidden)))
    return generated


def _check_unique(rows: Sequence[tuple[Any, ...]], own: int, parts: Parts) -> list[list[str]]:
    """Refuse what must stay distinct and would not; return the keys of the table, the primary one first."""
    for _, index, _, _, is_partial, names in rows:
        if is_partial:
            _refuse("the table must have no unique index on an expression or on some of its records", index)
        if changed := set(names) & set(parts.used):
            _refuse("no column of a PRIMARY KEY, UNIQUE or EXCLUDE can be anonymized", ", ".join(sorted(changed)))
    keys = [(not primary, list(names)) for oid, _, primary, is_key, _, names in rows if oid == own and is_key]
    return [names for _, names in sorted(keys)]


def _order(children: Sequence[tuple[Any, ...]]) -> str:
    why = f"other tables refer to it ({_listed(children)})" if children else "others inherit from it"
    return f"the records were updated, since {why}: their order in the table is that of the originals"


def _listed(rows: Iterable[tuple[Any, ...]]) -> str:
    return ", ".join(sorted({str(row[0]) for row in rows}))


def _refuse(must: str, got: str) -> NoReturn:
    raise InputError("--in-place", must, got, "Use --into NAME, or --keep or --drop the column")


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
_PURGE_PATIENCE = 30
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
    with patient(server, _PURGE_PATIENCE):
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


_PATIENCE = "30s"
_RELEASE, _KEPT = Name("", "pg_temp", "sqlmicro_release"), Name("", "pg_temp", "sqlmicro_kept")


@dataclass(frozen=True)
class PostgresTable(NewTable):
    """A new table."""

    has_enums: ClassVar[bool] = False

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table that is there, or that this user may not make."""
        super().check(run, worked_on, dry=dry)
        missing = of_new_table(mirror_of(self.warehouse, self.name).server, self.name)
        refuse(missing, "--into", run.log.notes, dry=dry)

    def locking(self) -> Callable[[], None]:
        """Begin the transaction of the server; nobody knows of a new table."""
        return partial(mirror_of(self.warehouse, self.name).begin, self.warehouse)

    def write(self, run: Run, select: Sql) -> None:
        """Make the table on the server, and read it back."""
        for text, names in self.statements(run, select):
            self.warehouse.log_only("publish", text, **names)
        mirror_of(self.warehouse, self.name).make(self.warehouse, self.name, select, replacing=self.overwrite)


@dataclass(frozen=True)
class PostgresInPlace(InPlace):
    """A table whose records are replaced; with `purge` the server writes it into new files afterwards."""

    on_server: ClassVar[bool] = True

    @property
    def mirror(self) -> Mirror:
        """The server."""
        return mirror_of(self.warehouse, self.name)

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table that cannot be changed in place."""
        refuse_triggers(self.warehouse, self.name)
        done = self._plan(run, worked_on)
        run.log.notes += done.notes
        needed, temporary = ("UPDATE",) if done.way == "update" else ("INSERT", "DELETE"), done.way != "refill"
        missing = of_table(self.mirror.server, self.name, needed, temporary=temporary)
        refuse(missing, "--in-place", run.log.notes, dry=dry)

    def _plan(self, run: Run, worked_on: Collection[Column]) -> Plan:
        used = {column.name for column in worked_on}
        emptied = {column.name for column in run.roles.dropped}
        kept = {column.name for column in run.source.columns} - used - emptied
        return plan(self.mirror, self.name, Parts(used, kept, emptied))

    def locking(self) -> Callable[[], None]:
        """Lock the table against writers until the transaction ends."""
        return partial(lock, self.warehouse, self.name)

    def hold(self, run: Run) -> None:
        """Make sure that the table is as the run has read it: nobody else can write to it by now."""
        self.mirror.learn(self.warehouse, self.name)
        self.mirror.read(self.warehouse, self.name, again=True)
        super().hold(run)

    def look_again(self, run: Run) -> None:
        """Do nothing: the server lets nobody else write to a locked table."""

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return what is done to the table, as the log has it; over the line go the values of the SELECT."""
        done = self._plan(run, run.quasi)
        if done.way == "refill":
            return super().statements(run, select)
        replaced = _Replaced(self.name, done)
        release = Sql(f"(\n{_with_nulls(done, run, select)})")
        if done.way == "update":
            return [replaced.updating(release)]
        return [replaced.keeping(), replaced.emptying(), replaced.rejoining(release)]

    def write(self, run: Run, select: Sql) -> None:
        """Replace the records on the server, and read them back."""
        for text, names in self.statements(run, select):
            self.warehouse.log_only("publish", text, **names)
        done = self._plan(run, run.quasi)
        replaced = _Replaced(self.name, done)
        values = _with_nulls(done, run, select)
        if done.way == "refill":
            self._tell(replaced.emptying())
            self._fill(replaced, server_name(self.name), values)
        else:
            self._by_key(replaced, values)
        self.mirror.read(self.warehouse, self.name, again=True)

    def _by_key(self, replaced: _Replaced, select: Sql) -> None:
        counted = "SELECT count(*), count(DISTINCT ({{ key | idents }})) FROM {{ t | ident }}"
        ((before, keys),) = self.warehouse.query("publish", counted, t=self.name, key=replaced.done.key)
        self._tell(replaced.staging())
        sent = self._fill(replaced, _RELEASE, select)
        if replaced.done.way == "update":
            changed = self._tell(replaced.updating(ident(_RELEASE)))
        else:
            self._tell(replaced.keeping())
            self._tell(replaced.emptying())
            text, names = replaced.rejoining(ident(_RELEASE))
            changed = self._tell((text + " ORDER BY r.ctid", names))
            self._tell(("DROP TABLE {{ kept | ident }}", {"kept": _KEPT}))
        self._tell(("DROP TABLE {{ release | ident }}", {"release": _RELEASE}))
        if changed != sent or keys != before or (replaced.done.way == "update" and sent != before):
            raise InputError(
                "--in-place", "each record must be found again by its key, and none left out where others refer to it",
                f"{before:,} with {keys:,} keys, {sent:,} released, {changed:,} found", "Use --into NAME",
            )  # fmt: skip

    def _fill(self, replaced: _Replaced, table: Name, select: Sql) -> int:
        kinds = {column.name: column.kind for column in self.mirror.relations[self.name].columns}
        sent = replaced.done.written
        texts = self.mirror.text(self.warehouse, select, [kinds[name] for name in sent])
        return self.mirror.server.fill("publish", ident(table), sent, texts)

    def _tell(self, told: Statement) -> int:
        return self.mirror.server.tell("publish", told[0], **told[1])

    def after_publishing(self, report: ReleaseReport) -> None:
        """Purge, and write into the report whether that was done, and why not."""
        stays, dry = stays_readable(self.mirror, self.name), report.dry_run
        made = erased.after_publishing(lambda: purge(self.mirror, self.name), stays, dry=dry, wanted=self.purge)
        report.purged(made, () if dry else made.purge.not_erased if made.purge else NOT_ERASED)


@dataclass(frozen=True)
class _Replaced:
    """The statements that replace the records of a table by their key; `release` is a table or a SELECT in brackets."""

    name: Name
    done: Plan

    def _names(self, **more: object) -> Params:
        table = server_name(self.name)
        return {"table": table, "key": self.done.key, "new": self.done.written, "stay": self.done.stay, **more}

    def emptying(self) -> Statement:
        """Return what deletes all records."""
        return "DELETE FROM {{ table | ident }}", {"table": server_name(self.name)}

    def staging(self) -> Statement:
        """Return what makes a table of the session for the release, with the types of the table."""
        text = (
            "CREATE TEMPORARY TABLE {{ made | ident }} ON COMMIT DROP AS "
            "SELECT {{ new | idents }} FROM {{ table | ident }} WITH NO DATA"
        )
        return text, self._names(made=_RELEASE.table)

    def keeping(self) -> Statement:
        """Return what sets aside the values that stay as they are, in a table of the session."""
        text = (
            "CREATE TEMPORARY TABLE {{ made | ident }} ON COMMIT DROP AS "
            'SELECT {{ key | idents }}{{ stay | listed(", {}") }} FROM {{ table | ident }}'
        )
        return text, self._names(made=_KEPT.table)

    def rejoining(self, release: Sql) -> Statement:
        """Return what writes the release, in its order, together with the values that were set aside."""
        text = (
            'INSERT INTO {{ table | ident }} ({{ new | idents }}{{ stay | listed(", {}") }}) OVERRIDING SYSTEM VALUE '
            'SELECT {{ new | listed("r.{}") }}{{ stay | listed(", k.{}") }} '
            "FROM {{ release }} AS r JOIN {{ kept | ident }} AS k ON true"
            "{% for k in key %} AND k.{{ k | ident }} OPERATOR(pg_catalog.=) r.{{ k | ident }}{% endfor %}"
        )
        return text, self._names(release=release, kept=_KEPT)

    def updating(self, release: Sql) -> Statement:
        """Return what gives the records other values; those that are kept are not touched, nor is the key."""
        text = (
            'UPDATE {{ table | ident }} AS t SET {{ given | listed("{} = r.{}") }} FROM {{ release }} AS r WHERE true'
            "{% for k in key %} AND t.{{ k | ident }} OPERATOR(pg_catalog.=) r.{{ k | ident }}{% endfor %}"
        )
        given = [name for name in self.done.written if name not in self.done.key]
        return text, self._names(release=release, given=given)


def _with_nulls(done: Plan, run: Run, select: Sql) -> Sql:
    """Return the SELECT of the columns that are written: what is dropped is NULL, not the default."""
    released = {column.name for column in run.roles.released}
    text = (
        "SELECT {% for c in columns %}{% if c not in released %}NULL AS {% endif %}{{ c | ident }}"
        "{% if not loop.last %}, {% endif %}{% endfor %} FROM (\n{{ select }})"
    )
    return statement(text, columns=done.written, released=released, select=select)


def lock(warehouse: Database, relation: Name) -> None:
    """Begin the transaction of the server, and lock a table against writers until it ends.

    The locks come before anything is read: the snapshot of the transaction then has all that others have committed.

    Raises
    ------
    InputError
        When another transaction holds the table. Nothing was written.
    """
    mirror, held = mirror_of(warehouse, relation), False
    mirror.begin(warehouse)
    try:
        mirror.server.tell("publish", "SET LOCAL lock_timeout = {{ wait | lit }}", wait=_PATIENCE)
        mirror.server.tell("publish", "LOCK TABLE {{ t | ident }} IN EXCLUSIVE MODE", t=server_name(relation))
    except (InputError, QueryError):
        held = True
    if held:
        raise InputError(
            "--in-place",
            f"{str(relation)!r} must be free to be locked, and you must be allowed to change it",
            f"no lock within {_PATIENCE}",
            "Nothing was changed. Wait for the other transactions, or ask for the rights",
        )
