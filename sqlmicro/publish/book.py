"""The ledger of a release, wherever it is kept, and what the release puts into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name, Select
from sqlmicro.history.union import Staged
from sqlmicro.publish.targets import Target


@dataclass
class Continued:
    """A night of a series where its ledger is: what it changes there, and the rows of every published combination."""

    changed: Mapping[str, Name | Select]
    rows: Name | Select | None
    """None where their number promises nothing."""
    steps: Name | Select | None = None
    """Of those combinations that have other rows than in the night before, once these were compared."""


@dataclass(frozen=True)
class Book:
    """Where the ledger of a release is, and its classes there; by default beside the release."""

    warehouse: DuckDBWarehouse
    target: Target
    told: Staged | None
    """None where no k of records was promised."""
    place: str
    """Where the release goes."""
    night: Continued | None = None
    """What a series changes."""

    def table(self, name: str) -> Name:
        """Return one of its tables."""
        return self.target.record_table(self.warehouse, name)
