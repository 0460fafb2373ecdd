"""The loop that deals records anew to groups whose combinations and sizes stay, compiled by numba.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import internal, njit

LOSS, SUM, MOMENT, BAND, VALUE, MEAN = range(6)
"""Prices: of the squared loss, of deviations of sums, of squares and products, of counts by band; of a nominal value
that is not the record's own; and of a standard error above `FREE` of the mean of a subgroup."""
FREE = 0.8
_CURVE = 0.1
_LEAVING = 6
"""Members of a group that are looked at for the one whose leaving helps most."""
_REACH = 0.2
"""Standard deviations by which a number that a group shows is moved at most at once."""


class Deal(NamedTuple):
    """What stays as it is; n records, G groups, P numbers, R amounts, q nominal columns, T tables, C cells of these."""

    x: np.ndarray  # (n, P) int64: the numbers, in whole units from about their mean, so that sums are exact
    codes: np.ndarray  # (n, q) int32
    near: np.ndarray  # (n, K) int32: records near in the numbers
    size: np.ndarray  # (G,) int64
    combination: np.ndarray  # (G, q) int32: the nominal values that a group shows
    cell: np.ndarray  # (G, T) int32
    kind: np.ndarray  # (G,) int64: groups of one kind have the same size
    of_kind: np.ndarray  # (G,) int64: the groups by their kind, and
    first: np.ndarray  # (kinds + 1,) int64: where each begins
    shift: np.ndarray  # (P,) what units are standardised by, and
    scale: np.ndarray  # (P,)
    rounded: np.ndarray  # (P,) bool: whether whole units are released
    left: np.ndarray  # (R - P,) int64: the products of which columns are kept, and
    right: np.ndarray  # (R - P,) int64
    amounts: np.ndarray  # (T,) int64: of a table all R amounts are kept, the P sums, or none
    weight: np.ndarray  # (T,)
    moment: np.ndarray  # (T,): what squares and products of a table weigh
    cuts: np.ndarray  # (P, bands - 1): where the bands of a number end, infinite where there are fewer
    per_error: np.ndarray  # (C, P): standard errors of the mean of a subgroup, per unit of its sum; 0 of small ones
    prices: np.ndarray  # (6,)


class Seats(NamedTuple):
    """Who is in which group, and by how much the tables of what the groups show are off."""

    label: np.ndarray  # (n,) int64
    member: np.ndarray  # (G, largest size) int32
    sums: np.ndarray  # (G, P) int64
    shown: np.ndarray  # (G, P) the number that a group shows, in units
    off: np.ndarray  # (C, R)
    off_bands: np.ndarray  # (C, P, bands) int32
    off_means: np.ndarray  # (C, P): what the sums of a subgroup are off its mean, times its records


class Trial(NamedTuple):
    """A proposal: what two groups would be, side by side."""

    sums: np.ndarray  # (2, P) int64
    shown: np.ndarray  # (2, P)
    up: np.ndarray  # (2, R): by how much the amounts grow
    band: np.ndarray  # (2, 2, P) int64: group, before and after


@njit(cache=True, inline="always")
def _penalty(off):
    return abs(off) + _CURVE * off * off


@njit(cache=True, inline="always")
def _above(errors):
    return max(0.0, abs(errors) - FREE)


@internal(fastmath=True, _nrt=False)
def _leaving(deal, seats, a, b, i, rng):
    """Return the member of group b whose place record i of group a would best take."""
    size, best, found = deal.size[b], np.inf, -1
    begin = int(rng.random() * size)
    for step in range(min(size, _LEAVING)):
        o = seats.member[b, (begin + step) % size]
        cost = 0.0
        for j in range(deal.x.shape[1]):
            by = float(deal.x[o, j] - deal.x[i, j])
            in_a, in_b, scale = float(seats.sums[a, j]), float(seats.sums[b, j]), deal.scale[j]
            gain = (2.0 * in_a + by) * by / deal.size[a] - (2.0 * in_b - by) * by / size
            cost -= deal.prices[LOSS] * scale * scale * gain
        for j in range(deal.codes.shape[1]):
            code = deal.codes[o, j]
            cost += deal.prices[VALUE] * (int(code != deal.combination[a, j]) - int(code != deal.combination[b, j]))
        if cost < best:
            best, found = cost, o
    return found


