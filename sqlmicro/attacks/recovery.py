"""Values an attacker recovers: how near is near enough, and how often a guess is.

k-1 insiders: all but one of a group put together what they know of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, attack
from sqlmicro.database.columns import Column
from sqlmicro.options.params import Param

Within = Annotated[float, Param("Values recovered: how near, in standard deviations of the original.", min=0)]


def shares(rows: Iterable[tuple[str, int, int]]) -> tuple[float, int, dict[str, float]]:
    """Return the share of values recovered, how many there are, and the share of every column.

    Raises
    ------
    NothingToAttack
        When no record has a value in both tables.
    """
    found = list(rows)
    values = sum(records for _, _, records in found)
    if not values:
        raise NothingToAttack("attack, --columns", "must have values in both tables", "none")
    by_column = {name: recovered / records for name, recovered, records in found if records}
    return sum(recovered for _, recovered, _ in found) / values, values, by_column


def guessed(attacked: AttackedRelease, columns: Sequence[Column], within: float) -> float:
    """Return the share of the original values that a released value of the column, taken at random, is near enough to.

    Each numeric column counts by the values it has; O(n log n) each.
    """
    import numpy as np

    arrays = attacked.warehouse.arrays(
        "attack/features.sql", original=attacked.originals, released=attacked.released, numeric=columns, nominal=[]
    )
    near, values, n = 0.0, 0, attacked.sizes[0]
    for column in columns:
        x, y = (part[~np.isnan(part)] for part in np.split(arrays[column.staged].astype(float), [n]))
        y.sort()
        reach = within * float(x.std(ddof=1)) if len(x) > 1 else 0.0
        if len(y):
            near += float((np.searchsorted(y, x + reach, "right") - np.searchsorted(y, x - reach)).sum()) / len(y)
        values += len(x)
    return near / values if values else 0.0


@dataclass(frozen=True)
class Recovered(Detail):
    """The share of values recovered, by column."""

    by_column: dict[str, float]
    within: float
    """So many standard deviations count as recovered."""
    groups: str
    """What was taken for a group: records alike in all `columns`, or in the column alone."""


@attack(
    "insider",
    needs=("match", "numeric"),
    source="k mean - sum of the others; Domingo-Ferrer, Sebe & Castella (2004) on what a mean tells the others",
    templates=("audit/values.sql", "attack/group_sums.sql", "attack/features.sql"),
    outsider=False,
)
def insider(knowledge: Knowledge, *, within: Within = 0.01) -> Measured:
    """Reconstruct a value from the released mean and the other values of the group: f mean - sum.

    Returns
    -------
    Measured
        The rate is the share of values recovered to `within` standard deviations, and `by_column`; chance is the share
        that a released value of the column, taken at random, would be as near to. `groups` says what was taken for a
        group, whichever gives more away: records alike in all the columns, or in the column alone.

    Notes
    -----
    Exact means give every value away, and no k is a defence against it. Rounding the means leaves f times the error of
    the mean, noise and medians do so too; groups whose members do not know each other are the other defence.
    """
    attacked = knowledge.first
    columns = attacked.numeric_columns
    groupings = {
        "records": [(column, list(attacked.columns)) for column in columns],
        "columns": [(column, [column]) for column in columns],
    }
    found = {
        name: shares(attacked.warehouse.rows(
            "attack/group_sums.sql", original=attacked.originals, released=attacked.released, columns=grouping,
            within=within,
        ))
        for name, grouping in groupings.items()
    }  # fmt: skip
    best = max(found, key=lambda name: found[name][0])
    rate, values, by_column = found[best]
    return Measured(rate, guessed(attacked, columns, within), values, Recovered(by_column, within, best), "values")
