"""Single values change places until every record has a combination that the population has, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.mask._suppression_kernels import seat
from sqlmicro.system.compiled import njit

_PARTNERS = 4_000  # records with a value that are looked at
_TARGETS = 64  # combinations that a record may get, the nearest


class Swaps(NamedTuple):
    """The records as they are by now, and the combinations they may have."""

    codes: np.ndarray  # (n, q): values; those beyond the ranks stay
    allowed: np.ndarray  # (m + 1, q): combinations that occur often enough in the population; the last row is scratch
    seats: np.ndarray  # (2^x, 2): allowed combinations by their hash
    good: np.ndarray  # (n,) bool: whether a record has one
    rank: np.ndarray  # (p, values): the place of every value in its order, as a share
    holder: np.ndarray  # (p, n): the records by stratum and value
    first: np.ndarray  # (p, strata, values + 1): where those of a value begin
    place: np.ndarray  # (p, n): where a record is in them
    source: np.ndarray  # (p, n): the record that a value comes from
    stratum: np.ndarray  # (n,)
    start: np.ndarray  # (strata + 1,): where the allowed combinations of a stratum begin
    moved: np.ndarray  # (n,) int64: values a record got in exchange


@njit(cache=True)
def fill(seats, allowed):
    """Enter the allowed combinations, all different, into the seats."""
    columns = np.arange(allowed.shape[1])
    for i in range(len(allowed) - 1):
        seats[seat(allowed, i, columns, seats)] = i


@njit(cache=True, _nrt=False)
def known(s, i):
    """Tell whether a record has an allowed combination."""
    for c in range(s.codes.shape[1]):
        s.allowed[-1, c] = s.codes[i, c]
    return _known(s)


@njit(cache=True, _nrt=False)
def _known(s):
    """Tell whether the combination in the scratch row is allowed."""
    return s.seats[seat(s.allowed, len(s.allowed) - 1, range(s.allowed.shape[1]), s.seats), 0] >= 0


@njit(cache=True, _nrt=False)
def _fits(s, i, c, value):
    """Tell whether a record would have an allowed combination with another value in a column."""
    for d in range(s.codes.shape[1]):
        s.allowed[-1, d] = s.codes[i, d]
    s.allowed[-1, c] = value
    return _known(s)


@njit(cache=True, _nrt=False)
def _exchange(s, i, j, c):
    """Let two records exchange their values in a column."""
    a, b = s.place[c, i], s.place[c, j]
    s.holder[c, a], s.holder[c, b] = j, i
    s.place[c, i], s.place[c, j] = b, a
    s.codes[i, c], s.codes[j, c] = s.codes[j, c], s.codes[i, c]
    s.source[c, i], s.source[c, j] = s.source[c, j], s.source[c, i]
    s.moved[i] += 1
    s.moved[j] += 1


@njit(cache=True, _nrt=False)
def _partner(s, i, c, value, skip, least):
    """Return a record that can give record i a value of a column for its own; -1 if there is none.

    One that gets an allowed combination by that is worth 2, one that stays what it is 1, one that loses its own 0; it
    has to be worth `least`. Those in `skip` are in use.
    """
    t, own = s.stratum[i], s.codes[i, c]
    a, b = s.first[c, t, value], s.first[c, t, value + 1]
    begin = a + (i * 7919) % max(1, b - a)
    best, worth = -1, -1
    for z in range(min(b - a, _PARTNERS)):
        at = begin + z
        if at >= b:
            at -= b - a
        j, used = s.holder[c, at], False
        for x in skip:
            used = used or x == j
        if used or j == i:
            continue
        fits = _fits(s, j, c, own)
        now = 2 if fits and not s.good[j] else 1 if fits or not s.good[j] else 0
        if now > worth and now >= least:
            best, worth = j, now
            if now == 2:
                break
    return best


@njit(cache=True)
def _nearest(s, i, found):
    """Write the allowed combinations nearest to those of a record into `found`; return how many.

    Nearest is what takes the fewest exchanges, then the smallest distance of ranks.
    """
    p, t, count = len(s.rank), s.stratum[i], 0
    far = np.empty(len(found))
    for m in range(s.start[t], s.start[t + 1]):
        distance = 0.0
        for c in range(p):
            x, y = s.codes[i, c], s.allowed[m, c]
            if x != y:
                if x < 0 or y < 0 or s.first[c, t, y] == s.first[c, t, y + 1]:
                    distance = np.inf
                    break
                distance += p + abs(s.rank[c, x] - s.rank[c, y])
        if distance == np.inf or (count == len(found) and distance >= far[count - 1]):
            continue
        z = min(count, len(found) - 1)
        while z > 0 and far[z - 1] > distance:
            far[z], found[z] = far[z - 1], found[z - 1]
            z -= 1
        far[z], found[z] = distance, m
        count = min(count + 1, len(found))
    return count


@njit(cache=True)
def _reach(s, i, target, least):
    """Give record i an allowed combination by exchanges; return how many, 0 if it cannot be."""
    p, made = len(s.rank), 0
    partners = np.full(p, -1, dtype=np.int64)
    columns = np.full(p, -1, dtype=np.int64)
    for c in range(p):
        if s.codes[i, c] != s.allowed[target, c]:
            j = _partner(s, i, c, s.allowed[target, c], partners, least)
            if j < 0:
                return 0
            partners[made], columns[made] = j, c
            made += 1
    for z in range(made):
        _exchange(s, i, partners[z], columns[z])
        s.good[partners[z]] = known(s, partners[z])
    s.good[i] = known(s, i)
    return made


@njit(cache=True)
def mend(s, records, at, stop, least):
    """Give these records allowed combinations by one exchange each, or several; return how many were made.

    Partners are worth `least`, see `_partner`; where that is 0, one is taken that loses its own if there is no other.
    """
    made = 0
    found = np.empty(_TARGETS, dtype=np.int64)
    for z in range(at, stop):
        i = records[z]
        if s.good[i]:
            continue
        now, count = 0, _nearest(s, i, found)
        for m in range(count):
            now = _reach(s, i, found[m], max(least, 1))
            if now:
                break
        if not now and least == 0 and count:
            now = _reach(s, i, found[(s.moved[i] * 31 + i) % count], 0)
        made += now
    return made
