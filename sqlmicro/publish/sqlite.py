"""A release as a new table of an attached SQLite file, which has no schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name
from sqlmicro.publish.new_table import NewTable, beside_release, without_constraints


@dataclass(frozen=True)
class SQLiteTable(NewTable):
    """A table of an SQLite file."""

    has_enums: ClassVar[bool] = False

    def record_table(self, warehouse: DuckDBWarehouse, table: str) -> Name:
        """Return a table beside the release."""
        return beside_release(self.name, table)

    def record_definition(self, text: str) -> str:
        """Return the definition without what SQLite lacks."""
        return without_constraints(text)
