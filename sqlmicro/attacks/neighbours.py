"""The released records that are nearest to a target, among the different ones there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.features import Features
from sqlmicro.registry import late
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import numpy as np


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
