"""Loops along an order or a column, compiled by numba: nearest-point path, optimal groups, secure representatives.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.group._tree_kernels import Tree, nearest, remove
from sqlmicro.system.compiled import internal, njit


@njit(cache=True, nogil=True)
def extend(X: np.ndarray, k: int, best: np.ndarray, last: np.ndarray, start: int, stop: int) -> None:
    """Find the best grouping of the first i records for every i in [start, stop).

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Records in their order.
    k : int
        Smallest number of records in a group.
    best : ndarray of shape (n + 1,)
        SSE of the best grouping of the first i records, up to a constant; infinite where there is none.
    last : ndarray of shape (n + 1,), int32
        Size of the last group of that grouping.
    start, stop : int
        The range of i; all below `start` are known.
    """
    p = X.shape[1]
    total = np.empty(p)
    for i in range(start, stop):
        total[:] = 0.0
        squares = 0.0
        best[i] = np.inf
        last[i] = i if i < 2 * k else k
        for size in range(2, min(2 * k - 1, i) + 1):
            between = 0.0
            for column in range(p):
                # From the record at the end of the group, so that nothing cancels: SSE is at least 1/size of `squares`.
                difference = X[i - size, column] - X[i - 1, column]
                total[column] += difference
                squares += difference * difference
                between += total[column] * total[column]
            if size >= k:
                cost = best[i - size] + (squares - between / size)
                if cost < best[i]:
                    best[i] = cost
                    last[i] = size
        if i % k == 0 and i >= 4 * k:
            # Only differences within the window count; a large loss before it would swallow those behind.
            base = best[i]
            for j in range(i - 2 * k + 2, i + 1):
                best[j] -= base


@njit(cache=True, nogil=True, _nrt=False)
def follow(last: np.ndarray, labels: np.ndarray) -> None:
    """Walk back over the sizes of the last groups and number the groups from 0 in the order of the records."""
    groups = 0
    end = len(labels)
    while end > 0:
        groups += 1
        end -= last[end]
    end = len(labels)
    while end > 0:
        groups -= 1
        for i in range(end - last[end], end):
            labels[i] = groups
        end -= last[end]


@njit(cache=True, nogil=True)
def walk(tree: Tree, path: np.ndarray, done: int, records: int) -> int:
    """Go on from the end of the path to the nearest record left, until some `records` were looked at.

    Parameters
    ----------
    tree : Tree
        The records that are not on the path.
    path : ndarray of shape (n,), int64
        Rows in the order of the path, the first `done` of them known.
    done : int
        Length of the path, at least 1.
    records : int
        About how many records may be looked at.

    Returns
    -------
    int
        Length of the path.
    """
    row, distance = np.empty(1, dtype=np.int64), np.empty(1)
    while done < len(path) and records > 0:
        records -= nearest(tree, tree.X[path[done - 1]], 1, row, distance)[1]
        remove(tree, row[0])
        path[done] = row[0]
        done += 1
    return done


@njit(cache=True, nogil=True)
def secure(values, starts, tolerance, ratio, means, representatives, sums):
    """Move the mean of every group, where it tells too much, to the nearest place that does not.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values, ascending inside each group, group after group.
    starts : ndarray of shape (G + 1,)
        Where each group begins; a group may be empty.
    tolerance, ratio : float
        A place is safe where at least this share of the group is at least `tolerance` away from it.
    means, representatives : ndarray of shape (G,)
        Filled with the mean of each group and with what stands for it; NaN for an empty group.
    sums : ndarray of shape (2,)
        Sums of what records gain and what they lose by it so far; changed.
    """
    for g in range(len(starts) - 1):
        group = values[starts[g] : starts[g + 1]]
        means[g] = representatives[g] = np.nan
        if len(group) == 0:
            continue
        mean = group[0] + (group - group[0]).sum() / len(group)
        means[g] = representatives[g] = mean = min(max(mean, group[0]), group[-1])
        if _outside(group, mean, tolerance) / len(group) >= ratio:
            continue
        # With the right one whenever the sum so far is not above 0, it stays within the largest single change.
        if sums[0] <= -sums[1]:
            representatives[g] = _safe_above(group, mean, tolerance, ratio)
            sums[0] += len(group) * (representatives[g] - mean)
        else:
            representatives[g] = -_safe_above(-group[::-1], -mean, tolerance, ratio)
            sums[1] += len(group) * (representatives[g] - mean)


@internal(_nrt=False)
def _outside(group, place, tolerance):
    count = 0
    for value in group:
        count += abs(value - place) >= tolerance
    return count


@internal(_nrt=False)
def _safe_above(group, mean, tolerance, ratio):
    """Return the lowest safe place above the mean: it has a value exactly `tolerance` below it."""
    first = behind = 0
    place = mean
    for value in group:
        place = value + tolerance
        while place - value < tolerance:  # by rounding
            place = np.nextafter(place, np.inf)
        if place < mean:
            continue
        while first < len(group) and place - group[first] >= tolerance:
            first += 1
        while behind < len(group) and group[behind] - place < tolerance:
            behind += 1
        if (len(group) - (behind - first)) / len(group) >= ratio:
            break
    return place
