"""k-1 insiders: all but one of a group put together what they know of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.recovery import Within, guessed, shares
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row import Detail


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
