"""How many values are missing before and after: what a release says of every column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Row, Warehouse


@dataclass(frozen=True)
class Missing:
    """How many values of a column are missing before and after, by record how many were filled in or taken out."""

    column: str
    before: int
    after: int
    filled_in: int
    taken_out: int
    records_before: int
    records_after: int


def measure(warehouse: Warehouse, before: Name, after: Name, columns: Sequence[Column]) -> list[Missing]:
    """Return the columns that lack a value before or after, compared by row_id.

    Records that were left out count before only.
    """
    if not columns:
        return []
    sides: Params = {"original": before, "aligned": [], "joined": [after]}
    return found_in(
        warehouse.record("audit/losses.sql", **sides, numeric=[], whole=[], nominal=[], in_words=[], counted=columns),
        columns,
    )


def found_in(row: Row, columns: Sequence[Column]) -> list[Missing]:
    """Return the columns that lack a value before or after, of what audit/losses.sql has counted of them."""
    found = [
        Missing(
            column.name,
            *(int(row[f"{what}_{i}"]) for what in ("before", "after", "filled_in", "taken_out")),
            *(int(row[f"records_{when}"]) for when in ("before", "after")),
        )
        for i, column in enumerate(columns, 1)
    ]
    return [one for one in found if one.before or one.after]


def said(found: Sequence[Missing]) -> str:
    """Return how many values were filled in and taken out, or nothing where none was.

    >>> said([Missing("age", 2, 3, 0, 1, 9, 9), Missing("pay", 9, 1, 8, 0, 9, 9)])
    '8 missing values were filled in with those of other records (pay 8), 1 value was taken out (age 1)'
    """
    filled, taken = sum(one.filled_in for one in found), sum(one.taken_out for one in found)
    parts = []
    if filled:
        by_column = ", ".join(f"{one.column} {one.filled_in:,}" for one in found if one.filled_in)
        verb = "was" if filled == 1 else "were"
        parts.append(f"{number(filled, 'missing value')} {verb} filled in with those of other records ({by_column})")
    if taken:
        by_column = ", ".join(f"{one.column} {one.taken_out:,}" for one in found if one.taken_out)
        parts.append(f"{number(taken, 'value')} {'was' if taken == 1 else 'were'} taken out ({by_column})")
    return ", ".join(parts)


def number(count: int, what: str) -> str:
    """Return a number of things.

    >>> number(1, "value"), number(2000, "value")
    ('1 value', '2,000 values')
    """
    return f"{count:,} {what}" + ("" if count == 1 else "s")
