"""Information loss: how far the released values are from the original ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlmicro.audits.comparison import comparison
from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.subject import Subject
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse


def measure(
    warehouse: Warehouse, original: Name, released: Name, columns: Sequence[Column], as_numeric: Collection[Column]
) -> dict[str, Any]:
    """Return IL of the numeric columns together and each, and the share of values changed in the others.

    Parameters
    ----------
    warehouse : Warehouse
        Where both relations are.
    original, released : Name
        Relations with row_id and the columns.
    columns : sequence of Column
        The columns that were worked on.
    as_numeric : collection of Column
        Those of them that were treated as numeric.

    Returns
    -------
    dict
        `IL` in percent (None without a numeric column that varies), `IL_by_column` in percent, `changed_by_column` as
        shares of the records.

    Notes
    -----
    IL = 100 SSE/SST on standardised columns: each column's SSE and SST are divided by its variance, so that every
    column weighs the same; a constant column contributes 0 (Domingo-Ferrer & Mateo-Sanz, 2002).
    """
    numeric = [column for column in columns if column in as_numeric]
    nominal = [column for column in columns if column not in as_numeric]
    by_column: dict[str, float] = {}
    sse_total = sst_total = 0.0
    if numeric:
        for name, sse, sst in warehouse.rows(
            "audit/information_loss.sql", original=original, released=released, columns=numeric
        ):
            by_column[name] = 100 * sse / sst if sst > 0 else 0.0
            if sst > 0:
                sse_total, sst_total = sse_total + sse / sst, sst_total + 1
    changed: dict[str, float] = {}
    if nominal:
        for name, count, records in warehouse.rows(
            "audit/values_changed.sql", original=original, released=released, columns=nominal
        ):
            changed[name] = count / records if records else 0.0
    return {
        "IL": 100 * sse_total / sst_total if sst_total else None,
        "IL_by_column": by_column,
        "changed_by_column": changed,
    }


@audit(
    "information-loss",
    needs=("original", "match"),
    gate="max_il",
    source="Domingo-Ferrer & Mateo-Sanz (2002)",
    templates=("audit/values.sql", "audit/information_loss.sql", "audit/values_changed.sql"),
)
def information_loss(subject: Subject, limit: float | None) -> Found:
    """IL: how far the released values are from the original ones, in percent of the variation.

    Returns
    -------
    Found
        The value is IL = 100 SSE/SST over the standardised numeric columns; `by_column`, and `changed`, the share of
        records whose value differs in each nominal column.
    """
    found = comparison(subject, matched=True)
    columns = [*found.numeric, *found.nominal]
    losses = measure(subject.warehouse, found.original, found.released, columns, found.numeric)
    detail = {"by_column": losses["IL_by_column"], "changed": losses["changed_by_column"]}
    if losses["IL"] is None:
        detail["reason"] = "no numeric column varies"
    return Found(losses["IL"], tuple(column.name for column in found.numeric), detail)


@audit(
    "il1s",
    needs=("original", "match"),
    gate="max_il1s",
    source="Mateo-Sanz, Sebe & Domingo-Ferrer (2004)",
    templates=("audit/values.sql", "audit/distances_per_value.sql"),
)
def il1s(subject: Subject, limit: float | None) -> Found:
    """IL1s: the mean distance of a released value from the original one, in sqrt(2) standard deviations.

    Returns
    -------
    Found
        The value is the mean of |x - y|/(sqrt(2) sd) over all values present in both; `by_column`, and `total`, the sum
        that sdcMicro gives.
    """
    found = comparison(subject, matched=True)
    if not found.numeric:
        return Found(None, detail={"reason": "no numeric column is in both tables"})
    rows = subject.warehouse.rows("audit/distances_per_value.sql", **found.of(found.numeric))
    total, values = sum(total for _, total, _ in rows), sum(records for _, _, records in rows)
    names = tuple(name for name, _, _ in rows)
    if not values:
        return Found(None, names, {"reason": "no record of the release matches one of the original"})
    by_column = {name: part / records if records else None for name, part, records in rows}
    return Found(total / values, names, {"total": total, "by_column": by_column})
