"""Grouping methods written down plainly in NumPy, as the references that the kernels are compared with.

Squared distances are added column after column, and centroids are exact sums divided by counts, as in the kernels: so
that equal distances are equal in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any

import numpy as np

KINDS = ("normal", "one decimal", "whole", "thirds", "duplicates", "constant column", "offset", "offset whole", "alike")


def random_records(kind: str, trials: int, largest: int, seed: int = 0) -> Iterator[tuple[np.ndarray, int]]:
    """Draw sets of up to `largest` records in 1 to 13 columns, and a k for each."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    for _ in range(trials):
        k = int(rng.integers(2, 11))
        n, p = int(k * (largest / k) ** rng.random()), int(rng.integers(1, 14))
        X = rng.normal(size=(n, p))
        if kind == "one decimal":
            X = np.round(X, 1)
        elif kind == "whole":
            X = np.round(X)
        elif kind == "thirds":
            X = np.round(X) / 3
        elif kind == "duplicates":
            X = X[rng.integers(0, max(1, n // 10), n)]
        elif kind == "constant column":
            X[:, rng.integers(0, p)] = 3.0
        elif kind == "offset":
            X += 1e6
        elif kind == "offset whole":
            X = np.round(X) + 1e6
        elif kind == "alike":
            X[:] = 1.5
        yield X, k


def squared_distances(X: np.ndarray, point: np.ndarray) -> np.ndarray:
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        total += (X[:, j] - point[j]) ** 2
    return total


def centroid(X: np.ndarray) -> np.ndarray:
    return np.array([fsum(column) for column in X.T]) / len(X)


def nearest(X: np.ndarray, rest: np.ndarray, point: np.ndarray, k: int) -> np.ndarray:
    """Return the k rows of `rest`, which is ascending, that are nearest to a point; of equal ones the lowest."""
    order: np.ndarray = rest[np.argsort(squared_distances(X[rest], point), kind="stable")[:k]]
    return order


def farthest(X: np.ndarray, rest: np.ndarray, point: np.ndarray) -> int:
    return int(rest[np.argmax(squared_distances(X[rest], point))])


def mdav(X: np.ndarray, k: int) -> np.ndarray:
    labels = np.full(len(X), -1)
    rest = np.arange(len(X))
    groups = 0

    def group_around(row: int) -> None:
        nonlocal rest, groups
        members = nearest(X, rest, X[row], k)
        labels[members] = groups
        rest = np.setdiff1d(rest, members)
        groups += 1

    while len(rest) >= 3 * k:
        first = farthest(X, rest, centroid(X[rest]))
        group_around(first)
        group_around(farthest(X, rest, X[first]))
    if len(rest) >= 2 * k:
        group_around(farthest(X, rest, centroid(X[rest])))
    labels[rest] = groups
    return labels


def join_nearest(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Add the records labelled -1 to the groups whose centroids, before any joined, are nearest."""
    centroids = np.array([centroid(X[labels == group]) for group in range(labels.max() + 1)])
    joined = labels.copy()
    for row in np.flatnonzero(labels < 0):
        joined[row] = np.argmin(squared_distances(centroids, X[row]))
    return joined


def mdav_plus(X: np.ndarray, k: int) -> np.ndarray:
    labels = np.full(len(X), -1)
    center = centroid(X)
    while (labels < 0).sum() >= k:
        rest = np.flatnonzero(labels < 0)
        labels[nearest(X, rest, X[farthest(X, rest, center)], k)] = labels.max() + 1
    return join_nearest(X, labels)


def mdav_star(X: np.ndarray, k: int) -> np.ndarray:
    labels = np.full(len(X), -1)
    center = centroid(X)
    while (labels < 0).sum() >= k:
        rest = np.flatnonzero(labels < 0)
        members = list(nearest(X, rest, X[farthest(X, rest, center)], k))
        while len(members) < 2 * k - 1:
            rest = np.setdiff1d(np.flatnonzero(labels < 0), members)
            if len(rest) < k:
                break
            own_center = centroid(X[members])
            y = nearest(X, rest, own_center, 1)[0]
            added = len(members) / (len(members) + 1) * squared_distances(X[[y]], own_center)[0]
            alternative = X[nearest(X, rest, X[y], k)]
            # Python's sum of floats compensates for rounding since 3.12; a running sum does not.
            if not added < np.cumsum(squared_distances(alternative, centroid(alternative)))[-1] / k:
                break
            members.append(y)
        labels[members] = labels.max() + 1
    return join_nearest(X, labels)


def v_mdav(X: np.ndarray, k: int, gamma: float) -> np.ndarray:
    labels = np.full(len(X), -1)
    center = centroid(X)
    while (labels < 0).sum() >= 2 * k:
        rest = np.flatnonzero(labels < 0)
        members = list(nearest(X, rest, X[farthest(X, rest, center)], k))
        while len(members) < 2 * k - 1:
            rest = np.setdiff1d(np.flatnonzero(labels < 0), members)
            if not len(rest):
                break
            to_group = np.min([squared_distances(X[rest], X[member]) for member in members], axis=0)
            e = rest[np.argmin(to_group)]
            others = rest[rest != e]
            outside = squared_distances(X[others], X[e]).min(initial=np.inf)
            if not to_group.min() < gamma * gamma * outside:
                break
            members.append(e)
        labels[members] = labels.max() + 1
    rest = np.flatnonzero(labels < 0)
    if len(rest) >= k:
        labels[rest] = labels.max() + 1
    return join_nearest(X, labels)


def max_distance(X: np.ndarray, k: int) -> np.ndarray:
    labels = np.full(len(X), -1)
    radius = squared_distances(X, centroid(X))
    while (labels < 0).sum() >= 2 * k:
        rest = np.flatnonzero(labels < 0)
        distances = np.array([squared_distances(X[rest], X[row]) for row in rest])
        first, other = (rest[at] for at in np.unravel_index(np.argmax(distances), distances.shape))
        if radius[other] > radius[first]:
            first, other = other, first
        labels[nearest(X, rest, X[first], k)] = labels.max() + 1
        rest = np.flatnonzero(labels < 0)
        if labels[other] >= 0:
            other = farthest(X, rest, X[first])
        labels[nearest(X, rest, X[other], k)] = labels.max() + 1
    rest = np.flatnonzero(labels < 0)
    if len(rest) >= k:
        labels[rest] = labels.max() + 1
    return join_nearest(X, labels)


def partition(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def read_numbers(path: Any) -> np.ndarray:
    return np.genfromtxt(path, delimiter=",", skip_header=1)


def group_means(Z: np.ndarray, labels: np.ndarray) -> np.ndarray:
    sizes = np.bincount(labels)
    return np.column_stack([np.bincount(labels, column)[labels] / sizes[labels] for column in Z.T])


def information_loss(Z: np.ndarray, labels: np.ndarray) -> float:
    """Return 100 SSE/SST of standardised columns."""
    return float(100 * ((Z - group_means(Z, labels)) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum())
