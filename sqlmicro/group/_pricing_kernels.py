"""The loops of pricing, compiled by numba: which groups would improve a set partitioning, given a price per record.

The excess of a group is the sum of the prices of its records less its SSE and its fines. Loops fill arrays that are
given to them, see `_kanonymeans_kernels`. Imported only inside functions, since numba takes long to load. With
NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import internal, njit


class Found(NamedTuple):
    """The best groups of one anchor, best first."""

    members: np.ndarray  # (keep, largest) records
    size: np.ndarray  # (keep,)
    excess: np.ndarray  # (keep,)
    count: np.ndarray  # (1,)


class Triples(NamedTuple):
    """Triples of records; a group with two or three records of one pays its fine. By record, as in a sparse matrix."""

    start: np.ndarray  # (n + 1,) where the entries of each record begin
    second: np.ndarray  # (3 triples,) another record of the triple
    third: np.ndarray  # (3 triples,)
    fine: np.ndarray  # (3 triples,)


class Levels(NamedTuple):
    """The open branches of the depth-first search; at level l there are l+1 members besides the candidates."""

    candidate: np.ndarray  # (largest, width) which may join next, best bound first
    gain: np.ndarray  # (largest, width) what a candidate adds to the excess, distances among candidates left out
    bound: np.ndarray  # (largest, width) what it can add at most in a group of this size
    count: np.ndarray  # (largest,) candidates
    next: np.ndarray  # (largest,) the first candidate not tried yet
    value: np.ndarray  # (largest,) excess of the members, as part of a group of this size
    chosen: np.ndarray  # (largest,) the candidate that was taken at each level


def make_levels(largest: int, width: int) -> Levels:
    """Return working memory for groups of at most `largest` records and `width` candidates."""
    table, row = (largest, width), largest
    return Levels(
        np.empty(table, np.int64),
        np.empty(table),
        np.empty(table),
        np.empty(row, np.int64),
        np.empty(row, np.int64),
        np.empty(row),
        np.empty(row, np.int64),
    )


@internal(_nrt=False)
def _squared_distance(X, i, j):
    total = 0.0
    for c in range(X.shape[1]):
        difference = X[i, c] - X[j, c]
        total += difference * difference
    return total


@internal(_nrt=False)
def _insert(top, count, value):
    """Put `value` among the `count` largest so far, largest first."""
    if value > top[count - 1]:
        at = count - 1
        while at > 0 and top[at - 1] < value:
            top[at] = top[at - 1]
            at -= 1
        top[at] = value


@njit(cache=True, nogil=True)
def nearest_sums(X, start, stop, sums):
    """Set sums[i, r] (n, R) for i in start..stop-1 to the sum of the r smallest distances from i to other records."""
    count = sums.shape[1] - 1
    top = np.empty(count + 1)
    for i in range(start, stop):
        top[:] = -np.inf
        for j in range(len(X)):
            if j != i and count > 0:
                _insert(top, count, -_squared_distance(X, i, j))
        sums[i, 0] = 0.0
        for r in range(count):
            sums[i, r + 1] = sums[i, r] - top[r]


@internal(_nrt=False)
def _spread_fines(triples, i, size, position, distance):
    """Add a third of each fine of record i to its distances to the other two records of the triple, times the size.

    Every pair of a triple then pays a third: with three records in the group the whole fine, with two a third of it.
    """
    for entry in range(triples.start[i], triples.start[i + 1]):
        for other in (triples.second[entry], triples.third[entry]):
            if position[other] >= 0:
                distance[position[other]] += size * triples.fine[entry] / 3.0


@internal(_nrt=False)
def _unpaid(triples, members, size):
    """Return what pairs have not paid of the fines: two thirds where a group has two records of a triple."""
    total = 0.0
    for m in range(size):
        i = members[m]
        for entry in range(triples.start[i], triples.start[i + 1]):
            second = third = False
            for other in range(size):
                second |= members[other] == triples.second[entry]
                third |= members[other] == triples.third[entry]
            if second != third:
                total += triples.fine[entry] / 3.0
    return total


@internal()
def _tighten(distance, levels, level, missing, size, need):
    """Bound what each candidate adds, drop those in no group above `need`, sort the rest; return the work done.

    Of `missing` records that join, each is at least as far from the others as from its missing - 1 nearest candidates;
    half of every such distance is its own.
    """
    candidate, gain, bound = levels.candidate[level], levels.gain[level], levels.bound[level]
    top, best = np.empty(missing + 1), np.empty(missing + 1)
    count, work, dropping = levels.count[level], 0, True
    while dropping and count >= missing:
        best[:] = -np.inf
        for z in range(count):
            bound[z] = gain[z]
            if missing > 1:
                row = distance[candidate[z]]
                top[:] = -np.inf
                for other in range(count):
                    if other != z:
                        _insert(top, missing - 1, -row[candidate[other]])
                for r in range(missing - 1):
                    bound[z] += 0.5 * top[r] / size
            _insert(best, missing, bound[z])
        work += 1 + count * count
        others = levels.value[level]
        for r in range(missing - 1):
            others += best[r]
        kept = 0
        if others + best[missing - 1] > need:
            for z in range(count):
                if others + bound[z] > need:
                    candidate[kept], gain[kept], bound[kept] = candidate[z], gain[z], bound[z]
                    kept += 1
        dropping = missing > 1 and kept < 0.8 * count
        count = kept
    levels.count[level] = count if count >= missing else 0
    levels.next[level] = 0
    _sort(candidate, gain, bound, levels.count[level])
    return work


@internal(_nrt=False)
def _sort(candidate, gain, bound, count):
    """Sort by bound, largest first, by insertion: _tighten has compared all pairs before."""
    for z in range(1, count):
        a, b, c, at = candidate[z], gain[z], bound[z], z
        while at > 0 and bound[at - 1] < c:
            candidate[at], gain[at], bound[at] = candidate[at - 1], gain[at - 1], bound[at - 1]
            at -= 1
        candidate[at], gain[at], bound[at] = a, b, c


@internal(_nrt=False)
def _need(found, threshold):
    """Return the excess that a group must have to be of interest."""
    keep = len(found.size)
    return threshold if found.count[0] < keep else max(threshold, found.excess[keep - 1])


@internal(_nrt=False)
def _remember(found, rows, levels, triples, members, size, relaxed, threshold):
    """Keep the group of the anchor, members[0], and the chosen candidates, if it is one of the best."""
    for level in range(size - 1):
        members[level + 1] = rows[levels.chosen[level]]
    excess = relaxed - _unpaid(triples, members, size)
    if excess <= _need(found, threshold):
        return
    at = found.count[0]
    if at < len(found.size):
        found.count[0] += 1
    else:
        at -= 1
    while at > 0 and found.excess[at - 1] < excess:
        found.excess[at], found.size[at] = found.excess[at - 1], found.size[at - 1]
        for z in range(found.size[at]):
            found.members[at, z] = found.members[at - 1, z]
        at -= 1
    found.excess[at], found.size[at] = excess, size
    for z in range(size):
        found.members[at, z] = members[z]


@internal(_nrt=False)
def _open_bound(levels, deepest, size):
    """Return the largest excess that the branches not yet searched can hold."""
    largest = -np.inf
    for level in range(deepest + 1):
        first, missing = levels.next[level], size - 1 - level
        if first + missing <= levels.count[level]:
            total = levels.value[level]
            for z in range(first, first + missing):
                total += levels.bound[level, z]
            largest = max(largest, total)
    return largest


@internal()
def _search(distance, rows, levels, found, triples, anchor, size, threshold, budget):
    """Search the groups of `size` records around an anchor; return the work done and a bound on what was left out."""
    level, members = 0, np.empty(size, np.int64)
    members[0] = anchor
    work = _tighten(distance, levels, 0, size - 1, size, _need(found, threshold))
    while level >= 0:
        if work > budget:
            return work, _open_bound(levels, level, size)
        missing, first, need = size - 1 - level, levels.next[level], _need(found, threshold)
        value = levels.value[level]
        if first + missing <= levels.count[level]:
            for z in range(first, first + missing):
                value += levels.bound[level, z]
        else:
            value = -np.inf
        if value <= need:
            level -= 1
            continue
        levels.next[level] += 1
        taken = levels.candidate[level, first]
        value = levels.value[level] + levels.gain[level, first]
        levels.chosen[level] = taken
        work += levels.count[level] - first
        if missing == 1:
            _remember(found, rows, levels, triples, members, size, value, threshold)
            continue
        count = 0
        for z in range(first + 1, levels.count[level]):
            other = levels.candidate[level, z]
            levels.candidate[level + 1, count] = other
            levels.gain[level + 1, count] = levels.gain[level, z] - distance[taken, other] / size
            count += 1
        level += 1
        levels.count[level], levels.value[level] = count, value
        work += _tighten(distance, levels, level, missing - 1, size, need)
    return work, -np.inf


@internal()
def _open(X, prices, near, order, position, size, need, to_anchor, rows, levels, width):
    """Set the candidates of a group of `size` records around an anchor; return their number and a bound on the excess.

    The number is -1 where there are more than `width`.
    """
    missing, count, n = size - 1, 0, len(X)
    best = np.full(missing + 1, -np.inf)
    for u in range(position + 1, n):
        i = order[u]
        _insert(best, missing, prices[i] - (to_anchor[u] + 0.5 * near[i, missing - 1]) / size)
    others = prices[order[position]]
    for r in range(missing - 1):
        others += best[r]
    bound = others + best[missing - 1]
    levels.count[0], levels.value[0] = 0, prices[order[position]]
    if bound <= need:
        return 0, bound
    for u in range(position + 1, n):
        i = order[u]
        if others + prices[i] - (to_anchor[u] + 0.5 * near[i, missing - 1]) / size > need:
            if count == width:
                return -1, bound
            rows[count] = i
            levels.candidate[0, count] = count
            levels.gain[0, count] = prices[i] - to_anchor[u] / size
            count += 1
    levels.count[0] = count
    return count, bound


@internal()
def _price_anchor(X, prices, near, triples, order, rank, position, k, threshold, budget, levels, found):
    """Search all groups whose first record in `order` is the one at `position`.

    Returns the work done and a bound on the excess of the groups that were left out, -inf where there are none.
    """
    n, (largest, width) = len(X), levels.gain.shape
    anchor, work, bound = order[position], 0, -np.inf
    plain, rows, local = np.empty(n), np.empty(width, np.int64), np.full(n, -1)
    for u in range(position + 1, n):
        plain[u] = _squared_distance(X, anchor, order[u])
    for size in range(k, min(largest, n - position) + 1):
        need, to_anchor = _need(found, threshold), plain.copy()
        _spread_fines(triples, anchor, size, rank, to_anchor)
        count, opening = _open(X, prices, near, order, position, size, need, to_anchor, rows, levels, width)
        if count < 0 or work + count * count > budget:
            bound = max(bound, opening)
            continue
        local[rows[:count]] = np.arange(count)
        distance = np.empty((count, count))
        for a in range(count):
            for b in range(count):
                distance[a, b] = _squared_distance(X, rows[a], rows[b])
            _spread_fines(triples, rows[a], size, local, distance[a])
        local[rows[:count]] = -1
        done, left_out = _search(distance, rows, levels, found, triples, anchor, size, threshold, budget - work)
        work += done + n + count * count
        bound = max(bound, left_out)
    return work, bound


@njit(cache=True, nogil=True)
def price_groups(
    X, prices, near, triples, order, start, k, threshold, anchor_budget, budget, levels, bounds, members, sizes, keep
):
    """Search the groups of k to `largest` records with the largest excess, anchor by anchor, within a budget of work.

    Every group belongs to that of its records that comes first in `order`. `bounds` (n,) is set by position in `order`:
    the largest excess or the threshold, if that is larger; an upper bound where the search was cut short. `keep` groups
    above the threshold are found per anchor: `members` (keep n, largest) and `sizes` (keep n,) are set, from the first
    on. Returns how many there are, the position to go on at, the work done, and the number of anchors around which
    more groups may be above the threshold.
    """
    n, largest = len(X), levels.gain.shape[0]
    found = Found(np.empty((keep, largest), np.int64), np.empty(keep, np.int64), np.empty(keep), np.zeros(1, np.int64))
    position, work, groups, partial = start, 0, 0, 0
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    while position < n and work < budget:
        found.count[0] = 0
        done, left_out = _price_anchor(
            X, prices, near, triples, order, rank, position, k, threshold, anchor_budget, levels, found
        )
        best = max(threshold, found.excess[0]) if found.count[0] else threshold
        bounds[position] = max(best, left_out)
        partial += found.count[0] == keep or left_out > threshold
        work += done + n
        for g in range(found.count[0]):
            members[groups], sizes[groups] = found.members[g], found.size[g]
            groups += 1
        position += 1
    return groups, position, work, partial
