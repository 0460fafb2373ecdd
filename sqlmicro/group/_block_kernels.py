"""Lists of near points, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import internal, njit


@internal(_nrt=False)
def _box_distance(tree, v, x):
    total = 0.0
    for j in range(len(x)):
        away = max(tree.box[v, 0, j] - x[j], x[j] - tree.box[v, 1, j], 0.0)
        total += away * away
    return total


@internal(_nrt=False)
def _push(distance, node, count, d, v):
    at = count
    while at > 0 and distance[(at - 1) >> 1] > d:
        distance[at], node[at] = distance[(at - 1) >> 1], node[(at - 1) >> 1]
        at = (at - 1) >> 1
    distance[at], node[at] = d, v


@internal(_nrt=False)
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


@njit(cache=True, nogil=True)
def nearest(X, tree, near, start, stop, leaves, beyond):
    """Write the points nearest to those at [start, stop) of the order, looking into so many leaves, nearest box first.

    Best bin first (Beis & Lowe 1997): exact where the boxes left are all farther than the points found. Points that are
    not written are at least `beyond` (n,) away, squared, or as far as the last that is; not told where it is empty.
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
        if len(beyond):
            beyond[q] = distance[0] if count else np.inf
