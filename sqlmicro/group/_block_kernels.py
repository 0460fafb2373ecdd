"""Blocks of near records and lists of near points, compiled by numba: halving, MDAV inside blocks, nearest points.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit


class Tree(NamedTuple):
    """Points in halves of halves; the children of node v are 2v + 1 and 2v + 2, a node without a box is not used."""

    order: np.ndarray  # (n,) int64: points, those of a node side by side
    first: np.ndarray  # (V,) int64: where the points of a node begin in `order`
    stop: np.ndarray  # (V,) int64: where they end
    leaf: np.ndarray  # (V,) bool
    low: np.ndarray  # (V, p): the box of a node
    high: np.ndarray  # (V, p)
    pending: np.ndarray  # (65,) int64: nodes to be halved, and how many


def plant(n: int, p: int, leaf: int) -> Tree:
    """Return a tree of n points that is not halved yet, with room for leaves of `leaf` points."""
    nodes = 1
    while nodes * leaf < n:
        nodes *= 2
    nodes = 2 * nodes - 1
    tree = Tree(
        np.arange(n),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.bool_),
        np.full((nodes, p), np.inf),
        np.full((nodes, p), -np.inf),
        np.zeros(65, np.int64),
    )
    tree.stop[0] = n
    tree.pending[-1] = 1
    return tree


@njit(cache=True)
def _select(value, order, first, stop, middle):
    """Bring the points with the smallest values before `middle`; of equal values the lowest point comes first."""
    low, high = first, stop - 1
    while low < high:
        at = order[(low + high) >> 1]
        pivot = value[at]
        i, j = low, high
        while i <= j:
            while value[order[i]] < pivot or (value[order[i]] == pivot and order[i] < at):
                i += 1
            while value[order[j]] > pivot or (value[order[j]] == pivot and order[j] > at):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True)
def halve(X, tree, multiple, work):
    """Halve nodes across their widest column, at multiples of `multiple` points, for `work` points; 0 when done."""
    p = X.shape[1]
    order, first, stop, pending = tree.order, tree.first, tree.stop, tree.pending
    while pending[-1] > 0 and work > 0:
        pending[-1] -= 1
        v = pending[pending[-1]]
        a, b = first[v], stop[v]
        work -= b - a
        for i in range(a, b):
            for j in range(p):
                x = X[order[i], j]
                tree.low[v, j] = min(tree.low[v, j], x)
                tree.high[v, j] = max(tree.high[v, j], x)
        middle = a + ((b - a) // 2 + multiple - 1) // multiple * multiple
        if 2 * v + 2 >= len(first) or middle - a < multiple or b - middle < multiple:
            tree.leaf[v] = True
            order[a:b].sort()
            continue
        _select(X[:, np.argmax(tree.high[v] - tree.low[v])], order, a, b, middle)
        first[2 * v + 1], stop[2 * v + 1] = a, middle
        first[2 * v + 2], stop[2 * v + 2] = middle, b
        pending[pending[-1]] = 2 * v + 2
        pending[pending[-1] + 1] = 2 * v + 1
        pending[-1] += 2
    return pending[-1]


@njit(cache=True)
def _box_distance(tree, v, x):
    total = 0.0
    for j in range(len(x)):
        away = max(tree.low[v, j] - x[j], x[j] - tree.high[v, j], 0.0)
        total += away * away
    return total


@njit(cache=True)
def _push(distance, node, count, d, v):
    at = count
    while at > 0 and distance[(at - 1) >> 1] > d:
        distance[at], node[at] = distance[(at - 1) >> 1], node[(at - 1) >> 1]
        at = (at - 1) >> 1
    distance[at], node[at] = d, v


@njit(cache=True)
def _pop(distance, node, count):
    """Remove the first of `count` entries, and close the gap."""
    d, v = distance[count - 1], node[count - 1]
    at = 0
    while 2 * at + 1 < count - 1:
        child = 2 * at + 1
        if child + 1 < count - 1 and distance[child + 1] < distance[child]:
            child += 1
        if distance[child] >= d:
            break
        distance[at], node[at] = distance[child], node[child]
        at = child
    distance[at], node[at] = d, v


@njit(cache=True)
def nearest(X, tree, near, start, stop, leaves):
    """Write the points nearest to those at [start, stop) of the order, looking into so many leaves, nearest box first.

    Best bin first (Beis & Lowe 1997): exact where the boxes left are all farther than the points found.
    """
    reach = near.shape[1]
    distance = np.empty(len(tree.first))
    node = np.empty(len(tree.first), np.int64)
    found = np.empty(reach)
    for at in range(start, stop):
        q = tree.order[at]
        x = X[q]
        to = near[q]
        have = 0
        worst = np.inf
        looked = 0
        distance[0], node[0] = 0.0, 0
        count = 1
        while count and distance[0] < worst and (looked < leaves or have < reach):
            v = node[0]
            _pop(distance, node, count)
            count -= 1
            while not tree.leaf[v]:
                left, right = _box_distance(tree, 2 * v + 1, x), _box_distance(tree, 2 * v + 2, x)
                far, v = (right, 2 * v + 1) if left <= right else (left, 2 * v + 2)
                if far < worst:
                    _push(distance, node, count, far, v + 1 if left <= right else v - 1)
                    count += 1
            looked += 1
            for i in range(tree.first[v], tree.stop[v]):
                y = tree.order[i]
                if y == q:
                    continue
                d = 0.0
                for j in range(len(x)):
                    d += (X[y, j] - x[j]) ** 2
                if d >= worst:
                    continue
                slot = have if have < reach else reach - 1
                have = min(have + 1, reach)
                while slot > 0 and found[slot - 1] > d:
                    found[slot], to[slot] = found[slot - 1], to[slot - 1]
                    slot -= 1
                found[slot], to[slot] = d, y
                if have == reach:
                    worst = found[reach - 1]


@njit(cache=True)
def spread(X, near, others, scale, start, stop):
    """Write half the mean squared distance to the nearest `others` points: about what a record loses there."""
    for x in range(start, stop):
        total = 0.0
        for y in near[x, :others]:
            for j in range(X.shape[1]):
                total += (X[x, j] - X[y, j]) ** 2
        scale[x] = 0.5 * total / others


@njit(cache=True)
def _distances(rest, count, x, distance):
    for i in range(count):
        distance[i] = 0.0
    for j in range(len(x)):
        row = rest[j]
        at = x[j]
        for i in range(count):
            distance[i] += (row[i] - at) * (row[i] - at)


@njit(cache=True)
def _take(rest, name, count, distance, k, labels, g, total):
    """Give group g to the k records with the smallest distances, and take them out of the rest."""
    found = np.full(k, np.inf)
    which = np.empty(k, np.int64)
    for i in range(count):
        d = distance[i]
        if d >= found[k - 1]:
            continue
        slot = k - 1
        while slot > 0 and found[slot - 1] > d:
            found[slot], which[slot] = found[slot - 1], which[slot - 1]
            slot -= 1
        found[slot], which[slot] = d, i
    which.sort()
    for i in which[::-1]:
        count -= 1
        labels[name[i]] = g
        name[i] = name[count]
        distance[i] = distance[count]
        for j in range(len(total)):
            total[j] -= rest[j, i]
            rest[j, i] = rest[j, count]
    return count


@njit(cache=True)
def block_mdav(X, labels, first, stop, k, g):
    """Group the records [first, stop) by MDAV, from label g on; return the next label."""
    p = X.shape[1]
    count = stop - first
    rest = X[first:stop].T.copy()
    name = np.arange(first, stop)
    distance = np.empty(count)
    total = rest.sum(axis=1)
    x = np.empty(p)
    while count >= 2 * k:
        _distances(rest, count, total / count, distance)
        x[:] = rest[:, np.argmax(distance[:count])]
        _distances(rest, count, x, distance)
        pair = count >= 3 * k
        count = _take(rest, name, count, distance, k, labels, g, total)
        g += 1
        if pair:
            x[:] = rest[:, np.argmax(distance[:count])]
            _distances(rest, count, x, distance)
            count = _take(rest, name, count, distance, k, labels, g, total)
            g += 1
    for i in range(count):
        labels[name[i]] = g
    return g + 1
