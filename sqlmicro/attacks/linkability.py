"""Linkability: two sets of columns of one person that belong together, found out by way of the release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.attacks.control import SOURCE, WITH_CONTROL, Controlled
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.neighbours import groups
from sqlmicro.attacks.registry import Measured, NothingToAttack, attack
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np


@attack("linkability", needs=("columns", "control"), source=SOURCE, templates=WITH_CONTROL, outsider=False)
def linkability(knowledge: Knowledge) -> Measured:
    """Link two halves of what is known of a person: each is nearest to the same released record.

    Returns
    -------
    Measured
        The rate is the mean probability that whoever takes one of the released records that are nearest by the one half
        of the columns, and one of those that are nearest by the other, takes the same record. Chance is the same for
        the control group.

    Notes
    -----
    In a release where every combination of the columns occurs k times, at least k records are nearest by either half:
    the rate is at most 1/k. The columns are divided down the middle, or in turn; either half of the
    people is attacked by what is stronger on the other. O(t m p) for t people.
    """
    beside = knowledge.controlled
    if len(beside.columns) < 2:
        raise NothingToAttack("attack, --columns", "linkability needs two columns", "one")
    found = {name: _linked(beside, parts) for name, parts in _divisions(beside).items()}
    own, control, best = beside.strongest(found)
    detail = beside.against(own, control, best)
    return Measured(float(own.mean()), detail.control, len(own), detail, beside.unit)


def _divisions(beside: Controlled) -> dict[str, list[int]]:
    """Return which half every known column is of, for both divisions, by what they are called."""
    p = len(beside.columns)
    made = [[int(2 * j >= p) for j in range(p)], [j % 2 for j in range(p)]]
    names = [column.name for column in beside.columns]
    return {
        " | ".join(
            ", ".join(name for name, part in zip(names, parts, strict=True) if part == half) for half in (0, 1)
        ): parts
        for parts in made
    }


def _linked(beside: Controlled, parts: list[int]) -> np.ndarray:
    """Return the probability that both halves of every target (t,) end with the same released record."""
    import numpy as np

    kernels = late("sqlmicro.attacks._control_kernels")
    sides = [
        beside.features([column for column, part in zip(beside.columns, parts, strict=True) if part == half])
        for half in (0, 1)
    ]
    people = np.concatenate(beside.targets)
    X = np.hstack([side.X[people] for side in sides])
    released = groups(np.hstack([side.Y for side in sides]), sides[0].times)
    weight, kind = (np.concatenate([getattr(side, name) for side in sides]) for name in ("weight", "kind"))
    of = np.repeat([0, 1], [side.X.shape[1] for side in sides])
    counts = np.empty((len(X), 3), dtype=np.int64)
    at_once = max(1, kernels.WORK_PER_CALL // len(released.points))
    with beside.attacked.warehouse.progress.kernel("records both halves share", len(X)) as ticking:
        for begin in range(0, len(X), at_once):
            block = slice(begin, begin + at_once)
            kernels.shared(X[block], released.points, weight, kind, of, released.times, counts[block])
            ticking.tick(min(begin + at_once, len(X)), len(X))
    found: np.ndarray = counts[:, 2] / (counts[:, 0] * counts[:, 1])
    return found
