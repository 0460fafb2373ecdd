"""Local recoding: every class is released at the node at which it loses least and keeps what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.histograms import Tally
from sqlmicro.mask.lattice import MOST_NODES, Combinations
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.losses import Loss

SUPPRESSED = -1


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


def recode(combinations: Combinations, loss: Loss, allowed: int, tick: Tick) -> Recoded | None:
    """Return the levels at which the combinations are released, with at most `allowed` records suppressed, or None.

    Notes
    -----
    Nodes are taken in the order of what they lose. At each, the records that are left form classes, and those that keep
    what is asked are released: the level of a record depends on its combination alone, and all records that look alike
    at a node are released there together, or none. A class is released only while those that would be left still keep
    what is asked together, at the top of the lattice, or are few enough to be suppressed: so something is found
    whenever the whole table keeps it. Labels of different nodes may meet; their union keeps what both keep.
    O(nodes · combinations left) time. Ours, near to the iterative algorithm of ARX (Prasser et al. 2020).
    """
    import numpy as np

    rest = _Rest(combinations, allowed)
    if not rest.possible:
        return None
    heights = combinations.heights
    nodes = np.indices(heights).reshape(len(heights), -1).T
    assert len(nodes) <= MOST_NODES
    levels = np.full((len(combinations.n), len(heights)), SUPPRESSED)
    left, of_left = np.arange(len(combinations.n)), combinations
    used = 0
    for done, number in enumerate(np.lexsort((np.arange(len(nodes)), loss.bounds(nodes)))):
        tick(done, len(nodes))
        node = tuple(int(level) for level in nodes[number])
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
        if taken.any():
            used += 1
            levels[left[taken]] = node
            left, of_left = left[~taken], of_left.only(~taken)
        if not len(left):
            break
    return Recoded(levels, used)


class _Rest:
    """Those that are not released yet: what they come to in every stratum, and how many of them may be suppressed."""

    def __init__(self, combinations: Combinations, allowed: int) -> None:
        import numpy as np

        self.tally = combinations.tally.merged(combinations.stratum, combinations.strata)
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
