"""kAnonyMeans: k-means around n/k centres, then groups that are too small joined and those too large cut."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.options.params import K, Param
from sqlmicro.registry import Tick, late, method

if TYPE_CHECKING:
    import numpy as np

Init = Annotated[Literal["forgy", "kmeans++"], Param("How the first centres are drawn from the records.")]
Merge = Annotated[
    Literal["inner-loop", "outer-loop", "single-pass"], Param("Order in which groups of fewer than k are joined.")
]
Measure = Annotated[Literal["centroid", "sse"], Param("What makes two groups near when one is joined to the other.")]
Inside = Annotated[bool, Param("Join and cut groups in every iteration, not only after the last.")]
Iterations = Annotated[int, Param("Largest number of iterations of k-means.", min=1)]

# Distances computed between two turns of Python: at most a few tenths of a second.
_SLICE = 10**7
# Iterations of k-means with merge and split that may bring no gain.
_PATIENCE = 10


@dataclass(frozen=True)
class Rules:
    """How groups are made from centres."""

    k: int
    merge: Merge
    measure: Measure
    inside: bool
    iterations: int


@method(
    "kanonymeans",
    stage="group",
    engine="numpy",
    promise="record",
    source="Stoldt (2019), kAnonyMeans",
)
def kanonymeans(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    centres: Annotated[int | None, Param("Number of centres of k-means; n/k if not given.", min=1)] = None,
    init: Init = "kmeans++",
    merge: Merge = "inner-loop",
    measure: Measure = "centroid",
    inside: Inside = True,
    iterations: Iterations = 100,
) -> np.ndarray:
    """Group records by k-means around n/k centres, joining groups of fewer than k and cutting those of 2k and more.

    **k-means** (Lloyd): every record goes to its nearest centre, every centre to the mean of its records; a centre
    without records is dropped. **Merge**: groups of fewer than k are joined to others until there are none.
    **Split**: groups of at least 2k are cut by MDAV+ on their own records. Merge and Split follow in every iteration,
    the centroids of their groups being the next centres, or once, after the last (`inside=False`).

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1; groups have k to 2k-1 records.

    Notes
    -----
    init: forgy draws distinct rows evenly. kmeans++ draws one after another, with probability in proportion to the
    squared distance to the nearest drawn before, and fewer where all records coincide with one. There is at most one
    centre per record.

    merge: inner-loop takes the small groups in turn and joins each to the nearest group again and again until it has k
    records. outer-loop always joins the small group and the partner that are nearest of all. single-pass takes the
    small groups in turn and joins each to the nearest group with which it has k records, so that one join is enough;
    where there is none, it does as inner-loop.

    measure: centroid is the squared distance of the centroids, sse the growth of the SSE, which is ab/(a+b) times that
    for a and b records.

    inside: with Merge and Split in every iteration the search may go in a circle for ever. It ends when a grouping
    comes back, or after 10 iterations without gain, and the grouping of least SSE is used.

    The thesis was not at hand: the orders of Merge, the measures and the guard are our reading of its outline. The
    defaults are those of least loss on the three reference sets. Groups have the numbers of their centres (a joined
    group the lower one, parts cut off new ones at the end), and ties go to the lowest number, then to the lowest row.
    First centres are drawn from the records in the order of their values, so that row order does not matter.

    The nearest of the κ centres is found in a kd-tree over them, and a record whose own centre stayed or came nearer
    looks among the centres that moved only: O(n log κ) per iteration in few dimensions and less and less from one to
    the next, but O(n κ p) where p is large and nothing can be pruned. outer-loop takes O(s² p) for s small groups, all
    else is O(n p log n). Split takes O(m² p / k) for a group of m records. Memory O(n p).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> kanonymeans(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    drawn = first_centres(X, k, centres, init, rng)
    return group_around(X, drawn, Rules(k, merge, measure, inside, iterations), tick)


def first_centres(X: np.ndarray, k: int, count: int | None, init: Init, rng: np.random.Generator) -> np.ndarray:
    """Draw the first centres of k-means from the records.

    Records are numbered by their values for the draw, so that it does not depend on the order of the rows.
    """
    import numpy as np

    kernels = late("sqlmicro.group._kanonymeans_kernels")

    n = len(X)
    count = min(count or n // k, n)
    ordered = X[np.lexsort(X.T[::-1])]
    if init == "forgy":
        return ordered[rng.choice(n, count, replace=False)]
    draws = rng.random(count)
    tree = kernels.plant(ordered, np.arange(n))
    half = 1 << (n - 1).bit_length()
    totals = np.zeros(2 * half)
    totals[half : half + n] = np.inf
    tops = np.full(len(tree.first), np.inf)
    chosen = np.empty(count, dtype=np.int64)
    found, step = 0, max(1, _SLICE // n)
    for start in range(0, count, step):
        end = min(start + step, count)
        found = kernels.spread_out(ordered, tree, totals, tops, chosen, draws, start, end)
        if found < end:
            break
    return ordered[chosen[:found]]


def group_around(X: np.ndarray, centres: np.ndarray, rules: Rules, tick: Tick) -> np.ndarray:
    """Return groups of at least k made from the given centres."""
    if rules.inside:
        return _merged_inside(X, centres, rules, tick)
    labels = _k_means(X, centres, rules.iterations, tick)
    return _split(X, _merge(X, labels, rules), rules.k)


def centroids(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the centroids of groups 0..G-1."""
    kernels = late("sqlmicro.group._kanonymeans_kernels")

    sums, sizes = kernels.sums_of(X, labels, int(labels.max()) + 1)
    means: np.ndarray = sums / sizes[:, None]
    return means


def loss(X: np.ndarray, labels: np.ndarray, means: np.ndarray) -> float:
    """Return the SSE within groups."""
    import numpy as np

    apart = X - means[labels]
    return float(np.einsum("ij,ij->", apart, apart))


def _assign(
    X: np.ndarray,
    centres: np.ndarray,
    alive: np.ndarray,
    moved: np.ndarray,
    labels: np.ndarray,
    distances: np.ndarray,
) -> int:
    """Give every record its nearest centre, in place; return how many changed."""
    import numpy as np

    kernels = late("sqlmicro.group._kanonymeans_kernels")

    everyone = kernels.plant(centres, np.flatnonzero(alive))
    movers = kernels.plant(centres, np.flatnonzero(alive & moved))
    one = np.ones(len(centres), dtype=np.int64)
    step = max(64, 10 * _SLICE // centres.size)
    return sum(
        kernels.assign(X, centres, one, everyone, movers, moved, labels, distances, start, min(start + step, len(X)))
        for start in range(0, len(X), step)
    )


def _k_means(X: np.ndarray, centres: np.ndarray, iterations: int, tick: Tick) -> np.ndarray:
    """Return the nearest centre of every record when centres no longer move, or after so many iterations."""
    import numpy as np

    kernels = late("sqlmicro.group._kanonymeans_kernels")

    n = len(X)
    labels, distances = np.full(n, -1, dtype=np.int64), np.empty(n)
    alive = moved = np.ones(len(centres), dtype=bool)
    for _ in range(iterations):
        changed = _assign(X, centres, alive, moved, labels, distances)
        tick(n - changed, n)
        if not changed:
            break
        sums, sizes = kernels.sums_of(X, labels, len(centres))
        alive = sizes > 0
        means = np.where(alive[:, None], sums / np.maximum(sizes, 1)[:, None], centres)
        moved = (means != centres).any(axis=1)
        centres = means
    return labels


def _merged_inside(X: np.ndarray, centres: np.ndarray, rules: Rules, tick: Tick) -> np.ndarray:
    """Iterate k-means, merge and split until a grouping comes back; return the best one."""
    import numpy as np

    n, k = len(X), rules.k
    labels, distances = np.full(n, -1, dtype=np.int64), np.empty(n)
    moved = np.ones(len(centres), dtype=bool)
    total = float(np.einsum("ij,ij->", X - X.mean(axis=0), X - X.mean(axis=0)))
    best, least, gained = labels, np.inf, 0
    seen: set[bytes] = set()
    for iteration in range(1, rules.iterations + 1):
        _assign(X, centres, np.ones(len(centres), dtype=bool), moved, labels, distances)
        nearest, before = labels, centres
        merged = _merge(X, nearest, rules)
        labels = _split(X, merged, k)
        centres = centroids(X, labels)
        moved = ~_stayed(nearest, before, merged, labels, centres, k)
        reached = loss(X, labels, centres)
        if reached < least:
            best, least, gained = labels.copy(), reached, iteration
        tick(iteration, rules.iterations, f"IL {100 * least / total:.4g}" if total else "")
        grouping = blake2b(_by_first_row(labels).tobytes()).digest()
        if grouping in seen or iteration - gained == _PATIENCE:
            break
        seen.add(grouping)
    return best


def _stayed(
    nearest: np.ndarray, before: np.ndarray, merged: np.ndarray, labels: np.ndarray, centres: np.ndarray, k: int
) -> np.ndarray:
    """Return which centres are where one was before, with the same records, neither joined nor cut."""
    import numpy as np

    sizes = np.bincount(labels)
    origin = np.empty(len(sizes), dtype=np.int64)
    origin[labels] = nearest
    stayed = (centres == before[origin]).all(axis=1) & (sizes == np.bincount(nearest)[origin])
    uncut = np.flatnonzero(np.bincount(merged) < 2 * k)
    kept = np.zeros(len(sizes), dtype=bool)
    kept[uncut] = stayed[uncut]
    return kept


def _merge(X: np.ndarray, labels: np.ndarray, rules: Rules) -> np.ndarray:
    """Join groups of fewer than k to others until there are none."""
    import numpy as np

    kernels = late("sqlmicro.group._kanonymeans_kernels")

    groups = kernels.gather(X, labels, int(labels.max()) + 1)
    ward, count = rules.measure == "sse", len(groups.sizes)
    joins = max(1, 10 * _SLICE // groups.means.size)
    if rules.merge == "outer-loop":
        small = np.flatnonzero((groups.sizes > 0) & (groups.sizes < rules.k))
        partner, value = np.empty(count, dtype=np.int64), np.empty(count)
        for start in range(0, len(small), joins):
            kernels.find_partners(groups, small, ward, partner, value, start, start + joins)
        left = len(small)
        while left:
            left = kernels.merge_least_first(groups, rules.k, ward, small, partner, value, left, _SLICE)
    else:
        start = 0
        while start < count:
            start = kernels.merge_in_turn(groups, rules.k, ward, rules.merge == "single-pass", start, joins)
    into = groups.into
    while (into[into] != into).any():
        into = into[into]
    return _compact(into[labels])


def _split(X: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Cut groups of at least 2k records by MDAV+."""
    import numpy as np

    kernels = late("sqlmicro.group._kanonymeans_kernels")

    labels = labels.copy()
    sizes = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    members = np.argsort(labels, kind="stable")
    state = np.array([0, -1, 0, len(sizes)])
    centre, parts = np.empty(X.shape[1]), np.empty((sizes.max() // k, X.shape[1]))
    while state[0] < len(sizes):
        kernels.cut(X, members, starts, k, labels, state, centre, parts, _SLICE)
    return labels


def _compact(labels: np.ndarray) -> np.ndarray:
    """Number the groups 0..G-1 in the order of their numbers."""
    import numpy as np

    numbers: np.ndarray = np.unique(labels, return_inverse=True)[1]
    return numbers


def _by_first_row(labels: np.ndarray) -> np.ndarray:
    """Number the groups in the order of their first rows, so that equal groupings have equal labels."""
    import numpy as np

    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: np.ndarray = rank[numbers]
    return renumbered
