"""Missing values: how many a release has more or fewer of than the original."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import NothingToMeasure, audit
from sqlmicro.audits.row import Detail, Found


@dataclass(frozen=True)
class BeforeAfter:
    """A number of records, before and after."""

    before: int
    after: int


@dataclass(frozen=True)
class MissingRates(Detail):
    """How many records lack a value of each column that lacks some, and how many records there are."""

    by_column: dict[str, BeforeAfter]
    records: BeforeAfter


@audit(
    "missing-rate",
    needs=("original",),
    gate="max_missing_change",
    source="Little & Rubin (2002)",
    templates=("audit/missing_rates.sql",),
)
def missing_rate(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest change of the share of missing values in a column.

    Returns
    -------
    Found
        The value over the columns both tables have, from 0 (each lacks as many of its values as before) to 1;
        `by_column`, with the records that have none and all records, before and after.
    """
    columns = audited.shared
    if audited.original is None or not columns:
        raise NothingToMeasure("audit, --original", "must have columns in common with the release", "none")
    row = audited.warehouse.record(
        "audit/missing_rates.sql",
        original=audited.original.relation,
        released=audited.release.relation,
        columns=columns,
    )
    records = BeforeAfter(int(row["records_before"]), int(row["records_after"]))
    if not (records.before and records.after):
        raise NothingToMeasure("audit, --original", "must have records, and so must the release", "none")
    by_column = {
        column.name: BeforeAfter(
            records.before - int(row[f"present_before_{i}"]), records.after - int(row[f"present_after_{i}"])
        )
        for i, column in enumerate(columns, 1)
    }
    change = max(abs(found.after / records.after - found.before / records.before) for found in by_column.values())
    lacking = {name: found for name, found in by_column.items() if found.before or found.after}
    return Found(change, tuple(column.name for column in columns), MissingRates(lacking, records))
