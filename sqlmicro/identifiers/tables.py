"""The tables of a warehouse, profiled one batch after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlmicro.database.columns import Column, ColumnProfile
from sqlmicro.database.source import Source
from sqlmicro.database.typed_columns import estimated_columns, profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers import scan

MOST_VALUES = 100
"""How many distinct values of a column are looked at, where there are thousands of columns."""
_BATCH = 800
"""Columns that are looked at together, or those of one table: it takes long for every table, and memory for each."""
_LARGE = 100_000
"""Rows above which distinct values are estimated."""


@dataclass(frozen=True)
class TableProfile:
    """A table of a warehouse, and what is known of its columns."""

    source: Source
    profiles: tuple[ColumnProfile, ...]
    primary: tuple[str, ...] = ()
    """The columns of its PRIMARY KEY."""

    @property
    def name(self) -> str:
        """How the table is named in a job file."""
        return self.source.label

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.profiles[0].rows if self.profiles else 0

    def of(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(found for found in self.profiles if found.column.name == name)


def unique(profile: ColumnProfile) -> bool:
    """Tell whether every row has a value of its own in a column."""
    return profile.rows > 0 and profile.nulls == 0 and profile.distinct == profile.rows


def profiled(
    warehouse: Warehouse, sources: Sequence[Source], primary: dict[str, tuple[str, ...]], region: str | None
) -> Iterator[TableProfile]:
    """Yield the profile of every table."""
    batch: list[Source] = []
    for source in sources:
        if batch and sum(len(one.columns) for one in (*batch, source)) > _BATCH:
            yield from _profiled(warehouse, batch, primary, region)
            batch = []
        batch.append(source)
    if batch:
        yield from _profiled(warehouse, batch, primary, region)


def _profiled(
    warehouse: Warehouse, sources: Sequence[Source], primary: dict[str, tuple[str, ...]], region: str | None
) -> Iterator[TableProfile]:
    tables: list[tuple[Source, Sequence[Column]]] = [(source, source.columns) for source in sources]
    seen = scan.seen_together(warehouse, tables, region, MOST_VALUES)
    for source, found in zip(sources, seen, strict=True):
        large = warehouse.count(source.relation) > _LARGE
        profiles = (estimated_columns if large else profile_columns)(warehouse, source)
        known = tuple(replace(profile, seen=found[profile.column]) for profile in profiles)
        yield TableProfile(source, known, primary.get(source.label, ()))
