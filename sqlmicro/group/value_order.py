"""The order of records by their values, which does not depend on the order of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def by_value(X: np.ndarray) -> np.ndarray:
    """Return the rows in the order of their values, column by column; rows that are equal stay in order."""
    import numpy as np

    order = np.argsort(X[:, 0], kind="stable")
    apart = np.ones(len(X), dtype=np.bool_)  # whether a place begins rows that are equal as far as was looked
    apart[1:] = np.diff(X[order, 0]) != 0
    for column in X.T[1:]:
        tied = np.flatnonzero(~apart | ~np.append(apart[1:], True))
        if not len(tied):
            break
        rows, run = order[tied], np.cumsum(apart[tied])
        by = np.argsort(column[rows], kind="stable")
        by = by[np.argsort(run[by], kind="stable")]
        order[tied] = rows[by]
        apart[tied[1:]] |= np.diff(column[rows[by]]) != 0
    return order
