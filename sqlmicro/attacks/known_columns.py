"""Known columns: who knows a few columns of a person guesses a further one from what the release shows with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.attacks.attacked import LINKED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.known_sets import KNOWN_COLUMNS, SETS_AT_MOST, KnownSets
from sqlmicro.attacks.registry import Measured, NothingToAttack, attack, wilson
from sqlmicro.attacks.row import Detail
from sqlmicro.attacks.wide_guesses import NumberedSides
from sqlmicro.options.params import Param

_FEWEST_KNOWN = 2


@dataclass(frozen=True)
class FromKnown(Detail):
    """The number of known columns from which most is guessed right, and the set of them that gives most away."""

    known: int
    worst: list[str]
    """For the data holder alone: it tells which combinations are true."""
    guesses: int
    """From that set, and"""
    right: int
    sets: int
    """Sets of so many columns, and"""
    tried: int
    """how many of them were tried."""


@attack(
    "known-columns",
    needs=("columns", "known_columns"),
    source="the question of the audit `inference`; see `sqlmicro help safe`",
    templates=LINKED,
    outsider=False,
)
def known_columns(
    knowledge: Knowledge,
    *,
    known_columns: Annotated[
        int | None,
        Param(
            "Known columns: the intruder knows 2 to so many columns of a person; of every number at most "
            f"{SETS_AT_MOST} sets are tried, evenly spaced. It makes the attack, which is not made otherwise.",
            min=_FEWEST_KNOWN,
        ),
    ] = None,
) -> Measured:
    """Guess a further column of a person who is unique in a few, from the one value that is shown with these.

    Returns
    -------
    Measured
        The share of the guesses that are right, for the number of known columns with the largest; the trials are the
        guesses of all sets of so many columns and all others. Chance is the same share where the commonest value of the
        guessed column is taken. The set is named from which surely most is guessed right: the one with the highest
        lower end of Wilson's interval.

    Notes
    -----
    Who guesses knows the values of somebody, and that nobody else has them. NULL is a value of its own. Of a person
    with several values nothing is guessed, nor columns that were released as ranges.
    """
    attacked = knowledge.first
    columns = [column for column in attacked.columns if column not in attacked.ranges]
    if len(columns) <= _FEWEST_KNOWN:
        must = "the attack needs three columns that are not ranges"
        raise NothingToAttack("attack, known-columns", must, str(len(columns)))
    sides, place = _sides(attacked), {column: number for number, column in enumerate(columns)}
    common = _commonest(sides)
    found = []
    for known in range(_FEWEST_KNOWN, min(known_columns or KNOWN_COLUMNS, len(columns) - 1) + 1):
        sets = KnownSets.of(columns, known)
        counts = [sides.guesses([place[column] for column in one]) for one in sets.drawn]
        made = sum(int(guesses.sum()) for guesses, _ in counts)
        if not made:
            continue
        told = [(int(right.sum()), int(guesses.sum())) for guesses, right in counts]
        surely = [wilson(right / n, n)[0] if n else -1.0 for right, n in told]
        worst = max(range(len(told)), key=surely.__getitem__)
        names = [column.name for column in sets.drawn[worst]]
        detail = FromKnown(known, names, told[worst][1], told[worst][0], sets.there, len(sets.drawn))
        chance = sum(float(guesses @ common) for guesses, _ in counts) / made
        found.append(Measured(sum(right for right, _ in told) / made, chance, made, detail, "values"))
    if not found:
        must = "somebody who is unique in the known columns must be shown with one value of another"
        raise NothingToAttack("attack, known-columns", must, "nobody")
    return max(found, key=lambda one: one.rate)


def _sides(attacked: AttackedRelease) -> NumberedSides:
    """Return the records of both tables, every value numbered."""
    import numpy as np

    features, (n, m) = attacked.features, attacked.sizes
    both, names = np.vstack([features.X, features.Y]), np.array(features.names)
    values = [
        np.unique(both[:, names == column.name], axis=0, return_inverse=True)[1].reshape(-1)
        for column in attacked.columns
        if column not in attacked.ranges
    ]
    none = np.zeros(m, dtype=np.int64)
    whose = np.zeros(n, dtype=np.int64) if attacked.persons is None else attacked.persons.original
    before, after = np.ones(n, dtype=np.int64), np.ones(m, dtype=np.int64)
    return NumberedSides(
        np.concatenate([before, none]), np.concatenate([np.zeros(n, dtype=np.int64), after]),
        np.concatenate([whose, none]), np.array(values),
    )  # fmt: skip


def _commonest(sides: NumberedSides) -> list[float]:
    """Return for every column the share of the original that has its commonest value."""
    import numpy as np

    there = sides.before > 0
    return [float(np.bincount(column[there]).max() / there.sum()) for column in sides.values]
