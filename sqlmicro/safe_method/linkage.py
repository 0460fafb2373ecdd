"""Agglomerative grouping of weighted rows: single, complete, average and Ward linkage, cut at a number of groups."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

Linkage = Literal["single", "complete", "average", "ward"]
_TICK_EVERY = 256
_PACKAGES = {"sklearn": "scikit-learn", "scipy": "SciPy"}


def needed(module: str, where: str) -> Any:
    """Return a module of the extra `clustering`.

    Raises
    ------
    ParameterError
        When its package is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise ParameterError(
            where,
            f"needs {_PACKAGES[module.split('.')[0]]}, which is not installed",
            do="Install it by: pip install 'sqlmicro[clustering]'",
        ) from None


def agglomerate(X: np.ndarray, weights: np.ndarray, clusters: int, how: Linkage, tick: Tick) -> np.ndarray:
    """Return the group of every row (n,): the two nearest groups are joined until `clusters` are left.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, each standing for `weights` records.
    weights : ndarray of shape (n,)
        Records per row.
    clusters : int
        Number of groups; every row its own if there are not so many.
    how : {"single", "complete", "average", "ward"}
        What the distance of two groups is: that of their nearest or farthest records, the average over all pairs of
        records, or the growth of the sum of squares if they were joined.
    tick : callable
        Told (joins done, all joins).

    Notes
    -----
    Sneath (1957), Sørensen (1948), Sokal & Michener (1958), Ward (1963). Weighted rows give the groups that repeated
    rows would. To single and complete linkage weights make no difference, and SciPy does them; its average and Ward
    linkage, like scikit-learn's, take no weights, so these two are a nearest-neighbour chain (Murtagh 1983) whose
    groups start with the sizes of the rows. O(n² p) time for the distances and O(n²) for the joins; up to 10n² bytes.

    The tree is cut by undoing the last joins, not at a height: where distances tie, as those of 0/1 columns do, a
    height would leave fewer groups than were asked for. Which of equal distances is joined first is arbitrary.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [4.0], [10.0]])
    >>> agglomerate(X, np.array([1, 1, 1]), 2, "ward", lambda done, total: None).tolist()
    [0, 0, 1]
    >>> agglomerate(X, np.array([90, 90, 1]), 2, "ward", lambda done, total: None).tolist()
    [0, 1, 1]
    """
    import numpy as np

    n = len(X)
    if clusters >= n:
        return np.arange(n)
    if how in ("single", "complete"):
        joins = _by_scipy(X, how)
        tick(n - 1, n - 1)
    else:
        joins = _chain(X, weights, how, tick)
    kept = joins[: n - clusters]
    sparse, graph = needed("scipy.sparse", how), needed("scipy.sparse.csgraph", how)
    ones = np.ones(len(kept), dtype=np.int8)
    links = sparse.coo_matrix((ones, (kept[:, 0], kept[:, 1])), shape=(n, n))
    labels: np.ndarray = graph.connected_components(links, directed=False)[1].astype(np.int64)
    return labels


def _by_scipy(X: np.ndarray, how: Linkage) -> np.ndarray:
    """Return the joins, nearest first, each as two rows (n - 1, 2): one of either group."""
    import numpy as np

    distances = needed("scipy.spatial.distance", how).pdist(X)
    tree = needed("scipy.cluster.hierarchy", how).linkage(distances, how)
    row = list(range(len(X)))
    joins = []
    for a, b in tree[:, :2].astype(np.int64).tolist():
        joins.append((row[a], row[b]))
        row.append(row[a])
    return np.array(joins)


def _chain(X: np.ndarray, weights: np.ndarray, how: Linkage, tick: Tick) -> np.ndarray:
    """Return the joins, nearest first, each as two rows (n - 1, 2): one of either group.

    From any group go to its nearest, from there to the nearest, and so on, until two are nearest to each other: these
    are joined. The distances D to the new group follow from those to its two parts (Lance & Williams 1967).
    """
    import numpy as np

    D, w = _distances(X, weights, how), weights.astype(float)
    joins: list[tuple[int, int]] = []
    heights: list[float] = []
    row, alive, chain = np.arange(len(X)), np.ones(len(X), dtype=bool), [0]
    while len(joins) < len(X) - 1:
        if not chain:
            chain.append(int(alive.argmax()))
        while True:
            to = D[chain[-1]]
            nearest = int(to.argmin())
            if len(chain) > 1 and to[chain[-2]] <= to[nearest]:
                break
            chain.append(nearest)
        b, a = chain.pop(), chain.pop()
        height = float(D[a, b])
        if how == "average":
            joined = (w[a] * D[a] + w[b] * D[b]) / (w[a] + w[b])
        else:
            joined = ((w[a] + w) * D[a] + (w[b] + w) * D[b] - w * height) / (w[a] + w[b] + w)
        D[a], D[:, a] = joined, joined
        D[b], D[:, b] = np.inf, np.inf
        w[a] += w[b]
        alive[b] = False
        joins.append((int(row[a]), int(row[b])))
        heights.append(height)
        if 2 * alive.sum() <= len(alive):
            D, w, row = D[np.ix_(alive, alive)], w[alive], row[alive]
            alive, chain = np.ones(len(row), dtype=bool), []
        if len(joins) % _TICK_EVERY == 0 or len(joins) == len(X) - 1:
            tick(len(joins), len(X) - 1)
    return np.array(joins)[np.argsort(heights, kind="stable")]


def _distances(X: np.ndarray, weights: np.ndarray, how: Linkage) -> np.ndarray:
    """Return the distances (n, n) of single rows, infinite to themselves; in place, as they are large."""
    import numpy as np

    squares = (X**2).sum(axis=1)
    D: np.ndarray = X @ X.T
    D *= -2
    D += squares
    D += squares[:, None]
    np.maximum(D, 0, out=D)
    if how == "average":
        np.sqrt(D, out=D)
    else:
        for i, w in enumerate(weights):
            D[i] *= w * weights / (w + weights)
    np.fill_diagonal(D, np.inf)
    return D
