"""Distance-based record linkage: the released record that is nearest to what is known of a person."""

from __future__ import annotations

from sqlmicro.attacks.attacked import LINKED
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkage import distance_linkage
from sqlmicro.attacks.registry import Measured, attack


@attack(
    "distance-linkage",
    source="Pagliuca & Seri (1999); Domingo-Ferrer & Torra (2001)",
    templates=LINKED,
)
def distance(knowledge: Knowledge) -> Measured:
    """Take the nearest released record, one of those equally near at random.

    The attacker knows all the columns of a person exactly.

    Returns
    -------
    Measured
        The rate is the mean of 1/ties over the records tried, 0 where the true record is not among the nearest; chance
        is 1/m, taking any of the m released records.

    Notes
    -----
    The squared distance is the sum over the columns of the squared difference in standard deviations of the original,
    and of 1 for a nominal value that differs; NULL differs by 1 from every value and is else taken as the mean. From a
    range, as generalized numbers and dates are written, the distance is that to its nearer end, 0 inside. In a release
    where every combination of the columns occurs k times, at least k records are equally near: the rate is at
    most 1/k, whatever the truth.
    """
    return distance_linkage(knowledge.first)
