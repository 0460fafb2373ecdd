"""SAFE with weights: what is released is the mean weight of a group, calibrated so that weighted totals stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.columns import names_of
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.occurring import at_driver

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.safe_method.candidates import Candidate
    from sqlmicro.work import Work

_ROUNDS, _EXACT, _SAID = 1_000, 1e-13, 1e-9


def calibrated(work: Work, cells: Cells, one: Candidate, groups: Name, suffix: str, k: int) -> Name:
    """Return the weight that every record of a candidate is released with, and say which totals it keeps.

    Source: Deville and Särndal 1992, raking; the categories are those that k records or more have.
    """
    import numpy as np
    import pyarrow as pa

    there, (weight_column,) = at_driver(work), filter(None, [cells.weight_column])
    small = there.warehouse
    found = small.arrays("safe/weights_of_groups.sql", members=one.members, cells=cells.relation, weights=weight_column)
    both = small.arrays(
        "safe/both_categories.sql", released=one.released, original=cells.original, nominal=cells.nominal
    )
    of_records = small.arrays("safe/weights_of_cells.sql", cells=cells.original, weights=weight_column)["weight"]
    count = len(found["label"])
    codes = np.array([both[column.staged] for column in cells.nominal], dtype=np.int64).reshape(-1, len(both["n"])).T
    n = both["n"][count:].astype(np.int64)
    margins = margins_of(codes[:count], codes[count:], n, of_records * n, k)
    made = raked(found["weight"], margins)
    table = pa.table({"label": found["label"], "value": made.weight / found["n"]})
    means = work.warehouse.hand_over(there.load(table, f"calibrated{suffix}", "filled with the weights of the groups"))
    if not suffix:
        work.note(_said(cells, weight_column.name, margins, made))
    return work.run("replace/by_label.sql", f"weights{suffix}", groups=groups, representatives=means, columns=["value"])


@dataclass(frozen=True)
class Margin:
    """The categories of a column: that of every group (G,), the weighted total of each, whether some are joined."""

    category: np.ndarray
    total: np.ndarray
    joined: bool


@dataclass(frozen=True)
class Raked:
    """The weights of all records of every group (G,), by which factors they changed, and the largest deviation left.

    `off` has one entry for every margin, relative to the total of its category.
    """

    weight: np.ndarray
    low: float
    high: float
    off: list[float]


def categories(records: np.ndarray, shown: np.ndarray, k: int) -> np.ndarray:
    """Return the category of every value (V,): its own, or one for all that fewer than k records have or nobody shows.

    Those are joined with the least frequent of the others until k records have them: the total of a value is the
    difference of the others to the whole, so that one alone may not stand for fewer.

    >>> import numpy as np
    >>> categories(np.array([9, 1, 4, 1]), np.array([True, True, True, False]), 3).tolist()
    [1, 0, 0, 0]
    >>> categories(np.array([9, 4, 5]), np.array([True, True, True]), 3).tolist()
    [1, 2, 3]
    """
    import numpy as np

    own = (records >= k) & shown
    for value in np.argsort(records, kind="stable"):
        apart = ~own
        if not records[apart].sum() or (records[apart].sum() >= k and shown[apart].any()):
            break
        own[value] = False
    return np.where(own, np.cumsum(own), 0)


def margins_of(groups: np.ndarray, records: np.ndarray, n: np.ndarray, weight: np.ndarray, k: int) -> list[Margin]:
    """Return the margins of the nominal columns, from the values of groups (G, q) and of cells (C, q) of n records.

    The last one is the total. `weight` (C,) is that of all records of a cell.
    """
    import numpy as np

    found = []
    for shown, had in zip(groups.T, records.T, strict=True):
        values = int(max(shown.max(), had.max())) + 1
        of = categories(np.bincount(had, n, values), np.bincount(shown, minlength=values) > 0, k)
        found.append(Margin(of[shown], np.bincount(of[had], weight), bool((of == 0).any())))
    return [*found, Margin(np.zeros(len(groups), dtype=np.int64), np.array([weight.sum()]), joined=False)]


def raked(weight: np.ndarray, margins: Sequence[Margin]) -> Raked:
    """Return weights that have the totals of every margin, as near to those given as raking brings them.

    Factors are above 0. Where no weights have all totals, one margin after the other is taken, those of fewest
    categories first, if there are weights with its totals too. The last margin is the total of the whole file.

    >>> import numpy as np
    >>> whole = Margin(np.array([0, 0, 0]), np.array([40.0]), joined=False)
    >>> sex = Margin(np.array([0, 0, 1]), np.array([30.0, 10.0]), joined=False)
    >>> raked(np.array([10.0, 10.0, 20.0]), [sex, whole]).weight.tolist()
    [15.0, 15.0, 10.0]
    >>> region = Margin(np.array([0, 1, 2]), np.array([5.0, 5.0, 30.0]), joined=False)  # no weights have both
    >>> found = raked(np.array([10.0, 10.0, 20.0]), [region, sex, whole])
    >>> found.weight.tolist(), found.low, found.high, found.off
    ([15.0, 15.0, 10.0], 0.5, 1.5, [2.0, 0.0, 0.0])
    """
    whole = len(margins) - 1
    made, off = _raked_by(weight, margins, range(len(margins)))
    if max(off) > _SAID:
        # Raking all of them would take weights to nothing: those of few categories come first.
        kept = [whole]
        made, off = _raked_by(weight, margins, kept)
        for m in sorted(range(whole), key=lambda m: len(margins[m].total)):
            tried, left = _raked_by(made, margins, [m, *kept])
            if max(left[one] for one in (m, *kept)) <= _SAID:
                made, off, kept = tried, left, [m, *kept]
    factors = made / weight
    return Raked(made, float(factors.min()), float(factors.max()), off)


def _raked_by(weight: np.ndarray, margins: Sequence[Margin], kept: Sequence[int]) -> tuple[np.ndarray, list[float]]:
    """Return weights that were raked by some of the margins, and by how much every margin is off."""
    import numpy as np

    made = weight.astype(float)
    for _ in range(_ROUNDS):
        worst = 0.0
        for margin in (margins[m] for m in kept):
            has = np.bincount(margin.category, made, len(margin.total))
            factor = np.divide(margin.total, has, out=np.ones_like(has), where=has > 0)
            made = made * factor[margin.category]
            worst = max(worst, float(np.abs(factor - 1).max()))
        if worst <= _EXACT:
            break
    off = []
    for margin in margins:
        has = np.bincount(margin.category, made, len(margin.total))
        apart = np.divide(np.abs(has - margin.total), margin.total, out=np.zeros_like(has), where=margin.total > 0)
        off.append(float(apart.max()))
    return made, off


def _said(cells: Cells, name: str, margins: Sequence[Margin], made: Raked) -> str:
    """Return what is said of the weights: which totals are those of the original, and what joins rare values."""
    kept = [column for column, off in zip(cells.nominal, made.off, strict=False) if off <= _SAID]
    lost = {column.name: off for column, off in zip(cells.nominal, made.off, strict=False) if off > _SAID}
    joined = [c.name for c, one in zip(cells.nominal, margins, strict=False) if one.joined]
    text = f"weights: {name} is the mean weight of each group, calibrated: its total "
    text += f"and its totals by {', '.join(names_of(kept))} are" if kept else "is"
    text += f" as before; factors {made.low:.3g} to {made.high:.3g}. k holds with it"
    if joined:
        text += (
            f". Values that fewer than k records have, or that are not released, count as one in {', '.join(joined)}"
        )
    if lost:
        listed = ", ".join(f"{column} {100 * off:.2g} %" for column, off in lost.items())
        text += f". warning: no weights have all totals; off by at most: {listed}"
    return text
