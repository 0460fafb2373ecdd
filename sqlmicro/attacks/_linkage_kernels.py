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


class People(NamedTuple):
    """The persons who have each distinct record."""

    begin: np.ndarray  # (V + 1,) where those of a record begin
    who: np.ndarray  # their numbers, record after record


class Forest(NamedTuple):
    """A kd-tree over distinct records: V nodes in heap order, of which the last L are leaves."""

    box: np.ndarray  # (V, 2, p) least and greatest values
    total: np.ndarray  # (V,) records, each as often as it occurs
    count: np.ndarray  # (L,) distinct records of a leaf
    points: np.ndarray  # (L, p, LEAF) their values
    times: np.ndarray  # (L, LEAF) how often each occurs
    number: np.ndarray  # (L, LEAF) which of the distinct records each is
    weight: np.ndarray  # (p,) of a squared difference, or of a mismatch
    kind: np.ndarray  # (p,) NUMERIC, NOMINAL, LOW or HIGH


def distinct(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct rows of Y, how often each occurs, and which of them every row is."""
    order = np.lexsort(Y.T)
    ordered = Y[order]
    first = np.ones(len(Y), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    at, which = np.flatnonzero(first), np.empty(len(Y), dtype=np.int64)
    which[order] = np.cumsum(first) - 1
    return ordered[at], np.diff(np.append(at, len(Y))), which


def people(Y: np.ndarray, who: np.ndarray) -> People:
    """Return the persons (numbers from 0, (m,)) of the distinct rows of Y, each once."""
    _, times, which = distinct(Y)
    return listed(which, who, len(times))


def listed(of: np.ndarray, members: np.ndarray, groups: int) -> People:
    """Return the members of every group, each once and ascending."""
    most = int(members.max()) + 1
    pairs = np.unique(of * most + members)
    return People(np.searchsorted(pairs // most, np.arange(groups + 1)), pairs % most)


def grow(values: np.ndarray, times: np.ndarray, weight: np.ndarray, kind: np.ndarray) -> Forest:
    """Return a tree over distinct records (m, p), which occur so many times. O(m p log m) time."""
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
    return Forest(box, total, stop - first, np.ascontiguousarray(points.transpose(0, 2, 1)), times, row, weight, kind)


@njit(cache=True, _nrt=False)
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
    inner = len(forest.total) // 2
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
                records = to_leaf(forest, leaf, q, distance)
                looked += records
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


@njit(cache=True, _nrt=False)
def to_leaf(forest, leaf, q, distance):
    """Fill in the squared distances of a record from those of a leaf, and return how many these are."""
    records = forest.count[leaf]
    distance[:records] = 0.0
    for j in range(len(q)):
        x, w = q[j], forest.weight[j]
        if forest.kind[j] == NUMERIC:
            for r in range(records):
                difference = forest.points[leaf, j, r] - x
                distance[r] += w * (difference * difference)
        else:
            for r in range(records):
                distance[r] += gap_of(x, forest.points[leaf, j, r], w, forest.kind[j])
    return records


@njit(cache=True, _nrt=False)
def gap_of(x, y, weight, kind):
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
            found[i] += gap_of(X[i, j], Y[i, j], weight[j], kind[j])
    return found


@njit(cache=True, _nrt=False)
def _mark(people, record, i, sought, marked):
    """Mark the persons of a distinct record for row i; return how many are new, and whether the sought one is there."""
    new, held = 0, False
    for at in range(people.begin[record], people.begin[record + 1]):
        person = people.who[at]
        held = held or person == sought
        if marked[person] != i:
            marked[person] = i
            new += 1
    return new, held


@njit(cache=True)
def persons_at(forest, people, X, least, sought, start, marked, hits):
    """Find how likely one of the persons with a record at distance `least` (n,) is the one that is sought (n,).

    Where none is known (-1), she is taken to be among them. `marked` (persons,) is -1 before the first row. Fills
    `hits` (n,) from `start` on until enough was looked at; returns the next row.
    """
    inner, p = len(forest.total) // 2, X.shape[1]
    node = np.empty(64, dtype=np.int64)
    looked, i = 0, start
    while i < len(X) and looked < WORK_PER_CALL:
        q, found, held = X[i], 0, sought[i] < 0
        node[0] = 0
        size = 1
        while size > 0:
            size -= 1
            v = node[size]
            looked += 1
            if _bound(forest, v, q) > least[i]:
                continue
            if v < inner:
                node[size], node[size + 1] = 2 * v + 1, 2 * v + 2
                size += 2
                continue
            leaf = v - inner
            for r in range(forest.count[leaf]):
                total = 0.0
                for j in range(p):
                    total += gap_of(q[j], forest.points[leaf, j, r], forest.weight[j], forest.kind[j])
                looked += 1
                if total == least[i]:
                    record = forest.number[leaf, r]
                    new, there = _mark(people, record, i, sought[i], marked)
                    found, held = found + new, held or there
                    looked += people.begin[record + 1] - people.begin[record]
        hits[i] = 1 / found if held else 0.0
        i += 1
    return i


@njit(cache=True)
def persons_by_all(points, X, begin, candidates, right, weight, kind, start, gaps, marked, ties, hits):
    """Find the candidates whose records are nearest to all records of a person, and how many of them are she.

    The distance is the sum, over her records, of the squared distance to the nearest of a candidate's, and over the
    distinct records of the candidate of that to the nearest of hers. Her records are X[begin[i]:begin[i + 1]]; `right`
    has the candidates that she is. `gaps` is room for her records against all points (rows, V), `marked` (candidates,)
    is -1 before the first person. Fills `ties` and `hits` (n,) from `start` on until enough was looked at; returns the
    next person.
    """
    looked, i, p = 0, start, X.shape[1]
    nearest_of_hers = np.empty(len(points))
    while i < len(hits) and looked < WORK_PER_CALL:
        rows = begin[i + 1] - begin[i]
        nearest_of_hers[:] = np.inf
        for x in range(rows):
            for v in range(len(points)):
                total = 0.0
                for j in range(p):
                    total += gap_of(X[begin[i] + x, j], points[v, j], weight[j], kind[j])
                gaps[x, v] = total
                nearest_of_hers[v] = min(nearest_of_hers[v], total)
        for at in range(right.begin[i], right.begin[i + 1]):
            marked[right.who[at]] = i
        best, found, held = np.inf, 0, 0
        for c in range(len(candidates.begin) - 1):
            total = 0.0
            for x in range(rows):
                least = np.inf
                for at in range(candidates.begin[c], candidates.begin[c + 1]):
                    least = min(least, gaps[x, candidates.who[at]])
                total += least
                if total > best:
                    break
            if total <= best:
                for at in range(candidates.begin[c], candidates.begin[c + 1]):
                    total += nearest_of_hers[candidates.who[at]]
            if total < best:
                best, found, held = total, 0, 0
            if total == best:
                found += 1
                held += marked[c] == i
        ties[i], hits[i] = found, held
        looked += rows * (len(points) * p + len(candidates.who))
        i += 1
    return i
