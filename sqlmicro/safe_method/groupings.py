"""The groupings of the cells that candidates are made of, and the direct search beside them: several at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick
from sqlmicro.safe_method.algorithms import DEFAULT, PASSES, Algorithm, NoCluster, mdav_seconds, parse
from sqlmicro.safe_method.candidates import GroupedCells
from sqlmicro.safe_method.cells import Cells, Pass
from sqlmicro.safe_method.direct import Placement, Search
from sqlmicro.safe_method.kmeans import merge_small
from sqlmicro.safe_method.meter import Cost, Meter
from sqlmicro.safe_method.subgroups import split_alike
from sqlmicro.system import parallel

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.work import Work

_MDAV_SECONDS = 5.0
"""The default leaves MDAV out of a pass where it would take longer."""
COORDINATES_UP_TO = 200_000_000
"""The default leaves the cluster method out above so many coordinates of all combinations, 8 bytes each.

Groupings that are made at the same time have no more together, and what waits for the database is no more.
"""
COLUMNS_UP_TO = 60
"""The default leaves the cluster method out above so many columns: each candidate costs statements for every column."""
LEAST_LOSS = ("microaggregate",)
"""What groups records that have numbers alone."""
_STEPS = 1_000
_KEPT_PER_CELL = 3


@dataclass(frozen=True)
class Grouping:
    """The cells grouped by one algorithm on one pass; nothing where no group was formed, which `notes` say."""

    algorithm: Algorithm
    which: Pass
    grouped: GroupedCells | None
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it was made by, in words."""
        return _title(self.algorithm, self.which)


@dataclass(frozen=True)
class Maker:
    """Groups the cells of every stratum by one algorithm on one pass, with random numbers of its own.

    Groups below `least` of the stratum are merged or dropped. Groups made from the nominal columns alone, and alike in
    all of them, are split on the numeric columns, and on those without tables: that changes no table and keeps more of
    the variance.
    """

    cells: Cells
    algorithm: Algorithm
    which: Pass
    least: np.ndarray
    small_groups: str
    rng: np.random.Generator

    @property
    def numbers(self) -> int:
        """How many coordinates it needs."""
        return len(self.cells.n) * self.cells.width(self.which)

    @property
    def title(self) -> str:
        """What it does, in words."""
        return f"group by {_title(self.algorithm, self.which)}"

    @property
    def haste(self) -> tuple[bool, int]:
        """Where it stands among those that are to begin: k-means takes less than what groups every record."""
        return self.algorithm.name == "kmeans++", -self.numbers

    def make(self, tick: Tick) -> Grouping:
        """Return the grouping."""
        notes: list[str] = []
        grouped, title = None, _title(self.algorithm, self.which)
        try:
            grouped = self._grouped(tick, notes)
        except NoCluster as none:
            notes.append(f"{self.which} columns: {none}")
        if grouped and not len(grouped.n):
            grouped = None
            notes.append(f"{title}: no group of {int(self.least.min())} records was formed")
        return Grouping(self.algorithm, self.which, grouped, tuple(notes))

    def _grouped(self, tick: Tick, notes: list[str]) -> GroupedCells:
        import numpy as np

        cells, which, rng = self.cells, self.which, self.rng
        X, X_within = cells.coordinates(which), np.hstack([cells.numbers, cells.places])
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        groups = dropped = 0
        strata = int(cells.strata.max()) + 1
        for stratum in range(strata):
            inside, k = np.flatnonzero(cells.strata == stratum), int(self.least[stratum])
            own = X if strata == 1 else X[inside]  # a million cells are a gigabyte: no copy that is not needed
            rows, label, n, said = self.algorithm.group(own, cells.n[inside], k, rng, tick)
            notes += [f"{_title(self.algorithm, self.which)}: {note}" for note in said]
            if self.small_groups == "merge":
                whole = np.array_equal(rows, np.arange(len(own)))
                label = merge_small(own if whole else own[rows], n.astype(float), label, k)
            else:
                large = np.bincount(label, n)[label] >= k
                dropped += int(n[~large].sum())
                rows, label, n = rows[large], label[large], n[large]
                label = np.unique(label, return_inverse=True)[1].reshape(-1)
            if which == "nominal" and X_within.shape[1] and len(rows):
                rows, label, n = split_alike(X_within[inside], cells.codes[inside], rows, label, n, k, rng)
            parts.append((inside[rows], label + groups, n))
            groups += int(label.max(initial=-1)) + 1
        cell, label, n = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return GroupedCells(cell, label, n, dropped)


