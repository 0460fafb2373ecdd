"""Interval disclosure: how often the original value is near enough to the released one to be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import comparison, largest
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.options.params import Param


@dataclass(frozen=True)
class WithinSd(Detail):
    """The interval, and how many records are within it in every column."""

    in_all: float | None
    """The share of the records."""
    sd: float


@dataclass(frozen=True)
class WithinRanks(Detail):
    """The interval."""

    ranks: int


@audit(
    "interval-sd",
    needs=("original", "match"),
    gate="max_within_sd",
    source="Templ (2006), as in sdcMicro; Mateo-Sanz, Sebe & Domingo-Ferrer (2004)",
    templates=("audit/values.sql", "audit/within_sd.sql"),
)
def by_sd(
    audited: AuditedRelease,
    limit: float | None,
    *,
    sd: Annotated[float, Param("Interval disclosure: standard deviations around the released value.", min=0)] = 0.05,
) -> Found:
    """The share of records whose original value lies within some standard deviations of the released one.

    Returns
    -------
    Found
        The value is that of the column where it is largest; `by_column`, and `in_all`, the share of records for which
        it holds in all numeric columns at once (sdcMicro's dRisk). The standard deviation is that of the released
        column, which is what an attacker has.
    """
    found = comparison(audited, matched=True)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    rows = audited.warehouse.rows("audit/within_sd.sql", **found.of(found.numeric), sd=sd)
    shares = {name: within / records if records else None for name, within, records in rows}
    in_all = shares.pop(None)
    return largest(shares, WithinSd(in_all, sd))


@audit(
    "interval-ranks",
    needs=("original", "match"),
    gate="max_within_ranks",
    source="Domingo-Ferrer & Torra (2001)",
    templates=("audit/values.sql", "audit/within_ranks.sql"),
)
def by_rank(
    audited: AuditedRelease,
    limit: float | None,
    *,
    ranks: Annotated[int, Param("Interval disclosure: ranks around the released value.", min=0)] = 10,
) -> Found:
    """The share of records whose original value lies within some ranks of the released one.

    Returns
    -------
    Found
        The value is that of the column where it is largest, and `by_column`. Ranks are among the original values: the
        middle of the ranks of those that equal a value, between theirs where none does.
    """
    found = comparison(audited, matched=True)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    rows = audited.warehouse.rows("audit/within_ranks.sql", **found.of(found.numeric), ranks=ranks)
    return largest({name: within / records if records else None for name, within, records in rows}, WithinRanks(ranks))
