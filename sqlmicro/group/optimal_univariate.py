"""Optimal univariate microaggregation: every column grouped on its own with the least loss there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group.consecutive_groups import optimal_groups
from sqlmicro.group.keeping import united
from sqlmicro.options.params import K, Representative
from sqlmicro.registry import Tick, method
from sqlmicro.safe_method import gathered
from sqlmicro.safe_method.gathered import points

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.work import Outcome, StratumKernel, Work


@method(
    "optimal-univariate",
    stage="group",
    engine="sql",
    promise="column",
    on_clusters=True,
    source="Hansen & Mukherjee (2003), IEEE Transactions on Knowledge and Data Engineering 15(4)",
    templates=(
        "load/guaranteed.sql",
        "load/features.sql",
        *gathered.TEMPLATES,
        "load/stratum_numbers.sql",
        "replace/group_means.sql",
        "replace/group_medians.sql",
        "replace/by_label.sql",
    ),
    keeps_guarantees=True,
)
def optimal_univariate(
    work: Work,
    *,
    k: K = 3,
    representative: Representative = "mean",
) -> Outcome:
    """Group each column on its own so that no other groups of at least k lose less, and replace by mean or median.

    Groups have k to 2k-1 consecutive values in ascending order. NULL stays NULL. Equal values may fall into different
    groups; ties go by row_id.

    Returns
    -------
    Outcome
        A relation of new values per column.

    Raises
    ------
    InputError
        When a stratum has fewer than k values in a column.

    Notes
    -----
    The groups are optimal for the mean, whatever the representative.

    The *record* is not k-anonymous: every column has groups of its own, so that combinations of values stay distinct.
    O(n log n + k n) per column. Source: Hansen & Mukherjee (2003); see `optimal_groups` for where we deviate.
    """
    import numpy as np

    for column in work.columns:
        everything = points(work, numeric=[column], of="record", into=f"points_{column.staged}")
        rows = np.flatnonzero(~np.isnan(everything.values[column.staged].astype(float)))
        found = everything.some(rows)
        values = found.values[column.staged].astype(float)
        labels = work.group_strata(
            found.strata, k, f"group {column.name}", _kernel(values, k), column.name, threads=True
        )
        labels = united(work, labels, rows, found.strata, k)
        groups, grouped = found.valued(labels, values, __name__, f"groups_{column.staged}")
        made = found.here.run(
            f"replace/group_{representative}s.sql", f"representatives_{column.staged}", grouped=grouped,
            columns=["value"],
        )  # fmt: skip
        made = work.warehouse.hand_over(made)
        work.replace(column, work.run(
            "replace/by_label.sql", f"values_{column.staged}", groups=groups, representatives=made, columns=["value"]
        ))  # fmt: skip
        work.count_groups(groups)
    return work.outcome


def _kernel(values: np.ndarray, k: int) -> StratumKernel:
    """Return the function that groups some rows of an unsorted column."""
    import numpy as np

    def group(rows: np.ndarray, tick: Tick, number: int) -> np.ndarray:
        order = np.argsort(values[rows], kind="stable")
        labels = np.empty(len(rows), dtype=np.int64)
        labels[order] = optimal_groups(values[rows[order]], k, tick)
        return labels

    return group
