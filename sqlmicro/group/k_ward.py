"""k-Ward: Ward's hierarchical method, stopped as soon as every record is in a group of at least k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method, silent

if TYPE_CHECKING:
    import numpy as np

MOST_RECORDS = 50_000
"""Records of more than one column that are grouped at once; the time grows with their square."""
_JOINS_PER_CALL = 200_000
_DISTANCES_PER_CALL = 20_000_000
"""Work between two ticks: about 0.2 s each."""


@method(
    "k-ward",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer & Mateo-Sanz (2002), IEEE Transactions on Knowledge and Data Engineering 14(1)",
)
def k_ward(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Join the two nearest groups again and again, never two that both have k records, and split the large ones anew.

    (i) The k smallest and the k largest values form groups, with several columns the two records farthest apart, each
    with its k-1 nearest, the one farther from the mean first; all other records are single. (ii) The two groups with
    the smallest distance n_i n_j / (n_i + n_j) ‖mean_i - mean_j‖² that do not both have k records are joined, until all
    have. (iii) Every group of 2k or more is treated anew by (i) and (ii).

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order of their lowest rows. Groups have k to 2k-1 records.

    Raises
    ------
    InputError
        When there are fewer than k records, or more than 50,000 of several columns.

    Notes
    -----
    No random numbers are drawn.

    (iii) One source says "more than 2k"; 2k or more was never worse. It always splits: the two groups it begins with
    are never joined to each other, so no other method has to cut what is left.

    One column: only neighbours are joined, by a heap; O(n log n) time for every level of (iii), O(n) memory. Of equal
    distances the pair with the lowest value is joined first. Ward's distance can be smaller to a group beyond a large
    neighbour, which the source would join; it never lost less in the columns the tests try.

    Several columns: the nearest-neighbour chain (Murtagh 1983) finds the groups that joining the nearest pair of all
    would make. It keeps sums and no distances, O(n p) memory; O(n² p) time, hence the limit: half a minute for 50,000
    records of 4 columns. The farthest pair is found from the outside in, by the distances from the mean. Ties go to
    the lowest row; where distances are equal, the chain may join another one of the nearest pairs first.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [10.0], [11.0]])
    >>> k_ward(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    return ward_groups(X, k, tick)[0]


def ward_groups(X: np.ndarray, k: int, tick: Tick = silent, where: str = "k-ward") -> tuple[np.ndarray, int]:
    """Return the groups of k-Ward (n,) and how many distances were computed for them; see `k_ward`."""
    n, p = X.shape
    if n < k:
        raise InputError(where, f"there must be at least k = {k} records", f"{n}", "Use a smaller k")
    if p == 1:
        labels, distances = _line_groups(X[:, 0], k, tick)
    elif n > MOST_RECORDS:
        raise InputError(
            where,
            f"takes at most {MOST_RECORDS:,} records of several columns, since its time grows with their square",
            f"{n:,}",
            "Use mdav, or --by to group strata one by one",
        )
    else:
        labels, distances = _space_groups(X, k, tick)
    return number_by_lowest_row(labels), distances


def number_by_lowest_row(labels: np.ndarray) -> np.ndarray:
    """Return the same groups, numbered 0..G-1 in the order of their lowest rows.

    >>> import numpy as np
    >>> number_by_lowest_row(np.array([7, 7, 2, 7, 2])).tolist()
    [0, 0, 1, 0, 1]
    """
    import numpy as np

    _, lowest, groups = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(lowest), dtype=np.int64)
    ranks[np.argsort(lowest)] = np.arange(len(lowest))
    numbered: np.ndarray = ranks[groups]
    return numbered


def _line_groups(x: np.ndarray, k: int, tick: Tick) -> tuple[np.ndarray, int]:
    """Group one column: all ranges of 2k or more at once, until there is none."""
    import numpy as np

    LISTED, PRICED, Line, join_line, open_ranges = late(
        "sqlmicro.group._ward_kernels", "LISTED", "PRICED", "Line", "join_line", "open_ranges"
    )

    n = len(x)
    order = np.argsort(x, kind="stable")
    ascending = x[order] - x[order[0]]

    def integers(size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)

    line = Line(np.empty(n), integers(n), integers(n), integers(n), np.empty(n), integers(n), integers(n), integers(2))
    line.size[0] = n
    joined = 0
    while len(starts := np.flatnonzero(line.size >= 2 * k)):
        open_ranges(line, ascending, starts, starts + line.size[starts], k)
        before = int(line.count[LISTED])
        while not join_line(line, k, _JOINS_PER_CALL):
            tick(min(joined + before - int(line.count[LISTED]), n), 2 * n)
        joined += before - int(line.count[LISTED])
    tick(2 * n, 2 * n)
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.cumsum(line.size > 0) - 1
    return labels, int(line.count[PRICED])


def _space_groups(X: np.ndarray, k: int, tick: Tick) -> tuple[np.ndarray, int]:
    """Group several columns: one group of 2k or more after the other, until there is none."""
    import numpy as np

    n = len(X)
    labels = np.zeros(n, dtype=np.int64)
    left = [np.arange(n)]
    groups, done, distances = 1, 0, 0
    while left:
        members = left.pop()
        if len(members) < 2 * k:
            done += len(members)
            tick(n + done, 2 * n)
            continue
        found, computed = _join_records(X[members], k, tick if len(members) == n else silent)
        distances += computed
        # The first part keeps the number of the group.
        split = found > 0
        labels[members[split]] = groups - 1 + found[split]
        groups += int(found.max())
        order = np.argsort(found, kind="stable")
        left += np.split(members[order], np.cumsum(np.bincount(found))[:-1])
    return labels, distances


def _join_records(X: np.ndarray, k: int, tick: Tick) -> tuple[np.ndarray, int]:
    """Do (i) and (ii) for records of several columns; return groups from 0 and the distances computed."""
    import numpy as np

    COMPUTED, SMALL, Space, join_space, open_space, settle = late(
        "sqlmicro.group._ward_kernels", "COMPUTED", "SMALL", "Space", "join_space", "open_space", "settle"
    )

    n, p = X.shape
    ends, computed = _ends(X, k)
    size, into, active, chain = np.empty((4, n), dtype=np.int64)
    space = Space(np.empty((n, p)), np.empty((n, p)), size, into, active, chain, np.zeros(5, dtype=np.int64))
    open_space(space, X, ends, k)
    while not join_space(space, k, _DISTANCES_PER_CALL):
        tick(n - int(space.count[SMALL]), 2 * n)
    found = np.empty(n, dtype=np.int64)
    settle(into, found)
    return np.unique(found, return_inverse=True)[1], computed + int(space.count[COMPUTED])


def _ends(X: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Return the rows (2, k) around the two records farthest apart, and the distances computed."""
    import numpy as np

    farthest_pair = late("sqlmicro.group._ward_kernels", "farthest_pair")

    n = len(X)
    radius = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1))
    order = np.argsort(-radius, kind="stable")
    best = np.array([-1.0, 0.0, 0.0])
    at, distances = 0, 3 * n
    while at < n:
        at, computed = farthest_pair(X, order, radius, at, best, _DISTANCES_PER_CALL)
        distances += computed
    first, second = best[1:].astype(np.int64)
    pair = [first, second] if radius[first] >= radius[second] else [second, first]
    ends, free = np.empty((2, k), dtype=np.int64), np.ones(n, dtype=bool)
    free[pair] = False
    for side, row in enumerate(pair):
        others = np.flatnonzero(free)
        nearest = others[np.argsort(((X[others] - X[row]) ** 2).sum(axis=1), kind="stable")[: k - 1]]
        free[nearest] = False
        ends[side] = np.sort([row, *nearest])
    return ends, distances
