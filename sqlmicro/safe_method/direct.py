"""The direct search as a candidate: records go to combinations of values, continuous columns get group means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column, numbers_by_column
from sqlmicro.errors import ParameterError
from sqlmicro.registry import Tick
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.combined import Combined, File
from sqlmicro.safe_method.deniable import Asked, Pool, pooled
from sqlmicro.safe_method.plausible import affordable
from sqlmicro.safe_method.search import Placement as Found
from sqlmicro.safe_method.search import search
from sqlmicro.safe_method.subgroups import subgroups
from sqlmicro.safe_method.weight_exchange import exchanged

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

OWN_VALUES_AT_MOST = 150
"""With `auto`, a numeric column with at most so many distinct values (ages, counts) keeps values that occur."""


@dataclass(frozen=True)
class Settings:
    """What the search is told beside k; `steps` are the columns that take part as multiples of a step."""

    numeric_values: Literal["auto", "own", "means"]
    steps: dict[Column, float]
    effort: Effort
    max_shift: int | None
    time_limit: float | None


@dataclass(frozen=True)
class InventedCells:
    """Cells that no record has, numbered after those that occur: each is another with one value of a third."""

    base: np.ndarray
    donor: np.ndarray
    column: np.ndarray
    """The number of the column among the nominal ones and those with own values, from 0."""


@dataclass(frozen=True)
class Placement:
    """Where the records go: a grouping of the cells, and per label the cell whose own values the group takes."""

    grouped: GroupedCells
    combination: np.ndarray
    invented: InventedCells
    own: list[Column]
    averaged: list[Column]
    moved: int
    stopped: bool


def place(work: Work, cells: Cells, k: int, settings: Settings, asked: Asked | None) -> Placement:
    """Place the records of every stratum on combinations of the nominal columns and of numeric columns with own values.

    Where other numeric columns are left, the records of one combination are grouped on them by MDAV, k to 2k-1, and get
    the group means, so that the totals deviate only by the records that moved. Columns with a step take part in both:
    a combination holds their nearest multiple of the step, and the records of a group get the mean of their own values.
    What is asked so that the release can be denied holds of the columns that keep their values.
    """
    import numpy as np

    own = own_columns(cells, settings)
    averaged = [column for column in cells.numeric if column not in own]
    coordinates = _stepped(cells, own, settings.steps)
    kept = len(cells.nominal) + len(own)
    X = cells.numbers[:, [cells.numeric.index(column) for column in averaged]]
    rng = work.rng(asked.lasting if asked else None)
    keyed = _Keyed.of(work, cells, coordinates, kept, asked) if asked and kept else None
    if keyed and not affordable(len(cells.n), len(keyed.content[0]), kept):
        work.note(f"nothing is invented: {len(cells.n):,} combinations of {len(keyed.content[0])} columns are too many")
    strata = int(cells.strata.max()) + 1
    limit = None if settings.time_limit is None else settings.time_limit / strata
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    combinations, invented = [], [np.zeros((3, 0), dtype=np.int64)]
    labels, numbered, moved, stopped = 0, len(cells.n), 0, False
    with work.warehouse.progress.kernel("search for the nearest file", unit="proposals") as progress:
        for stratum in range(strata):
            inside = np.flatnonzero(cells.strata == stratum)
            combined = Combined.of(cells.codes[inside], coordinates[inside], cells.n[inside])
            first = inside[combined.first]
            pool = keyed.pool(combined, first, k) if keyed else None
            file = combined.file(k, pool.new if pool else None)
            dealt, found = _search(cells, inside, combined, file, pool, settings, limit, rng, progress.tick)
            moved += found.moved
            stopped |= found.stopped
            cell, label, count, becomes = subgroups(X[inside], *dealt, k, rng)
            parts.append((inside[cell], label + labels, count))
            new = pool.new if pool else None
            combinations.append(np.concatenate([first, numbered + np.arange(len(file[2]) - len(first))])[becomes])
            if new is not None:
                invented.append(np.stack([first[new.base], first[new.donor], new.column]))
                numbered += len(new.column)
            labels += len(becomes)
    merged = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    grouped = GroupedCells(merged[0], merged[1], merged[2], dropped=0)
    made = InventedCells(*np.hstack(invented))
    return Placement(grouped, np.concatenate(combinations), made, own, averaged, moved, stopped)


def _search(
    cells: Cells,
    inside: np.ndarray,
    combined: Combined,
    file: File,
    pool: Pool | None,
    settings: Settings,
    time_limit: float | None,
    rng: np.random.Generator,
    tick: Tick,
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], Found]:
    """Search one stratum; return how many records of which cell become which combination, and what was found."""
    import numpy as np

    n, weights = cells.n[inside], cells.weights[inside]
    mean = np.bincount(combined.of_cell, n * weights) / combined.n
    found = search(
        *file,
        rng,
        tick,
        weights=np.concatenate([mean, np.ones(len(file[2]) - len(mean))]),
        max_shift=settings.max_shift,
        effort=settings.effort,
        time_limit=time_limit,
        pool=pool,
    )
    dealt = deal(combined.of_cell, n, found.cell, found.target, found.count)
    if cells.weight_column:
        dealt = _by_weight(file, combined.of_cell, weights, dealt, rng, tick)
    return dealt, found


@dataclass(frozen=True)
class _Keyed:
    """What is asked so that a release can be denied, and what is keyed: the content of every cell."""

    asked: Asked
    content: np.ndarray
    commonest: np.ndarray

    @classmethod
    def of(cls, work: Work, cells: Cells, coordinates: np.ndarray, kept: int, asked: Asked) -> _Keyed:
        """Read the content of the cells; the first `kept` of nominal columns and coordinates keep their values."""
        import numpy as np

        read = work.warehouse.arrays("safe/contents.sql", cells=cells.relation, columns=cells.nominal)
        texts = [np.asarray(read[column.staged]).astype(np.uint64) for column in cells.nominal]
        # One NaN, and no -0.0: equal numbers have the same bits.
        numbers = np.where(np.isnan(coordinates), np.nan, coordinates + 0.0).view(np.uint64)
        shares = []
        for column in np.hstack([cells.codes, coordinates]).T[:kept]:
            value = np.unique(column, return_inverse=True)[1].reshape(-1)
            shares.append(np.bincount(value, cells.n).max() / cells.n.sum())
        content = np.stack([*texts, *numbers.T], axis=1)
        return cls(asked, content, np.array(shares))

    def pool(self, combined: Combined, cell: np.ndarray, k: int) -> Pool | None:
        """Return what may be shown of a stratum; None where nothing can be invented and nobody insists."""
        values, kept = combined.values, len(self.commonest)
        found = pooled(values, kept, self.content[cell], combined.n, k, self.asked, self.commonest)
        return found if len(found.new.base) or self.asked.insists else None


def _by_weight(
    file: File,
    reduced: np.ndarray,
    weights: np.ndarray,
    dealt: tuple[np.ndarray, np.ndarray, np.ndarray],
    rng: np.random.Generator,
    tick: Tick,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what was dealt, with other records of the same combinations moving where that is nearer by weight."""
    import numpy as np

    cell, target = (np.repeat(array, dealt[2]) for array in dealt[:2])
    order = np.argsort(reduced[cell], kind="stable")
    cell, target = cell[order], target[order]
    target = exchanged(*file, (reduced[cell], target, weights[cell]), rng, tick)
    pairs, count = np.unique(np.stack([cell, target]), axis=1, return_counts=True)
    return pairs[0], pairs[1], count


