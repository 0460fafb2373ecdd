"""The loop of Mondrian, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit


@njit(cache=True)
def cut(values: np.ndarray, until: np.ndarray, k: int, strict: bool) -> int:
    """Return how many of the ascending values go to the left; 0 where no cut leaves k records on both sides.

    `until` counts the records up to each value. The cut is the one nearest to the middle; a strict one does not
    separate equal values, any other takes every value for one record.
    """
    n, most = int(until[-1]), len(values)
    middle = n // 2
    if n < 2 * k:
        return 0
    if not strict:
        return middle
    left = np.searchsorted(until, middle, side="right")
    right = left + 1
    while left > 0 and not values[left - 1] < values[left]:
        left -= 1
    while right < most and not values[right - 1] < values[right]:
        right += 1
    fits_left = left > 0 and until[left - 1] >= k
    fits_right = right < most and n - until[right - 1] >= k
    if fits_left and (not fits_right or middle - until[left - 1] <= until[right - 1] - middle):
        return int(left)
    return int(right) if fits_right else 0


@njit(cache=True)
def widths(X: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return how far the members are spread in every dimension."""
    found = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        low = high = X[members[0], j]
        for i in members:
            low, high = min(low, X[i, j]), max(high, X[i, j])
        found[j] = high - low
    return found


@njit(cache=True)
def lengths(X: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Return the same of rows that are in the order of every dimension: the ends tell."""
    found = np.empty(len(orders))
    for j in range(len(orders)):
        found[j] = X[orders[j, -1], j] - X[orders[j, 0], j]
    return found


@njit(cache=True)
def divide(orders: np.ndarray, along: int, position: int, left: np.ndarray, right: np.ndarray) -> None:
    """Put what goes to the left of a cut first in the orders of the other dimensions, each side in its order."""
    for place in range(orders.shape[1]):
        left[orders[along, place]] = place < position
    for j in range(len(orders)):
        if j == along:
            continue
        before = after = 0
        for i in orders[j]:
            if left[i]:
                orders[j, before] = i
                before += 1
            else:
                right[after] = i
                after += 1
        orders[j, before:] = right[:after]


@njit(cache=True)
def split(
    X: np.ndarray, records: np.ndarray, orders: np.ndarray, k: int, strict: bool, left: np.ndarray, right: np.ndarray
) -> int:
    """Cut rows along the widest dimension that can be cut, in every order; return the place of the cut, 0 for none."""
    if records[orders[0]].sum() < 2 * k:
        return 0
    spread = lengths(X, orders) if strict else widths(X, orders[0])
    for j in np.argsort(-spread, kind="mergesort"):
        if spread[j] <= 0:
            return 0
        rows = orders[j if strict else 0]
        if not strict:
            rows = rows[np.argsort(X[rows, j], kind="mergesort")]
        position: int = cut(X[rows, j], np.cumsum(records[rows]), k, strict)
        if position:
            if strict:
                divide(orders, j, position, left, right)
            else:
                orders[0] = rows
            return position
    return 0


@njit(cache=True)
def partition(
    X: np.ndarray, records: np.ndarray, orders: np.ndarray, starts: np.ndarray, ends: np.ndarray, labels: np.ndarray,
    state: np.ndarray, k: int, strict: bool, most: int,
) -> None:  # fmt: skip
    """Take ranges of rows from the stack, cut each or make it a group, until about `most` records were looked at.

    `orders` (p, n) are the rows in the order of every dimension, of which a range has the same ones in each; where cuts
    are not strict, (1, n), the rows in any order. `state` has the height of the stack and the number of groups so far.
    """
    left, right = np.empty(len(X), dtype=np.bool_), np.empty(len(X), dtype=np.int64)
    height, groups = state
    looked = 0
    while height and looked < most:
        height -= 1
        start, end = starts[height], ends[height]
        looked += end - start
        position = split(X, records, orders[:, start:end], k, strict, left, right)
        if position:
            starts[height], ends[height] = start + position, end
            starts[height + 1], ends[height + 1] = start, start + position
            height += 2
        else:
            labels[orders[0, start:end]] = groups
            groups += 1
    state[0], state[1] = height, groups
