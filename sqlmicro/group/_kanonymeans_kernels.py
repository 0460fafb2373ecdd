"""Compiled loops of kanonymeans: nearest centres by a tree of boxes, joining small groups, cutting large ones.

Every loop works in slices of bounded work, so that Python gets a turn, and breaks ties by the lowest number. Loops fill
arrays that are given to them and return numbers at most: to return an array numba calls Python, and a Ctrl-C that
arrives there is lost in a SystemError, or ends the process where the arrays are in nested tuples. Imported only inside
functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group._halving_kernels import Halves, halved
from sqlmicro.system.compiled import internal, njit

_LEAF = 8
_DEEP = 128


class Groups(NamedTuple):
    """Groups that can be joined; a joined group keeps the lower number, the other has size 0."""

    sums: np.ndarray  # (count, p)
    means: np.ndarray  # (count, p)
    sizes: np.ndarray  # (count,)
    into: np.ndarray  # (count,) the group it was joined into, or itself
    leaf: np.ndarray  # (count,) its node in the tree
    tree: Halves


def plant(points: np.ndarray, chosen: np.ndarray) -> Halves:
    """Return the tree over the points with the numbers `chosen`."""
    return halved(points, chosen, _LEAF)


@internal(_nrt=False)
def _squared(a, b):
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@internal(_nrt=False)
def _to_box(q, tree, node):
    """Return the squared distance of q from the box of a node."""
    total = 0.0
    for j in range(len(q)):
        gap = max(tree.box[node, 0, j] - q[j], q[j] - tree.box[node, 1, j])
        if gap > 0.0:
            total += gap * gap
    return total


@internal(_nrt=False)
def _value(a, b, own, other, ward):
    """Return how far two groups are apart: their centroids, or with `ward` the growth of the SSE if they are joined."""
    return _squared(a, b) * (own * other / (own + other) if ward else 1.0)


@internal(_nrt=False)
def _best(q, points, tree, sizes, own, least, ward, best, value, nodes, bounds):
    """Return the point that a group of `own` records at q is nearest to, and its value, if below `value` of `best`.

    Points of size 0, or with which the group would have fewer than `least` records, are left out.
    """
    inner = len(tree.first) // 2
    # Joined with one record, the fewest a group can have, the SSE grows by this share of the squared distance.
    floor = own / (own + 1.0) if ward else 1.0
    nodes[0], bounds[0], top = 0, 0.0, 1
    while top:
        top -= 1
        node = nodes[top]
        if floor * bounds[top] > value:
            continue
        if node < inner:
            left, right = _to_box(q, tree, 2 * node + 1), _to_box(q, tree, 2 * node + 2)
            swap = right < left
            nodes[top], bounds[top] = 2 * node + 2 - swap, max(left, right)
            nodes[top + 1], bounds[top + 1] = 2 * node + 1 + swap, min(left, right)
            top += 2
            continue
        for other in tree.order[tree.first[node] : tree.stop[node]]:
            if sizes[other] == 0 or own + sizes[other] < least:
                continue
            found = _value(q, points[other], own, sizes[other], ward)
            if found < value or (found == value and other < best):
                best, value = other, found
    return best, value


@njit(cache=True, nogil=True)
def assign(X, centres, one, everyone, movers, moved, labels, distances, start, end):
    """Give the records start..end their nearest centres (each of size `one`), and return how many changed.

    A record whose own centre stayed, or came nearer, can only change to one of the centres that moved: `distances` are
    those from the nearest of the centres before.
    """
    nodes, bounds = np.empty(_DEEP, dtype=np.int64), np.empty(_DEEP)
    changed = 0
    for i in range(start, end):
        own = labels[i]
        tree, value = everyone, np.inf
        if own >= 0:
            value = _squared(X[i], centres[own])
            if not moved[own] or value < distances[i]:
                tree = movers
        best, value = _best(X[i], centres, tree, one, 1, 0, False, own, value, nodes, bounds)
        changed += best != own
        labels[i], distances[i] = best, value
    return changed


def sums_of(X: np.ndarray, labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums (count, p) and sizes (count,) of the groups."""
    sums, sizes = np.zeros((count, X.shape[1])), np.zeros(count, dtype=np.int64)
    _add_up(X, labels, sums, sizes)
    return sums, sizes


@njit(cache=True, nogil=True, _nrt=False)
def _add_up(X, labels, sums, sizes):
    for i in range(len(X)):
        sizes[labels[i]] += 1
        for j in range(X.shape[1]):
            sums[labels[i], j] += X[i, j]


