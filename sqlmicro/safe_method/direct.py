"""The direct search as a candidate: records go to combinations of values, continuous columns get group means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.database.columns import Column, numbers_by_column
from sqlmicro.errors import ParameterError
from sqlmicro.registry import Tick
from sqlmicro.safe_method.anew import Anew, Placed, grouped_anew
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.cells import OWN_VALUES_AT_MOST, Cells
from sqlmicro.safe_method.combined import Combined, File
from sqlmicro.safe_method.coordinates import Coordinates, counted_pairs, in_order
from sqlmicro.safe_method.deniable import Asked, Pool
from sqlmicro.safe_method.in_parts import AT_ONCE, search_in_parts
from sqlmicro.safe_method.keyed import Keyed
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.mean_exchange import exchanged as mean_exchange
from sqlmicro.safe_method.means import SubgroupMeans
from sqlmicro.safe_method.plausible import affordable
from sqlmicro.safe_method.reassignment import Dealt, deal
from sqlmicro.safe_method.search import Placement as Found
from sqlmicro.safe_method.search import search
from sqlmicro.safe_method.subgroups import subgroups
from sqlmicro.safe_method.weight_exchange import exchanged as weight_exchange

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

_IN_STRATA = 2.0
"""All strata, by patterns of missing values too, together make at most so many times the proposals of one search."""


@dataclass(frozen=True)
class Settings:
    """What the search is told beside k; `steps` are the columns that take part as multiples of a step, none if dealt.

    The search keeps the `means` of columns that take part with their values or in steps; where columns are averaged,
    the records that move are chosen by them.
    """

    numeric_values: Literal["auto", "own", "means"]
    steps: dict[Column, float]
    effort: Effort
    max_shift: int | None
    time_limit: float | None
    means: tuple[SubgroupMeans, ...] = ()
    anew: Anew | None = None
    """How the records are dealt anew to the groups of the search, if they are."""


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
    shown: Name | None = None
    """Combinations that earlier nights of a series have shown, numbered after the invented ones."""
    differ: np.ndarray | None = None
    """By how much the numbers of every label differ from its means, if they do."""


@dataclass(frozen=True)
class Search:
    """The direct search of a file, with all that was read for it: it needs no database.

    `strata` are the cells of every stratum and their combinations, `keyed` what is keyed of the cells, if it is asked.
    """

    cells: Cells
    least: np.ndarray
    settings: Settings
    own: list[Column]
    strata: list[tuple[np.ndarray, Combined]]
    keyed: Keyed | None
    rng: np.random.Generator

    @classmethod
    def of(cls, work: Work, cells: Cells, k: int, least: np.ndarray, settings: Settings, asked: Asked | None) -> Search:
        """Read what the search needs.

        What is asked so that the release can be denied holds of the columns that keep their values.
        """
        import numpy as np

        own = own_columns(cells, settings)
        taken = [cells.numeric.index(column) for column in (*own, *settings.steps)]
        coordinates = stepped(cells.raw[:, taken], len(own), list(settings.steps.values()))
        kept = len(cells.nominal) + len(own)
        strata = []
        for stratum in range(int(cells.strata.max()) + 1):
            inside = np.flatnonzero(cells.strata == stratum)
            strata.append((inside, Combined.of(cells.codes[inside], coordinates[inside], cells.n[inside])))
        in_parts = _in_parts(work, max(len(combined.n) for _, combined in strata), asked)
        keyed = Keyed.of(work, cells, coordinates, kept, k, asked) if asked and kept and not in_parts else None
        if keyed and not affordable(len(cells.n), width := len(keyed.content[0]), kept):
            work.note(f"nothing is invented: {len(cells.n):,} combinations of {width} columns are too many")
        return cls(cells, least, settings, own, strata, keyed, work.rng())

    title = "search for the nearest file"
    haste = (False, -math.inf)  # it takes longest

    def place(self, tick: Tick) -> Placement:
        """Place the records of every stratum on combinations of the nominal columns and of those with own values.

        Where other numeric columns are left, the records are dealt anew to groups of these combinations, or those of
        one are grouped by MDAV, k to 2k-1. A group gets means. Columns with a step take part in both: a combination
        holds their nearest multiple of the step, a group the mean of the own values.
        """
        import numpy as np

        cells, settings, rng = self.cells, self.settings, self.rng
        averaged = [column for column in cells.numeric if column not in self.own]
        X = within(cells, averaged)
        limit = None if settings.time_limit is None else settings.time_limit / (2 if settings.anew else 1)
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        combinations, invented = [], [np.zeros((3, 0), dtype=np.int64)]
        shown: list[tuple[np.ndarray, ...]] = []
        labels, numbered, moved, stopped, differ = 0, len(cells.n), 0, False, None
        for (inside, combined), size in zip(self.strata, self.least.tolist(), strict=True):
            first = inside[combined.first]
            pool = self.keyed.pool(combined, inside, size) if self.keyed else None
            file = combined.file(size, pool.new if pool else None)
            part = limit / len(self.strata) if limit else limit
            share = min(1.0, _IN_STRATA * float(cells.n[inside].sum() / cells.n.sum()))
            dealt, found = _search(cells, inside, combined, file, pool, settings, share, part, rng, tick)
            if settings.anew:
                (cell, label, count), becomes = dealt, np.arange(len(file[2]))
                shown.append((file[0], np.full(len(becomes), len(shown)), np.full(len(becomes), size)))
            else:
                dealt = _with_means(cells, inside, combined, file, dealt, averaged, settings, rng, tick)
                cell, label, count, becomes = subgroups(X[inside], *dealt, size, rng)
            moved += found.moved
            stopped |= found.stopped
            parts.append((inside[cell], label + labels, count))
            new = pool.new if pool else None
            combinations.append(np.concatenate([first, numbered + np.arange(len(file[2]) - len(first))])[becomes])
            if new is not None:
                invented.append(np.stack([first[new.base], first[new.donor], new.column]))
                numbered += len(new.column)
            labels += len(becomes)
        cell, label, count = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        combination = np.concatenate(combinations)
        if settings.anew:
            codes, block, least = (np.concatenate(arrays) for arrays in zip(*shown, strict=True))
            placed = Placed(cell, label, count, codes, block, least, cells.codes)
            anew = grouped_anew(settings.anew, cells, placed, settings.effort, limit, rng, tick)
            cell, label, count = anew.cell, anew.label, anew.count
            combination, stopped, differ = combination[anew.becomes], stopped or anew.stopped, anew.moved
        made = InventedCells(*np.hstack(invented))
        return Placement(
            GroupedCells(cell, label, count, dropped=0), combination, made, self.own, averaged, moved, stopped,
            differ=differ,
        )  # fmt: skip


def place(work: Work, cells: Cells, k: int, least: np.ndarray, settings: Settings, asked: Asked | None) -> Placement:
    """Read what the direct search needs, and place the records."""
    search = Search.of(work, cells, k, least, settings, asked)
    with work.warehouse.progress.kernel(search.title, unit="proposals") as progress:
        return search.place(progress.tick)


def _in_parts(work: Work, most: int, asked: Asked | None) -> bool:
    """Tell whether some stratum has more combinations than are searched at once, and say what is not kept then.

    Raises
    ------
    ParameterError
        When it was demanded that the release can be denied.
    """
    if most <= AT_ONCE:
        return False
    where, needed = f"{work.where}, invented or max_inference", f"needs at most {AT_ONCE:,} combinations of values"
    if asked and asked.insists:
        raise ParameterError(where, needed, f"{most:,}", "Use coarser or fewer columns, --by, or leave it out")
    work.note(
        f"search: {most:,} combinations are searched in parts of at most {AT_ONCE:,}, each of which makes up for what "
        "those before have left. Nothing is invented, and the means of subgroups are measured but not kept"
    )
    return True


def _search(
    cells: Cells,
    inside: np.ndarray,
    combined: Combined,
    file: File,
    pool: Pool | None,
    settings: Settings,
    share: float,
    time_limit: float | None,
    rng: np.random.Generator,
    tick: Tick,
) -> tuple[Dealt, Found]:
    """Search one stratum in its `share` of the time; return how many records of a cell become what, and more."""
    import numpy as np

    n, weights, means = cells.n[inside], cells.weights[inside], mean_tables(cells, combined, settings)
    weighted = bool(cells.weight_column) and not settings.anew  # what is dealt anew has its weights decided then
    mean = np.bincount(combined.of_cell, n * weights if weighted else n) / combined.n
    weight = np.concatenate([mean, np.ones(len(file[2]) - len(mean))])
    shift, effort = settings.max_shift, settings.effort
    if pool is None and len(combined.n) > AT_ONCE:
        found = search_in_parts(
            *file, rng, tick, weights=weight, max_shift=shift, effort=effort, time_limit=time_limit
        )  # fmt: skip
    else:
        found = search(
            *file, rng, tick, weights=weight, max_shift=shift, effort=effort, share=share, time_limit=time_limit,
            pool=pool, means=means,
        )  # fmt: skip
    dealt = deal(combined.of_cell, n, found.cell, found.target, found.count)
    if weighted:
        dealt = _by_weight(file, combined.of_cell, weights, dealt, means, rng, tick)
    return dealt, found


def mean_tables(cells: Cells, combined: Combined, settings: Settings) -> list[MeanTable]:
    """Return the means that the search keeps, by the positions of the columns; those of missing values are apart."""
    taken, codes = [*own_columns(cells, settings), *settings.steps], combined.codes.shape[1] - len(combined.flagged)
    tables = []
    for means in settings.means:
        if means.column in taken:
            j = taken.index(means.column)
            flag = [codes + combined.flagged.index(j)] if j in combined.flagged else []
            tables.append(MeanTable(j, (*(cells.nominal.index(column) for column in means.by), *flag)))
    return tables


def _by_weight(
    file: File,
    reduced: np.ndarray,
    weights: np.ndarray,
    dealt: Dealt,
    means: Sequence[MeanTable],
    rng: np.random.Generator,
    tick: Tick,
) -> Dealt:
    """Return what was dealt, with other records of the same combinations moving where that is nearer by weight."""
    cell, target = _records(reduced, dealt)
    return counted_pairs(cell, weight_exchange(*file, (reduced[cell], target, weights[cell]), rng, tick, means=means))


def _with_means(
    cells: Cells,
    inside: np.ndarray,
    combined: Combined,
    file: File,
    dealt: Dealt,
    averaged: Sequence[Column],
    settings: Settings,
    rng: np.random.Generator,
    tick: Tick,
) -> Dealt:
    """Return what was dealt, with other records moving where averaged columns keep the means of subgroups so."""
    nominal = cells.nominal
    tables = [
        MeanTable(averaged.index(means.column), tuple(nominal.index(column) for column in means.by))
        for means in settings.means
        if means.column in averaged
    ]
    if not tables:
        return dealt
    cell, target = _records(combined.of_cell, dealt)
    X = cells.raw[inside][:, [cells.numeric.index(column) for column in averaged]][cell]
    records = (combined.of_cell[cell], target, cells.weights[inside][cell])
    return counted_pairs(cell, mean_exchange(tables, Coordinates.of(*file), X, records, rng, tick))


def _records(reduced: np.ndarray, dealt: Dealt) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell and the target of every record, sorted by the combination it leaves."""
    import numpy as np

    cell, target = (np.repeat(array, dealt[2]) for array in dealt[:2])
    order = in_order(reduced[cell])
    return cell[order], target[order]


