"""SAFE in a series, as a candidate: tonight's records go to the combinations of a file that carries last night's on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.safe_method import direct
from sqlmicro.safe_method.admissible import Combinations, Published
from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.direct import InventedCells, Placement, Settings
from sqlmicro.safe_method.keyed import Keyed, contents_of_cells
from sqlmicro.safe_method.reassignment import deal
from sqlmicro.safe_method.search import placed
from sqlmicro.safe_method.successor import Night, carried_on

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.carried import Files, FileSeries
    from sqlmicro.database.templates import Name
    from sqlmicro.safe_method.cells import Cells
    from sqlmicro.safe_method.deniable import Asked
    from sqlmicro.work import Work


Way = Literal["best", "cluster", "search"]


def approach(work: Work, cells: Cells, settings: Settings, asked: Way, others: Mapping[str, object]) -> Way:
    """Return how the file is made: as was asked; in a series by the search. What cannot be a night is refused.

    `others` are options that do not go with a series.

    Raises
    ------
    ParameterError
        With the reason.
    """
    if not work.demand.files:
        return asked
    where = f"{work.where}, series"
    if asked == "cluster":
        must = "goes with the direct search: groups of one night are others in the next"
        raise ParameterError(where, must, "--method cluster", "Use --method search")
    given = [option for option, value in others.items() if value not in (None, ())]
    if given:
        got = ", ".join(given)
        raise ParameterError(where, "counts records in combinations of original values", got, f"Leave out {got}")
    own = direct.own_columns(cells, settings)
    averaged = [column.name for column in cells.numeric if column not in own]
    if averaged:
        raise ParameterError(
            where, "releases values that occur: a mean over records of one night gives who comes or leaves away",
            f"columns that would be averaged: {', '.join(averaged)}",
            "Recode them before (generalize), or use --numeric-values own for columns of few values",
        )  # fmt: skip
    return "search"


def place(
    work: Work, series: FileSeries, cells: Cells, k: int, least: np.ndarray, settings: Settings, asked: Asked | None
) -> Placement:
    """Place the records of a night of a series, and tell the series what its file is.

    The same records as last night have last night's file.
    """
    import numpy as np

    digest = _digest(work, cells, series)
    if series.files is None:
        placement = direct.place(work, cells, k, least, settings, asked)
        drawn = _drawn(work, cells.relation, cells, cells.raw, asked)
        series.filed(work.load, digest, drawn, (0, len(np.unique(placement.combination)), 0))
        return placement
    tonight, joined, made, shown = _joined(work, cells, series.files, k, asked)
    before = joined.shown.before
    if digest == series.files.digest:
        found = Night(before, int(cells.n.sum() - before.sum()), 0.0, 0, False)
    else:
        with work.warehouse.progress.kernel("carry last night's file on", unit="proposals") as progress:
            found = carried_on(
                joined,
                k,
                work.rng(),
                progress.tick,
                effort=settings.effort,
                time_limit=settings.time_limit,
                means=direct.mean_tables(cells, tonight, settings),
            )
    changes = np.sign(found.new_n - before)
    drawn = _drawn(work, cells.relation, cells, cells.raw, asked)
    series.filed(work.load, digest, drawn, (found.withheld, int((changes > 0).sum()), int((changes < 0).sum())))
    return _placement(cells, settings, tonight, joined, made, found, shown, k)


def _drawn(work: Work, relation: Name, cells: Cells, numbers: np.ndarray, asked: Asked | None) -> np.ndarray:
    """Return the keyed number of every combination of a relation; without a key none."""
    import numpy as np

    return asked.draw(contents_of_cells(work, relation, cells.nominal, numbers)) if asked else np.zeros(0)


def _digest(work: Work, cells: Cells, series: FileSeries) -> str:
    """Return what tells the records of tonight from others."""
    import numpy as np

    columns = [*cells.nominal, *cells.numeric]
    read = work.warehouse.arrays("safe/contents.sql", cells=cells.relation, columns=columns)
    rows = [np.asarray(read[column.staged]).astype(np.uint64) for column in columns]
    return series.digest(np.stack([*rows, cells.n.astype(np.uint64)], axis=1).astype("<u8").tobytes())


def _joined(
    work: Work, cells: Cells, files: Files, k: int, asked: Asked | None
) -> tuple[Combined, Combinations, InventedCells, Name]:
    """Return tonight's combinations alone, with those that were shown, what was invented, and the shown as cells."""
    import numpy as np
    import pyarrow as pa

    numbers = pa.table({
        "class": files.combination, "cell": np.arange(len(files.combination)), "n": files.before,
    })  # fmt: skip
    types = dict(work.warehouse.describe(cells.relation))
    columns = [*cells.nominal, *cells.numeric]
    days = [c for c in columns if c.family == "date" and types[c.staged] == "DOUBLE"]
    instants = [c for c in columns if c.family in ("timestamp", "timestamptz") and types[c.staged] == "DOUBLE"]
    plain = [replace(c, type=types[c.staged]) for c in columns if c not in (*days, *instants)]
    shown = work.run(
        "safe/shown_cells.sql", "shown", columns=plain, dates=days, timestamps=instants,
        texts=work.load(files.texts, "texts", "filled with the combinations that a series has shown"),
        numbers=work.load(numbers, "numbers", "filled with their numbers"),
    )  # fmt: skip
    read = work.warehouse.arrays(
        "safe/both_features.sql", cells=cells.relation, original=shown, nominal=cells.nominal, numeric=cells.numeric
    )
    size = len(cells.n)
    n = np.concatenate([cells.n, np.zeros(len(read["n"]) - size, dtype=np.int64)])
    codes = np.array([read[c.staged] for c in cells.nominal], dtype=np.int64).reshape(-1, len(n)).T
    raw = np.array([read[c.staged] for c in cells.numeric], dtype=float).reshape(-1, len(n)).T
    every = Combined.of(codes, raw, n)
    own = np.flatnonzero(every.n > 0)
    number = np.cumsum(every.n > 0) - 1
    tonight = Combined(
        every.codes[own], every.numbers[own], every.n[own], every.first[own], number[every.of_cell[:size]],
        every.flagged,
    )  # fmt: skip
    keyed = Keyed.of(work, cells, raw[:size], len(columns), k, asked) if asked else None
    pool = keyed.pool(tonight, np.arange(size), k) if keyed else None
    at = every.of_cell[size:]
    published = Published(
        every.codes[at], every.numbers[at], files.before, files.first, files.count, files.totals,
        _drawn(work, shown, cells, raw[size:], asked), files.occurred,
    )  # fmt: skip
    joined = Combinations.of(tonight.file(k, pool.new if pool else None), every.flagged, pool, published)
    nothing = np.zeros(0, dtype=np.int64)
    made = InventedCells(nothing, nothing, nothing)
    if pool:
        made = InventedCells(tonight.first[pool.new.base], tonight.first[pool.new.donor], pool.new.column)
    return tonight, joined, made, shown


