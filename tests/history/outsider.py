"""What anybody finds who has all releases of a series and the tables they were made from, in plain Python.

A release is a list of rows, a row a dictionary. Where the values of a column are different powers of two, a mean says
of whom it is, so that combinations of means can be held to the number of persons they are about.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]
Release = Sequence[Row]
BITS = 48
"""Sums of so many different powers of two are exact."""
NOBODY = 10**9
"""What no combination is about."""


def counted(release: Release, columns: Iterable[str]) -> Counter[tuple[Any, ...]]:
    """Count the rows of every combination of values."""
    names = list(columns)
    return Counter(tuple(row[name] for name in names) for row in release)


def small_steps(nights: Sequence[Counter[Any]], k: int) -> list[tuple[Any, int, int]]:
    """Return the combinations that differ by 1 to k - 1 rows between two nights."""
    return [
        (one, a[one], b[one]) for a, b in combinations(nights, 2) for one in {*a, *b} if 0 < abs(a[one] - b[one]) < k
    ]


def fits(shown: Any, value: Any) -> bool:
    """Tell whether a value may be released as a range, a set, a prefix or itself."""
    if shown is None or shown == "*" or shown == value:
        return True
    if not isinstance(shown, str):
        return False
    text, missing, _ = shown.partition(" or missing")
    if value is None:
        return bool(missing)
    if found := re.fullmatch(r"\[(.+), (.+)([\])])", text):
        low, high = (_read(one, value) for one in found.groups()[:2])
        return bool(low <= value and (value <= high if found[3] == "]" else value < high))
    if found := re.fullmatch("(<|>=) (.+)", text):
        bound = _read(found[2], value)
        return bool(value < bound if found[1] == "<" else value >= bound)
    if text.startswith("{"):
        return str(value) in text[1:-1].split(", ")
    if not isinstance(value, str):
        return bool(_read(text, value) == value)
    known = text.rstrip("*")
    return value == text or (len(value) == len(text) and value.startswith(known) and known != text)


def _read(text: str, like: Any) -> Any:
    return datetime.date.fromisoformat(text) if isinstance(like, datetime.date) else type(like)(text)


def founders(mean: float, least: int, most: int) -> list[frozenset[int]]:
    """Return every set of `least` to `most` powers of two that a value is the mean of."""
    found = []
    for size in range(least, most + 1):
        total = round(mean * size)
        own = frozenset(bit for bit in range(total.bit_length()) if total >> bit & 1)
        if len(own) == size and math.isclose(total / size, mean, rel_tol=1e-15):
            found.append(own)
    return found


def fewest_involved(classes: Iterable[frozenset[int]], person: Mapping[int, int], below: int = NOBODY) -> int:
    """Return the fewest persons, `below` so many, that a combination of the means of some classes is about.

    It is not zero for all values. The values of a class are numbered; `person` says whose a value is. A combination is
    about some persons alone where the values of all others determine fewer classes than all values do. So all choices
    of few persons are tried, but only of those who have all the values that are in the same classes.
    """
    for group in _connected(set(classes)):
        below = _fewest(group, person, below)
    return below


def _connected(classes: Iterable[frozenset[int]]) -> list[list[frozenset[int]]]:
    groups: list[list[frozenset[int]]] = []
    for own in sorted(classes, key=sorted):
        near = [group for group in groups if any(own & other for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([own, *(one for group in near for one in group)])
    return groups


def _fewest(classes: list[frozenset[int]], person: Mapping[int, int], below: int) -> int:
    kinds: dict[tuple[int, ...], set[int]] = {}
    for value in sorted(frozenset[int]().union(*classes)):
        kinds.setdefault(tuple(int(value in own) for own in classes), set()).add(person[value])
    few = [frozenset(persons) for persons in kinds.values() if len(persons) < below]
    rank = _rank(kinds)
    tried: set[frozenset[int]] = set()
    left = [(frozenset[int](), 0)]
    while left:
        chosen, at = left.pop()
        if len(chosen) >= below:
            continue
        if chosen not in tried and _rank(kind for kind, persons in kinds.items() if not persons <= chosen) < rank:
            below = len(chosen)
        tried.add(chosen)
        left += [(chosen | few[number], number + 1) for number in range(at, len(few))]
    return below


def _rank(rows: Iterable[Sequence[int]]) -> int:
    """Return the rank of rows of whole numbers, exactly: a row is multiplied, never divided with a remainder."""
    found: list[tuple[int, Sequence[int]]] = []
    for row in rows:
        left = row
        for lead, other in found:
            if left[lead]:
                a, b = other[lead], left[lead]
                left = [a * one - b * two for one, two in zip(left, other, strict=True)]
        lead = next((place for place, one in enumerate(left) if one), None)
        if lead is not None:
            shared = math.gcd(*left)
            found.append((lead, [one // shared for one in left]))
    return len(found)
