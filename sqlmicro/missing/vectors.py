"""Records as vectors: columns of any scale become numbers for a kernel, those of all strata or of some at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.database.columns import Column
from sqlmicro.errors import InputError
from sqlmicro.missing.standardise import Standard, side_by_side
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np

_MOST_NUMBERS = 200_000_000
"""At most so many numbers (1.6 GB) make up the vectors of all records."""
_AT_ONCE = 4_000_000
"""Strata are grouped together as long as their vectors have at most so many numbers."""


@dataclass(frozen=True)
class Scales:
    """The columns by scale; an ordinal column comes with the type that has its order."""

    numeric: list[Column]
    ordinal: list[tuple[Column, str]]
    nominal: list[Column]

    def of(self, columns: Sequence[Column]) -> Scales:
        """Return the scales of some of the columns."""
        return Scales(
            [column for column in self.numeric if column in columns],
            [(column, kind) for column, kind in self.ordinal if column in columns],
            [column for column in self.nominal if column in columns],
        )


@dataclass(frozen=True)
class Vectors:
    """Records as vectors: row_id (n,), the stratum of each (n,) from 0, and the coordinates (n, q) of every column.

    `first` is the number of the first stratum among those of all records, None where they are all here.
    """

    row_id: np.ndarray
    strata: np.ndarray
    coordinates: dict[Column, np.ndarray]
    first: int | None = None

    def of(self, columns: Sequence[Column], also: Sequence[Column] = ()) -> np.ndarray:
        """Return the coordinates of some columns (n, p), which are not kept, and of others, which are."""
        return side_by_side(
            [*(self.coordinates.pop(column) for column in columns), *(self.coordinates[column] for column in also)]
        )


@dataclass(frozen=True)
class _Coordinates:
    """How the numbers of every column become coordinates: those of all records say it, whichever part is at hand.

    Numeric and ordinal columns are standardised, with a 0/1 column where values are missing. A nominal column has a
    coordinate per value, 1/√2 or 0, so that a mismatch counts like a distance of one standard deviation.
    """

    importance: Mapping[Column, float]
    values: Mapping[Column, int]
    standards: Mapping[Column, Standard]

    def of(self, column: Column, numbers: np.ndarray) -> np.ndarray:
        """Return the coordinates (n, q) of some records in a column."""
        import numpy as np

        weight = self.importance[column]
        if column in self.values:
            equal: np.ndarray = numbers[:, None] == np.arange(self.values[column])
            return equal * (weight / math.sqrt(2))
        standard = self.standards.get(column)
        raw = numbers[:, None].astype(float, copy=False)
        found = (standard or Standard.of(raw)).applied(raw)
        if weight != 1:
            found *= weight
        return found


def all_at_once(work: Work, scales: Scales, importance: Mapping[Column, float]) -> Vectors:
    """Return all records as vectors.

    Raises
    ------
    InputError
        When nominal columns have too many values.
    """
    arrays = work.warehouse.arrays("load/features.sql", relation=work.relation, strata=[], **vars(scales))
    row_id = arrays["row_id"]
    values = {column: int(arrays[column.staged].max()) + 1 for column in scales.nominal}
    _refuse_wide(work, len(row_id), values)
    made = _Coordinates(importance, values, {})
    found = {column: made.of(column, arrays.pop(column.staged)) for column in (*work.columns, *work.records.guides)}
    return Vectors(row_id, work.stratum_numbers(len(row_id)), found)


def in_parts(work: Work, scales: Scales, importance: Mapping[Column, float], k: int) -> Iterator[Vectors]:
    """Yield all records as vectors, the strata of one part after the other where that is much; nothing depends on it.

    Raises
    ------
    InputError
        When nominal columns have too many values, or a stratum has fewer than k records.
    """
    import numpy as np

    rows = work.warehouse.count(work.relation)
    if not work.by or rows * len(work.columns) <= _AT_ONCE:
        yield all_at_once(work, scales, importance)
        return
    params: dict[str, Any] = {"relation": work.relation, "strata": [work.by], **vars(scales)}
    features = work.run("load/features.sql", "features", **params)
    strata = work.warehouse.arrays("load/stratum_sizes.sql", features=features, nominal=scales.nominal)
    sizes = strata["records"]
    work.refuse_small_strata(k, int(sizes.min()), int((sizes < k).sum()), len(sizes))
    values = {column: int(strata[column.staged].max()) + 1 for column in scales.nominal}
    _refuse_wide(work, rows, values)
    standards: dict[Column, Standard] = {}
    for column in (column for column in work.columns if column not in values):
        numbers = work.warehouse.arrays("load/numbers_of_column.sql", features=features, column=column)[column.staged]
        standards[column] = Standard.of(numbers[:, None].astype(float, copy=False))
    made, width = _Coordinates(importance, values, standards), len(standards) + sum(values.values())
    part = np.cumsum(sizes) // max(1, _AT_ONCE // width)
    for first, after in itertools.pairwise([*np.flatnonzero(np.diff(part, prepend=-1)).tolist(), len(sizes)]):
        found = {"features": features, "columns": work.columns, "first": first, "after": after}
        arrays = work.warehouse.arrays("load/features_of_strata.sql", **found)
        coordinates = {column: made.of(column, arrays.pop(column.staged)) for column in work.columns}
        yield Vectors(arrays["row_id"], arrays["stratum"] - first, coordinates, first)
    work.warehouse.forget(features)


def _refuse_wide(work: Work, rows: int, values: Mapping[Column, int]) -> None:
    if rows * sum(values.values()) > _MOST_NUMBERS:
        widest = max(values, key=lambda column: values[column])
        raise InputError(
            work.where,
            f"records times values of the nominal columns must be at most {_MOST_NUMBERS:,}",
            f"{rows:,} times {sum(values.values()):,}, most of them in {widest.name}",
            "Coarsen that column, take it as --ordinal, or use: sqlmicro safe, which works on combinations",
        )
