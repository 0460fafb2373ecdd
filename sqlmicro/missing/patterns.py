"""Which values to take out so that every pattern of missing values has k records, at as few values as can be found.

A record may join any pattern that lacks what it lacks, and more. Nothing is ever filled in.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from sqlmicro.registry import Tick, silent

if TYPE_CHECKING:
    import numpy as np

_NEAREST = 8
"""How many other groups a rare one may meet: those that lack nearly the same values."""
_PASSES = 10
_TRIES, _EFFORT = 50, 200_000
_WHIMS = (1.5, 2.0, 3.0)
"""By how much a further try takes an offer for dearer than it is, at most."""


class Move(NamedTuple):
    """So many records of a pattern, by its number, and what they lack in the end."""

    source: int
    missing: np.ndarray
    records: int


class _Offer(NamedTuple):
    """What a rare group may do: become `lacking` together with records of others, at so many values per record."""

    price: float
    lacking: np.ndarray
    takes: list[tuple[int, int]]


def coarsen(missing: np.ndarray, n: np.ndarray, k: int, tick: Tick = silent) -> list[Move]:
    """Return what the records of every pattern lack in the end, so that each pattern that is left has k records.

    Parameters
    ----------
    missing : ndarray of bool, shape (patterns, p)
        Distinct patterns: where a value is missing.
    n : ndarray of shape (patterns,)
        Records that have them; at least k together.
    k : int
        Records a pattern needs.
    tick : callable
        Told how far it is.

    Returns
    -------
    list of Move
        Of every pattern all records; those that stay what they are too.

    Notes
    -----
    Greedy: the rare group that costs least per rescued record joins a pattern that lacks more, or stays what it is and
    borrows records that lack less, or meets others in the union of what they lack. Then, as long as it helps, records
    go back to cheaper patterns, and patterns are closed whose records are cheaper elsewhere. Where there are few
    patterns this is tried in other orders too, and the cheapest is taken. O(m² p) time for m patterns, about. The
    optimum, a facility location with lower bounds, is NP-hard; tests compare with it on small tables.

    Examples
    --------
    One record lacks the second value. Two others lose theirs, which is less than if it lost two.

    >>> import numpy as np
    >>> moves = coarsen(np.array([[False, False, False], [False, True, False]]), np.array([9, 1]), 3)
    >>> sorted((move.source, move.missing.astype(int).tolist(), move.records) for move in moves)
    [(0, [0, 0, 0], 7), (0, [0, 1, 0], 2), (1, [0, 1, 0], 1)]
    """
    import numpy as np

    if (n >= k).all():
        return [Move(source, missing[source], int(records)) for source, records in enumerate(n)]
    tries = int(np.clip(_EFFORT // len(n) ** 2, 1, _TRIES))
    rng = np.random.default_rng(0)  # a search for few values: it draws no value and no record
    found = []
    for number in range(tries):
        whims = rng.uniform(1, _WHIMS[number % len(_WHIMS)], 97) if number else np.ones(1)
        found.append(_Groups(missing, n, k, whims))
        found[-1].search(tick if tries == 1 else silent)
        tick(number, tries)
    return min(found, key=_Groups.cost).moves()


class _Groups:
    """Patterns as they are by now: what each lacks, how many records have it, and which patterns they come from."""

    def __init__(self, missing: np.ndarray, n: np.ndarray, k: int, whims: np.ndarray) -> None:
        import numpy as np

        m, p = missing.shape
        # An accepted offer makes one rare group fewer, and at most one new group.
        self.lacking = np.zeros((2 * m + 1, p), dtype=np.float32)
        self.lacking[:m] = missing
        self.lacks = self.lacking.sum(axis=1)
        self.size = np.zeros(2 * m + 1, dtype=np.int64)
        self.size[:m] = n
        self.members: list[dict[int, int]] = [{source: int(records)} for source, records in enumerate(n)]
        self.k, self.sources, self.whims = k, missing, whims

    def search(self, tick: Tick) -> None:
        """Make every rare group part of a frequent one, the cheapest first, then give back what can be given back."""
        import numpy as np

        rare = np.flatnonzero((self.size > 0) & (self.size < self.k)).tolist()
        heap = [(self.offer(a).price, a) for a in rare]
        heapq.heapify(heap)
        while heap:
            _, a = heapq.heappop(heap)
            if not 0 < self.size[a] < self.k:
                continue
            offer = self.offer(a)
            if heap and offer.price > heap[0][0]:
                heapq.heappush(heap, (offer.price, a))
                continue
            new = self.accept(offer)
            if self.size[new] < self.k:
                heapq.heappush(heap, (self.offer(new).price, new))
            tick(int(self.size[self.size >= self.k].sum()), int(self.size.sum()))
        for _ in range(_PASSES):
            if not self.improve():
                break

    def moves(self) -> list[Move]:
        """Return what became of the records of every pattern."""
        return [
            Move(source, self.lacking[g] > 0, records)
            for g, members in enumerate(self.members)
            for source, records in members.items()
        ]

    # Of the groups that there are; the arrays have room for more.

    def _more(self, lacking: np.ndarray) -> np.ndarray:
        """Return how many values more a record of every group would lack; infinite where that would fill one in."""
        import numpy as np

        g = len(self.members)
        inside = self.lacking[:g] @ lacking == self.lacks[:g]
        return np.where(inside & (self.size[:g] > 0), lacking.sum() - self.lacks[:g], np.inf)

    def offer(self, a: int) -> _Offer:
        """Return the cheapest way found to make the records of a rare group part of a pattern of k."""
        import numpy as np

        g = len(self.members)
        apart = np.where(
            self.size[:g] > 0, self.lacks[:g] + self.lacks[a] - 2 * self.lacking[:g] @ self.lacking[a], np.inf
        )
        apart[a] = np.inf
        near = np.argpartition(apart, min(_NEAREST, g - 1))[:_NEAREST]
        near = near[np.isfinite(apart[near])]
        ways = [self.lacking[a], *(np.maximum(self.lacking[a], self.lacking[b]) for b in near)]
        offers = [(self._gathered(a, way), self.whims[(a + place) % len(self.whims)]) for place, way in enumerate(ways)]
        found = [offer._replace(price=offer.price * whim) for offer, whim in offers if offer is not None]
        if not found:
            found = [self._united(a, int(b)) for b in near]
        return min(found, key=lambda one: one.price)

    def _gathered(self, a: int, lacking: np.ndarray) -> _Offer | None:
        """Return what it costs to gather k records that lack this: a, other rare groups, and what others can lend."""
        import numpy as np

        more = self._more(lacking)
        size = self.size[: len(self.members)]
        own = float(size[a] * more[a])
        if ((more == 0) & (size >= self.k)).any():
            return _Offer(own / int(size[a]), lacking, [(a, int(size[a]))])
        takes, cost, need = [(a, int(size[a]))], own, self.k - int(size[a])
        rescued = int(size[a])
        rare = size < self.k
        able = np.flatnonzero(np.isfinite(more) & (rare | (size > self.k)))
        for b in able[np.lexsort((~rare[able], more[able]))].tolist():
            if b == a:
                continue
            if need <= 0 and not (rare[b] and more[b] * rescued < cost):
                continue
            records = int(size[b]) if rare[b] else min(need, int(size[b]) - self.k)
            takes.append((b, records))
            cost, need = cost + records * float(more[b]), need - records
            rescued += records if rare[b] else 0
        return None if need > 0 else _Offer(cost / rescued, lacking, takes)

    def _united(self, a: int, b: int) -> _Offer:
        """Return what it costs to unite two groups, wherever k cannot be gathered."""
        import numpy as np

        lacking = np.maximum(self.lacking[a], self.lacking[b])
        records = [(one, int(self.size[one])) for one in (a, b)]
        cost = sum(n * float(lacking.sum() - self.lacks[one]) for one, n in records)
        return _Offer(cost / sum(n for one, n in records if self.size[one] < self.k), lacking, records)

    def accept(self, offer: _Offer) -> int:
        """Carry an offer out, and return the group that its records are in."""
        import numpy as np

        same = np.flatnonzero(self._more(offer.lacking) == 0)
        into = int(same[0]) if len(same) else self._open(offer.lacking)
        for b, records in offer.takes:
            self._give(b, into, records)
        return into

    def _open(self, lacking: np.ndarray) -> int:
        new = len(self.members)
        self.members.append({})
        self.lacking[new], self.lacks[new] = lacking, lacking.sum()
        return new

    def _give(self, g: int, into: int, records: int) -> None:
        """Move so many records of a group, whatever patterns they come from."""
        if g == into:
            return
        for source, there in sorted(self.members[g].items(), key=lambda item: (-item[1], item[0])):
            some = min(records, there)
            self._move(source, g, into, some)
            records -= some

    def _move(self, source: int, g: int, into: int, records: int) -> None:
        if not records:
            return
        self.members[g][source] -= records
        if not self.members[g][source]:
            del self.members[g][source]
        self.members[into][source] = self.members[into].get(source, 0) + records
        self.size[g] -= records
        self.size[into] += records

    def improve(self) -> bool:
        """Give values back where every pattern keeps its k records; return whether there were any."""
        import numpy as np

        before = self.cost()
        for g in np.argsort(self.size[: len(self.members)], kind="stable").tolist():
            if self.size[g]:
                self._narrow(g)
                self._leave(g)
        return self.cost() < before

    def cost(self) -> float:
        return float(sum(
            records * (self.lacks[g] - self.sources[source].sum())
            for g, members in enumerate(self.members) for source, records in members.items()
        ))  # fmt: skip

    def _narrow(self, g: int) -> None:
        """Let a group lack no more than its records do."""
        needed = self.sources[list(self.members[g])].any(axis=0)
        if needed.sum() < self.lacks[g]:
            twins = (self._more(needed.astype(self.lacking.dtype)) == 0).nonzero()[0]
            if len(twins):
                self._give(g, int(twins[0]), int(self.size[g]))
            else:
                self.lacking[g], self.lacks[g] = needed, needed.sum()

    def _leave(self, g: int) -> None:
        """Move records to patterns that lack less: those the group can do without, or all of them."""
        import numpy as np

        elsewhere = []
        for source, records in self.members[g].items():
            own = self.sources[source].astype(self.lacking.dtype)
            open_ = len(self.members)
            fits = (self.lacking[:open_] @ own == own.sum()) & (self.size[:open_] > 0)
            fits[g] = False
            lacks = np.where(fits, self.lacks[:open_], np.inf)
            elsewhere.append((float(lacks.min()) - float(self.lacks[g]), source, int(lacks.argmin()), records))
        if elsewhere and sum(gain * records for gain, _, _, records in elsewhere) < 0:
            for _, source, into, records in elsewhere:
                self._move(source, g, into, records)
            return
        for gain, source, into, records in sorted(elsewhere):
            if gain < 0:
                self._move(source, g, into, min(records, int(self.size[g]) - self.k))
