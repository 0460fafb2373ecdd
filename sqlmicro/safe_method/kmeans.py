"""k-means++ on weighted rows, and the merging of groups that came out too small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.coordinates import in_order
from sqlmicro.system.parallel import heed

if TYPE_CHECKING:
    import numpy as np

_ROUNDS, _STAY = 50, 1e-3
_CHUNK, _BLOCK = 1 << 26, 1 << 15
_FITTED_ON, _FITTED_PER_CLUSTER = 10_000, 20
"""With more rows than both, centres are moved on a sample of so many records, at least so many per cluster."""


def kmeans(X: np.ndarray, weights: np.ndarray, clusters: int, rng: np.random.Generator, tick: Tick) -> np.ndarray:
    """Return the cluster of every row (n,) by Lloyd's algorithm from k-means++ centres.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, each standing for `weights` records.
    weights : ndarray of shape (n,)
        Records per row.
    clusters : int
        Number of centres; as many as there are distinct rows at most.
    rng : Generator
        Draws the centres.
    tick : callable
        Told (rounds done, most rounds).

    Notes
    -----
    Arthur & Vassilvitskii (2007); stops when at most one row of 1 000 changes its cluster, or after 50 rounds.
    O(n p clusters) a round.
    Ours: with more than 10 000 rows, and 20 per cluster, the centres are found on a sample of so many records, and all
    rows go to the nearest.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> labels = kmeans(X, np.ones(4), 2, np.random.default_rng(1), lambda done, total: None)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    import numpy as np

    most = max(_FITTED_ON, _FITTED_PER_CLUSTER * clusters)
    if len(X) > most:
        drawn = rng.multinomial(most, weights / weights.sum())
        rows = np.flatnonzero(drawn)
        labels = nearest_centre(X, _moved_centres(X[rows], drawn[rows].astype(float), clusters, rng, tick)[0])
    else:
        labels = _moved_centres(X, weights, clusters, rng, tick)[1]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _moved_centres(
    X: np.ndarray, weights: np.ndarray, clusters: int, rng: np.random.Generator, tick: Tick
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres that Lloyd's algorithm ends with, and the nearest of them for every row."""
    import numpy as np

    centres = _first_centres(X, weights, clusters, rng)
    labels = np.full(len(X), -1, dtype=np.int64)
    weighted = weights[:, None] * X
    for round_number in range(_ROUNDS):
        nearest = nearest_centre(X, centres)
        moved = np.count_nonzero(nearest != labels)
        labels = nearest
        if moved <= _STAY * len(X):
            break
        mass = np.bincount(labels, weights, len(centres))
        order = in_order(labels)
        there = np.flatnonzero(mass > 0)
        # In the order of the rows, as a sum by label takes them.
        sums = np.add.reduceat(weighted[order], np.searchsorted(labels[order], there), axis=0)
        centres[there] = sums / mass[there, None]
        tick(round_number + 1, _ROUNDS)
    return centres, labels


def _first_centres(X: np.ndarray, weights: np.ndarray, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw centres with probability proportional to the squared distance to the nearest one drawn so far."""
    import numpy as np

    chosen = [int(rng.choice(len(X), p=weights / weights.sum()))]
    distance = _squared_distance(X, X[chosen[0]])
    while len(chosen) < clusters:
        mass = distance * weights
        total = mass.sum()
        if total <= 0:
            break
        chosen.append(int(rng.choice(len(X), p=mass / total)))
        np.minimum(distance, _squared_distance(X, X[chosen[-1]]), out=distance)
    return X[chosen].copy()


def _squared_distance(X: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the squared distance of every row, (n,), in blocks that fit into the cache."""
    import numpy as np

    found = np.empty(len(X))
    rows = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        part = X[start : start + rows] - centre
        np.einsum("ij,ij->i", part, part, out=found[start : start + rows])
    return found


def nearest_centre(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of the nearest centre for every row, (n,); of equally near ones the first."""
    import numpy as np

    nearest = late("sqlmicro.safe_method._centre_kernels", "nearest")

    X = np.ascontiguousarray(X, dtype=np.float64)
    near, score = np.empty(len(X), dtype=np.int64), np.empty(len(centres))
    columns, half_squares = np.ascontiguousarray(centres.T), (centres**2).sum(axis=1) / 2
    rows = max(1, _CHUNK // len(centres))
    for start in range(0, len(X), rows):
        nearest(X[start : start + rows], columns, half_squares, score, near[start : start + rows])
        heed()
    return near


def merge_small(X: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Merge every group with fewer than k records into the group with the nearest centroid, the smallest first.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0], [7.0]])
    >>> merge_small(X, np.ones(7), np.array([0, 0, 0, 1, 1, 1, 2]), 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    import numpy as np

    groups = int(labels.max()) + 1
    mass = np.bincount(labels, weights, groups)
    target, alive = np.arange(groups), mass > 0
    if mass[alive].min() < k:
        _merge(X, weights, labels, k, mass, target, alive)
    merged: np.ndarray = np.searchsorted(np.flatnonzero(alive), target)[labels]
    return merged


def _merge(
    X: np.ndarray,
    weights: np.ndarray,
    labels: np.ndarray,
    k: int,
    mass: np.ndarray,
    target: np.ndarray,
    alive: np.ndarray,
) -> None:
    """Tell in `target` and `alive` which group every small one becomes part of; `mass` has the records of each."""
    import numpy as np

    groups = len(mass)
    sums = np.stack([np.bincount(labels, weights * X[:, j], groups) for j in range(X.shape[1])], axis=1)
    centroids = sums / np.maximum(mass, 1)[:, None]
    while alive.sum() > 1:
        small = int(np.argmin(np.where(alive, mass, np.inf)))
        if mass[small] >= k:
            break
        distance = ((centroids - centroids[small]) ** 2).sum(axis=1)
        distance[~alive] = np.inf
        distance[small] = np.inf
        nearest = int(np.argmin(distance))
        mass[nearest] += mass[small]
        sums[nearest] += sums[small]
        centroids[nearest] = sums[nearest] / mass[nearest]
        alive[small] = False
        target[target == small] = nearest
