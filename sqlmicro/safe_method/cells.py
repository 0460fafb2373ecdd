"""The original file, aggregated to the combinations that occur: what SAFE works on instead of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.columns import Column, split_scales
from sqlmicro.standardise import standardise

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.templates import Name
    from sqlmicro.work import Work

Pass = Literal["numeric", "nominal", "both"]


@dataclass(frozen=True)
class Cells:
    """The occurring combinations, in SQL as a relation and in NumPy as coordinates.

    `n` and `strata` have shape (cells,); `codes` are the numbers of the nominal values and `raw` the numeric values as
    they are, NaN where missing; `numbers` are the standardised numeric columns.
    """

    relation: Name
    nominal: list[Column]
    numeric: list[Column]
    key: list[Column | str]
    n: np.ndarray
    strata: np.ndarray
    codes: np.ndarray
    raw: np.ndarray
    numbers: np.ndarray

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


def make_cells(work: Work, numeric: tuple[str, ...], nominal: tuple[str, ...]) -> Cells:
    """Aggregate the records to cells; strata are nominal columns that groups never cross."""
    import numpy as np

    numeric_columns, nominal_columns = _by_scale(work, numeric, nominal)
    strata = [column for column in work.by if isinstance(column, Column)]
    nominal_columns = list(dict.fromkeys([*strata, *nominal_columns]))
    key = list(dict.fromkeys([*nominal_columns, *numeric_columns, *work.by]))
    relation = work.run("safe/cells.sql", "cells", relation=work.relation, columns=key)
    read = work.warehouse.arrays(
        "safe/features.sql", cells=relation, by=work.by, nominal=nominal_columns, numeric=numeric_columns
    )
    n = read["n"].astype(np.int64)
    raw = np.array([read[column.staged] for column in numeric_columns], dtype=float).reshape(-1, len(n)).T
    codes = np.array([read[column.staged] for column in nominal_columns], dtype=np.int64).reshape(-1, len(n)).T
    return Cells(
        relation,
        nominal_columns,
        numeric_columns,
        key,
        n,
        read["stratum"],
        codes,
        raw,
        standardise(raw, n),
    )


def _by_scale(work: Work, numeric: tuple[str, ...], nominal: tuple[str, ...]) -> tuple[list[Column], list[Column]]:
    """Return the numeric and the nominal columns; the report says which is which."""
    found = split_scales(work.columns, work.proposed_scales(), numeric, nominal, work.where)
    for scale, columns in zip(("numeric", "nominal"), found, strict=True):
        if columns:
            work.note(f"{scale}: {', '.join(column.name for column in columns)}")
    return found
