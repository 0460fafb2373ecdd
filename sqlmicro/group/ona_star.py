"""ONA*: random groups, whose records move and which dissolve while that lessens the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.group.value_order import by_value
from sqlmicro.options.params import K
from sqlmicro.registry import Tick, method, silent

if TYPE_CHECKING:
    import numpy as np

_PASSES = 1000  # over all records; every one but the last lessens the loss
_NO_GAIN = 1e-12  # of what a record or group costs now: a gain below it is rounding
_ROUNDING = 1e-24  # of the largest square of a value: of a mean the last digits are wrong, of a distance their square


@method(
    "ona-star",
    stage="group",
    engine="numpy",
    promise="record",
    source="Soria-Comas, Domingo-Ferrer & Mulero (2019) for ONA; Thaeter & Reischuk (2021) for ONA*; our reading",
)
def ona_star(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Group records at random, then move them and dissolve groups while that lessens the loss.

    Pass after pass over all records, until one changes nothing: a record of a group of more than k goes where it adds
    the least, if that is less than it costs in its own. A group of k is dissolved if its records, each joining where it
    adds the least, add less than the group costs. After each pass a group of 2k records or more is grouped in the same
    way on its own.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1; groups have k to 2k-1 records.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    The papers were not at hand but for their abstracts and conclusions: random first groups, reassignment in the manner
    of Lloyd, groups that dissolve, and the recursion are as we know them from elsewhere, and these are our own choices:
    records in the order of their values, so that row order does not matter; at most one look at dissolving a group in a
    pass; its records leave one after another, and join groups as these have become; k to 2k-1 first groups of equal
    size, drawn evenly; no restart. What a record adds to a group of m is m/(m+1) times its squared distance to the
    centroid, and it costs m/(m-1) times that in its own.

    Every change lessens the SSE, so that the passes come to an end; their number is not bounded by a polynomial. One
    takes O(n² p / k) time; O(n p) memory.

    References
    ----------
    Thaeter & Reischuk: Scalable k-anonymous Microaggregation: Exploiting the Tradeoff between Computational Complexity
    and Information Loss. SECRYPT 2021, 87-98.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5], [0.2], [10.2]])
    >>> ona_star(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).tolist()
    [0, 0, 1, 1, 0, 1, 0, 1]
    """
    import numpy as np

    if len(X) < k:
        raise InputError("ona-star", f"there must be at least k = {k} records", f"{len(X)}", "Use a smaller k")
    order = by_value(X)
    found = grouped(X[order], rng, tick, k)
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = found
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    ranked: np.ndarray = np.argsort(np.argsort(first))[number]
    return ranked


def grouped(X: np.ndarray, rng: np.random.Generator, tick: Tick, k: int) -> np.ndarray:
    """Return the groups (n,) of records in their order, in any numbers."""
    import numpy as np

    n = len(X)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    labels = rng.permutation(np.arange(n) % (n // k))
    groups = _Groups(X, labels, k)
    for done in range(_PASSES):
        changed = False
        looked = np.zeros(len(groups.size), dtype=bool)
        for i in range(n):
            g = labels[i]
            if groups.size[g] > k:
                changed |= groups.moved(i)
            elif not looked[g]:
                looked[g] = True
                changed |= groups.dissolved(g)
            if i % 500 == 0:
                tick(min(done * n + i, 20 * n), 20 * n)
        for g in np.flatnonzero(groups.size >= 2 * k):
            groups.split(int(g), rng)
            changed = True
        if not changed:
            break
    return labels


class _Groups:
    """Groups that change; `labels` is changed in place, and a group without records keeps its number."""

    def __init__(self, X: np.ndarray, labels: np.ndarray, k: int) -> None:
        self.X, self.labels, self.k = X, labels, k
        # Below this a gain is rounding. Records of one value would be dissolved into one group and split for ever.
        self.rounding = _ROUNDING * float((X**2).max(initial=0))
        self._centre()

    def _centre(self) -> None:
        """Compute all sums anew, with numbers for groups that come from splits."""
        import numpy as np

        self.size = np.bincount(self.labels)
        self.total = np.stack([np.bincount(self.labels, column) for column in self.X.T], axis=1)

    def _nearest(self, i: int, but: int) -> tuple[int, float]:
        """Return the group that record i adds the least to, other than one, and what it adds; -1 if there is none."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            added = ((self.total / self.size[:, None] - self.X[i]) ** 2).sum(axis=1) * (self.size / (self.size + 1.0))
        added[self.size == 0], added[but] = np.inf, np.inf
        to = int(np.argmin(added))
        return (to, float(added[to])) if np.isfinite(added[to]) else (-1, np.inf)

    def _put(self, i: int, to: int) -> None:
        g = self.labels[i]
        self.size[g] -= 1
        self.total[g] -= self.X[i]
        self.size[to] += 1
        self.total[to] += self.X[i]
        self.labels[i] = to

    def moved(self, i: int) -> bool:
        """Move a record where it adds less than it costs, if it can; return whether it was."""
        g = int(self.labels[i])
        size = self.size[g]
        cost = float(((self.total[g] / size - self.X[i]) ** 2).sum()) * size / (size - 1.0)
        to, added = self._nearest(i, g)
        if to < 0 or added >= cost * (1 - _NO_GAIN) - self.rounding:
            return False
        self._put(i, to)
        return True

    def dissolved(self, g: int) -> bool:
        """Dissolve a group if its records add less elsewhere than it costs; return whether it was."""
        import numpy as np

        members = np.flatnonzero(self.labels == g)
        Y = self.X[members]
        left = float(((Y - Y.mean(axis=0)) ** 2).sum()) * (1 - _NO_GAIN) - self.rounding
        size, total = self.size.copy(), self.total.copy()
        for i in members:
            to, added = self._nearest(int(i), g)
            left -= added
            if to < 0 or left <= 0:
                self.labels[members], self.size, self.total = g, size, total
                return False
            self._put(int(i), to)
        return True

    def split(self, g: int, rng: np.random.Generator) -> None:
        """Group the records of a group on their own."""
        import numpy as np

        members = np.flatnonzero(self.labels == g)
        found = grouped(self.X[members], rng, silent, self.k)
        _, number = np.unique(found, return_inverse=True)
        self.labels[members] = np.where(number == 0, g, len(self.size) - 1 + number)
        self._centre()
