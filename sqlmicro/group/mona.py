"""MONA: cells of halves along the column of largest variance, and ONA* inside each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import InputError
from sqlmicro.group.ona_star import grouped
from sqlmicro.group.value_order import by_value
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Tick, method, silent

if TYPE_CHECKING:
    import numpy as np


@method(
    "mona",
    stage="group",
    engine="numpy",
    promise="record",
    source="Thaeter & Reischuk (2021), MONA with the splits of MONDRIAN V; our reading",
)
def mona(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    rho: Annotated[float, Param("Cells have n to the power of rho records at most: 1 is ONA*.", min=0, max=1)] = 0.5,
) -> np.ndarray:
    """Halve the records again and again at the median of the column that varies most, and group each cell by ONA*.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1; groups have k to 2k-1 records.

    Raises
    ------
    InputError
        When there are fewer than k records.

    Notes
    -----
    A cell is halved while it has more than n^rho records, and 2k or more. The source trades time against loss between
    almost linear and quadratic; that its parameter is this power is our reading, and so is the order of the records of
    equal value, which is that of the columns. Its second kind, which also cuts across two columns, is left out. See
    `ona-star` for what is ours in it.

    Halving takes O(n p log n) time, a pass of ONA* over all cells O(n^(1+rho) p / k); O(n p) memory.

    References
    ----------
    Thaeter & Reischuk: Scalable k-anonymous Microaggregation: Exploiting the Tradeoff between Computational Complexity
    and Information Loss. SECRYPT 2021, 87-98.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> mona(X, np.random.default_rng(0), lambda done, total, best="": None, k=3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    import numpy as np

    n = len(X)
    if n < k:
        raise InputError("mona", f"there must be at least k = {k} records", f"{n}", "Use a smaller k")
    most, cells, labels, groups, done = n**rho, [by_value(X)], np.empty(n, dtype=np.int64), 0, 0
    while cells:
        rows = cells.pop()
        if len(rows) > most and len(rows) >= 2 * k:
            values = X[rows]
            column = int(np.argmax(((values - values.mean(axis=0)) ** 2).sum(axis=0)))
            sides = np.argsort(values[:, column], kind="stable")
            half = len(rows) // 2
            # Rows stay in the order of their values, so that ONA* takes them as it does alone.
            cells += [rows[np.sort(sides[half:])], rows[np.sort(sides[:half])]]
            continue
        _, found = np.unique(grouped(X[rows], rng, tick if len(rows) == n else silent, k), return_inverse=True)
        labels[rows] = groups + found
        groups += int(found.max()) + 1
        done += len(rows)
        tick(done, n)
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    ranked: np.ndarray = np.argsort(np.argsort(first))[number]
    return ranked
