"""Totals: what the totals of two releases differ by, which is the record of whoever came or left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import MOST_TRIED
from sqlmicro.attacks.difference import LeastK
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.overlaps import Classes, nearest_to, overlaps
from sqlmicro.attacks.recovery import Within
from sqlmicro.attacks.registry import Measured, NothingToAttack, attack
from sqlmicro.attacks.row import Detail

if TYPE_CHECKING:
    import numpy as np

_DIGITS = 8
"""Values that are rounded to more digits than these are taken for exact."""
_WHOLE = ("integer", "date")
"""Values whose totals are whole numbers, as everybody knows of ages and days."""


@dataclass(frozen=True)
class Isolated(Detail):
    """The records that differences of totals are about."""

    k: int
    differences: int
    """Differences of totals that are about 1 to k - 1 records."""
    records: int
    """The records that these are about."""
    alone: int
    """Records that a difference is about alone: it is the record."""
    by_column: dict[str, float]
    """Of these, the share of values recovered."""
    within: float
    """So many standard deviations count as recovered."""


@attack(
    "totals",
    needs=("numeric", "second"),
    source="Dalenius & Denning (1982), insertion: the difference of two totals is the record that was inserted",
    templates=("audit/values.sql", "attack/class_totals.sql", "attack/columns.sql"),
)
def totals(knowledge: Knowledge, *, k: LeastK = None, within: Within = 0.01) -> Measured:
    """Subtract the totals of one release from those of another, and find who came or left between them.

    Returns
    -------
    Measured
        The rate is the share of values recovered to `within` standard deviations, of the records that a difference is
        about; 0 where no difference is about fewer than k. A value is right if the nearest record of the original has
        it. Chance is the same share for released classes. `differences` are those about 1 to k - 1 records, `records`
        how many these are, `alone` those that are the only one of a difference, and `by_column` the share of their
        values that were recovered.

    Notes
    -----
    Only the first two releases are taken, and no match is needed. A total is a class's mean times its records: exact,
    whatever it is rounded to, where that tells it from the next whole number. Classes that both releases have alike
    cancel. Which of the others are of the same records is told by where they lie. Needs the original as it was with
    those who came, or who left. The defence is `--series`, or to replace the first release.
    """
    import numpy as np

    assert knowledge.second is not None
    first, second = knowledge.first, knowledge.second
    theirs = {column.name: column for column in second.numeric_columns}
    columns = [column for column in first.numeric_columns if column.name in theirs]
    if not columns:
        raise NothingToAttack("attack, --release", "two releases must have a column of numbers in common", "none")
    found = first.warehouse.arrays(
        "attack/class_totals.sql", first=first.released, second=second.released, columns=columns,
        others=[theirs[column.name] for column in columns],
    )  # fmt: skip
    X = np.column_stack([found[f"x{number}"] for number in range(1, len(columns) + 1)]).astype(float)
    sizes = np.column_stack([found["before"], found["after"]])
    least = k or max(2, int(sizes[sizes > 0].min()))
    if (sizes[:, 0] == sizes[:, 1]).all():
        raise NothingToAttack("attack, --release", "two releases must have different totals", "equal ones")
    isolated = overlaps(_classes(X, sizes, [first.theirs[column.name].family in _WHOLE for column in columns]), least)
    arrays = first.warehouse.arrays("attack/columns.sql", relation=first.originals, numeric=columns, texts=[])
    original = np.column_stack([arrays[column.staged] for column in columns]).astype(float)
    right = _recovered(
        original, np.array([one.total / one.persons for one in isolated if abs(one.persons) == 1]), within
    )
    records = sum(abs(one.persons) for one in isolated)
    detail = Isolated(
        least, len(isolated), records, len(right),
        {column.name: float(right[:, j].mean()) for j, column in enumerate(columns) if len(right)}, within,
    )  # fmt: skip
    trials = max(records, 1) * len(columns)
    known = X[~np.isnan(X).any(axis=1)]
    guesses = _recovered(original, known[:: 1 + len(known) // MOST_TRIED], within)
    chance = float(guesses.mean()) if len(guesses) else 0.0
    return Measured(float(right.sum()) / trials, chance, trials, detail, "values")


def _classes(X: np.ndarray, sizes: np.ndarray, whole: Sequence[bool]) -> Classes:
    """Return the classes of both releases with their totals, as exact as rounding allows; NULL adds nothing."""
    import numpy as np

    more = sizes[:, 1] - sizes[:, 0]
    missing = np.isnan(X)
    X = np.where(missing, 0.0, X)
    middle = X.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    rounding = np.array([_rounded(column) for column in X.T])
    exact = np.array(whole) & (sizes.max(initial=0) * rounding < 0.5)  # the next whole number is the total
    rounding[exact] = 0.0
    before, after = (np.where(exact, np.rint(each), each) for each in (side[:, None] * X for side in sizes.T))
    return Classes(np.where(missing, middle, X), more, after - before, rounding)


def _rounded(values: np.ndarray) -> float:
    """Return by how much values may have been rounded: half of their last digit; 0 where they were not."""
    import numpy as np

    for digits in range(_DIGITS):
        if np.allclose(values, np.round(values, digits), rtol=0, atol=1e-9):
            return float(0.5 * 10.0**-digits)
    return 0.0


def _recovered(original: np.ndarray, guesses: np.ndarray, within: float) -> np.ndarray:
    """Return which values of guessed records (g, p) are those of the nearest record of the original."""
    import numpy as np

    known = original[~np.isnan(original).any(axis=1)]
    if not len(guesses) or not len(known):
        return np.zeros((0, original.shape[1]), dtype=bool)
    scale = known.std(axis=0, ddof=1) if len(known) > 1 else np.zeros(original.shape[1])
    divisor = np.where(scale > 0, scale, 1.0)
    near = nearest_to(known / divisor)
    at = [near(guess, 1)[0][0] for guess in guesses / divisor]
    found: np.ndarray = abs(guesses - known[at]) <= within * scale + 1e-9 * divisor
    return found
