"""The direct search, after it: where its records can be dealt anew to its groups, and how they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.coordinates import counted_pairs
from sqlmicro.safe_method.deal_problem import Groups, Numbers, Original
from sqlmicro.safe_method.dealing import dealt, even_groups
from sqlmicro.safe_method.unify import rounding

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.safe_method.means import SubgroupMeans
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Anew:
    """How records are dealt anew: the unit that the mean of every numeric column is rounded to, None where it is not.

    `steps` are the steps by which records are counted, None where deciles are; `means` the sets of nominal columns, by
    their positions, by which means of subgroups are kept.
    """

    units: tuple[float | None, ...]
    steps: tuple[float | None, ...]
    means: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        work: Work,
        cells: Cells,
        own: bool,
        steps: Mapping[Column, float],
        how: str,
        means: Sequence[SubgroupMeans],
    ) -> Anew | None:
        """Return how the records of a file are dealt, None where they cannot be.

        Records of a series keep the combination that the search decided: means would tell who comes or leaves. So do
        all where some numbers keep `own` values. Numbers alone are placed by their `steps`, or grouped.
        """
        if work.demand.files or own or not cells.numeric or (steps and not cells.nominal):
            return None
        sets = tuple(tuple(cells.nominal.index(column) for column in one.by) for one in means)
        apart = tuple(steps.get(column) for column in cells.numeric)
        return cls(units_of(cells.numeric, how, work.whole), apart, sets)


def units_of(columns: Sequence[Column], how: str, whole: Collection[Column]) -> tuple[float | None, ...]:
    """Return the unit that the means of every column are rounded to, None where they are not.

    >>> from sqlmicro.database.columns import Column
    >>> age, pay = Column("age", "INTEGER", "age"), Column("pay", "DECIMAL(9,2)", "pay")
    >>> units_of([age, pay], "rounded-mean", [age])
    (1.0, 0.01)
    """
    found = rounding(columns, how, whole)
    units = dict.fromkeys((*found.points, *found.whole), 1.0)
    units |= {column: 10.0**-places for column, places in found.decimals}
    return tuple(units.get(column) for column in columns)


def advice(anew: Anew | None, possible: Anew | None, algorithm: str, searched: bool) -> str:
    """Return what helps where the candidate of an algorithm loses much of the spread of its numbers."""
    if searched and algorithm != "search":
        return "--method search alone keeps more"
    if possible and not anew:
        return "--deal anew keeps more"
    if anew or not searched:
        return "A smaller --k or fewer columns of numbers keep more"
    return "--numeric-values own keeps values that occur, and more of it"


@dataclass(frozen=True)
class Placed:
    """What the search decided: `count` records of each cell become a combination, its `target`.

    Of every combination there are its nominal values, the block that its records do not leave, and how many records a
    group of it has at least; and of every cell its nominal values, by the same numbers.
    """

    cell: np.ndarray
    target: np.ndarray
    count: np.ndarray
    combination: np.ndarray
    block: np.ndarray
    least: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True)
class Regrouped:
    """The groups: cells, labels, records; the target of every label; by how much its numbers differ from the means."""

    cell: np.ndarray
    label: np.ndarray
    count: np.ndarray
    becomes: np.ndarray
    moved: np.ndarray
    stopped: bool


def grouped_anew(
    anew: Anew,
    cells: Cells,
    placed: Placed,
    effort: Effort,
    time_limit: float | None,
    rng: np.random.Generator,
    tick: Tick,
    original: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> Regrouped:
    """Return the groups after the records were dealt anew to them.

    Each combination has as many records as before, in groups of at least k. Weights are dealt like a number: records of
    a group have similar ones; its numbers are its means then, since the tables compared are not weighted. The file is
    compared with the `original`, of which there are nominal values, numbers and records; without one, with itself.
    """
    import numpy as np

    cell, target = (np.repeat(array, placed.count) for array in (placed.cell, placed.target))
    raw, places = cells.raw[cell], cells.places[cell]
    label, becomes = even_groups(target, placed.least, np.lexsort([*cells.beside[cell].T, *places.T, *raw.T]))
    if original:
        numbers = Numbers.of(np.concatenate([raw, original[1]]), anew.units, anew.steps)
        compared = Original(numbers.x[len(raw) :], original[0], original[2])
        numbers = replace(numbers, x=np.ascontiguousarray(numbers.x[: len(raw)]))
    else:
        weights = cells.weights[cell][:, None] if np.ptp(cells.weights) else raw[:, :0]
        beside = np.hstack([places, cells.beside[cell], weights])
        free = [None for _ in beside.T]
        numbers = Numbers.of(np.hstack([raw, beside]), [*anew.units, *free], [*anew.steps, *free])
        compared = None
    found = dealt(
        numbers, placed.codes[cell], Groups(label, placed.combination[becomes], placed.block[becomes]),
        rng, tick, original=compared, more=anew.means, effort=effort, time_limit=time_limit,
        movable=0 if np.ptp(cells.weights) else raw.shape[1],
    )  # fmt: skip
    return Regrouped(*counted_pairs(cell, found.label), becomes, found.moved, found.stopped)


def moved_means(work: Work, cells: Cells, differ: np.ndarray | None, members: Name, means: Name, number: int) -> Name:
    """Return the means of groups with what their numbers `differ` by, between the least and the largest of a group."""
    import numpy as np
    import pyarrow as pa

    if differ is None or not differ.any():
        return means
    columns = {column.staged: by for column, by in zip(cells.numeric, differ.T, strict=True)}
    table = pa.table({"label": np.arange(len(differ)), **columns})
    moved = work.load(table, f"moved_{number}", "filled with what the numbers of groups differ by from their means")
    return work.run(
        "safe/moved_means.sql", f"moved_means_{number}", cells=cells.relation, members=members, means=means,
        moved=moved, columns=cells.numeric, others=cells.scattered,
    )  # fmt: skip
