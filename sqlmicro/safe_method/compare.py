"""The SAFE distance between any two tables."""

from __future__ import annotations

from typing import Any

from sqlmicro.database.columns import Column, pick, split_scales
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import profile_columns, type_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.safe_method import distance


def compare(
    warehouse: Warehouse,
    first: Source,
    second: Source,
    *,
    columns: tuple[str, ...] = (),
    numeric: tuple[str, ...] = (),
    nominal: tuple[str, ...] = (),
    order: int = 3,
    count_weight: float = 1.0,
    sum_weight: float = 1.0,
) -> dict[str, Any]:
    """Return the SAFE distance between two tables and its parts, over the columns both have.

    Parameters
    ----------
    warehouse : Warehouse
        Where both tables are.
    first, second : Source
        The original and the changed file; the sums are measured against the first.
    columns : tuple of str
        Columns to compare; by default those of the first table that the second has too.
    numeric, nominal : tuple of str
        Columns whose scale is to be other than `profile` proposes for the first table.
    order : int
        Tables of up to so many nominal columns.
    count_weight, sum_weight : float
        How much the count part and the sum part count in the distance.

    Returns
    -------
    dict
        What `distance.measure` returns, the columns by scale, and their moments in both files.

    Raises
    ------
    InputError
        When the tables have no column in common, or one is empty.
    ParameterError
        When a column is named that not both have, one has two scales, or both weights are 0.
    """
    weights = distance.Weights(count_weight, sum_weight).check("safe-distance")
    theirs = {column.name for column in second.columns}
    shared = [column for column in first.columns if column.name in theirs]
    chosen = pick(shared, columns, "safe-distance, columns") if columns else shared
    if not chosen:
        raise InputError("safe-distance", "the tables must have columns in common", "none")
    proposed = {profile.column.name: profile.scale[0] for profile in profile_columns(warehouse, first)}
    numeric_columns, nominal_columns = split_scales(chosen, proposed, numeric, nominal, "safe-distance")
    cells = [
        _cells(warehouse, source, [*nominal_columns, *numeric_columns], f"{name}_file")
        for name, source in (("first", first), ("second", second))
    ]
    found = distance.measure(warehouse, cells[0], cells[1], nominal_columns, numeric_columns, order, weights)
    scales = {
        "numeric": [column.name for column in numeric_columns],
        "nominal": [column.name for column in nominal_columns],
    }
    moments = {
        name: distance.moments(warehouse, file, numeric_columns)
        for name, file in zip(("before", "after"), cells, strict=True)
    }
    return {"first": first.label, "second": second.label, **scales, **found, "moments": moments}


def _cells(warehouse: Warehouse, source: Source, columns: list[Column], name: str) -> Name:
    """Aggregate one file to the combinations that occur, under the names the columns have in the first."""
    own = {column.name: column for column in source.columns}
    mine = [own[column.name] for column in columns]
    renamed = [Column(c.name, c.type, column.staged, c.collated) for c, column in zip(mine, columns, strict=True)]
    typed = type_columns(warehouse, source, renamed, renamed, f"{name}_typed")
    if warehouse.count(typed) == 0:
        raise InputError(source.label, "there must be records to compare", "an empty table")
    return warehouse.run("safe/cells.sql", f"{name}_cells", relation=typed, columns=columns)
