"""Homogeneity: classes in which everybody has the same sensitive value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row import Detail


@dataclass(frozen=True)
class Alike(Detail):
    """The column in which classes are alike."""

    sensitive: str


@attack(
    "homogeneity",
    needs=("columns", "sensitive"),
    source="Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)",
    templates=("audit/values.sql", "attack/class_values.sql", "attack/value_sizes.sql"),
)
def homogeneity(knowledge: Knowledge) -> list[Measured]:
    """Read the sensitive value of a class that has only one: nobody needs to be linked for that.

    Returns
    -------
    list of Measured
        For every sensitive column the share of the records that are in such a class; NULL is a value of its own. Chance
        is the same share with the values dealt to the records at random, which is what the sizes of the classes make
        by themselves.
    """
    pair = knowledge.pair
    found = []
    written = pair.values(pair.release, "sensitive", [], [*pair.columns, *knowledge.sensitive], view=False)
    for column in knowledge.sensitive:
        rows = pair.warehouse.rows("attack/class_values.sql", relation=written, columns=pair.columns, sensitive=column)
        values = [int(n) for (n,) in pair.warehouse.rows("attack/value_sizes.sql", relation=written, column=column)]
        n = sum(values)
        alike = sum(records for _, _, records in rows)
        chance = sum(size * classes * all_alike(size, values) for size, classes, _ in rows) / n
        found.append(Measured(alike / n, chance, n, Alike(column.name)))
    return found


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