@internal(fastmath=True, _nrt=False)
def _band(deal, j, value):
    band = 0
    while band < deal.cuts.shape[1] and value >= deal.cuts[j, band]:
        band += 1
    return band


@internal(fastmath=True, _nrt=False)
def _numbers(deal, seats, trial, a, b, i, o):
    """Write what groups a and b would show; return by how much the loss costs more. i < 0: they exchange all."""
    cost = 0.0
    for j in range(deal.x.shape[1]):
        by = seats.sums[b, j] - seats.sums[a, j] if i < 0 else deal.x[o, j] - deal.x[i, j]
        part = 0.0
        for side in range(2):
            g = b if side else a
            size, before, total = float(deal.size[g]), seats.shown[g, j], seats.sums[g, j]
            after = total - by if side else total + by
            shown = float(after) / size
            if deal.rounded[j]:
                shown = np.rint(shown)
            trial.sums[side, j], trial.shown[side, j] = after, shown
            part += size * (shown * shown - before * before) - 2.0 * (shown * float(after) - before * float(total))
        cost += part * deal.scale[j] * deal.scale[j]
    return deal.prices[LOSS] * cost


@internal(fastmath=True, _nrt=False)
def _values(deal, seats, a, b, i, o):
    """Return how many more nominal values would differ from the own ones of the records."""
    more = 0
    for j in range(deal.codes.shape[1]):
        in_a, in_b = deal.combination[a, j], deal.combination[b, j]
        if in_a == in_b:
            continue
        if i >= 0:
            one, other = deal.codes[i, j], deal.codes[o, j]
            more += int(other != in_a) + int(one != in_b) - int(one != in_a) - int(other != in_b)
            continue
        for z in range(deal.size[a]):
            one, other = deal.codes[seats.member[a, z], j], deal.codes[seats.member[b, z], j]
            more += int(other != in_a) + int(one != in_b) - int(one != in_a) - int(other != in_b)
    return more


@internal(fastmath=True, _nrt=False)
def _amounts(deal, seats, trial, g, side):
    """Write by how much the amounts of a group grow, and its bands; tell whether a band is another one."""
    P, moved = deal.x.shape[1], False
    size, up = float(deal.size[g]), trial.up[side]
    for j in range(P):
        up[j] = size * deal.scale[j] * (trial.shown[side, j] - seats.shown[g, j])
        before, after = _band(deal, j, seats.shown[g, j]), _band(deal, j, trial.shown[side, j])
        trial.band[side, 0, j], trial.band[side, 1, j] = before, after
        moved |= before != after
    for r in range(len(deal.left)):
        j, other = deal.left[r], deal.right[r]
        scale, one, two = deal.scale[j] * deal.scale[other], deal.shift[j], deal.shift[other]
        after = (trial.shown[side, j] - one) * (trial.shown[side, other] - two)
        before = (seats.shown[g, j] - one) * (seats.shown[g, other] - two)
        up[P + r] = size * scale * (after - before)
    return moved


@internal(fastmath=True, _nrt=False)
def _cost_in_cell(deal, seats, t, c, up, more):
    """Return by how much a cell of table t costs more where its amounts grow by `up` and `more`."""
    cost, P = 0.0, deal.x.shape[1]
    for r in range(deal.amounts[t]):
        off, by = seats.off[c, r], up[r] + more[r]
        price = deal.weight[t] * deal.prices[SUM] if r < P else deal.moment[t] * deal.prices[MOMENT]
        cost += price * (_penalty(off + by) - _penalty(off))
    for j in range(P):
        per = deal.per_error[c, j]
        if per > 0:
            off = seats.off_means[c, j]
            cost += deal.prices[MEAN] * (_above((off + up[j] + more[j]) * per) - _above(off * per))
    return cost


@internal(fastmath=True, _nrt=False)
def _cost_of_bands(deal, seats, trial, g, side, c):
    """Return by how much the counts by band of a cell cost more."""
    cost, size = 0.0, deal.size[g]
    for j in range(deal.x.shape[1]):
        before, after = trial.band[side, 0, j], trial.band[side, 1, j]
        if before != after:
            one, other = float(seats.off_bands[c, j, before]), float(seats.off_bands[c, j, after])
            cost += _penalty(one - size) - _penalty(one) + _penalty(other + size) - _penalty(other)
    return cost


