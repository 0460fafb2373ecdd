"""SAFE, the direct search: which record becomes what, so that few values change."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.coordinates import Coordinates, in_order, numbered

if TYPE_CHECKING:
    import numpy as np

_ROUNDS = 80
_REACH = 100

Dealt = tuple["np.ndarray", "np.ndarray", "np.ndarray"]
"""How many records of which cell become which combination: cells, combinations, records."""


def reassigned(columns: Coordinates, n: np.ndarray, new_n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for every record that moves where it leaves and where it goes, so that few values change.

    First those that can keep all values but one, then all but two; the others in lexicographic order. Within equal
    values they are matched in the order of the rest. Then targets are swapped where that shortens two ways.
    """
    import numpy as np

    uncross = late("sqlmicro.safe_method._nearest_kernels", "uncross")

    touched = np.flatnonzero(n != new_n)
    every = [column[touched] for column in columns.all]
    away = np.repeat(np.arange(len(touched)), np.maximum(0, n - new_n)[touched])
    to = np.repeat(np.arange(len(touched)), np.maximum(0, new_n - n)[touched])
    left, joined = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for changed in _changed_columns(len(every)):
        if len(away) == 0:
            break
        same = [column for j, column in enumerate(every) if j not in changed]
        block = numbered(same) if same else np.zeros(len(touched), dtype=np.int64)
        order = numbered([block, *(every[j] for j in changed)])
        away, to = away[in_order(order[away])], to[in_order(order[to])]
        one, other = _matched(block[away], block[to])
        left.append(away[one])
        joined.append(to[other])
        away, to = np.delete(away, one), np.delete(to, other)
    leaving, joining = touched[np.concatenate(left)], touched[np.concatenate(joined)]
    place = numbered(columns.all)
    for end in (leaving, joining):
        order = in_order(place[end])
        leaving, joining = leaving[order], joining[order]
        uncross(columns.codes, columns.ranks, leaving, joining, _REACH)
    return leaving, joining


def _changed_columns(columns: int) -> list[tuple[int, ...]]:
    """Return the sets of columns that may change, one round each; last all of them.

    >>> _changed_columns(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    """
    sets = [s for size in (1, 2) for s in combinations(range(columns), size) if size < columns]
    return [*sets[:_ROUNDS], tuple(range(columns))]


def _matched(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions in two sorted arrays that match: the first of a value with the first, and so on.

    >>> import numpy as np
    >>> one, other = _matched(np.array([1, 1, 4, 7]), np.array([1, 1, 1, 7]))
    >>> one.tolist(), other.tolist()
    ([0, 1, 3], [0, 1, 3])
    """
    import numpy as np

    most = max(len(one), len(other)) + 1
    keys = [block * most + np.arange(len(block)) - np.searchsorted(block, block) for block in (one, other)]
    _, first, second = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    return first, second


def deal(reduced: np.ndarray, n: np.ndarray, source: np.ndarray, target: np.ndarray, count: np.ndarray) -> Dealt:
    """Hand the records of every combination, cell by cell, to the targets of that combination.

    Examples
    --------
    >>> import numpy as np
    >>> cell, to, records = deal(np.array([0, 0, 1]), np.array([2, 1, 3]), np.array([0, 0, 1]), np.array([0, 1, 1]),
    ...                          np.array([1, 2, 3]))
    >>> cell.tolist(), to.tolist(), records.tolist()
    ([0, 0, 1, 2], [0, 1, 1, 1], [1, 1, 1, 3])
    """
    import numpy as np

    cells, moves = in_order(reduced), in_order(source)
    cell_ends, move_ends = np.cumsum(n[cells]), np.cumsum(count[moves])
    ends = np.union1d(cell_ends, move_ends)
    starts = np.concatenate([[0], ends[:-1]])
    cell = cells[np.searchsorted(cell_ends, starts, side="right")]
    to = target[moves[np.searchsorted(move_ends, starts, side="right")]]
    return cell, to, ends - starts
