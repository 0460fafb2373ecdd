"""k-anonymity and sample uniques: how often the rarest combination of quasi-identifiers occurs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmicro.audits import audited
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import Detail, Found, audit
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Select, Sql, render, select
from sqlmicro.database.warehouse import Warehouse

GATE = "min_k"
_LOOKED_AT = 100


@dataclass(frozen=True)
class ClassSizes:
    """How many equivalence classes of each size there are: {size: (classes, records)}.

    Where NULL matches every value, the size of a class counts the records that match it, its records those that are it.
    Where persons are counted, the size of a class is its number of persons, and in place of records stand the persons
    whose smallest class is of that size, so that everybody counts once.
    """

    sizes: dict[int, tuple[int, int]]

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 for a table without records."""
        return min(self.sizes, default=0)

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(records for _, records in self.sizes.values())

    @property
    def classes(self) -> int:
        """The number of classes."""
        return sum(classes for classes, _ in self.sizes.values())

    @property
    def histogram(self) -> dict[int, int]:
        """The number of classes by size."""
        return {size: classes for size, (classes, _) in self.sizes.items()}

    @property
    def unique(self) -> float:
        """The share of the records that are alone in their class; 0 for a table without records."""
        return self.sizes.get(1, (0, 0))[1] / max(self.records, 1)

    @property
    def average_risk(self) -> float:
        """The mean over the records of 1 / the size of their class; 0 for a table without records."""
        return sum(records / size for size, (_, records) in self.sizes.items()) / max(self.records, 1)

    def below(self, k: float) -> tuple[int, int]:
        """Return the number of classes and of records in classes smaller than k.

        >>> ClassSizes({1: (4, 4), 2: (1, 2), 5: (2, 10)}).below(3)
        (5, 6)
        """
        small = [found for size, found in self.sizes.items() if size < k]
        return sum(classes for classes, _ in small), sum(records for _, records in small)


def sizes_of(audited: AuditedRelease) -> ClassSizes:
    """Return the sizes of the classes of a release under audit, as it reads NULL. One GROUP BY; two of persons."""

    def measure() -> ClassSizes:
        if audited.person and audited.nulls != "wildcard":
            return _class_sizes(audited.warehouse.rows(
                "audit/person_sizes.sql", persons=audited.person_records, columns=audited.quasi, person=audited.person
            ))  # fmt: skip
        return _class_sizes(audited.warehouse.rows("audit/cell_sizes.sql", cells=audited.cells))

    return audited.once("class sizes", measure)


def class_sizes(
    warehouse: Warehouse, relation: Name, columns: Sequence[Column], person: Sequence[Column] = ()
) -> ClassSizes:
    """Return the sizes of the equivalence classes of `columns` in `relation`; NULL is a value.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relation is.
    relation : Name
        A table or view whose columns have the names of `columns`.
    columns : sequence of Column
        The quasi-identifiers.
    person : sequence of Column
        What says whose record it is: then persons are counted, not records.

    Notes
    -----
    One GROUP BY, and SELECTs that need no staging: it also runs in the transaction that publishes. Source: Samarati
    & Sweeney (1998).
    """
    if not person:
        told_apart = _told_apart(warehouse, relation, columns)
        return _class_sizes(warehouse.rows("audit/cell_sizes.sql", cells=_cells(relation, columns, told_apart)))
    records = audited.canonical_records(relation, columns, person)
    persons = select("audit/person_records.sql", relation=records, columns=columns, person=person, weights=[])
    return _class_sizes(warehouse.rows("audit/person_sizes.sql", persons=persons, columns=columns, person=person))


