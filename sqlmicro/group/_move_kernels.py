"""Groups that change record by record, compiled by numba: what a move costs, and making it.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import internal, njit

REASSOCIATED = {"reassoc", "contract", "nsz"}

_HOMES = 12  # nearest records whose groups may take in the members of a dissolved one


class Groups(NamedTuple):
    """A grouping that can be changed record by record, in S slots for groups; every slot belongs to a unit.

    Units are changed at the same time: each changes the groups of its own slots, and looks at no others.
    """

    label: np.ndarray  # (n,) int32: slot of every record
    place: np.ndarray  # (n,) int32: where it is among the members of its group
    members: np.ndarray  # (S, most) int32
    size: np.ndarray  # (S,) int32
    mean: np.ndarray  # (S, p)
    owner: np.ndarray  # (S,) int16: the unit
    empty: np.ndarray  # (S,) int32: slots without a group, those of a unit side by side
    first: np.ndarray  # (units,) int64: where the slots of a unit begin there
    spare: np.ndarray  # (units,) int64: and how many they are


def fill(X: np.ndarray, label: np.ndarray, slots: int, most: int, units: int = 1) -> Groups:
    """Return the groups of the given labels, with room for `slots` groups of at most `most` records; all of unit 0."""
    n, p = X.shape
    size = np.bincount(label, minlength=slots).astype(np.int32)
    order = np.argsort(label, kind="stable")
    begin = np.cumsum(size) - size
    place = np.empty(n, np.int32)
    place[order] = np.arange(n) - begin[label[order]]
    members = np.zeros((slots, most), np.int32)
    members[:, 0] = np.arange(slots) * n // slots  # an empty slot is somewhere, too
    members[label, place] = np.arange(n)
    groups = Groups(
        label.astype(np.int32), place, members, size, np.zeros((slots, p)), np.zeros(slots, np.int16),
        np.empty(slots, np.int32), np.zeros(units, np.int64), np.zeros(units, np.int64),
    )  # fmt: skip
    share(groups, np.zeros(n, np.int16))
    recentre(X, groups, 0, slots)
    return groups


def share(groups: Groups, unit: np.ndarray) -> None:
    """Give every slot to the unit of its first member; `unit` (n,) has that of every record."""
    units = len(groups.first)
    groups.owner[:] = unit[groups.members[:, 0]]
    order = np.argsort(groups.owner, kind="stable")
    count = np.bincount(groups.owner, minlength=units)
    groups.first[:] = np.cumsum(count) - count
    free = order[groups.size[order] == 0]
    groups.spare[:] = np.bincount(groups.owner[free], minlength=units)
    begin = np.repeat(groups.first - (np.cumsum(groups.spare) - groups.spare), groups.spare)
    groups.empty[begin + np.arange(len(free))] = free


@njit(cache=True, nogil=True, _nrt=False)
def recentre(X, groups, start, stop):
    """Compute the means of some groups anew, so that rounding does not add up; return their SSE."""
    p = X.shape[1]
    loss = 0.0
    for g in range(start, stop):
        size = groups.size[g]
        if size == 0:
            continue
        for j in range(p):
            first = X[groups.members[g, 0], j]
            total = 0.0
            for m in range(1, size):
                total += X[groups.members[g, m], j] - first
            mean = first + total / size
            groups.mean[g, j] = mean
            for m in range(size):
                loss += (X[groups.members[g, m], j] - mean) ** 2
    return loss


@internal(fastmath=REASSOCIATED, _nrt=False)
def squared_distance(x, y):
    total = 0.0
    for j in range(len(x)):
        difference = x[j] - y[j]
        total += difference * difference
    return total


@internal(_nrt=False)
def join_cost(X, groups, i, g):
    size = groups.size[g]
    return squared_distance(X[i], groups.mean[g]) * size / (size + 1.0)


@internal(_nrt=False)
def leave_cost(X, groups, i, g):
    size = groups.size[g]
    return -squared_distance(X[i], groups.mean[g]) * size / (size - 1.0) if size > 1 else 0.0


@internal(fastmath=REASSOCIATED, _nrt=False)
def exchange_cost(x, z, mean_x, mean_z, weight):
    """What it costs that x and z take each other's place; weight = 1/size + 1/size."""
    along = 0.0
    across = 0.0
    for j in range(len(x)):
        difference = z[j] - x[j]
        along += difference * (mean_z[j] - mean_x[j])
        across += difference * difference
    return 2.0 * along - across * weight


@internal(fastmath=REASSOCIATED, _nrt=False)
def _replace_cost(new, old, mean, size):
    """What it costs a group that `new` takes the place of `old`."""
    along = 0.0
    across = 0.0
    for j in range(len(new)):
        difference = new[j] - old[j]
        along += difference * (new[j] + old[j] - 2.0 * mean[j])
        across += difference * difference
    return along - across / size


@internal(_nrt=False)
def _join(X, groups, i, g):
    size = groups.size[g] + 1
    groups.members[g, size - 1] = i
    groups.place[i] = size - 1
    groups.size[g] = size
    groups.label[i] = g
    x, mean = X[i], groups.mean[g]
    for j in range(len(x)):
        mean[j] += (x[j] - mean[j]) / size