@internal(fastmath=True, _nrt=False)
def _tables(deal, seats, trial, nothing, a, b, whole, moved):
    """Return by how much the tables cost more."""
    cost = 0.0
    for t in range(deal.cell.shape[1]):
        in_a, in_b = deal.cell[a, t], deal.cell[b, t]
        if in_a == in_b:
            if whole:
                continue
            cost += _cost_in_cell(deal, seats, t, in_a, trial.up[0], trial.up[1])
        else:
            cost += _cost_in_cell(deal, seats, t, in_a, trial.up[0], nothing)
            cost += _cost_in_cell(deal, seats, t, in_b, trial.up[1], nothing)
        if moved:
            price = deal.weight[t] * deal.prices[BAND]
            cost += price * _cost_of_bands(deal, seats, trial, a, 0, in_a)
            cost += price * _cost_of_bands(deal, seats, trial, b, 1, in_b)
    return cost


@internal(fastmath=True, _nrt=False)
def _count(deal, seats, trial, g, side, moved):
    """Count the amounts and bands of a group as they become."""
    P, up = deal.x.shape[1], trial.up[side]
    for t in range(deal.cell.shape[1]):
        c = deal.cell[g, t]
        for r in range(deal.amounts[t]):
            seats.off[c, r] += up[r]
        for j in range(P):
            seats.off_means[c, j] += up[j]
        if moved:
            for j in range(P):
                seats.off_bands[c, j, trial.band[side, 0, j]] -= deal.size[g]
                seats.off_bands[c, j, trial.band[side, 1, j]] += deal.size[g]


@internal(fastmath=True, _nrt=False)
def _seat(deal, seats, trial, a, b, i, o):
    """Let the records of two groups change places."""
    if i < 0:
        for z in range(deal.size[a]):
            one, other = seats.member[a, z], seats.member[b, z]
            seats.member[a, z], seats.member[b, z] = other, one
            seats.label[one], seats.label[other] = b, a
    else:
        for side in range(2):
            g, gone, come = (b, o, i) if side else (a, i, o)
            z = 0
            while seats.member[g, z] != gone:
                z += 1
            seats.member[g, z], seats.label[come] = come, g
    for side in range(2):
        g = b if side else a
        for j in range(deal.x.shape[1]):
            seats.sums[g, j], seats.shown[g, j] = trial.sums[side, j], trial.shown[side, j]


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def exchange(deal, seats, trial, nothing, whole_share, tries, hot, cold, rng):
    """Propose exchanges while the temperature falls geometrically; return how many were made.

    Two groups of one size exchange all their members, or a record changes places with a member of the group of one of
    the records near to it. `nothing` are R zeros.
    """
    made, temperature = 0, hot
    n, near = deal.x.shape[0], deal.near.shape[1]
    for number in range(tries):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / tries)
        whole, i, o = rng.random() < whole_share, -1, -1
        if whole:
            a = int(rng.random() * len(deal.size))
            kind = deal.kind[a]
            begin = deal.first[kind]
            if rng.random() < 0.5:
                b = deal.of_kind[begin + int(rng.random() * (deal.first[kind + 1] - begin))]
            else:
                some = seats.member[a, int(rng.random() * deal.size[a])]
                b = seats.label[deal.near[some, int(rng.random() * near)]]
            if a == b or deal.kind[b] != kind:
                continue
        else:
            i = int(rng.random() * n)
            a, b = seats.label[i], seats.label[deal.near[i, int(rng.random() * near)]]
            if a == b:
                continue
            o = _leaving(deal, seats, a, b, i, rng)
        allowance = -temperature * np.log(1.0 - rng.random())
        cost = _numbers(deal, seats, trial, a, b, i, o) + deal.prices[VALUE] * _values(deal, seats, a, b, i, o)
        if cost > allowance + 60.0 * temperature + 20.0:  # no table makes up for so much
            continue
        moved = _amounts(deal, seats, trial, a, 0)
        moved |= _amounts(deal, seats, trial, b, 1)
        if cost + _tables(deal, seats, trial, nothing, a, b, whole, moved) > allowance:
            continue
        _count(deal, seats, trial, a, 0, moved)
        _count(deal, seats, trial, b, 1, moved)
        _seat(deal, seats, trial, a, b, i, o)
        made += 1
    return made


