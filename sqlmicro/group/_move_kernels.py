"""Groups that change record by record, compiled by numba: what a move costs, and making it.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit

REASSOCIATED = {"reassoc", "contract", "nsz"}

_HOMES = 12  # nearest records whose groups may take in the members of a dissolved one


class Groups(NamedTuple):
    """A grouping that can be changed record by record; S slots, of which the last `spare[0]` of `empty` are free."""

    label: np.ndarray  # (n,) int32: slot of every record
    place: np.ndarray  # (n,) int32: where it is among the members of its group
    members: np.ndarray  # (S, most) int32
    size: np.ndarray  # (S,) int32
    mean: np.ndarray  # (S, p)
    empty: np.ndarray  # (S,) int32
    spare: np.ndarray  # (1,) int64


@njit(cache=True)
def fill(X, label, slots, most):
    """Return the groups of the given labels, with room for `slots` groups of at most `most` records."""
    n, p = X.shape
    groups = Groups(
        label.astype(np.int32),
        np.empty(n, np.int32),
        np.empty((slots, most), np.int32),
        np.zeros(slots, np.int32),
        np.zeros((slots, p)),
        np.empty(slots, np.int32),
        np.zeros(1, np.int64),
    )
    for i in range(n):
        g = groups.label[i]
        groups.members[g, groups.size[g]] = i
        groups.place[i] = groups.size[g]
        groups.size[g] += 1
    for g in range(slots):
        if groups.size[g] == 0:
            groups.empty[groups.spare[0]] = g
            groups.spare[0] += 1
    recentre(X, groups)
    return groups


@njit(cache=True)
def recentre(X, groups):
    """Compute all means anew, so that rounding does not add up; return the SSE."""
    p = X.shape[1]
    loss = 0.0
    for g in range(len(groups.size)):
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


@njit(cache=True, fastmath=REASSOCIATED)
def squared_distance(x, y):
    total = 0.0
    for j in range(len(x)):
        difference = x[j] - y[j]
        total += difference * difference
    return total


@njit(cache=True)
def join_cost(X, groups, i, g):
    size = groups.size[g]
    return squared_distance(X[i], groups.mean[g]) * size / (size + 1.0)


@njit(cache=True)
def leave_cost(X, groups, i, g):
    size = groups.size[g]
    return -squared_distance(X[i], groups.mean[g]) * size / (size - 1.0) if size > 1 else 0.0


@njit(cache=True, fastmath=REASSOCIATED)
def exchange_cost(x, z, mean_x, mean_z, weight):
    """What it costs that x and z take each other's place; weight = 1/size + 1/size."""
    along = 0.0
    across = 0.0
    for j in range(len(x)):
        difference = z[j] - x[j]
        along += difference * (mean_z[j] - mean_x[j])
        across += difference * difference
    return 2.0 * along - across * weight


@njit(cache=True, fastmath=REASSOCIATED)
def _replace_cost(new, old, mean, size):
    """What it costs a group that `new` takes the place of `old`."""
    along = 0.0
    across = 0.0
    for j in range(len(new)):
        difference = new[j] - old[j]
        along += difference * (new[j] + old[j] - 2.0 * mean[j])
        across += difference * difference
    return along - across / size


@njit(cache=True)
def _join(X, groups, i, g):
    size = groups.size[g] + 1
    groups.members[g, size - 1] = i
    groups.place[i] = size - 1
    groups.size[g] = size
    groups.label[i] = g
    x, mean = X[i], groups.mean[g]
    for j in range(len(x)):
        mean[j] += (x[j] - mean[j]) / size


@njit(cache=True)
def _leave(X, groups, i):
    g = groups.label[i]
    size = groups.size[g] - 1
    last = groups.members[g, size]
    groups.members[g, groups.place[i]] = last
    groups.place[last] = groups.place[i]
    groups.size[g] = size
    x, mean = X[i], groups.mean[g]
    for j in range(len(x)):
        mean[j] = mean[j] - (x[j] - mean[j]) / size if size else 0.0


@njit(cache=True)
def _replace(X, groups, new, g, old, place):
    groups.members[g, place] = new
    groups.place[new] = place
    groups.label[new] = g
    x, z, mean = X[new], X[old], groups.mean[g]
    weight = 1.0 / groups.size[g]
    for j in range(len(x)):
        mean[j] += (x[j] - z[j]) * weight


