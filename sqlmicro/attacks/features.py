"""Records as numbers, as an attacker compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks import ranges

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Features:
    """The records as numbers, so that a squared distance is the sum over the columns of what they differ by.

    A numeric column counts `weight` times the squared difference, a nominal one `weight` where values differ. Weights
    are 1/variance of the original (0 for a constant column), and 1 for a mismatch. A numeric column with missing values
    has a nominal one behind it that tells which, and the mean of the original in their place. A column of ranges has
    two, one for each end, that count by how far a value lies below or above.
    """

    X: np.ndarray
    """(n, p) the original; a nominal value that the release does not have is -1."""
    Y: np.ndarray
    """(m, p) the release."""
    weight: np.ndarray
    """(p,)"""
    kind: np.ndarray
    """(p,) numeric 0, nominal 1, the lower end of a range 2, the upper 3"""
    names: tuple[str, ...]
    """(p,) of the columns of the tables that they come from"""
    times: np.ndarray
    """(m,) how many released records each row of Y stands for"""


def weighed(values: np.ndarray, n: int, missing: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a numeric column with the mean of the original where values are missing, and its weight: 1/variance.

    The first n values are those of the original. A constant column has weight 0.
    """
    import numpy as np

    known = values[:n][~missing[:n]]
    varies = len(known) > 1 and known.min() < known.max()
    filled = np.where(missing, known.mean() if len(known) else 0.0, values)
    return filled, 1 / float(known.var(ddof=1)) if varies else 0.0


def ends_of(x: np.ndarray, released: Sequence[ranges.Range | None]) -> list[tuple[np.ndarray, float, int]]:
    """Return the columns of values of the original and ranges of the release; what is missing is in every range."""
    import numpy as np

    n, gone = len(x), np.isnan(x)
    low, high = np.array([ranges.EVERYTHING if ends is None else ends for ends in released]).T
    _, weight = weighed(x, n, gone)
    missing = np.concatenate([gone, [ends is None for ends in released]]).astype(float)
    return [
        (np.concatenate([np.where(gone, np.inf, x), low]), weight, 2),
        (np.concatenate([np.where(gone, -np.inf, x), high]), weight, 3),
        *([(missing, 1.0, 1)] if missing.any() else []),
    ]