@internal(_nrt=False)
def _approach(X, record, tree, leaf, totals, tops):
    """Lower the distances of the records in a leaf to those from `record`, and what is known of the boxes above."""
    half = len(totals) // 2
    tops[leaf] = 0.0
    for i in range(tree.first[leaf], tree.stop[leaf]):
        other = tree.order[i]
        at = half + other
        found = _squared(X[record], X[other])
        if found < totals[at]:
            totals[at] = found
            while at > 1:
                at //= 2
                totals[at] = totals[2 * at] + totals[2 * at + 1]
        tops[leaf] = max(tops[leaf], totals[half + other])
    while leaf > 0:
        leaf = (leaf - 1) >> 1
        tops[leaf] = max(tops[2 * leaf + 1], tops[2 * leaf + 2])


@njit(cache=True, nogil=True)
def spread_out(X, tree, totals, tops, chosen, draws, start, end):
    """Choose the centres start..end of k-means++ by the draws in [0, 1), and return how many are chosen.

    `totals` is a binary tree of sums whose leaves are the squared distances to the nearest chosen record (at first inf,
    then 0 for the padding); `tops` holds the largest of them in every box: others need not be visited.
    """
    half, inner = len(totals) // 2, len(tree.first) // 2
    nodes = np.empty(_DEEP, dtype=np.int64)
    for number in range(start, end):
        record = int(draws[number] * len(X))
        if number:
            if totals[1] <= 0.0:
                return number
            rest, at = draws[number] * totals[1], 1
            while at < half:
                at *= 2
                if rest >= totals[at] and totals[at + 1] > 0.0:
                    rest -= totals[at]
                    at += 1
            record = at - half
        chosen[number] = record
        nodes[0], top = 0, 1
        while top:
            top -= 1
            node = nodes[top]
            if _to_box(X[record], tree, node) >= tops[node]:
                continue
            if node >= inner:
                _approach(X, record, tree, node, totals, tops)
                continue
            nodes[top], nodes[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2
    return end


def gather(X: np.ndarray, labels: np.ndarray, count: int) -> Groups:
    """Return the `count` groups of the given labels, ready to be joined."""
    sums, sizes = sums_of(X, labels, count)
    means = sums / np.maximum(sizes, 1)[:, None]
    tree = plant(means, np.flatnonzero(sizes))
    leaf, inner = np.zeros(count, dtype=np.int64), len(tree.first) // 2
    leaf[tree.order] = inner + np.repeat(np.arange(inner + 1), (tree.stop - tree.first)[inner:])
    return Groups(sums, means, sizes, np.arange(count), leaf, tree)


@internal(_nrt=False)
def _partner(groups, g, least, ward, nodes, bounds):
    own = groups.sizes[g]
    groups.sizes[g] = 0
    found = _best(groups.means[g], groups.means, groups.tree, groups.sizes, own, least, ward, -1, np.inf, nodes, bounds)
    groups.sizes[g] = own
    return found


@internal(_nrt=False)
def _join(groups, a, b):
    """Join two groups under the lower number, in its place in the tree, whose boxes grow to hold the new mean."""
    kept, gone = min(a, b), max(a, b)
    groups.sizes[kept] += groups.sizes[gone]
    for j in range(groups.means.shape[1]):
        groups.sums[kept, j] += groups.sums[gone, j]
        groups.means[kept, j] = groups.sums[kept, j] / groups.sizes[kept]
    groups.sizes[gone] = 0
    groups.into[gone] = kept
    node, box = groups.leaf[kept], groups.tree.box
    while node >= 0:
        for j in range(groups.means.shape[1]):
            box[node, 0, j] = min(box[node, 0, j], groups.means[kept, j])
            box[node, 1, j] = max(box[node, 1, j], groups.means[kept, j])
        node = ((node + 1) >> 1) - 1
    return kept


@njit(cache=True, nogil=True)
def merge_in_turn(groups, k, ward, reach, start, joins):
    """Join the groups below k from number `start` on, at most `joins` times; return where to go on.

    With `reach` a partner with which the group has k records is preferred to every other.
    """
    nodes, bounds = np.empty(_DEEP, dtype=np.int64), np.empty(_DEEP)
    g = start
    while g < len(groups.sizes) and joins:
        if groups.sizes[g] == 0 or groups.sizes[g] >= k:
            g += 1
            continue
        best, _ = _partner(groups, g, k if reach else 0, ward, nodes, bounds)
        if best < 0:
            best, _ = _partner(groups, g, 0, ward, nodes, bounds)
        _join(groups, g, best)
        joins -= 1
    return g


@njit(cache=True, nogil=True)
def find_partners(groups, small, ward, partner, value, start, end):
    """Fill in the best partner, and its value, of the groups small[start:end]."""
    nodes, bounds = np.empty(_DEEP, dtype=np.int64), np.empty(_DEEP)
    for g in small[start:end]:
        partner[g], value[g] = _partner(groups, g, 0, ward, nodes, bounds)


@njit(cache=True, nogil=True)
def merge_least_first(groups, k, ward, small, partner, value, count, work):
    """Join the pair of least value among the `count` groups below k and their partners, again and again.

    Returns how many are left in `small` when none is or when `work` comparisons are done.
    """
    nodes, bounds = np.empty(_DEEP, dtype=np.int64), np.empty(_DEEP)
    while count and work > 0:
        a = small[0]
        for g in small[1:count]:
            if value[g] < value[a] or (value[g] == value[a] and g < a):
                a = g
        b = partner[a]
        kept = _join(groups, a, b)
        work -= count
        left = 0
        for g in small[:count]:
            if groups.sizes[g] == 0 or groups.sizes[g] >= k:
                continue
            small[left] = g
            left += 1
            if g == kept or partner[g] == a or partner[g] == b:
                partner[g], value[g] = _partner(groups, g, 0, ward, nodes, bounds)
                continue
            found = _value(groups.means[g], groups.means[kept], groups.sizes[g], groups.sizes[kept], ward)
            if found < value[g] or (found == value[g] and kept < partner[g]):
                partner[g], value[g] = kept, found
        count = left
    return count


@internal(_nrt=False)
def _nearest(X, record, rest, k, found, distances):
    """Put the positions in `rest` of the k records nearest to `record` into `found`."""
    count = 0
    for i in range(len(rest)):
        d = _squared(X[record], X[rest[i]])
        if count == k:
            last = rest[found[k - 1]]
            if d > distances[k - 1] or (d == distances[k - 1] and rest[i] > last):
                continue
            count -= 1
        at = count
        while at and (d < distances[at - 1] or (d == distances[at - 1] and rest[i] < rest[found[at - 1]])):
            found[at], distances[at] = found[at - 1], distances[at - 1]
            at -= 1
        found[at], distances[at] = i, d
        count += 1


@njit(cache=True, nogil=True)
def cut(X, members, starts, k, labels, state, centre, parts, work):
    """Cut the groups of at least 2k records by MDAV+, in at most about `work` distances.

    Group g has the records members[starts[g] : starts[g + 1]]. `state` is the present group, its records not yet in a
    part (-1: not begun), its parts, and the next free label; `centre` and `parts` are the centroids of the present
    group and its parts. The first part keeps the label of the group.
    """
    found, distances = np.empty(k, dtype=np.int64), np.empty(k)
    while state[0] < len(starts) - 1 and work > 0:
        g, left = state[0], state[1]
        group = members[starts[g] : starts[g + 1]]
        if len(group) < 2 * k:
            state[0] += 1
            continue
        if left < 0:
            left, state[2] = len(group), 0
            centre[:] = 0.0
            for i in group:
                centre += X[i]
            centre /= left
        while left >= k and work > 0:
            far, most = -1, -1.0
            for i in group[:left]:
                d = _squared(X[i], centre)
                if d > most or (d == most and i < far):
                    far, most = i, d
            _nearest(X, far, group[:left], k, found, distances)
            label = g if state[2] == 0 else state[3]
            state[3] += state[2] > 0
            parts[state[2]] = 0.0
            # From the back, so that what is moved forward is never one of them.
            for at in np.sort(found)[::-1]:
                labels[group[at]] = label
                parts[state[2]] += X[group[at]]
                left -= 1
                group[at], group[left] = group[left], group[at]
            parts[state[2]] /= k
            state[2] += 1
            work -= 2 * left
        state[1] = left
        if left < k:
            _hand_out(X, group[:left], labels, g, state, parts)
            state[0], state[1] = g + 1, -1


@internal(_nrt=False)
def _hand_out(X, rest, labels, g, state, parts):
    """Give each of the records to the part of group g with the nearest centroid, as it was formed."""
    for i in rest:
        best, value = 0, np.inf
        for part in range(state[2]):
            d = _squared(X[i], parts[part])
            if d < value:
                best, value = part, d
        labels[i] = g if best == 0 else state[3] - state[2] + best
