"""Which values to suppress so that every class keeps guarantees: a greedy search, then values are given back.

Classes that miss something are joined with each other, with a class that lacks these values already, or with records
borrowed from classes that can do without them: what costs least per rescued record is done first. All that can be asked
is closed under union, so that joining ends. In the end records move to classes where they lose less. Whether a
population holds a class depends on its combination alone, and every value less makes that easier.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlmicro.guarantees.state import columns_of, state_of
from sqlmicro.mask.suppression import MISSING, keys, search_columns
from sqlmicro.registry import Tick, late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.demand import Demand
    from sqlmicro.mask.suppression import Chosen, Plan

_WORK = 300_000  # classes that records are held to between two ticks: at most 0.5 s
_PATTERNS = 256  # patterns of missing values in which a record looks for a class
_ROUNDS = 12
_MADE, _FAILED = 1, 2


@dataclass(eq=False)
class _Classes:
    """The classes of the records as they are: the class of each, the combination and size of each class."""

    label: np.ndarray
    released: np.ndarray
    size: np.ndarray
    misses: np.ndarray
    order: np.ndarray = field(repr=False)
    """The records, class after class."""
    starts: np.ndarray = field(repr=False)

    def records(self, which: np.ndarray) -> np.ndarray:
        """Return the records of some classes, class after class."""
        import numpy as np

        sizes = self.size[which]
        skipped = np.repeat(self.starts[which] - np.cumsum(sizes) + sizes, sizes)
        found: np.ndarray = self.order[skipped + np.arange(int(sizes.sum()))]
        return found


class KeptSuppression:
    """The search for values to suppress.

    Parameters
    ----------
    codes : ndarray of shape (n, q)
        The values of every record, -1 for a missing one; those beyond the costs are strata.
    demand : Demand
        What must hold of every class. All records of every stratum together must keep it.
    cost : ndarray of shape (p,)
        What it costs to suppress a value of each column.
    tick : callable
        Told (done, total).

    Attributes
    ----------
    released : ndarray of shape (n, q)
        The values that are left, -1 for none.
    """

    def __init__(self, codes: np.ndarray, demand: Demand, cost: np.ndarray, tick: Tick) -> None:
        import numpy as np

        self._codes = np.ascontiguousarray(codes, dtype=np.int64)
        self._demand, self._cost, self._tick = demand, np.asarray(cost, dtype=float), tick
        self._kernels = late("sqlmicro.mask._kept_suppression_kernels")
        self._columns = columns_of(demand.rules, len(codes))
        self._failed: dict[Chosen, set[tuple[int, int]]] = {}
        self.released = self._codes.copy()
        self._now = self._classes()

    def run(self) -> None:
        """Suppress values until every class keeps what is demanded, then give back what can be."""
        p = len(self._cost)
        while self._now.misses.any():
            rare = self._now.misses > 0
            self._tick(int(self._now.size[~rare].sum()), len(self._codes))
            if not (self._join(p) or self._join_whole(p)):
                self._hide()
            self._now = self._classes()
        self._give_back()

    def _classes(self) -> _Classes:
        import numpy as np

        label = keys(self.released)
        order = np.argsort(label, kind="stable")
        size = np.bincount(label)
        starts = np.cumsum(size) - size
        released = self.released[order[starts]]
        misses = self._demand.misses(label) + self._demand.unheld(released)
        return _Classes(label, released, size, misses, order, starts)

    # Joining

    def _join(self, columns: int) -> bool:
        """Do what costs least per rescued record; return whether there was anything."""
        import numpy as np

        now = self._now
        rare, others = np.flatnonzero(now.misses > 0), np.flatnonzero(now.misses == 0)
        spare = np.where(now.misses > 0, 0, np.maximum(now.size - self._demand.rules.k, 0))

        def costs(chosen: Chosen) -> tuple[np.ndarray, int]:
            offer = self._offer(chosen, rare, others, spare)
            offer.cost[offer.label[self._known_to_fail(chosen, rare)]] = np.inf
            return offer.cost[offer.label], len(offer.cost)

        def act(plans: list[Plan], limit: float) -> bool:
            return self._make(plans, limit, spare)

        return search_columns(columns, self._cost, rare, costs, act)

    def _clusters(self, chosen: Chosen, rare: np.ndarray, others: np.ndarray, spare: np.ndarray) -> Any:
        import numpy as np

        shown = np.delete(np.arange(self._codes.shape[1]), chosen)
        released, size = self._now.released, self._now.size
        return self._kernels.clusters(released, size, spare, shown, np.array(chosen), self._cost, rare, others)

    def _offer(self, chosen: Chosen, rare: np.ndarray, others: np.ndarray, spare: np.ndarray) -> _Offer:
        """Return the classes that could be made by suppressing these columns, and what a rescued record costs."""
        import numpy as np

        label, there, lender, (size, lost, able) = self._clusters(chosen, rare, others, spare)
        joined = np.concatenate([rare, others[there >= 0]])
        cluster = np.repeat(np.concatenate([label, there[there >= 0]]), self._now.size[joined])
        need = np.ceil(self._demand.misses(cluster, self._now.records(joined)) - 1e-9)
        cost = (lost + need * self._cost[list(chosen)].sum()) / size
        cost[need > able] = np.inf
        self._forbid(cost, label, rare, chosen)
        return _Offer(chosen, rare, others, _Lists(label), _Lists(there), _Lists(lender), label, cost)

    def _forbid(self, cost: np.ndarray, label: np.ndarray, rare: np.ndarray, chosen: Chosen) -> None:
        """Set the cost of clusters of the classes `rare` to infinity that the population would not hold."""
        import numpy as np

        possible, first = np.unique(label, return_index=True)
        first = first[possible >= 0]
        targets = self._now.released[rare[first]]
        targets[:, list(chosen)] = MISSING
        cost[label[first][self._demand.unheld(targets)]] = np.inf

    def _known_to_fail(self, chosen: Chosen, rare: np.ndarray) -> list[int]:
        failed = self._failed.get(chosen)
        if not failed:
            return []
        first, size = self._now.order[self._now.starts[rare]].tolist(), self._now.size[rare].tolist()
        return [m for m, key in enumerate(zip(first, size, strict=True)) if key in failed]

    def _make(self, plans: list[Plan], limit: float, spare: np.ndarray) -> bool:
        """Make the classes that cost less than `limit` per rescued record, or else the cheapest; return whether any."""
        import numpy as np

        everything = np.arange(len(spare))
        offers = [self._offer(chosen, mine, np.delete(everything, mine), spare) for chosen, mine in plans]
        least = min(float(offer.cost.min()) for offer in offers)
        if least == np.inf:
            return False
        wanted: list[tuple[_Offer, int]] = []
        for offer in offers:
            accepted = np.flatnonzero((offer.cost < limit) if least < limit else (offer.cost == least))
            wanted += [(offer, x) for x in accepted[np.argsort(offer.cost[accepted], kind="stable")].tolist()]
        joins = [offer.rare[offer.joins.of(x)] for offer, x in wanted]
        own, pools, targets = [], [], []
        for (offer, x), some in zip(wanted, joins, strict=True):
            own.append(self._now.records(np.concatenate([some, offer.others[offer.there.of(x)]])))
            pools.append(self._now.records(offer.others[offer.lenders.of(x)]))
            targets.append(self._now.released[some[0]].copy())
            targets[-1][list(offer.chosen)] = MISSING
        made = self._carry_out(own, pools, np.array(targets))
        for at in np.flatnonzero(made == _FAILED).tolist():
            first, size = self._now.order[self._now.starts[joins[at]]], self._now.size[joins[at]]
            known = self._failed.setdefault(wanted[at][0].chosen, set())
            known.update(zip(first.tolist(), size.tolist(), strict=True))
        return bool((made == _MADE).any())

    def _carry_out(self, own: list[np.ndarray], pools: list[np.ndarray], targets: np.ndarray) -> np.ndarray:
        """Make these classes, with what they need of their pools; say which came about."""
        import numpy as np

        state, search = self._state(len(own))
        before = len(self._now.size)
        search.released[before:-1] = targets
        members, starts = _joined(own)
        pool, pool_starts = _joined(pools)
        slots = np.arange(before, before + len(own))
        made = np.zeros(len(own), dtype=np.int8)
        at = 0
        while at < len(own):
            at = self._kernels.unite(
                state,
                self._columns,
                search,
                self._now.label,
                members,
                starts,
                pool,
                pool_starts,
                slots,
                made,
                at,
                _WORK,
            )
            self._tick(0, len(self._codes))
        self.released = search.released[state.label]
        return made

    def _state(self, more: int, shown: np.ndarray | None = None) -> tuple[Any, Any]:
        """Return the state of the classes, and the search, with slots for more: `shown` are those that it may make."""
        import numpy as np

        now, rules = self._now, self._demand.rules
        slots = len(now.size) + more
        state = state_of(np.ascontiguousarray(self._demand.weights[:, None]), now.label, self._columns, rules, slots)
        released = np.full((slots + 1, self._codes.shape[1]), MISSING, dtype=np.int64)
        released[: len(now.size)] = now.released
        seats = late("sqlmicro.mask._suppression_kernels", "seats_for")(slots)
        population = self._demand.population
        none = np.empty((0, self._codes.shape[1]), dtype=np.int64)
        held, held_seats = population.seats(shown) if population and shown is not None else (none, seats[:0])
        search = self._kernels.Search(
            self._codes, released, seats, np.zeros(1, np.int64), self._cost, rules.k, self._demand.risk, held,
            held_seats,
        )  # fmt: skip
        return state, search

    def _join_whole(self, columns: int) -> bool:
        """Suppress the same values in classes that miss something and in a whole other class; return whether any."""
        import numpy as np

        now = self._now
        rare, others = np.flatnonzero(now.misses > 0), np.flatnonzero(now.misses == 0)

        def offer(chosen: Chosen, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """Return the cluster of each class, what a rescued record costs, and the class it joins."""
            label, _, lender, (size, lost, _) = self._clusters(chosen, mine, others, now.size)
            able = np.flatnonzero(lender >= 0)
            able = able[np.lexsort((able, now.size[others[able]], lender[able]))]
            found, at = np.unique(lender[able], return_index=True)
            smallest = np.full(len(size), -1)
            smallest[found] = others[able[at]]
            joined = np.concatenate([mine, smallest[found]])
            cluster = np.repeat(np.concatenate([label, found]), now.size[joined])
            held = self._demand.misses(cluster, now.records(joined)) == 0
            cost = (lost + self._cost[list(chosen)].sum() * now.size[smallest]) / size
            cost[(smallest < 0) | ~held] = np.inf
            self._forbid(cost, label, mine, chosen)
            return label, cost, smallest

        def costs(chosen: Chosen) -> tuple[np.ndarray, int]:
            label, cost, _ = offer(chosen, rare)
            return cost[label], len(cost)

        def act(plans: list[Plan], limit: float) -> bool:
            # Two sets of columns could want the same class: only the cheapest set is done.
            offers = [(chosen, mine, *offer(chosen, mine)) for chosen, mine in plans]
            chosen, mine, label, cost, smallest = min(offers, key=lambda one: float(one[3].min()))
            accepted = np.isfinite(cost) & (cost <= max(float(cost.min()), limit))
            rows = now.records(np.concatenate([mine[accepted[label]], np.unique(smallest[accepted])]))
            self.released[np.ix_(rows, np.array(chosen))] = MISSING
            return bool(len(rows))

        return search_columns(columns, self._cost, rare, costs, act)

    def _hide(self) -> None:
        """Suppress all values of the classes that miss something, and of as many other records as that takes."""
        import numpy as np

        p = len(self._cost)
        self.released[self._now.records(np.flatnonzero(self._now.misses > 0)), :p] = MISSING
        self._now = now = self._classes()
        short = np.flatnonzero(now.misses > 0)
        if not len(short):
            return
        strata = keys(now.released[:, p:])
        values = (now.released[:, :p] != MISSING) @ self._cost
        others = [np.flatnonzero((strata == strata[g]) & (now.misses == 0)) for g in short]
        others = [some[np.lexsort((some, values[some]))] for some in others]
        made = self._carry_out(
            [now.records(np.array([g])) for g in short], [now.records(some) for some in others], now.released[short]
        )
        for done, some in zip(made, others, strict=True):
            if done != _MADE and len(some):
                smallest = some[np.argmin((now.size * values)[some])]
                self.released[now.records(np.array([smallest])), :p] = MISSING

    # Giving back

    def _give_back(self) -> None:
        """Let records move to classes where they lose less, as long as every class keeps what is demanded."""
        import numpy as np

        for _ in range(_ROUNDS):
            now = self._now = self._classes()
            lacking = np.flatnonzero((now.released[:, : len(self._cost)] < 0).any(axis=1))
            more = self._with_one_more(lacking) if self._demand.population else None
            state, search = self._state(len(self._codes) // self._demand.rules.k + 64, more)
            self._kernels.seat_all(search, len(now.size))
            shown = self._patterns()
            lacking = lacking[np.argsort(-now.size[lacking], kind="stable")]
            gained = self._passed("show", state, search, len(lacking), lacking)
            lacking = np.flatnonzero((search.released[: search.used[0], : len(self._cost)] < 0).any(axis=1))
            lacking = lacking[(state.size[lacking] > 0) & (state.size[lacking] < 8 * self._demand.rules.k)]
            gained += self._passed("dissolve", state, search, len(lacking), shown, lacking)
            gained += self._passed("move", state, search, len(self._codes), shown)
            self.released = search.released[state.label]
            if not gained:
                return

    def _with_one_more(self, which: np.ndarray) -> np.ndarray:
        """Return the combinations of some classes with one more value of their records."""
        import numpy as np

        rows, found = self._now.records(which), [np.empty((0, self._codes.shape[1]), dtype=np.int64)]
        for c in range(len(self._cost)):
            hidden = rows[(self.released[rows, c] < 0) & (self._codes[rows, c] >= 0)]
            more = self.released[hidden]
            more[:, c] = self._codes[hidden, c]
            found.append(np.unique(more, axis=0))
        return np.concatenate(found)

    def _passed(self, kernel: str, state: Any, search: Any, items: int, *args: np.ndarray) -> int:
        """Run a kernel over all its items; return what it gained."""
        at, gained = 0, 0
        while 0 <= at < items:
            at, now = getattr(self._kernels, kernel)(state, self._columns, search, *args, at, _WORK)
            gained += now
            self._tick(0, len(self._codes))
        return gained

    def _patterns(self) -> np.ndarray:
        """Return which columns the classes show, the most common patterns, those that lose least first."""
        import numpy as np

        shown = self._now.released[:, : len(self._cost)] >= 0
        patterns, times = np.unique(shown, axis=0, return_counts=True)
        patterns = patterns[np.argsort(-times, kind="stable")[:_PATTERNS]]
        found: np.ndarray = patterns[np.argsort(~patterns @ self._cost, kind="stable")]
        return found


@dataclass(frozen=True, eq=False)
class _Offer:
    """Classes that could be made by suppressing some columns: what joins each, what is there, whom it may borrow of."""

    chosen: Chosen
    rare: np.ndarray
    others: np.ndarray
    joins: _Lists
    there: _Lists
    lenders: _Lists
    label: np.ndarray
    """The class that each of `rare` joins."""
    cost: np.ndarray
    """What a rescued record costs in every class; infinite where there are too few to borrow."""


class _Lists:
    """Where every number from 0 stands in an array."""

    def __init__(self, values: np.ndarray) -> None:
        import numpy as np

        self._order = np.argsort(values, kind="stable")
        self._values = values[self._order]

    def of(self, number: int) -> np.ndarray:
        """Return the places of a number."""
        import numpy as np

        first, stop = np.searchsorted(self._values, [number, number + 1])
        found: np.ndarray = self._order[first:stop]
        return found


def _joined(lists: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists one after the other, and where each begins."""
    import numpy as np

    starts = np.cumsum([0, *(len(one) for one in lists)])
    return np.concatenate(lists).astype(np.int64), starts
