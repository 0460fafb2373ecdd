"""Standardised columns: mean 0, sample sd 1, so that columns of any unit can be combined."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_CONSTANT = 1e-13


def standardise(raw: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return columns with mean 0 and sample sd 1; a constant column becomes 0, a missing value the mean.

    Parameters
    ----------
    raw : ndarray of shape (n, p)
        NaN stands for a missing value.
    weights : ndarray of shape (n,), optional
        Records each row stands for; 1 by default. One that stands for none is standardised as the others are.

    Returns
    -------
    ndarray of shape (n, p + m)
        For each of the m columns with missing values a standardised 0/1 column follows that tells which are missing, so
        that NULL takes part as a value of its own.

    Examples
    --------
    >>> import numpy as np
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """
    import numpy as np

    missing = np.isnan(raw)
    flags = missing[:, missing.any(axis=0)].astype(float)
    values = np.hstack([np.where(missing, 0.0, raw), flags])
    weight = np.ones(len(raw)) if weights is None else weights.astype(float)
    present = np.hstack([~missing, np.ones_like(flags, dtype=np.bool_)])
    mass = weight[:, None] * present
    records = np.maximum(mass.sum(axis=0), 1.0)
    size = np.abs(values).max(axis=0, initial=0.0)
    centred = values - (mass * values).sum(axis=0) / records
    # Twice: far from 0, the first mean carries a rounding error of the size of the values.
    centred = np.where(present, centred - (mass * centred).sum(axis=0) / records, 0.0)
    deviation = np.sqrt((mass * centred**2).sum(axis=0) / np.maximum(records - 1, 1.0))
    constant = deviation <= _CONSTANT * size
    standardised: np.ndarray = np.where(constant, 0.0, centred / np.where(constant, 1.0, deviation))
    return standardised
