"""What groups miss of the rules of a column, compiled by numba: l-diversity, t-closeness, caps.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit

L, LOG_L, RECURSIVE_L, C, T = range(5)
"""Columns of `Columns.limit`."""


_GUESSED = 12  # places from which on a guess is made where to look


class Columns(NamedTuple):
    """What must hold of some columns in every group; persons are a column of which a group has at least k values."""

    code: np.ndarray  # (C, n) int32: the value of every record; its number where it has a bundle of them
    ordered: np.ndarray  # (C,) bool
    counted: np.ndarray  # (C,) bool: whether nothing but the number of distinct values matters, as with persons
    first: np.ndarray  # (C,) int64: where the shares of a column begin
    stop: np.ndarray  # (C,) int64: where they end
    share: np.ndarray  # share of every value in the table, column after column
    cumulated: np.ndarray  # of these, up to and with the value
    area: np.ndarray  # sum of `cumulated` over the values before
    levels: np.ndarray  # (C,) int64: levels of a hierarchy above the values, without its root
    above: np.ndarray  # (C,) int64: where the classes of the values on these levels begin
    branch: np.ndarray  # int64: class of every value of a column, level after level
    branch_share: np.ndarray  # share of that class in the table
    limit: np.ndarray  # (C, 5): l, log l, l of (c, l), c, t; what rounding takes is allowed for
    cap_first: np.ndarray  # (C,) int64: the first cap of a column: a limit of the share of every value of a group
    cap_stop: np.ndarray  # (C,) int64: where they end
    cap_least: np.ndarray  # the least share in every cap
    cap_at: np.ndarray  # int64: where the shares of a cap begin
    cap: np.ndarray  # the largest share of every value of the table, cap after cap


@njit(cache=True, _nrt=False)
def _tail(counts, m, size, most, l):  # noqa: E741
    """Return the records whose value is not among the l - 1 most frequent of a group; `most` is the largest count."""
    if l <= 1:
        return size
    tail = size
    above, done = most + 1, 0
    while done < l - 1:
        highest, times = 0, 0
        for j in range(m):
            if counts[j] < above:
                if counts[j] > highest:
                    highest, times = counts[j], 1
                elif counts[j] == highest:
                    times += 1
        if highest == 0:
            break
        taken = min(times, l - 1 - done)
        tail -= taken * highest
        done += taken
        above = highest
    return tail


@njit(cache=True, _nrt=False)
def _earth_movers(columns, c, values, counts, m, size):
    """Return the ordered distance between a group and the table: the area between their cumulated shares.

    Between two values of the group its cumulated share stays level; that of the table passes it once.
    """
    first, last = columns.first[c], columns.stop[c] - 1
    if last == first:
        return 0.0
    cumulated, area = columns.cumulated, columns.area
    low = first
    before = 0
    total = 0.0
    for j in range(m + 1):
        high = first + values[j] if j < m else last
        if high > low:
            level = before / size
            a, b = low, high
            if b - a > _GUESSED:
                # Nearly even shares: the place is close to where it would be with even ones.
                rise = cumulated[b - 1] - cumulated[a]
                guess = a + int((b - 1 - a) * min(1.0, max(0.0, (level - cumulated[a]) / rise))) if rise > 0 else a
                if cumulated[guess] < level:
                    a = guess + 1
                    if a + 4 < b and cumulated[a + 4] >= level:
                        b = a + 4
                else:
                    b = guess
                    if b - 4 > a and cumulated[b - 4] < level:
                        a = b - 3
            while a < b:
                middle = (a + b) >> 1
                if cumulated[middle] < level:
                    a = middle + 1
                else:
                    b = middle
            total += (a - low) * level - (area[a] - area[low]) + (area[high] - area[a]) - (high - a) * level
            low = high
        if j < m:
            before += counts[j]
    return total / (last - first)


@njit(cache=True, _nrt=False)
def _hierarchical(columns, c, values, counts, m, size):
    """Return the hierarchical distance between a group and the table; without levels it is the equal distance.

    It is the mean over the levels of what the group has too much of in their classes, whose values are consecutive.
    """
    first = columns.first[c]
    total = 0.0
    for j in range(m):
        total += max(0.0, counts[j] / size - columns.share[first + values[j]])
    for level in range(columns.levels[c]):
        start = columns.above[c] + level * (columns.stop[c] - first)
        j = 0
        while j < m:
            at, within = start + values[j], 0
            while j < m and columns.branch[start + values[j]] == columns.branch[at]:
                within += counts[j]
                j += 1
            total += max(0.0, within / size - columns.branch_share[at])
    return total / (columns.levels[c] + 1)


@njit(cache=True, _nrt=False)
def column_misses(columns, c, values, counts, m, size):
    """Return what a group of `size` records with these m runs misses in a column, in records.

    Every term is convex and grows in proportion to the counts, or does not grow with them (distinct values): two groups
    united never miss more than both together, so whatever holds of two groups holds of their union.
    """
    limit = columns.limit[c]
    missed = max(0.0, limit[L] - m)
    most = 0
    for j in range(m):
        most = max(most, counts[j])
    if limit[LOG_L] > 0:
        entropy = 0.0
        for j in range(m):
            entropy -= counts[j] / size * np.log(counts[j] / size)
        missed += size * max(0.0, limit[LOG_L] - entropy)
    if limit[RECURSIVE_L] > 0:
        lacking = most - limit[C] * _tail(counts, m, size, most, limit[RECURSIVE_L])
        missed += lacking + 1.0 if lacking > -1e-9 * size else 0.0
    for b in range(columns.cap_first[c], columns.cap_stop[c]):
        if most > columns.cap_least[b] * size:
            for j in range(m):
                missed += max(0.0, counts[j] - columns.cap[columns.cap_at[b] + values[j]] * size)
    if limit[T] < np.inf:
        if columns.ordered[c]:
            distance = _earth_movers(columns, c, values, counts, m, size)
        else:
            distance = _hierarchical(columns, c, values, counts, m, size)
        missed += size * max(0.0, distance - limit[T])
    return missed


@njit(cache=True, _nrt=False)
def all_misses(columns, c, values, counts, begin, size, missed):
    """Add what every group misses in a column; the runs of group g are those from begin[g] to begin[g + 1]."""
    for g in range(len(size)):
        if size[g] > 0:
            a, b = begin[g], begin[g + 1]
            missed[g] += column_misses(columns, c, values[a:b], counts[a:b], b - a, size[g])
