"""Groups of equal combinations for local suppression, found by hashing, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

`codes` has a row per entry and -1 where a value is missing. A table of seats has, per hash, an entry and its group.
"""

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit

_FACTOR, _PRIME = 1103515245, 2147483647
_PAIRS = 16


@njit(cache=True)
def seats_for(entries: int) -> np.ndarray:
    """Return an empty table with room for so many groups; its length is a power of 2."""
    size = 4
    while size < 2 * entries:
        size *= 2
    return np.full((size, 2), -1, dtype=np.int32)


@njit(cache=True, _nrt=False)
def seat(codes: np.ndarray, entry: int, shown: np.ndarray, seats: np.ndarray) -> int:
    """Return the seat of the group that is equal to the entry in the columns `shown`, or the free seat for it."""
    place = 0
    for c in shown:
        place = (place * _FACTOR + int(codes[entry, c]) + 1) % _PRIME
    last = len(seats) - 1
    place &= last
    while seats[place, 0] >= 0:
        other, equal = seats[place, 0], True
        for c in shown:
            if codes[other, c] != codes[entry, c]:
                equal = False
                break
        if equal:
            return place
        place = (place + 1) & last
    return place


@njit(cache=True)
def groups(codes: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return the group of every entry, counted from 0 in the order of their first entries."""
    seats, found, label = seats_for(len(codes)), 0, np.empty(len(codes), dtype=np.int64)
    for i in range(len(codes)):
        place = seat(codes, i, shown, seats)
        if seats[place, 0] < 0:
            seats[place, 0], seats[place, 1] = i, found
            found += 1
        label[i] = seats[place, 1]
    return label


@njit(cache=True, _nrt=False)
def hidden(codes: np.ndarray, entry: int, chosen: np.ndarray) -> int:
    """Return how many of the chosen columns the entry lacks."""
    found = 0
    for c in chosen:
        found += codes[entry, c] < 0
    return found


@njit(cache=True)
def tally(
    codes: np.ndarray, count: np.ndarray, surplus: np.ndarray, shown: np.ndarray, chosen: np.ndarray,
    mine: np.ndarray, others: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Group the entries `mine` that have all chosen values by the columns `shown`.

    Returns the group of each (-1 for none), the group of each other entry that has records to lend to one (-1), and
    per group three numbers of records: those it has of `mine`, those that lack exactly these values, those it may
    borrow.
    """
    seats, found = seats_for(len(mine)), 0
    label, lender = np.full(len(mine), -1, dtype=np.int64), np.full(len(others), -1, dtype=np.int64)
    sums = np.zeros((len(mine), 3), dtype=np.int64)
    for m in range(len(mine)):
        if hidden(codes, mine[m], chosen) == 0:
            place = seat(codes, mine[m], shown, seats)
            if seats[place, 0] < 0:
                seats[place, 0], seats[place, 1] = mine[m], found
                found += 1
            label[m] = seats[place, 1]
            sums[label[m], 0] += count[mine[m]]
    for i in mine:
        if hidden(codes, i, chosen) == len(chosen):
            place = seat(codes, i, shown, seats)
            if seats[place, 0] >= 0:
                sums[seats[place, 1], 1] += count[i]
    for o in range(len(others)):
        i = others[o]
        lacks = hidden(codes, i, chosen)
        if lacks == len(chosen) or (lacks == 0 and surplus[i] > 0):
            place = seat(codes, i, shown, seats)
            if seats[place, 0] >= 0 and lacks:
                sums[seats[place, 1], 1] += count[i]
            elif seats[place, 0] >= 0:
                lender[o] = seats[place, 1]
                sums[lender[o], 2] += surplus[i]
    return label, lender, sums[:found]


@njit(cache=True)
def lend(
    groups: np.ndarray, starts: np.ndarray, lenders: np.ndarray, surplus: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lend to one group after the other what it wants; return which groups got it, and what every lender gives.

    The lenders of group g are lenders[starts[g]:starts[g + 1]]; what they give is taken off their surplus.
    """
    served, given = np.zeros(len(wanted), dtype=np.bool_), np.zeros(len(lenders), dtype=np.int64)
    for group in groups:
        able = 0
        for at in range(starts[group], starts[group + 1]):
            able += surplus[lenders[at]]
        if able < wanted[group]:
            continue
        served[group], left = True, wanted[group]
        for at in range(starts[group], starts[group + 1]):
            given[at] = min(left, surplus[lenders[at]])
            surplus[lenders[at]] -= given[at]
            left -= given[at]
    return served, given


@njit(cache=True)
def relieve(
    codes: np.ndarray, count: np.ndarray, need: np.ndarray, shown: np.ndarray, chosen: np.ndarray,
    mine: np.ndarray, others: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Group the entries `mine` that have some chosen value by the columns `shown`; find who has to lose these values.

    `need` says how many records each of `mine`, in descending order, lacks. If h records of a group lose the values,
    every other has h more; the least h that is enough is the largest for which h records of the group lack at least h.

    Returns the group of each (-1 for none), how many of its records lose the values, and per group three numbers of
    records: all, those of `mine`, and h.
    """
    seats, found = seats_for(len(mine)), 0
    label, taken = np.full(len(mine), -1, dtype=np.int64), np.zeros(len(mine), dtype=np.int64)
    sums = np.zeros((len(mine), 3), dtype=np.int64)
    for m in range(len(mine)):
        i = mine[m]
        if hidden(codes, i, chosen) < len(chosen):
            place = seat(codes, i, shown, seats)
            if seats[place, 0] < 0:
                seats[place, 0], seats[place, 1] = i, found
                found += 1
            label[m] = seats[place, 1]
            before = sums[label[m], 1]
            taken[m] = min(count[i], max(0, need[m] - before))
            sums[label[m], 0] += count[i]
            sums[label[m], 1] += count[i]
            sums[label[m], 2] += taken[m]
    for m in range(len(mine)):
        if label[m] < 0:
            place = seat(codes, mine[m], shown, seats)
            if seats[place, 0] >= 0:
                sums[seats[place, 1], 0] += count[mine[m]]
    for i in others:
        place = seat(codes, i, shown, seats)
        if seats[place, 0] >= 0:
            sums[seats[place, 1], 0] += count[i]
    return label, taken, sums[:found]


@njit(cache=True)
def add_matches(
    codes: np.ndarray, count: np.ndarray, mine: np.ndarray, theirs: np.ndarray, shown: np.ndarray, found: np.ndarray
) -> None:
    """Add to `found` for each of `mine` the records of `theirs` that are equal in the columns `shown`."""
    if len(mine) * len(theirs) <= _PAIRS * (len(mine) + len(theirs)):
        for m in range(len(mine)):
            for j in theirs:
                equal = True
                for c in shown:
                    if codes[mine[m], c] != codes[j, c]:
                        equal = False
                        break
                if equal:
                    found[m] += count[j]
        return
    seats, label = seats_for(len(mine)), np.empty(len(mine), dtype=np.int64)
    sums, made = np.zeros(len(mine), dtype=np.int64), 0
    for m in range(len(mine)):
        place = seat(codes, mine[m], shown, seats)
        if seats[place, 0] < 0:
            seats[place, 0], seats[place, 1] = mine[m], made
            made += 1
        label[m] = seats[place, 1]
    for j in theirs:
        place = seat(codes, j, shown, seats)
        if seats[place, 0] >= 0:
            sums[seats[place, 1]] += count[j]
    for m in range(len(mine)):
        found[m] += sums[label[m]]


@njit(cache=True)
def count_matches(
    codes: np.ndarray, count: np.ndarray, lacking: np.ndarray, own: int, mine: np.ndarray, order: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return for each of `mine`, all of the pattern `own`, the number of records that may be the same.

    `lacking` (patterns, p) has the columns every pattern lacks; the entries of pattern t are
    order[starts[t]:starts[t + 1]].
    """
    found = np.zeros(len(mine), dtype=np.int64)
    for other in range(len(lacking)):
        shown = np.flatnonzero(~(lacking[own] | lacking[other]))
        add_matches(codes, count, mine, order[starts[other] : starts[other + 1]], shown, found)
    return found


@njit(cache=True, _nrt=False)
def give_back(
    codes: np.ndarray, count: np.ndarray, original: np.ndarray, size: np.ndarray, entries: np.ndarray, k: int
) -> int:
    """Give values of these entries back where every record keeps k that may be the same; return how many values.

    `size` has for every entry the number of records that may be the same, and is kept.
    """
    given = 0
    for i in entries:
        for c in range(codes.shape[1]):
            if codes[i, c] != original[i, c]:
                lost = losing(codes, count, size, i, c, original[i, c], k, False)
                if lost >= 0 and size[i] - lost >= k:
                    losing(codes, count, size, i, c, original[i, c], k, True)
                    size[i] -= lost
                    codes[i, c] = original[i, c]
                    given += count[i]
    return given


@njit(cache=True, _nrt=False)
def losing(
    codes: np.ndarray, count: np.ndarray, size: np.ndarray, entry: int, column: int, value: int, k: int, take: bool
) -> int:
    """Return how many records no longer fit the entry when it has the value; -1 if one of them needs it.

    `take` reduces the size of these.
    """
    lost = 0
    for j in range(len(codes)):
        theirs = codes[j, column]
        if theirs < 0 or theirs == value:
            continue
        fits = True
        for c in range(codes.shape[1]):
            if c != column and codes[j, c] != codes[entry, c] and codes[j, c] >= 0 and codes[entry, c] >= 0:
                fits = False
                break
        if fits and take:
            size[j] -= count[entry]
        elif fits and size[j] - count[entry] < k:
            return -1
        if fits:
            lost += count[j]
    return lost
