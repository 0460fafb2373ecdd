"""Random tables of households, persons and their records, and what a release of them must keep, in plain Python."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import numpy as np

Row = dict[str, Any]
NUMBERS = ("rent", "age", "cost", "days")
KINDS: dict[str, dict[str, Any]] = {
    "mdav": {}, "microaggregate": {"quality": "fast"}, "k-ward": {}, "kanonymeans": {}, "v-mdav": {}, "mhm": {},
    "secure-k-ward": {}, "single-axis": {}, "mondrian": {}, "mondrian relaxed": {"relaxed": True}, "suppress": {},
    "generalize": {"until_k": 0, "width": ["age=5", "age=20", "rent=50"]},
    "generalize local": {"until_k": 0, "local": True, "width": ["age=5", "age=20", "rent=50"]},
    "individual-ranking": {}, "optimal-univariate": {}, "noise": {"amount": 0.5, "kind": "uncorrelated"},
    "swap": {"percent": 60.0}, "shuffle": {},
}  # fmt: skip
ONLY_NUMBERS = {"swap", "secure-k-ward", "single-axis", "individual-ranking", "optimal-univariate", "noise"}
COLUMN = {"individual-ranking", "optimal-univariate"}
WHOLE = {*KINDS, "safe"} - {"noise", "swap", "shuffle"}
MASKS = {"mondrian", "mondrian relaxed", "suppress", "generalize", "generalize local", "noise", "swap", "shuffle"}
NOT_SENSITIVE = {"noise", "swap", "shuffle"}
"""Methods that make no classes."""


def table(rng: np.random.Generator) -> list[Row]:
    """Return rows with rid, the keys hh and pid (some are None), columns of each level, and one that nearly is one."""
    households, rows = int(rng.integers(3, 30)), []
    unknown = [0.0, 0.0, 0.1, 0.3][rng.integers(4)]
    persons, moves = 0, int(rng.integers(1, 5))
    for hh in range(households):
        of_household = {"rent": float(rng.integers(3, 9) * 100), "roof": int(rng.integers(0, 3))}
        no_household = rng.random() < unknown
        for _ in range(rng.integers(1, 5)):
            persons += 1
            of_person = {
                "age": int(rng.integers(18, 80)),
                "sex": str(rng.choice(["f", "m", 'o"'])),
                "nearly": 1,
                "chronic": str(rng.choice(list("abc"))),
            }
            nobody = rng.random() < unknown
            for _ in range(rng.integers(1, moves + 1)):
                seen = {
                    "cost": float(np.round(rng.gamma(2, 50), 1)),
                    "days": int(rng.integers(0, 6)),
                    "diagnosis": str(rng.choice(list("xyz"))),
                }
                key = {"hh": None if no_household else f"h{hh}", "pid": None if nobody else persons}
                rows.append({**key, **of_household, **of_person, **seen})
    rows[rng.integers(len(rows))]["nearly"] = 2
    return [{"rid": rid, **rows[at]} for rid, at in enumerate(rng.permutation(len(rows)))]


def lose_values(rows: list[Row], rng: np.random.Generator) -> None:
    """Take values away: the age of whole persons, and costs of records."""
    ageless = {row["pid"] for row in rows if rng.random() < 0.1}
    for row in rows:
        row["age"] = None if row["pid"] in ageless else row["age"]
        row["cost"] = None if rng.random() < 0.1 else row["cost"]


def units(rows: list[Row], key: str) -> list[list[int]]:
    """Return the records of every known unit."""
    found = defaultdict(list)
    for at, row in enumerate(rows):
        if row[key] is not None:
            found[row[key]].append(at)
    return list(found.values())


def unknown_units(rows: list[Row], key: str, below: str | None) -> list[list[int]]:
    """Return the records of units without a key: persons, or each record."""
    left = [at for at, row in enumerate(rows) if row[key] is None]
    found = defaultdict(list)
    for at in left:
        found[(rows[at][below],) if below and rows[at][below] is not None else at].append(at)
    return list(found.values())


def constant(rows: list[Row], groups: list[list[int]], column: str) -> bool:
    """Tell whether a column has one value in every group of records; None is a value."""
    return all(len({repr(rows[at][column]) for at in group}) == 1 for group in groups)


def counted(rows: list[Row], members: list[int], key: str | None, person: str | None = None) -> int:
    """Return how many persons or households some records are of; all without one are one."""
    if key is None:
        return len(members)
    return len({rows[at][key] for at in members})


def classes(rows: list[Row], columns: list[str]) -> list[list[int]]:
    """Return the records of every combination of values."""
    found = defaultdict(list)
    for at, row in enumerate(rows):
        found[tuple(repr(row[column]) for column in columns)].append(at)
    return list(found.values())


def apart(values: list[str], before: list[Row], column: str) -> float:
    """Return how far some values are from those of the table: t, where any two values are one apart."""
    here, whole = Counter(values), Counter(row[column] for row in before)
    return sum(abs(here[v] / len(values) - n / len(before)) for v, n in whole.items()) / 2


def faults(
    before: list[Row],
    after: list[Row],
    columns: list[str],
    kind: str,
    k: int,
    person: str | None,
    household: str | None,
    of_person: str | None = None,
    sensitive: str | None = None,
    least: int = 0,
    farthest: float | None = None,
) -> list[str]:
    """Return what a release does not keep of what it must; `after` are the released records, by rid."""
    original = {row["rid"]: row for row in before}
    old = [original[row["rid"]] for row in after]
    found = []
    of_household = []
    if household:
        every = [*units(before, household), *unknown_units(before, household, person)]
        of_household = [c for c in columns if constant(before, every, c)] if any(len(u) > 1 for u in every) else []
        groups = [*units(old, household), *unknown_units(old, household, person)]
        found += [f"{c} differs within a household" for c in of_household if not constant(after, groups, c)]
    if person:
        groups = units(old, person)
        lasting = [c for c in columns if of_person in (None, c) and constant(before, units(before, person), c)]
        found += [f"{c} differs within a person" for c in lasting if not constant(after, groups, c)]
    if kind not in WHOLE | COLUMN:
        return found
    together = [[column] for column in columns] if kind in COLUMN else [columns]
    for over in together if sensitive else []:
        fewest = min(len({old[at][sensitive] for at in members}) for members in classes(after, over))
        if fewest < least:
            found.append(f"{fewest} values of {sensitive} in a class of {over}")
        far = max(apart([old[at][sensitive] for at in members], before, sensitive) for members in classes(after, over))
        if farthest is not None and far > farthest + 1e-9:
            found.append(f"{far} from the table in {sensitive} in a class of {over}")
    for over in together:
        fewest = min(counted(old, members, person) for members in classes(after, over))
        if fewest < k:
            found.append(f"{fewest} persons share {over}")
    for over in ([[c] for c in of_household] if kind in COLUMN else [of_household]) if of_household else []:
        fewest = min(counted(old, members, household) for members in classes(after, over))
        if fewest < k:
            found.append(f"{fewest} households share {over}")
    return found


def possible(before: list[Row], k: int, person: str | None, household: str | None) -> bool:
    """Tell whether the table has k persons and k households that count."""
    everybody = list(range(len(before)))
    if counted(before, everybody, person) < k:
        return False
    if household is None:
        return True
    whole = [u for u in units(before, household) if person is None or any(before[at][person] is not None for at in u)]
    return len(whole) + (sum(map(len, whole)) < len(before)) >= k


def close(a: float, b: float) -> bool:
    """Tell whether two numbers are equal but for rounding."""
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
