"""Groups that a search for groups which keep guarantees starts from: t-closeness first, persons first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

_WORK = 50_000_000  # of a kernel between two calls of `say`: at most 0.3 s
_TREES_MOST = 16_000_000  # records times the square of the columns: 8 s with 10⁶ records of four


def t_first_size(n: int, k: int, t: float) -> int:
    """Return the size at which one record from each of so many buckets of ranks is t-close, whatever the records."""
    size = max(k, math.ceil(n / (2 * (n - 1) * t + 1)))
    return min(n, size + (n % size) // max(1, n // size))


def t_first(X: np.ndarray, codes: np.ndarray, size: int, say: Callable[[], None]) -> np.ndarray:
    """Return groups of one record from each of `size` buckets of ranks (Soria-Comas et al. 2015, algorithm 3)."""
    import numpy as np

    form = late("sqlmicro.group._t_first_kernels", "t_first")

    n = len(X)
    groups, extra = divmod(n, size)
    left = np.full(size, groups)
    larger = (size - extra) // 2  # they are in the middle
    left[larger : larger + extra] += 1
    bucket = np.empty(n, dtype=np.int64)
    bucket[np.argsort(codes, kind="stable")] = np.repeat(np.arange(size), left)
    labels, rest, at = np.full(n, -1, dtype=np.int64), np.arange(n), np.array([n, 0, 0])
    while at[1] < groups:
        form(X, bucket, left, labels, rest, at, groups, _WORK)
        say()
    return _placed(X, labels)


def persons_can_be_first(X: np.ndarray) -> bool:
    """Return whether MDAV of so many records and columns takes seconds; its trees save less in many columns."""
    n, p = X.shape
    return bool(0 < n * p * p <= _TREES_MOST)


def persons_first(X: np.ndarray, persons: np.ndarray, k: int, say: Callable[[], None]) -> np.ndarray:
    """Return groups (n,) of k persons or more: MDAV, in which a group takes the nearest records until they are of k.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records, p >= 1, writable and C-contiguous. Not changed.
    persons : ndarray of shape (n,)
        The person of every record, numbered from 0; k or more occur.
    k : int
        Least number of persons in a group.
    say : callable
        Called every now and then.

    Notes
    -----
    While k persons are left, the record farthest from the centroid of those left is taken, with the nearest ones until
    they are of k persons, however many that takes; then the one farthest from that record, likewise. Who is left at the
    end joins the group with the nearest mean. With one record a person the groups are those of MDAV until fewer than 3k
    are left (Domingo-Ferrer & Torra (2005), Data Mining and Knowledge Discovery 11(2)); the persons are our own. Time
    is that of MDAV, and more where a person has many records that lie together: a group takes all of them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> persons_first(X, np.array([0, 0, 1, 2, 3, 3]), 2, lambda: None).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    form_all = late("sqlmicro.group._person_kernels", "form_all")

    return _placed(X, form_all(X, persons, k, lambda done, total: say()))


def _placed(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Put every record that is in no group, with label -1, into the one with the nearest mean; return the labels."""
    import numpy as np

    formed, others = labels >= 0, np.flatnonzero(labels < 0)
    sums = np.array([np.bincount(labels[formed], column[formed]) for column in X.T]).T
    means = sums / np.bincount(labels[formed])[:, None]
    for i in others:
        labels[i] = ((means - X[i]) ** 2).sum(axis=1).argmin()
    return labels
