"""MDAV inside blocks of near records, and lists of near points, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit


@njit(cache=True)
def _box_distance(tree, v, x):
    total = 0.0
    for j in range(len(x)):
        away = max(tree.box[v, 0, j] - x[j], x[j] - tree.box[v, 1, j], 0.0)
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
