"""Which households exchange their regions in targeted record swapping: those at risk, then some more, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, silent

if TYPE_CHECKING:
    import numpy as np

_BETWEEN_TICKS = 1000


@dataclass(frozen=True, eq=False)
class Households:
    """What decides which households exchange their regions.

    Parameters
    ----------
    region : ndarray of shape (levels, n)
        The number of the region on every level, from the largest regions to the smallest, which lie in each other.
    risk : ndarray of shape (levels, n)
        How much at risk a household is among those of its region.
    due : ndarray of shape (n,)
        The level on which it has to be swapped; the number of levels where it need not be.
    profiles : ndarray of shape (p, n)
        What similar households have in common, by the first profile, the second, ….
    drawn : ndarray of shape (levels, n)
        Exponential deviates: the chance of a household is its risk over its deviate.
    stays : ndarray of shape (n,)
        Whether it takes no part.
    """

    region: np.ndarray
    risk: np.ndarray
    due: np.ndarray
    profiles: np.ndarray
    drawn: np.ndarray
    stays: np.ndarray


@dataclass(frozen=True, eq=False)
class Exchanged:
    """The partner of every household (n,), itself where it has none, and how many found nobody."""

    partner: np.ndarray
    alone: int


def exchange(households: Households, wanted: np.ndarray, tick: Tick = silent) -> Exchanged:
    """Let households exchange their regions, level by level, those most at risk first.

    Parameters
    ----------
    households : Households
        The households.
    wanted : ndarray
        How many exchanges households of each of the smallest regions are to begin.
    tick : callable
        Is told how far it is.

    Notes
    -----
    Gussenbauer (sdcMicro, recordSwap). On every level the households that are due there, by falling risk, exchange with
    one of another region of the level that is similar by the first profile, or else the next, and has the best chance
    among them. On the last level so many more of each region are drawn, by chance, as the rate asks for.
    """
    import numpy as np

    state = _State.begin(households, wanted)
    chance, alone, levels = households.risk / households.drawn, 0, len(households.region)
    for level in range(levels):
        due = np.flatnonzero(state.free & (households.due == level))
        due = due[np.lexsort((due, -chance[level, due], -households.risk[level, due]))]
        donors = _Donors(households.profiles, chance[level], households.region[level], state.free)
        for done, i in enumerate(due.tolist()):
            if done % _BETWEEN_TICKS == 0:
                tick(done, len(due))
            if state.free[i]:
                alone += not state.swap(i, donors.best(i))
    others = np.flatnonzero(state.free & (households.due == levels))
    for i in others[np.lexsort((others, -chance[-1, others], households.region[-1, others]))].tolist():
        if state.free[i] and state.lacking[households.region[-1, i]] > 0:
            state.swap(i, donors.best(i))
    return Exchanged(state.partner, alone)


@dataclass(frozen=True, eq=False)
class _State:
    """Who is free, the partner of everybody, and how many exchanges each of the smallest regions is to begin yet."""

    free: np.ndarray
    partner: np.ndarray
    lacking: np.ndarray
    region: np.ndarray

    @classmethod
    def begin(cls, households: Households, wanted: np.ndarray) -> _State:
        """Return the state in which nobody is swapped."""
        import numpy as np

        return cls(~households.stays, np.arange(len(households.due)), wanted.copy(), households.region[-1])

    def swap(self, i: int, j: int | None) -> bool:
        """Let i exchange with j, and tell whether there was a j."""
        if j is None:
            return False
        self.free[[i, j]] = False
        self.partner[i], self.partner[j] = j, i
        self.lacking[self.region[i]] -= 1
        return True


class _Donors:
    """The households that are free, by profile and the chance they have on a level."""

    def __init__(self, profiles: np.ndarray, chance: np.ndarray, region: np.ndarray, free: np.ndarray) -> None:
        import numpy as np

        self._profiles, self._region, self._free = profiles, region, free
        self._lists: list[dict[int, list[int]]] = []
        rows = np.flatnonzero(free)
        rows = rows[np.lexsort((-rows, chance[rows]))]  # the best is the last, so that it can be popped
        for profile in profiles:
            order = rows[np.argsort(profile[rows], kind="stable")]
            values, starts = np.unique(profile[order], return_index=True)
            parts: Sequence[np.ndarray] = np.split(order, starts[1:]) if len(order) else []
            self._lists.append({int(v): part.tolist() for v, part in zip(values, parts, strict=True)})

    def best(self, i: int) -> int | None:
        """Return the free household of another region that has the best chance among those similar to i, if any."""
        for profile, lists in zip(self._profiles, self._lists, strict=True):
            similar = lists.get(int(profile[i]), [])
            while similar and not self._free[similar[-1]]:
                similar.pop()
            for j in reversed(similar):
                if self._free[j] and self._region[j] != self._region[i]:
                    return j
        return None


def shares(sizes: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return how many exchanges each region begins, so that a share of all households is swapped; two in each exchange.

    Whole numbers in proportion to the sizes; what is left over goes to regions at random.
    """
    import numpy as np

    exact = sizes * rate / 2
    found = np.floor(exact).astype(np.int64)
    over = exact - found
    left = int(np.floor(over.sum() + 0.5))
    if left:
        chosen = rng.choice(len(sizes), left, replace=False, p=over / over.sum())
        found[chosen] += 1
    return found
