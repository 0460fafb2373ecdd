"""A release as a new table of a DuckDB database; the tables of other databases differ from it in what they override.

A release as a new table of an attached DuckLake, which has neither keys nor ENUM types.

A release as a new table of an attached MySQL database, which commits every CREATE TABLE and DROP TABLE at once.

A release of several tables, or one in place of a table, could not be taken back, and is refused. One new table is
dropped again when its audit fails, or anything else does.

A release as a new table of an attached SQLite file, which has no schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from sqlmicro.database import triggers
from sqlmicro.database.catalog import find_relation, schema_exists
from sqlmicro.database.templates import Name, Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.publish import targets
from sqlmicro.publish.targets import SCHEMA, Statement, Target
from sqlmicro.system.interrupts import uninterrupted

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport


@dataclass(frozen=True)
class NewTable:
    """A table that is made, or made anew in place of another one with `overwrite`."""

    warehouse: Database = field(repr=False)
    label: str
    name: Name
    overwrite: bool = False
    keeps: bool = False
    kind: ClassVar[Literal["table"]] = "table"
    path: ClassVar[None] = None
    place: ClassVar[None] = None
    has_enums: ClassVar[bool] = True
    purge: ClassVar[bool] = False
    widen: ClassVar[bool] = False

    def of_candidate(self, number: int) -> NewTable:
        """Return where a candidate goes that is kept: `<table>_candidate_N`."""
        behind = f"_candidate_{number}"
        name = self.name._replace(table=self.name.table + behind)
        return replace(self, label=self.label + behind, name=name, keeps=False)

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse a table that is there, or cannot be made."""
        if self.keeps:
            # Wherever candidates were kept before, there is a first one.
            self.of_candidate(1).check(run, worked_on, dry=dry)
        exists = self._existing(run)
        if exists == "a table" and self.overwrite:
            self._refuse_lost_triggers()
        targets.refuse_existing(run, self, "--into", exists, overwrite=self.overwrite, dry=dry)

    def _existing(self, run: Run) -> str:
        if self.name.schema.lower() == SCHEMA:
            raise InputError("--into", f"must not be in schema {SCHEMA}, which holds releases and audits", self.label)
        if self.name.schema and not schema_exists(self.warehouse, self.name):
            raise InputError("--into", f"schema {self.name.schema!r} must exist", "none", "Make it with CREATE SCHEMA")
        found = find_relation(self.warehouse, self.name)
        if found and found[0] == run.source.relation:
            must = "a release does not replace its own source this way"
            raise InputError("--into", must, repr(self.label), "Use --in-place")
        return "" if found is None else "a table" if found[1] else "a view"

    def _refuse_lost_triggers(self) -> None:
        found = find_relation(self.warehouse, self.name)
        names = triggers.on(self.warehouse, found[0]) if found else []
        if names:
            raise InputError(
                "--overwrite",
                "the table that is replaced must have no triggers, which would be gone with it",
                ", ".join(names),
                "Drop them, and make them again afterwards, or choose another name",
            )

    def check_together(self, targets: Sequence[Target]) -> None:
        """Do nothing: one transaction takes back as many tables as were made in it."""

    def check_types(self, run: Run) -> None:
        """Do nothing: a new table has whatever columns the release has."""

    @contextmanager
    def taken_back(self, targets: Sequence[Target]) -> Iterator[None]:
        """Leave it to the transaction."""
        yield

    def locking(self) -> Callable[[], None]:
        """Lock nothing: nobody knows of a new table."""
        return lambda: None

    def hold(self, run: Run) -> None:
        """Do nothing: nothing that was read is replaced."""

    def look_again(self, run: Run) -> None:
        """Do nothing: nobody sees the table before it is committed."""

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statement that makes the table."""
        verb = "CREATE OR REPLACE TABLE" if self.overwrite else "CREATE TABLE"
        return [(verb + " {{ target | ident }} AS\n{{ select }}", {"target": self.name, "select": select})]

    @property
    def published(self) -> Name:
        """The table."""
        return self.name

    def write(self, run: Run, select: Sql) -> None:
        """Make the table."""
        for text, names in self.statements(run, select):
            self.warehouse.execute("publish", text, **names)

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return a table in a schema of its own in the database of the release."""
        return Name(self.name.catalog, SCHEMA, table)

    def record_definition(self, text: str) -> str:
        """Return the definition as it is, which is DuckDB's."""
        return text

    def after_publishing(self, report: ReleaseReport) -> None:
        """Do nothing."""


def without_constraints(text: str) -> str:
    """Return the definition of a table for a database without keys of more than one kind, and without JSON.

    >>> without_constraints("CREATE TABLE t (id BIGINT PRIMARY KEY, parameters JSON)")
    'CREATE TABLE t (id BIGINT, parameters VARCHAR)'
    """
    return text.replace(" PRIMARY KEY", "").replace(" JSON", " VARCHAR")


def beside_release(release: Name, table: str) -> Name:
    """Return a table of records in the schema of the release, where there are no schemas, or they are databases."""
    return release._replace(table=f"{SCHEMA}_{table}")


@dataclass(frozen=True)
class DuckLakeTable(NewTable):
    """A table of a DuckLake."""

    has_enums: ClassVar[bool] = False

    def record_definition(self, text: str) -> str:
        """Return the definition without what a DuckLake lacks."""
        return without_constraints(text)


@dataclass(frozen=True)
class MySQLTable(NewTable):
    """A table of a MySQL database."""

    has_enums: ClassVar[bool] = False

    def check_together(self, targets: Sequence[Target]) -> None:
        """Refuse several tables, or one in place of another: they could not be taken back."""
        got = "several" if len(targets) > 1 or self.keeps else "--overwrite" if self.overwrite else ""
        if got:
            raise InputError(
                "--into",
                "must be one new table: MySQL commits each as it is made, and what fails could not be taken back",
                got,
                "Publish with --to FILE or into --db FILE, and copy it to MySQL from there",
            )

    @contextmanager
    def taken_back(self, targets: Sequence[Target]) -> Iterator[None]:
        """Drop the table that is published in the block if the block fails.

        Raises
        ------
        InputError
            When there is such a table already, or it could not be dropped.
        """
        self.check_together(targets)
        if find_relation(self.warehouse, self.name):
            raise InputError("--into", f"{self.label!r} must not exist yet", "a table", "Choose another name")
        try:
            yield
        except BaseException:
            # Ctrl-C during the commit is told after it: the release is there, and recorded.
            if not self.warehouse.committed:
                with uninterrupted():
                    self._drop()
            raise

    def _drop(self) -> None:
        try:
            self.warehouse.execute("publish", "DROP TABLE IF EXISTS {{ name | ident }}", name=self.name)
        except Exception:
            dropped = False
        else:
            dropped = True
        if not dropped:
            raise InputError(
                "--into",
                f"{self.label!r} must be dropped, because publishing failed",
                "a server that does not do it",
                "Drop it by hand: nothing says that it is anonymous",
            )

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return a table beside the release: the schemas of MySQL are databases of their own."""
        return beside_release(self.name, table)

    def record_definition(self, text: str) -> str:
        """Return the definition without what MySQL lacks."""
        return without_constraints(text)


@dataclass(frozen=True)
class SQLiteTable(NewTable):
    """A table of an SQLite file."""

    has_enums: ClassVar[bool] = False

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return a table beside the release."""
        return beside_release(self.name, table)

    def record_definition(self, text: str) -> str:
        """Return the definition without what SQLite lacks."""
        return without_constraints(text)
