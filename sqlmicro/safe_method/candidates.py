"""Candidates: one grouping of the cells each, unified in SQL and compared with the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlmicro.database.columns import names_of
from sqlmicro.database.levels import Part, Unit
from sqlmicro.errors import InputError
from sqlmicro.safe_method import distance
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.distance import Deviations, MomentsBeforeAfter, SafeDistance
from sqlmicro.safe_method.means import ShiftedMeans, SubgroupMeans, measure, total
from sqlmicro.safe_method.meter import Cost, Meter
from sqlmicro.safe_method.summary import Summary
from sqlmicro.system.reporting import INLINE, named
from sqlmicro.system.sentences import names

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Account, Work


@dataclass(frozen=True)
class GroupedCells:
    """How many records of which cell are in which group; all arrays have the same length."""

    cell: np.ndarray
    label: np.ndarray
    n: np.ndarray
    dropped: int


@dataclass(frozen=True)
class CandidateRow:
    """What is reported of a file that could have been released."""

    candidate: int
    """Its number, from 1."""
    algorithm: str
    which: str = field(metadata=named("pass"))
    """The columns that the groups were made from: numeric, nominal or all."""
    unification: str
    distance: float
    """The SAFE distance to the original: a candidate is better only if it is smaller."""
    counts: float
    sums: float
    parts: dict[str, Deviations]
    """The deviations by the number of columns of a table."""
    loss: float
    """IL of the numeric columns, in percent."""
    groups: int
    smallest_group: int
    largest_group: int
    dropped: int
    """Records in groups below k that were left out."""
    means: ShiftedMeans | None
    """By how much the means of subgroups shift; None without numeric or nominal columns."""
    seconds: float
    memory: int | None
    """By how many bytes it raised the peak of the memory; None where that is not known."""
    kept: str | None = None
    """Where the file was published too."""


@dataclass(frozen=True)
class Totals:
    """The total of every numeric column, before and after."""

    before: dict[str, float]
    after: dict[str, float]


@dataclass(frozen=True)
class Released:
    """The SAFE distance of the candidate that was chosen, with moments and totals before and after."""

    distance: SafeDistance = field(metadata=INLINE)
    moments: MomentsBeforeAfter
    totals: Totals
    summary: Summary


@dataclass(frozen=True)
class Chosen:
    """What SAFE reports of its work: the candidates, and the number of the one that was chosen."""

    candidates: list[CandidateRow]
    number: int
    released: Released


@dataclass(frozen=True)
class LevelReport:
    """What SAFE did at the level of households or persons: its tables count these."""

    unit: Unit
    units: int
    columns: list[str]
    groups: int
    smallest_group: int | None
    safe_distance: SafeDistance


def of_levels(parts: Sequence[Part], accounts: Sequence[Account]) -> list[LevelReport] | None:
    """Return what SAFE reports of the levels of a step; None where all columns belong to the records."""
    return [
        LevelReport(
            part.level.unit, part.level.units, list(names_of(part.columns)), one.groups, one.smallest,
            one.told.released.distance,
        )
        for part, one in zip(parts, accounts, strict=True)
        if part.level and isinstance(one.told, Chosen)
    ] or None  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A file that could be released, and how far it is from the original."""

    number: int
    algorithm: str
    which: str
    unification: str
    dropped: int
    members: Name
    released: Name
    distance: SafeDistance
    loss: float
    sizes: np.ndarray
    means: ShiftedMeans | None
    cost: Cost
    own: tuple[Column, ...] = ()
    """The columns with original values: those that the search places."""
    denied: bool = False
    """Whether some combinations of them are invented."""

    @property
    def disclosure(self) -> str:
        """What is known of the original from a combination of values that is released."""
        own = names((column.name for column in self.own), 5)
        if self.denied and own:
            return (
                f"a released combination of {own} may be invented: a count near k may stand for an original 0, 1 or 2"
            )
        if own:
            return (
                f"every released combination of {own} occurs in the original, if only once: the release tells that "
                "somebody has it, but not how many. A count near k may stand for an original 1 or 2"
            )
        return (
            "the release has means and modes of groups of at least k: a combination of them may occur in the original "
            "or not, and a count near k may stand for an original 0, 1 or 2"
        )

    @property
    def rank(self) -> tuple[float, float]:
        """What is compared: the SAFE distance, then the loss in the numeric columns."""
        return self.distance.distance, self.loss

    def row(self) -> CandidateRow:
        """Return what the report says of the candidate."""
        found, sizes = self.distance, self.sizes
        return CandidateRow(
            self.number, self.algorithm, self.which, self.unification, found.distance, found.counts, found.sums,
            found.orders, self.loss, len(sizes), int(sizes.min()), int(sizes.max()), self.dropped,
            self.means, round(self.cost.seconds, 3), self.cost.memory,
        )  # fmt: skip


@dataclass
class Trial:
    """What every candidate is measured by, and the candidates so far."""

    work: Work
    cells: Cells
    order: int
    weights: distance.Weights
    means: Sequence[SubgroupMeans] = ()
    found: list[Candidate] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of the next candidate, from 1."""
        return len(self.found) + 1

    def some(self, k: int) -> list[Candidate]:
        """Return the candidates.

        Raises
        ------
        InputError
            When there is none.
        """
        if not self.found:
            raise InputError(
                self.work.where,
                f"at least one algorithm must form groups of {k} records",
                "none",
                "Use --small-groups merge, fewer clusters or another algorithm",
            )
        return self.found

    def keep_only(self, best: Candidate) -> None:
        """Drop the files of all other candidates."""
        files = {file for one in self.found for file in (one.members, one.released)}
        for file in sorted(files - {best.members, best.released}):
            self.work.warehouse.forget(file)

    def add(
        self,
        grouped: GroupedCells,
        files: tuple[Name, Name],
        algorithm: str,
        which: str,
        unification: str,
        meter: Meter,
        own: tuple[Column, ...] = (),
        *,
        denied: bool = False,
    ) -> None:
        """Measure the SAFE distance of a candidate file to the original, and put it into the list."""
        import numpy as np

        members, released = files
        warehouse, cells = self.work.warehouse, self.cells
        measured = distance.measure(
            warehouse, cells.file, released, cells.nominal, cells.numeric, self.order, self.weights
        )
        means = measure(warehouse, cells.file, released, self.means, unit=cells.unit)
        loss = distance.numeric_loss(warehouse, cells.relation, released, members, cells.numeric)
        sizes = np.bincount(grouped.label, grouped.n)
        self.found.append(
            Candidate(
                self.number, algorithm, which, unification, grouped.dropped, members, released, measured, loss, sizes,
                total(list(means.values())), meter.read(), own, denied,
            )
        )  # fmt: skip


def load_members(work: Work, grouped: GroupedCells, title: str, number: int) -> Name:
    """Write a grouping back to the warehouse."""
    import pyarrow as pa

    table = pa.table({"cell": grouped.cell, "label": grouped.label, "n": grouped.n})
    return work.load(table, f"members_{number}", f"filled with the groups of {title}")
