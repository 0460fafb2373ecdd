"""Differences of totals of two releases: the fewest persons that one is about, against all sets of classes."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

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


def test_what_union_k_keeps_differences_keep() -> None:
    """The theorem, and that what is found is there: none is below the truth, which none is below union k."""
    found, there = 0, 0
    for seed in range(TABLES):
        members = history(seed)
        one = measured(members, 3)
        assert one == measured(members, 3, of_persons=True)
        truth = min(filter(None, about(members)))
        assert one.fewest >= truth >= min(Known(members).cells.values())
        assert (one.isolating > 0) == (one.persons > 0) == (one.fewest < 3)
        there += truth < 3
        found += one.fewest < 3
    assert found >= 0.9 * there


def test_who_has_changed_is_in_no_difference_that_cancels() -> None:
    """Against all sets of classes, where some have other values in the second release than in the first."""
    found, there = 0, 0
    for seed in range(TABLES):
        members, draw = history(seed), random.Random(seed)
        changed = {who for who in told_of(members) if draw.random() < 0.1}
        one = measured(members, 3, changed=changed)
        assert one == measured(members, 3, changed=changed, of_persons=True)
        truth = min(filter(None, [*about(members), *about(members, changed)]))
        assert one.fewest >= truth
        there += truth < 3
        found += one.fewest < 3
    assert found >= 0.9 * there


def test_one_who_was_corrected_is_a_difference_of_one() -> None:
    """All classes are as they were: the total of hers tells by how much her value has changed."""
    members = [(release, who, who // 5) for release in (0, 1) for who in range(10)]
    assert measured(members, 5) == differences.Differences(5, 0, 0)
    assert measured(members, 5, changed={3}) == differences.Differences(1, 1, 1)
    assert measured(members, 5, changed={*range(5)}) == differences.Differences(5, 0, 0)


def test_one_newcomer_is_a_difference_of_one() -> None:
    """Two classes of five that are mixed the next night, when one has come: nobody else is told by the totals."""
    before = [(0, who, who // 5) for who in range(10)]
    after = [(1, who, 7 + who % 2) for who in range(11)]
    assert measured(before + after, 2) == differences.Differences(1, 1, 1)
    assert measured(before + after[:-1], 2) == differences.Differences(5, 0, 0)


def test_one_who_changed_class_is_a_difference_of_one() -> None:
    """Nobody came or left: the total of a class less that of the same class is that of the one who left it."""
    before = [(0, who, who // 5) for who in range(10)]
    after = [(1, who, who // 5 if who else 1) for who in range(10)]
    assert measured(before + after, 3) == differences.Differences(1, 2, 1)


def test_a_person_in_several_classes_is_one_person() -> None:
    before = [(0, who, number) for who in range(3) for number in (1, 2)]
    after = [(1, who, number) for who in range(4) for number in (5, 6)]
    assert measured(before + after, 3, of_persons=True) == differences.Differences(1, 1, 1)


@pytest.mark.parametrize("release", [0, 1])
def test_a_release_of_others_altogether(release: int) -> None:
    members = [(release, who, who // 4) for who in range(8)] + [(1 - release, who, 9) for who in range(20, 25)]
    assert measured(members, 4) == differences.Differences(4, 0, 0)