@internal(_nrt=False)
def _leave(X, groups, i):
    g = np.int64(groups.label[i])
    size = groups.size[g] - 1
    last = groups.members[g, size]
    groups.members[g, groups.place[i]] = last
    groups.place[last] = groups.place[i]
    groups.size[g] = size
    x, mean = X[i], groups.mean[g]
    for j in range(len(x)):
        mean[j] = mean[j] - (x[j] - mean[j]) / size if size else 0.0


@internal(_nrt=False)
def _replace(X, groups, new, g, old, place):
    groups.members[g, place] = new
    groups.place[new] = place
    groups.label[new] = g
    x, z, mean = X[new], X[old], groups.mean[g]
    weight = 1.0 / groups.size[g]
    for j in range(len(x)):
        mean[j] += (x[j] - z[j]) * weight


@internal(_nrt=False)
def relocate(X, groups, x, b):
    """Move x to group b."""
    _leave(X, groups, x)
    _join(X, groups, x, b)


@internal(_nrt=False)
def dissolve(X, groups, unit, g, near, bound):
    """Give every member of a group to the best group near to it, unless it costs more than `bound`; return the cost."""
    most, members = groups.members.shape[1], groups.size[g]
    cost = 0.0
    for m in range(members):
        cost -= squared_distance(X[groups.members[g, m]], groups.mean[g])
    done = 0
    while done < members and cost <= bound:
        # The last member goes, so that those that are gone stay in their places behind it.
        i = np.int64(groups.members[g, members - done - 1])
        best = np.inf
        to = np.int64(-1)
        for t in range(min(_HOMES, near.shape[1])):
            h = np.int64(groups.label[near[i, t]])
            if h != g and h != to and groups.owner[h] == unit and groups.size[h] < most:
                found = join_cost(X, groups, i, h)
                if found < best:
                    best = found
                    to = h
        if to < 0:
            break
        cost += best
        relocate(X, groups, i, to)
        done += 1
    if done == members and cost <= bound:
        groups.empty[groups.first[unit] + groups.spare[unit]] = g
        groups.spare[unit] += 1
        return cost
    while done > 0:
        relocate(X, groups, np.int64(groups.members[g, members - done]), g)
        done -= 1
    return 0.0


@internal()
def create(X, groups, unit, k, x, near, bound):
    """Form a group of x and near records whose groups can spare them, unless that costs more than `bound`.

    Returns
    -------
    float
        What it cost.
    """
    if groups.spare[unit] == 0:
        return 0.0
    count = 0
    for t in range(-1, near.shape[1]):
        h = groups.label[x if t < 0 else near[x, t]]
        count += groups.owner[h] == unit and groups.size[h] > k
    if count < k:
        return 0.0
    g = np.int64(groups.empty[groups.first[unit] + groups.spare[unit] - 1])
    origin = np.empty(k, np.int64)
    cost = 0.0
    done = 0
    for t in range(-1, near.shape[1]):
        i = np.int64(x if t < 0 else near[x, t])
        h = np.int64(groups.label[i])
        # Records taken before may have left the group without any to spare.
        if groups.owner[h] != unit or groups.size[h] <= k:
            continue
        cost += leave_cost(X, groups, i, h) + join_cost(X, groups, i, g)
        relocate(X, groups, i, g)
        origin[done] = h
        done += 1
        if done == k:
            break
    if done == k and cost <= bound:
        groups.spare[unit] -= 1
        return cost
    while done > 0:
        done -= 1
        relocate(X, groups, np.int64(groups.members[g, done]), origin[done])
    return 0.0


@internal(_nrt=False)
def exchange(X, groups, x, z):
    """Let x and z take each other's place."""
    a, b = np.int64(groups.label[x]), np.int64(groups.label[z])
    place_x, place_z = groups.place[x], groups.place[z]
    _replace(X, groups, z, a, x, place_x)
    _replace(X, groups, x, b, z, place_z)


@internal(_nrt=False)
def chain_cost(X, groups, x, z, c):
    """What it costs that x takes the place of z, and z goes to group c."""
    a, b = np.int64(groups.label[x]), np.int64(groups.label[z])
    cost = _replace_cost(X[x], X[z], groups.mean[b], groups.size[b])
    return cost + leave_cost(X, groups, x, a) + join_cost(X, groups, z, c)


@internal(_nrt=False)
def chain(X, groups, x, z, c):
    """Let x take the place of z, and z go to group c."""
    b, place = np.int64(groups.label[z]), groups.place[z]
    _leave(X, groups, x)
    _replace(X, groups, x, b, z, place)
    _join(X, groups, z, c)


@internal(_nrt=False)
def cycle_cost(X, groups, x, z, v):
    """What it costs that x takes the place of z, z that of v, and v that of x."""
    a, b, c = groups.label[x], groups.label[z], groups.label[v]
    cost = _replace_cost(X[x], X[z], groups.mean[b], groups.size[b])
    cost += _replace_cost(X[z], X[v], groups.mean[c], groups.size[c])
    return cost + _replace_cost(X[v], X[x], groups.mean[a], groups.size[a])


@internal(_nrt=False)
def cycle(X, groups, x, z, v):
    """Let x take the place of z, z that of v, and v that of x."""
    a, b, c = np.int64(groups.label[x]), np.int64(groups.label[z]), np.int64(groups.label[v])
    place_x, place_z, place_v = groups.place[x], groups.place[z], groups.place[v]
    _replace(X, groups, x, b, z, place_z)
    _replace(X, groups, z, c, v, place_v)
    _replace(X, groups, v, a, x, place_x)
