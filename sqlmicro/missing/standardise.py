"""Standardised columns: mean 0, sample sd 1, so that columns of any unit can be combined; covariances that stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_CONSTANT = 1e-13
_STEPS, _LEAST, _DIGITS = 8, 0.05, 9
"""Of the size of noise: steps of a standard deviation between powers of two, the least eigenvalue, its digits."""


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
    if weights is None and not missing.any():
        return _of_all(raw)
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


def _of_all(raw: np.ndarray) -> np.ndarray:
    """Return what `standardise` does for rows that count 1 and miss nothing, to the bit, in a quarter of the memory."""
    import numpy as np

    raw = np.ascontiguousarray(raw)  # sums depend on it in their last digits
    size = np.maximum(raw.max(axis=0, initial=0.0), -raw.min(axis=0, initial=0.0))
    centred: np.ndarray = raw - raw.sum(axis=0) / max(len(raw), 1)
    centred -= centred.sum(axis=0) / max(len(raw), 1)
    deviation = np.sqrt((centred**2).sum(axis=0) / max(len(raw) - 1, 1))
    constant = deviation <= _CONSTANT * size
    centred /= np.where(constant, 1.0, deviation)
    centred[:, constant] = 0.0
    return centred


def side_by_side(features: list[np.ndarray]) -> np.ndarray:
    """Return the coordinates of all columns (n, p); the list is emptied, so that they are not there twice."""
    import numpy as np

    if len(features) == 1:
        return features[0]
    X, first = np.empty((len(features[0]), sum(own.shape[1] for own in features))), 0
    while features:
        own = features.pop(0)
        X[:, first : first + own.shape[1]] = own
        first += own.shape[1]
    return X


def steady(covariance: np.ndarray) -> np.ndarray:
    """Return a covariance for noise (p, p) that stays as it is when a few records change.

    Standard deviations are rounded to powers of 2^(1/8), correlations to tenths; then no combination of the columns has
    less than a twentieth of the noise of a column. Noise of one deviate in two sizes gives the value away: y = x + s e
    and y' = x + s' e are two equations for two unknowns. So the size is a part of the key of the draws, and must not
    be another one for every change of the table, or the noise would be drawn anew each time, and average out.

    >>> import numpy as np
    >>> steady(np.array([[100.0, 1.0], [1.0, 0.0]])).round(3).tolist()
    [[107.635, 0.0], [0.0, 0.0]]
    """
    import numpy as np

    deviations = np.sqrt(np.diag(covariance))
    varies = deviations > 0
    safe = np.where(varies, deviations, 1.0)
    rounded = np.where(varies, np.exp2(np.round(_STEPS * np.log2(safe)) / _STEPS), 0.0)
    correlation = np.where(np.outer(varies, varies), np.round(covariance / np.outer(safe, safe), 1), 0.0)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    if values.min() < _LEAST:
        correlation = (vectors * np.maximum(values, _LEAST)) @ vectors.T
        grown = np.sqrt(np.diag(correlation))
        correlation = (correlation / np.outer(grown, grown)).round(_DIGITS)
    return np.asarray(correlation * np.outer(rounded, rounded))
