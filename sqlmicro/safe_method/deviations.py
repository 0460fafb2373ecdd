"""SAFE, the direct search: the deviations of a placement from the original, what they cost, and the end of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem, State


def placed_as(problem: Problem, placed: np.ndarray, table_of_cell: np.ndarray) -> State:
    """Return the state of a placement."""
    state = no_deviation(problem, placed, table_of_cell)
    refresh(problem, state)
    return state


def no_deviation(problem: Problem, placed: np.ndarray, table_of_cell: np.ndarray) -> State:
    """Return a placement whose deviations are still to be computed."""
    import numpy as np

    state: State = late("sqlmicro.safe_method._cost_kernels", "State")(
        n=placed,
        deviation=np.zeros(len(table_of_cell), dtype=np.float32),
        amount=np.zeros(len(problem.amount_left), dtype=np.float32),
        total=np.zeros(1, dtype=np.int64),
    )
    return state


def refresh(problem: Problem, state: State) -> None:
    """Compute all deviations of the placement anew."""
    import numpy as np

    by = state.n - problem.n
    state.deviation[:] = problem.left
    state.amount[:] = problem.amount_left
    change(problem, state, np.flatnonzero(by), by[by != 0])
    state.total[0] = by.sum()


def change(problem: Problem, state: State, rows: np.ndarray, by: np.ndarray) -> None:
    """Give some combinations more records in every table; their own counts and the total are not touched."""
    late("sqlmicro.safe_method._cost_kernels", "change")(problem, state, rows, by)


def give(problem: Problem, state: State, rows: np.ndarray, by: np.ndarray) -> None:
    """Give some combinations, each named once, more records."""
    change(problem, state, rows, by)
    state.n[rows] += by
    state.total[0] += by.sum()


def costs(problem: Problem, state: State, rows: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return for each of some combinations by how much the deviations cost more if it gets `by` records more."""
    import numpy as np

    found = np.empty(len(rows))
    late("sqlmicro.safe_method._cost_kernels", "costs")(problem, state, rows, by, found)
    return found


def objective(problem: Problem, state: State, table_of_cell: np.ndarray) -> float:
    """Return what the search makes small, for deviations that are up to date."""
    import numpy as np

    t, size = table_of_cell, np.abs(state.deviation).astype(float)
    above = np.maximum(0, size - problem.bound[t])
    total = float(problem.weight[t] @ (size + problem.curve * size**2 + problem.steep[t] * above**2))
    ends = np.append(problem.amount_first, len(state.amount)).astype(np.int64)
    a = np.repeat(np.arange(len(problem.amount_first)), np.diff(ends))
    total += float(problem.amount_weight[a] @ np.maximum(0, np.abs(state.amount) - problem.amount_slack[a]))
    moved = np.abs(state.n - problem.n).sum()
    return total + problem.record_price * float(moved) + problem.total_price * float(state.total[0]) ** 2


_ONE_BY_ONE = 32


def at_once(left: int) -> int:
    """Return how many of the cheapest changes are made before all are priced anew.

    One where few are left; else half of them, since to price a million combinations for each would take hours.

    >>> [at_once(left) for left in (1, 32, 100)]
    [1, 1, 50]
    """
    return 1 if left <= _ONE_BY_ONE else left // 2


def settle(problem: Problem, state: State) -> None:
    """Bring the number of records back to that of the original, at each step by the cheapest changes there are."""
    import numpy as np

    while excess := int(state.total[0]):
        by = -1 if excess > 0 else 1
        rows = np.flatnonzero((state.n != 0) & (state.n + by >= problem.k))
        changes = np.full(len(rows), by)
        now = state.n[rows] + by
        outside = np.maximum(0, np.maximum(problem.low[rows] - now, now - problem.high[rows]))
        extra = problem.record_price * outside * (1 + outside)
        if not len(rows):  # one is closed, or opened if none is open
            rows = np.flatnonzero(((state.n == 0) == (excess < 0)) & (problem.high >= problem.k))
            changes, extra = -state.n[rows] if excess > 0 else np.full(len(rows), problem.k), np.zeros(len(rows))
            many = max(1, at_once(abs(excess)) // problem.k)
        else:
            many = at_once(abs(excess))
        price = costs(problem, state, rows, changes) + extra
        best = np.argsort(price, kind="stable")[:many] if many > 1 else np.array([np.argmin(price)])
        give(problem, state, rows[best], changes[best])
