"""Distributions of a release and its original, side by side, as `disclosure.py` allows them to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.audits.information_loss import comparison
from sqlmicro.audits.registry import NothingToMeasure
from sqlmicro.audits.regression import Deviating
from sqlmicro.reports.charts import Bar
from sqlmicro.reports.disclosure import LEVELS, Counted, edges, merged, pooled
from sqlmicro.reports.language import number, plain
from sqlmicro.safe_method import distance
from sqlmicro.safe_method.distance import Deviations
from sqlmicro.system.sentences import figure, say

if TYPE_CHECKING:
    from sqlmicro.audits.audited import AuditedRelease
    from sqlmicro.audits.information_loss import Comparison
    from sqlmicro.database.columns import Column

MOST_VALUES = 12
"""Most values of a nominal column that are shown; the others are counted together."""
_LONGEST = 40
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Figure:
    """A figure of a column as text, before and after."""

    label: str
    before: str | None
    """None without an original."""
    after: str


@dataclass(frozen=True)
class ColumnFacts:
    """What a column looks like before and after."""

    name: str
    scale: Literal["numeric", "nominal"]
    bars: list[Bar]
    """Shares of the records; none where too few records have values in common."""
    summary: list[Figure]

    def without_before(self) -> ColumnFacts:
        """Return what it looks like after."""
        bars = [replace(bar, before=None) for bar in self.bars]
        return replace(self, bars=bars, summary=[replace(figure, before=None) for figure in self.summary])


@dataclass(frozen=True)
class OneTable:
    """By how much a contingency table differs from that of the original."""

    columns: list[str]
    cells: int
    changed: int
    """Cells whose count is another."""
    share: float
    """Of the records: so many would have to change their cell to make it what it was."""
    largest: float


@dataclass(frozen=True)
class TableFacts:
    """By how much the contingency tables differ: by the number of their columns, and one by one."""

    distance: float
    """The SAFE distance."""
    orders: dict[str, Deviations]
    tables: list[OneTable]


def columns(audited: AuditedRelease, k: int) -> list[ColumnFacts]:
    """Return what every column looks like before and after; without an original, after only.

    What is before is None without an original.
    """

    # Without an original the release stands for it: the same rules, and the first of two equal figures is left out.
    both = audited if audited.original else replace(audited, original=audited.release, _made={})
    try:
        found = comparison(both)
    except NothingToMeasure:
        return []
    described = {**_numeric(both, found, k), **_nominal(both, found, k)}
    shown = [described[column.name] for column in both.shared]
    return shown if audited.original else [column.without_before() for column in shown]


def _numeric(audited: AuditedRelease, found: Comparison, k: int) -> dict[str, ColumnFacts]:
    if not found.numeric:
        return {}
    relations = {"before": found.original, "after": found.released}
    quantiles = {side: _quantiles(audited, relation, found.numeric, k) for side, relation in relations.items()}
    moments = {
        side: {
            name: (int(records), mean, variance)
            for name, records, mean, variance, _ in audited.warehouse.rows(
                "audit/numeric_summaries.sql", relation=relation, columns=found.numeric
            )
        }
        for side, relation in relations.items()
    }
    cut = [(column, _lines(column, quantiles["before"])) for column in found.numeric]
    binned = [(column, found_edges) for column, found_edges in cut if found_edges]
    counts: dict[str, dict[int, tuple[int, int]]] = {}
    if binned:
        for name, place, old, new in audited.warehouse.rows(
            "report/bins.sql", original=found.original, released=found.released, columns=binned
        ):
            counts.setdefault(name, {})[place] = (int(old), int(new))
    described = {}
    for column, lines in cut:
        bars = _shares(_bins(column, lines, counts.get(column.name, {}), k))
        described[column.name] = ColumnFacts(column.name, "numeric", bars, _summary(column, moments, quantiles, k))
    return described


def _lines(column: Column, quantiles: Mapping[tuple[str, float], float]) -> list[float]:
    """Return the edges of the bins of a column: within its outer quantiles, of few records within the quartiles."""
    outer, inner = ([quantiles.get((column.name, level)) for level in pair] for pair in ((0.05, 0.95), (0.25, 0.75)))
    return edges(*(inner if None in outer else outer))


def _quantiles(
    audited: AuditedRelease, relation: Any, numeric: Sequence[Column], k: int
) -> dict[tuple[str, float], float]:
    rows = audited.warehouse.rows("report/quantiles.sql", relation=relation, columns=numeric, levels=list(LEVELS), k=k)
    return {(name, float(level)): value for name, level, value in rows if value is not None}


def _bins(column: Column, lines: Sequence[float], counts: Mapping[int, tuple[int, int]], k: int) -> list[Counted]:
    runs = merged([counts.get(place, (0, 0)) for place in range(len(lines) + 1)], k)
    if len(runs) < 2:
        return []
    labels = [_edge(column, line) for line in lines]
    return [
        Counted(_between(labels[first - 1] if first else "", labels[last] if last < len(lines) else ""), before, after)
        for first, last, before, after in runs
    ]


def _between(low: str, high: str) -> str:
    if not low:
        return say("below {high}", high=high)
    return say("{low} to {high}", low=low, high=high) if high else say("{low} and more", low=low)


def _edge(column: Column, value: float) -> str:
    """Return an edge of a bin: a day for dates, else a number in full."""
    return _day(column, value) or plain(value)


def _day(column: Column, value: float) -> str:
    unit = {"date": timedelta(days=1), "timestamp": timedelta(microseconds=1)}.get(column.family.removesuffix("tz"))
    if unit is None:
        return ""
    try:
        return figure((_EPOCH + value * unit).date())
    except OverflowError:
        return plain(value)


def _summary(
    column: Column,
    moments: Mapping[str, Mapping[str, tuple[int, Any, Any]]],
    quantiles: Mapping[str, Mapping[tuple[str, float], float]],
    k: int,
) -> list[Figure]:
    """Return mean, standard deviation and quantiles, as text; "not shown" where too few records are behind them."""

    def text(value: float | None) -> str:
        return say("not shown") if value is None else _day(column, value) or number(value)

    def moment(side: str, place: int) -> float | None:
        records, *found = moments[side][column.name]
        return found[place] if records >= k and found[place] is not None else None

    def quantile(side: str, level: float) -> float | None:
        return quantiles[side].get((column.name, level))

    rows = [Figure(say("mean"), text(moment("before", 0)), text(moment("after", 0)))]
    if not _day(column, 0):
        before, after = (None if v is None else sqrt(v) for v in (moment("before", 1), moment("after", 1)))
        rows.append(Figure(say("standard deviation"), text(before), text(after)))
    named = [(level, say("{x:g} % quantile", x=100 * level)) for level in LEVELS]
    return rows + [Figure(name, text(quantile("before", at)), text(quantile("after", at))) for at, name in named]


def _nominal(audited: AuditedRelease, found: Comparison, k: int) -> dict[str, ColumnFacts]:
    if not found.nominal:
        return {}
    rows = audited.warehouse.rows("report/categories.sql", **found.of(found.nominal), k=k, most=MOST_VALUES)
    by_name: dict[str, list[tuple[int, Any, int, int]]] = {column.name: [] for column in found.nominal}
    for name, place, value, before, after in rows:
        by_name[name].append((int(place), value, int(before), int(after)))
    return {
        name: ColumnFacts(name, "nominal", _shares(_values(sorted(places), k)), []) for name, places in by_name.items()
    }


def _values(places: Sequence[tuple[int, Any, int, int]], k: int) -> list[Counted]:
    frequent = [Counted(_value(value), b, a) for place, value, b, a in places if place <= MOST_VALUES]
    rest = [(b, a) for place, _, b, a in places if place > MOST_VALUES]
    kept, (before, after) = pooled(frequent, rest[0] if rest else (0, 0), k)
    if all(_is_number(bar.label) for bar in kept):
        kept.sort(key=lambda bar: float(bar.label))
    return [*kept, Counted(say("all others"), before, after)] if before else kept


def _value(value: str | None) -> str:
    if value is None:
        return say("missing")
    text = " ".join("".join(char if char.isprintable() else " " for char in value).split())
    return (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") or say("(blank)")


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def _shares(bars: Sequence[Counted]) -> list[Bar]:
    """Return the bars as shares of the records they stand for together."""
    before, after = (sum(bar[side] for bar in bars) for side in (1, 2))  # type: ignore[misc]
    return [Bar(bar.label, bar.before / before, bar.after / after) for bar in bars]


def deviations(audited: AuditedRelease, found: float, of: Deviating) -> TableFacts:
    """Return by how much the contingency tables differ: by the number of their columns, and the tables one by one.

    The share of a table is half the sum of the absolute differences of its cells, of all records: how many records
    would have to change their cell to make it the table of the original.
    """
    return TableFacts(found, of.orders, _tables(audited, of.order))


def _tables(audited: AuditedRelease, order: int) -> list[OneTable]:
    found = comparison(audited)
    if not found.nominal:
        return []
    run = audited.warehouse.run
    files = {
        side: run("safe/cells.sql", f"report_{side}", relation=relation, columns=found.nominal)
        for side, relation in (("original", found.original), ("changed", found.released))
    }
    records = audited.warehouse.count(found.original)
    tables = []
    kept = distance.table_sets(audited.warehouse, files["original"], found.nominal, min(order, 2))
    for used, sets in distance.batches(found.nominal, kept):
        rows = audited.warehouse.rows(
            "safe/deviations.sql",
            original=files["original"],
            changed=files["changed"],
            nominal=used,
            numeric=[],
            sets=sets,
        )
        for bits, cells, changed, deviation, largest in rows:
            names = [c.name for place, c in enumerate(reversed(used)) if not int(bits) >> place & 1]
            share = float(deviation) / (2 * records)
            tables.append(OneTable(names[::-1], int(cells), int(changed), share, float(largest)))
    return sorted(tables, key=lambda table: (-table.share, table.columns))
