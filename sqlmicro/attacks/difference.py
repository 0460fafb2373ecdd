"""Difference: what two releases of the same records leave of k when they are put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Measured, NothingToAttack, attack
from sqlmicro.attacks.row import Detail
from sqlmicro.database.templates import Name, Params
from sqlmicro.options.params import Param

LeastK = Annotated[int | None, Param("Difference of releases: the k they promise. Default: the one both have.", min=2)]


@dataclass(frozen=True)
class InCommon(Detail):
    """What two classes have in common: fewer than k records count."""

    k: int
    linked: float
    """The mean of 1/common records."""


@attack(
    "difference",
    needs=("match", "second"),
    source="Ganta, Kasiviswanathan & Smith (2008), composition attacks",
    templates=("audit/values.sql", "attack/intersections.sql", "attack/person_intersections.sql"),
)
def difference(
    knowledge: Knowledge,
    *,
    k: LeastK = None,
) -> Measured:
    """Intersect the class of a person in one release with that in another.

    Returns
    -------
    Measured
        The rate is the share of the records of both releases whose two classes have fewer than k records in common;
        chance is the share that is in a class of fewer than k in either release alone, without the other. `linked` is
        the mean of 1/common records, and `k` the smaller of the two releases' k where none was given.

    Notes
    -----
    Only the first two releases are taken. With --person classes are counted in persons, and a person is worth what the
    record of hers is that has the fewest persons in common. The defence is to publish one grouping, with all the
    columns.
    """
    assert knowledge.second is not None
    first, second = knowledge.first, knowledge.second
    both: Params = {"first": _written(first), "second": _written(second)}
    both |= {"columns": first.columns, "others": second.columns}
    if first.persons is None:
        rows = first.warehouse.rows("attack/intersections.sql", **both)
    else:
        rows = first.warehouse.rows(
            "attack/person_intersections.sql", original=first.originals, person=first.whose, **both
        )
    records = sum(count for *_, count in rows)
    if not records:
        raise NothingToAttack("attack, --match", "must find the records of one release in the other", "none found")
    least = k or max(2, min(min(before, after) for before, after, _, _ in rows))
    rate = sum(count for *_, size, count in rows if size < least) / records
    alone = sum(count for before, after, _, count in rows if min(before, after) < least) / records
    linked = sum(count / size for *_, size, count in rows) / records
    return Measured(rate, alone, records, InCommon(least, linked), first.unit)


def _written(attacked: AttackedRelease) -> Name:
    attacked.check_matches()
    return attacked.written
