"""Optimal univariate microaggregation: every column grouped on its own with the least loss there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group.consecutive_groups import optimal_groups
from sqlmicro.group.keeping import united
from sqlmicro.options.params import K, Representative
from sqlmicro.registry import Tick, method

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.work import Outcome, StratumKernel, Work


@method(
    "optimal-univariate",
    stage="group",
    engine="sql",
    promise="column",
    source="Hansen & Mukherjee (2003), IEEE Transactions on Knowledge and Data Engineering 15(4)",
    templates=(
        "load/guaranteed.sql",
        "group/labels.sql",
        "load/features.sql",
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
    import pyarrow as pa

    for column in work.columns:
        row_id, raw = work.matrix([column])
        present = ~np.isnan(raw[:, 0])
        row_id, values, strata = row_id[present], raw[present, 0], work.stratum_numbers(len(raw))[present]
        labels = work.group_strata(strata, k, f"group {column.name}", _kernel(values, k), column.name, threads=True)
        table = pa.table({"row_id": row_id, "label": labels, "value": values})
        groups = work.load(table, f"groups_{column.staged}", f"filled with the groups that {__name__} made")
        groups = united(work, groups, column, k)
        work.replace_by_rank_group(column, groups, representative)
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
