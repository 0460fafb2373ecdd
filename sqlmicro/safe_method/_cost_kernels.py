"""What a placement of the direct search costs, compiled by numba: its deviations in the tables, and what changes them.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.

What is called from compiled code alone is put into its callers before they are compiled, each loop once where it can
be: a function that is compiled for itself is optimised again in every caller, which took most of a first start.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sqlmicro.system.compiled import njit


class Problem(NamedTuple):
    """What stays as it is during a search; C combinations, T tables of counts, A amounts, V values.

    An amount is a sum that should stay: of a numeric column, or of squares or products, in the cells of a table; or of
    the distances of a numeric column from the means of subgroups, in standard errors.
    """

    n: np.ndarray  # (C,) records in the original
    unit: np.ndarray  # (C,) what a record of the combination counts in the tables: 1, or its weight
    low: np.ndarray  # (C,) fewest records of an open combination
    high: np.ndarray  # (C,) most records of an open combination
    small: np.ndarray  # combinations that may be closed
    near: np.ndarray  # (C, W) combinations near to each
    cell: np.ndarray  # (C, T) the cell of each table that a combination counts in
    first: np.ndarray  # (T,) where the cells of each table begin in the deviations
    weight: np.ndarray  # (T,)
    bound: np.ndarray  # (T,) deviations above it cost their square
    steep: np.ndarray  # (T,) weight of the squared deviation above the bound
    amount_cell: np.ndarray  # (C, A) and
    amount_first: np.ndarray  # (A,): the same for the amounts
    amount_value: np.ndarray  # (A,) the value that is summed
    amount_weight: np.ndarray  # (A,)
    amount_slack: np.ndarray  # (A,) deviations up to it cost nothing
    value: np.ndarray  # (C, V)
    left: np.ndarray  # by cell of the tables: the deviation that other parts of the file have left, and
    amount_left: np.ndarray  # by cell of the amounts
    k: int
    curve: float  # weight of the squared deviation
    record_price: float  # of a record that is moved
    total_price: float  # of the squared deviation of the number of records


class State(NamedTuple):
    """What a search changes: the placement, and its deviations from the original, kept up to date."""

    n: np.ndarray  # (C,) records now
    deviation: np.ndarray  # by cell of the tables of counts, whole numbers where records count 1
    amount: np.ndarray  # by cell of the amounts
    total: np.ndarray  # (1,) deviation of the number of records


@njit(cache=True, fastmath=True, inline="always")
def _penalty(deviation, bound, curve, steep):
    size = abs(deviation)
    excess = max(size - bound, np.float32(0.0))
    return size + curve * size * size + steep * excess * excess


@njit(cache=True, fastmath=True, inline="always")
def cost_of_one(problem, state, i, up):
    """Return by how much the deviations cost more if combination i counts `up` more."""
    cell, first, weight, bound, steep = problem.cell, problem.first, problem.weight, problem.bound, problem.steep
    deviation, amount, curve, total = state.deviation, state.amount, np.float32(problem.curve), np.float32(0.0)
    for t in range(cell.shape[1]):
        before = deviation[first[t] + cell[i, t]]
        change = _penalty(before + up, bound[t], curve, steep[t]) - _penalty(before, bound[t], curve, steep[t])
        total += weight[t] * change
    cell, first, weight, slack = problem.amount_cell, problem.amount_first, problem.amount_weight, problem.amount_slack
    value, of = problem.value, problem.amount_value
    for t in range(cell.shape[1]):
        now = amount[first[t] + cell[i, t]]
        after = now + up * value[i, of[t]]
        change = max(abs(after) - slack[t], np.float32(0.0)) - max(abs(now) - slack[t], np.float32(0.0))
        total += weight[t] * change
    return total


@njit(cache=True, inline="always")
def count_more(problem, state, i, up):
    """Let combination i count `up` more in every table."""
    cell, first, deviation = problem.cell, problem.first, state.deviation
    for t in range(cell.shape[1]):
        deviation[first[t] + cell[i, t]] += up
    cell, first, amount = problem.amount_cell, problem.amount_first, state.amount
    value, of = problem.value, problem.amount_value
    for t in range(cell.shape[1]):
        amount[first[t] + cell[i, t]] += up * value[i, of[t]]


@njit(cache=True, fastmath=True, nogil=True, _nrt=False)
def costs(problem, state, rows, by, found):
    """Find for each of some combinations by how much the deviations cost more if it gets `by` records more."""
    for z in range(len(rows)):
        i = rows[z]
        found[z] = cost_of_one(problem, state, i, np.float32(by[z]) * problem.unit[i])


@njit(cache=True, nogil=True, _nrt=False)
def change(problem, state, rows, by):
    """Give some combinations `by` records more each in every table; their counts and the total are not touched."""
    for z in range(len(rows)):
        i = rows[z]
        count_more(problem, state, i, np.float32(by[z]) * problem.unit[i])
