"""kAnonyMeans and kAnonyMeans* as one would read them: every distance is computed, to all records at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

Labels = list[int]


def squared(points: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the squared distance of each point from b, added up from the first column to the last."""
    found = np.zeros(len(points))
    for column, value in zip(points.T, b, strict=True):
        found += (column - value) * (column - value)
    return found


def naive_first_centres(
    X: np.ndarray, k: int, centres: int | None, init: str, rng: np.random.Generator
) -> list[np.ndarray]:
    n = len(X)
    number = min(centres or n // k, n)
    ordered = X[sorted(range(n), key=lambda i: (tuple(X[i]), i))]
    if init == "forgy":
        return [ordered[i] for i in rng.choice(n, number, replace=False)]
    draws = rng.random(number)
    chosen = [ordered[int(draws[0] * n)]]
    for draw in draws[1:]:
        weights = np.min([squared(ordered, c) for c in chosen], axis=0).tolist()
        if not any(weights):
            break
        chosen.append(ordered[int(np.searchsorted(np.cumsum(weights), draw * sum(weights), side="right"))])
    return chosen


def naive_assign(X: np.ndarray, centres: list[np.ndarray | None]) -> Labels:
    alive = [c for c, centre in enumerate(centres) if centre is not None]
    nearest = np.argmin([squared(X, centres[c]) for c in alive], axis=0)  # type: ignore[arg-type]
    return [alive[place] for place in nearest]  # of equally near ones the first


def mean(X: np.ndarray, rows: list[int]) -> np.ndarray:
    return X[rows].sum(axis=0) / len(rows)


def naive_k_means(X: np.ndarray, centres: list[np.ndarray], iterations: int) -> Labels:
    places: list[np.ndarray | None] = list(centres)
    labels: Labels = []
    for _ in range(iterations):
        found = naive_assign(X, places)
        if found == labels:
            break
        labels = found
        places = [
            mean(X, [i for i, label in enumerate(labels) if label == c]) if c in labels else None
            for c in range(len(places))
        ]
    return labels


def members(labels: Labels) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {g: [] for g in sorted(set(labels))}
    for i, label in enumerate(labels):
        found[label].append(i)
    return found


def naive_merge(X: np.ndarray, labels: Labels, k: int, merge: str, measure: str) -> Labels:
    """Join small groups; a joined group has the lower number of the two."""
    groups = members(labels)
    means = {g: mean(X, rows) for g, rows in groups.items()}

    def values(a: int, others: list[int]) -> np.ndarray:
        found = squared(np.array([means[b] for b in others]), means[a])
        if measure == "sse":
            sizes = np.array([len(groups[b]) for b in others])
            found *= len(groups[a]) * sizes / (len(groups[a]) + sizes)
        return found

    def nearest(a: int, others: list[int]) -> tuple[float, int, int]:
        found = values(a, others)
        return float(found.min()), a, others[int(found.argmin())]

    def join(a: int, b: int) -> None:
        groups[min(a, b)] = sorted(groups[a] + groups[b])
        means[min(a, b)] = mean(X, groups[min(a, b)])
        del groups[max(a, b)]

    def small() -> list[int]:
        return [g for g in sorted(groups) if len(groups[g]) < k]

    if merge == "outer-loop":
        while small():
            _, a, b = min(nearest(a, [b for b in groups if b != a]) for a in small())
            join(a, b)
    for g in small():
        while g in groups and len(groups[g]) < k:
            others = [b for b in sorted(groups) if b != g]
            if merge == "single-pass":
                others = [b for b in others if len(groups[b]) + len(groups[g]) >= k] or others
            join(g, nearest(g, others)[2])
    return numbered(groups, len(X))


def numbered(groups: dict[int, list[int]], n: int) -> Labels:
    labels = [-1] * n
    for number, g in enumerate(sorted(groups)):
        for i in groups[g]:
            labels[i] = number
    return labels


def naive_split(X: np.ndarray, labels: Labels, k: int) -> Labels:
    """Cut groups of at least 2k by MDAV+; the first part keeps the number, the others get new ones."""
    groups = members(labels)
    fresh = count(len(groups))
    for g, rest in list(groups.items()):
        if len(rest) < 2 * k:
            continue
        centre, parts = mean(X, rest), []
        while len(rest) >= k:
            far = rest[int(squared(X[rest], centre).argmax())]
            order = np.argsort(squared(X[rest], X[far]), kind="stable")
            parts.append([rest[place] for place in order[:k]])
            rest = [i for i in rest if i not in parts[-1]]
        means = [mean(X, part) for part in parts]
        for i in rest:
            parts[int(squared(np.array(means), X[i]).argmin())].append(i)
        groups[g] = sorted(parts[0])
        groups |= {next(fresh): sorted(part) for part in parts[1:]}
    return numbered(groups, len(X))


def sse(X: np.ndarray, labels: Labels) -> float:
    means = np.array([mean(X, rows) for rows in members(labels).values()])
    apart = X - means[labels]
    return float(np.einsum("ij,ij->", apart, apart))


def naive_steps(X: np.ndarray, centres: list[np.ndarray], k: int, merge: str, measure: str) -> Iterator[Labels]:
    """Yield the groupings of k-means with merge and split in every iteration, without end."""
    while True:
        labels = naive_split(X, naive_merge(X, naive_assign(X, list(centres)), k, merge, measure), k)
        yield labels
        centres = [mean(X, rows) for rows in members(labels).values()]


def partition(labels: Any) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(rows) for rows in members([int(label) for label in labels]).values())


