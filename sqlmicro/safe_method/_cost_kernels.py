"""What a placement of the direct search costs, compiled by numba: its deviations in the tables, and what changes them.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit


class Problem(NamedTuple):
    """What stays as it is during a search; C combinations, T tables, S tables of sums, M moments."""

    n: np.ndarray  # (C,) records in the original
    unit: np.ndarray  # (C,) what a record of the combination counts in the tables: 1, or its weight
    low: np.ndarray  # (C,) fewest records of an open combination
    high: np.ndarray  # (C,) most records of an open combination
    small: np.ndarray  # combinations that may be closed
    near: np.ndarray  # (C, W) combinations near to each
    cell: np.ndarray  # (C, T) the cell of each table that a combination counts in
    weight: np.ndarray  # (T,)
    bound: np.ndarray  # (T,) deviations above it cost their square
    sum_cell: np.ndarray  # (C, S) the cell of each table of sums
    sum_weight: np.ndarray  # (S,)
    x: np.ndarray  # (C, M) the numeric columns, in standard deviations
    moment_cell: np.ndarray  # (C, S') the same for squares and products
    moment_weight: np.ndarray  # (S',)
    xx: np.ndarray  # (C, M') squares and products, in standard deviations
    k: int
    curve: float  # weight of the squared deviation
    steep: np.ndarray  # (T,) weight of the squared deviation above the bound
    record_price: float  # of a record that is moved
    total_price: float  # of the squared deviation of the number of records


class State(NamedTuple):
    """What a search changes: the placement, and its deviations from the original, kept up to date."""

    n: np.ndarray  # (C,) records now
    deviation: np.ndarray  # by cell of the tables of counts, whole numbers where records count 1
    sums: np.ndarray  # (M, cells of the tables of sums)
    moments: np.ndarray  # (M', cells of the tables of moments)
    total: np.ndarray  # (1,) deviation of the number of records


@njit(cache=True, fastmath=True, inline="always")
def _penalty(deviation, bound, curve, steep):
    size = abs(deviation)
    excess = size - bound
    if excess < np.float32(0.0):
        excess = np.float32(0.0)
    return size + curve * size * size + steep * excess * excess


@njit(cache=True, fastmath=True)
def _count_cost(cell, weight, bound, deviation, curve, steep, i, up):
    """Return by how much the penalty of the counts grows if combination i counts `up` more."""
    total = np.float32(0.0)
    for t in range(cell.shape[1]):
        before = deviation[cell[i, t]]
        change = _penalty(before + up, bound[t], curve, steep[t]) - _penalty(before, bound[t], curve, steep[t])
        total += weight[t] * change
    return total


@njit(cache=True, fastmath=True)
def _count_cost_pair(cell, weight, bound, deviation, curve, steep, i, j, down, up):
    """Return the same if i counts `down` less and j `up` more."""
    total = np.float32(0.0)
    within = up - down
    for t in range(cell.shape[1]):
        left, joined = cell[i, t], cell[j, t]
        a = deviation[left]
        if left != joined:
            b = deviation[joined]
            change = _penalty(a - down, bound[t], curve, steep[t]) - _penalty(a, bound[t], curve, steep[t])
            change += _penalty(b + up, bound[t], curve, steep[t]) - _penalty(b, bound[t], curve, steep[t])
            total += weight[t] * change
        elif within != np.float32(0.0):
            change = _penalty(a + within, bound[t], curve, steep[t]) - _penalty(a, bound[t], curve, steep[t])
            total += weight[t] * change
    return total


@njit(cache=True, fastmath=True)
def _sum_cost(cell, weight, x, sums, i, up):
    """Return by how much the deviations of the sums grow if combination i counts `up` more."""
    total = np.float32(0.0)
    for m in range(x.shape[1]):
        step = up * x[i, m]
        for t in range(cell.shape[1]):
            now = sums[m, cell[i, t]]
            total += weight[t] * (abs(now + step) - abs(now))
    return total


@njit(cache=True, fastmath=True)
def _sum_cost_pair(cell, weight, x, sums, i, j, down, up):
    total = np.float32(0.0)
    for m in range(x.shape[1]):
        less, more = down * x[i, m], up * x[j, m]
        for t in range(cell.shape[1]):
            left, joined = cell[i, t], cell[j, t]
            a, b = sums[m, left], sums[m, joined]
            apart = abs(a - less) - abs(a) + abs(b + more) - abs(b)
            within = abs(a + (more - less)) - abs(a)
            total += weight[t] * (apart if left != joined else within)
    return total


@njit(cache=True, inline="always")
def cost_of_one(problem, state, i, by):
    """Return by how much the deviations cost more if combination i gets `by` records more."""
    cell, weight, bound, deviation = problem.cell, problem.weight, problem.bound, state.deviation
    up, curve, steep = np.float32(by) * problem.unit[i], np.float32(problem.curve), problem.steep
    cost = float(_count_cost(cell, weight, bound, deviation, curve, steep, i, up))
    cost += _sum_cost(problem.sum_cell, problem.sum_weight, problem.x, state.sums, i, up)
    return cost + _sum_cost(problem.moment_cell, problem.moment_weight, problem.xx, state.moments, i, up)


@njit(cache=True, inline="always")
def cost_of_pair(problem, state, i, j, down, up):
    """Return the same if combination i counts `down` less and j `up` more."""
    cell, weight, bound, deviation = problem.cell, problem.weight, problem.bound, state.deviation
    curve, steep = np.float32(problem.curve), problem.steep
    cost = float(_count_cost_pair(cell, weight, bound, deviation, curve, steep, i, j, down, up))
    cost += _sum_cost_pair(problem.sum_cell, problem.sum_weight, problem.x, state.sums, i, j, down, up)
    return cost + _sum_cost_pair(problem.moment_cell, problem.moment_weight, problem.xx, state.moments, i, j, down, up)


@njit(cache=True)
def count_more(problem, state, i, up):
    """Let combination i count `up` more in every table."""
    for t in range(problem.cell.shape[1]):
        state.deviation[problem.cell[i, t]] += up
    for t in range(problem.sum_cell.shape[1]):
        g = problem.sum_cell[i, t]
        for m in range(problem.x.shape[1]):
            state.sums[m, g] += up * problem.x[i, m]
    for t in range(problem.moment_cell.shape[1]):
        g = problem.moment_cell[i, t]
        for m in range(problem.xx.shape[1]):
            state.moments[m, g] += up * problem.xx[i, m]


@njit(cache=True)
def apply(problem, state, i, by):
    """Give combination i `by` records more in every table; its own count and the total are not touched."""
    count_more(problem, state, i, np.float32(by) * problem.unit[i])


@njit(cache=True)
def refresh(problem, state):
    """Compute all deviations of the placement anew."""
    state.deviation[:] = 0
    state.sums[:] = 0.0
    state.moments[:] = 0.0
    state.total[0] = 0
    for i in range(len(problem.n)):
        by = state.n[i] - problem.n[i]
        if by != 0:
            apply(problem, state, i, by)
            state.total[0] += by


@njit(cache=True)
def objective(problem, state, table_of_cell):
    """Return what the search makes small, for deviations that are up to date."""
    curve = np.float32(problem.curve)
    total = problem.total_price * float(state.total[0]) ** 2
    for g in range(len(table_of_cell)):
        t = table_of_cell[g]
        total += problem.weight[t] * _penalty(state.deviation[g], problem.bound[t], curve, problem.steep[t])
    total += _sum_total(problem.sum_cell, problem.sum_weight, state.sums)
    total += _sum_total(problem.moment_cell, problem.moment_weight, state.moments)
    for i in range(len(problem.n)):
        total += problem.record_price * abs(state.n[i] - problem.n[i])
    return total


@njit(cache=True)
def _sum_total(cell, weight, sums):
    total = 0.0
    done = np.zeros(sums.shape[1], np.bool_)
    for i in range(cell.shape[0]):
        for t in range(cell.shape[1]):
            g = cell[i, t]
            if not done[g]:
                done[g] = True
                for m in range(len(sums)):
                    total += weight[t] * abs(sums[m, g])
    return total
