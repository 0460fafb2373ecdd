"""The direct search below another level: records stay in the classes of the columns above, all tables stay near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.direct import InventedCells, Placement, Settings, deal, own_columns, stepped, within
from sqlmicro.safe_method.nested import Blocks, nested
from sqlmicro.safe_method.subgroups import subgroups

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.cells import Cells
    from sqlmicro.work import Work


def place(work: Work, cells: Cells, least: np.ndarray, settings: Settings) -> Placement:
    """Place the records of every class of the levels above on combinations of it; see `nested.nested`.

    The tables are compared with those of the original, in which the columns above have their own values. Columns that
    are averaged, and those with a step, are as in `direct.place`.
    """
    import numpy as np

    own = own_columns(cells, settings)
    averaged = [column for column in cells.numeric if column not in own]
    blocks, combined, first = _blocks(work, cells, least, settings)
    k, rng = int(least.min()), work.rng()
    with work.warehouse.progress.kernel("search for the nearest file", unit="proposals") as progress:
        found = nested(blocks, k, settings.effort, rng, progress.tick, time_limit=settings.time_limit)
    inside = np.arange(len(cells.n))
    dealt = deal(combined.of_cell[inside], cells.n, found.cell, found.target, found.count)
    X = within(cells, averaged)
    parts, becomes, labels = [], [], 0
    size_of = least[blocks.block[dealt[1]]]
    for size in np.unique(size_of):
        cell, to, records = (array[size_of == size] for array in dealt)
        cell, label, count, target = subgroups(X, cell, to, records, int(size), rng)
        parts.append((cell, label + labels, count))
        becomes.append(target)
        labels += len(target)
    merged = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    moved = int(found.count[found.cell != found.target].sum())
    nothing = InventedCells(*np.zeros((3, 0), dtype=np.int64))
    return Placement(
        GroupedCells(merged[0], merged[1], merged[2], dropped=0),
        first[np.concatenate(becomes)], nothing, own, averaged, moved, found.stopped,
    )  # fmt: skip


def _blocks(work: Work, cells: Cells, least: np.ndarray, settings: Settings) -> tuple[Blocks, Combined, np.ndarray]:
    """Return the combinations of the file and of the original, and the first cell of each that the file has."""
    import numpy as np

    own, steps = own_columns(cells, settings), settings.steps
    numeric = [*own, *steps]
    read = work.warehouse.arrays(
        "safe/both_features.sql", cells=cells.relation, original=cells.file, nominal=cells.nominal, numeric=numeric
    )
    n = read["n"].astype(np.int64)
    codes = np.array([read[column.staged] for column in cells.nominal], dtype=np.int64).reshape(-1, len(n)).T
    raw = np.array([read[column.staged] for column in numeric], dtype=float).reshape(-1, len(n)).T
    # Of two classes above that differ in what no table is made by, such as means, neither takes the other's records.
    told = all(column in cells.nominal for column in work.by)
    apart = None if told else np.concatenate([cells.strata, np.full(len(n) - len(cells.n), -1)])
    combined = Combined.of(codes, stepped(raw, len(own), list(steps.values())), n, apart)
    size, now = len(combined.n), combined.of_cell[: len(cells.n)]
    block, first = np.full(size, -1), np.zeros(size, dtype=np.int64)
    block[now], first[now[::-1]] = cells.strata, np.arange(len(now))[::-1]
    blocks = Blocks(
        combined.codes,
        combined.numbers,
        np.bincount(combined.of_cell[len(now) :], n[len(now) :], size).astype(np.int64),
        np.bincount(now, cells.n, size).astype(np.int64),
        block,
        least,
    )
    return blocks, combined, first
