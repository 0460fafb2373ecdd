"""The means of subgroups before and after, such as the income by sex and region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.comparison import comparison
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.options.params import Param
from sqlmicro.safe_method.means import LEAST_RECORDS, ShiftedMeans, asked, measure, total

_WHERE = "audit, --means"


@dataclass(frozen=True)
class ShiftedByTable(Detail):
    """The shifts of all means, and those of every table."""

    means: ShiftedMeans
    tables: dict[str, ShiftedMeans]
    """By the column and those that make the subgroups, as in "income by sex, region"."""


@audit(
    "subgroup-means",
    needs=("original",),
    gate="max_means_shifted",
    on_request=True,
    source="the standard error of a mean, s / sqrt(n)",
    templates=("audit/values.sql", "safe/subgroup_means.sql"),
)
def subgroup_means(
    audited: AuditedRelease,
    limit: float | None,
    *,
    means: Annotated[
        tuple[str, ...],
        Param(
            "Means of subgroups to compare before and after, any number. Default: every numeric column by every pair "
            "of nominal ones.",
            metavar='"COLUMN by A,B"',
            whole=True,
        ),
    ] = (),
) -> Found:
    """The share of the means of subgroups that are off by more than their standard error in the original.

    Returns
    -------
    Found
        The share, from 0 to 1, and of all means together and of every table the number of subgroups, how many shifted,
        how many are gone, and the largest shift in standard errors.

    Raises
    ------
    ParameterError
        When the means cannot be read, or name a column that is missing or of the other scale.

    Notes
    -----
    Subgroups of at least 30 records whose values differ count; one that is gone has shifted. A mean that is off by its
    standard error is off by what another sample of the same size would show.
    """
    found = comparison(audited)
    tables = asked(found.numeric, found.nominal, (), means, _WHERE)
    shifted = measure(audited.warehouse, found.original, found.released, tables)
    every = total(list(shifted.values()))
    names = tuple(dict.fromkeys(column.name for table in tables for column in (table.column, *table.by)))
    if every is None or every.share is None:
        reason = f"no subgroup has {LEAST_RECORDS} records and a numeric column whose values differ"
        return Found(None, names, reason=reason)
    by_table = {f"{t.column.name} by {', '.join(c.name for c in t.by)}": one for t, one in shifted.items()}
    return Found(every.share, names, ShiftedByTable(every, by_table))
