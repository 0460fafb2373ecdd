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
from fractions import Fraction
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


def fewest_involved(classes: Iterable[frozenset[int]], person: Mapping[int, int]) -> int:
    """Return the fewest persons that a combination of the means of some classes, not zero for all values, is about.

    The values of a class are numbered; `person` says whose a value is. A combination that is about as few as can be is
    zero on as many values as determine it, so all choices of these are tried, within classes that share values.
    """
    return min((_fewest(group, person) for group in _connected(set(classes))), default=NOBODY)


def _connected(classes: Iterable[frozenset[int]]) -> list[list[frozenset[int]]]:
    groups: list[list[frozenset[int]]] = []
    for own in sorted(classes, key=sorted):
        near = [group for group in groups if any(own & other for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([own, *(one for group in near for one in group)])
    return groups


def _fewest(classes: list[frozenset[int]], person: Mapping[int, int]) -> int:
    values = sorted(frozenset[int]().union(*classes))
    basis: list[frozenset[int]] = []
    for own in classes:
        if len(_reduced([[int(v in one) for v in values] for one in [*basis, own]])) > len(basis):
            basis.append(own)
    column = {value: tuple(int(value in own) for own in basis) for value in values}
    fewest = NOBODY
    for chosen in combinations(sorted(set(column.values())), len(basis) - 1):
        weights = _only_solution([list(kind) for kind in chosen], len(basis))
        if weights is not None:
            about = {person[value] for value, own in column.items() if _product(weights, own)}
            fewest = min(fewest, len(about))
    return fewest


def _product(one: Iterable[Fraction], other: Iterable[int]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def _reduced(rows: list[list[int]]) -> dict[int, list[Fraction]]:
    """Return the rows that are left after Gauss and Jordan, by the place of their leading one."""
    left = [[Fraction(one) for one in row] for row in rows]
    found: dict[int, list[Fraction]] = {}
    for at in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in left if row[at]), None)
        if pivot is None:
            continue
        left = [row for row in left if row is not pivot]
        lead = [one / pivot[at] for one in pivot]
        left = [[a - row[at] * b for a, b in zip(row, lead, strict=True)] for row in left]
        for place, row in found.items():
            found[place] = [a - row[at] * b for a, b in zip(row, lead, strict=True)]
        found[at] = lead
    return found


def _only_solution(rows: list[list[int]], unknowns: int) -> list[Fraction] | None:
    """Return the vector on which all rows are zero, up to a factor; None where there are several."""
    reduced = _reduced(rows)
    if len(reduced) != unknowns - 1:
        return None
    (free,) = set(range(unknowns)) - set(reduced)
    return [Fraction(1) if at == free else -reduced[at][free] for at in range(unknowns)]
