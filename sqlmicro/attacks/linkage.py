"""Record linkage: which released records an attacker is left with, and how often the true one is among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease, Features
from sqlmicro.attacks.registry import Measured
from sqlmicro.attacks.row import Detail
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Nearest:
    """The released records that are nearest to each record that was tried.

    `least` (t,) is their squared distance and `ties` (t,) how many there are; `hits` (t,) is the probability that the
    record is linked by whoever takes one of them at random.
    """

    least: np.ndarray
    ties: np.ndarray
    hits: np.ndarray


def nearest(attacked: AttackedRelease, features: Features, text: str) -> Nearest:
    """Return the nearest released records of the records that are tried, by a kd-tree over distinct released ones.

    O(m p log m) to plant the tree, then O(p log m) for a record where few columns matter, and O(m p) at worst.
    """
    import numpy as np

    kernels = late("sqlmicro.attacks._linkage_kernels")

    X = np.ascontiguousarray(features.X[attacked.tried])
    least, ties = np.empty(len(X)), np.empty(len(X), dtype=np.int64)
    with attacked.warehouse.progress.kernel(text, len(X)) as progress:
        forest = kernels.grow(features.Y, features.weight, features.kind)
        row = 0
        while row < len(X):
            row = kernels.nearest(forest, X, row, least, ties)
            progress.tick(row, len(X))
    hits = 1 / ties
    if attacked.truth is not None:
        hits = np.where(apart(features, attacked.tried, attacked.truth[attacked.tried]) == least, hits, 0.0)
    return Nearest(least, ties, hits)


def apart(features: Features, rows: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the squared distance of records of the original from given records of the release, both (t,)."""
    kernels = late("sqlmicro.attacks._linkage_kernels")

    found: np.ndarray = kernels.distances(features.X[rows], features.Y[released], features.weight, features.kind)
    return found


Bounds = Callable[["np.ndarray", "np.ndarray", "np.ndarray"], tuple["np.ndarray", "np.ndarray"]]
"""From the values x (t,) of one numeric column that are tried, all values of the original and all that were released,
ascending and without the missing ones, to the least and the greatest released value that x may have become."""


@dataclass(frozen=True)
class Candidates(Detail):
    """The released records that an attack leaves."""

    candidates: float
    """How many on average."""
    truth_among_them: float
    """The share of the records tried whose own record is among them."""


def linked_within(attacked: AttackedRelease, bounds: Bounds) -> Measured:
    """Return how often a record is linked by taking one of those that lie within the bounds in every column.

    What is missing was released as missing; a nominal value as itself, or as any other where the release lacks it.
    O(m p log m) to plant the tree, then O(p log m) for a record and what its box cuts.
    """
    import numpy as np

    kernels = late("sqlmicro.attacks._linkage_kernels")

    features = attacked.features
    low, high = _boxes(attacked, features, bounds)
    counts = np.empty(len(low), dtype=np.int64)
    with attacked.warehouse.progress.kernel("count candidates", len(low)) as progress:
        forest = kernels.grow(features.Y, features.weight, features.kind)
        row = 0
        while row < len(low):
            row = kernels.inside(forest, low, high, row, counts)
            progress.tick(row, len(low))
    held = counts > 0
    if attacked.truth is not None:
        true = features.Y[attacked.truth[attacked.tried]]
        held = ((low <= true) & (true <= high)).all(axis=1)
    hits = np.where(held, 1 / np.maximum(counts, 1), 0.0)
    return measured(attacked, hits, Candidates(float(counts.mean()), float(held.mean())))


def _boxes(attacked: AttackedRelease, features: Features, bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest value of every column that the records tried may have become, both (t, p)."""
    import numpy as np

    kernels = late("sqlmicro.attacks._linkage_kernels")

    low = np.ascontiguousarray(features.X[attacked.tried])
    high = low.copy()
    for j, kind in enumerate(features.kind):
        if kind == kernels.LOW:
            low[:, j] = -np.inf
            continue
        if kind == kernels.HIGH:
            high[:, j] = np.inf
            continue
        if kind == kernels.NOMINAL:
            anything = low[:, j] < 0
        else:
            flagged = j + 1 < len(features.flag) and features.flag[j + 1]
            missing, lacking = (
                A[:, j + 1] > 0 if flagged else np.zeros(len(A), bool) for A in (features.X, features.Y)
            )
            x, y = np.sort(features.X[~missing, j]), np.sort(features.Y[~lacking, j])
            low[:, j], high[:, j] = bounds(low[:, j], x, y)
            anything = missing[attacked.tried]
        low[anything, j], high[anything, j] = -np.inf, np.inf
    return low, high


def measured(attacked: AttackedRelease, hits: np.ndarray, detail: Detail | None = None) -> Measured:
    """Return the mean of the probabilities of hitting the true record, beside that of taking any released one: 1/m."""
    return Measured(float(hits.mean()), 1 / attacked.sizes[1], len(hits), detail)


def distance_linkage(attacked: AttackedRelease) -> Measured:
    """Return how often a record is linked to its own by taking one of the nearest released records at random.

    This is what other modules call: `distance_linkage(attacked_release(warehouse, original, release, match=...))`.
    """
    found = attacked.once("nearest", lambda: nearest(attacked, attacked.features, "nearest released records"))
    return measured(attacked, found.hits)
