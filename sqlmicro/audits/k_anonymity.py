"""k-anonymity: how often the rarest combination of quasi-identifiers occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmicro.columns import Column
from sqlmicro.templates import Name, Sql, render
from sqlmicro.warehouse import Warehouse


@dataclass(frozen=True)
class ClassSizes:
    """How many equivalence classes of each size there are: {size: classes}."""

    histogram: dict[int, int]

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 for a table without records."""
        return min(self.histogram, default=0)

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(size * classes for size, classes in self.histogram.items())

    @property
    def classes(self) -> int:
        """The number of classes."""
        return sum(self.histogram.values())

    def below(self, k: int) -> tuple[int, int]:
        """Return the number of classes and of records in classes smaller than k.

        >>> ClassSizes({1: 4, 2: 1, 5: 2}).below(3)
        (5, 6)
        """
        small = {size: classes for size, classes in self.histogram.items() if size < k}
        return sum(small.values()), sum(size * classes for size, classes in small.items())


def class_sizes(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> ClassSizes:
    """Return the sizes of the equivalence classes of `columns` in `relation`, on canonical bytes; NULL is a value.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relation is.
    relation : Name
        A table or view whose columns have the names of `columns`.
    columns : sequence of Column
        The quasi-identifiers.

    Notes
    -----
    One GROUP BY. Source: Samarati & Sweeney (1998). GROUP BY merges values that are told apart in the output: text
    under a collation, 0.0 and -0.0, 1 month and 30 days; here they are separate values.
    """
    rows = warehouse.rows("audit/class_sizes.sql", relation=relation, **_kinds(columns))
    return ClassSizes({int(size): int(classes) for size, classes in rows})


def statement(relation: Name, columns: Sequence[Column]) -> Sql:
    """Return the SELECT that `class_sizes` runs, for a script."""
    return render("audit/class_sizes.sql", relation=relation, **_kinds(columns))


def _kinds(columns: Sequence[Column]) -> dict[str, Any]:
    kinds: dict[str, Any] = {"plain": [], "collated": [], "floats": [], "others": []}
    for column in columns:
        kinds[_canonical(column)].append(column)
    return kinds


def _canonical(column: Column) -> str:
    if column.collated:
        return "collated"
    if column.family == "float":
        return "floats"
    return "others" if column.family == "other" and column.type not in ("UUID", "BLOB") else "plain"


def check(sizes: ClassSizes, k: int) -> dict[str, Any]:
    """Return the result of the k-anonymity audit as one object."""
    classes, records = sizes.below(k)
    return {
        "check": "k-anonymity",
        "value": sizes.k,
        "threshold": k,
        "passed": sizes.records > 0 and sizes.k >= k,
        "records": sizes.records,
        "classes": sizes.classes,
        "violating_classes": classes,
        "violating_records": records,
    }
