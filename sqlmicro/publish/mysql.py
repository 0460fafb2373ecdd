"""A release as a new table of an attached MySQL database, which commits every CREATE TABLE and DROP TABLE at once.

A release of several tables, or one in place of a table, could not be taken back, and is refused. One new table is
dropped again when its audit fails, or anything else does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from sqlmicro.database.catalog import find_relation
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.publish.new_table import NewTable, beside_release, without_constraints
from sqlmicro.publish.targets import Target
from sqlmicro.system.interrupts import uninterrupted


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

    def record_table(self, warehouse: DuckDBWarehouse, table: str) -> Name:
        """Return a table beside the release: the schemas of MySQL are databases of their own."""
        return beside_release(self.name, table)

    def record_definition(self, text: str) -> str:
        """Return the definition without what MySQL lacks."""
        return without_constraints(text)
