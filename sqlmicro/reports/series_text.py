"""The series of a database as text."""

from __future__ import annotations

from sqlmicro.history.series_list import SeriesList
from sqlmicro.reports.text import table


def series(report: SeriesList) -> str:
    """Return the series as a table."""
    if not report.series:
        return "no series is remembered"
    rows = [
        [one.series, one.source, one.target, f"{one.epoch:,}", f"{one.nights:,}", one.day or "changed by somebody",
         f"{one.persons:,}", f"{one.waiting:,}", f"{one.empty:,}"]
        for one in report.series
    ]  # fmt: skip
    header = ["series", "source", "target", "epoch", "nights", "last night", "seated", "waiting", "empty seats"]
    return table(rows, header, right=(3, 4, 6, 7, 8))
