"""Candidates: one grouping of the cells each, unified in SQL and compared with the original."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.safe_method import distance
from sqlmicro.safe_method.algorithms import Algorithm
from sqlmicro.safe_method.cells import Cells, Pass
from sqlmicro.safe_method.kmeans import merge_small
from sqlmicro.safe_method.subgroups import split_alike

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.templates import Name
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Grouping:
    """How many records of which cell are in which group; all arrays have the same length."""

    cell: np.ndarray
    label: np.ndarray
    n: np.ndarray
    dropped: int


@dataclass(frozen=True)
class Candidate:
    """A file that could be released, and how far it is from the original."""

    number: int
    algorithm: str
    which: str
    dropped: int
    members: Name
    released: Name
    distance: dict[str, Any]
    loss: float
    sizes: np.ndarray
    seconds: float

    @property
    def rank(self) -> tuple[float, float]:
        """What is compared: the SAFE distance, then the loss in the numeric columns."""
        return self.distance["distance"], self.loss

    def summary(self) -> dict[str, Any]:
        """Return what the report says of the candidate."""
        return {
            "candidate": self.number,
            "algorithm": self.algorithm,
            "pass": self.which,
            "distance": self.distance["distance"],
            "counts": self.distance["counts"],
            "sums": self.distance["sums"],
            "loss": self.loss,
            "groups": len(self.sizes),
            "smallest_group": int(self.sizes.min()),
            "largest_group": int(self.sizes.max()),
            "dropped": self.dropped,
            "seconds": round(self.seconds, 3),
        }


def group_cells(work: Work, cells: Cells, algorithm: Algorithm, which: Pass, k: int, small_groups: str) -> Grouping:
    """Group the cells of every stratum by one algorithm; groups below k are merged or dropped.

    Groups made from the nominal columns alone, and alike in all of them, are split on the numeric columns: that changes
    no table and keeps more of the variance.
    """
    import numpy as np

    X, rng = cells.coordinates(which), work.rng()
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    groups = dropped = 0
    with work.warehouse.progress.stage(f"group by {algorithm.text}, {which} columns", unit="steps") as progress:
        for stratum in range(int(cells.strata.max()) + 1):
            inside = np.flatnonzero(cells.strata == stratum)
            rows, label, n = algorithm.group(X[inside], cells.n[inside], k, rng, progress.tick)
            if small_groups == "merge":
                label = merge_small(X[inside][rows], n.astype(float), label, k)
            else:
                large = np.bincount(label, n)[label] >= k
                dropped += int(n[~large].sum())
                rows, label, n = rows[large], label[large], n[large]
                label = np.unique(label, return_inverse=True)[1].reshape(-1)
            if which == "nominal" and cells.numeric and len(rows):
                rows, label, n = split_alike(cells.numbers[inside], cells.codes[inside], rows, label, n, k, rng)
            parts.append((inside[rows], label + groups, n))
            groups += int(label.max(initial=-1)) + 1
    cell, label, n = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Grouping(cell, label, n, dropped)


def unify(work: Work, cells: Cells, grouping: Grouping, title: str, number: int) -> tuple[Name, Name]:
    """Give every group its mean and mode in SQL; return the members and the file that results."""
    members = load_members(work, grouping, title, number)
    means = work.run("safe/means.sql", f"means_{number}", cells=cells.relation, members=members, columns=cells.numeric)
    modes = [
        (
            f"m{i}",
            work.run("safe/modes.sql", f"modes_{number}_{i}", cells=cells.relation, members=members, column=column),
            column,
        )
        for i, column in enumerate(cells.nominal, 1)
    ]
    released = work.run(
        "safe/released_cells.sql", f"released_cells_{number}", means=means, modes=modes, numeric=cells.numeric
    )
    return members, released


def load_members(work: Work, grouping: Grouping, title: str, number: int) -> Name:
    """Write a grouping back to the warehouse."""
    import pyarrow as pa

    table = pa.table({"cell": grouping.cell, "label": grouping.label, "n": grouping.n})
    return work.load(table, f"members_{number}", f"filled with the groups of {title}")


def measure(
    work: Work,
    cells: Cells,
    grouping: Grouping,
    files: tuple[Name, Name],
    algorithm: str,
    which: str,
    order: int,
    number: int,
    started: float,
) -> Candidate:
    """Measure the SAFE distance of a candidate file to the original."""
    import numpy as np

    members, released = files
    measured = distance.measure(work.warehouse, cells.relation, released, cells.nominal, cells.numeric, order)
    changed = distance.numeric_loss(work.warehouse, cells.relation, released, members, cells.numeric)
    return Candidate(
        number,
        algorithm,
        which,
        grouping.dropped,
        members,
        released,
        measured,
        changed,
        np.bincount(grouping.label, grouping.n),
        time.perf_counter() - started,
    )
