"""Differences of totals of two releases: the fewest persons that one is about, against all sets of classes."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import settings
from looping import each

from sqlmicro.history import differences

TABLES = int(os.environ.get("TABLES", settings.default.max_examples))
Members = list[tuple[int, int, int]]
"""Release, person and class."""


class Known:
    """The answers of the two templates, in plain Python."""

    def __init__(self, members: Members, of_persons: bool = False, changed: Set[int] = frozenset()) -> None:
        self.of_persons = of_persons
        self.cells = Counter((frozenset(told), who in changed) for who, told in told_of(members).items())

    def query(self, *_: Any, **__: Any) -> list[tuple[bool]]:
        return [(self.of_persons,)]

    def arrays(self, template: str, **_: Any) -> dict[str, np.ndarray]:
        if template == "history/cells_of_records.sql":
            found = [(dict(cell).get(0, -1), dict(cell).get(1, -1), new, n) for (cell, new), n in self.cells.items()]
            return _columns(("class", "other", "changed", "persons"), found)
        rows = [(i, n, new, *told) for i, ((cell, new), n) in enumerate(self.cells.items()) for told in cell]
        return _columns(("cell", "persons", "changed", "release", "class"), rows)


def _columns(names: tuple[str, ...], rows: list[tuple[int, ...]]) -> dict[str, np.ndarray]:
    found = dict(zip(names, np.array(rows).T, strict=True))
    return {**found, "changed": found["changed"].astype(bool)}


def told_of(members: Members) -> dict[int, set[tuple[int, int]]]:
    """Return the releases and classes of every person."""
    told: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for release, who, number in members:
        told[who].add((release, number))
    return told


def about(members: Members, changed: Set[int] = frozenset()) -> Iterator[int]:
    """Yield how many persons the totals of any classes of one release, less any of the other, are about.

    Of who has changed, one total has other values than the other.
    """
    told = told_of(members)
    classes = sorted(set().union(*told.values()))
    for size in range(1, len(classes) + 1):
        for chosen in map(set, combinations(classes, size)):
            yield sum(
                sum(one in chosen for one in of if not one[0]) != sum(one in chosen for one in of if one[0])
                or (who in changed and any(one in chosen for one in of))
                for who, of in told.items()
            )


def history(seed: int) -> Members:
    """Return two releases of a few persons, most of whom keep their class; some come, some leave."""
    draw, members = random.Random(seed), []
    for who in range(draw.randrange(6, 24)):
        first = draw.randrange(3)
        second = first if draw.random() < 0.7 else draw.randrange(3)
        members += [(0, who, first)] * (draw.random() < 0.93) + [(1, who, second)] * (draw.random() < 0.93)
    return members


def measured(
    members: Members, k: int, *, of_persons: bool = False, changed: Set[int] = frozenset()
) -> differences.Differences:
    warehouse: Any = Known(members, of_persons, changed)
    select: Any = None
    return differences.measured(warehouse, select, k)


@each("share", [0.0, 0.1])
def test_what_union_k_keeps_differences_keep(share: float) -> None:
    """The theorem, and that what is found is there: none is below the truth, which none is below union k.

    Against all sets of classes, also where a share of the persons has other values in the second release.
    """
    found, there = 0, 0
    for seed in range(TABLES):
        members, draw = history(seed), random.Random(seed)
        changed = {who for who in told_of(members) if draw.random() < share}
        one = measured(members, 3, changed=changed)
        assert one == measured(members, 3, changed=changed, of_persons=True)
        truth = min(filter(None, [*about(members), *about(members, changed)]))
        assert one.fewest >= truth and (share or truth >= min(Known(members).cells.values()))
        assert share or (one.isolating > 0) == (one.persons > 0) == (one.fewest < 3)
        there += truth < 3
        found += one.fewest < 3
    assert found >= 0.9 * there


BOTH = [(release, who, who // 5) for release in (0, 1) for who in range(10)]
BEFORE = [(0, who, who // 5) for who in range(10)]
MIXED = [(1, who, 7 + who % 2) for who in range(11)]


@each("members, k, given, expected", [
    # Who was corrected: all classes are as they were, and the total of hers tells by how much her value has changed.
    (BOTH, 5, {}, (5, 0, 0)),
    (BOTH, 5, {"changed": {3}}, (1, 1, 1)),
    (BOTH, 5, {"changed": {*range(5)}}, (5, 0, 0)),
    # Two classes of five that are mixed the next night, when one has come: nobody else is told by the totals.
    (BEFORE + MIXED, 2, {}, (1, 1, 1)),
    (BEFORE + MIXED[:-1], 2, {}, (5, 0, 0)),
    # Nobody came or left: the total of a class less that of the same class is that of the one who left it.
    (BEFORE + [(1, who, who // 5 if who else 1) for who in range(10)], 3, {}, (1, 2, 1)),
    # A person in several classes is one person.
    ([(0, who, number) for who in range(3) for number in (1, 2)]
     + [(1, who, number) for who in range(4) for number in (5, 6)], 3, {"of_persons": True}, (1, 1, 1)),
    # A release of others altogether.
    *(([(one, who, who // 4) for who in range(8)] + [(1 - one, who, 9) for who in range(20, 25)], 4, {}, (4, 0, 0))
      for one in (0, 1)),
])  # fmt: skip
def test_differences_by_hand(members: Members, k: int, given: dict[str, Any], expected: tuple[int, int, int]) -> None:
    assert measured(members, k, **given) == differences.Differences(*expected)
