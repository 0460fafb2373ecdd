"""Groups that keep guarantees with little loss, from the groups of any method.

A soft search pays a growing price for what the groups miss; what is left is mended by merging; a strict search with
splits and annealing follows, in which no group loses what it keeps. Where persons are counted and nothing else, groups
of k persons are made first, and the strict search is enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from sqlmicro.errors import InputError
from sqlmicro.group.mdav import mdav_labels
from sqlmicro.group.starts import persons_can_be_first, persons_first, t_first, t_first_size
from sqlmicro.group.value_order import by_value
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.limits import TCloseness
from sqlmicro.guarantees.state import columns_of, missing, state_of
from sqlmicro.registry import Tick, late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.group._halving_kernels import Halves
    from sqlmicro.guarantees.rules import Rules

Effort = Literal["fast", "balanced", "best"]

_WORK = 15_000_000  # of a kernel between two ticks: at most 0.3 s, also where memory is slow
_CHUNK = 4096  # records searched together, so that they stay in the processor's cache
_LEAF = 16  # points of a leaf of the tree that near records are looked up in
_REACH = 16  # near records of each, and leaves looked into for them
_CLOSE = 8  # of these where only persons are counted: a start that is good is soon at its best
_WIDTH = 30  # groups a merge is tried with
_MANY = 2000  # groups among which all are compared before a merge
_RECORDS_PER_CALL = 20_000  # records that are searched around between two ticks
_LEAST = 1e-6  # SSE of a start that loses nothing, of the total, for the first price
_LARGER = 1.5  # the least size, than k, from which on its MDAV is a start
_MDAV_MOST = 50_000  # records for which exact MDAV is a start
_T_FIRST_MOST = 20_000  # records for which the t-closeness-first construction is one


@dataclass(frozen=True)
class Schedule:
    """How long to search; a sweep proposes as many moves as there are records."""

    each: float
    """Work of the kernels for each record, of one start or annealing: 1e8 is 0.2 to 0.5 s."""
    soft: int
    """Sweeps in which the price of what the groups miss rises until they miss nothing."""
    annealed: int
    """Sweeps of the annealing."""
    proposals: float
    """The annealing has no more than these, but at least 20 sweeps."""
    runs: int
    """Annealings, each from the best so far."""


SCHEDULES: dict[Effort, Schedule] = {
    "fast": Schedule(each=4e4, soft=20, annealed=0, proposals=0, runs=0),
    "balanced": Schedule(each=1.5e5, soft=40, annealed=300, proposals=5e6, runs=1),
    "best": Schedule(each=3e6, soft=100, annealed=2000, proposals=5e7, runs=2),
}
_PRICE = 0.1  # of what one missing record costs at first, in SSE/n of the start
_RISE, _FALL = 1.5, 0.9  # of the price after a sweep, where too much is missed, and where not
_HASTE = 4.0  # the rise where the work is done
_LEAST_WORK = 10_000  # records that the work is for at least
_LATE = 14  # sweeps after those planned until merging does the rest
_MERGE_EVERY = 5  # sweeps
_HOT, _COLD = 0.4, 0.01  # temperatures of the annealing, in SSE/n of its start
_ROUNDS, _DESCENTS = 6, 10  # of splits, and sweeps after each
_APART = 4.0  # how far classes lie from each other where near records are looked for, in extents of all records


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
    schedule = SCHEDULES[effort]
    first = rules.persons is not None and persons_can_be_first(X)
    quick = first and not rules.sensitive and effort == "fast"
    search = Search(X, rules, rng, tick, schedule.each, deadline, reach=_CLOSE if quick else _REACH)
    starts = [search.persons_first] * first + ([] if quick else search.starts(labels, least.size))
    for number, start in enumerate(starts):
        if not (search.found and search.over):  # one grouping is always made
            search.span(0.5 * number / len(starts), 0.5 * (number + 1) / len(starts))
            search.descend(start(), schedule.soft)
    sweeps = int(min(schedule.annealed, max(20, schedule.proposals / n)))
    for run in range(schedule.runs):
        search.span(0.5 + 0.5 * run / schedule.runs, 0.5 + 0.5 * (run + 1) / schedule.runs)
        search.anneal(sweeps, deadline and time.monotonic() + (deadline - time.monotonic()) / (schedule.runs - run))
    return search.best


class Search:
    """The search for groups that keep all rules, among the same records: starts, and the best so far.

    The records are brought into an order of their own first, by their values, so that the groups do not depend on the
    order of the rows. Labels that a method takes or returns are those of the records in that order; `best` is that of
    the rows.
    """

    def __init__(
        self,
        X: np.ndarray,
        rules: Rules,
        rng: np.random.Generator,
        tick: Tick,
        each: float,
        deadline: float | None,
        within: np.ndarray | None = None,
        reach: int = _REACH,
    ) -> None:
        import numpy as np

        self._tick, self._deadline, self._span, self._share = tick, deadline, (0.0, 0.0), 0.0
        self._work = self._left = each * max(_LEAST_WORK, len(X))
        self._sse, self._total = np.inf, float(((X - X.mean(axis=0)) ** 2).sum())
        apart = X if within is None else np.column_stack([X, within * (_APART * (1.0 + np.ptp(X)))])
        order = by_value(apart)
        tree = self._halved(np.ascontiguousarray(apart[order]))
        self._order = order[tree.order]
        self._X = np.ascontiguousarray(X[self._order], dtype=float)
        self._within = np.zeros(len(X), np.int64) if within is None else within[self._order]
        self._rules = rules.of(self._order)
        self._columns = columns_of(self._rules, len(X))
        self._near = self._list_near(np.ascontiguousarray(apart[self._order], dtype=float), reach)
        self._bits = np.array([rng.integers(1, 2**63)], dtype=np.uint64)
        self._best: np.ndarray | None = None

    @property
    def best(self) -> np.ndarray:
        """Labels (n,) of the rows in the best grouping so far, 0..G-1."""
        import numpy as np

        assert self._best is not None
        labels = np.empty(len(self._order), dtype=np.int64)
        labels[self._order] = np.unique(self._best, return_inverse=True)[1]
        return labels

    @property
    def found(self) -> bool:
        """Whether there is a grouping yet."""
        return self._best is not None

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def span(self, begin: float, end: float) -> None:
        """Say which part of the whole search follows, for the progress."""
        self._span, self._share = (begin, end), 0.0

    def say(self, share: float = 0.0) -> None:
        """Report progress: the share of the present part that is done, at least."""
        begin, end = self._span
        self._share = share = max(share, self._share)
        best = f"IL {100 * self._sse / self._total:.3f} %" if self._sse < self._total else ""
        self._tick(int(1000 * (begin + (end - begin) * min(share, 1.0))), 1000, best)

    def persons_first(self) -> np.ndarray:
        """Return the groups of MDAV of persons."""
        assert self._rules.persons is not None
        return persons_first(self._X, self._rules.persons, self._rules.k, self.say)

    def starts(self, labels: np.ndarray, size: int) -> list[Callable[[], np.ndarray]]:
        """Return what makes the groups to start from: t-first, those of the method, MDAV of the least size."""
        n, k = len(self._X), self._rules.k
        found: list[Callable[[], np.ndarray]] = []
        if n <= _T_FIRST_MOST:
            ordered = [one for one in self._rules.sensitive if one.ordered]
            close = [
                (one.codes, limit.value) for one in ordered for limit in one.binding if isinstance(limit, TCloseness)
            ]
            sizes = [(codes, max(size, t_first_size(n, k, t))) for codes, t in close]
            found += [partial(t_first, self._X, codes, least, self.say) for codes, least in sizes]
        found.append(lambda: labels[self._order])
        if size >= _LARGER * k and n <= _MDAV_MOST:
            found.append(lambda: mdav_labels(self._X, size, lambda done, total, best="": self.say()))
        return found

    def descend(self, labels: np.ndarray, sweeps: int) -> None:
        """Search from some labels without annealing: softly, if they miss something, and strictly."""
        self._begin(labels)
        if self._state.missed.any():
            if not self._rise(sweeps):
                return
            self._mend()
        self._settle()

    def divide(self, classes: np.ndarray, rounds: int) -> None:
        """Split classes that keep the rules, row by row, as often as their parts keep them; then search strictly."""
        self._begin(classes[self._order])
        while self._split():
            pass
        self._settle(rounds)

    def anneal(self, sweeps: int, until: float | None) -> None:
        """Anneal the best grouping, with moves by which no group misses more; `until` a time, if there is one."""
        assert self._best is not None
        self._begin(self._best)
        scale, began, done, share = self._loss() / len(self._X), time.monotonic(), 0, 0.0
        while share < 1 and scale > 0 and not self.over:
            self._sweep(scale * _HOT * (_COLD / _HOT) ** share, scale, strict=True)
            done += 1
            share = max(done / sweeps, 1 - self._left / self._work)
            if until is not None:
                share = (time.monotonic() - began) / max(until - began, 1e-9)
            self.say(share)
        self._settle()

    def _begin(self, labels: np.ndarray) -> None:
        self._left = self._work
        slots = max(int(labels.max()) + 1, len(labels) // self._rules.k) + 1
        self._state = state_of(self._X, labels, self._columns, self._rules, slots)

    def _loss(self) -> float:
        within = late("sqlmicro.guarantees._state_kernels", "within")

        return float(within(self._state))

    def _rise(self, sweeps: int) -> bool:
        """Search at a price for what the groups miss that rises unless they miss less and less, down to nothing.

        Returns False where that is given up: the time is over or the work done, and there is a grouping already.
        """
        state = self._state
        first = state.missed.sum()
        price = _PRICE * max(self._loss(), _LEAST * self._total) / len(self._X)
        for done in range(1, sweeps + _LATE + 1):
            self._sweep(0.0, price, strict=False)
            if done % _MERGE_EVERY == 0:
                self._merge(price, only_gains=True)
            missed = state.missed.sum()
            if missed == 0:
                break
            hasty = self._left < 0
            if (hasty or self.over) and self.found:
                return False
            if self.over:
                break
            planned = first * max(0.0, 1 - done / sweeps) ** 2
            price *= _HASTE if hasty else _RISE if missed > planned else _FALL
            self.say(done / (sweeps + _LATE))
        return True

    def _mend(self) -> None:
        """Merge groups until none misses anything."""
        while self._state.missed.any() and (self._state.size > 0).sum() > 1:
            self._merge(self._total / len(self._X), only_gains=False)

    def _settle(self, rounds: int = _ROUNDS) -> None:
        """Split groups and move records as long as that gains something; remember the grouping if it is the best."""
        import numpy as np

        self._left = max(self._left, self._work / 4)
        n, state = len(self._X), self._state
        changed, clock = np.zeros(len(state.size), np.int64), np.zeros(1, np.int64)
        self._seen = np.full(n, -1), changed, clock
        for _ in range(rounds):
            before = state.size.copy()
            splits, moves = self._split(), 0
            clock[0] += 1
            changed[state.size != before] = clock[0]
            for _ in range(_DESCENTS):
                made = self._descent()
                moves += made
                if made <= n // 2000 or self.over or self._left < 0:
                    break
            if (splits == 0 and moves <= n // 500) or self.over or self._left < 0:
                break
        sse = self._loss()
        if sse < self._sse and not missing(state.label, self._rules).any():
            self._best, self._sse = state.label.copy(), sse

    def _descent(self) -> int:
        """Make the best move of every record that takes from the loss and misses nothing; return how many were made."""
        descend = late("sqlmicro.group._guaranteed_kernels", "descend")

        at, moves, work = 0, 0, _WORK // 4
        while at < len(self._X) and self._left >= 0 and not self.over:
            at, made, unused = descend(
                self._state, self._columns, self._rules.k, self._near, self._within, at, *self._seen, self._bits, work
            )
            self._left -= work - unused
            moves += made
            self.say()
        return moves

    def _sweep(self, temperature: float, price: float, *, strict: bool) -> int:
        """Propose as many moves as there are records; return how many were made."""
        search = late("sqlmicro.group._guaranteed_kernels", "search")

        n, k, moves = len(self._X), self._rules.k, 0
        for first in range(0, n, _CHUNK):
            stop = min(n, first + _CHUNK)
            left = stop - first
            while left:
                proposed, made, unused = search(
                    self._state, self._columns, k, self._near, self._within, first, stop, self._bits, left,
                    temperature, price, strict, _WORK,
                )  # fmt: skip
                left -= proposed
                self._left -= _WORK - unused
                moves += made
                self.say()
        return moves

    def _merge(self, price: float, *, only_gains: bool) -> None:
        """Merge every group that misses something with one near by, if that gains something, or whatever it costs."""
        import numpy as np

        repair = late("sqlmicro.group._guaranteed_kernels", "repair")

        state, most = self._state, 0.0 if only_gains else np.inf
        missed = np.flatnonzero(state.missed > 0)
        order, at = missed[np.argsort(-state.missed[missed], kind="stable")], 0
        while at < len(order):
            at = repair(state, self._columns, self._rules.k, self._near, order, at, price, most, _WIDTH, _MANY, _WORK)
            self.say()

    def _split(self) -> int:
        """Split every group whose halves keep all rules; return how many."""
        import numpy as np

        split = late("sqlmicro.group._guaranteed_kernels", "split")

        state, k, at, made = self._state, self._rules.k, 0, 0
        groups, free = np.flatnonzero(state.size >= 2 * k), np.flatnonzero(state.size == 0)
        while at < len(groups) and made < len(free):
            at, now = split(state, self._columns, k, groups, at, free[made:], _WORK)
            made += now
            self.say()
        return made

    def _halved(self, X: np.ndarray) -> Halves:
        import numpy as np

        halved = late("sqlmicro.group._halving_kernels", "halved")

        tree: Halves = halved(X, np.arange(len(X)), _LEAF, 1, self.say)
        return tree

    def _list_near(self, X: np.ndarray, reach: int) -> np.ndarray:
        """Return the records near to each (n, reach), where these are the records."""
        import numpy as np

        nearest = late("sqlmicro.group._block_kernels", "nearest")

        n, tree = len(X), self._halved(X)
        near = np.empty((n, min(reach, n - 1)), dtype=np.int32)
        for start in range(0, n, _RECORDS_PER_CALL):
            nearest(X, tree, near, start, min(n, start + _RECORDS_PER_CALL), reach, np.empty(0))
            self.say()
        return near
