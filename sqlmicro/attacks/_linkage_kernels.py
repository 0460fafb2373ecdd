"""Nearest released records with ties, and released records in a box, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

The tree holds the distinct records of the release and how many there are of each. Every distance is summed column after
column in double precision, of values as they are, so that records that are equally far by symmetry are recognised as
such; the bound of a box is computed in the same order and, since rounding is monotone, is never beyond a record in it.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group._halving_kernels import halved
from sqlmicro.system.compiled import njit

LEAF = 32
WORK_PER_CALL = 3_000_000
"""Records looked at in one call of a kernel: some hundredths of a second, so that Ctrl-C is noticed soon."""
NUMERIC, NOMINAL, LOW, HIGH = 0, 1, 2, 3
"""How a column counts: by the difference; by being different; ends of ranges by how far a value is below or above."""
_SPREAD = 4.0
"""As wide, in standard deviations, a nominal column is taken to be when the tree is planted."""


class Forest(NamedTuple):
    """A kd-tree over distinct records: V nodes in heap order, of which the last L are leaves."""

    box: np.ndarray  # (V, 2, p) least and greatest values
    total: np.ndarray  # (V,) records, each as often as it occurs
    count: np.ndarray  # (L,) distinct records of a leaf
    points: np.ndarray  # (L, p, LEAF) their values
    times: np.ndarray  # (L, LEAF) how often each occurs
    weight: np.ndarray  # (p,) of a squared difference, or of a mismatch
    kind: np.ndarray  # (p,) NUMERIC, NOMINAL, LOW or HIGH


def distinct(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of Y and how often each occurs."""
    order = np.lexsort(Y.T)
    ordered = Y[order]
    first = np.ones(len(Y), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    at = np.flatnonzero(first)
    return ordered[at], np.diff(np.append(at, len(Y)))


def grow(Y: np.ndarray, weight: np.ndarray, kind: np.ndarray) -> Forest:
    """Return a tree over the rows of Y (m, p). O(m p log m) time."""
    values, times = distinct(Y)
    finite = np.where(np.isfinite(values), values, 0.0)
    widest = np.maximum(np.ptp(finite, axis=0), 1.0)
    scaled = (finite - finite.mean(axis=0)) * np.where(kind == NOMINAL, _SPREAD / widest, np.sqrt(weight))
    tree = halved(np.ascontiguousarray(scaled), np.arange(len(values)), LEAF)
    leaves, p = len(tree.first) // 2 + 1, values.shape[1]
    first, stop = tree.first[leaves - 1 :], tree.stop[leaves - 1 :]
    at = first[:, None] + np.arange(LEAF)
    used = at < stop[:, None]
    row = tree.order[np.where(used, at, 0)]
    points = values[row]
    box, total = np.empty((2 * leaves - 1, 2, p)), np.empty(2 * leaves - 1, dtype=np.int64)
    box[leaves - 1 :, 0] = np.where(used[:, :, None], points, np.inf).min(axis=1)
    box[leaves - 1 :, 1] = np.where(used[:, :, None], points, -np.inf).max(axis=1)
    times = np.where(used, times[row], 0)
    total[leaves - 1 :] = times.sum(axis=1)
    size = leaves // 2
    while size:
        nodes = np.arange(size - 1, 2 * size - 1)
        left, right = 2 * nodes + 1, 2 * nodes + 2
        box[nodes, 0] = np.minimum(box[left, 0], box[right, 0])
        box[nodes, 1] = np.maximum(box[left, 1], box[right, 1])
        total[nodes] = total[left] + total[right]
        size //= 2
    return Forest(box, total, stop - first, np.ascontiguousarray(points.transpose(0, 2, 1)), times, weight, kind)


@njit(cache=True)
def _bound(forest, v, q):
    """Return the least squared distance that a record in a node may have from q."""
    total = 0.0
    for j in range(len(q)):
        kind = forest.kind[j]
        gap = 0.0
        if kind != HIGH:
            gap = max(forest.box[v, 0, j] - q[j], gap)
        if kind != LOW:
            gap = max(q[j] - forest.box[v, 1, j], gap)
        if kind != NOMINAL:
            total += forest.weight[j] * (gap * gap)
        elif gap > 0:
            total += forest.weight[j]
    return total


@njit(cache=True)
def nearest(forest, X, start, least, ties):
    """Find the least squared distance of rows of X from `start` on, and how many records have it.

    Fills `least` and `ties` (both (n,)) until enough records were looked at; returns the next row.
    """
    inner, p = len(forest.total) // 2, X.shape[1]
    node, bound = np.empty(64, dtype=np.int64), np.empty(64)
    distance = np.empty(LEAF)
    looked, i = 0, start
    while i < len(X) and looked < WORK_PER_CALL:
        q = X[i]
        best, found = np.inf, 0
        node[0], bound[0] = 0, 0.0
        size = 1
        while size > 0:
            size -= 1
            v = node[size]
            if bound[size] > best:
                continue
            if v >= inner:
                leaf = v - inner
                records = forest.count[leaf]
                looked += records
                distance[:records] = 0.0
                for j in range(p):
                    x, w = q[j], forest.weight[j]
                    if forest.kind[j] == NUMERIC:
                        for r in range(records):
                            difference = forest.points[leaf, j, r] - x
                            distance[r] += w * (difference * difference)
                    else:
                        for r in range(records):
                            distance[r] += _apart(x, forest.points[leaf, j, r], w, forest.kind[j])
                for r in range(records):
                    if distance[r] < best:
                        best, found = distance[r], forest.times[leaf, r]
                    elif distance[r] == best:
                        found += forest.times[leaf, r]
                continue
            left, right = 2 * v + 1, 2 * v + 2
            to_left, to_right = _bound(forest, left, q), _bound(forest, right, q)
            looked += 4
            if to_right < to_left:
                left, right, to_left, to_right = right, left, to_right, to_left
            if to_right <= best:
                node[size], bound[size] = right, to_right
                size += 1
            if to_left <= best:
                node[size], bound[size] = left, to_left
                size += 1
        least[i], ties[i] = best, found
        i += 1
    return i


@njit(cache=True)
def _apart(x, y, weight, kind):
    """Return by how much a value and a released one differ in a column, squared and weighted."""
    if kind == NOMINAL:
        return weight if y != x else 0.0
    if (kind == LOW and y <= x) or (kind == HIGH and y >= x):
        return 0.0
    difference = y - x
    return weight * (difference * difference)


@njit(cache=True)
def distances(X, Y, weight, kind):
    """Return the squared distance of every row of X from the same row of Y, computed as in `nearest`."""
    found = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(X.shape[1]):
            found[i] += _apart(X[i, j], Y[i, j], weight[j], kind[j])
    return found


@njit(cache=True)
def inside(forest, low, high, start, counts):
    """Count the records between low and high (n, p), ends included, from row `start` on.

    Fills `counts` (n,) until enough records were looked at; returns the next row.
    """
    inner, p = len(forest.total) // 2, low.shape[1]
    node = np.empty(64, dtype=np.int64)
    looked, i = 0, start
    while i < len(low) and looked < WORK_PER_CALL:
        found = 0
        node[0] = 0
        size = 1
        while size > 0:
            size -= 1
            v = node[size]
            looked += 1
            apart, within = False, True
            for j in range(p):
                apart = apart or forest.box[v, 0, j] > high[i, j] or forest.box[v, 1, j] < low[i, j]
                within = within and forest.box[v, 0, j] >= low[i, j] and forest.box[v, 1, j] <= high[i, j]
            if apart:
                continue
            if within:
                found += forest.total[v]
            elif v >= inner:
                leaf = v - inner
                looked += forest.count[leaf]
                for r in range(forest.count[leaf]):
                    hit = True
                    for j in range(p):
                        x = forest.points[leaf, j, r]
                        hit = hit and low[i, j] <= x <= high[i, j]
                    if hit:
                        found += forest.times[leaf, r]
            else:
                node[size], node[size + 1] = 2 * v + 1, 2 * v + 2
                size += 2
        counts[i] = found
        i += 1
    return i