def placed_file(work: Work, cells: Cells, placement: Placement, means: Name, number: int) -> Name:
    """Write a placement to the warehouse; return the file that results, with `means` in the averaged columns."""
    import numpy as np
    import pyarrow as pa

    table = pa.table({"label": np.arange(len(placement.combination)), "cell": placement.combination})
    placed = work.load(table, f"placed_{number}", "filled with the combinations that the direct search found")
    own, new = [*cells.nominal, *placement.own], placement.invented
    combinations = cells.relation
    if len(new.base):
        cell = len(cells.n) + np.arange(len(new.base))
        table = pa.table({"cell": cell, "base": new.base, "donor": new.donor, "changed": new.column + 1})
        invented = work.load(table, f"invented_{number}", "filled with combinations that never occurred")
        combinations = work.run(
            "safe/combinations.sql", f"combinations_{number}", cells=cells.relation, invented=invented, columns=own
        )
    return work.run(
        "safe/placed_cells.sql",
        f"placed_cells_{number}",
        cells=combinations,
        placed=placed,
        means=means,
        own=own,
        averaged=placement.averaged,
    )


def own_columns(cells: Cells, settings: Settings) -> list[Column]:
    """Return the numeric columns whose released values are values that occur."""
    import numpy as np

    if settings.numeric_values == "means":
        return []
    return [
        column
        for j, column in enumerate(cells.numeric)
        if column not in settings.steps
        and (settings.numeric_values == "own" or len(np.unique(cells.raw[:, j])) <= OWN_VALUES_AT_MOST)
    ]


def parse_steps(cells: Cells, texts: Sequence[str], where: str) -> dict[Column, float]:
    """Return the step of every column that is named as column=step.

    Raises
    ------
    ParameterError
        For a step that is no number above 0, or a column that is not there or not numeric.
    """
    must = "must be column=step with a step above 0, as in income=100"
    steps = numbers_by_column([*cells.numeric, *cells.nominal], texts, where, must)
    nominal = [column.name for column in steps if column not in cells.numeric]
    if nominal:
        raise ParameterError(where, "must be numeric columns", ", ".join(nominal), "Name them in --numeric too")
    return steps


def _stepped(cells: Cells, own: Sequence[Column], steps: dict[Column, float]) -> np.ndarray:
    """Return the numeric columns that take part in the search: those with own values, then multiples of the steps."""
    import numpy as np

    parts = [cells.raw[:, cells.numeric.index(column)] for column in own]
    parts += [np.rint(cells.raw[:, cells.numeric.index(column)] / step) * step for column, step in steps.items()]
    return np.array(parts, dtype=float).reshape(-1, len(cells.n)).T


def deal(
    reduced: np.ndarray, n: np.ndarray, source: np.ndarray, target: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hand the records of every combination, cell by cell, to the targets of that combination.

    Examples
    --------
    >>> import numpy as np
    >>> cell, to, records = deal(np.array([0, 0, 1]), np.array([2, 1, 3]), np.array([0, 0, 1]), np.array([0, 1, 1]),
    ...                          np.array([1, 2, 3]))
    >>> cell.tolist(), to.tolist(), records.tolist()
    ([0, 0, 1, 2], [0, 1, 1, 1], [1, 1, 1, 3])
    """
    import numpy as np

    cells, moves = np.argsort(reduced, kind="stable"), np.argsort(source, kind="stable")
    cell_ends, move_ends = np.cumsum(n[cells]), np.cumsum(count[moves])
    ends = np.union1d(cell_ends, move_ends)
    starts = np.concatenate([[0], ends[:-1]])
    cell = cells[np.searchsorted(cell_ends, starts, side="right")]
    to = target[moves[np.searchsorted(move_ends, starts, side="right")]]
    return cell, to, ends - starts