def placed_file(work: Work, cells: Cells, placement: Placement, means: Name, number: int) -> Name:
    """Write a placement to the warehouse; return the file that results.

    `means` has the values of the averaged columns, and of those without tables.
    """
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
    if placement.shown:
        first = len(cells.n) + len(new.base)
        combinations = work.run(
            "safe/with_shown.sql", f"with_shown_{number}", cells=combinations, shown=placement.shown, first=first,
            columns=own,
        )  # fmt: skip
    return work.run(
        "safe/placed_cells.sql",
        f"placed_cells_{number}",
        cells=combinations,
        placed=placed,
        means=means,
        own=own,
        averaged=[*placement.averaged, *cells.scattered],
    )


def within(cells: Cells, averaged: Sequence[Column]) -> np.ndarray:
    """Return what the records of one combination are grouped on: the columns of which no table is made."""
    import numpy as np

    return np.hstack([cells.numbers[:, [cells.numeric.index(column) for column in averaged]], cells.places])


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
    steps = numbers_by_column([*cells.numeric, *cells.nominal, *cells.elsewhere], texts, where, must)
    steps = {column: step for column, step in steps.items() if column not in cells.elsewhere}
    nominal = [column.name for column in steps if column not in cells.numeric]
    if nominal:
        raise ParameterError(where, "must be numeric columns", ", ".join(nominal), "Name them in --numeric too")
    return steps


def stepped(raw: np.ndarray, own: int, steps: Sequence[float]) -> np.ndarray:
    """Return numeric columns (n, own + steps) as they take part in the search: the last ones as multiples of a step.

    >>> import numpy as np
    >>> stepped(np.array([[1.0, 149.0], [2.0, 151.0]]), 1, [100.0]).tolist()
    [[1.0, 100.0], [2.0, 200.0]]
    """
    import numpy as np

    width = np.array(steps, dtype=float)
    return np.hstack([raw[:, :own], np.rint(raw[:, own:] / width) * width])
