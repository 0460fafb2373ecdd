"""Single axis: one ordering of the records for all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import ParameterError
from sqlmicro.group import class_size
from sqlmicro.group.keeping import regrouped
from sqlmicro.options.params import K, Param, Remainder, Representative
from sqlmicro.registry import method
from sqlmicro.safe_method import gathered

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.work import Outcome, Work


@method(
    "single-axis",
    stage="group",
    engine="sql",
    promise="record",
    on_clusters=True,
    source="Defays & Nanopoulos (1993); Mateo-Sanz & Domingo-Ferrer (1998) for z-scores and principal component",
    templates=(
        "load/guaranteed.sql",
        "group/labels.sql",
        "load/features.sql",
        *gathered.TEMPLATES,
        "group/cross_moments.sql",
        "group/axis.sql",
        "group/sorted.sql",
        "group/strata_spread_from_both_ends.sql",
        "group/strata_last.sql",
        "group/groups_by_rank.sql",
        "replace/grouped.sql",
        "replace/group_means.sql",
        "replace/group_medians.sql",
        "replace/by_label.sql",
    ),
    keeps_guarantees=True,
)
def single_axis(
    work: Work,
    *,
    k: K = 3,
    axis: Annotated[
        str,
        Param("What orders the records: z-sum, pc1, or one of the columns.", metavar="COLUMN|z-sum|pc1"),
    ] = "z-sum",
    representative: Representative = "mean",
    remainder: Remainder = "spread-from-both-ends",
) -> Outcome:
    """Order the records along one axis and replace every k neighbours by their mean or median in all columns.

    Returns
    -------
    Outcome
        New values of all columns, a group per record.

    Raises
    ------
    ParameterError
        When `axis` is no column that takes part.
    InputError
        When a stratum has fewer than k records.

    Notes
    -----
    z-sum is the sum of the z-scores, pc1 the first principal component of the standardised columns.

    Means, deviations and the covariance are SQL aggregates over whole numbers (see `cross_moments.sql`), so that the
    ordering does not depend on the number of threads; the p x p eigenproblem is solved in NumPy. The sign of the
    component makes its largest loading positive. A constant column contributes 0, a missing value counts as the mean.
    O(n p² + n log n).
    """
    if axis in ("z-sum", "pc1"):
        terms = _terms(work, axis)
        # Every column constant: all orders are alike, the axis is 0 everywhere and row_id decides.
        value = work.run("group/axis.sql", "axis", relation=work.relation, by=work.by, terms=terms)
        ordered = work.sort_by(value, "value")
    else:
        column = next((c for c in work.columns if c.name.lower() == axis.lower()), None)
        if column is None:
            raise ParameterError(
                f"{work.where}, axis",
                "must be z-sum, pc1 or one of the columns that take part",
                repr(axis),
                "There are: " + ", ".join(c.name for c in work.columns),
            )
        value = work.run("group/axis.sql", "axis", relation=work.relation, by=work.by, terms=_terms(work, column.name))
        ordered = work.sort_by(value, "value")
    size = k if work.by else max(k, min(class_size.settle(work, k), work.warehouse.count(work.relation)))
    strata = work.strata("group/strata_" + remainder.replace("-", "_") + ".sql", ordered, None, size)
    groups = regrouped(work, work.groups_by_rank(ordered, strata, size), k, size)
    work.replace_by_group(work.columns, groups, representative)
    work.count_groups(groups)
    return work.outcome


def _terms(work: Work, axis: str) -> list[tuple[Column, float, float]]:
    """Return (column, centre, weight) for every column that is not constant, in units of the scaled columns."""
    columns = [c for c in work.columns if axis in ("z-sum", "pc1") or c.name == axis]
    means, covariance = scaled_moments(work, columns)
    live = [i for i in range(len(columns)) if covariance[i, i] > 0]
    deviations = {i: float(covariance[i, i]) ** 0.5 for i in live}
    loadings = first_component(covariance[live][:, live]) if axis == "pc1" and live else [1.0] * len(live)
    return [
        (columns[i], float(means[i]), float(loading) / deviations[i]) for i, loading in zip(live, loadings, strict=True)
    ]


def scaled_moments(work: Work, columns: list[Column]) -> tuple[np.ndarray, np.ndarray]:
    """Return means (p,) and sample covariance (p, p) of the columns, each scaled to [0, 1]; NULL counts as the mean."""
    import numpy as np

    row = work.record("group/cross_moments.sql", relation=work.relation, columns=columns)
    p, n = len(columns), int(row["records"])
    means = np.array([row[f"mean_{i + 1}"] or 0.0 for i in range(p)])
    covariance = np.zeros((p, p))
    for i in range(p):
        for j in range(i, p):
            covariance[i, j] = covariance[j, i] = (row[f"sum_{i + 1}_{j + 1}"] or 0.0) / max(n - 1, 1)
    return means, covariance


def first_component(covariance: np.ndarray) -> np.ndarray:
    """Return the loadings (p,) of the first principal component of the standardised columns.

    >>> import numpy as np
    >>> first_component(np.array([[4.0, 2.0], [2.0, 4.0]])).round(4).tolist()
    [0.7071, 0.7071]
    """
    import numpy as np

    deviations = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviations, deviations)
    loadings: np.ndarray = np.linalg.eigh(correlation)[1][:, -1]
    loadings *= np.sign(loadings[np.argmax(np.abs(loadings))])
    return loadings
