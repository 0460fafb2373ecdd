"""Which tables are kept of many columns: all of one column, and of the larger ones those whose columns are related.

Pairs grow with the square of the columns, and most of a wide table tell nothing that the tables of one column do not.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

LOOKED_AT = 20_000
"""Of so many pairs, evenly spaced ones where there are more, it is measured how much they tell of each other."""
RECORDS = 5_000
"""So many combinations of values that is measured by, evenly spaced ones where there are more."""


def informative_sets(codes: np.ndarray, order: int, most: int) -> list[tuple[int, ...]]:
    """Return the sets of up to `order` columns of which tables are kept, at most so many of each number of columns.

    Parameters
    ----------
    codes : ndarray of shape (n, q)
        The numbers of the values of nominal columns, from 0.
    order : int
        Columns of a table, at most.
    most : int
        Tables of each number of columns above 1, at most.

    Returns
    -------
    list of tuples
        All where there are no more, else those with the most information by their pairs; in the order of the columns.

    Notes
    -----
    Larger sets are sought among those that have a kept set of one column less.

    Examples
    --------
    >>> import numpy as np
    >>> informative_sets(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]), 2, 1)
    [(0,), (1,), (2,), (0, 1)]
    """
    import numpy as np

    q = codes.shape[1]
    sets: list[tuple[int, ...]] = [(j,) for j in range(q)]
    kept, told = sets, np.zeros((0, 0))
    for size in range(2, min(order, q) + 1):
        if comb(q, size) <= most:
            kept = list(combinations(range(q), size))
        else:
            told = told if len(told) else information(codes)
            wider = {tuple(sorted({*some, j})) for some in kept for j in range(q) if j not in some}
            listed = sorted(combinations(range(q), 2) if size == 2 else wider)
            worth = sum(told[[s[a] for s in listed], [s[b] for s in listed]] for a, b in combinations(range(size), 2))
            kept = [listed[place] for place in np.sort(np.argsort(-np.asarray(worth), kind="stable")[:most])]
        sets += kept
    return sets


def information(codes: np.ndarray) -> np.ndarray:
    """Return how much every two columns tell of each other (q, q), in nats, less what chance alone would show.

    Source: mutual information; Miller (1955), Note on the bias of information estimates.

    >>> import numpy as np
    >>> same = np.repeat(np.arange(2), 50)
    >>> information(np.array([same, same, np.tile(np.arange(2), 50)]).T)[0].round(3).tolist()
    [0.0, 0.688, -0.005]
    """
    import numpy as np

    n, q = codes.shape
    rows = codes if n <= RECORDS else codes[np.arange(RECORDS) * n // RECORDS]
    n = len(rows)
    numbered = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int64) for column in rows.T]
    width = [int(column.max(initial=0)) + 1 for column in numbered]
    own = [_entropy(column) for column in numbered]
    pairs = comb(q, 2)
    step = max(1.0, pairs / LOOKED_AT)
    wanted, found = 0.0, np.zeros((q, q))
    for place, (i, j) in enumerate(combinations(range(q), 2)):
        if place < wanted:
            continue
        wanted += step
        chance = (width[i] - 1) * (width[j] - 1) / (2 * max(n, 1))
        found[i, j] = found[j, i] = own[i] + own[j] - _entropy(numbered[i] * width[j] + numbered[j]) - chance
    return found


def _entropy(numbers: np.ndarray) -> float:
    """Return the entropy of some numbers from 0, in nats."""
    import numpy as np

    count = np.bincount(numbers)
    share = count[count > 0] / max(len(numbers), 1)
    return float(-(share * np.log(share)).sum())