def one_alone(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> bool:
    """Tell whether one of the first records shares its combination of values with nobody, which makes k 1.

    Where none does, k is not known. O(n), without a GROUP BY over all records: the combinations of 100 are looked for.
    Floating-point numbers are compared as numbers: what occurs once among these, occurs once by its bits too.
    """
    floats = {column.name for column in columns if audited.canonical_form(column) == "as_bits"}
    records = audited.canonical_records(relation, columns, told_apart=floats)
    return warehouse.rows("audit/alone.sql", relation=records, columns=columns, most=_LOOKED_AT) == [(1,)]


def smallest(audited: AuditedRelease, k: int, most: int) -> list[list[Any]]:
    """Return the values of the smallest classes below k, as text in the order of the columns, and their sizes."""
    shown = audited.shown()
    names = [column.name for form in ("plain", "as_bits", "as_bytes", "as_nested_bits") for column in shown[form]]
    rows = audited.warehouse.rows("audit/violating_classes.sql", cells=audited.cells, k=k, most=most, **shown)
    order = [names.index(column.name) for column in audited.quasi]
    return [[*(row[place] for place in order), row[-1]] for row in rows]


def statement(relation: Name, columns: Sequence[Column]) -> Sql:
    """Return the SELECT that `class_sizes` runs, for a script."""
    return render("audit/cell_sizes.sql", cells=_cells(relation, columns))


def _told_apart(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> set[str]:
    """Return the floating-point columns without -0.0 and NaN: their values tell what their bits do, and cost less."""
    floats = [column for column in columns if audited.canonical_form(column) == "as_bits"]
    if not floats:
        return set()
    return {name for name, count in warehouse.rows("audit/ambiguous_floats.sql", relation=relation, columns=floats)
            if not count}  # fmt: skip


def _cells(relation: Name, columns: Sequence[Column], told_apart: Container[str] = ()) -> Select:
    """Return the SELECT of the classes: audit/records.sql within audit/cells.sql, as `AuditedRelease` stages them."""
    records = audited.canonical_records(relation, columns, told_apart=told_apart)
    return select("audit/cells.sql", relation=records, columns=columns, summed=[])


def _class_sizes(rows: Iterable[tuple[Any, ...]]) -> ClassSizes:
    return ClassSizes({int(size): (int(classes), int(records)) for size, classes, records in rows if size})


@dataclass(frozen=True)
class ClassCounts(Detail):
    """The classes of a release, and those below the gate."""

    records: int
    """Where persons are counted, here and below, distinct persons."""
    classes: int
    violating_classes: int
    violating_records: int
    histogram: dict[int, int]
    """The number of classes by their size."""


@dataclass(frozen=True)
class Uniques(Detail):
    """The records that are alone in their class."""

    share: float
    """Of all records."""
    twice: int
    """Records whose combination occurs twice."""
    records: int


@audit(
    "k-anonymity",
    needs=("quasi",),
    gate=GATE,
    at_least=True,
    whole=True,
    source="Samarati & Sweeney (1998)",
    templates=(
        "audit/records.sql",
        "audit/cells.sql",
        "audit/matching_cells.sql",
        "audit/cell_sizes.sql",
        "audit/person_records.sql",
        "audit/person_sizes.sql",
    ),
)
def k_anonymity(audited: AuditedRelease, limit: float | None) -> Found:
    """How many records the smallest equivalence class has, and what lies below a k.

    Returns
    -------
    Found
        The value is k, 0 for a release without records; with the number of records and classes, the histogram of class
        sizes, and classes and records below the gate. Where NULL matches every value, a class has the records that
        match it. With --person they are persons, of whom each counts once: one with a record in a class below the gate
        is below it.

    Notes
    -----
    One GROUP BY, O(n); where NULL matches every value also a join of the classes with each pattern of missing values.
    """
    sizes = sizes_of(audited)
    classes, records = sizes.below(limit or 0)
    return Found(sizes.k, detail=ClassCounts(sizes.records, sizes.classes, classes, records, sizes.histogram))


@audit(
    "sample-uniques",
    needs=("quasi",),
    gate="max_uniques",
    whole=True,
    source="Bethlehem, Keller & Pannekoek (1990)",
    templates=("audit/cell_sizes.sql", "audit/person_sizes.sql"),
)
def sample_uniques(audited: AuditedRelease, limit: float | None) -> Found:
    """How many records have a combination of quasi-identifiers that nobody else in the release has.

    Returns
    -------
    Found
        The value is the number of records; with the share of the records, and how many have one that occurs twice. With
        --person it is the number of persons with a record that nobody else has.

    Notes
    -----
    One GROUP BY, O(n).
    """
    sizes = sizes_of(audited)
    uniques = sizes.below(2)[1]
    share = uniques / sizes.records if sizes.records else 0.0
    return Found(uniques, detail=Uniques(share, sizes.below(3)[1] - uniques, sizes.records))
