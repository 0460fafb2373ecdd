"""Averaging: several noisy releases of the same records, put together."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.recovery import Within, guessed, shares
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row import Detail


@dataclass(frozen=True)
class Averaged(Detail):
    """The share of values recovered, by column, and by the first release alone."""

    by_column: dict[str, float]
    within: float
    """So many standard deviations count as recovered."""
    one_release: float
    releases: int


@attack(
    "averaging",
    needs=("match", "numeric", "second"),
    source="sqlmicro: the noise of a mean of r independent releases has 1/r of the variance",
    templates=("audit/values.sql", "attack/averages.sql", "attack/features.sql"),
)
def averaging(knowledge: Knowledge, *, within: Within = 0.01) -> Measured:
    """Average the values of a record over several releases.

    Returns
    -------
    Measured
        The rate is the share of values recovered to `within` standard deviations by the mean of the releases, and
        `by_column`; `one_release` is the share that the first release alone gives, and chance what a released value of
        the column, taken at random, would. A record counts where all releases have a value.

    Notes
    -----
    The defence is to release once, or noise drawn from a key that stays, so that every release has the same.
    """
    attacked = knowledge.first
    names = {column.name for column in attacked.numeric_columns}
    for other in knowledge.releases[1:]:
        names &= {column.name for column in other.numeric_columns}
    columns = [column for column in attacked.numeric_columns if column.name in names]
    rows = attacked.warehouse.rows(
        "attack/averages.sql",
        original=attacked.originals,
        released=attacked.released,
        alone="r1",
        others=[(f"r{number}", other.released) for number, other in enumerate(knowledge.releases[1:], 2)],
        columns=columns,
        within=within,
    )
    rate, values, by_column = shares((name, recovered, records) for name, recovered, _, records in rows)
    alone, _, _ = shares((name, recovered, records) for name, _, recovered, records in rows)
    detail = Averaged(by_column, within, alone, len(knowledge.releases))
    return Measured(rate, guessed(attacked, columns, within), values, detail, "values")
