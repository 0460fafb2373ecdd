"""How many units a class of a level holds where records are grouped inside it: few lose little of their own columns,
many leave the records inside more to choose from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.group.divided import divided
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import missing
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import late, silent
from sqlmicro.safe_method.gathered import points
from sqlmicro.work import Units, Work

if TYPE_CHECKING:
    import numpy as np

_SAMPLE = 6000  # records whose groups are tried for every size
_STRATA = 20  # strata that are tried
_WORSE = 2  # sizes in a row that lose more than the best, after which no larger one is tried
_MOST_VALUES = 50  # of a nominal column that is looked at


@dataclass(frozen=True, eq=False)
class _Records:
    """The records of units: standardised columns of their own level, and of the levels below."""

    own: np.ndarray
    below: np.ndarray
    unit: np.ndarray
    persons: np.ndarray | None

    def of(self, rows: np.ndarray) -> _Records:
        """Return some of them, whose units are numbered from 0."""
        import numpy as np

        unit = np.unique(self.unit[rows], return_inverse=True)[1]
        persons = None if self.persons is None else self.persons[rows]
        return _Records(self.own[rows], self.below[rows], unit, persons)


def settle(work: Work, k: int) -> int:
    """Return how many units a class is to hold, k or more, and whether columns of the levels below guide its groups.

    The guides of the part are dropped where they do not help, and a note says what was chosen.

    Notes
    -----
    Sizes from k on, each twice the one before, are tried on classes made by halving the units, the smallest also with
    the guides; in some classes of each the records are grouped. The size at which all columns together lose least is
    taken, by a parabola through the best and its neighbours. O(n p log n) time for every size.
    """
    units = work.demand.units
    if units is None or not units.below:
        return k
    records, strata, counted = _records(work, units)
    best = _best(records, strata[records.unit], k)
    work.records = replace(work.records, guides=units.below if best[1] else ())
    if best[0] > k:
        work.note(_told(best[0], units.level.unit, strata, counted))
    return best[0]


def _told(size: int, unit: str, strata: np.ndarray, counted: np.ndarray) -> str:
    """Return what is said of classes, given the stratum of every unit and what it counts as."""
    import numpy as np

    found = np.bincount(strata)
    alike = ", each unknown one counted by itself" if len(np.unique(counted)) < len(counted) else ""
    smaller = ", or all of a stratum that has fewer" if found[found > 0].min() < size else ""
    classes = f"classes of {size} {unit}s or more{alike}{smaller}"
    return f"{classes} for the columns of the {unit}: all columns together lose least so"


def _best(records: _Records, strata: np.ndarray, k: int) -> tuple[int, bool]:
    """Return the size that loses least, and whether with guides."""
    import numpy as np

    rng = np.random.default_rng(0)
    order = rng.permutation(np.unique(strata))[:_STRATA]
    some = [records.of(np.flatnonzero(strata == stratum)) for stratum in order]
    largest = max(int(one.unit.max()) + 1 for one in some)
    # Halves of halves of all units: every size is met exactly.
    sizes = [largest / 2**halvings for halvings in range(int(np.log2(max(1.0, largest / k))), -1, -1)]
    alone: list[float] = []
    guided = np.inf
    for size in sizes:
        alone.append(sum(_loss(one, size, k, guided=False) for one in some))
        if size == sizes[0]:
            guided = sum(_loss(one, size, k, guided=True) for one in some)
        if len(alone) - 1 - int(np.argmin(alone)) >= _WORSE:
            break
    best = int(np.argmin(alone))
    if guided < alone[best]:
        return k, True
    if best == 0:  # the smallest classes are best: k units
        return k, False
    lower, least, upper = alone[best - 1], alone[best], alone[min(best + 1, len(alone) - 1)]
    bend = lower - 2 * least + upper
    return round(sizes[best] * 2 ** (0.5 * (lower - upper) / bend if bend > 0 else 0.0)), False


def _loss(records: _Records, size: float, k: int, *, guided: bool) -> float:
    """Return the sum of squares of the columns of the level in its classes, and of the others in groups there."""
    import numpy as np

    halved = late("sqlmicro.group._halving_kernels", "halved")

    units = int(records.unit.max()) + 1
    rows = np.bincount(records.unit)
    means = _means(np.hstack([records.own, records.below]) if guided else records.own, records.unit)
    tree = halved(np.ascontiguousarray(means), np.arange(units), math.ceil(size))
    labels = np.empty(units, dtype=np.int64)
    leaves = np.flatnonzero(tree.leaf)
    for label, leaf in enumerate(leaves):
        labels[tree.order[tree.first[leaf] : tree.stop[leaf]]] = label
    classes = labels[records.unit]
    own = _within(records.own, classes)
    taken, size_of = np.zeros(len(leaves), dtype=np.bool_), np.bincount(labels, rows)
    order = np.random.default_rng(0).permutation(len(leaves))
    taken[order[: max(1, int(np.searchsorted(np.cumsum(size_of[order]), _SAMPLE)))]] = True
    if records.persons is not None:  # all records without a person are one, so that a class may have too few
        taken &= missing(classes, Rules(k, records.persons)) == 0
    inside = np.flatnonzero(taken[classes])
    if not len(inside):
        return own + _within(records.below, classes)
    X, within = records.below[inside], np.unique(classes[inside], return_inverse=True)[1]
    persons = None if records.persons is None else np.unique(records.persons[inside], return_inverse=True)[1]
    groups = divided(X, within, Rules(k, persons), np.random.default_rng(0), silent, rounds=1)
    return own + _within(X, groups) * len(classes) / len(inside)


def _means(X: np.ndarray, unit: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.array([np.bincount(unit, x) for x in X.T]).reshape(X.shape[1], -1).T / np.bincount(unit)[:, None]


def _within(X: np.ndarray, labels: np.ndarray) -> float:
    """Return the sum of squares within groups."""
    return float(((X - _means(X, labels)[labels]) ** 2).sum())


def _records(work: Work, units: Units) -> tuple[_Records, np.ndarray, np.ndarray]:
    """Read the records of the units; of every unit its stratum, and as what it counts."""
    import numpy as np

    asked, members = work.demand, units.level.members
    found = work.warehouse.arrays(
        "load/guaranteed.sql",
        original=asked.original,
        relation=units.records,
        persons=[asked.person] if asked.person else [],
        sensitive=[],
    )
    stays = found["stays"].astype(bool)
    persons = found["person"][stays].astype(np.int64) if asked.person else None
    counts = work.warehouse.arrays("load/unit_counts.sql", relation=work.relation, members=members)
    row_id = counts["row_id"]
    unit = np.searchsorted(row_id, work.warehouse.arrays("load/unit_of_records.sql", members=members)["unit"][stays])
    own, below = (_coordinates(work, units.records, columns, into) for columns, into in (
        (work.columns, "own"), (units.below, "below"),
    ))  # fmt: skip
    return _Records(own, below, unit, persons), work.stratum_numbers(len(row_id)), counts["counted"]


def _coordinates(work: Work, records: Name, columns: Sequence[Column], into: str) -> np.ndarray:
    """Return some columns of the records, standardised; of a nominal one its most frequent values."""
    import numpy as np

    numeric = [column for column in columns if column.numeric]
    nominal = [column for column in columns if not column.numeric]
    of_records = copy(work)
    of_records.records = replace(work.records, relation=records, by=())
    arrays = points(of_records, numeric=numeric, nominal=nominal, into=f"{into}_columns").values
    found = [standardise(arrays[column.staged][:, None].astype(float)) for column in numeric]
    for column in nominal:
        codes = arrays[column.staged].astype(np.int64)
        frequent = np.argsort(-np.bincount(codes), kind="stable")[:_MOST_VALUES]
        found.append((codes[:, None] == frequent) / np.sqrt(2))
    return np.hstack(found)
