"""The SAFE distance between any two tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from sqlmicro.database.columns import Column, pick, split_scales
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import profile_columns, type_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.options.params import Param
from sqlmicro.safe_method import distance
from sqlmicro.safe_method.settings import CountWeight, Order, SumWeight
from sqlmicro.system.reporting import INLINE


@dataclass(frozen=True)
class Compared:
    """The SAFE distance between two tables."""

    first: str
    second: str
    numeric: list[str]
    nominal: list[str]
    parts: distance.SafeDistance = field(metadata=INLINE)
    moments: distance.MomentsBeforeAfter


@dataclass(frozen=True, kw_only=True)
class DistanceOptions:
    """What of two tables is compared, and what counts how much."""

    columns: Annotated[
        tuple[str, ...], Param("Columns to compare. Default: those that both tables have.", metavar="A,B")
    ] = ()
    numeric: Annotated[tuple[str, ...], Param("Columns to take as numeric.", metavar="A,B")] = ()
    nominal: Annotated[tuple[str, ...], Param("Columns to take as nominal.", metavar="A,B")] = ()
    order: Order = 3
    count_weight: CountWeight = 1.0
    sum_weight: SumWeight = 1.0


@dataclass(frozen=True, kw_only=True)
class TwoTables(DistanceOptions):
    """Two tables that are compared, and how."""

    first: Annotated[str, Param("Original table, view or file.", metavar="A", positional=True)]
    second: Annotated[str, Param("Changed table, view or file.", metavar="B", positional=True)]


def compare(warehouse: Warehouse, first: Source, second: Source, options: DistanceOptions) -> Compared:
    """Return the SAFE distance between two tables and its parts, over the columns both have.

    Parameters
    ----------
    warehouse : Warehouse
        Where both tables are.
    first, second : Source
        The original and the changed file; the sums are measured against the first.
    options : DistanceOptions
        Which columns, of which scale, and what counts how much.

    Returns
    -------
    Compared

    Raises
    ------
    InputError
        When the tables have no column in common, or one is empty.
    ParameterError
        When a column is named that not both have, one has two scales, or both weights are 0.
    """
    weights = distance.Weights(options.count_weight, options.sum_weight).check("safe-distance")
    theirs = {column.name for column in second.columns}
    shared = [column for column in first.columns if column.name in theirs]
    chosen = pick(shared, options.columns, "safe-distance, columns") if options.columns else shared
    if not chosen:
        raise InputError("safe-distance", "the tables must have columns in common", "none")
    proposed = {profile.column.name: profile.scale[0] for profile in profile_columns(warehouse, first)}
    numeric_columns, nominal_columns = split_scales(chosen, proposed, options.numeric, options.nominal, "safe-distance")
    cells = [
        _cells(warehouse, source, [*nominal_columns, *numeric_columns], f"{name}_file")
        for name, source in (("first", first), ("second", second))
    ]
    found = distance.measure(warehouse, cells[0], cells[1], nominal_columns, numeric_columns, options.order, weights)
    before, after = (distance.moments(warehouse, file, numeric_columns) for file in cells)
    return Compared(
        first.label,
        second.label,
        [column.name for column in numeric_columns],
        [column.name for column in nominal_columns],
        found,
        distance.MomentsBeforeAfter(before, after),
    )


def _cells(warehouse: Warehouse, source: Source, columns: list[Column], name: str) -> Name:
    """Aggregate one file to the combinations that occur, under the names the columns have in the first."""
    own = {column.name: column for column in source.columns}
    mine = [own[column.name] for column in columns]
    renamed = [Column(c.name, c.type, column.staged, c.collated) for c, column in zip(mine, columns, strict=True)]
    typed = type_columns(warehouse, source, renamed, renamed, f"{name}_typed")
    if warehouse.count(typed) == 0:
        raise InputError(source.label, "there must be records to compare", "an empty table")
    return warehouse.run("safe/cells.sql", f"{name}_cells", relation=typed, columns=columns)
