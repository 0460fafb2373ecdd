"""The search for groups of small loss among the same records: starts, local search, annealing."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlmicro.group import small_sets
from sqlmicro.group.mdav import mdav
from sqlmicro.group.mhm import mhm
from sqlmicro.group.value_order import by_value
from sqlmicro.registry import Tick, late, silent
from sqlmicro.system import parallel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from sqlmicro.group._halving_kernels import Halves
    from sqlmicro.group._move_kernels import Groups

T = TypeVar("T")
_NEAR_GROUPS = 12
_LEAVES = 24  # of the tree of means looked into for these
_LEAF = 16  # points of a leaf of the tree that nearest points are looked up in
_UNIT = 32_768  # records whose groups are searched apart from all others, at the same time
_TURNS = ((3 / 5, 4 / 5), (5 / 13, 12 / 13), (15 / 17, 8 / 17))  # cosine and sine, of how units are cut in turn
_CHUNK = 4096  # records annealed together, so that they stay in the processor's cache
_LISTED = 2048  # points of which all are looked at for the nearest ones: there is nothing to compile for that
_SLOTS_PER_CALL = 65_536
_SLICE = 1_000_000  # proposals between two ticks: at most 0.3 s
_RECORDS_PER_CALL = 20_000  # records that are searched around between two ticks
_COLD = 0.001  # temperature at the end of annealing, in SSE/n of its start
_ROUNDING = 1e-9  # of the bound, taken off it
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

    `least` is a lower bound on the SSE of every grouping into groups of k records or more. The SSE of a group of s is
    the sum of the squared distances of its pairs over s. Give each record half of its own: that is 1/2s times the sum
    over s-1 others, at least D(s-1)/2s, where D(r) is the sum of the r smallest squared distances to any others. The
    s-th smallest is not below the mean of those before it, so D(s)/(s+1) ≥ D(s-1)/s: the share is least for s = k. The
    bound is the sum over all records of D(k-1)/2k. Where the lists of near records are not exact, a distance that may
    belong to a record that was not looked at counts as that to the nearest box of the tree that was not. Our own proof;
    the sum over pairs is Edwards & Cavalli-Sforza (1965), Biometrics 21.

    Units of records that lie together are searched at the same time, each with random numbers of its own and without
    the groups of others. From one round to the next they are cut in other directions, so that no border stays. What
    comes out depends on the units, which X determines, and not on the threads.
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
        self.total = self.least = 0.0
        n, p = X.shape
        order = by_value(X)
        self._tree = self._halved(X[order], _block_size(n, p), k)
        self._order = order[self._tree.order]
        self._X = np.ascontiguousarray(X[self._order])
        self.total = float(((self._X - self._X.mean(axis=0)) ** 2).sum())
        tree, self._ways = self._cut_in_turn()
        self._near, beyond = self._nearest(self._X, min(reach, n - 1), tree, leaves)
        self.spread, self._round = self._spread_around(beyond), 0
        self._units = 1 + max(int(way.max()) for way in self._ways)
        quantiles = (np.arange(4096) + 0.5) / 4096
        self._exponential = np.random.default_rng(0).permutation(-np.log(quantiles))
        self._state = rng.integers(1, 2**63, size=self._units, dtype=np.int64).astype(np.uint64)

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

        tree, label = self._tree, np.empty(len(self._X), dtype=np.int64)
        leaves = np.flatnonzero(tree.leaf)
        if len(leaves) == 1:
            return self.mdav()
        parts = [slice(int(tree.first[v]), int(tree.stop[v])) for v in leaves[np.argsort(tree.first[leaves])]]

        def grouped(part: slice) -> np.ndarray:
            self.say()
            return small_sets.looped_mdav(self._X[part], self.k)

        groups = 0
        for part, found in zip(parts, parallel.each(grouped, parts), strict=True):
            label[part] = groups + found
            groups += int(found.max()) + 1
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

        slots = len(self._X) // self.k + 1
        self._groups = fill(self._X, labels[self._order], slots, 2 * self.k - 1, self._units)
        self._keep()

    def descend(self, rounds: int = 3) -> None:
        """Make the best relocation or exchange of every record with groups near to its own, so many times."""
        import numpy as np

        descend = late("sqlmicro.group._search_kernels", "descend")

        groups = self._current()
        used = np.flatnonzero(groups.size).astype(np.int32)
        if len(used) < 2:
            return
        means = groups.mean[used]
        short, _ = self._nearest(means, min(_NEAR_GROUPS, len(used) - 1), self._tree_of(means, _LEAF // 2), _LEAVES)
        near = np.zeros((len(groups.size), short.shape[1]), dtype=np.int32)
        near[used] = used[short]

        def improved(unit: int, records: np.ndarray) -> int:
            moves = 0
            for start, stop in _slices(len(records), _RECORDS_PER_CALL):
                moves += descend(self._X, groups, unit, self.k, near, records[start:stop])
                self.say()
            return moves

        for _ in range(rounds):
            if not sum(self._in_units(improved)):
                break
        self._keep()

    def anneal(
        self, proposals: int, hot: float = 1.0, *, cold: float = _COLD, until: float | None = None
    ) -> np.ndarray:
        """Anneal the grouping; return its labels at the end, which need not be the best so far.

        Parameters
        ----------
        proposals : int
            Random moves to try.
        hot : float
            Temperature at the start, in SSE/n of the grouping; that at the end is `cold`.
        until : float, optional
            Value of `time.monotonic()` to end at instead.
        """
        n = len(self._X)
        scale = self._recentre() / n
        stages = int(min(1000, max(10, proposals // (4 * n))))
        began, stage, share = time.monotonic(), 0, 0.0
        while share < 1 and scale > 0 and not self.over:
            self._stage(scale * hot * (cold / hot) ** share, proposals / stages, share)
            stage += 1
            share = stage / stages if until is None else (time.monotonic() - began) / max(until - began, 1e-9)
            self._recentre()
            self.say(share)
        self._keep()
        return self._outside(self._current().label)

    def span(self, begin: float, end: float) -> None:
        """Say which part of the whole search follows, for the progress."""
        self._span = (begin, end)

    def say(self, share: float = 0.0) -> None:
        """Report progress: the share of the present part that is done; a unit that is not wanted any more ends."""
        parallel.heed()
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
        sse = self._recentre()
        if sse < self.sse:
            self._best, self.sse = self._current().label.copy(), sse

    def _recentre(self) -> float:
        """Compute all means anew; return the SSE."""
        recentre = late("sqlmicro.group._move_kernels", "recentre")

        groups = self._current()
        parts = list(_slices(len(groups.size), _SLOTS_PER_CALL))
        return float(sum(parallel.each(lambda part: recentre(self._X, groups, *part), parts)))

    def _cut_in_turn(self) -> tuple[Halves | None, list[np.ndarray]]:
        """Return the tree of the records, and ways to cut them into units: for each the unit (n,) of every record."""
        import numpy as np

        n, p = self._X.shape
        whole = (np.arange(n) // _UNIT).astype(np.int16)
        if n <= _UNIT or p == 1:
            tree = self._tree_of(self._X, _LEAF)
            return tree, [whole] if n <= _UNIT else [whole, ((np.arange(n) + _UNIT // 2) // _UNIT).astype(np.int16)]

        cuts: list[Callable[[], Any]] = [lambda: self._tree_of(self._X, _LEAF)]  # the longest one begins first
        cuts += [partial(self._turned, *turn) for turn in _TURNS]
        tree, *ways = parallel.each(lambda cut: cut(), cuts)
        return tree, [whole, *ways]

    def _turned(self, cosine: float, sine: float) -> np.ndarray:
        """Return the unit of every record where they are halved in other directions."""
        import numpy as np

        turned, way = self._X.copy(), np.empty(len(self._X), np.int16)
        for j in range(turned.shape[1] - 1):
            left, right = turned[:, j].copy(), turned[:, j + 1].copy()
            turned[:, j], turned[:, j + 1] = cosine * left - sine * right, sine * left + cosine * right
        tree = self._halved(turned, _UNIT)
        for unit, leaf in enumerate(np.flatnonzero(tree.leaf)):
            way[tree.order[tree.first[leaf] : tree.stop[leaf]]] = unit
        return way

    def _in_units(self, function: Callable[[int, np.ndarray], T]) -> list[T]:
        """Call a function with every unit and its records; the units are cut anew from one call to the next."""
        import numpy as np

        share = late("sqlmicro.group._move_kernels", "share")

        way = self._ways[self._round % len(self._ways)]
        self._round += 1
        if self._units == 1:
            return [function(0, np.arange(len(way)))]
        share(self._current(), way)
        units = np.split(np.argsort(way, kind="stable"), np.cumsum(np.bincount(way))[:-1])
        return parallel.each(lambda unit: function(unit, units[unit]), range(len(units)))

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

        tree: Halves = halved(X, np.arange(len(X)), leaf, multiple, self.say, parallel.each)
        return tree

    def _tree_of(self, X: np.ndarray, leaf: int) -> Halves | None:
        """Return the tree that nearest points are looked up in; None where there are few."""
        return self._halved(X, leaf) if len(X) > _LISTED else None

    def _nearest(self, X: np.ndarray, reach: int, tree: Halves | None, leaves: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the points near to each (n, reach), exact without a tree, and how far others are at least."""
        import numpy as np

        n = len(X)
        if tree is None:
            return small_sets.all_nearest(X, reach), np.full(n, np.inf)
        nearest = late("sqlmicro.group._block_kernels", "nearest")

        near, beyond = np.empty((n, reach), dtype=np.int32), np.empty(n)

        def listed(part: tuple[int, int]) -> None:
            nearest(X, tree, near, *part, leaves, beyond)
            self.say()

        parallel.each(listed, list(_slices(n, _RECORDS_PER_CALL)))
        return near, beyond

    def _spread_around(self, beyond: np.ndarray) -> np.ndarray:
        """Return half the mean squared distance of every record to its k-1 nearest: about what it loses in a group.

        Sets `least`; records that are not listed are at least `beyond` away, squared.
        """
        import numpy as np

        X, near = self._X, self._near[:, : self.k - 1]

        def around(part: tuple[int, int]) -> tuple[np.ndarray, float]:
            total = np.zeros(near[slice(*part)].shape)
            for column in X.T:
                total += (column[slice(*part), None] - column[near[slice(*part)]]) ** 2
            sure = np.minimum(total, beyond[slice(*part), None])
            unlisted = self.k - 1 - near.shape[1]
            return 0.5 * total.mean(axis=1), float(sure.sum() + unlisted * sure[:, -1].sum())

        found = parallel.each(around, list(_slices(len(X), _RECORDS_PER_CALL)))
        self.least = (1 - _ROUNDING) * math.fsum(sure for _, sure in found) / (2 * self.k)
        return np.concatenate([spread for spread, _ in found])

    def _stage(self, temperature: float, proposals: float, share: float) -> None:
        """Propose moves of the records of each chunk at one temperature."""

        n = len(self._X)
        active = (self.spread > _ACTIVE[0] * temperature) & (self.spread < _ACTIVE[1] * temperature)
        among_active = _ACTIVE_SHARE if temperature > 0 and 50 <= active.sum() < n else 0.0
        per_active = among_active * proposals / max(int(active.sum()), 1)

        def propose(unit: int, records: np.ndarray) -> None:
            for first, stop in _slices(len(records), _CHUNK):
                some = records[first:stop]
                decided = some[active[some]]
                shares = (1 - among_active) * proposals * len(some) / n, per_active * len(decided)
                for who, count in zip((some, decided), shares, strict=True):
                    self._propose(unit, who, int(count), temperature, share)

        self._in_units(propose)

    def _propose(self, unit: int, who: np.ndarray, count: int, temperature: float, share: float) -> None:
        anneal = late("sqlmicro.group._search_kernels", "anneal")

        groups, settings = self._current(), (temperature, self._exponential)
        while count > 0 and not self.over:
            now = min(count, _SLICE)
            anneal(self._X, groups, unit, self.k, self._near, who, self._state, now, *settings)
            count -= now
            self.say(share)


def _slices(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield where slices of at most so many of `count` begin and end."""
    for start in range(0, count, most):
        yield start, min(start + most, count)


def _block_size(n: int, p: int) -> int:
    """Return how many records MDAV is run on at a time: blocks cut more groups apart where there are more columns."""
    return (1024 if n > _CHUNK else _CHUNK) if p <= 4 else 4 * _CHUNK
