"""SAFE, the direct search over very many combinations: part by part, with the deviations passed on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick
from sqlmicro.safe_method.annealing import Effort, Schedule, anneal, proposals_for, rounded_start
from sqlmicro.safe_method.coordinates import Coordinates, in_order, numbered
from sqlmicro.safe_method.deviations import objective as objective_of
from sqlmicro.safe_method.deviations import refresh, settle
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.passed_on import PassedOn
from sqlmicro.safe_method.problem import make_problem
from sqlmicro.safe_method.search import Placement, check, placed

if TYPE_CHECKING:
    import numpy as np

AT_ONCE = 1_000_000
"""Combinations that are searched together: the cell of each in every table takes up to 1 GB."""


def search_in_parts(
    codes: np.ndarray,
    numbers: np.ndarray,
    n: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    weights: np.ndarray | None = None,
    max_shift: int | None = None,
    effort: Effort = "full",
    time_limit: float | None = None,
    most: int = AT_ONCE,
) -> Placement:
    """Place all records as `search.search` does, at most so many combinations at once.

    The combinations are cut in lexicographic order, and no record leaves its part. The first part is searched as a file
    would be. Each further one begins with the deviations that those before have left in the tables and sums of the
    whole file, and makes them small together with its own. So the errors of the parts do not add up.

    Parameters
    ----------
    codes, numbers, n, k, rng, tick, weights, max_shift, effort, time_limit
        As in `search.search`. Every part takes the time of its effort.
    most : int
        Combinations of a part.

    Returns
    -------
    Placement
        Its objective is the sum of those of the parts.

    Raises
    ------
    InputError, ParameterError
        As in `search.search`.

    Notes
    -----
    Memory is that of a search of `most` combinations, and some 200 bytes for each combination of 8 columns. Means of
    subgroups are not kept, and nothing is invented.
    """
    import numpy as np

    started = time.monotonic()
    n = np.asarray(n, dtype=np.int64)
    check(codes, numbers, n, k, max_shift)
    columns, unit = Coordinates.of(codes, numbers, n, k), np.ones(len(n)) if weights is None else weights
    shift, prices, passed = -(-k // 2) if max_shift is None else max_shift, Objective(), PassedOn()
    parts = cut(numbered(columns.all), n, k, most)
    new_n, pairs, reached, done, stopped, proposals = n.copy(), [], 0.0, 0, False, 0
    for number, rows in enumerate(parts):
        part = columns.take(rows)
        problem, table_of_cell, limits = make_problem(part, n[rows], unit[rows], k, shift, prices, passed=passed)
        until = None if time_limit is None else time_limit * (number + 1) / len(parts)
        proposals = proposals or proposals_for(problem, limits, effort)
        schedule = Schedule(proposals, k, prices, number, len(parts), started, until)
        state = rounded_start(problem, part, table_of_cell, rng)
        tried, over = anneal(problem, state, limits, schedule, rng, tick)
        refresh(problem, state)
        settle(problem, state)
        refresh(problem, state)
        passed.close(state)
        found = placed(part, n[rows], state.n, objective_of(problem, state, table_of_cell), tried, over)
        new_n[rows] = found.new_n
        pairs.append((rows[found.cell], rows[found.target], found.count))
        reached, done, stopped = reached + found.objective, done + tried, stopped or over
    cell, target, count = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Placement(new_n, cell, target, count, reached, done, stopped)


def cut(order: np.ndarray, n: np.ndarray, k: int, most: int) -> list[np.ndarray]:
    """Return the combinations of every part: near ones in order, about as many in each, and at least k records.

    >>> import numpy as np
    >>> [part.tolist() for part in cut(np.array([4, 0, 1, 3, 2]), np.ones(5, dtype=int), 2, 2)]
    [[1, 2], [0, 3, 4]]
    """
    import numpy as np

    rows = in_order(order)
    parts = np.array_split(rows, -(-len(rows) // most))
    whole: list[np.ndarray] = []
    left = rows[:0]
    for part in parts:
        left = np.concatenate([left, part])
        if n[left].sum() >= k:
            whole.append(left)
            left = rows[:0]
    if len(left) and whole:
        whole[-1] = np.concatenate([whole[-1], left])
    return [np.sort(part) for part in whole] or [np.sort(rows)]