@njit(cache=True)
def dissolve(X, groups, g, near, bound):
    """Give every member of a group to the best group near to it, unless it costs more than `bound`; return the cost."""
    most = groups.members.shape[1]
    moved = groups.members[g, : groups.size[g]].copy()
    cost = 0.0
    for i in moved:
        cost -= squared_distance(X[i], groups.mean[g])
    done = 0
    while done < len(moved) and cost <= bound:
        i = moved[done]
        best = np.inf
        to = -1
        for neighbour in near[i, :_HOMES]:
            h = groups.label[neighbour]
            if h != g and h != to and groups.size[h] < most:
                found = join_cost(X, groups, i, h)
                if found < best:
                    best = found
                    to = h
        if to < 0:
            break
        cost += best
        _leave(X, groups, i)
        _join(X, groups, i, to)
        done += 1
    if done == len(moved) and cost <= bound:
        groups.empty[groups.spare[0]] = g
        groups.spare[0] += 1
        return cost
    for i in moved[:done]:
        _leave(X, groups, i)
        _join(X, groups, i, g)
    return 0.0


@njit(cache=True)
def create(X, groups, k, x, near, bound):
    """Form a group of x and near records whose groups can spare them, unless that costs more than `bound`.

    Returns
    -------
    float
        What it cost.
    """
    if groups.spare[0] == 0:
        return 0.0
    count = 0
    for t in range(-1, near.shape[1]):
        count += groups.size[groups.label[x if t < 0 else near[x, t]]] > k
    if count < k:
        return 0.0
    g = groups.empty[groups.spare[0] - 1]
    moved = np.empty(k, np.int32)
    origin = np.empty(k, np.int32)
    cost = 0.0
    done = 0
    for t in range(-1, near.shape[1]):
        i = x if t < 0 else near[x, t]
        h = groups.label[i]
        # Records taken before may have left the group without any to spare.
        if groups.size[h] <= k:
            continue
        cost += leave_cost(X, groups, i, h) + join_cost(X, groups, i, g)
        _leave(X, groups, i)
        _join(X, groups, i, g)
        moved[done] = i
        origin[done] = h
        done += 1
        if done == k:
            break
    if done == k and cost <= bound:
        groups.spare[0] -= 1
        return cost
    for m in range(done):
        _leave(X, groups, moved[m])
        _join(X, groups, moved[m], origin[m])
    return 0.0


@njit(cache=True)
def relocate(X, groups, x, b):
    """Move x to group b."""
    _leave(X, groups, x)
    _join(X, groups, x, b)


@njit(cache=True)
def exchange(X, groups, x, z):
    """Let x and z take each other's place."""
    a, b = groups.label[x], groups.label[z]
    place_x, place_z = groups.place[x], groups.place[z]
    _replace(X, groups, z, a, x, place_x)
    _replace(X, groups, x, b, z, place_z)


@njit(cache=True)
def chain_cost(X, groups, x, z, c):
    """What it costs that x takes the place of z, and z goes to group c."""
    a, b = groups.label[x], groups.label[z]
    cost = _replace_cost(X[x], X[z], groups.mean[b], groups.size[b])
    return cost + leave_cost(X, groups, x, a) + join_cost(X, groups, z, c)


@njit(cache=True)
def chain(X, groups, x, z, c):
    """Let x take the place of z, and z go to group c."""
    b, place = groups.label[z], groups.place[z]
    _leave(X, groups, x)
    _replace(X, groups, x, b, z, place)
    _join(X, groups, z, c)


@njit(cache=True)
def cycle_cost(X, groups, x, z, v):
    """What it costs that x takes the place of z, z that of v, and v that of x."""
    a, b, c = groups.label[x], groups.label[z], groups.label[v]
    cost = _replace_cost(X[x], X[z], groups.mean[b], groups.size[b])
    cost += _replace_cost(X[z], X[v], groups.mean[c], groups.size[c])
    return cost + _replace_cost(X[v], X[x], groups.mean[a], groups.size[a])


@njit(cache=True)
def cycle(X, groups, x, z, v):
    """Let x take the place of z, z that of v, and v that of x."""
    a, b, c = groups.label[x], groups.label[z], groups.label[v]
    place_x, place_z, place_v = groups.place[x], groups.place[z], groups.place[v]
    _replace(X, groups, x, b, z, place_z)
    _replace(X, groups, z, c, v, place_v)
    _replace(X, groups, v, a, x, place_x)
