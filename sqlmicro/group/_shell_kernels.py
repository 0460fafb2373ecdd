"""A list of records sorted by distance from a point, compiled by numba: finds the record farthest from any point.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.group import _tree_kernels as trees
from sqlmicro.group._sum_kernels import add_up
from sqlmicro.group._tree_kernels import measure, squared_distance
from sqlmicro.system.compiled import njit

BLOCK = 128
SORT_AGAIN_AFTER = 40
"""A shell is sorted anew once it has cost so many times its length: its anchor has got far from the centroid."""
TRY_BOTH_EVERY = 256
"""So many queries for a far record, one goes to the tree and one to the shell, to see which costs less."""
BOX_COST = 2.5
"""What looking at a record in the tree costs, in records of the shell, which lie in a row."""
SLACK = 1e-12
"""By what a computed distance may be too small, relatively: far more than rounding does in a thousand columns."""
TINY = 1e-150
"""Distances below it may have squares that are rounded to 0."""

CENTROID, RECORD = np.int64(0), np.int64(1)  # of one type: what is called with a Python number is compiled for it
HEAD, WORK, CENTROID_QUERIES, RECORD_QUERIES = range(4)


class Shell(NamedTuple):
    """The records of a tree by descending distance from an anchor near their centroid, in blocks of BLOCK."""

    anchor: np.ndarray  # (p,)
    radius: np.ndarray  # (blocks,) distance of the first, the farthest of each block
    row: np.ndarray  # (m,)
    points: np.ndarray  # (blocks, p, BLOCK)
    left: np.ndarray  # (blocks,) records left
    block: np.ndarray  # (n,) the block of each record
    distance: np.ndarray  # (BLOCK,) distances of the block looked at
    counts: np.ndarray  # first block with records left (HEAD), records looked at (WORK), queries of each kind
    cost: np.ndarray  # (2, 2) records that queries for CENTROID, RECORD lately looked at in shell, tree


def measure_from_centroid(X: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distances (m,) of some rows of X from their centroid, and the centroid (p,)."""
    total, distance = np.zeros((2, X.shape[1])), np.empty(len(rows))
    add_up(X, rows, total)
    centroid = total[0] / len(rows)
    _measure_rows(X, rows, centroid, distance)
    return distance, centroid


@njit(cache=True, nogil=True, _nrt=False)
def _measure_rows(X, rows, q, distance):
    for i in range(len(rows)):
        distance[i] = squared_distance(X[rows[i]], q)


def sort(X: np.ndarray, rows: np.ndarray) -> Shell:
    """Return the shell of some rows of X around their centroid. O(m log m) time for m rows."""
    n, p = X.shape
    m, blocks = len(rows), -(-len(rows) // BLOCK)
    distance, centroid = measure_from_centroid(X, rows)
    order = np.argsort(-distance, kind="stable")
    sorted_rows = rows[order]
    points = np.zeros((blocks * BLOCK, p))
    points[:m] = X[sorted_rows]
    block = np.empty(n, dtype=np.int64)
    block[sorted_rows] = np.arange(m) // BLOCK
    return Shell(
        centroid,
        np.sqrt(distance[order[::BLOCK]]),
        sorted_rows,
        np.ascontiguousarray(points.reshape(blocks, BLOCK, p).transpose(0, 2, 1)),
        np.bincount(block[sorted_rows], minlength=blocks),
        block,
        np.empty(BLOCK),
        np.zeros(4, dtype=np.int64),
        np.zeros((2, 2)),
    )


def stale(shell: Shell) -> bool:
    """Return whether sorting again pays."""
    return bool(shell.counts[WORK] > SORT_AGAIN_AFTER * len(shell.row))


@njit(cache=True, nogil=True, _nrt=False)
def remove_all(tree, shell, rows):
    """Take some records out of tree and shell."""
    trees.remove_all(tree, rows)
    for row in rows:
        shell.left[shell.block[row]] -= 1


@njit(cache=True, nogil=True, _nrt=False)
def farthest(tree, shell, kind, q):
    """Return the record left that is farthest from q, found the way that cost less lately, and the records looked at.

    `kind` says what q is like: the CENTROID of the records left, or a RECORD.
    """
    turn = shell.counts[CENTROID_QUERIES + kind] % TRY_BOTH_EVERY
    shell.counts[CENTROID_QUERIES + kind] += 1
    by_tree = turn == 1 or (turn > 1 and shell.cost[kind, 1] < shell.cost[kind, 0])
    if by_tree:
        row, looked = trees.farthest(tree, q)
        spent = BOX_COST * looked
    else:
        row, looked = farthest_in_shell(tree, shell, q)
        shell.counts[WORK] += looked
        spent = 1.0 * looked
    way = 1 if by_tree else 0
    before = shell.cost[kind, way]
    shell.cost[kind, way] = spent if before == 0.0 else 0.7 * before + 0.3 * spent
    return row, looked


@njit(cache=True, nogil=True, _nrt=False)
def farthest_in_shell(tree, shell, q):
    """Return the record left that is farthest from q, of equally far ones the lowest row; and the records looked at.

    No record of a block is farther from q than the block's radius and the way from the anchor to q together.
    """
    counts, blocks, m = shell.counts, len(shell.radius), len(shell.row)
    apart = np.sqrt(squared_distance(q, shell.anchor))
    best, best_row, looked = -1.0, -1, 0
    for b in range(counts[HEAD], blocks):
        if shell.left[b] == 0:
            if b == counts[HEAD]:
                counts[HEAD] += 1
            continue
        reach = (shell.radius[b] + apart) * (1.0 + SLACK) + TINY
        if reach * reach < best:
            break
        first = b * BLOCK
        records = min(BLOCK, m - first)
        looked += records
        measure(shell.points, b, q, records, shell.distance)
        for i in range(records):
            d = shell.distance[i]
            if d >= best:
                row = shell.row[first + i]
                if (d > best or row < best_row) and tree.slot[row] >= 0:
                    best, best_row = d, row
    return best_row, looked
