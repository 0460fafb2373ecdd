"""How far the distribution of every column of a release is from that of the original."""

from __future__ import annotations

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import comparison, largest
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Found


@audit(
    "hellinger",
    needs=("original",),
    gate="max_hellinger",
    source="Hellinger (1909)",
    templates=("audit/values.sql", "audit/hellinger.sql"),
)
def hellinger(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest Hellinger distance between a nominal column before and after.

    Returns
    -------
    Found
        The value over the nominal columns both tables have, from 0 (alike) to 1 (no value in common), and `by_column`.
        A missing value counts as a value.
    """
    found = comparison(audited)
    if not found.nominal:
        return Found(None, reason="no nominal column is in both tables")
    return largest(dict(audited.warehouse.rows("audit/hellinger.sql", **found.of(found.nominal))))


@audit(
    "emd",
    needs=("original",),
    gate="max_emd",
    source="Vallender (1974)",
    templates=("audit/values.sql", "audit/earth_movers.sql"),
)
def earth_movers(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest Earth Mover's Distance between a numeric column before and after, in standard deviations.

    Returns
    -------
    Found
        The value over the numeric columns both tables have, and `by_column`: the area between the cumulated shares,
        over the standard deviation of the original. Missing values take no part.
    """
    found = comparison(audited)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    return largest(dict(audited.warehouse.rows("audit/earth_movers.sql", **found.of(found.numeric))))
