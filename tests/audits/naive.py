"""Every disclosure audit in plain Python, straight from its definition: slow, and without anything of the package."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

Record = tuple[Any, ...]


def matches(left: Record, right: Record) -> bool:
    """Tell whether two records agree wherever both have a value."""
    return all(a is None or b is None or a == b for a, b in zip(left, right, strict=True))


def classes(keys: Sequence[Record], nulls: str) -> dict[Record, list[int]]:
    """Return the rows that match every combination that occurs."""
    found: dict[Record, list[int]] = {}
    for key in dict.fromkeys(keys):
        same: Callable[[Record], bool] = (lambda other, key=key: matches(key, other)) if nulls == "wildcard" else (
            lambda other, key=key: other == key
        )  # fmt: skip
        found[key] = [row for row, other in enumerate(keys) if same(other)]
    return found


def sizes(keys: Sequence[Record], nulls: str) -> list[int]:
    """Return for every record how many match it."""
    of = classes(keys, nulls)
    return [len(of[key]) for key in keys]


def histogram(keys: Sequence[Record], nulls: str) -> dict[int, int]:
    """Return the number of classes by size."""
    return dict(Counter(len(rows) for rows in classes(keys, nulls).values()))


def distinct(values: Sequence[Any]) -> int:
    return len(set(values))


def entropy(values: Sequence[Any]) -> float:
    shares = [n / len(values) for n in Counter(values).values()]
    return math.exp(-sum(p * math.log(p) for p in shares))


def recursive(values: Sequence[Any], c: float) -> int:
    counts = sorted(Counter(values).values(), reverse=True)
    return max((level for level in range(1, len(counts) + 1) if counts[0] < c * sum(counts[level - 1 :])), default=0)


def equal_distance(values: Sequence[Any], everything: Sequence[Any]) -> float:
    p, q = Counter(values), Counter(everything)
    return sum(abs(p[v] / len(values) - q[v] / len(everything)) for v in q) / 2


def ordered_distance(values: Sequence[Any], everything: Sequence[Any]) -> float:
    """Sum the differences of the cumulated shares over all values; None is the largest."""
    order = sorted(set(everything), key=lambda v: (v is None, 0 if v is None else v))
    p, q = Counter(values), Counter(everything)
    total = moved = 0.0
    for value in order:
        moved += p[value] / len(values) - q[value] / len(everything)
        total += abs(moved)
    return total / max(len(order) - 1, 1)


def gain(values: Sequence[Any], everything: Sequence[Any]) -> float:
    p, q = Counter(values), Counter(everything)
    return max(n / len(values) / (q[v] / len(everything)) for v, n in p.items()) - 1


def risk(f: int, F: float) -> float:
    """Benedetti & Franconi's risk, as the help of sdcMicro gives it."""
    if f >= F:
        return 1 / f
    p = f / F
    q = 1 - p
    if f == 1:
        return p / q * math.log(1 / p)
    if f == 2:
        return p / q - (p / q) ** 2 * math.log(1 / p)
    return p / (f - q)


def column_sets(m: int, size: int) -> Iterable[tuple[int, ...]]:
    """Return the sets of up to `size` of m columns, the smaller ones first."""
    return (chosen for n in range(1, size + 1) for chosen in combinations(range(m), n))


def minimal_uniques(keys: Sequence[Record], size: int) -> list[list[tuple[int, ...]]]:
    """Return for every record the sets of columns in which it is unique, and in no part of them."""
    found: list[list[tuple[int, ...]]] = [[] for _ in keys]
    columns = range(len(keys[0]) if keys else 0)
    for n in range(1, size + 1):
        for chosen in combinations(columns, n):
            counts = Counter(tuple(key[i] for i in chosen) for key in keys)
            for row, key in enumerate(keys):
                smaller = any(set(other) <= set(chosen) for other in found[row])
                if counts[tuple(key[i] for i in chosen)] == 1 and not smaller:
                    found[row].append(chosen)
    return found


def suda(keys: Sequence[Record], size: int) -> list[float]:
    """Score every record as Elliot et al. (2005) do: the product of m - i for i from n to the largest size."""
    m = len(keys[0]) if keys else 0
    return [
        sum(math.prod(m - i for i in range(len(chosen), min(size, m - 1) + 1)) for chosen in sets)
        for sets in minimal_uniques(keys, min(size, m))
    ]


def suda_ihsn(keys: Sequence[Record], size: int) -> list[float]:
    """Score every record as the tool of the IHSN does."""
    m = len(keys[0]) if keys else 0
    return [
        sum((2 ** (m - len(chosen)) - 1) / math.comb(m, len(chosen)) for chosen in sets)
        for sets in minimal_uniques(keys, min(size, m))
    ]


def complete(rows: Iterable[Record]) -> list[Record]:
    return [row for row in rows if None not in row]
