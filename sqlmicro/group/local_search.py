"""The search for groups of small loss among the same records: starts, local search, annealing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlmicro.group.mdav import mdav
from sqlmicro.group.mhm import mhm
from sqlmicro.registry import Tick, late, silent

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.group._halving_kernels import Halves
    from sqlmicro.group._move_kernels import Groups

_NEAR_GROUPS = 12
_LEAVES = 24  # of the tree of means looked into for these
_LEAF = 16  # points of a leaf of the tree that nearest points are looked up in
_CHUNK = 4096  # records annealed together, so that they stay in the processor's cache
_SLICE = 1_000_000  # proposals between two ticks: at most 0.3 s
_RECORDS_PER_CALL = 20_000  # records that are searched around between two ticks
_COLD = 0.001  # temperature at the end of annealing, in SSE/n of its start
_ACTIVE = (2.0, 60.0)  # temperatures; records whose spread lies between are the ones whose moves are decided now
_ACTIVE_SHARE = 5 / 6  # of the proposals


class Search:
    """The search for groups of small loss among the same records: starts, local search, annealing, the best so far.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records, n >= 2k. Not changed.
    k : int
        Smallest number of records in a group.
    rng : Generator
        Seeds the annealing.
    tick : callable, optional
        Told (share of the search, 1000, best loss so far).
    reach : int, optional
        Near records listed for each.
    leaves : int, optional
        Leaves of the tree looked into for these; exact unless the tree has more and columns are many.
    deadline : float, optional
        Value of `time.monotonic()` at which to stop.

    Notes
    -----
    The records are brought into an order of their own first, by their values, so that the groups do not depend on the
    order of the rows. Labels that a method takes or returns are those of the rows of X. O(n (p + reach)) memory.
    """

    def __init__(
        self,
        X: np.ndarray,
        k: int,
        rng: np.random.Generator,
        tick: Tick = silent,
        *,
        reach: int = 16,
        leaves: int = 64,
        deadline: float | None = None,
    ) -> None:
        import numpy as np

        self.k, self._rng, self._tick, self._deadline = k, rng, tick, deadline
        self._span = (0.0, 0.0)
        self._groups: Groups | None = None
        self._best: np.ndarray | None = None
        self.sse = np.inf
        self.total = 0.0
        n, p = X.shape
        order = by_value(X)
        self._tree = self._halved(X[order], _block_size(n, p), k)
        self._order = order[self._tree.order]
        self._X = np.ascontiguousarray(X[self._order])
        self.total = float(((self._X - self._X.mean(axis=0)) ** 2).sum())
        self._near, self._spread = self._list_near(min(reach, n - 1), leaves)
        quantiles = (np.arange(4096) + 0.5) / 4096
        self._exponential = np.random.default_rng(0).permutation(-np.log(quantiles))
        self._state = np.array([rng.integers(1, 2**63)], dtype=np.uint64)

    @property
    def best(self) -> np.ndarray:
        """Labels (n,) of the grouping with the smallest SSE so far, 0..G-1; `sse` is its SSE."""
        assert self._best is not None
        return self._outside(self._best)

    @property
    def found(self) -> bool:
        """Whether there is a grouping yet."""
        return self._best is not None

    def blocks(self) -> np.ndarray:
        """Return labels of MDAV inside blocks of near records."""
        import numpy as np

        blocks = late("sqlmicro.group._block_kernels")

        tree, label, groups = self._tree, np.empty(len(self._X), dtype=np.int64), 0
        leaves = np.flatnonzero(tree.leaf)
        for v in leaves[np.argsort(tree.first[leaves])]:
            groups = blocks.block_mdav(self._X, label, tree.first[v], tree.stop[v], self.k, groups)
            self.say()
        return self._outside(label)

    def mdav(self) -> np.ndarray:
        """Return labels of exact MDAV."""

        return self._outside(mdav(self._X, self._rng, self._part, k=self.k))

    def path(self) -> np.ndarray:
        """Return labels of MHM: the path from neighbour to neighbour, cut at the least loss."""

        return self._outside(mhm(self._X, self._rng, self._part, k=self.k))

    def start(self, labels: np.ndarray) -> None:
        """Go on from these labels, groups of k to 2k-1 records."""
        fill = late("sqlmicro.group._move_kernels", "fill")

        self._groups = fill(self._X, labels[self._order], len(self._X) // self.k + 1, 2 * self.k - 1)
        self._keep()

    def descend(self, rounds: int = 3) -> None:
        """Make the best relocation or exchange of every record with groups near to its own, so many times."""
        import numpy as np

        blocks = late("sqlmicro.group._block_kernels")
        kernels = late("sqlmicro.group._search_kernels")

        groups, n = self._current(), len(self._X)
        used = np.flatnonzero(groups.size).astype(np.int32)
        if len(used) < 2:
            return
        means = groups.mean[used]
        tree = self._halved(means, _LEAF // 2)
        short = np.empty((len(used), min(_NEAR_GROUPS, len(used) - 1)), dtype=np.int32)
        for start in range(0, len(used), _RECORDS_PER_CALL):
            blocks.nearest(means, tree, short, start, min(len(used), start + _RECORDS_PER_CALL), _LEAVES)
            self.say()
        near = np.zeros((len(groups.size), short.shape[1]), dtype=np.int32)
        near[used] = used[short]
        for _ in range(rounds):
            moves = 0
            for start in range(0, n, _RECORDS_PER_CALL):
                stop = min(n, start + _RECORDS_PER_CALL)
                moves += kernels.descend(self._X, groups, self.k, near, start, stop)
                self.say()
            if moves == 0:
                break
        self._keep()

    def anneal(self, proposals: int, hot: float = 1.0, *, until: float | None = None) -> np.ndarray:
        """Anneal the grouping; return its labels at the end, which need not be the best so far.

        Parameters
        ----------
        proposals : int
            Random moves to try.
        hot : float
            Temperature at the start, in SSE/n of the grouping; 0.001 at the end.
        until : float, optional
            Value of `time.monotonic()` to end at instead.
        """
        recentre = late("sqlmicro.group._move_kernels", "recentre")

        groups, n = self._current(), len(self._X)
        scale = recentre(self._X, groups) / n
        stages = int(min(1000, max(10, proposals // (4 * n))))
        began, stage, share = time.monotonic(), 0, 0.0
        while share < 1 and scale > 0 and not self.over:
            self._stage(scale * hot * (_COLD / hot) ** share, proposals / stages, share)
            stage += 1
            share = stage / stages if until is None else (time.monotonic() - began) / max(until - began, 1e-9)
            recentre(self._X, groups)
            self.say(share)
        self._keep()
        return self._outside(groups.label)

    def span(self, begin: float, end: float) -> None:
        """Say which part of the whole search follows, for the progress."""
        self._span = (begin, end)

    def say(self, share: float = 0.0) -> None:
        """Report progress: the share of the present part that is done."""
        begin, end = self._span
        best = f"IL {100 * self.sse / self.total:.3f} %" if self.found and self.total else ""
        self._tick(int(1000 * (begin + (end - begin) * min(share, 1.0))), 1000, best)

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _part(self, done: int, total: int, best: str = "") -> None:
        self.say(done / max(total, 1))

    def _current(self) -> Groups:
        if self._groups is None:
            self.start(self.blocks())
        assert self._groups is not None
        return self._groups

    def _keep(self) -> None:
        """Remember the present grouping if it is the best."""
        recentre = late("sqlmicro.group._move_kernels", "recentre")

        groups = self._current()
        sse = float(recentre(self._X, groups))
        if sse < self.sse:
            self._best, self.sse = groups.label.copy(), sse

    def _outside(self, label: np.ndarray) -> np.ndarray:
        """Return labels 0..G-1 of the rows as they came."""
        import numpy as np

        used = np.bincount(label) > 0
        labels = np.empty(len(label), dtype=np.int64)
        labels[self._order] = (np.cumsum(used) - 1)[label]
        return labels

    def _halved(self, X: np.ndarray, leaf: int, multiple: int = 1) -> Halves:
        import numpy as np

        halved = late("sqlmicro.group._halving_kernels", "halved")

        tree: Halves = halved(X, np.arange(len(X)), leaf, multiple, self.say)
        return tree

    def _list_near(self, reach: int, leaves: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the records near to each (n, reach), and the spread of each: how far those of a group with it lie."""
        import numpy as np

        blocks = late("sqlmicro.group._block_kernels")

        X, n = self._X, len(self._X)
        tree = self._halved(X, _LEAF)
        near, spread = np.empty((n, reach), dtype=np.int32), np.empty(n)
        for start in range(0, n, _RECORDS_PER_CALL):
            stop = min(n, start + _RECORDS_PER_CALL)
            blocks.nearest(X, tree, near, start, stop, leaves)
            self.say()
        for start in range(0, n, _RECORDS_PER_CALL):
            blocks.spread(X, near, min(self.k - 1, reach), spread, start, min(n, start + _RECORDS_PER_CALL))
        return near, spread

    def _stage(self, temperature: float, proposals: float, share: float) -> None:
        """Propose moves of the records of each chunk at one temperature."""
        import numpy as np

        n = len(self._X)
        active = (self._spread > _ACTIVE[0] * temperature) & (self._spread < _ACTIVE[1] * temperature)
        among_active = _ACTIVE_SHARE if temperature > 0 and 50 <= active.sum() < n else 0.0
        per_active = among_active * proposals / max(int(active.sum()), 1)
        for first in range(0, n, _CHUNK):
            some = np.arange(first, min(n, first + _CHUNK))
            decided = some[active[some]]
            shares = (1 - among_active) * proposals * len(some) / n, per_active * len(decided)
            for who, count in zip((some, decided), shares, strict=True):
                self._propose(who, int(count), temperature, share)

    def _propose(self, who: np.ndarray, count: int, temperature: float, share: float) -> None:
        anneal = late("sqlmicro.group._search_kernels", "anneal")

        groups = self._current()
        while count > 0 and not self.over:
            now = min(count, _SLICE)
            anneal(self._X, groups, self.k, self._near, who, self._state, now, temperature, self._exponential)
            count -= now
            self.say(share)


def by_value(X: np.ndarray) -> np.ndarray:
    """Return the rows in the order of their values, column by column; rows that are equal stay in order."""
    import numpy as np

    order = np.argsort(X[:, 0], kind="stable")
    first = X[order, 0]
    equal = np.flatnonzero(first[1:] == first[:-1])
    tied = np.union1d(equal, equal + 1)
    if len(tied):
        rows = order[tied]
        order[tied] = rows[np.lexsort(X[rows].T[::-1])]
    return order


def _block_size(n: int, p: int) -> int:
    """Return how many records MDAV is run on at a time: blocks cut more groups apart where there are more columns."""
    return (1024 if n > _CHUNK else _CHUNK) if p <= 4 else 4 * _CHUNK
