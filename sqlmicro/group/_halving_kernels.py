"""Points in halves of halves, compiled by numba: every tree in which nearest points are looked up is made from them.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sqlmicro.system.compiled import internal, njit

POINTS_PER_CALL = 1_000_000
"""Points halved in one call of a kernel: at most 0.3 s, so that Ctrl-C is noticed soon."""

_POINTS_BELOW = 65_536  # nodes with more are halved level by level, several at a time, smaller ones with all below them


class Halves(NamedTuple):
    """Points in halves of halves: the children of node v are 2v + 1 and 2v + 2; a node without points is not used."""

    order: np.ndarray  # (m,) int64: points, those of a node side by side, those of a leaf ascending
    first: np.ndarray  # (V,) int64: where the points of a node begin in `order`
    stop: np.ndarray  # (V,) int64: where they end
    leaf: np.ndarray  # (V,) bool
    box: np.ndarray  # (V, 2, p): least and greatest coordinates in a node


def halved(
    X: np.ndarray,
    points: np.ndarray,
    leaf: int,
    multiple: int = 1,
    say: Callable[[], None] = lambda: None,
    each: Callable[..., list[Any]] = lambda function, units: [*map(function, units)],
) -> Halves:
    """Return some points of X, given in ascending order, in halves down to leaves of at most `leaf` points.

    They are halved at multiples of `multiple` points, as long as both sides have so many. Without it all leaves are on
    the last level. O(m p log m) time for m points. `each` calls a function for several nodes, in whatever order: a node
    and what is below it are halved without a look at the others.
    """
    m, nodes = len(points), 1
    while nodes * leaf < m:
        nodes *= 2
    nodes = 2 * nodes - 1
    tree = Halves(
        points.astype(np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.bool_),
        np.empty((nodes, 2, X.shape[1])),
    )
    tree.box[:, 0], tree.box[:, 1] = np.inf, -np.inf
    tree.stop[0] = m
    value = np.empty(m)
    if m <= leaf:
        tree.box[0] = (X[points].min(axis=0), X[points].max(axis=0)) if m else tree.box[0]
        tree.leaf[0] = True
        return tree

    def once(node: int) -> list[int]:
        say()
        pending = _pending(node)
        left = _halve(X, tree, multiple, pending, value, 1)
        return [int(child) for child in pending[:left]]

    def all_below(node: int) -> None:
        pending = _pending(node)
        while _halve(X, tree, multiple, pending, value, POINTS_PER_CALL):
            say()

    nodes = [0]
    while nodes and max(int(tree.stop[v] - tree.first[v]) for v in nodes) > _POINTS_BELOW:
        nodes = [child for children in each(once, nodes) for child in children]
    each(all_below, nodes)
    leaves = np.flatnonzero(tree.leaf)
    leaves = leaves[np.argsort(tree.first[leaves])]

    def ascending(some: np.ndarray) -> None:  # in a loop that is compiled, sorting takes long to compile
        leaf_of = np.repeat(np.arange(len(some)), (tree.stop - tree.first)[some]) * len(X)
        points = tree.order[tree.first[some[0]] : tree.stop[some[-1]]]
        points[:] = np.sort(leaf_of + points) - leaf_of

    each(ascending, np.split(leaves, np.flatnonzero(np.diff(tree.first[leaves] // _POINTS_BELOW)) + 1))
    return tree


def _pending(node: int) -> np.ndarray:
    """Return the list of the nodes to be halved, whose length is its last element, with one node."""
    pending = np.zeros(65, np.int64)
    pending[0], pending[-1] = node, 1
    return pending


@njit(cache=True, nogil=True, _nrt=False)
def _halve(X, tree, multiple, pending, value, work):
    """Halve pending nodes across their widest column, for `work` points; return how many are pending.

    Equal values are told apart by the number of the point, so that points that are all alike are halved too.
    """
    p = X.shape[1]
    order, first, stop, box = tree.order, tree.first, tree.stop, tree.box
    while pending[-1] > 0 and work > 0:
        pending[-1] -= 1
        v = pending[pending[-1]]
        a, b = first[v], stop[v]
        work -= b - a
        for i in range(a, b):
            row = order[i]
            for j in range(p):
                x = X[row, j]
                box[v, 0, j] = min(box[v, 0, j], x)
                box[v, 1, j] = max(box[v, 1, j], x)
        middle = a + ((b - a) // 2 + multiple - 1) // multiple * multiple
        if 2 * v + 2 >= len(first) or middle - a < multiple or b - middle < multiple:
            tree.leaf[v] = True
            continue
        column = 0
        for j in range(1, p):
            if box[v, 1, j] - box[v, 0, j] > box[v, 1, column] - box[v, 0, column]:
                column = j
        for i in range(a, b):
            value[i] = X[order[i], column]
        _select(value, order, a, b - 1, middle)
        first[2 * v + 1], stop[2 * v + 1] = a, middle
        first[2 * v + 2], stop[2 * v + 2] = middle, b
        pending[pending[-1]] = 2 * v + 2
        pending[pending[-1] + 1] = 2 * v + 1
        pending[-1] += 2
    return pending[-1]


@internal(_nrt=False)
def _select(value, order, first, last, at):
    """Permute value and order so that the places below `at` hold the smallest (value, point) pairs."""
    while first < last:
        middle = (first + last) >> 1
        pivot, pivot_point = value[middle], order[middle]
        i, j = first, last
        while i <= j:
            while value[i] < pivot or (value[i] == pivot and order[i] < pivot_point):
                i += 1
            while value[j] > pivot or (value[j] == pivot and order[j] > pivot_point):
                j -= 1
            if i <= j:
                value[i], value[j] = value[j], value[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if at <= j:
            last = j
        elif at >= i:
            first = i
        else:
            return
