"""Homogeneity: classes in which everybody has the same sensitive value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.inference import read_off
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.persons import Persons
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row import Detail
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name

if TYPE_CHECKING:
    import numpy as np

_MOST_VALUES = 200
"""So many values of a column count for what chance gives to persons, the most frequent ones."""


@dataclass(frozen=True)
class Alike(Detail):
    """The column in which classes are alike, and how far that can be relied on."""

    sensitive: str
    right: float | None = None
    """How often the value of the nearest class is right about a record of the original; None if it lacks the column."""
    commonest: float | None = None
    """How often the commonest released value is."""


@attack(
    "homogeneity",
    needs=("columns", "sensitive"),
    source="Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)",
    templates=(
        "audit/values.sql",
        "attack/class_values.sql",
        "attack/value_sizes.sql",
        "attack/class_codes.sql",
        "attack/features.sql",
        "attack/columns.sql",
    ),
    outsider=False,
)
def homogeneity(knowledge: Knowledge) -> list[Measured]:
    """Read the sensitive value of a class that has only one: nobody needs to be linked for that.

    Returns
    -------
    list of Measured
        For every sensitive column the share of the records that are in such a class; NULL is a value of its own. Chance
        is the same share with the values dealt to the records at random, which is what the sizes of the classes make
        by themselves. `right` is how often the value of the nearest class is true of a record of the original, and
        `commonest` how often the commonest value is: a class of one record is alike, and need not be right.

    Notes
    -----
    With --person it is the share of the persons with a record in a class where all persons have one value in common, be
    it one of several that each of them has: whoever is known to be in the class has it. Chance is then computed as if
    values were drawn independently.
    """
    attacked = knowledge.first
    warehouse = attacked.warehouse
    found = []
    written = attacked.values(attacked.release, "sensitive", [], [*attacked.columns, *knowledge.sensitive], view=False)
    for column in knowledge.sensitive:
        if attacked.persons is not None:
            found.append(_of_persons(attacked, attacked.persons, written, column))
            continue
        rows = warehouse.rows("attack/class_values.sql", relation=written, columns=attacked.columns, sensitive=column)
        values = [int(n) for (n,) in warehouse.rows("attack/value_sizes.sql", relation=written, column=column)]
        n = sum(values)
        alike = sum(records for _, _, records in rows)
        chance = sum(size * classes * all_alike(size, values) for size, classes, _ in rows) / n
        found.append(Measured(alike / n, chance, n, _alike(attacked, column)))
    return found


def _of_persons(attacked: AttackedRelease, persons: Persons, written: Name, column: Column) -> Measured:
    """Return the share of the persons who are in a class where all persons have a value in common."""
    import numpy as np

    codes = attacked.warehouse.arrays(
        "attack/class_codes.sql", relation=written, columns=attacked.columns, sensitive=column
    )
    label, value, who = codes["label"].astype(np.int64), codes["code"].astype(np.int64), persons.released
    everybody, values = int(who.max()) + 1, int(value.max()) + 1
    pairs, records = np.unique(label * everybody + who, return_counts=True)
    of_class, members = pairs // everybody, pairs % everybody
    size = np.bincount(of_class)
    _, valued = np.unique(label * values + value, return_inverse=True)
    once = np.unique(valued * everybody + who) // everybody
    have = np.bincount(once)
    alike = np.zeros(len(size), dtype=bool)
    alike[label[have[valued] == size[label]]] = True
    n = persons.in_release
    rate = len(np.unique(members[alike[of_class]])) / n
    chance = _chance(np.bincount(value) / len(value), of_class, members, records)
    return Measured(rate, chance, n, _alike(attacked, column), "persons")


def _alike(attacked: AttackedRelease, column: Column) -> Alike:
    """Return the column, and how often reading it off the nearest class is right."""
    if column.name not in attacked.theirs:
        return Alike(column.name)
    return Alike(column.name, *read_off(attacked, column))


def _chance(shares: np.ndarray, of_class: np.ndarray, members: np.ndarray, records: np.ndarray) -> float:
    """Return the share of persons in a class where all have a value in common, were values drawn independently.

    Parameters
    ----------
    shares : ndarray of shape (m,)
        Of the values.
    of_class, members, records : ndarray of shape (t,)
        The class, the person, and her number of records there, for every person in every class, class after class.
    """
    import numpy as np

    all_have = np.zeros(int(of_class.max()) + 1)
    for share in np.sort(shares)[::-1][:_MOST_VALUES]:
        has = np.log(np.maximum(1 - (1 - share) ** records, 1e-300))
        all_have += np.exp(np.bincount(of_class, has))
    missed = np.bincount(members, np.log1p(-np.minimum(all_have[of_class], 1 - 1e-12)))
    return float((1 - np.exp(missed[np.unique(members)])).mean())


def all_alike(size: int, values: Sequence[int]) -> float:
    """Return the probability that so many records drawn without replacement have one value, which so many have each.

    >>> round(all_alike(2, [2, 2]), 6), all_alike(1, [3, 1])
    (0.333333, 1.0)
    """
    if size == 1:
        return 1.0
    n = sum(values)
    ways = sum(math.exp(_log_choose(value, size) - _log_choose(n, size)) for value in values if value >= size)
    return min(1.0, ways)


def _log_choose(n: int, size: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
