"""The lattice of generalizations: the node that loses least among those whose classes keep what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.mask.combinations import Combinations, Node
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.losses import Loss

MOST_NODES = 200_000


@dataclass(frozen=True, eq=False)
class Found:
    """The best node, what it keeps of the records, and how many nodes were looked at."""

    node: Node
    classes: int
    suppressed: int
    loss: float
    group: np.ndarray
    """The class of every combination."""
    kept: np.ndarray
    """Whether a combination is in a class that is released."""
    visited: int
    nodes: int


def search(combinations: Combinations, loss: Loss, allowed: int, tick: Tick) -> Found | None:
    """Return the node of least loss that needs at most `allowed` records suppressed, or None.

    Parameters
    ----------
    combinations : Combinations
        What occurs, and what is asked of the classes.
    loss : Loss
        What a node loses, and a bound of it from below that is known beforehand.
    allowed : int
        How many records may be suppressed: all of the classes that do not keep what is asked.
    tick : callable
        Told (nodes looked at, nodes).

    Notes
    -----
    Exact. Nodes are taken in the order of the bound until it passes the best loss. Suppression is monotone in k and in
    the number of values: a class that has enough is in one that has enough on every higher node. So a node where too
    many records lack that rules out all nodes below it (Samarati 2001). To find such nodes high up, the chain from the
    present node to the top is searched by bisection (Kohlmayer et al. 2012). A share, an entropy or a distance is not
    monotone so: a class that is too far from the table may be joined with one that was not, and take its records along.
    Where nothing may be suppressed, all of them are monotone, since unions of classes that keep them keep them.
    """
    return _Search(combinations, loss, allowed, tick).run()


class _Search:
    """The state of one search: the bounds of the nodes, those that failed, and the best so far."""

    def __init__(self, combinations: Combinations, loss: Loss, allowed: int, tick: Tick) -> None:
        import numpy as np

        self.combinations, self.loss, self.allowed, self.tick = combinations, loss, allowed, tick
        heights = combinations.heights
        self.heights = heights
        self.nodes = np.indices(heights).reshape(len(heights), -1).T
        self.strides = np.cumprod([1, *heights[:0:-1]])[::-1]
        self.bound = loss.bounds(self.nodes)
        self.raised = self.bound.copy()
        """The bounds, and those that nodes below have shown since."""
        self.failed = np.zeros(len(self.nodes), dtype=bool)
        self.seen: dict[int, bool] = {}
        self.monotone = combinations.tally.only_enough or allowed == 0
        self.best: Found | None = None
        self.least = np.inf

    def run(self) -> Found | None:
        import numpy as np

        for number in map(int, np.lexsort((np.arange(len(self.nodes)), self.bound))):
            if self.bound[number] >= self.least:
                break
            if self.failed[number] or number in self.seen or self.raised[number] >= self.least:
                continue
            if self.allowed < self.combinations.records:
                self._bisect(number)
            self._passes(number)
        if self.best is None:
            return None
        return replace(self.best, visited=len(self.seen), nodes=len(self.nodes))

    def _bisect(self, number: int) -> None:
        """Look for nodes that fail as high up as possible, between this one and the top."""
        chain = self._chain(self.nodes[number])
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._passes(chain[middle]):
                high = middle - 1
            else:
                low = middle + 1

    def _passes(self, number: int) -> bool:
        """Tell whether a node may keep what is asked as far as that is monotone; keep it if it is the best."""
        if self.failed[number]:
            return False
        if number not in self.seen:
            self.seen[number] = self._count(number)
            self.tick(len(self.seen), len(self.nodes))
            if not self.seen[number]:
                self.failed[(self.nodes <= self.nodes[number]).all(axis=1)] = True
        return self.seen[number]

    def _count(self, number: int) -> bool:
        import numpy as np

        node = tuple(int(level) for level in self.nodes[number])
        group, classes = self.combinations.groups(node)
        if self.loss.by_size:
            whole = self.loss.of(node, group, np.bincount(group, self.combinations.n), np.ones(classes, dtype=bool))
            above = (self.nodes >= self.nodes[number]).all(axis=1)
            self.raised[above] = np.maximum(self.raised[above], whole)
        sizes = np.bincount(group, self.combinations.n, minlength=classes)
        large = sizes >= self.combinations.tally.k
        if sizes[~large].sum() > self.allowed:
            return False
        # What else is asked can only add to what is suppressed, and so to the loss.
        if self.loss.of(node, group, sizes, large) >= self.least:
            return True
        tally = self.combinations.tally.merged(group, classes)
        enough = tally.enough()
        kept = enough if tally.only_enough else enough & tally.kept()
        suppressed = int(sizes[~kept].sum())
        if suppressed <= self.allowed:
            lost = self.loss.of(node, group, sizes, kept)
            if lost < self.least:
                self.least = lost
                self.best = Found(node, int(kept.sum()), suppressed, lost, group, kept[group], 0, 0)
            return True
        return not self.monotone and int(sizes[~enough].sum()) <= self.allowed

    def _chain(self, node: np.ndarray) -> list[int]:
        """Return the numbers of the nodes from `node` to the top, each step the one whose bound is least."""
        levels = node.copy()
        chain = [int(levels @ self.strides)]
        while up := [c for c, height in enumerate(self.heights) if levels[c] < height - 1]:
            steps = [(self.bound[chain[-1] + self.strides[c]], c) for c in up]
            levels[min(steps)[1]] += 1
            chain.append(int(levels @ self.strides))
        return chain
