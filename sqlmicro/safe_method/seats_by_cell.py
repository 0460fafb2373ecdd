"""The seats of classes that miss a person, where the records are not in one place: only theirs are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.rules import Rules
from sqlmicro.safe_method.persons_of_cells import read_by_cell

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.safe_method.cells import Cells
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Seats:
    """Records with their group, what they are like, standardised, and what their groups must keep."""

    row_id: np.ndarray
    label: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    strata: np.ndarray
    rules: Rules


def short(work: Work, cells: Cells, groups: Name, k: int) -> Seats | None:
    """Return the seats of the strata in which a group has fewer than k persons; None where all have them."""
    import numpy as np
    import pyarrow as pa

    by = work.warehouse.hand_over(cells.relation), cells.key
    found = read_by_cell(work, *by, "safe/cells_of_short_groups.sql", groups=groups, k=k)["cell"]
    if not len(found):
        return None
    wanted = np.flatnonzero(np.isin(cells.strata, np.unique(cells.strata[found])))
    told = "filled with the cells of strata in which a class misses a person"
    shown = work.load(pa.table({"cell": wanted}), f"wanted_of_{groups.table}", told)
    seats = read_by_cell(work, *by, "safe/seats_of_cells.sql", groups=groups, wanted=shown)
    cell, persons = seats["cell"], np.unique(seats["person"], return_inverse=True)[1].astype(np.int64)
    X, codes = np.ascontiguousarray(cells.numbers[cell]), np.ascontiguousarray(cells.codes[cell])
    return Seats(seats["row_id"], seats["label"], X, codes, cells.strata[cell], Rules(k, persons))
