"""References of the methods that build groups up from single records: readable, slow, and free of the package."""

from __future__ import annotations

import numpy as np
from brute_force import sse

__all__ = ["chain_joined", "k_ward", "nearest_pairs_joined", "neighbours_joined", "sse"]


def squared(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += float((x - y) * (x - y))
    return total


def ward_distance(X: np.ndarray, a: list[int], b: list[int]) -> float:
    """Return what the loss grows by when two groups become one."""
    mean_a, mean_b = X[a].sum(axis=0) / len(a), X[b].sum(axis=0) / len(b)
    return len(a) * len(b) / (len(a) + len(b)) * squared(mean_a, mean_b)


def first_groups(X: np.ndarray, members: list[int], k: int) -> list[list[int]]:
    """Return the groups of k around the two records farthest apart, and all other records as groups of one."""
    pairs = [(-squared(X[i], X[j]), i, j) for i in members for j in members if i < j]
    pair = min(pairs)[1:]
    mean = X[members].mean(axis=0)
    first, second = sorted(pair, key=lambda i: (-np.sqrt(((X[i] - mean) ** 2).sum()), i))
    free = [i for i in members if i not in (first, second)]
    groups = []
    for end in (first, second):
        nearest = sorted(free, key=lambda i: (squared(X[i], X[end]), i))[: k - 1]
        free = [i for i in free if i not in nearest]
        groups.append(sorted([end, *nearest]))
    return sorted([*groups, *([i] for i in free)])


def nearest_pairs_joined(X: np.ndarray, members: list[int], k: int) -> list[list[int]]:
    """Do (i) and (ii) of k-Ward as its definition reads."""
    groups = first_groups(X, members, k)
    while any(len(group) < k for group in groups):
        _, a, b = min(
            (ward_distance(X, a, b), a, b)
            for a in groups
            for b in groups
            if a < b and not (len(a) >= k and len(b) >= k)
        )
        groups = sorted([*(group for group in groups if group not in (a, b)), sorted(a + b)])
    return groups


def chain_joined(X: np.ndarray, members: list[int], k: int) -> list[list[int]]:
    """Do (i) and (ii) of k-Ward along chains of nearest groups; of equally near ones the previous, then the lowest."""
    groups, chain = first_groups(X, members, k), []
    while any(len(group) < k for group in groups):
        if not chain:
            chain = [next(group for group in groups if len(group) < k)]
        top, previous = chain[-1], chain[-2] if len(chain) > 1 else None
        others = [group for group in groups if group != top and not (len(group) >= k and len(top) >= k)]
        nearest = min(others, key=lambda group: (ward_distance(X, *sorted([top, group])), group != previous, group))
        if nearest == previous:
            groups = sorted([*(group for group in groups if group not in (top, nearest)), sorted(top + nearest)])
            chain = chain[:-2]
        else:
            chain.append(nearest)
    return groups


def neighbours_joined(x: np.ndarray, members: list[int], k: int) -> list[list[int]]:
    """Do (i) and (ii) of k-Ward for one column, joining neighbours only; of equally near pairs the lowest."""
    order = sorted(members, key=lambda i: (x[i, 0], i))
    groups = [order[:k], *([i] for i in order[k:-k]), order[-k:]]
    while any(len(group) < k for group in groups):
        pairs = [
            (ward_distance(x, groups[g], groups[g + 1]), g)
            for g in range(len(groups) - 1)
            if not (len(groups[g]) >= k and len(groups[g + 1]) >= k)
        ]
        _, g = min(pairs)
        groups[g : g + 2] = [groups[g] + groups[g + 1]]
    return groups


def k_ward(X: np.ndarray, k: int, join) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Return the groups of k-Ward, numbered in the order of their lowest records; `join` does (i) and (ii)."""
    final, left = [], [list(range(len(X)))]
    while left:
        members = left.pop()
        if len(members) < 2 * k:
            final.append(members)
        else:
            left += join(X, members, k)
    labels = np.empty(len(X), dtype=np.int64)
    for number, members in enumerate(sorted(sorted(group) for group in final)):
        labels[members] = number
    return labels
