"""Columns of whole numbers: which ones they are, by their type or by their values, and which seem to be codes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse

YEARS = 1800, 2100
"""Whole numbers that are between these throughout are taken for years."""
_BROKEN = (
    'SELECT {{ columns | listed("count(*) FILTER (WHERE abs({}) >= 1e15 OR {} <> floor({})), ") }}0 '
    "FROM {{ relation | ident }}"
)
_ENDS = 'SELECT {{ columns | listed("min({}), max({}), ") }}0 FROM {{ relation | ident }}'


def holding(warehouse: Warehouse, relation: Name | None, columns: Sequence[Column]) -> list[Column]:
    """Return the columns that hold whole numbers only: integers, and other numbers whose values are all whole.

    Without a relation the types decide.
    """
    found = [column for column in columns if column.family == "integer"]
    others = [column for column in columns if column.family in ("float", "decimal")]
    if others and relation is not None:
        ((*broken, _),) = warehouse.query("whole", _BROKEN, columns=others, relation=relation)
        found += [column for column, count in zip(others, broken, strict=True) if not count]
    return found


def seeming_codes(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> list[str]:
    """Return the columns of whole numbers that seem to be codes or years, each with why."""
    if not columns:
        return []
    ((*ends, _),) = warehouse.query("codes", _ENDS, columns=columns, relation=relation)
    found = [
        (column, _why(column, low, high))
        for column, low, high in zip(columns, ends[::2], ends[1::2], strict=True)
        if low is not None and high is not None
    ]
    return [f"{column.name} ({why})" for column, why in found if why]


def _why(column: Column, low: float, high: float) -> str:
    """Return why numbers between these seem to be no amounts; empty where they may be some.

    >>> [_why(Column(name, "BIGINT", name), *ends) for name, *ends in (("sex", 1, 2), ("born", 1931, 2004))]
    ['two values', 'years']
    >>> [_why(Column(name, "BIGINT", name), *ends) for name, *ends in (("zip", 10115, 99998), ("age", 0, 99))]
    ['by its name', '']
    """
    if high - low == 1:
        return "two values"
    if YEARS[0] <= low < high <= YEARS[1]:
        return "years"
    return "by its name" if column.is_code else ""
