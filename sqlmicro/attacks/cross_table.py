"""The cross-table attack: a person is found by the pattern of its rows in one or more released tables.

Pseudonyms that survive tell which rows are of one person. Whoever knows some rows of a person, and maybe how many there
are, takes the pseudonym whose rows fit best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease, Features
from sqlmicro.attacks.registry import Measured
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name

if TYPE_CHECKING:
    import numpy as np

SOURCE = "sqlmicro; Narayanan & Shmatikov (2008): few of the rows of a person single out all of them"
PERSONS_TRIED = 500
"""So many persons are looked for at most."""
_MOST_ROWS = 20
_ROWS = (1, 2, 3, None)
_CLOSE = 1e-9


@dataclass(frozen=True)
class Pattern:
    """A released table beside its original, in both of which the last columns are pseudonyms.

    Parameters
    ----------
    label : str
        What the table is called.
    attacked : AttackedRelease
        Its columns are what the attacker knows of a row, and the pseudonyms last, as nominal ones.
    pseudonyms : sequence of Column
        Those last columns.
    """

    label: str
    attacked: AttackedRelease
    pseudonyms: Sequence[Column]


@dataclass(frozen=True)
class Found:
    """How many persons were found by somebody who knows rows of them in some tables."""

    tables: tuple[str, ...]
    rows: int | None
    """So many rows in every table; None for all, and how many there are."""
    measured: Measured


@dataclass(frozen=True)
class _Side:
    """A table as numbers: whose each row of the original is, and the rows of the release, person after person."""

    features: Features
    whose: np.ndarray  # (n,) persons of the original's rows, -1 for none
    start: np.ndarray  # (q,) where the rows of each released person begin
    persons: np.ndarray  # (q,) who it is
    count: np.ndarray  # (persons,) rows of everybody in the release
    most: int  # rows of anybody in the original


def link(patterns: Sequence[Pattern], most: int = PERSONS_TRIED) -> list[Found]:
    """Look for persons by their rows in each table, and in all of them together.

    Returns
    -------
    list of Found
        For every table, and for all together where there are several: knowing one, two, three rows of a person in every
        table, and all of them with their number. The rate is the share of persons whose own pseudonym fits best, shared
        among those that fit equally well; chance is one in all pseudonyms.

    Notes
    -----
    The distance of a known row to a person is that to the nearest of the person's rows; those of several rows are
    averaged, those of several tables added. A number of rows counts by its squared difference, in variances. At most 20
    rows of a person are known. O(t r m p) for t persons with r known rows, and m released rows with p columns.
    """
    import numpy as np

    numbers: dict[tuple[str, ...], int] = {}
    whose = [_persons(pattern, pattern.attacked.originals, numbers) for pattern in patterns]
    theirs = [_persons(pattern, pattern.attacked.released, numbers) for pattern in patterns]
    sides = [_side(*found, len(numbers)) for found in zip(patterns, whose, theirs, strict=True)]
    released = np.unique(np.concatenate([side.persons for side in sides]))
    groups: list[tuple[int, ...]] = [(at,) for at in range(len(sides))]
    if len(sides) > 1:
        groups.append(tuple(range(len(sides))))
    rng = np.random.Generator(np.random.PCG64(0))
    hits: dict[tuple[tuple[int, ...], int | None], list[float]] = {}
    tried = rng.permutation(released)[:most]
    with patterns[0].attacked.warehouse.progress.kernel("persons by their rows", len(tried)) as progress:
        for done, person in enumerate(tried):
            fits = [_fits(side, person, rng) for side in sides]
            for group in groups:
                known = [fit for at in group if (fit := fits[at]) is not None]
                if len(known) < len(group):
                    continue
                most_rows = max(sides[at].most for at in group)
                for level, rows in enumerate(_ROWS):
                    if (most_rows == 1) if rows is None else (rows > most_rows):
                        continue
                    total = np.sum([fit[level] for fit in known], axis=0)
                    hits.setdefault((group, rows), []).append(_hit(total, released, person))
            progress.tick(done + 1, len(tried))
    return [
        Found(
            tuple(patterns[at].label for at in group),
            rows,
            Measured(float(np.mean(found)), 1 / len(released), len(found)),
        )
        for (group, rows), found in hits.items()
    ]


def _persons(pattern: Pattern, relation: Name, numbers: dict[tuple[str, ...], int]) -> np.ndarray:
    """Return the number of whose each row is (n,), -1 for nobody's; a person has one number in all tables."""
    import numpy as np

    arrays = pattern.attacked.warehouse.arrays(
        "attack/columns.sql", relation=relation, numeric=[], texts=pattern.pseudonyms
    )
    rows = zip(*(arrays[column.staged] for column in pattern.pseudonyms), strict=True)
    return np.array([-1 if None in row else numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)


def _side(pattern: Pattern, whose: np.ndarray, released: np.ndarray, persons: int) -> _Side:
    import numpy as np

    features = pattern.attacked.features
    told = features.X.shape[1] - len(pattern.pseudonyms)
    order = np.argsort(released, kind="stable")
    order = order[released[order] >= 0]
    found, start, count = np.unique(released[order], return_index=True, return_counts=True)
    counts = np.zeros(persons)
    counts[found] = count
    only = Features(
        features.X[:, :told], np.ascontiguousarray(features.Y[order, :told]), features.weight[:told],
        features.kind[:told], features.names[:told], np.ones(len(order)),
    )  # fmt: skip
    most_rows = int(np.bincount(whose[whose >= 0]).max(initial=0))
    return _Side(only, whose, start, found, counts, most_rows)


def _fits(side: _Side, person: int, rng: np.random.Generator) -> list[np.ndarray] | None:
    """Return how far everybody is from what is known of a person, for every number of known rows; None without rows."""
    import numpy as np

    known = rng.permutation(np.flatnonzero(side.whose == person))
    if not len(known) or not len(side.persons):
        return None
    total, after = np.zeros(len(side.count)), {}
    for number, row in enumerate(known[:_MOST_ROWS], 1):
        far = np.full(len(side.count), np.inf)
        far[side.persons] = np.minimum.reduceat(_apart(side.features, row), side.start)
        total = total + far
        after[number] = total / number
    everything = after[max(after)]
    spread = side.count[side.persons].var()
    counted = everything + ((side.count - len(known)) ** 2 / spread if spread else 0.0)
    return [counted if rows is None else after[min(rows, max(after))] for rows in _ROWS]


def _apart(features: Features, row: int) -> np.ndarray:
    """Return the squared distance of a row of the original from every row of the release."""
    import numpy as np

    total = np.zeros(len(features.Y))
    for j, (weight, kind) in enumerate(zip(features.weight, features.kind, strict=True)):
        far = features.Y[:, j] - features.X[row, j]
        if kind == 1:
            total += weight * (far != 0)
        else:
            total += weight * (far if kind == 0 else np.maximum(far if kind == 2 else -far, 0.0)) ** 2
    return total


def _hit(far: np.ndarray, released: np.ndarray, person: int) -> float:
    """Return the probability that whoever takes one of the nearest persons takes the right one."""
    import numpy as np

    least = far[released].min()
    if not np.isfinite(least) or far[person] > least + _CLOSE:
        return 0.0
    return 1 / int((far[released] <= least + _CLOSE).sum())