def makers_of(
    work: Work,
    cells: Cells,
    named: Sequence[str],
    method: str,
    least: np.ndarray,
    small_groups: str,
    *,
    searched: bool,
) -> list[Maker]:
    """Return what groups the cells by every algorithm that is named, on every pass that it has and the columns allow.

    Where none is named, they are those of the default of the cluster method. The search needs none beside it; where it
    has nothing to place, since all columns are averaged, the groups are those of least loss.
    """
    if method == "search" and not named:
        if searched:
            return []
        named = LEAST_LOSS
    if cells.sparse:
        work.note(cells.sparse)
    makers = []
    for one in [parse(text, f"{work.where}, algorithm") for text in named] or _default(work, cells, method):
        passes = [which for which in cells.passes() if which in one.passes]
        if not passes:
            work.note(f"{one.text} was left out: these columns allow the passes {', '.join(cells.passes())} only")
        makers += [Maker(cells, one, which, least, small_groups, work.rng()) for which in passes]
    return makers


def _default(work: Work, cells: Cells, method: str) -> list[Algorithm]:
    numbers = len(cells.n) * cells.width("both")
    if method == "best" and cells.nominal and numbers > COORDINATES_UP_TO:
        work.note(
            f"the cluster method was left out: {len(cells.n):,} combinations with a 0/1 column for every nominal value "
            f"need {8e-9 * numbers:,.1f} GB (--method cluster tries it all the same)"
        )
        return []
    if method == "best" and cells.nominal and (columns := len(cells.nominal) + len(cells.numeric)) > COLUMNS_UP_TO:
        work.note(
            f"the cluster method was left out: of {columns:,} columns each of its files costs much "
            "(--method cluster tries it all the same)"
        )
        return []
    chosen = [parse(text, work.where) for text in DEFAULT]
    records = int(cells.n.sum())
    seconds = {which: mdav_seconds(records, cells.width(which)) for which in cells.passes()}
    slow = [which for which in seconds if seconds[which] > _MDAV_SECONDS]
    if not slow:
        return chosen
    widest = max(cells.width(which) for which in slow)
    work.note(
        f"mdav was left out, {' and '.join(slow)} columns: with {records:,} records in {widest} coordinates it would "
        f"take about {max(seconds.values()) / 60:,.1f} min (--algorithm mdav tries it all the same)"
    )
    passes = tuple(which for which in PASSES if which not in slow)
    mdav = [replace(one, passes=passes) for one in chosen if one.name == "mdav" and set(passes) & set(seconds)]
    return [*(one for one in chosen if one.name != "mdav"), *mdav]


def made(work: Work, makers: Sequence[Maker], search: Search | None) -> Iterator[tuple[Grouping | Placement, Cost]]:
    """Yield the grouping of every maker, in their order, and then what the search found; with what it cost.

    Several are made at the same time, as many as fit into the memory that one may take. What is made waits for the
    database, so not all is made before that has taken some.
    """
    cells = max((len(maker.cells.n) for maker in makers), default=1)
    numbers = max((maker.numbers for maker in makers), default=1)
    at_once = min(parallel.threads(), COORDINATES_UP_TO // max(1, numbers))
    units: list[Maker | Search] = [*makers]
    if search:
        units.append(search)
    if at_once < 2 or len(units) < 2:
        for unit in units:
            yield from _together(work, [unit])
        return
    batch = max(at_once, COORDINATES_UP_TO // (_KEPT_PER_CELL * cells))
    for start in range(0, len(units), batch):
        with parallel.allowed(at_once):
            found = _together(work, units[start : start + batch])
        while found:
            yield found.pop(0)


def _together(work: Work, units: Sequence[Maker | Search]) -> list[tuple[Grouping | Placement, Cost]]:
    """Return what all units make, several at a time; those that take longest begin first."""
    order = sorted(range(len(units)), key=lambda number: units[number].haste)
    text = units[0].title if len(units) == 1 else "make the files to choose from"
    with work.warehouse.progress.kernel(text, unit="steps") as progress:
        counter = parallel.Counter(_STEPS * len(units), progress.tick)

        def make(unit: Maker | Search) -> tuple[Grouping | Placement, Cost]:
            meter, tick = Meter(), counter.part(_STEPS)
            return unit.place(tick) if isinstance(unit, Search) else unit.make(tick), meter.read()

        found = dict(zip(order, parallel.each(make, [units[number] for number in order]), strict=True))
    return [found[number] for number in range(len(units))]


def _title(algorithm: Algorithm, which: Pass) -> str:
    return f"{algorithm.text}, {which} columns"
