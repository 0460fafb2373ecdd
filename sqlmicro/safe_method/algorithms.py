"""The algorithms that group cells for SAFE, and the one syntax they are written in: `name(parameter=value, …)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from sqlmicro.errors import ParameterError, did_you_mean, nearest
from sqlmicro.options.params import Param, Parameter, parameters, settle, specification
from sqlmicro.registry import Method, Tick, methods
from sqlmicro.safe_method.coordinates import counted_pairs
from sqlmicro.safe_method.kmeans import kmeans, nearest_centre
from sqlmicro.safe_method.linkage import Linkage, agglomerate, needed

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.cells import Pass

DEFAULT = ("kmeans++(clusters=50)", "kmeans++(clusters=500)", "mdav")
MOST_ROWS, MOST_ROWS_DBSCAN = 20_000, 12_000
"""The linkages and dbscan take so many distinct rows: 4 GB at 10 bytes for each pair, at worst 27 for dbscan."""
_TREE_COLUMNS = 8
PASSES: tuple[Pass, ...] = ("numeric", "nominal", "both")
Clusters = Annotated[int, Param("Number of clusters.", min=1)]
_COLUMNS = Parameter("columns", str, "+".join(PASSES), Param("Passes it runs on: numeric, nominal, both, joined by +."))


class NoCluster(Exception):  # noqa: N818
    """An algorithm formed no cluster at all; the message names it and the parameters to change."""


class Parts(NamedTuple):
    """How many records of which row went into which group: arrays of the same length, and what is worth a note."""

    row: np.ndarray
    label: np.ndarray
    records: np.ndarray
    notes: tuple[str, ...] = ()


def mdav_seconds(records: int, columns: int) -> float:
    """Return about how long MDAV takes: near records are found by a tree, which is of no use in many columns.

    >>> [round(mdav_seconds(1_000_000, columns), 1) for columns in (2, 50)]
    [2.0, 4500.0]
    """
    return 1e-6 * records * columns if columns <= _TREE_COLUMNS else 9e-11 * records**2 * columns


@dataclass(frozen=True)
class Algorithm:
    """One algorithm with its parameters, as it is written, and the passes it runs on."""

    text: str
    name: str
    values: dict[str, object]
    passes: tuple[Pass, ...] = PASSES

    def group(self, X: np.ndarray, n: np.ndarray, k: int, rng: np.random.Generator, tick: Tick) -> Parts:
        """Return how many records of each row of X went into which group.

        X has shape (rows, p), n the number of records of each row; groups may be below k. Every record is in
        exactly one group.

        Raises
        ------
        NoCluster
            When nothing but noise was found.
        ParameterError
            For more distinct rows than the algorithm can take.
        """
        if self.name in _ALGORITHMS:
            return _ALGORITHMS[self.name](X, n, k, rng, tick, **self.values)
        return _by_records(_kernels()[self.name], X, n, k, rng, tick, self.values)


def _kmeans(
    X: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    clusters: Clusters = 50,
) -> Parts:
    import numpy as np

    most = max(1, int(n.sum()) // k)
    labels = kmeans(X, n.astype(float), min(clusters, most), rng, tick)
    return Parts(np.arange(len(X)), labels, n)


def _kernels() -> dict[str, Method]:
    """Return the grouping methods of whole records that run in NumPy: mdav, microaggregate and the like."""
    return {
        name: method
        for name, method in methods().items()
        if method.stage == "group" and method.engine == "numpy" and method.promise == "record"
    }


def _by_records(
    method: Method,
    X: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    values: Mapping[str, object],
) -> Parts:
    """Group single records by a grouping method: rows are repeated, and records of one row may part."""
    import numpy as np

    row_of_record = np.repeat(np.arange(len(X)), n)
    found = method.group(X[row_of_record], rng, tick, k=k, **values)
    return Parts(*counted_pairs(row_of_record, found.labels), found.notes)


def _dbscan(
    X: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    eps: Annotated[float, Param("Radius of a neighbourhood.", min=1e-9, max=1e9)] = 0.5,
    min_samples: Annotated[
        int | None, Param("Records in the neighbourhood of a core record; k if left out.", min=1)
    ] = None,
    sample: Annotated[int, Param("Run on this many rows, drawn at random; 0: all.", min=0, max=MOST_ROWS_DBSCAN)] = 0,
) -> Parts:
    """Join records that have `min_samples` records within `eps`, and what they reach; each other row is a group.

    Ester, Kriegel, Sander & Xu (1996), by scikit-learn. O(n²) time and memory at worst, when eps covers all rows.
    With `min_samples` = k a cluster never has fewer than k records, and what is no cluster is noise: rows that stay
    single here and are merged or dropped as groups below k. `eps` is half a standard deviation of a numeric column,
    and less than √2, the distance of two records with different values in one nominal column. A sample is thinner than
    the whole, so it wants a larger eps.
    """
    least = k if min_samples is None else min_samples

    def group(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        import numpy as np

        found = needed("sklearn.cluster", "algorithm dbscan").dbscan(
            rows, eps=eps, min_samples=least, sample_weight=weights
        )
        labels: np.ndarray = found[1].astype(np.int64)
        if np.all(labels < 0):
            raise NoCluster(
                f"dbscan formed no cluster: no record has min_samples={least} records within eps={eps:g}; "
                "a larger eps or a smaller min_samples forms some"
            )
        return labels

    return _by_distinct_rows("dbscan", X, n, rng, sample, group)


def _linkage(how: Linkage) -> Callable[..., Parts]:
    """Return the algorithm that joins the nearest groups until `clusters` are left; see `agglomerate`.

    The default is 50 clusters, as for kmeans++, so that the candidates differ in the algorithm alone. Never more than
    one per k records are formed.
    """

    def linkage(
        X: np.ndarray,
        n: np.ndarray,
        k: int,
        rng: np.random.Generator,
        tick: Tick,
        *,
        clusters: Clusters = 50,
        sample: Annotated[int, Param("Run on this many rows, drawn at random; 0: all.", min=0, max=MOST_ROWS)] = 0,
    ) -> Parts:
        most = min(clusters, max(1, int(n.sum()) // k))
        return _by_distinct_rows(
            how, X, n, rng, sample, lambda rows, weights: agglomerate(rows, weights, most, how, tick)
        )

    return linkage


def _by_distinct_rows(
    name: str,
    X: np.ndarray,
    n: np.ndarray,
    rng: np.random.Generator,
    sample: int,
    group: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Parts:
    """Run an O(n²) algorithm on the distinct rows of X, or on a sample of them, and return the groups.

    `group` labels rows with so many records each, noise as -1: every such row becomes a group of its own. Rows are
    sampled with probabilities as their records; those not sampled go to the nearest centre of a group, never to noise.
    """
    import numpy as np

    distinct, row = np.unique(X, axis=0, return_inverse=True)
    row = row.reshape(-1)
    most, per_pair = (MOST_ROWS_DBSCAN, 27) if name == "dbscan" else (MOST_ROWS, 10)
    weights = np.bincount(row, n)
    chosen = np.arange(len(distinct))
    if 0 < sample < len(distinct):
        chosen = np.sort(rng.choice(len(distinct), sample, replace=False, p=weights / weights.sum()))
    elif len(distinct) > most:
        raise ParameterError(
            f"algorithm {name}",
            f"takes at most {most:,} distinct rows: it needs up to {per_pair} bytes for each pair of them",
            f"{len(distinct):,} rows, or {per_pair * 1e-9 * len(distinct) ** 2:,.1f} GB",
            f"With sample={most} it runs on that many rows, drawn at random, and the others join the nearest group",
        )
    found = group(distinct[chosen], weights[chosen])
    groups = int(found.max()) + 1
    labels = np.full(len(distinct), -1, dtype=np.int64)
    labels[chosen] = found
    if len(chosen) < len(distinct):
        inside = chosen[found >= 0]
        sums = np.zeros((groups, X.shape[1]))
        np.add.at(sums, labels[inside], weights[inside, None] * distinct[inside])
        centres = sums / np.bincount(labels[inside], weights[inside])[:, None]
        rest = np.setdiff1d(np.arange(len(distinct)), chosen)
        labels[rest] = nearest_centre(distinct[rest], centres)
    noise = labels < 0
    labels[noise] = groups + np.arange(int(noise.sum()))
    return Parts(np.arange(len(X)), labels[row], n)


_ALGORITHMS: dict[str, Callable[..., Parts]] = {
    "kmeans++": _kmeans,
    "dbscan": _dbscan,
    "single": _linkage("single"),
    "complete": _linkage("complete"),
    "average": _linkage("average"),
    "ward": _linkage("ward"),
}
_MODULES = {
    "dbscan": "sklearn.cluster",
    **dict.fromkeys(("single", "complete", "average", "ward"), "scipy.cluster.hierarchy"),
}
"""What an algorithm needs of the extra `clustering`."""


def parse(text: str, where: str) -> Algorithm:
    """Return the algorithm that `text` names.

    >>> parse("kmeans++(clusters=20)", "safe").values
    {'clusters': 20}
    >>> parse("mdav(columns=numeric+both)", "safe").passes
    ('numeric', 'both')

    Raises
    ------
    ParameterError
        For an unknown algorithm, pass or parameter, a value out of bounds, or a package that is not installed.
    """
    name, given = specification(text, where, "an algorithm")
    kernels = _kernels()
    if name in _ALGORITHMS:
        declared = parameters(_ALGORITHMS[name])
    elif name in kernels:
        declared = tuple(p for p in kernels[name].parameters if p.part != "k")  # told by SAFE
    else:
        raise ParameterError(where, f"{name!r} is no algorithm", do=did_you_mean(name, [*_ALGORITHMS, *kernels]))
    label = f"{where}, {name}"
    values = settle((*declared, _COLUMNS), given, label)
    passes = _passes(str(values.pop("columns")), label)
    if name in _MODULES:
        needed(_MODULES[name], label)
    return Algorithm(text.strip(), name, values, passes)


def _passes(text: str, where: str) -> tuple[Pass, ...]:
    wanted = [part.strip() for part in text.split("+")]
    for one in wanted:
        if one not in PASSES:
            raise ParameterError(
                f"{where}, columns",
                "must be numeric, nominal, both or several joined by +",
                repr(one),
                nearest(one, PASSES),
            )
    return tuple(one for one in PASSES if one in wanted)