def naive_group_around(
    X: np.ndarray, centres: list[np.ndarray], k: int, merge: str, measure: str, inside: bool, iterations: int = 100
) -> Labels:
    if not inside:
        labels = naive_k_means(X, centres, iterations)
        return naive_split(X, naive_merge(X, labels, k, merge, measure), k)
    found: list[Labels] = []
    losses: list[float] = []
    for labels in naive_steps(X, centres, k, merge, measure):
        back = partition(labels) in {partition(earlier) for earlier in found}
        found.append(labels)
        losses.append(sse(X, labels))
        if back or len(found) == iterations or len(found) - 1 - losses.index(min(losses)) == 10:
            break
    return found[losses.index(min(losses))]


def naive_star(
    X: np.ndarray,
    rng: np.random.Generator,
    k: int,
    *,
    population: int,
    survivors: int,
    recombine: bool,
    mutated: int | None,
    exchanged: int,
    generations: int,
) -> Labels:
    """Evolve the first centres; everything else as kanonymeans-star does by default."""

    def live(centres: list[np.ndarray]) -> tuple[float, Labels]:
        labels = naive_group_around(X, centres, k, "inner-loop", "centroid", True)
        return sse(X, labels), labels

    def draw(number: int) -> int:
        return int(rng.integers(number))

    ordered = sorted(map(tuple, X.tolist()))

    def child(parents: list[list[np.ndarray]], number: int) -> list[np.ndarray]:
        mother = parents[draw(len(parents))]
        first = list(mother)
        if recombine:
            father = parents[draw(len(parents))]
            through, normal = mother[draw(len(mother))], rng.normal(size=X.shape[1])
            first = [c for c in mother if (c - through) @ normal >= 0]
            first += [c for c in father if (c - through) @ normal < 0]
        if mutated is None or number < mutated:
            count = min(exchanged, len(first))
            lost, found = (rng.choice(among, count, replace=False) for among in (len(first), len(X)))
            for c, record in zip(lost, found, strict=True):
                first[c] = np.array(ordered[record])
        return first

    alive = [live(naive_first_centres(X, k, None, "kmeans++", rng)) for _ in range(population)]
    stale = 0
    while stale < generations:
        kept: list[tuple[float, Labels]] = []
        for one in sorted(alive, key=lambda one: one[0]):
            if one[0] not in [other[0] for other in kept]:
                kept.append(one)
        kept = kept[:survivors]
        parents = [[mean(X, rows) for rows in members(labels).values()] for _, labels in kept]
        alive = kept + [live(child(parents, i)) for i in range(population - len(kept))]
        stale = 0 if min(alive)[0] < kept[0][0] else stale + 1
    return min(alive, key=lambda one: one[0])[1]
