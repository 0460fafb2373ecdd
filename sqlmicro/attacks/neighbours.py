"""The released records that are nearest to a target, among the different ones there are.

The released records that are nearest to a record of the original, each by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease, Features, Persons
from sqlmicro.registry import late
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.attacks._linkage_kernels import Forest


@dataclass(frozen=True)
class Near:
    """The nearest different released records of every target, the nearest first."""

    gaps: np.ndarray
    """(t, c) squared distances"""
    which: np.ndarray
    """(t, c) their numbers"""


@dataclass(frozen=True)
class Groups:
    """The different records of a release."""

    points: np.ndarray
    """(V, p)"""
    times: np.ndarray
    """(V,) how often each occurs"""
    of: np.ndarray
    """(m,) which of them every released record is"""


def groups(Y: np.ndarray, times: np.ndarray) -> Groups:
    """Return the different rows of Y, each of which stands for so many records (m,)."""
    import numpy as np

    points, _, of = late("sqlmicro.attacks._linkage_kernels").distinct(Y)
    return Groups(points, np.bincount(of, times).astype(np.int64), of)


def nearest(
    X: np.ndarray, points: np.ndarray, features: Features, progress: Progress, number: int, *, widest: bool = False
) -> Near:
    """Return the nearest of some points for every row of X: by the squared distance, or by the widest gap of a column.

    Weight and kind of the columns are those of `features`. O(t m p) at worst; most records are left after a column.
    """
    import numpy as np

    kernels = late("sqlmicro.attacks._control_kernels")
    X, points = np.ascontiguousarray(X), np.ascontiguousarray(points)
    c = min(number, len(points))
    gaps, which = np.empty((len(X), c)), np.empty((len(X), c), dtype=np.int64)
    at_once = max(1, kernels.WORK_PER_CALL // len(points))
    with progress.kernel("nearest released records", len(X)) as ticking:
        for begin in range(0, len(X), at_once):
            part = slice(begin, begin + at_once)
            kernels.nearest(X[part], points, features.weight, features.kind, widest, gaps[part], which[part])
            ticking.tick(min(begin + at_once, len(X)), len(X))
    return Near(gaps, which)


@dataclass(frozen=True)
class Nearest:
    """The released records that are nearest to each record that was tried.

    `least` (t,) is their squared distance and `ties` (t,) how many there are; `hits` (t,) is the probability that the
    record is linked by whoever takes one of them at random.
    """

    least: np.ndarray
    ties: np.ndarray
    hits: np.ndarray


def nearest_to_tried(attacked: AttackedRelease) -> Nearest:
    """Return the nearest released records of the records that are tried, by a kd-tree over distinct released ones.

    O(m p log m) to plant the tree, then O(p log m) for a record where few columns matter, and O(m p) at worst.
    """
    return attacked.once("nearest", lambda: _nearest(attacked, attacked.features))


def _nearest(attacked: AttackedRelease, features: Features) -> Nearest:
    import numpy as np

    kernels = late("sqlmicro.attacks._linkage_kernels")

    X = np.ascontiguousarray(features.X[attacked.tried])
    least, ties = np.empty(len(X)), np.empty(len(X), dtype=np.int64)
    with attacked.warehouse.progress.kernel("nearest released records", len(X)) as progress:
        released = groups(features.Y, features.times)
        forest = kernels.grow(released.points, released.times, features.weight, features.kind)
        row = 0
        while row < len(X):
            row = kernels.nearest(forest, X, row, least, ties)
            progress.tick(row, len(X))
    if attacked.persons is not None:
        return Nearest(least, ties, _persons_at(attacked, attacked.persons, features, forest, X, least))
    hits = 1 / ties
    if attacked.truth is not None:
        hits = np.where(apart(features, attacked.tried, attacked.truth[attacked.tried]) == least, hits, 0.0)
    return Nearest(least, ties, hits)


def _persons_at(
    attacked: AttackedRelease, persons: Persons, features: Features, forest: Forest, X: np.ndarray, least: np.ndarray
) -> np.ndarray:
    """Return the probability that each person is hit who has a record of X, by any of the persons that are nearest."""
    import numpy as np

    kernels = late("sqlmicro.attacks._linkage_kernels")

    people = kernels.people(features.Y, persons.released)
    sought = np.full(len(X), -1) if attacked.truth is None else persons.original[attacked.tried]
    hits, marked = np.empty(len(X)), np.full(int(persons.released.max()) + 1, -1)
    with attacked.warehouse.progress.kernel("persons among them", len(X)) as progress:
        row = 0
        while row < len(X):
            row = kernels.persons_at(forest, people, X, least, sought, row, marked, hits)
            progress.tick(row, len(X))
    return hits


def apart(features: Features, rows: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the squared distance of records of the original from given records of the release, both (t,)."""
    kernels = late("sqlmicro.attacks._linkage_kernels")

    found: np.ndarray = kernels.distances(features.X[rows], features.Y[released], features.weight, features.kind)
    return found
