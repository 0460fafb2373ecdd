"""A release as a new table of a DuckDB database; the tables of other databases differ from it in what they override."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from sqlmicro.database import triggers
from sqlmicro.database.catalog import find_relation, schema_exists
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name, Sql
from sqlmicro.errors import InputError
from sqlmicro.publish import targets
from sqlmicro.publish.targets import SCHEMA, Statement, Target

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport


@dataclass(frozen=True)
class NewTable:
    """A table that is made, or made anew in place of another one with `overwrite`."""

    warehouse: DuckDBWarehouse = field(repr=False)
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

    def record_table(self, warehouse: DuckDBWarehouse, table: str) -> Name:
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
