"""Tables of an attached PostgreSQL database: a new one, and one that is anonymized in place.

In place is one transaction: the table is locked against writers, compared with what was read from it, changed, audited
by reading it back, and recorded. The definition of the table stays: constraints, defaults, indexes, grants. What
forbids the change, or would lose or leak something, is refused beforehand (`postgres_checks`): triggers, for one.

The records are deleted and written anew, in an order that tells nothing. Where others refer to them, they are updated
instead, by their key, which stays: nothing cascades. What goes over the line is the server's own text of a value, so
that nothing is lost of a type that DuckDB does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.mirror import Mirror, mirror_of
from sqlmicro.database.postgres import server_name
from sqlmicro.database.templates import Name, Params, Sql, ident, statement
from sqlmicro.erasure import purge as erased
from sqlmicro.errors import InputError, QueryError
from sqlmicro.publish import postgres_rights
from sqlmicro.publish.in_place import InPlace, refuse_triggers
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.postgres_checks import Parts, Plan, plan
from sqlmicro.publish.postgres_purge import NOT_ERASED, purge, stays_readable
from sqlmicro.publish.targets import Statement

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

_PATIENCE = "30s"
_RELEASE, _KEPT = Name("", "pg_temp", "sqlmicro_release"), Name("", "pg_temp", "sqlmicro_kept")


@dataclass(frozen=True)
class PostgresTable(NewTable):
    """A new table."""

    has_enums: ClassVar[bool] = False

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table that is there, or that this user may not make."""
        super().check(run, worked_on, dry=dry)
        missing = postgres_rights.of_new_table(mirror_of(self.warehouse, self.name).server, self.name)
        postgres_rights.refuse(missing, "--into", run.notes, dry=dry)

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
        run.notes += done.notes
        needed, temporary = ("UPDATE",) if done.way == "update" else ("INSERT", "DELETE"), done.way != "refill"
        missing = postgres_rights.of_table(self.mirror.server, self.name, needed, temporary=temporary)
        postgres_rights.refuse(missing, "--in-place", run.notes, dry=dry)

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


def lock(warehouse: DuckDBWarehouse, relation: Name) -> None:
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
