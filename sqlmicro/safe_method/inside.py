"""The direct search below another level: records stay in the classes of the columns above, all tables stay near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.safe_method.anew import Placed, grouped_anew
from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.direct import InventedCells, Placement, Settings, own_columns, stepped, within
from sqlmicro.safe_method.nested import Blocks, nested
from sqlmicro.safe_method.reassignment import Dealt, deal
from sqlmicro.safe_method.subgroups import subgroups

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method.cells import Cells
    from sqlmicro.work import Work


def place(work: Work, cells: Cells, least: np.ndarray, settings: Settings) -> Placement:
    """Place the records of every class of the levels above on combinations of it; see `nested.nested`.

    The tables are compared with those of the original, in which the columns above have their own values. Columns that
    are averaged, and those with a step, are as in `direct.Search.place`, but no record leaves its class.
    """
    import numpy as np

    own = own_columns(cells, settings)
    averaged = [column for column in cells.numeric if column not in own]
    both = _Both.of(work, cells)
    blocks, combined, first = _blocks(work, cells, both, least, settings)
    k, rng, limit = int(least.min()), work.rng(), settings.time_limit
    limit = limit / 2 if limit and settings.anew else limit  # half for the search, half for the dealing
    with work.warehouse.progress.kernel("search for the nearest file", unit="proposals") as progress:
        found = nested(blocks, k, settings.effort, rng, progress.tick, time_limit=limit)
        dealt = deal(combined.of_cell[: len(cells.n)], cells.n, found.cell, found.target, found.count)
        size_of, stopped, differ = least[blocks.block], found.stopped, None
        if settings.anew:
            shown, codes = combined.codes[:, : len(cells.nominal)], both.codes[: len(cells.n)]
            placed = Placed(*dealt, shown, blocks.block, size_of, codes)
            anew = grouped_anew(settings.anew, cells, placed, settings.effort, limit, rng, progress.tick, both.original)
            cell, label, count, becomes = anew.cell, anew.label, anew.count, anew.becomes
            stopped, differ = stopped or anew.stopped, anew.moved
        else:
            cell, label, count, becomes = _subgroups(within(cells, averaged), dealt, size_of, rng)
    moved = int(found.count[found.cell != found.target].sum())
    nothing = InventedCells(*np.zeros((3, 0), dtype=np.int64))
    grouped = GroupedCells(cell, label, count, dropped=0)
    return Placement(grouped, first[becomes], nothing, own, averaged, moved, stopped, differ=differ)


def _subgroups(
    X: np.ndarray, dealt: Dealt, size_of: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Group the records of every combination on X, in groups of the size that its class needs."""
    import numpy as np

    parts, labels = [], 0
    needed = size_of[dealt[1]]
    for size in np.unique(needed):
        cell, to, records = (array[needed == size] for array in dealt)
        cell, label, count, target = subgroups(X, cell, to, records, int(size), rng)
        parts.append((cell, label + labels, count, target))
        labels += len(target)
    cell, label, count, becomes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return cell, label, count, becomes


@dataclass(frozen=True)
class _Both:
    """The cells, and after these those of the original: nominal values, numbers as they are, records."""

    codes: np.ndarray
    raw: np.ndarray
    n: np.ndarray
    original: tuple[np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def of(cls, work: Work, cells: Cells) -> _Both:
        import numpy as np

        read = work.warehouse.arrays(
            "safe/both_features.sql", cells=cells.relation, original=cells.file, nominal=cells.nominal,
            numeric=cells.numeric,
        )  # fmt: skip
        n, now = read["n"].astype(np.int64), len(cells.n)
        codes = np.array([read[column.staged] for column in cells.nominal], dtype=np.int64).reshape(-1, len(n)).T
        raw = np.array([read[column.staged] for column in cells.numeric], dtype=float).reshape(-1, len(n)).T
        return cls(codes, raw, n, (codes[now:], raw[now:], n[now:]))


def _blocks(
    work: Work, cells: Cells, both: _Both, least: np.ndarray, settings: Settings
) -> tuple[Blocks, Combined, np.ndarray]:
    """Return the combinations of the file and of the original, and the first cell of each that the file has."""
    import numpy as np

    own, steps = own_columns(cells, settings), settings.steps
    n, raw = both.n, both.raw[:, [cells.numeric.index(column) for column in (*own, *steps)]]
    # Of two classes above that differ in what no table is made by, such as means, neither takes the other's records.
    told = all(column in cells.nominal for column in work.by)
    apart = None if told else np.concatenate([cells.strata, np.full(len(n) - len(cells.n), -1)])
    combined = Combined.of(both.codes, stepped(raw, len(own), list(steps.values())), n, apart)
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
