"""Features that mean the same in every night of a series: its scales are frozen in the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column
from sqlmicro.missing.vectors import Scales
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np

_SIGNS = 8
"""Coordinates of a category."""


@dataclass(frozen=True)
class Scale:
    """How a column becomes coordinates: centre and spread are those of the first night."""

    column: str
    kind: Literal["number", "category"]
    centre: float = 0.0
    spread: float = 1.0


def features(
    work: Work, scales: Scales, importance: Mapping[Column, float], frozen: Sequence[Scale], *, missing: bool
) -> tuple[np.ndarray, list[Scale]]:
    """Return the coordinates of the records (n, p) in the order of row_id, and the scales they are on.

    A number is standardised; where values may be `missing`, a second coordinate tells whether one is. A category has a
    few signs that its hash draws: two that differ are about as far apart as numbers are by one standard deviation, and
    no value is stored.
    """
    import numpy as np

    places = [(column, kind) for column, kind in scales.ordinal if column.family == "enum"]
    numbers = [*scales.numeric, *(c for c, _ in scales.ordinal if c.numeric or c.family == "boolean")]
    told = {*numbers, *(column for column, _ in places)}
    categories = [column for column in work.columns if column not in told]
    arrays = work.warehouse.arrays(
        "history/series_features.sql", relation=work.relation, numbers=numbers, places=places, categories=categories
    )
    known = {one.column: one for one in frozen}
    parts, found = [np.empty((len(arrays["row_id"]), 0))], []
    for column in work.columns:
        values = arrays[column.staged]
        scale = known.get(column.name) or (
            Scale(column.name, "category") if column in categories else _measured(column.name, values)
        )
        part = _signs(values) if scale.kind == "category" else _standardised(values, scale, missing=missing)
        parts.append(part * importance[column])
        found.append(scale)
    return np.hstack(parts), found


def _measured(name: str, values: np.ndarray) -> Scale:
    import numpy as np

    there = values[~np.isnan(values)]
    if not len(there):
        return Scale(name, "number")
    spread = float(there.std())
    # A column that was constant has no spread: a unit of its own counts.
    return Scale(name, "number", float(there.mean()), spread if spread > 1e-13 * np.abs(there).max() else 1.0)


def _standardised(values: np.ndarray, scale: Scale, *, missing: bool) -> np.ndarray:
    import numpy as np

    lacks = np.isnan(values)
    there = np.where(lacks, 0.0, (values - scale.centre) / scale.spread)
    return np.column_stack([there, lacks]) if missing else there[:, None]


def _signs(hashes: np.ndarray) -> np.ndarray:
    import numpy as np

    signs = (hashes.astype(np.uint64)[:, None] >> np.arange(_SIGNS, dtype=np.uint64)) & np.uint64(1)
    found: np.ndarray = (signs.astype(float) - 0.5) * (1 / math.sqrt(2 * _SIGNS) * 2)
    return found
