"""Standardised columns: mean 0, sample sd 1, so that columns of any unit can be combined; covariances that stay."""

from __future__ import annotations

from dataclasses import dataclass
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
    return Standard.of(raw, weights).applied(raw)


@dataclass(frozen=True)
class Standard:
    """What columns (p,) are standardised by: those of a part of the records are what they are among all of them.

    `flagged` are the columns with missing values, `deviation` is 1 where a column is constant. All but `flagged` have
    an entry for the 0/1 columns that follow, too.
    """

    flagged: np.ndarray
    means: tuple[np.ndarray, np.ndarray]
    """Twice: far from 0, the first mean carries a rounding error of the size of the values."""
    deviation: np.ndarray
    constant: np.ndarray

    @classmethod
    def of(cls, raw: np.ndarray, weights: np.ndarray | None = None) -> Standard:
        """Return what the records raw (n, p) are standardised by; see `standardise`."""
        import numpy as np

        flagged = np.isnan(raw).any(axis=0)
        if weights is None and not flagged.any():
            return cls._of_all(raw)
        values, present = _flagged(raw, flagged)
        mass = (np.ones(len(raw)) if weights is None else weights.astype(float))[:, None] * present
        records = np.maximum(mass.sum(axis=0), 1.0)
        size = np.abs(values).max(axis=0, initial=0.0)
        first = (mass * values).sum(axis=0) / records
        centred = values - first
        second = (mass * centred).sum(axis=0) / records
        centred = np.where(present, centred - second, 0.0)
        deviation = np.sqrt((mass * centred**2).sum(axis=0) / np.maximum(records - 1, 1.0))
        constant = deviation <= _CONSTANT * size
        return cls(flagged, (first, second), np.where(constant, 1.0, deviation), constant)

    @classmethod
    def _of_all(cls, raw: np.ndarray) -> Standard:
        """Return the same for rows that count 1 and miss nothing, in a quarter of the memory."""
        import numpy as np

        raw = np.ascontiguousarray(raw)  # sums depend on it in their last digits
        size = np.maximum(raw.max(axis=0, initial=0.0), -raw.min(axis=0, initial=0.0))
        first = raw.sum(axis=0) / max(len(raw), 1)
        centred: np.ndarray = raw - first
        second = centred.sum(axis=0) / max(len(raw), 1)
        centred -= second
        centred *= centred
        deviation = np.sqrt(centred.sum(axis=0) / max(len(raw) - 1, 1))
        constant = deviation <= _CONSTANT * size
        return cls(np.zeros(raw.shape[1], np.bool_), (first, second), np.where(constant, 1.0, deviation), constant)

    def applied(self, raw: np.ndarray) -> np.ndarray:
        """Return some of the records, raw (n, p), as they are among those that these standards are of."""
        import numpy as np

        if not self.flagged.any():
            centred: np.ndarray = raw - self.means[0]
            centred -= self.means[1]
            centred /= self.deviation
        else:
            values, present = _flagged(raw, self.flagged)
            centred = np.where(present, values - self.means[0] - self.means[1], 0.0) / self.deviation
        centred[:, self.constant] = 0.0
        return centred


def _flagged(raw: np.ndarray, flagged: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return records with 0 for a missing value and a 0/1 column for every flagged one, and what of them is present."""
    import numpy as np

    missing = np.isnan(raw)
    flags = missing[:, flagged].astype(float)
    values = np.hstack([np.where(missing, 0.0, raw), flags])
    return values, np.hstack([~missing, np.ones_like(flags, dtype=np.bool_)])


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
