"""Values an attacker recovers: how near is near enough, and how often a guess is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.registry import NothingToAttack
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
