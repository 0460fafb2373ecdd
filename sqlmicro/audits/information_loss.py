"""Information loss: how far the released values are from the original ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlmicro.columns import Column
from sqlmicro.templates import Name
from sqlmicro.warehouse import Warehouse


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
