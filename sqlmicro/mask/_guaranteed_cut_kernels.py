"""Cuts of Mondrian that leave what is asked on both sides, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.guarantees._rule_kernels import column_misses
from sqlmicro.mask._mondrian_kernels import widths
from sqlmicro.system.compiled import njit


class Held(NamedTuple):
    """The population that groups are held by; without one, `people` has nobody and `least` is 0."""

    values: np.ndarray  # (n, p): the records; NaN for a missing number
    people: np.ndarray  # (m, p): the members, likewise
    nominal: np.ndarray  # (p,): whether a column is released as a set of values, numbered from 0, or as a range
    spans: np.ndarray  # (p,): the numbers there may be in a nominal column
    least: int  # members of every group
    share: float  # the largest share of them that is in the group, and what rounding may add
    whose: np.ndarray  # (n,): the person of every record, where persons are counted; else nothing


@njit(cache=True)
def inside(held, members, people):
    """Tell which of some people have values in the ranges and sets that these records are released with."""
    found = np.ones(len(people), dtype=np.bool_)
    for j in range(held.values.shape[1]):
        if held.nominal[j]:
            shown = np.zeros(held.spans[j], dtype=np.bool_)
            for i in members:
                shown[int(held.values[i, j])] = True
            for q in range(len(people)):
                found[q] = found[q] and shown[int(held.people[people[q], j])]
            continue
        low, high, gap = np.inf, -np.inf, False
        for i in members:
            value = held.values[i, j]
            if np.isnan(value):
                gap = True
            else:
                low, high = min(low, value), max(high, value)
        for q in range(len(people)):
            value = held.people[people[q], j]
            found[q] = found[q] and (gap if np.isnan(value) else low <= value <= high)
    return found


@njit(cache=True)
def _is_held(held, members, people):
    """Tell whether these records are held by enough people, of whom they are not too large a share."""
    if len(people) < held.least:
        return False
    count = inside(held, members, people).sum()
    if count < held.least:
        return False
    present = len(members)
    if len(held.whose) and present > held.share * count:  # fewer persons than records may be there
        present = len(np.unique(held.whose[members]))
    return present <= held.share * count


@njit(cache=True)
def _numbered(codes):
    """Return the values that occur, ascending, and the place of every one among them."""
    order = np.argsort(codes, kind="mergesort")
    values, places = np.empty(len(codes), dtype=np.int32), np.empty(len(codes), dtype=np.int64)
    m = 0
    for position in range(len(order)):
        i = order[position]
        if position == 0 or codes[i] != codes[order[position - 1]]:
            values[m] = codes[i]
            m += 1
        places[i] = m - 1
    return values[:m], places


@njit(cache=True, _nrt=False)
def _holds(columns, c, values, counts, size, present, times):
    """Tell whether a side with these counts of the values of a column keeps what is asked of it."""
    m = 0
    for q in range(len(values)):
        if counts[q] > 0:
            present[m], times[m] = values[q], counts[q]
            m += 1
    return column_misses(columns, c, present[:m], times[:m], m, size) <= 0


@njit(cache=True)
def _cut(columns, values, first, total, places, ordered, k, strict, held, members, people):
    """Return how many of the members, in their order along a dimension, go to the left; 0 where no cut keeps all.

    The cut is the one nearest to the middle. `values` has those of one column after the other, from `first` on, and
    `places` (columns, n) where the value of every member is among them; `ordered` its coordinate. Two cuts move
    outward from the middle, one to the left and one to the right, each with the counts of its left side. `people` are
    those of the population who may be in either.
    """
    n, middle = len(ordered), len(ordered) // 2
    if len(people) < 2 * held.least:
        return 0
    columns_number = len(first) - 1
    left = np.zeros((2, len(values)), dtype=np.int64)
    right = np.empty(len(values), dtype=np.int64)
    present, times = np.empty(len(values), dtype=np.int32), np.empty(len(values), dtype=np.int64)
    for c in range(columns_number):
        for i in range(middle):
            left[0, first[c] + places[c, i]] += 1
    left[1] = left[0]
    for step in range(middle + 1):
        for side in range(2):
            position = middle - step if side == 0 else middle + step
            if step > 0:
                moved = position if side == 0 else position - 1
                if moved >= n:
                    continue
                for c in range(columns_number):
                    left[side, first[c] + places[c, moved]] += -1 if side == 0 else 1
            elif side == 1:
                continue
            if not k <= position <= n - k or (strict and ordered[position - 1] >= ordered[position]):
                continue
            fine = True
            for c in range(columns_number):
                a, b = first[c], first[c + 1]
                right[a:b] = total[a:b] - left[side, a:b]
                fine = _holds(columns, c, values[a:b], left[side, a:b], position, present, times) and _holds(
                    columns, c, values[a:b], right[a:b], n - position, present, times
                )
                if not fine:
                    break
            if fine and held.least:
                fine = _is_held(held, members[:position], people) and _is_held(held, members[position:], people)
            if fine:
                return position
    return 0


@njit(cache=True)
def split(X, members, columns, k, strict, held, people):
    """Order the members along the widest dimension whose cut keeps all on both sides; return its place, 0 for none."""
    n = len(members)
    if n < 2 * k:
        return 0
    columns_number = len(columns.ordered)
    first = np.zeros(columns_number + 1, dtype=np.int64)
    values, places = np.empty(n * columns_number, dtype=np.int32), np.empty((columns_number, n), dtype=np.int64)
    for c in range(columns_number):
        found, places[c] = _numbered(columns.code[c][members])
        first[c + 1] = first[c] + len(found)
        values[first[c] : first[c + 1]] = found
    total = np.zeros(first[columns_number], dtype=np.int64)
    for c in range(columns_number):
        for i in range(n):
            total[first[c] + places[c, i]] += 1
    spread = widths(X, members)
    for j in np.argsort(-spread, kind="mergesort"):
        if spread[j] <= 0:
            return 0
        along = X[members, j]
        order = np.argsort(along, kind="mergesort")
        position = _cut(
            columns, values[: len(total)], first, total, places[:, order], along[order], k, strict, held,
            members[order], people,
        )  # fmt: skip
        if position:
            members[:] = members[order]
            return position
    return 0


@njit(cache=True)
def _sorted_out(held, left, right, people):
    """Put those first who are inside on the left, then those on the right; return where both end."""
    on_left, on_right = inside(held, left, people), inside(held, right, people)
    a, b = on_left.sum(), on_left.sum() + on_right.sum()
    people[:] = np.concatenate((people[on_left], people[on_right], people[~(on_left | on_right)]))
    return a, b


@njit(cache=True)
def partition(columns, held, crowd, of_people, X, order, stacks, labels, state, k, strict, most):
    """Take ranges of `order` from the stack, cut each or make it a group, until about `most` records were looked at.

    `stacks` (4, n + 2) has where ranges of `order` start and end, and those of `crowd`: the people inside. `state` has
    the height of the stack and the number of groups so far.
    """
    height, groups = state
    looked = 0
    while height and looked < most:
        height -= 1
        start, end, first, last = stacks[:, height]
        looked += end - start
        members, people = order[start:end], crowd[first:last]
        position = split(X, members, columns, k, strict, held, people)
        if position:
            a, b = _sorted_out(held, members[:position], members[position:], people)
            stacks[:, height] = start + position, end, first + a, first + b
            stacks[:, height + 1] = start, start + position, first, first + a
            height += 2
        else:
            labels[members] = groups
            of_people[people] = groups
            groups += 1
    state[0], state[1] = height, groups
