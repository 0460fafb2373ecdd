"""The audits of persons in plain Python, straight from their definition: slow, and without anything of the package.

A person is whoever has the same values in the columns of the person; nobody, None in all of them, is a person too. A
class is as large as it has different persons, and a person is at risk as much as the record of hers that is most so.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from . import naive
from .naive import Record

Whose = Sequence[Record]


def classes(keys: Sequence[Record], whose: Whose) -> dict[Record, set[Record]]:
    """Return the persons of every combination that occurs."""
    found: dict[Record, set[Record]] = defaultdict(set)
    for key, who in zip(keys, whose, strict=True):
        found[key].add(who)
    return dict(found)


def per_person(keys: Sequence[Record], whose: Whose, measure: Callable[[Record], float]) -> dict[Record, list[float]]:
    """Return the measures of the classes that every person has records in."""
    found: dict[Record, list[float]] = defaultdict(list)
    for key, who in zip(keys, whose, strict=True):
        found[who].append(measure(key))
    return dict(found)


def totals(keys: Sequence[Record], whose: Whose, weights: Sequence[float | None]) -> dict[Record, float]:
    """Return for how many of the population the persons of every class stand: by the least weight of each there."""
    least: dict[tuple[Record, Record], float] = {}
    for key, who, weight in zip(keys, whose, weights, strict=True):
        if weight is not None and math.isfinite(weight):
            least[key, who] = min(weight, least.get((key, who), math.inf))
    found: dict[Record, float] = defaultdict(float)
    for (key, _), weight in least.items():
        found[key] += weight
    return found


def suda(keys: Sequence[Record], whose: Whose, size: int) -> dict[Record, float]:
    """Score every person by the record of hers that scores highest, where nobody else's records have its values."""
    m = len(keys[0])
    scores: dict[Record, float] = defaultdict(float)
    for key, who in set(zip(keys, whose, strict=True)):
        unique: list[set[int]] = []
        for chosen in naive.column_sets(m, size):
            others = {o for other, o in zip(keys, whose, strict=True) if all(other[i] == key[i] for i in chosen)}
            if others == {who} and not any(part <= set(chosen) for part in unique):
                unique.append(set(chosen))
        score = sum(math.prod(m - i for i in range(len(part), min(size, m - 1) + 1)) for part in unique)
        scores[who] = max(scores[who], float(score))
    return dict(scores)


def households(members: Sequence[tuple[Record, float]]) -> list[tuple[int, float]]:
    """Return the number of members and the risk of every household, given the household and risk of everybody.

    Who is in none is one alone.
    """
    found: dict[Any, list[float]] = defaultdict(list)
    for place, (household, risk) in enumerate(members):
        found[place if all(part is None for part in household) else household].append(risk)
    return [(len(of), 1 - math.prod(1 - risk for risk in of)) for of in found.values()]


def measured(
    keys: Sequence[Record], whose: Whose, weights: Sequence[float | None], everybody: Sequence[Record],
    owners: Whose | None, k: int, size: int,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Return what every audit has to find: of a population with owners its persons count, else its records."""
    of = classes(keys, whose)
    sizes = {key: len(persons) for key, persons in of.items()}
    smallest = {who: min(found) for who, found in per_person(keys, whose, lambda key: sizes[key]).items()}
    n, total = len(smallest), totals(keys, whose, weights)
    individual = per_person(keys, whose, lambda key: naive.risk(sizes[key], total[key]))
    theirs = classes(everybody, owners if owners is not None else [(i,) for i in range(len(everybody))])
    members = {key: len(theirs.get(key, ())) for key in of}
    journalist = per_person(keys, whose, lambda key: 1 / max(members[key], sizes[key]))
    scores = suda(keys, whose, size)
    in_release = [sizes.get(key, 0) / len(persons) for key, persons in theirs.items()]
    return {
        "k-anonymity": {
            "value": min(sizes.values()), "records": n, "classes": len(of),
            "histogram": {str(size): number for size, number in Counter(sizes.values()).items()},
            "violating_classes": sum(size < k for size in sizes.values()),
            "violating_records": sum(size < k for size in smallest.values()),
        },
        "sample-uniques": {
            "value": sum(size == 1 for size in smallest.values()), "twice": sum(s == 2 for s in smallest.values()),
            "share": sum(size == 1 for size in smallest.values()) / n, "records": n,
        },
        "prosecutor-risk": {
            "value": 1 / min(sizes.values()), "average": sum(1 / size for size in smallest.values()) / n,
            "share_above": sum(1 / size > 0.4 for size in smallest.values()) / n,
        },
        "individual-risk": {
            "value": max(map(max, individual.values())), "records": n,
            "violating_records": sum(max(found) > 0.4 for found in individual.values()),
        },
        "global-risk": {
            "value": sum(map(max, individual.values())) / n, "expected": sum(map(max, individual.values())),
        },
        "journalist-risk": {"value": max(map(max, journalist.values()))},
        "marketer-risk": {"value": sum(map(max, journalist.values())) / n},
        "k-map": {"value": min(members.values())},
        "delta-presence": {"value": max(in_release), "least": min(in_release)},
        "suda": {
            "value": max(scores.values()), "total": sum(scores.values()),
            "records": sum(score > 0 for score in scores.values()),
        },
    }  # fmt: skip
