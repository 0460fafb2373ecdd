"""The loops of k-Ward, compiled by numba: joining groups along a line by a heap, and in space by a chain of neighbours.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
Every long loop works on a state that is kept in arrays and stops after a given amount of work, to go on later.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import internal, njit

NONE = -1


class Line(NamedTuple):
    """Groups of consecutive values of a sorted column (n,); a group has the number of its first value."""

    total: np.ndarray  # (n,) sum of the values of each group
    size: np.ndarray  # (n,) records in each group, 0 where none begins
    before: np.ndarray  # (n,) the group on the left, or NONE at a border
    behind: np.ndarray  # (n,) the group on the right, or NONE at a border
    cost: np.ndarray  # (n,) of joining a group and the one on its right; infinite where they may not be joined
    heap: np.ndarray  # (n,) groups, the cheapest to join first
    place: np.ndarray  # (n,) where each group is in the heap, or NONE
    count: np.ndarray  # (2,) see the constants below


class Space(NamedTuple):
    """Groups of records (n, p); a group has the number of its lowest record."""

    total: np.ndarray  # (n, p) sums of the records of each group
    mean: np.ndarray  # (n, p)
    size: np.ndarray  # (n,) records in each group, 0 for one that was joined to another
    into: np.ndarray  # (n,) the group each was joined to, itself while it is one
    active: np.ndarray  # (n,) groups, ascending; may hold some that were joined to others
    chain: np.ndarray  # (n,) groups, each the nearest of the one before
    count: np.ndarray  # (5,) see the constants below


LISTED, PRICED = range(2)
"""Groups in the heap, distances computed."""
ACTIVE, JOINED, CHAIN, SMALL, COMPUTED = range(5)
"""Entries in `active`, those of them that were joined, length of the chain, groups below k, distances computed."""


# Along a line


@internal(_nrt=False)
def _join_cost(line, i, k):
    j = line.behind[i]
    if j == NONE or (line.size[i] >= k and line.size[j] >= k):
        return np.inf
    line.count[PRICED] += 1
    gap = line.total[j] / line.size[j] - line.total[i] / line.size[i]
    return line.size[i] * line.size[j] / (line.size[i] + line.size[j]) * gap * gap


@internal(_nrt=False)
def _earlier(line, i, j):
    return line.cost[i] < line.cost[j] or (line.cost[i] == line.cost[j] and i < j)


@internal(_nrt=False)
def _rise(line, at):
    heap, place = line.heap, line.place
    i = heap[at]
    while at > 0 and _earlier(line, i, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        place[heap[at]] = at
        at = (at - 1) >> 1
    heap[at] = i
    place[i] = at


@internal(_nrt=False)
def _sink(line, at):
    heap, place, count = line.heap, line.place, line.count[LISTED]
    i = heap[at]
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and _earlier(line, heap[child + 1], heap[child]):
            child += 1
        if not _earlier(line, heap[child], i):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = i
    place[i] = at


@internal(_nrt=False)
def _reprice(line, i, k):
    line.cost[i] = _join_cost(line, i, k)
    _rise(line, line.place[i])
    _sink(line, line.place[i])


@internal(_nrt=False)
def _unlist(line, i):
    at, last = line.place[i], line.count[LISTED] - 1
    line.count[LISTED] = last
    if at < last:
        moved = line.heap[last]
        line.heap[at] = moved
        line.place[moved] = at
        _rise(line, at)
        _sink(line, line.place[moved])
    line.place[i] = NONE


@njit(cache=True, nogil=True, _nrt=False)
def open_ranges(line, x, starts, ends, k):
    """Begin anew in ranges of at least 2k values: the k smallest and the k largest form groups, the rest is single."""
    heap_size = 0
    for r in range(len(starts)):
        start, end = starts[r], ends[r]
        i, before = start, NONE
        while i < end:
            size = k if i == start or i == end - k else 1
            line.total[i] = x[i : i + size].sum()
            line.size[i] = size
            line.before[i] = before
            line.behind[i] = i + size if i + size < end else NONE
            line.heap[heap_size] = i
            line.place[i] = heap_size
            heap_size += 1
            before = i
            i += size
    line.count[LISTED] = heap_size
    for at in range(heap_size):
        line.cost[line.heap[at]] = _join_cost(line, line.heap[at], k)
    for at in range(heap_size // 2 - 1, -1, -1):
        _sink(line, at)


@njit(cache=True, nogil=True, _nrt=False)
def join_line(line, k, joins):
    """Join the two neighbours that are cheapest to join, at most `joins` times; return whether none is left."""
    while joins > 0:
        i = line.heap[0]
        if line.cost[i] == np.inf:
            return True
        j = line.behind[i]
        line.total[i] += line.total[j]
        line.size[i] += line.size[j]
        line.behind[i] = line.behind[j]
        if line.behind[j] != NONE:
            line.before[line.behind[j]] = i
        _unlist(line, j)
        line.size[j] = 0
        _reprice(line, i, k)
        if line.before[i] != NONE:
            _reprice(line, line.before[i], k)
        joins -= 1
    return False


# In space


@internal(_nrt=False)
def _squared(X, i, j):
    total = 0.0
    for c in range(X.shape[1]):
        difference = X[i, c] - X[j, c]
        total += difference * difference
    return total


@njit(cache=True, nogil=True, _nrt=False)
def farthest_pair(X, order, radius, first, best, pairs):
    """Look for the two records farthest apart, the record farthest from the mean first.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records.
    order : ndarray of shape (n,)
        Rows by descending distance from the mean.
    radius : ndarray of shape (n,)
        That distance, by row.
    first : int
        Where in `order` to go on.
    best : ndarray of shape (3,)
        Squared distance, lower and higher row of the farthest pair so far; changed.
    pairs : int
        About how many distances may be computed.

    Returns
    -------
    tuple of two int
        Where to go on, n at the end; and how many distances were computed.
    """
    n, computed = len(order), 0
    while first < n and computed < pairs:
        i = order[first]
        # No pair is farther apart than its two distances from the mean, up to rounding.
        reach = radius[i] + radius[order[0]]
        if reach * reach < best[0] * (1.0 - 1e-9):
            return n, computed
        for at in range(first):
            j = order[at]
            reach = radius[i] + radius[j]
            if reach * reach < best[0] * (1.0 - 1e-9):
                break
            d = _squared(X, i, j)
            computed += 1
            low, high = min(i, j), max(i, j)
            if d > best[0] or (d == best[0] and (low < best[1] or (low == best[1] and high < best[2]))):
                best[0], best[1], best[2] = d, low, high
        first += 1
    return first, computed


@njit(cache=True, nogil=True, _nrt=False)
def open_space(space, X, ends, k):
    """Begin with the groups in the two rows of `ends` (2, k), each ascending, and all other records single."""
    n, p = X.shape
    for i in range(n):
        space.size[i] = 1
        space.into[i] = i
        for c in range(p):
            space.total[i, c] = space.mean[i, c] = X[i, c]
    for side in range(2):
        lowest = ends[side, 0]
        for member in ends[side, 1:]:
            space.into[member] = lowest
            space.size[member] = 0
            for c in range(p):
                space.total[lowest, c] += X[member, c]
        space.size[lowest] = k
        for c in range(p):
            space.mean[lowest, c] = space.total[lowest, c] / k
    count = 0
    for i in range(n):
        if space.size[i] > 0:
            space.active[count] = i
            count += 1
    space.count[ACTIVE] = count
    space.count[JOINED] = 0
    space.count[CHAIN] = 0
    space.count[SMALL] = count - 2


@njit(cache=True, nogil=True)
def join_space(space, k, distances):
    """Join neighbours until every group has at least k records, or some `distances` were computed; return if done.

    A chain leads from a small group to the nearest group, and on, until two groups are each other's nearest: those are
    joined. Ward's distance never falls below that of the pair just joined, and neither does it where two groups of at
    least k are infinitely far apart, so that the groups are those of joining the nearest pair of all each time.
    """
    count, chain, size = space.count, space.chain, space.size
    limit = count[COMPUTED] + distances
    while count[SMALL] > 0 and count[COMPUTED] < limit:
        if count[CHAIN] == 0:
            at = 0
            while size[space.active[at]] == 0 or size[space.active[at]] >= k:
                at += 1
            chain[0] = space.active[at]
            count[CHAIN] = 1
        top = chain[count[CHAIN] - 1]
        previous = chain[count[CHAIN] - 2] if count[CHAIN] > 1 else NONE
        found = _nearest_group(space, k, top, previous)
        if found == previous:
            _join_groups(space, k, min(top, previous), max(top, previous))
            count[CHAIN] -= 2
            # By rounding only, a group may be in the chain twice, or have been joined to another.
            while count[CHAIN] > 0 and size[chain[count[CHAIN] - 1]] == 0:
                count[CHAIN] -= 1
        else:
            if count[CHAIN] == len(chain):
                count[CHAIN] = 0
            chain[count[CHAIN]] = found
            count[CHAIN] += 1
    return count[SMALL] == 0


@internal()
def _nearest_group(space, k, i, previous):
    """Return the group nearest to i that it may be joined to; of equal ones the previous, else the lowest."""
    mean, size = space.mean, space.size
    own, large, point = size[i], size[i] >= k, mean[i].copy()
    least = own / (own + 1)  # the factor of a single record; that of a larger group is larger
    best, found = np.inf, NONE
    space.count[COMPUTED] += space.count[ACTIVE]
    for at in range(space.count[ACTIVE]):
        j = space.active[at]
        d = 0.0
        for c in range(len(point)):
            difference = mean[j, c] - point[c]
            d += difference * difference
        if least * d > best or j == i or size[j] == 0 or (large and size[j] >= k):
            continue
        d = own * size[j] / (own + size[j]) * d
        if d < best or (d == best and j == previous):
            best, found = d, j
    return found


@internal(_nrt=False)
def _join_groups(space, k, i, j):
    total, mean, size, count = space.total, space.mean, space.size, space.count
    both = size[i] + size[j]
    for c in range(mean.shape[1]):
        total[i, c] += total[j, c]
        mean[i, c] = total[i, c] / both
    count[SMALL] += int(both < k) - int(size[i] < k) - int(size[j] < k)
    size[i], size[j] = both, 0
    space.into[j] = i
    count[JOINED] += 1
    if 4 * count[JOINED] > count[ACTIVE]:
        left = 0
        for at in range(count[ACTIVE]):
            if size[space.active[at]] > 0:
                space.active[left] = space.active[at]
                left += 1
        count[ACTIVE], count[JOINED] = left, 0


@njit(cache=True, nogil=True, _nrt=False)
def settle(into, labels):
    """Put the group that each record ended up in into `labels`; a group is joined to a lower one only."""
    for i in range(len(into)):
        labels[i] = i if into[i] == i else labels[into[i]]
