"""Column generation for microaggregation: which groups may be in a best grouping, and a bound on its SSE."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from sqlmicro.group._partitioning import Columns, Programme, TimeOver
from sqlmicro.group.mdav import mdav
from sqlmicro.registry import Tick, late, silent

if TYPE_CHECKING:
    import numpy as np

Pool = Callable[["np.ndarray", "Callable[[], np.ndarray] | None"], Iterable["np.ndarray"]]
"""Called with the best labels so far, yields labels of good groupings.

From the second time on it is given a function that rounds the solution of the linear programme: labels to start from,
each time others.
"""

_SWEEPS = 6  # of pool, prices and MILP, until one of them finds no smaller loss
_IDLE_ROUNDS = 5  # of pricing in which the linear programme does not fall
_FALLS = 1e-6  # by this part
_SHORT_WORK = 200_000  # steps of the search around one anchor, when groups are generated
_TIGHTENINGS = 10  # rounds of triples before a MILP
_WORK = 100_000_000_000  # steps of all rounds of exact pricing
_NEAR = 0.05  # of the gap: so near to the linear programme the bound must be before triples are added
_CUT_ROUNDS = 5  # in which triples must raise the bound
_WORTH = 0.05  # by this part of the gap
_ANCHOR_WORK = 200_000_000  # steps of the search around one anchor: 0.3 s or so
_SLICE_WORK = 40_000_000  # steps between two ticks
_ROUND_WORK = (2_000_000_000, 8_000_000_000, 32_000_000_000)  # steps of a round of exact pricing; more if it finds none
_AHEAD = 4  # times its part of the steps left is what the search around an anchor may take: most need little
_WIDTH = 2000  # candidates around an anchor
_KEEP = 4  # groups that exact pricing finds per anchor
_SMOOTHING = 0.5
_MILP_COLUMNS = (2000, 5000)  # the best of the groups that may be in a better grouping; more where they do not help
_NO_EXCESS = 1e-9  # an excess below it, relative to the mean SSE of a group, counts as none
_ROUNDING = 1e-9  # of the SSE, taken off the bound
_TOLERANCE = 1e-6  # of the SSE, taken off a bound by the MILP; HiGHS works with tolerances of 1e-7
_IN_USE = 1e-6  # of a group: less is rounding
_NOISE = 0.2  # added to the use of a group, so that solutions are rounded in many ways
_MOST_ROUNDS = 1000  # what progress is shown against


class ColumnGeneration:
    """The best grouping and the best bound so far, and the steps that make them better."""

    def __init__(
        self, X: np.ndarray, labels: np.ndarray, k: int, rng: np.random.Generator, tick: Tick, deadline: float,
        most_rounds: float = math.inf, most_steps: float = math.inf,
    ) -> None:  # fmt: skip
        import numpy as np

        self.n, self.k, self.largest = len(X), k, min(2 * k - 1, len(X))
        self.rng, self.tick, self.deadline = rng, tick, deadline
        # Around the mean rounding is least; an SSE of n to start with suits the solver's absolute tolerances.
        centred = X - X.mean(axis=0)
        columns = Columns(centred)
        columns.of_labels(labels)
        self.unit = math.fsum(columns.costs) / self.n or 1.0
        self.X = np.ascontiguousarray(centred / math.sqrt(self.unit))
        self.total = float(np.square(self.X).sum())
        self.columns = Columns(self.X)
        self.best = self.columns.of_labels(labels)
        self.sse = math.fsum(self.columns.costs)
        self.programme = Programme(self.n, deadline)
        self.given = 0
        self.used = np.empty(0)
        self.prices = self.centre = self._shares()
        self.objective = self.sse
        self.lower = self.of_centre = -math.inf
        self.enumerated = self.whole = self.hopeless = False
        self.threshold = _NO_EXCESS * self.sse / max(1, self.n // k)
        self.most_rounds, self.most_steps = most_rounds, most_steps
        """How often groups may be added and the linear programme solved again, and the steps that may take."""
        self.rounds = self.steps = self.work = self.short_work = self.candidates = 0
        self.nearest: np.ndarray | None = None

    def _shares(self) -> np.ndarray:
        """Return what every record adds to the SSE: prices that pay the groups of the best grouping exactly."""
        import numpy as np

        prices = np.empty(self.n)
        for position in self.best:
            members = list(self.columns.groups[position])
            Y = self.X[members]
            prices[members] = np.square(Y - Y.mean(axis=0)).sum(axis=1)
        return prices

    def improve(
        self, pool: Pool, sweeps: int = _SWEEPS, most: Sequence[int] = _MILP_COLUMNS, gain: float = 1e-12
    ) -> bool:
        """Take groups from the pool and from prices, and choose among so many, until less than `gain` is gained.

        Returns whether anything got better.
        """
        first = self.sse
        self._price(self.prices)
        for _ in range(0 if self.proven() else sweeps):
            before = self.sse
            for labels in pool(self.labels(), self.rounded if len(self.used) else None):
                self.offer(self.columns.of_labels(labels))
                self._step()
            self.tighten()
            for columns in most:
                self.offer(self._choice(columns))
                if self.sse < before or self.candidates <= columns:
                    break
            if self.sse >= before * (1 - gain) or self.proven() or self.rounds >= self.most_rounds:
                break
        return self.sse < first

    def offer(self, grouping: list[int]) -> None:
        """Keep a grouping if its SSE is the least so far."""
        sse = math.fsum(self.columns.costs[position] for position in grouping)
        if sse < self.sse:
            self.best, self.sse = grouping, sse

    def rounded(self) -> np.ndarray:
        """Return labels (n,) of a grouping near the solution of the linear programme, each time of another.

        Groups are taken by how much they are used, as long as their records are free; the records left are grouped by
        MDAV.
        """
        import numpy as np

        in_use = np.flatnonzero(self.used > _IN_USE)
        urge = self.used[in_use] + _NOISE * self.rng.random(len(in_use))
        labels, groups = np.full(self.n, -1), 0
        for j in in_use[np.argsort(-urge, kind="stable")]:
            members = list(self.columns.groups[j])
            if (labels[members] < 0).all():
                labels[members] = groups
                groups += 1
        if 0 < np.count_nonzero(labels < 0) < self.k:
            groups -= 1
            labels[labels == groups] = -1
        left = np.flatnonzero(labels < 0)
        if len(left):
            labels[left] = groups + mdav(self.X[left], self.rng, silent, k=self.k)
        return labels

    def generate(self) -> None:
        """Add groups for the smoothed prices, then for those of the programme, until its value falls no more.

        They are found by moving centres, and exactly as far as little work goes; what takes less is tried first. Exact
        pricing alone knows of fines; where it searches everything, it is enough.
        """
        least, idle = math.inf, 0
        while self.rounds < self.most_rounds and self.steps < self.most_steps and idle <= _IDLE_ROUNDS:
            self._solve()
            idle = 0 if self.objective < least * (1 - _FALLS) else idle + 1
            least = min(least, self.objective)
            searches = [self._price] if self.whole else [self._grow, self._price]
            if self.short_work < self.n * self.X.size:
                searches.reverse()
            if not any(search(prices) for search in searches for prices in (self._smoothed(), self.prices)):
                break

    def _price(self, prices: np.ndarray) -> int:
        """Search groups exactly, but little around each record; return how many were new.

        Once that was cut short and found none, it is left out.
        """
        if self.hopeless:
            return 0
        before = self.work
        lower, new, _ = self.price(prices, self.threshold, _KEEP, anchor_work=_SHORT_WORK)
        if self.whole:
            self._raise(lower, prices)
        self.lower = max(self.lower, lower)  # prices that little work suits are not near the best
        self.hopeless = not (new or self.whole)
        self.short_work = self.work - before
        self.steps += self.short_work
        return new

    def tighten(self) -> None:
        """Add groups, and triples that the linear programme violates, until its value hardly rises."""
        before = -math.inf
        for _ in range(_TIGHTENINGS):
            self.generate()
            if self.objective - before <= _WORTH * (self.sse - self.objective) or not self._cut():
                break
            before = self.objective

    def bound(self) -> None:
        """Add groups by exact pricing, and triples that the linear programme violates, and raise the lower bound."""
        smoothing, at_cut, efforts = True, [-math.inf] * _CUT_ROUNDS, list(_ROUND_WORK)
        while self.work < _WORK and not self.proven():
            self.generate()
            prices = self._smoothed() if smoothing else self.prices
            lower, new, _ = self.price(prices, self.threshold, _KEEP, round_work=efforts[0])
            self._raise(lower, prices)
            left = self.objective - self.of_centre
            converged = left <= 2 * _ROUNDING * self.sse or not (new or smoothing)
            # Where smoothed prices find no group, those of the programme may already be the best.
            smoothing = bool(new)
            if converged and not self.whole and len(efforts) > 1:
                efforts, smoothing = efforts[1:], True
                continue
            if not converged and left > _NEAR * (self.sse - self.objective):
                continue
            cutting = self.of_centre - at_cut[-_CUT_ROUNDS] > _WORTH * (self.sse - self.of_centre)
            if cutting and self._cut():
                at_cut.append(self.of_centre)
                smoothing = True
            elif converged:
                break

    def _raise(self, lower: float, prices: np.ndarray) -> None:
        """Keep a bound and its prices if it is the best so far."""
        if lower > self.of_centre:
            self.of_centre, self.centre = lower, prices
            self.lower = max(self.lower, lower)

    def _cut(self) -> int:
        """Add triples that the solution of the linear programme violates; return how many."""
        import numpy as np

        groups = self.columns.groups[: self.given]
        partly = [j for j in np.flatnonzero((self.used > 1e-6) & (self.used < 1 - 1e-6)) if len(groups[j]) < 2 * self.k]
        triples = self.programme.triples.violated([groups[j] for j in partly], self.used[partly].tolist())
        if triples:
            self.programme.cut(triples, groups)
        return len(triples)

    def enrich(self) -> bool:
        """Add the groups that may be in a better grouping, those of the largest excess around every record first.

        Whatever the other groups, none of less excess than the bound minus the SSE is in a better grouping. Returns
        whether that may help.
        """
        if self.of_centre == -math.inf or self.proven() or self.enumerated:
            return False
        keep = max(_KEEP, _MILP_COLUMNS[-1] // self.n)
        _, _, self.enumerated = self.price(self.centre, 1.001 * (self.of_centre - self.sse), keep)
        return True

    def proven(self) -> bool:
        """Return whether the best grouping is an optimum, up to rounding."""
        return self.sse - self.lower <= 2 * _TOLERANCE * self.sse or self.sse <= 1e-13 * self.total

    @property
    def known(self) -> float | None:
        """The lower bound on the SSE, None where none above 0 is known."""
        return max(self.lower, 0.0) if self.lower > 0 or self.proven() else None

    def _smoothed(self) -> np.ndarray:
        smoothed: np.ndarray = _SMOOTHING * self._padded(self.centre) + (1 - _SMOOTHING) * self._padded(self.prices)
        return smoothed

    def _padded(self, prices: np.ndarray) -> np.ndarray:
        """Return prices and fines (n + triples,): triples that came later had none."""
        import numpy as np

        return np.pad(prices, (0, self.n + len(self.programme.triples.members) - len(prices)))

    def _solve(self) -> None:
        columns = self.columns
        if len(columns.groups) > self.given:
            self.programme.add(columns.groups[self.given :], columns.costs[self.given :])
            self.given = len(columns.groups)
        self.objective, self.prices, self.used = self.programme.solve()
        self.rounds += 1

    def _grow(self, prices: np.ndarray) -> int:
        """Search groups around every record and every group in use; return how many were new."""
        import numpy as np

        grow_groups = late("sqlmicro.group._growing_kernels", "grow_groups")

        in_use = [self.X[list(self.columns.groups[j])].mean(axis=0) for j in np.flatnonzero(self.used > 1e-9)]
        centres = np.vstack([self.X, *in_use])
        self.steps += len(centres) * self.X.size
        before = len(self.columns.groups)
        step = max(1, _SLICE_WORK // (self.X.size * 8))
        for start in range(0, len(centres), step):
            some = centres[start : start + step]
            members, sizes = np.empty((len(some), self.largest), np.int64), np.empty(len(some), np.int64)
            found = grow_groups(self.X, prices[: self.n], some, self.k, self.threshold, 20, members, sizes)
            self.columns.add_rows(members[:found], sizes[:found])
            self._step()
        reduced = self.columns.reduced_costs(prices, self.programme.triples, before)
        return int(np.count_nonzero(reduced < -self.threshold))

    def price(
        self, prices: np.ndarray, threshold: float, keep: int, *, anchor_work: int = _ANCHOR_WORK,
        round_work: int = _ROUND_WORK[-1],
    ) -> tuple[float, int, bool]:  # fmt: skip
        """Search the `keep` groups of largest excess around every record.

        Returns the bound that the prices give; how many groups were new; and whether there are no other groups above
        the threshold.
        """
        import numpy as np

        kernels = late("sqlmicro.group._pricing_kernels")

        prices = self._padded(prices)
        order = np.argsort(-prices[: self.n], kind="stable")
        triples = kernels.Triples(*self.programme.triples.arrays(self.n, prices[self.n :]))
        before, position, work, partial, full = len(self.columns.groups), 0, 0, 0, 0
        bounds, nearest = np.empty(self.n), self._nearest()
        levels = kernels.make_levels(self.largest, min(self.n, _WIDTH))
        members, sizes = np.empty((keep * self.n, self.largest), np.int64), np.empty(keep * self.n, np.int64)
        while position < self.n:
            part = _AHEAD * max(round_work - work, 0) // (self.n - position)
            found, position, done, cut = kernels.price_groups(
                self.X, prices[: self.n], nearest, triples, order, position, self.k, threshold,
                min(anchor_work, part), _SLICE_WORK, levels, bounds, members, sizes, keep,
            )  # fmt: skip
            self.columns.add_rows(members[:found], sizes[:found])
            work, partial = work + done, partial + cut
            full += int(np.count_nonzero(np.bincount(members[:found, 0]) == keep))
            self._step()
        self.work += work
        self.whole = partial == full
        new = len(self.columns.groups) - before
        excess = math.fsum(np.sort(np.maximum(bounds, 0.0))[-(self.n // self.k) :])
        rounding = _ROUNDING * self.sse + 1e-12 * math.fsum(np.abs(prices))
        return math.fsum(prices[: self.n]) - math.fsum(prices[self.n :]) - excess - rounding, new, not partial

    def labels(self) -> np.ndarray:
        """Return the best labels (n,) so far, numbered by first record."""
        import numpy as np

        labels = np.empty(self.n, dtype=np.int64)
        for label, members in enumerate(sorted(self.columns.groups[position] for position in self.best)):
            labels[list(members)] = label
        return labels

    def _choice(self, most: int) -> list[int]:
        """Return the grouping that the MILP finds among its groups and `most` others that may be in a better one.

        Where all such columns are there, its bound is one for every grouping.
        """
        import numpy as np

        known = self.of_centre > -math.inf
        triples, prices = self.programme.triples, self._padded(self.centre if known else self.prices)
        reduced = self.columns.reduced_costs(prices, triples)
        reduced[self.best] = -np.inf
        candidates = np.flatnonzero(reduced <= self.sse - (self.of_centre if known else self.objective))
        self.candidates = len(candidates) - len(self.best)
        chosen = np.sort(candidates[np.argsort(reduced[candidates], kind="stable")[: len(self.best) + most]])
        programme = Programme(self.n, self.deadline, seed=int(self.rng.integers(2**31)))
        groups = [self.columns.groups[j] for j in chosen]
        programme.add(groups, [self.columns.costs[j] for j in chosen])
        programme.cut([triples.members[t] for t in np.flatnonzero(prices[self.n :])], groups)
        found, bound = programme.choose(np.searchsorted(chosen, np.sort(self.best)).tolist())
        if self.enumerated and len(chosen) == len(candidates):
            self.lower = max(self.lower, min(bound, self.sse) - _TOLERANCE * self.sse)
        return [int(j) for j in chosen[found]]

    def _nearest(self) -> np.ndarray:
        """Return the sums of the r smallest squared distances of every record to others (n, r + 1)."""
        import numpy as np

        kernels = late("sqlmicro.group._pricing_kernels")

        if self.nearest is None:
            self.nearest = np.empty((self.n, max(1, self.largest - 1)))
            step = max(1, _SLICE_WORK // self.X.size)
            for start in range(0, self.n, step):
                kernels.nearest_sums(self.X, start, min(start + step, self.n), self.nearest)
                self._step()
        return self.nearest

    def _step(self) -> None:
        self.tick(min(self.rounds, _MOST_ROUNDS), _MOST_ROUNDS, f"IL {100 * self.sse / (self.total or 1):.4f}")
        if time.monotonic() > self.deadline:
            raise TimeOver
