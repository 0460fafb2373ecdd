"""Groups inside groups: records that are alike in the nominal columns are grouped on the numeric ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.group.mdav import mdav
from sqlmicro.registry import silent
from sqlmicro.safe_method.coordinates import counted_pairs, in_order
from sqlmicro.system.parallel import each_sized, heed

if TYPE_CHECKING:
    import numpy as np

_BLOCK = 500
"""MDAV runs on blocks of at most so many records, made by halving: its time grows with the square of their number."""


def split_alike(
    X: np.ndarray,
    codes: np.ndarray,
    cell: np.ndarray,
    label: np.ndarray,
    count: np.ndarray,
    k: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split every group whose records are alike in all nominal columns into groups of k to 2k-1 by MDAV on X.

    The mode of the parts is that of the group and the totals of their means are the same, so that no table changes;
    only the loss in the numeric columns becomes smaller.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[0.0], [9.0], [0.1], [9.1]]), np.zeros((4, 1), dtype=int)
    >>> parts = split_alike(X, codes, np.arange(4), np.zeros(4, dtype=int), np.ones(4, dtype=int), 2,
    ...                     np.random.default_rng(0))
    >>> parts[1].tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    True
    """
    import numpy as np

    groups = int(label.max()) + 1
    first = np.zeros(groups, dtype=np.int64)
    first[label[::-1]] = cell[::-1]
    differs = (codes[cell] != codes[first[label]]).any(axis=1)
    alike = np.bincount(label, differs, groups)[label] == 0
    inner, sublabel, number, _ = (
        subgroups(X, cell[alike], label[alike], count[alike], k, rng)
        if alike.any()
        else (cell[:0], label[:0], count[:0], label[:0])
    )
    kept = np.unique(label[~alike], return_inverse=True)[1].reshape(-1)
    offset = int(sublabel.max(initial=-1)) + 1
    return (
        np.concatenate([inner, cell[~alike]]),
        np.concatenate([sublabel, kept + offset]),
        np.concatenate([number, count[~alike]]),
    )


def subgroups(
    X: np.ndarray, cell: np.ndarray, target: np.ndarray, count: np.ndarray, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Group the records of every target by MDAV on X, k to 2k-1 records.

    Parameters
    ----------
    X : ndarray of shape (cells, p)
        Standardised columns; without any, all records of a target are one group.
    cell, target, count : ndarrays of the same length
        `count` records of a cell belong to a target; every target has at least k records.
    k : int
        Smallest number of records in a group.
    rng : Generator
        Passed on to MDAV.

    Returns
    -------
    (cell, label, count) : ndarrays of the same length
        How many records of which cell are in which group.
    becomes : ndarray of shape (labels,)
        The target of every group.
    """
    import numpy as np

    if not X.shape[1]:
        becomes, label = np.unique(target, return_inverse=True)
        return cell, label.reshape(-1), count, becomes
    order = in_order(target)
    record = np.repeat(order, count[order])
    of_record = target[record]
    starts = np.flatnonzero(np.concatenate([[True], of_record[1:] != of_record[:-1]]))
    ends = np.append(starts[1:], len(record))

    def grouped(number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        heed()
        inside = np.arange(starts[number], ends[number])
        blocks = _blocks(X[cell[record[inside]]], inside, k)
        return [(block, mdav(X[cell[record[block]]], rng, silent, k=k)) for block in blocks]

    label_of_record = np.empty(len(record), dtype=np.int64)
    becomes_of_label: list[int] = []
    for start, parts in zip(starts, each_sized(grouped, (ends - starts).tolist()), strict=True):
        for block, found in parts:
            label_of_record[block] = found + len(becomes_of_label)
            becomes_of_label += [int(of_record[start])] * (int(found.max()) + 1)
    return *counted_pairs(cell[record], label_of_record), np.array(becomes_of_label)


def _blocks(X: np.ndarray, rows: np.ndarray, k: int) -> list[np.ndarray]:
    """Halve rows along their widest column until blocks are small enough for MDAV; no block is below 2k."""
    import numpy as np

    if len(rows) <= max(_BLOCK, 4 * k):
        return [rows]
    widest = int(np.argmax(X.max(axis=0) - X.min(axis=0)))
    order = np.argsort(X[:, widest], kind="stable")
    half = len(rows) // 2
    low, high = order[:half], order[half:]
    return _blocks(X[low], rows[low], k) + _blocks(X[high], rows[high], k)
