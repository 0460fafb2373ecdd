"""Near groups of those who wait, and the nearest seat for each, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from sqlmicro.group._tree_kernels import Tree, measure, nearest, plant, remove, squared_distance
from sqlmicro.system.compiled import njit


class Pool(NamedTuple):
    """Those who wait."""

    fresh: Tree  # who has never founded a class
    old: Tree  # who has
    block: np.ndarray  # (n,) only persons of one block share a class
    spent: np.ndarray  # (n,) who has founded a class
    value: np.ndarray  # (n,)
    kind: np.ndarray  # (n,) block and value
    left: np.ndarray  # who is left in the tree of who has never founded a class, of every kind
    different: np.ndarray  # values left in every block
    members: np.ndarray  # (n, size) the group that a person would found
    most: int  # of a group who may have founded before
    distinct: int
    person: np.ndarray  # (n,) a group has no two records of one
    records: np.ndarray  # (n,) of one person after the other
    begin: np.ndarray  # where the records of a person begin, and end
    several: bool  # whether somebody has more than one


def gather(X, block, spent, value, size, most, distinct, person):
    """Return those who wait; groups have `size` persons, at most `most` of them spent, and `distinct` values."""
    values = int(value.max(initial=0)) + 1
    kinds, kind = np.unique(block * values + value, return_inverse=True)
    left = np.bincount(kind[~spent], minlength=len(kinds))
    different = np.bincount(kinds[left > 0] // values, minlength=int(block.max(initial=0)) + 1)
    trees = plant(X, np.flatnonzero(~spent)), plant(X, np.flatnonzero(spent))
    members = np.empty((len(X), size), np.int64)
    one, person = np.unique(person, return_inverse=True)
    records = np.argsort(person, kind="stable")
    begin = np.searchsorted(person[records], np.arange(len(one) + 1))
    own = person, records, begin, len(one) < len(person)
    return Pool(*trees, block, spent, value, kind, left, different, members, most, distinct, *own)


def radii(pool):
    """Return how wide the group is that each could found (n,): nan where there is none."""
    radius = np.empty(len(pool.block))
    _radii(pool, radius)
    return radius


@njit(cache=True)
def _radii(pool, radius):
    for a in range(len(radius)):
        radius[a] = _found(pool, a)


def form(pool, limit, most):
    """Return groups (g, size), the tightest first, until there are `most` or none is as near as its members ask.

    The most impatient of the members decides. Who is in a group, is in no other one with another record.
    """
    groups = np.empty((most, pool.members.shape[1]), np.int64)
    return groups[: _form(pool, limit, groups)]


@njit(cache=True)
def _form(pool, limit, groups):
    members = pool.members
    taken = np.zeros(len(members), np.bool_)
    count, before = 0, -1
    while before < count < len(groups):  # a group that was too wide may have got a more impatient member
        before = count
        heap = [(0.0, 0)]
        heap.pop()
        for a in range(len(members)):
            if not taken[a]:
                radius = _near(pool, a, limit)
                if radius < np.inf:
                    heap.append((radius, a))
        heapify(heap)
        while len(heap) and count < len(groups):
            _, a = heappop(heap)
            if taken[a]:
                continue
            whole = True
            for b in members[a]:
                whole &= not taken[b]
            if whole:
                groups[count] = members[a]
                count += 1
                for b in members[a]:
                    person = pool.person[b]
                    for c in pool.records[pool.begin[person] : pool.begin[person + 1]]:
                        taken[c] = True
                        _take_out(pool, c)
                continue
            radius = _near(pool, a, limit)
            if radius < np.inf:
                heappush(heap, (radius, a))
    return count


@njit(cache=True)
def _near(pool, a, limit):
    """Find the group of a person; return how wide it is, infinite where there is none or it is wider than allowed."""
    radius = _found(pool, a)
    if np.isnan(radius):
        return np.inf
    most = 0.0
    for b in pool.members[a]:
        most = max(most, limit[b])
    return radius if radius <= most else np.inf


@njit(cache=True, _nrt=False)
def _take_out(pool, b):
    if pool.spent[b]:
        remove(pool.old, b)
        return
    remove(pool.fresh, b)
    kind = pool.kind[b]
    pool.left[kind] -= 1
    if pool.left[kind] == 0:
        pool.different[pool.block[b]] -= 1


@njit(cache=True)
def _found(pool, a):
    """Find the group that a person would found; return how wide it is, nan where there is none.

    It is she and who is nearest to her; or who is nearest to the mean of these, where that is tighter.
    """
    members, X = pool.members[a], pool.fresh.X
    if pool.different[pool.block[a]] < pool.distinct or pool.most < pool.spent[a] or not _choose(pool, a, X[a]):
        return np.nan
    mean, best = np.zeros(X.shape[1]), members.copy()
    radius = _radius(X, best, mean)
    while _choose(pool, a, mean):
        again = _radius(X, members, mean)
        if again >= radius:
            break
        radius, best[:] = again, members
    members[:] = best
    return radius


@njit(cache=True, _nrt=False)
def _radius(X, members, mean):
    """Return the mean squared distance of some from their mean, which is found too."""
    mean[:] = 0
    for b in members:
        mean += X[b]
    mean /= len(members)
    radius = 0.0
    for b in members:
        radius += squared_distance(X[b], mean)
    return radius / len(members)


@njit(cache=True)
def _choose(pool, a, q):
    """Choose a person and who is nearest to q, as members of a group; tell whether there are enough."""
    wanted, again = len(pool.members[a]), pool.most + 1
    while True:
        count, passed, more = _choose_among(pool, a, q, wanted, again)
        if count == len(pool.members[a]):
            return pool.distinct < 2 or _vary(pool, a)
        if not passed or not more:
            return False
        wanted, again = 2 * wanted, 2 * again  # some of the nearest were other records of those chosen


@njit(cache=True)
def _choose_among(pool, a, q, wanted, again):
    """Choose among so many nearest records; return how many were chosen, whether one was passed over, and whether
    farther ones are left."""
    members, block = pool.members[a], pool.block[a]
    size, most = len(members), pool.most - pool.spent[a]
    rows, distances = np.empty(wanted, np.int64), np.empty(wanted)
    n, _ = nearest(pool.fresh, q, wanted, rows, distances)
    old, old_distances = np.empty(again, np.int64), np.empty(again)
    m, _ = nearest(pool.old, q, again, old, old_distances)
    members[0] = a
    count, i, j, spent, passed = 1, 0, 0, 0, False
    while count < size and (i < n or j < m):
        first = j == m or (i < n and (distances[i], rows[i]) < (old_distances[j], old[j]))
        b = rows[i] if first else old[j]
        i, j = i + first, j + (not first)
        if not first and b != a and spent == most:
            continue
        if _is_among(pool, b, members[:count]):
            passed |= b != a
            continue
        spent += not first
        if pool.block[b] == block:
            members[count] = b
            count += 1
    more = n == wanted and pool.block[rows[n - 1]] == block
    more |= m == again and spent < most and pool.block[old[m - 1]] == block
    return count, passed, more


@njit(cache=True, _nrt=False)
def _is_among(pool, b, members):
    """Tell whether a record is of one of some persons."""
    if not pool.several:
        return b == members[0]
    among = False
    for c in members:
        among |= pool.person[c] == pool.person[b]
    return among


@njit(cache=True)
def _vary(pool, a):
    """Exchange the farthest of several with one value for the nearest with another, until there are enough values."""
    value, found = pool.value, pool.members[a]
    while True:
        different, again = 0, -1
        for i in range(len(found)):
            first = True
            for j in range(i):
                first &= value[found[j]] != value[found[i]]
            different += first
            if not first:
                again = i
        if different >= pool.distinct:
            return True
        other = _nearest_other(pool.fresh, pool.fresh.X[a], value, pool.person, found)
        if other < 0 or pool.block[other] != pool.block[a]:
            return False
        found[again : len(found) - 1] = found[again + 1 :].copy()
        found[len(found) - 1] = other


@njit(cache=True, _nrt=False)
def _nearest_other(tree, q, value, person, found):
    """Return the record left that is nearest to q, of another person and with another value than those found; or -1."""
    box, lowest = tree.box, tree.lowest
    node, bound = tree.node, tree.bound
    inner, n = len(lowest) // 2, tree.X.shape[0]
    best, worst = -1, np.inf
    node[0], bound[0] = 0, 0.0
    size = 1
    while size > 0:
        size -= 1
        v = node[size]
        if lowest[v] == n or bound[size] > worst:
            continue
        if v >= inner:
            leaf = v - inner
            measure(tree.points, leaf, q, tree.count[leaf], tree.distance)
            for i in range(tree.count[leaf]):
                row, d = tree.row[leaf, i], tree.distance[i]
                if d < worst or (d == worst and row < best):
                    other = True
                    for b in found:
                        other &= value[b] != value[row] and person[b] != person[row]
                    if other:
                        best, worst = row, d
            continue
        left, right = 2 * v + 1, 2 * v + 2
        to_left, to_right = _box_distance(box, left, q), _box_distance(box, right, q)
        if to_right < to_left:
            left, right, to_left, to_right = right, left, to_right, to_left
        node[size], bound[size] = right, to_right
        node[size + 1], bound[size + 1] = left, to_left
        size += 2
    return best


@njit(cache=True, _nrt=False)
def _box_distance(box, v, q):
    total = 0.0
    for j in range(len(q)):
        gap = max(max(box[v, 0, j] - q[j], q[j] - box[v, 1, j]), 0.0)
        total += gap * gap
    return total


def choose_founders(first, members, person, spent, k, most):
    """Choose k persons of each group, with one record each, at most `most` of them spent; who is chosen is spent.

    `members` has the records group after group, those that are to be taken first in front, and `first` (g + 1,) where
    a group begins; `spent` is by person, and is changed. Returns the members that are chosen (n,): none of a group with
    too few.
    """
    chosen = np.zeros(len(members), np.bool_)
    _choose_founders(first, members, person, spent, k, most, np.full(len(spent), -1), chosen)
    return chosen


@njit(cache=True, _nrt=False)
def _choose_founders(first, members, person, spent, k, most, seen, chosen):
    for g in range(len(first) - 1):
        again = 0
        for i in range(first[g], first[g + 1]):
            p = person[members[i]]
            if seen[p] < g and spent[p] and again < most:
                seen[p], chosen[i] = g, True
                again += 1
        count = again
        for i in range(first[g], first[g + 1]):
            p = person[members[i]]
            if seen[p] < g and not spent[p] and count < k:
                seen[p], chosen[i] = g, True
                count += 1
        for i in range(first[g], first[g + 1]):
            chosen[i] &= count == k
            spent[person[members[i]]] |= chosen[i]


def seat_all(X, worth, seats, farthest, free):
    """Return the seat of every person (n,), -1 where none is near enough: the nearest pair first.

    A seat is near enough within what it is worth to the person, and what the seat allows.
    """
    tree = plant(seats, np.flatnonzero(free > 0))
    taken = np.full(len(X), -1, np.int64)
    _seat_all(X, worth, tree, farthest, free.copy(), taken)
    return taken


@njit(cache=True)
def _seat_all(X, worth, tree, farthest, free, taken):
    wish = np.empty(len(X), np.int64)
    heap = [(0.0, 0)]
    heap.pop()
    for i in range(len(X)):
        distance = _wish(X[i], tree, wish[i : i + 1])
        if distance <= worth[i] and distance <= farthest[wish[i]]:
            heap.append((distance, i))
    heapify(heap)
    while len(heap):
        _, i = heappop(heap)
        seat = wish[i]
        if free[seat] > 0:
            taken[i] = seat
            free[seat] -= 1
            if free[seat] == 0:
                remove(tree, seat)
            continue
        distance = _wish(X[i], tree, wish[i : i + 1])
        if distance <= worth[i] and distance <= farthest[wish[i]]:
            heappush(heap, (distance, i))


@njit(cache=True)
def _wish(x, tree, seat):
    """Find the nearest seat; return its distance."""
    distance = np.empty(1)
    seat[0] = 0
    found, _ = nearest(tree, x, 1, seat, distance)
    return distance[0] if found else np.inf
