"""The lattice of generalizations: the node that loses least among those that are k-anonymous."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick

if TYPE_CHECKING:
    import numpy as np

MOST_NODES = 200_000


@dataclass(frozen=True)
class Found:
    """The best node, and how many were looked at."""

    node: tuple[int, ...]
    classes: int
    below: int
    loss: float
    visited: int
    nodes: int


Cost = tuple[int, int, float]
"""Classes of at least k, records in smaller ones, and the sum of the shares of the others."""


def search(
    bounds: list[list[float]], records: int, allowed: int, evaluate: Callable[[tuple[int, ...]], Cost], tick: Tick
) -> Found | None:
    """Return the node of least loss with at most `allowed` records below k, or None.

    Parameters
    ----------
    bounds : list of list of float
        Per column and level the mean share over all records: what the level loses at least.
    records, allowed : int
        Number of records, and how many may be suppressed.
    evaluate : callable
        Counts one node.
    tick : callable
        Told (nodes looked at, nodes).

    Notes
    -----
    The loss of a node is the mean over records and columns of the share of the column that a value covers, 1 for
    suppressed records: 1 - granularity (El Emam et al. 2009). What all records would lose without suppression is a
    bound from below, known for every node beforehand, so nodes are taken in that order until it passes the best loss.
    A node that is not k-anonymous rules out all below it (Samarati 2001); to find such nodes high up, the chain from
    the present node to the top is searched by bisection (Kohlmayer et al. 2012).
    """
    import numpy as np

    heights = [len(levels) for levels in bounds]
    nodes = np.indices(heights).reshape(len(heights), -1).T
    bound = np.mean([np.array(levels)[nodes[:, c]] for c, levels in enumerate(bounds)], axis=0)
    failed = np.zeros(len(nodes), dtype=bool)
    strides = np.cumprod([1, *heights[:0:-1]])[::-1]
    best: Found | None = None
    least = np.inf
    seen: dict[int, bool] = {}

    def passes(number: int) -> bool:
        nonlocal best, least
        if failed[number]:
            return False
        if number not in seen:
            node = tuple(int(level) for level in nodes[number])
            classes, below, shares = evaluate(node)
            seen[number] = below <= allowed
            tick(len(seen), len(nodes))
            if below > allowed:
                failed[(nodes <= nodes[number]).all(axis=1)] = True
            else:
                loss = round((shares / len(bounds) + below) / records, 12)
                if loss < least:
                    least, best = loss, Found(node, classes, below, loss, 0, len(nodes))
        return seen[number]

    for number in np.lexsort((np.arange(len(nodes)), bound)):
        if bound[number] >= least:
            break
        if failed[number] or int(number) in seen:
            continue
        chain = _chain(nodes[number], heights, bounds, strides)
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            if passes(chain[middle]):
                high = middle - 1
            else:
                low = middle + 1
        passes(int(number))
    if best is None:
        return None
    return Found(best.node, best.classes, best.below, best.loss, len(seen), len(nodes))


def _chain(node: np.ndarray, heights: list[int], bounds: list[list[float]], strides: np.ndarray) -> list[int]:
    """Return the numbers of the nodes from `node` to the top, each step the one that loses least."""
    levels = [int(level) for level in node]
    chain = [int(sum(level * stride for level, stride in zip(levels, strides, strict=True)))]
    while any(level < height - 1 for level, height in zip(levels, heights, strict=True)):
        steps = [
            (bounds[c][level + 1] - bounds[c][level], c) for c, level in enumerate(levels) if level < heights[c] - 1
        ]
        levels[min(steps)[1]] += 1
        chain.append(int(sum(level * stride for level, stride in zip(levels, strides, strict=True))))
    return chain