def _placement(
    cells: Cells,
    settings: Settings,
    tonight: Combined,
    joined: Combinations,
    made: InventedCells,
    found: Night,
    shown: Name,
    k: int,
) -> Placement:
    """Say which records become what; those that have no place are left out."""
    import numpy as np

    moves = placed(joined.columns(k), joined.n, found.new_n, found.objective, found.proposals, found.stopped)
    stays = joined.n - np.bincount(moves.cell, moves.count, len(joined.n)).astype(np.int64)
    out = np.flatnonzero(stays)
    cell, target, records = deal(
        tonight.of_cell, cells.n,
        np.concatenate([moves.cell, out]),
        np.concatenate([moves.target, np.full(len(out), -1)]),
        np.concatenate([moves.count, stays[out]]),
    )  # fmt: skip
    kept = target >= 0
    becomes, label = np.unique(target[kept], return_inverse=True)
    first = len(cells.n)
    cells_of = np.concatenate([
        tonight.first, first + np.arange(len(made.base)), first + len(made.base) + joined.other
    ])  # fmt: skip
    grouped = GroupedCells(cell[kept], label.reshape(-1), records[kept], dropped=found.withheld)
    own = direct.own_columns(cells, settings)
    return Placement(grouped, cells_of[becomes], made, own, [], moves.moved, found.stopped, shown)
