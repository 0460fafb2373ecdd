"""Why a release is at risk: what every quasi-identifier adds to it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.k_anonymity import sizes_of
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found


@dataclass(frozen=True)
class Without:
    """What remains at risk without a column."""

    k: int
    uniques: int
    average_risk: float


@dataclass(frozen=True)
class Contribution(Detail):
    """The column that adds most, and what remains without each."""

    column: str
    without: dict[str, Without]


@audit(
    "contribution",
    needs=("quasi",),
    gate="",
    source="Hundepool et al. (2012)",
    templates=("audit/cells.sql", "audit/merged_cells.sql", "audit/cell_sizes.sql"),
)
def contribution(audited: AuditedRelease, limit: float | None) -> Found:
    """Which quasi-identifier, dropped or coarsened, helps most: what remains at risk without each.

    Returns
    -------
    Found
        The value is the largest share of the average prosecutor risk that one column accounts for, from 0 to 1, and
        `column` that column; `without` has for each the k, the sample uniques and the average risk without it.

    Notes
    -----
    The average risk is the mean of 1/f over the records. One GROUP BY of the records and one of the classes for each
    column; where persons are counted or NULL is not a value of its own, one of the records for each column.
    """
    sizes = sizes_of(audited)
    if not sizes.records:
        return Found(None, reason="there are no records")
    before = sizes.average_risk
    without = {}
    for column in audited.quasi:
        left = sizes_of(audited.over(c for c in audited.quasi if c != column))
        without[column.name] = Without(left.k, left.below(2)[1], left.average_risk)
    most = min(without, key=lambda name: without[name].average_risk)
    return Found(1 - without[most].average_risk / before, detail=Contribution(most, without))
