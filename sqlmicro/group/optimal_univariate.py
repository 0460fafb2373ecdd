"""Optimal univariate microaggregation: every column grouped on its own with the least loss there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.group.keeping import united
from sqlmicro.options.params import K, Representative
from sqlmicro.registry import Tick, late, method, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from sqlmicro.work import Outcome, Work

_STEPS_PER_SLICE = 10_000_000
"""Records × columns × k between two ticks: about 0.2 s."""


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
        labels = work.group_strata(strata, k, f"group {column.name}", _kernel(values, k), column.name)
        table = pa.table({"row_id": row_id, "label": labels, "value": values})
        groups = work.load(table, f"groups_{column.staged}", f"filled with the groups that {__name__} made")
        groups = united(work, groups, column, k)
        work.replace_by_rank_group(column, groups, representative)
        work.count_groups(groups)
    return work.outcome


def _kernel(values: np.ndarray, k: int) -> Callable[[np.ndarray, Tick], np.ndarray]:
    """Return the function that groups some rows of an unsorted column."""
    import numpy as np

    def group(rows: np.ndarray, tick: Tick) -> np.ndarray:
        order = np.argsort(values[rows], kind="stable")
        labels = np.empty(len(rows), dtype=np.int64)
        labels[order] = optimal_groups(values[rows[order]], k, tick)
        return labels

    return group


def optimal_groups(values: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of at least k of a sorted column whose sum of squared errors is the least there is.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers in ascending order, of any unit; at most 1e150 in size, so that their squares stay finite.
    k : int
        Smallest number of records in a group.
    tick : callable, optional
        Told (records done, n).

    Returns
    -------
    ndarray of shape (n,)
        Group of every value, 0..G-1, ascending.

    Raises
    ------
    InputError
        When there are fewer than k values, or they are not in ascending order.

    Notes
    -----
    An optimal grouping has groups of k to 2k-1 consecutive values, so it is a shortest path over the positions
    (Hansen & Mukherjee 2003): O(k n) time, O(n) memory. The source takes the loss of a group from sums over the whole
    column, which cancel where the values lie far from 0 or close to each other; here it is added up from the end of
    the group, relative to the value there, and has a relative error of at most some 4k rounding errors whatever the
    offset. Of equally good groupings the one with the shortest last group is taken, and so on from there.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_groups(np.array([1.0, 2.0, 3.0, 4.0, 90.0, 91.0, 92.0]), 3).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    import numpy as np

    if not np.all(values[:-1] <= values[1:]):
        raise InputError("optimal groups", "the values must be in ascending order", "others", "Sort them first")
    return consecutive_groups(values.reshape(-1, 1), k, tick)


def consecutive_groups(X: np.ndarray, k: int, tick: Tick = silent) -> np.ndarray:
    """Return the groups of k to 2k-1 consecutive records whose sum of squared errors is the least there is.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records in the order that groups may not cross.
    k : int
        Smallest number of records in a group.
    tick : callable, optional
        Told (records done, n).

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, ascending.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    O(k n p) time, O(n) memory beyond the data.
    """
    import numpy as np

    extend, follow = late("sqlmicro.group._univariate_kernels", "extend", "follow")

    n, p = X.shape
    if n < k:
        raise InputError("groups", f"there must be at least k = {k} records", f"{n}", "Use a smaller k")
    records = np.ascontiguousarray(X, dtype=np.float64)
    best, last = np.empty(n + 1), np.zeros(n + 1, dtype=np.int32)
    best[0] = 0.0
    rows = _STEPS_PER_SLICE // (k * p) + 1
    for start, stop in _slices(1, n + 1, rows):
        extend(records, k, best, last, start, stop)
        tick(stop - 1, n)
    labels = np.empty(n, dtype=np.int64)
    follow(last, labels)
    return labels


def _slices(start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
    for first in range(start, stop, rows):
        yield first, min(first + rows, stop)
