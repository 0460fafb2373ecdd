"""Local suppression whose classes keep guarantees: records move between released combinations, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.guarantees._state_kernels import misses, put, settle, take
from sqlmicro.mask._risk_kernels import risk_misses
from sqlmicro.mask._suppression_kernels import seat, seats_for
from sqlmicro.system.compiled import njit

_TRIED = 48  # records that a class which lacks something is offered in one step


class Search(NamedTuple):
    """What a search knows besides the state of its classes: every slot of that is a released combination."""

    codes: np.ndarray  # (n, q): the values of every record, -1 for none; those beyond the costs are strata
    released: np.ndarray  # (S + 1, q): the combination of every slot, -1 for none; the last row is scratch
    seats: np.ndarray  # (2^x, 2): the slot of a combination, by its hash
    used: np.ndarray  # (1,): slots that have a combination
    cost: np.ndarray  # (p,): of one value of every column
    k: int
    risk: float  # the largest risk of a record; infinite for none. The weights are the only column of `state.X`
    held: np.ndarray  # (H + 1, q): combinations that a population holds, the last row is scratch; (0, q) without one
    held_seats: np.ndarray  # (2^x, 2): the same by their hashes


@njit(cache=True, _nrt=False)
def _with(state, columns, s, g, out, new):
    """Return what class g misses without record `out` and with `new`; -1 is none."""
    missed = misses(state, columns, s.k, g, -1, out, new)
    if s.risk < np.inf:
        size, total = state.size[g], state.sums[g, 0]
        if out >= 0:
            size, total = size - 1, total - state.X[out, 0]
        if new >= 0:
            size, total = size + 1, total + state.X[new, 0]
        missed += risk_misses(size, total, s.risk)
    return missed


@njit(cache=True, _nrt=False)
def _misses(state, s, g):
    """Return what a class misses as it is."""
    return state.missed[g] + risk_misses(state.size[g], state.sums[g, 0], s.risk)


@njit(cache=True, _nrt=False)
def slot_of(s, make):
    """Return the slot of the combination in the scratch row; -1 if there is none, and none is to be made or free."""
    scratch = len(s.released) - 1
    place = seat(s.released, scratch, range(s.released.shape[1]), s.seats)
    slot = s.seats[place, 0]
    if slot >= 0 or not make or s.used[0] == scratch:
        return slot
    slot = s.used[0]
    s.used[0] += 1
    s.seats[place] = slot
    for c in range(s.released.shape[1]):
        s.released[slot, c] = s.released[scratch, c]
    return slot


@njit(cache=True, _nrt=False)
def _may_be(s):
    """Tell whether the combination in the scratch row is held by the population, if there is one."""
    if len(s.held) == 0:
        return True
    for c in range(s.held.shape[1]):
        s.held[-1, c] = s.released[-1, c]
    return s.held_seats[seat(s.held, len(s.held) - 1, range(s.held.shape[1]), s.held_seats), 0] >= 0


@njit(cache=True, _nrt=False)
def seat_all(s, slots):
    """Enter the combinations of the first slots, all different, into the seats."""
    for g in range(slots):
        for c in range(s.released.shape[1]):
            s.released[-1, c] = s.released[g, c]
        slot_of(s, True)


@njit(cache=True, _nrt=False)
def _cost(s, i, g):
    """Return what a record loses in a class."""
    total = 0.0
    for c in range(len(s.cost)):
        if s.released[g, c] < 0 and s.codes[i, c] >= 0:
            total += s.cost[c]
    return total


@njit(cache=True, _nrt=False)
def _shift(state, columns, s, i, h):
    """Move a record to class h."""
    g = state.label[i]
    take(state, columns, i)
    put(state, columns, i, h)
    settle(state, columns, s.k, g)
    settle(state, columns, s.k, h)


@njit(cache=True, _nrt=False)
def _best_home(state, columns, s, i, shown, limit):
    """Return the class other than its own that takes a record and where it loses least, below `limit`; -1: none."""
    own, best, vector = state.label[i], -1, s.released[-1]
    for m in range(len(shown)):
        cost = 0.0
        for c in range(len(s.cost)):
            if not shown[m, c] and s.codes[i, c] >= 0:
                cost += s.cost[c]
        if cost >= limit - 1e-9:
            continue
        for c in range(len(vector)):
            vector[c] = s.codes[i, c] if c >= len(s.cost) or shown[m, c] else -1
        h = slot_of(s, False)
        if h >= 0 and h != own and state.size[h] > 0 and _with(state, columns, s, h, -1, i) == 0:
            best, limit = h, cost
    return best


@njit(cache=True, _nrt=False)
def move(state, columns, s, shown, at, most):
    """Move records to classes where they lose less, if both keep all; return where it stopped, and moves made."""
    n, made, done = len(s.codes), 0, 0
    while at < n and done < most:
        i = at
        at += 1
        g = state.label[i]
        done += 1
        own = _cost(s, i, g)
        if own == 0.0 or (state.size[g] > 1 and _with(state, columns, s, g, i, -1) > 0):
            continue
        done += len(shown)
        h = _best_home(state, columns, s, i, shown, own)
        if h >= 0:
            _shift(state, columns, s, i, h)
            made += 1
    return at, made


@njit(cache=True, _nrt=False)
def _return_some(state, columns, s, g, members, moved):
    """Send back what class g needs of the members that left it; return how many are still away."""
    away = 0
    for z in range(len(members)):
        away += moved[z]
    while away and state.size[g] > 0 and _misses(state, s, g) > 0:
        best, gain, tried = -1, 0.0, 0
        now = _misses(state, s, g)
        for z in range(len(members)):
            if moved[z]:
                won = now - _with(state, columns, s, g, -1, members[z])
                tried += 1
                if won > gain:
                    best, gain = z, won
                if tried == _TRIED:
                    break
        if best < 0:
            return 0
        _shift(state, columns, s, members[best], g)
        moved[best] = False
        away -= 1
    return away


@njit(cache=True)
def show(state, columns, s, groups, at, most):
    """Show one more column in a part of a class that is a class then; return where it stopped, and values won."""
    made, done, vector = 0, 0, s.released[-1]
    while at < len(groups) and done < most:
        g = groups[at]
        at += 1
        for c in range(len(s.cost)):
            if s.released[g, c] >= 0 or state.size[g] == 0:
                continue
            a, size = state.start[g], state.size[g]
            members = state.member[a : a + size].copy()
            values = s.codes[members, c]
            order = np.argsort(values)
            first = 0
            while first < size:
                stop = first
                while stop < size and values[order[stop]] == values[order[first]]:
                    stop += 1
                some, q = members[order[first:stop]], values[order[first]]
                first = stop
                if q < 0:
                    continue
                vector[:] = s.released[g]
                vector[c] = q
                h = slot_of(s, False)
                if len(some) + (state.size[h] if h >= 0 else 0) < s.k or not _may_be(s):
                    continue
                h = slot_of(s, True)
                if h < 0:
                    return at - 1, made
                done += 8 * len(some)
                made += _part(state, columns, s, g, h, some)
    return at, made


@njit(cache=True)
def _part(state, columns, s, g, h, some):
    """Give some members of class g to class h, but for those that g needs; return how many, 0 if it cannot be."""
    for i in some:
        take(state, columns, i)
        put(state, columns, i, h)
    settle(state, columns, s.k, g)
    settle(state, columns, s.k, h)
    moved = np.ones(len(some), dtype=np.bool_)
    away = _return_some(state, columns, s, g, some, moved)
    if away and _misses(state, s, h) == 0 and (state.size[g] == 0 or _misses(state, s, g) == 0):
        return away
    for i in some:
        if state.label[i] == h:
            take(state, columns, i)
            put(state, columns, i, g)
    settle(state, columns, s.k, g)
    settle(state, columns, s.k, h)
    return 0


@njit(cache=True)
def dissolve(state, columns, s, shown, groups, at, most):
    """Give all records of a class to others, if they lose less there together; return where it stopped, and classes."""
    made, done = 0, 0
    while at < len(groups) and done < most:
        g = groups[at]
        at += 1
        a, size = state.start[g], state.size[g]
        members = state.member[a : a + size].copy()
        left = 0.0
        for i in members:
            left += _cost(s, i, g)
        moved = 0
        for i in members:
            done += len(shown)
            h = _best_home(state, columns, s, i, shown, left)
            if h < 0:
                break
            left -= _cost(s, i, h)
            _shift(state, columns, s, i, h)
            moved += 1
        if moved == size and left > 1e-9:
            made += 1
            continue
        for z in range(moved):
            _shift(state, columns, s, members[z], g)
    return at, made


@njit(cache=True)
def clusters(released, size, surplus, shown, chosen, cost, rare, others):
    """Group the classes `rare` that show a chosen column by the columns `shown`.

    Returns the cluster of every class of `rare` (-1: none), of every other class that shows nothing of the chosen, of
    every one that shows all of them and has records to spare, and per cluster the records, what they lose, and the
    records that may be borrowed.
    """
    seats, found = seats_for(len(rare)), 0
    label, there = np.full(len(rare), -1, dtype=np.int64), np.full(len(others), -1, dtype=np.int64)
    lender = np.full(len(others), -1, dtype=np.int64)
    sums = np.zeros((len(rare), 3))
    for m in range(len(rare)):
        g, lost = rare[m], 0.0
        for c in chosen:
            lost += cost[c] if released[g, c] >= 0 else 0.0
        place = seat(released, g, shown, seats)
        if seats[place, 0] < 0:
            seats[place, 0], seats[place, 1] = g, found
            found += 1
        label[m] = seats[place, 1]
        sums[label[m], 0] += size[g]
        sums[label[m], 1] += lost * size[g]
    for o in range(len(others)):
        g, shows = others[o], 0
        for c in chosen:
            shows += released[g, c] >= 0
        if shows == 0 or (shows == len(chosen) and surplus[g] > 0):
            place = seat(released, g, shown, seats)
            if seats[place, 0] >= 0 and shows == 0:
                there[o] = seats[place, 1]
            elif seats[place, 0] >= 0:
                lender[o] = seats[place, 1]
                sums[lender[o], 2] += surplus[g]
    return label, there, lender, sums[:found].T


@njit(cache=True)
def unite(state, columns, s, label, members, member_starts, pool, pool_starts, targets, made, at, most):
    """Make classes of some records each, with what they need of a pool of others.

    Class x is to have the records members[member_starts[x]:member_starts[x + 1]], and the slot targets[x]. The pool is
    the same way; a class of which records are borrowed keeps all. `made` is 1 for each that came about, 0 where a
    record was in another class than `label` says by then, 2 for the others. Returns where it stopped.
    """
    done, x = 0, at - 1
    while x + 1 < len(targets) and done < most:
        x += 1
        h = targets[x]
        own = members[member_starts[x] : member_starts[x + 1]]
        former = state.label[own]
        if (former != label[own]).any():
            continue
        offered = pool[pool_starts[x] : pool_starts[x + 1]]
        for z in range(len(own)):
            if former[z] != h:
                take(state, columns, own[z])
                put(state, columns, own[z], h)
        settle(state, columns, s.k, h)
        lent, homes = _borrow(state, columns, s, h, offered)
        done += len(own) + _TRIED * len(lent) + 1
        if _misses(state, s, h) == 0:
            made[x] = 1
            for g in former:
                settle(state, columns, s.k, g)
            continue
        made[x] = 2
        for z in range(len(lent)):
            _shift(state, columns, s, lent[z], homes[z])
        for z in range(len(own)):
            if former[z] != h:
                take(state, columns, own[z])
                put(state, columns, own[z], former[z])
        settle(state, columns, s.k, h)
    return x + 1


@njit(cache=True)
def _borrow(state, columns, s, h, offered):
    """Put records into class h, as long as it misses something and one of them helps; return which, and of whom."""
    lent = np.empty(len(offered), dtype=np.int64)
    homes = np.empty(len(offered), dtype=np.int64)
    tried = np.empty((_TRIED, 1 + len(columns.ordered)), dtype=np.int64)
    count, begin = 0, 0
    while count < len(offered):
        now = _misses(state, s, h)
        if now == 0:
            break
        best, most, tries = -1, 0.0, 0
        for z in range(len(offered)):
            i = offered[(begin + z) % len(offered)]
            g = state.label[i]
            if g == h or _alike(columns, tried, tries, i, g, s.risk < np.inf):
                continue
            if tries == _TRIED:
                break
            tried[tries, 0] = g
            for c in range(len(columns.ordered)):
                tried[tries, 1 + c] = columns.code[c, i]
            tries += 1
            lost = _cost(s, i, h) - _cost(s, i, g)
            won = (now - _with(state, columns, s, h, -1, i)) / max(lost, 1e-9)
            if won > most and _with(state, columns, s, g, i, -1) == 0 and state.size[g] > 1:
                best, most = i, won
        if best < 0:
            break
        lent[count], homes[count] = best, state.label[best]
        _shift(state, columns, s, best, h)
        count += 1
        begin += 7
    return lent[:count], homes[:count]


@njit(cache=True, _nrt=False)
def _alike(columns, tried, tries, i, g, weighted):
    """Tell whether a record of the same class with the same values was tried."""
    if weighted:
        return False
    for t in range(tries):
        equal = tried[t, 0] == g
        for c in range(len(columns.ordered)):
            equal = equal and tried[t, 1 + c] == columns.code[c, i]
        if equal:
            return True
    return False
