"""The original file, aggregated to the combinations that occur: what SAFE works on instead of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column, split_scales
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.standardise import standardise

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

Pass = Literal["numeric", "nominal", "both"]


@dataclass(frozen=True)
class Cells:
    """The occurring combinations, in SQL as a relation and in NumPy as coordinates.

    `n` and `strata` have shape (cells,); `codes` are the numbers of the nominal values and `raw` the numeric values as
    they are, NaN where missing; `numbers` are the standardised numeric columns. `file` is the original that a release
    is compared with, also where `relation` lacks further values so that patterns of them are frequent. Where records
    have weights, those of a cell have the same: `weights` holds them, by the mean weight of a record, and in `file` n
    is their sum.
    """

    relation: Name
    file: Name
    nominal: list[Column]
    numeric: list[Column]
    key: list[Column | str]
    n: np.ndarray
    strata: np.ndarray
    codes: np.ndarray
    raw: np.ndarray
    numbers: np.ndarray
    weight_column: Column | None
    weights: np.ndarray

    def passes(self) -> tuple[Pass, ...]:
        """Return the passes that these columns allow."""
        if not self.nominal:
            return ("numeric",)
        return ("numeric", "nominal", "both") if self.numeric else ("nominal",)

    def coordinates(self, which: Pass) -> np.ndarray:
        """Return the coordinates (cells, p) of a pass: standardised numbers, a 0/1 column per nominal value."""
        import numpy as np

        if which == "numeric":
            return self.numbers
        parts = [self.numbers] if which == "both" else []
        parts += [code[:, None] == np.arange(int(code.max()) + 1) for code in self.codes.T]
        return np.hstack(parts, dtype=np.float64) if parts else np.zeros((len(self.n), 0))

    @property
    def width(self) -> int:
        """The number of coordinates of the pass that has most."""
        return int(self.numbers.shape[1]) + sum(int(code.max()) + 1 for code in self.codes.T)


def make_cells(
    work: Work, numeric: tuple[str, ...], nominal: tuple[str, ...], weight_column: Column | None = None
) -> Cells:
    """Aggregate the records to cells; no group crosses strata, which are nominal; `weight_column` has the weights."""
    import numpy as np

    numeric_columns, nominal_columns = _by_scale(work, numeric, nominal)
    strata = [column for column in work.by if isinstance(column, Column)]
    nominal_columns = list(dict.fromkeys([*strata, *nominal_columns]))
    weights = [weight_column] if weight_column else []
    key = list(dict.fromkeys([*nominal_columns, *numeric_columns, *work.by, *weights]))
    relation = work.run("safe/cells.sql", "cells", relation=work.relation, columns=key)
    read = work.warehouse.arrays(
        "safe/features.sql",
        cells=relation,
        by=work.by,
        nominal=nominal_columns,
        numeric=[*numeric_columns, *weights],
    )
    own = [column for column in key if isinstance(column, Column)]
    original = relation
    if work.before != work.relation:
        original = work.run("safe/cells.sql", "original_cells", relation=work.before, columns=own)
    n = read["n"].astype(np.int64)
    raw = np.array([read[column.staged] for column in numeric_columns], dtype=float).reshape(-1, len(n)).T
    codes = np.array([read[column.staged] for column in nominal_columns], dtype=np.int64).reshape(-1, len(n)).T
    weight = np.array(read[weight_column.staged], dtype=float) if weight_column else np.ones(len(n))
    return Cells(
        relation,
        weighed(work, original, [*nominal_columns, *numeric_columns], weight_column),
        nominal_columns,
        numeric_columns,
        key,
        n,
        read["stratum"],
        codes,
        raw,
        standardise(raw, n),
        weight_column,
        weight * n.sum() / (weight @ n),
    )


def weighed(work: Work, cells: Name, columns: Sequence[Column], weight_column: Column | None) -> Name:
    """Return cells in which n is the sum of the weights; where there are none, the cells."""
    if weight_column is None:
        return cells
    return work.run(
        "safe/weighted_cells.sql", "weighted_cells", view=True, cells=cells, columns=columns, weights=weight_column
    )


def check_weights(work: Work, weight_column: Column) -> None:
    """Refuse weights that are no numbers above 0, and say what they may tell.

    Raises
    ------
    ParameterError
        For a column that is not numeric.
    InputError
        For records without a weight that can be used.
    """
    where = f"{work.where}, weights"
    if weight_column.family not in ("integer", "decimal", "float"):
        raise ParameterError(where, "must be a column of numbers", f"{weight_column.name} ({weight_column.type})")
    found = work.record("safe/unfit_weights.sql", relation=work.relation, weights=weight_column)
    if found["records"]:
        raise InputError(
            where,
            "every record must have a weight from 0.000001 to 1,000,000,000",
            f"{found['records']:,} of {found['records_in_all']:,} records without one",
        )
    work.note(
        f"weights: {weight_column.name}, released as it is ({found['distinct_weights']:,} distinct). Counts and sums "
        "are weighted, k is not: a weight that few records have can tell them apart"
    )


def _by_scale(work: Work, numeric: tuple[str, ...], nominal: tuple[str, ...]) -> tuple[list[Column], list[Column]]:
    """Return the numeric and the nominal columns; the report says which is which."""
    found = split_scales(work.columns, work.proposed_scales(), numeric, nominal, work.where)
    for scale, columns in zip(("numeric", "nominal"), found, strict=True):
        if columns:
            work.note(f"{scale}: {', '.join(column.name for column in columns)}")
    return found
