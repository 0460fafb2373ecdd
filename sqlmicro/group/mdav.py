"""MDAV: maximum distance to average vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.params import Param
from sqlmicro.registry import Tick, method

if TYPE_CHECKING:
    import numpy as np


@method(
    "mdav",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer & Torra (2005), Data Mining and Knowledge Discovery 11(2)",
    templates=("replace/grouped.sql", "replace/group_means.sql", "replace/group_medians.sql", "replace/by_label.sql"),
)
def mdav(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: Annotated[int, Param("Smallest number of records in a group.", min=2)] = 3,
) -> np.ndarray:
    """Group records around the one farthest from the average, and around the one farthest from that one.

    The generic algorithm: while at least 3k records remain, the record farthest from their centroid with its k-1
    nearest, then the record farthest from that one with its k-1 nearest; with 2k to 3k-1 left, the group around the
    record farthest from the centroid, and the rest; with fewer than 2k, the rest.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records. Not changed.
    rng : Generator
        Not used; the method is deterministic.
    tick : callable
        Told (records grouped, n).
    k : int
        Smallest number of records in a group.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Notes
    -----
    Ties go to the lowest row, everywhere; the R package sdcMicro gives them to the highest, which changes the loss of
    rounded data by up to 1 %. The size is tested before a pair of groups is formed: where the source forms the pair
    first, n in [2k, 3k) leaves fewer than k. O(n² p / k) time, O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> mdav(X, np.random.default_rng(0), lambda done, total: None, k=3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    import numpy as np

    n = len(X)
    labels = np.full(n, -1, dtype=np.int64)
    rest, points = np.arange(n), X
    group = 0

    def farthest(point: np.ndarray) -> np.ndarray:
        record: np.ndarray = points[int(np.argmax(_squared_distances(points, point)))]
        return record

    def close_group(point: np.ndarray) -> None:
        nonlocal rest, points, group
        members = _nearest(_squared_distances(points, point), k)
        labels[rest[members]] = group
        left = np.ones(len(rest), dtype=bool)
        left[members] = False
        rest, points = rest[left], points[left]
        group += 1
        tick(n - len(rest), n)

    while len(rest) >= 3 * k:
        first = farthest(points.mean(axis=0))
        opposite = rest[int(np.argmax(_squared_distances(points, first)))]
        close_group(first)
        # Where all that remain lie at the same distance, the opposite record may just have been grouped.
        close_group(X[opposite] if labels[opposite] < 0 else farthest(first))
    if len(rest) >= 2 * k:
        close_group(farthest(points.mean(axis=0)))
    labels[rest] = group
    return labels


def _squared_distances(X: np.ndarray, point: np.ndarray) -> np.ndarray:
    import numpy as np

    difference = X - point
    distances: np.ndarray = np.einsum("ij,ij->i", difference, difference)
    return distances


def _nearest(distances: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of the k smallest distances; of equal ones the first."""
    import numpy as np

    if k >= len(distances):
        return np.arange(len(distances))
    limit = np.partition(distances, k - 1)[k - 1]
    candidates = np.flatnonzero(distances <= limit)
    order: np.ndarray = candidates[np.argsort(distances[candidates], kind="stable")[:k]]
    return order