@internal(fastmath=True, _nrt=False)
def _cost_of_shift(deal, seats, trial, g, j, product):
    """Write by how much the amounts of a group grow that column j has part in; return by how much they cost more."""
    P, size, up, cost = deal.x.shape[1], float(deal.size[g]), trial.up[0], 0.0
    before, after = seats.shown[g, j] - deal.shift[j], trial.shown[0, j] - deal.shift[j]
    up[j] = size * deal.scale[j] * (trial.shown[0, j] - seats.shown[g, j])
    for other in range(P):
        if product[j, other] >= 0:
            scale, beside = deal.scale[j] * deal.scale[other], seats.shown[g, other] - deal.shift[other]
            grows = after * after - before * before if other == j else after * beside - before * beside
            up[product[j, other]] = size * scale * grows
    trial.band[0, 0, j], trial.band[0, 1, j] = _band(deal, j, seats.shown[g, j]), _band(deal, j, trial.shown[0, j])
    one, two = trial.band[0, 0, j], trial.band[0, 1, j]
    for t in range(deal.cell.shape[1]):
        c, in_cell = deal.cell[g, t], 0.0
        if deal.amounts[t]:
            off = seats.off[c, j]
            in_cell += deal.weight[t] * deal.prices[SUM] * (_penalty(off + up[j]) - _penalty(off))
        if deal.amounts[t] > P:
            for other in range(P):
                r = product[j, other]
                if r >= 0:
                    off = seats.off[c, r]
                    in_cell += deal.moment[t] * deal.prices[MOMENT] * (_penalty(off + up[r]) - _penalty(off))
        per = deal.per_error[c, j]
        if per > 0:
            off = seats.off_means[c, j]
            in_cell += deal.prices[MEAN] * (_above((off + up[j]) * per) - _above(off * per))
        if one != two:
            gone, come = float(seats.off_bands[c, j, one]), float(seats.off_bands[c, j, two])
            by_band = _penalty(gone - size) - _penalty(gone) + _penalty(come + size) - _penalty(come)
            in_cell += deal.weight[t] * deal.prices[BAND] * by_band
        cost += in_cell
    return cost


@internal(fastmath=True, _nrt=False)
def _count_shift(deal, seats, trial, g, j, product):
    """Count the amounts that column j of a group has part in, and its bands, as they become."""
    P, up = deal.x.shape[1], trial.up[0]
    for t in range(deal.cell.shape[1]):
        c = deal.cell[g, t]
        if deal.amounts[t]:
            seats.off[c, j] += up[j]
        if deal.amounts[t] > P:
            for other in range(P):
                if product[j, other] >= 0:
                    seats.off[c, product[j, other]] += up[product[j, other]]
        seats.off_means[c, j] += up[j]
        if trial.band[0, 0, j] != trial.band[0, 1, j]:
            seats.off_bands[c, j, trial.band[0, 0, j]] -= deal.size[g]
            seats.off_bands[c, j, trial.band[0, 1, j]] += deal.size[g]


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def shift(deal, seats, trial, product, low, high, tries, hot, cold, rng):
    """Propose other numbers for a group to show, between `low` and `high` (G, columns); return how many were taken.

    What is lost is the squared distance from the mean of its records. `product` (P, P) is which amount two columns are
    multiplied for, -1 for none.
    """
    made, temperature = 0, hot
    columns = low.shape[1]
    for number in range(tries):
        if number % 256 == 0:
            temperature = hot * (cold / hot) ** (number / tries)
        g, j = int(rng.random() * len(deal.size)), int(rng.random() * columns)
        if deal.scale[j] == 0.0:
            continue
        step = _REACH * rng.random() ** 3 / deal.scale[j]
        if deal.rounded[j]:
            step = max(1.0, np.rint(step))
        before = seats.shown[g, j]
        after = min(high[g, j], max(low[g, j], before + (step if rng.random() < 0.5 else -step)))
        if after == before:
            continue
        trial.shown[0, j] = after
        mean = float(seats.sums[g, j]) / deal.size[g]
        more = (after - mean) ** 2 - (before - mean) ** 2
        cost = deal.prices[LOSS] * deal.size[g] * deal.scale[j] ** 2 * more
        allowance = -temperature * np.log(1.0 - rng.random())
        if cost + _cost_of_shift(deal, seats, trial, g, j, product) > allowance:
            continue
        _count_shift(deal, seats, trial, g, j, product)
        seats.shown[g, j] = after
        made += 1
    return made
