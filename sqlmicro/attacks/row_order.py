"""Row-order linkage: the record at the same place of the release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import LINKED, AttackedRelease, by_person
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.neighbours import apart, nearest_to_tried
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, attack

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class SamePlaces(Detail):
    """The correlation of the places of records in both tables."""

    order_correlation: float


@attack(
    "row-order",
    source="sqlmicro: a release in the order of the original gives every record away",
    templates=LINKED,
)
def row_order(knowledge: Knowledge) -> Measured:
    """Take the record at the same place of the release.

    Returns
    -------
    Measured
        The rate is the share of records tried whose own record has the same place in the release, and chance 1/m. Where
        records are matched, `order_correlation` is the correlation of the places: 0 for a shuffled release, near 1
        where records were left out and the others kept their order. Else a record counts when the one at its place is
        among the nearest, and chance is the same for any released record: the mean of ties/m. With --person it is the
        share of persons with a record at whose place one of theirs is.
    """
    import numpy as np

    attacked = knowledge.first
    rows = attacked.tried[attacked.tried < attacked.sizes[1]]
    if not len(rows):
        raise NothingToAttack("attack, --sample", "must hold records at places that the release has", "none")
    right, chances = found_at(attacked, rows, rows)
    detail = None
    if attacked.truth is not None and len(attacked.tried) > 1:
        places = np.corrcoef(attacked.tried, attacked.truth[attacked.tried])[0, 1]
        detail = SamePlaces(float(places))
    found = by_person(attacked.persons, rows, right.astype(float))
    return Measured(float(found.mean()), _chance(attacked, rows, chances), len(found), detail, attacked.unit)


def _chance(attacked: AttackedRelease, rows: np.ndarray, chances: np.ndarray) -> float:
    """Return the mean of the chances of the records tried; of persons, each of whom has that of any of her records."""
    import numpy as np

    if attacked.persons is None:
        return math.fsum(chances) / len(chances)
    missed = np.bincount(attacked.persons.original[rows], np.log1p(-np.minimum(chances, 1 - 1e-12)))
    return float((1 - np.exp(missed[np.unique(attacked.persons.original[rows])])).mean())


def found_at(attacked: AttackedRelease, rows: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which records of the original (t,) are found at given places of the release (t,), and the chances of each.

    Without a match a place is right when its record is among those nearest to the original. Where persons are looked
    for, any record of the same person is right.
    """
    import numpy as np

    right: np.ndarray
    if attacked.truth is not None and attacked.persons is not None:
        who, of = attacked.persons.original, attacked.persons.released
        right = of[released] == who[rows]
        return right, np.bincount(of, minlength=int(who.max()) + 1)[who[rows]] / len(of)
    if attacked.truth is not None:
        right = attacked.truth[rows] == released
        return right, np.full(len(rows), 1 / attacked.sizes[1])
    found = nearest_to_tried(attacked)
    among = np.searchsorted(attacked.tried, rows)
    return apart(attacked.features, rows, released) == found.least[among], found.ties[among] / attacked.sizes[1]
