"""Row-order linkage: the record at the same place of the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import LINKED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkage import apart, nearest
from sqlmicro.attacks.registry import Measured, NothingToAttack, attack
from sqlmicro.attacks.row import Detail

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
        among the nearest, and chance is the same for any released record: the mean of ties/m.
    """
    import numpy as np

    attacked = knowledge.first
    rows = attacked.tried[attacked.tried < attacked.sizes[1]]
    if not len(rows):
        raise NothingToAttack("attack, --sample", "must hold records at places that the release has", "none")
    right, chance = found_at(attacked, rows, rows)
    detail = None
    if attacked.truth is not None and len(attacked.tried) > 1:
        places = np.corrcoef(attacked.tried, attacked.truth[attacked.tried])[0, 1]
        detail = SamePlaces(float(places))
    return Measured(float(right.mean()), chance, len(rows), detail)


def found_at(attacked: AttackedRelease, rows: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, float]:
    """Return which records of the original (t,) are found at given places of the release (t,), and by chance.

    Without a match a place is right when its record is among those nearest to the original.
    """
    import numpy as np

    if attacked.truth is not None:
        right: np.ndarray = attacked.truth[rows] == released
        return right, 1 / attacked.sizes[1]
    found = attacked.once("nearest", lambda: nearest(attacked, attacked.features, "nearest released records"))
    among = np.searchsorted(attacked.tried, rows)
    chance = float(found.ties[among].mean()) / attacked.sizes[1]
    return apart(attacked.features, rows, released) == found.least[among], chance
