"""Attacks in plain NumPy, record against record, straight from their definition: nothing of the package is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Column = Sequence[Any]


def numbers(values: Column) -> np.ndarray:
    """Return values as floats, NaN where they are missing."""
    return np.array([np.nan if value is None else float(value) for value in values])


def squared_distances(original: Sequence[Column], released: Sequence[Column]) -> np.ndarray:
    """Return (n, m): squared differences in standard deviations, 1 for what differs, NULL the mean and 1 apart."""
    total = np.zeros((len(original[0]), len(released[0])))
    for before, after in zip(original, released, strict=True):
        if any(isinstance(value, str) for value in before):
            total += np.array([[a != b for b in after] for a in before])
            continue
        x, y = numbers(before), numbers(after)
        mean, variance = np.nanmean(x), np.nanvar(x, ddof=1)
        gap = np.where(np.isnan(x), mean, x)[:, None] - np.where(np.isnan(y), mean, y)
        total += gap**2 / variance + (np.isnan(x)[:, None] != np.isnan(y))
    return total


def shares(values: Column) -> list[float | None]:
    """Return the middle rank of every value as a share of the values there are."""
    known = [value for value in values if value is not None]
    return [
        None if v is None else (sum(w < v for w in known) + sum(w <= v for w in known)) / (2 * len(known))
        for v in values
    ]


def linked(distances: np.ndarray, truth: Sequence[int] | None) -> float:
    """Return the mean of 1/ties, 0 where the true record is not among those as near as the nearest."""
    near = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)
    ties = near.sum(axis=1)
    if truth is None:
        return float((1 / ties).mean())
    held = [i for i, place in enumerate(truth) if place >= 0]
    return float(np.mean([near[i, truth[i]] / ties[i] for i in held]))


def candidates(original: Sequence[Column], released: Sequence[Column]) -> np.ndarray:
    """Return (n, m): whether a released record has in every column the value, or one next to it from either side."""
    found = np.ones((len(original[0]), len(released[0])), dtype=bool)
    for before, after in zip(original, released, strict=True):
        for i, x in enumerate(before):
            if isinstance(x, str):
                if x in after:
                    found[i] &= [y == x for y in after]
                continue
            known = [y for y in after if y is not None]
            below = max((y for y in known if y <= x), default=-np.inf)
            above = min((y for y in known if y >= x), default=np.inf)
            found[i] &= [y is not None and below <= y <= above for y in after]
    return found
