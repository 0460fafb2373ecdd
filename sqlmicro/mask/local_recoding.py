"""Local recoding: every class is released at the node at which it loses least and keeps what is asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.rules import SLACK
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask.combinations import Combinations
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.losses import LossOfCells

SUPPRESSED = -1
FEW = (0.0, 0.01, 0.03, 0.1)
"""Which shares of the records may be left over while classes are released."""
_CANDIDATES = 2_000
"""How many classes are looked at that may go to the top: those that lose least by it for a record."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """The level of every combination in every column (combinations, columns), -1 where it is suppressed."""

    levels: np.ndarray
    nodes: int
    """Nodes at which a class is released."""

    @property
    def kept(self) -> np.ndarray:
        """Whether a combination is released."""
        found: np.ndarray = self.levels[:, 0] != SUPPRESSED
        return found


def recode(combinations: Combinations, loss: LossOfCells, allowed: int, tick: Tick) -> Recoded | None:
    """Return the levels at which the combinations are released, with at most `allowed` records suppressed, or None.

    Notes
    -----
    Nodes are taken in the order of what they lose. At each, the records that are left form classes, and those that keep
    what is asked are released: the level of a record depends on its combination alone, and all records that look alike
    at a node are released there together, or none. A class is released only while those that would be left still keep
    what is asked together, at the top of the lattice, or are few. If those few cannot be suppressed in the end, classes
    go to the top with them that cost least for what they mend. How many are few is tried; the least loss is kept. So
    something is found whenever the whole table keeps what is asked. Labels of different nodes may meet: their union
    keeps what both keep. O(nodes · combinations left) time. Ours; the order of nodes is near to the iterative algorithm
    of ARX (Prasser et al. 2020).
    """
    import numpy as np

    if not _Rest(combinations, allowed).possible:
        return None
    best, least = None, np.inf
    for number, few in enumerate(FEW):

        def told(done: int, total: int, before: int = number) -> None:
            tick(before * total + done, len(FEW) * total)

        levels = _released(combinations, loss, max(allowed, int(few * combinations.records)), told)
        levels = _settled(combinations, loss, levels, allowed)
        lost = loss.mixed(levels, levels[:, 0] != SUPPRESSED)
        if lost < least:
            best, least = levels, lost
        if combinations.tally.only_enough:
            break
    assert best is not None
    return Recoded(best, len(np.unique(best[best[:, 0] != SUPPRESSED], axis=0)))


def _released(combinations: Combinations, loss: LossOfCells, few: int, tick: Callable[[int, int], None]) -> np.ndarray:
    """Release every class that keeps what is asked, node by node; the others, with -1, are few or fine together."""
    import numpy as np

    rest = _Rest(combinations, few)
    nodes = _in_order(combinations, loss)
    levels = np.full((len(combinations.n), nodes.shape[1]), SUPPRESSED)
    left, of_left = np.arange(len(combinations.n)), combinations
    for done, one in enumerate(nodes):
        tick(done, len(nodes))
        node = tuple(int(level) for level in one)
        group, classes = of_left.groups(node)
        large = np.bincount(group, of_left.n, minlength=classes) >= combinations.tally.k
        if not large.any():
            continue
        tally = of_left.tally.merged(group, classes)
        fine = tally.kept()
        if not fine.any():
            continue
        stratum = np.empty(classes, dtype=np.int64)
        stratum[group] = of_left.stratum
        taken = rest.released(tally, fine, stratum)[group]
        levels[left[taken]] = node
        left, of_left = left[~taken], of_left.only(~taken)
        if not of_left.n.any():
            break
    return levels


def _in_order(combinations: Combinations, loss: LossOfCells) -> np.ndarray:
    """Return all nodes in the order of what they lose."""
    import numpy as np

    heights = combinations.heights
    nodes = np.indices(heights).reshape(len(heights), -1).T
    return nodes[np.lexsort((np.arange(len(nodes)), loss.bounds(nodes)))]


def as_rules(combinations: Combinations, loss: LossOfCells, levels: np.ndarray) -> np.ndarray | None:
    """Return one combination of every released class, so that a record belongs to the first class it fits.

    None where classes went to the top after they had been released: then no order of those that are left says why.
    """
    import numpy as np

    left = np.ones(len(levels), dtype=bool)
    found: list[np.ndarray] = []
    for node in _in_order(combinations, loss):
        here = (levels == node).all(axis=1)
        if not here.any():
            continue
        group, classes = combinations.groups(tuple(int(level) for level in node))
        released = np.zeros(classes, dtype=bool)
        released[group[here]] = True
        if (here != (released[group] & left)).any():
            return None
        left &= ~here
        found.append(np.flatnonzero(here)[np.unique(group[here], return_index=True)[1]])
    return np.concatenate([*found, np.empty(0, dtype=np.int64)])


def _settled(combinations: Combinations, loss: LossOfCells, levels: np.ndarray, allowed: int) -> np.ndarray:
    """Return the levels after those in no class were suppressed, or went to the top with classes that mend them."""
    import numpy as np

    levels = levels.copy()
    top = np.array(combinations.heights) - 1
    may_go = _Rest(combinations, allowed).may_go
    for stratum in np.unique(combinations.stratum[levels[:, 0] == SUPPRESSED]):
        inside = combinations.stratum == stratum
        rest = inside & (levels[:, 0] == SUPPRESSED)
        if combinations.n[rest].sum() <= may_go[stratum]:
            continue
        labels = combinations.labels(levels)
        rise = combinations.n * (loss.each(np.tile(top, (len(levels), 1))) - loss.each(levels))
        while True:
            classes = int(labels.max()) + 1
            tally = combinations.tally.merged(labels, classes)
            one = int(labels[np.argmax(rest)])
            others = np.setdiff1d(labels[inside], [one])
            misses = float(tally.only(np.arange(classes) == one).missed()[0])
            if misses == 0 or not len(others):
                break
            cost = np.bincount(labels, rise, minlength=classes)[others] / tally.sizes[others]
            others = np.sort(others[np.argsort(cost, kind="stable")[:_CANDIDATES]])
            mended = np.maximum(misses - tally.joined(one, others).missed(), SLACK)
            chosen = others[np.argmin((np.bincount(labels, rise, minlength=classes)[others] + SLACK) / mended)]
            rest |= labels == chosen
            labels[rest] = one
            labels = np.unique(labels, return_inverse=True)[1]
        levels[rest] = top
    return levels


class _Rest:
    """Those that are not released yet: what they come to in every stratum, and how many of them may be suppressed."""

    def __init__(self, combinations: Combinations, allowed: int) -> None:
        import numpy as np

        self.tally = combinations.of_strata
        sizes = self.tally.sizes
        self.may_go = (allowed * (sizes / sizes.sum()) + 1e-9).astype(np.int64)
        self.possible = bool(self.fine(self.tally).all())

    def fine(self, tally: Tally) -> np.ndarray:
        """Tell which strata keep what is asked with the records that are left there, or may have them suppressed."""
        found: np.ndarray = tally.kept() | (tally.sizes <= self.may_go)
        return found

    def released(self, tally: Tally, fine: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        """Return which of the classes that are fine are released: as many as the rest of their stratum can be without.

        Where a stratum cannot be without all of them, they are taken one by one, the largest first.
        """
        import numpy as np

        after = self.tally.without(tally, fine, stratum)
        stuck = ~self.fine(after)
        taken: np.ndarray = fine & ~stuck[stratum]
        rest = self.tally.without(tally, taken, stratum)
        doubtful = np.flatnonzero(fine & ~taken)
        for one in doubtful[np.argsort(-tally.sizes[doubtful], kind="stable")]:
            alone = np.zeros(len(fine), dtype=bool)
            alone[one] = True
            after = rest.without(tally, alone, stratum)
            if self.fine(after)[stratum[one]]:
                taken[one] = True
                rest = after
        self.tally = rest
        return taken
