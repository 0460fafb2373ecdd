"""Groups that keep guarantees with little loss, from the groups of any method.

A soft search pays a growing price for what the groups miss; what is left is mended by merging; a strict search with
splits and annealing follows, in which no group loses what it keeps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.errors import InputError
from sqlmicro.group.local_search import by_value
from sqlmicro.group.mdav import mdav_labels
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.state import columns_of, missing, state_of
from sqlmicro.registry import Tick, late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.guarantees.rules import Rules

Effort = Literal["fast", "balanced", "best"]

_WORK = 100_000_000  # of a kernel between two ticks: at most 0.3 s
_CHUNK = 4096  # records searched together, so that they stay in the processor's cache
_LEAF = 16  # points of a leaf of the tree that near records are looked up in
_LEAVES = 16  # of these looked into
_REACH = 16  # near records of each
_WIDTH = 30  # groups a merge is tried with
_MANY = 2000  # groups among which all are compared before a merge
_MDAV_MOST = 50_000  # records for which exact MDAV is a start
_T_FIRST_MOST = 20_000  # records for which the t-closeness-first construction is one


@dataclass(frozen=True)
class Schedule:
    """How long to search: sweeps propose one move per record; temperatures and prices are in SSE per column."""

    soft: int
    annealed: int
    hot: float
    rounds: int


_SCHEDULES: dict[Effort, Schedule] = {
    "fast": Schedule(soft=60, annealed=0, hot=0.0, rounds=6),
    "balanced": Schedule(soft=100, annealed=300, hot=0.2, rounds=6),
    "best": Schedule(soft=100, annealed=2000, hot=0.5, rounds=10),
}


def keep(
    X: np.ndarray,
    labels: np.ndarray,
    rules: Rules,
    rng: np.random.Generator,
    tick: Tick,
    *,
    effort: Effort = "fast",
    deadline: float | None = None,
) -> np.ndarray:
    """Return groups that keep all rules with little loss, starting from those of a method.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records. Not changed.
    labels : ndarray of shape (n,)
        Groups to start from. They are returned as they are if they keep all rules.
    rules : Rules
        What must hold of every group.
    rng : Generator
        Seeds the search.
    tick : callable
        Told (done, total, best loss so far).
    effort : {"fast", "balanced", "best"}
        How long to search.
    deadline : float, optional
        Value of `time.monotonic()` from which on only what must be done is done.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1.

    Raises
    ------
    InputError
        When not even all records in one group keep the rules.
    """
    import numpy as np

    n = len(X)
    labels = np.unique(labels, return_inverse=True)[1]
    least = bound(rules, n)
    if least.infeasible:
        raise InputError("guarantees", "all records in one group must keep them", least.infeasible)
    if not missing(labels, rules).any():
        return labels
    search = Guaranteed(X, rules, rng, tick, deadline)
    schedule = _SCHEDULES[effort]
    for start in search.starts(labels, least.size):
        search.run(start, schedule)
    return search.best


class Guaranteed:
    """The search for groups that keep all rules, among the same records: starts, and the best so far.

    The records are brought into an order of their own first, by their values, so that the groups do not depend on the
    order of the rows. Labels that a method takes or returns are those of the rows of X.
    """

    def __init__(
        self, X: np.ndarray, rules: Rules, rng: np.random.Generator, tick: Tick, deadline: float | None
    ) -> None:
        import numpy as np

        halved = late("sqlmicro.group._halving_kernels", "halved")
        self._tick, self._deadline = tick, deadline
        order = by_value(X)
        tree = halved(np.ascontiguousarray(X[order]), np.arange(len(X)), _LEAF, 1, self.say)
        self._order = order[tree.order]
        self._X = np.ascontiguousarray(X[self._order], dtype=float)
        self._rules = rules.of(self._order)
        self._columns = columns_of(self._rules, len(X))
        self._near = self._list_near()
        self._bits = np.array([rng.integers(1, 2**63)], dtype=np.uint64)
        self._best: np.ndarray | None = None
        self._sse = np.inf

    @property
    def best(self) -> np.ndarray:
        """Labels (n,) of the best grouping so far."""
        import numpy as np

        assert self._best is not None
        labels = np.empty(len(self._order), dtype=np.int64)
        labels[self._order] = np.unique(self._best, return_inverse=True)[1]
        return labels

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def say(self) -> None:
        """Report progress."""
        self._tick(0, 1000)

    def starts(self, labels: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Yield labels of the sorted records to start from: those of the method, MDAV of the least size, t-first."""
        n = len(self._X)
        yield labels[self._order]
        if n <= _MDAV_MOST:
            yield mdav_labels(self._X, size)
        if n <= _T_FIRST_MOST:
            for one in self._rules.sensitive:
                if one.t < 1:
                    yield self.t_first(one.codes, max(size, t_first_size(n, self._rules.k, one.t)))

    def run(self, labels: np.ndarray, schedule: Schedule) -> None:
        """Search from some labels; keep what comes out if it is the best."""
        import numpy as np

        within = late("sqlmicro.guarantees._state_kernels", "within")
        p = self._X.shape[1]
        self._k = self._rules.k
        slots = len(self._X) // self._k + int(labels.max()) + 2
        self._state = state_of(self._X, labels, self._columns, self._k, slots)
        if self._state.missed.any():
            for price in np.geomspace(0.05, 20, schedule.soft):
                self.sweep(0.0, price * p, strict=False)
            self.mend(float(p))
        if schedule.annealed:
            self.split()
            for temperature in np.geomspace(schedule.hot, schedule.hot / 200, schedule.annealed):
                if self.over:
                    break
                self.sweep(temperature * p, float(p), strict=True)
        for _ in range(schedule.rounds):
            splits, moves = self.split(), 0
            for _ in range(10):
                now = self.sweep(0.0, float(p), strict=True)
                moves += now
                if now < len(self._X) // 2000 or self.over:
                    break
            if splits == 0 and moves < len(self._X) // 500:
                break
        sse = float(within(self._state))
        if sse < self._sse and not missing(self._state.label, self._rules).any():
            self._best, self._sse = self._state.label.copy(), sse

    def sweep(self, temperature: float, price: float, *, strict: bool) -> int:
        """Propose as many moves as there are records; return how many were made."""
        kernel = late("sqlmicro.group._guaranteed_kernels", "search")
        n, moves = len(self._X), 0
        for first in range(0, n, _CHUNK):
            stop = min(n, first + _CHUNK)
            left = stop - first
            while left:
                done, made = kernel(
                    self._state, self._columns, self._k, self._near, first, stop, self._bits, left,
                    temperature, price, strict, _WORK,
                )  # fmt: skip
                left -= done
                moves += made
                self.say()
        return moves

    def mend(self, price: float) -> None:
        """Merge groups until none misses anything."""
        import numpy as np

        repair = late("sqlmicro.group._guaranteed_kernels", "repair")
        state = self._state
        while True:
            missed = np.flatnonzero(state.missed > 0)
            if not len(missed) or np.count_nonzero(state.size) == 1:
                return
            order, at = missed[np.argsort(-state.missed[missed], kind="stable")], 0
            while at < len(order):
                at = repair(state, self._columns, self._k, self._near, order, at, price, _WIDTH, _MANY, _WORK)
                self.say()

    def split(self) -> int:
        """Split every group whose halves keep all rules; return how many."""
        import numpy as np

        kernel = late("sqlmicro.group._guaranteed_kernels", "split")
        state, at, made = self._state, 0, 0
        groups = np.flatnonzero(state.size >= 2 * self._k)
        free = np.flatnonzero(state.size == 0)
        while at < len(groups) and made < len(free):
            at, now = kernel(state, self._columns, self._k, groups, at, free[made:], _WORK)
            made += now
            self.say()
        return made

    def t_first(self, codes: np.ndarray, size: int) -> np.ndarray:
        """Return groups of one record from each of `size` buckets of ranks (Soria-Comas et al. 2015, algorithm 3)."""
        import numpy as np

        kernel = late("sqlmicro.group._guaranteed_kernels", "t_first")
        n = len(self._X)
        groups = n // size
        order = np.argsort(codes, kind="stable")
        extra = n - groups * size
        larger = (size - extra) // 2
        left = np.full(size, groups, dtype=np.int64)
        left[larger : larger + extra] += 1
        bucket = np.empty(n, dtype=np.int64)
        bucket[order] = np.repeat(np.arange(size), left)
        labels, at = np.full(n, -1, dtype=np.int64), np.array([n, 0, 0], dtype=np.int64)
        rest = np.arange(n)
        while at[1] < groups:
            kernel(self._X, bucket, left, labels, rest, at, groups, _WORK)
            self.say()
        for i in np.flatnonzero(labels < 0):
            on = labels >= 0
            means = np.array([np.bincount(labels[on], column[on]) for column in self._X.T]).T
            means /= np.bincount(labels[on])[:, None]
            labels[i] = ((means - self._X[i]) ** 2).sum(axis=1).argmin()
        return labels

    def _list_near(self) -> np.ndarray:
        """Return the records near to each, (n, reach)."""
        import numpy as np

        blocks = late("sqlmicro.group._block_kernels")
        halved = late("sqlmicro.group._halving_kernels", "halved")
        n = len(self._X)
        tree = halved(self._X, np.arange(n), _LEAF, 1, self.say)
        near = np.empty((n, min(_REACH, n - 1)), dtype=np.int32)
        for start in range(0, n, 20_000):
            blocks.nearest(self._X, tree, near, start, min(n, start + 20_000), _LEAVES)
            self.say()
        return near


def t_first_size(n: int, k: int, t: float) -> int:
    """Return the size at which one record from each of so many buckets of ranks is t-close, whatever the records."""
    size = max(k, math.ceil(n / (2 * (n - 1) * t + 1)))
    return min(n, size + (n % size) // max(1, n // size))
