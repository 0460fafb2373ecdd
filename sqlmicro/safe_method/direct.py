"""The direct search as a candidate: records go to occurring combinations, continuous columns get group means."""

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
class Placement:
    """Where the records go: a grouping of the cells, and per label the cell whose own values the group takes."""

    grouped: GroupedCells
    combination: np.ndarray
    own: list[Column]
    averaged: list[Column]
    moved: int
    stopped: bool


def place(work: Work, cells: Cells, k: int, settings: Settings) -> Placement:
    """Place the records of every stratum on combinations of the nominal columns and of numeric columns with own values.

    Where other numeric columns are left, the records of one combination are grouped on them by MDAV, k to 2k-1, and get
    the group means, so that the totals deviate only by the records that moved. Columns with a step take part in both:
    a combination holds their nearest multiple of the step, and the records of a group get the mean of their own values.
    """
    import numpy as np

    own = own_columns(cells, settings)
    averaged = [column for column in cells.numeric if column not in own]
    coordinates = _stepped(cells, own, settings.steps)
    X = cells.numbers[:, [cells.numeric.index(column) for column in averaged]]
    rng = work.rng()
    strata = int(cells.strata.max()) + 1
    limit = None if settings.time_limit is None else settings.time_limit / strata
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    combinations: list[np.ndarray] = []
    labels = moved = 0
    stopped = False
    with work.warehouse.progress.kernel("search for the nearest file", unit="proposals") as progress:
        for stratum in range(strata):
            inside = np.flatnonzero(cells.strata == stratum)
            n = cells.n[inside]
            codes, numbers = _coordinates(cells.codes[inside], coordinates[inside])
            first, reduced = _distinct(codes, numbers)
            counts = np.bincount(reduced, n, len(first)).astype(np.int64)
            weights = cells.weights[inside]
            file = codes[first], numbers[first], counts, k
            found = search(
                *file,
                rng,
                progress.tick,
                weights=np.bincount(reduced, n * weights, len(first)) / counts,
                max_shift=settings.max_shift,
                effort=settings.effort,
                time_limit=limit,
            )
            moved += int(found.count[found.cell != found.target].sum())
            stopped |= found.stopped
            cell, target, count = deal(reduced, n, found.cell, found.target, found.count)
            if cells.weight_column:
                cell, target, count = _by_weight(file, reduced, weights, (cell, target, count), rng, progress.tick)
            cell, label, count, becomes = subgroups(X[inside], cell, target, count, k, rng)
            parts.append((inside[cell], label + labels, count))
            combinations.append(inside[first[becomes]])
            labels += len(becomes)
    merged = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    grouped = GroupedCells(merged[0], merged[1], merged[2], dropped=0)
    return Placement(grouped, np.concatenate(combinations), own, averaged, moved, stopped)


def _by_weight(
    file: tuple[np.ndarray, np.ndarray, np.ndarray, int],
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
    return work.run(
        "safe/placed_cells.sql",
        f"placed_cells_{number}",
        cells=cells.relation,
        placed=placed,
        means=means,
        own=[*cells.nominal, *placement.own],
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


def _coordinates(codes: np.ndarray, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and numbers of the cells; a missing number is the mean, and a code of its own tells it."""
    import numpy as np

    missing = np.isnan(raw)
    present = np.maximum((~missing).sum(axis=0), 1)
    means = np.where(missing, 0.0, raw).sum(axis=0) / present
    flags = missing[:, missing.any(axis=0)].astype(np.int64)
    return np.hstack([codes, flags]), np.where(missing, means, raw)


def _distinct(codes: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of every distinct combination, and the combination of every row."""
    import numpy as np

    values = np.hstack([codes.astype(float), numbers])
    if not values.shape[1]:
        return np.zeros(1, dtype=np.int64), np.zeros(len(values), dtype=np.int64)
    _, first, reduced = np.unique(values, axis=0, return_index=True, return_inverse=True)
    return first, reduced.reshape(-1)


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
