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


def linked(distances: np.ndarray, truth: Sequence[int] | None) -> float:
    """Return the mean of 1/ties, 0 where the true record is not among those as near as the nearest."""
    near = distances <= distances.min(axis=1, keepdims=True) * (1 + 1e-9)
    ties = near.sum(axis=1)
    if truth is None:
        return float((1 / ties).mean())
    held = [i for i, place in enumerate(truth) if place >= 0]
    return float(np.mean([near[i, truth[i]] / ties[i] for i in held]))


def persons_linked(near: np.ndarray, who: Column, of: Column, *, known: bool) -> float:
    """Return the mean over persons of the largest chance of hers among the persons who have records that are `near`.

    `near` (n, m) tells which released records an attack is left with; `who` (n,) and `of` (m,) whose they are, by names
    that mean the same in both tables if `known`; else the true person is taken to be among them.
    """
    best: dict[Any, float] = {}
    for i, person in enumerate(who):
        left = {of[j] for j in np.flatnonzero(near[i])}
        hit = 1 / len(left) if left and (not known or person in left) else 0.0
        best[person] = max(best.get(person, 0.0), hit)
    return float(np.mean(list(best.values())))


def linked_by_all(distances: np.ndarray, who: Column, told: Column, whose: Column | None) -> float:
    """Return the mean over persons of the share of the nearest candidates, by all records of both, that are she.

    `told` (m,) tells which released records belong together, `whose` (m,) to whom: the same names as `who` (n,).
    """
    found = []
    for person in dict.fromkeys(who):
        mine = [i for i, other in enumerate(who) if other == person]
        scores = {}
        for candidate in dict.fromkeys(told):
            theirs = [j for j, other in enumerate(told) if other == candidate]
            first_of_each = {tuple(distances[:, j].round(9)): j for j in theirs}
            scores[candidate] = distances[np.ix_(mine, theirs)].min(axis=1).sum()
            scores[candidate] += sum(distances[mine, j].min() for j in first_of_each.values())
        least = min(scores.values())
        nearest = {candidate for candidate, score in scores.items() if score <= least + 1e-9}
        if whose is None:
            found.append(1 / len(nearest))
            continue
        right = {told[j] for j, owner in enumerate(whose) if owner == person}
        found.append(len(right & nearest) / len(nearest))
    return float(np.mean(found))
