"""A kd-tree that records can be taken out of, compiled by numba: nearest and farthest records, lowest row first.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

Every distance is the sum of squared differences, column after column, in double precision. The bound of a box is
computed in the same order; since rounding is monotone, no record inside has a computed distance beyond it, so that
equal distances are recognised as equal and nothing is lost to rounding.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group._halving_kernels import POINTS_PER_CALL, halved
from sqlmicro.system.compiled import internal, njit

LEAF = 32
WORK_PER_CALL = 3_000_000
"""Records looked at in one call of a kernel: some hundredths of a second, so that Ctrl-C is noticed soon."""
COLUMNS_AT_A_TIME = 4


class Tree(NamedTuple):
    """A kd-tree over some rows of X: V nodes in heap order, of which the last L are leaves; boxes fit what is left."""

    X: np.ndarray  # (n, p) records
    box: np.ndarray  # (V, 2, p) least and greatest coordinates of the records left
    lowest: np.ndarray  # (V,) lowest row left; n where none is
    count: np.ndarray  # (L,) records left
    row: np.ndarray  # (L, LEAF) records left in each leaf
    points: np.ndarray  # (L, p, LEAF) their coordinates
    leaf: np.ndarray  # (n,)
    slot: np.ndarray  # (n,) place in the leaf; -1 for a record that is not, or no longer, in the tree
    node: np.ndarray  # nodes still to visit
    bound: np.ndarray  # and the bounds of their distances
    distance: np.ndarray  # (LEAF,) distances of the leaf looked at


def as_records(X: np.ndarray) -> np.ndarray:
    """Return X as the kernels take it: float64, row after row, writable; X itself where it is so already."""
    return np.require(X, np.float64, ["C", "W"])


def plant(X: np.ndarray, rows: np.ndarray) -> Tree:
    """Return a tree over some rows of X, given in ascending order. O(m p log m) time for m rows."""
    n, p = X.shape
    halves = halved(X, rows, LEAF)
    nodes = len(halves.first)
    leaves = nodes // 2 + 1
    tree = Tree(
        X,
        halves.box,
        np.empty(nodes, dtype=np.int64),
        np.zeros(leaves, dtype=np.int64),
        np.empty((leaves, LEAF), dtype=np.int64),
        np.zeros((leaves, p, LEAF)),
        np.empty(n, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.empty(64),
        np.empty(LEAF),
    )
    step = max(1, POINTS_PER_CALL // LEAF)
    for leaf in range(0, leaves, step):
        _fill(tree, halves.order, halves.first, halves.stop, leaf, min(leaf + step, leaves))
    _find_lowest(tree)
    return tree


@njit(cache=True, nogil=True, _nrt=False)
def _fill(tree, order, first, stop, start, end):
    """Put the records of the leaves start..end into them."""
    inner = len(tree.lowest) // 2
    for leaf in range(start, end):
        a = first[inner + leaf]
        tree.count[leaf] = stop[inner + leaf] - a
        for i in range(tree.count[leaf]):
            row = order[a + i]
            tree.row[leaf, i] = row
            tree.leaf[row] = leaf
            tree.slot[row] = i
            for j in range(tree.X.shape[1]):
                tree.points[leaf, j, i] = tree.X[row, j]


@njit(cache=True, nogil=True, _nrt=False)
def _find_lowest(tree):
    inner, n = len(tree.lowest) // 2, tree.X.shape[0]
    for node in range(len(tree.lowest) - 1, -1, -1):
        if node < inner:
            tree.lowest[node] = min(tree.lowest[2 * node + 1], tree.lowest[2 * node + 2])
        else:
            tree.lowest[node] = tree.row[node - inner, 0] if tree.count[node - inner] else n


@internal(fastmath={"nnan", "nsz"}, _nrt=False)
def _fit_leaf(tree, node):
    """Fit the box and the lowest row of a leaf to what is left in it; return whether they changed."""
    leaf = node - len(tree.lowest) // 2
    box, count = tree.box[node], tree.count[leaf]
    points, row = tree.points[leaf], tree.row[leaf]
    first = tree.X.shape[0]
    for i in range(count):
        first = min(first, row[i])
    changed = first != tree.lowest[node]
    tree.lowest[node] = first
    for j in range(box.shape[1]):
        least, most = np.inf, -np.inf
        for i in range(count):
            x = points[j, i]
            least = min(least, x)
            most = max(most, x)
        changed |= least != box[0, j] or most != box[1, j]
        box[0, j], box[1, j] = least, most
    return changed


@internal(fastmath={"nnan", "nsz"}, _nrt=False)
def _fit_inner(tree, node):
    """The same for a node with two children."""
    lowest = tree.lowest
    box, left, right = tree.box[node], tree.box[2 * node + 1], tree.box[2 * node + 2]
    first = min(lowest[2 * node + 1], lowest[2 * node + 2])
    changed = first != lowest[node]
    lowest[node] = first
    for j in range(box.shape[1]):
        least, most = min(left[0, j], right[0, j]), max(left[1, j], right[1, j])
        changed |= least != box[0, j] or most != box[1, j]
        box[0, j], box[1, j] = least, most
    return changed


@njit(cache=True, nogil=True, _nrt=False)
def remove(tree, row):
    """Take a record out of the tree."""
    _take_out(tree, row)
    _shrink(tree, row)


@njit(cache=True, nogil=True, _nrt=False)
def remove_all(tree, rows):
    """Take some records out of the tree; boxes shrink once for those that lie together."""
    for row in rows:
        _take_out(tree, row)
    for row in rows:
        _shrink(tree, row)


@internal(_nrt=False)
def _take_out(tree, row):
    """Let the last record of the leaf take the place of a record."""
    leaf, slot = tree.leaf[row], tree.slot[row]
    last = tree.count[leaf] - 1
    tree.count[leaf] = last
    tree.slot[row] = -1
    moved = tree.row[leaf, last]
    if moved != row:
        tree.row[leaf, slot] = moved
        tree.slot[moved] = slot
        for j in range(tree.points.shape[1]):
            tree.points[leaf, j, slot] = tree.points[leaf, j, last]


@internal(_nrt=False)
def _shrink(tree, row):
    """Fit the boxes around a record that was taken out, if it lay on the border of its leaf."""
    node = len(tree.lowest) // 2 + tree.leaf[row]
    touched = row == tree.lowest[node]
    for j in range(tree.X.shape[1]):
        touched |= tree.X[row, j] == tree.box[node, 0, j] or tree.X[row, j] == tree.box[node, 1, j]
    touched = touched and _fit_leaf(tree, node)
    while touched and node > 0:
        node = (node - 1) >> 1
        touched = _fit_inner(tree, node)


@internal(_nrt=False)
def squared_distance(x, y):
    """Return the squared distance of two points."""
    total = 0.0
    for j in range(len(x)):
        difference = x[j] - y[j]
        total += difference * difference
    return total


@internal(_nrt=False)
def measure(points, at, q, count, distance):
    """Put the squared distances from q of the first `count` records of leaf or block `at` into `distance`."""
    for i in range(count):
        distance[i] = 0.0
    for j in range(points.shape[1]):
        x = q[j]
        for i in range(count):
            difference = points[at, j, i] - x
            distance[i] += difference * difference


@internal(fastmath={"nnan", "nsz"}, _nrt=False)
def _least(values, count):
    least = np.inf
    for i in range(count):
        least = min(least, values[i])
    return least


@internal(_nrt=False)
def _measure_near(points, leaf, q, count, distance, limit):
    """Measure as `measure` does, but stop, and return False, once no distance can be as small as the limit."""
    p = points.shape[1]
    for i in range(count):
        distance[i] = 0.0
    for column in range(0, p, COLUMNS_AT_A_TIME):
        end = min(column + COLUMNS_AT_A_TIME, p)
        for j in range(column, end):
            x = q[j]
            for i in range(count):
                difference = points[leaf, j, i] - x
                distance[i] += difference * difference
        if end < p and _least(distance, count) > limit:
            return False
    return True


@njit(cache=True, nogil=True, _nrt=False)
def nearest(tree, q, k, rows, distances):
    """Find the k records left that are nearest to q, by (distance, row).

    Puts them into `rows` and `distances`; returns how many were found, at most k, and how many records were looked at.
    """
    box, lowest = tree.box, tree.lowest
    node, bound, distance = tree.node, tree.bound, tree.distance
    inner, p, n = len(lowest) // 2, box.shape[2], tree.X.shape[0]
    found, looked = 0, 0
    worst, worst_row = np.inf, n
    node[0], bound[0] = 0, 0.0
    size = 1
    while size > 0:
        size -= 1
        v = node[size]
        if bound[size] > worst or (bound[size] == worst and lowest[v] > worst_row):
            continue
        if v >= inner:
            leaf = v - inner
            records = tree.count[leaf]
            looked += records
            if not _measure_near(tree.points, leaf, q, records, distance, worst):
                continue
            for i in range(records):
                d, row = distance[i], tree.row[leaf, i]
                if d < worst or (d == worst and row < worst_row):
                    at = min(found, k - 1)
                    found = min(found + 1, k)
                    while at > 0 and (distances[at - 1] > d or (distances[at - 1] == d and rows[at - 1] > row)):
                        distances[at], rows[at] = distances[at - 1], rows[at - 1]
                        at -= 1
                    distances[at], rows[at] = d, row
                    if found == k:
                        worst, worst_row = distances[k - 1], rows[k - 1]
            continue
        left, right = 2 * v + 1, 2 * v + 2
        to_left = to_right = 0.0
        for j in range(p):
            x = q[j]
            gap = max(max(box[left, 0, j] - x, x - box[left, 1, j]), 0.0)
            to_left += gap * gap
            gap = max(max(box[right, 0, j] - x, x - box[right, 1, j]), 0.0)
            to_right += gap * gap
        looked += 4
        if to_right < to_left or (to_right == to_left and lowest[right] < lowest[left]):
            left, right, to_left, to_right = right, left, to_right, to_left
        if lowest[right] < n and to_right <= worst:
            node[size], bound[size] = right, to_right
            size += 1
        if lowest[left] < n and to_left <= worst:
            node[size], bound[size] = left, to_left
            size += 1
    return found, looked


@njit(cache=True, nogil=True, _nrt=False)
def farthest(tree, q):
    """Return the record left that is farthest from q, of equally far ones the lowest row; and the records looked at."""
    box, lowest = tree.box, tree.lowest
    node, bound, distance = tree.node, tree.bound, tree.distance
    inner, p, n = len(lowest) // 2, box.shape[2], tree.X.shape[0]
    best, best_row, looked = -1.0, -1, 0
    node[0], bound[0] = 0, np.inf
    size = 1
    while size > 0:
        size -= 1
        v = node[size]
        if bound[size] < best or (bound[size] == best and lowest[v] > best_row):
            continue
        if v >= inner:
            leaf = v - inner
            records = tree.count[leaf]
            looked += records
            measure(tree.points, leaf, q, records, distance)
            for i in range(records):
                d = distance[i]
                if d >= best and (d > best or tree.row[leaf, i] < best_row):
                    best, best_row = d, tree.row[leaf, i]
            continue
        left, right = 2 * v + 1, 2 * v + 2
        to_left = to_right = 0.0
        for j in range(p):
            x = q[j]
            reach = max(box[left, 1, j] - x, x - box[left, 0, j])
            to_left += reach * reach
            reach = max(box[right, 1, j] - x, x - box[right, 0, j])
            to_right += reach * reach
        looked += 4
        if lowest[left] == n:
            to_left = -1.0
        if lowest[right] == n:
            to_right = -1.0
        if to_right > to_left or (to_right == to_left and lowest[right] < lowest[left]):
            left, right, to_left, to_right = right, left, to_right, to_left
        if lowest[right] < n and to_right >= best:
            node[size], bound[size] = right, to_right
            size += 1
        if lowest[left] < n and to_left >= best:
            node[size], bound[size] = left, to_left
            size += 1
    return best_row, looked
