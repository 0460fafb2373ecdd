"""Which series a database remembers, and in which state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.history import compared, remembered
from sqlmicro.history.remembered import Tables


@dataclass(frozen=True)
class SeriesRow:
    """A series as it is remembered."""

    series: str
    source: str
    target: str
    """Where its last night went."""
    epoch: int
    nights: int
    """Those of the epoch."""
    day: str
    """The last night."""
    release: int
    persons: int
    """Those who sit in a class."""
    waiting: int
    classes: int
    rows: int
    empty: int
    """Rows that nobody sits in."""
    changed: bool = False
    """Whether what it remembers was changed by somebody, so that nothing but its last night can be told."""


@dataclass(frozen=True)
class SeriesList:
    """The series that a database remembers, by name."""

    db: str
    series: list[SeriesRow]


def series_in(warehouse: Database, table: Tables) -> list[SeriesRow]:
    """Return the series that are remembered, by name."""
    return [_row(warehouse, table, name) for name in remembered.names(warehouse, table)]


def _row(warehouse: Database, table: Tables, name: str) -> SeriesRow:
    try:
        found = remembered.load(warehouse, table, name)
    except InputError:
        return _changed(warehouse, table, name)
    assert found is not None
    found = remembered.with_persons(found, remembered.everyone(warehouse, found))
    night, memory = found.night, found.memory
    seated, shown = memory.here & (memory.seat >= 0), found.last < 0
    size, classes = int(found.size[shown].sum()), int(shown.sum())
    if found.files:
        size, classes = int(found.files.before.sum()), int((found.files.before > 0).sum())
    elif not classes or found.measured.get(compared.NAME, {}).get("way") == compared.IN_PLACE:
        size = found.rows or int(seated.sum())
    return SeriesRow(
        name, night.source, night.target, night.epoch, night.night, str(date(1970, 1, 1) + timedelta(night.day)),
        night.release, int(seated.sum()), int((memory.here & ~seated).sum()), classes, size,
        0 if found.files else size - int(seated.sum()),
    )  # fmt: skip


def _changed(warehouse: Database, table: Tables, name: str) -> SeriesRow:
    """Return a series of which what it remembers is not as it was written."""
    night = remembered.last(warehouse, table, name)
    assert night is not None
    source, target = str(night.source or ""), str(night.target or "")
    return SeriesRow(name, source, target, night.epoch, 0, "", 0, 0, 0, 0, 0, 0, changed=True)
