"""Records for a kernel that looks at all of them: on a cluster they come to the driver as combinations of values.

On one machine a point is a record. On a cluster the combinations that occur are brought to the driver, where they are
made into numbers. There a point is one of these with all its records; or a single record, where something else tells
records apart, such as the person. Then the number of every record and of its combination comes to the driver, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.safe_method.coordinates import counted_pairs
from sqlmicro.safe_method.occurring import assigned, at_driver, occurring

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.work import Work

TEMPLATES = ("safe/cells.sql", "safe/cells_as_records.sql", "safe/assigned.sql", "mask/cells_of_records.sql")
MOST_APART = 20_000_000
"""So many records of combinations are told apart at the driver, where none of them has come there."""
Point = Literal["combination", "record"]


@dataclass(frozen=True, eq=False)
class Points:
    """What a kernel groups: records, or combinations of values with all their records."""

    work: Work
    here: Work
    """Where the values are, and its relation has them by row_id."""
    key: Sequence[Column | str]
    values: dict[str, np.ndarray]
    """Of every point (n,): its columns as numbers."""
    strata: np.ndarray
    records: np.ndarray
    """How many records every point stands for."""
    row_id: np.ndarray | None = None
    """The record that every point is; None where it is any of its combination."""
    place: np.ndarray | None = None
    """The combination of every point; None where records are here."""
    cells: Name | None = None

    def some(self, rows: np.ndarray) -> Points:
        """Return some of the points."""
        row_id, place = (found if found is None else found[rows] for found in (self.row_id, self.place))
        values = {name: found[rows] for name, found in self.values.items()}
        return replace(
            self, values=values, strata=self.strata[rows], records=self.records[rows], row_id=row_id, place=place
        )

    def groups(self, labels: np.ndarray, kernel: str, into: str = "groups") -> tuple[Name, Name]:
        """Return the group of every record (row_id, label), and that of the combinations, where the values are."""
        import pyarrow as pa

        if self.cells is None or self.place is None:
            assert self.row_id is not None
            made = self.work.load_labels(self.row_id, labels, kernel, into)
            return made, made
        cell, label, n = counted_pairs(self.place, labels, self.records)
        told = f"filled with groups that {kernel} made"
        of_values = self.here.load(pa.table({"row_id": cell, "label": label}), f"{into}_of_combinations", told)
        if self.row_id is not None:
            return self.work.load_labels(self.row_id, labels, kernel, into), of_values
        members = self.here.load(pa.table({"cell": cell, "label": label, "n": n}), f"members_of_{into}", told)
        return assigned(self.work, self.cells, members, self.key, into), of_values

    def valued(self, labels: np.ndarray, values: np.ndarray, kernel: str, into: str) -> tuple[Name, Name]:
        """Return the group of every record (row_id, label), and the values of every group (label, value).

        The second is where the values are. Every point has to be a record.
        """
        import pyarrow as pa

        told, columns = f"filled with groups that {kernel} made", {"label": labels, "value": values}
        if self.cells is None:
            made = self.work.load(pa.table({"row_id": self.row_id, **columns}), into, told)
            return made, made
        return self.groups(labels, kernel, into)[0], self.here.load(pa.table(columns), f"values_of_{into}", told)


def points(
    work: Work, *, numeric: Sequence[Column] = (), ordinal: Sequence[tuple[Column, str]] = (),
    nominal: Sequence[Column] = (), of: Point = "combination", into: str = "points",
) -> Points:  # fmt: skip
    """Return what a kernel groups by some columns, within the strata of the work; `of` is what a point has to be.

    A point is a record on one machine, and wherever persons are counted.

    Raises
    ------
    InputError
        When there are more combinations, or records, than come to the driver.
    """
    import numpy as np

    if work.warehouse.small is work.warehouse:
        values = work.warehouse.arrays(
            "load/features.sql", relation=work.relation, numeric=numeric, ordinal=ordinal, nominal=nominal, strata=[]
        )
        row_id = values.pop("row_id")
        once = np.ones(len(row_id), dtype=np.int64)
        return Points(work, work, (), values, work.stratum_numbers(len(row_id)), once, row_id)
    key = [*numeric, *(column for column, _ in ordinal), *nominal, *work.by]
    cells = occurring(work, work.relation, key, f"{into}_cells")
    here = copy(at_driver(work))
    here.relation = here.run("safe/cells_as_records.sql", into, cells=cells, columns=key)
    values = here.warehouse.arrays(
        "load/features.sql", relation=here.relation, numeric=numeric, ordinal=ordinal, nominal=nominal, strata=[]
    )
    place = values.pop("row_id").astype(np.int64)
    records = here.warehouse.arrays("mask/cell_codes.sql", cells=cells, counted=["n"], columns=[])["n"].astype(np.int64)
    whole = Points(work, here, key, values, here.stratum_numbers(len(place)), records, None, place, cells)
    if work.demand.more_than_k:
        found = work.warehouse.arrays(
            "mask/cells_of_records.sql", relation=work.relation, cells=work.warehouse.hand_over(cells), columns=key,
            weights=[],
        )  # fmt: skip
        place, row_id = found["cell"].astype(np.int64), found["row_id"].astype(np.int64)
        return replace(whole.some(place), row_id=row_id, records=np.ones(len(place), dtype=np.int64))
    if of == "combination":
        return whole
    if records.sum() > MOST_APART:
        must = f"at most {MOST_APART:,} records are told apart at the driver"
        do = "Use a method that groups in blocks, or --engine duckdb"
        raise InputError(work.where, must, f"{int(records.sum()):,}", do)
    apart = np.repeat(place, records)
    return replace(whole.some(apart), records=np.ones(len(apart), dtype=np.int64))
