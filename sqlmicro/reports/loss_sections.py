"""The sections on what the release is still good for: columns, correlations and tables, before and after."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmicro.reports import charts
from sqlmicro.reports.content import Block, Section, Table
from sqlmicro.reports.distributions import ColumnFacts
from sqlmicro.reports.drawn import Bar
from sqlmicro.reports.facts import Facts, Nothing
from sqlmicro.reports.numbers import number, percent

_MOST_PAIRS = 15
_MOST_TABLES = 15


def columns(facts: Facts) -> Section:
    """Return the section on the distribution of every column before and after."""
    section = Section("columns", "Columns before and after")
    if not facts.columns:
        return section
    k = facts.min_k
    text = [
        f"Every bar, and every row of a table, stands for at least {k:,} records in either file; what is rarer is "
        "merged with its neighbours or counted among all others. Quantiles are means of that many values."
    ]
    if facts.no_original:
        text.insert(0, f"Only what was released is shown: {facts.no_original}.")
    section.blocks.append(Block(text=text))
    for column in facts.columns:
        section.blocks.extend(_column(column, facts))
    return section


def _column(column: ColumnFacts, facts: Facts) -> Iterable[Block]:
    name, bars = column.name, column.bars
    two = not facts.no_original
    moved = {"nominal": ("hellinger", "Hellinger distance {} (0 alike, 1 nothing in common)."),
             "numeric": ("emd", "Earth Mover's Distance {} standard deviations.")}[column.scale]  # fmt: skip
    distance = facts.distances.get(moved[0], {}).get(name)
    text = [] if distance is None else [f"Before to after: {moved[1].format(number(distance))}"]
    header = ["Before", "After"] if two else ["Share"]
    right = frozenset({1, 2}) if two else frozenset({1})
    if bars:
        shares = [[bar.label, *([percent(bar.before or 0.0)] if two else []), percent(bar.after)] for bar in bars]
        yield Block(
            heading=name, text=text,
            chart=lambda key: charts.bars(key, f"Distribution of {name}", bars),
            table=Table(f"Distribution of {name}, shares of the records", ["Values", *header], shares, right),
        )  # fmt: skip
    else:
        yield Block(heading=name, text=[*text, "No distribution is shown: too few records have values in common, or "
                                        "nearly all have the same one."])  # fmt: skip
    if column.summary:
        rows = [[row.label, *([row.before or ""] if two else []), row.after] for row in column.summary]
        header = ["Before", "After"] if two else ["Value"]
        yield Block(table=Table(f"Summary of {name}", ["Figure", *header], rows, right))


def missing(facts: Facts) -> Section:
    """Return the section on missing values before and after."""
    found = facts.missing
    if not found:
        return Section("missing", "Missing values")
    rows = [
        [one.column, *("not shown" if share is None else percent(share) for share in (one.before, one.after))]
        for one in found
    ]
    return Section("missing", "Missing values", [Block(
        text=["How many of the records lack a value. If a share rises, values were taken out. If it falls, values of "
              "other records were filled in. A share that would tell of fewer than "
              f"{facts.min_k:,} records is not shown."],
        table=Table("Shares of missing values", ["Column", "Before", "After"], rows, frozenset({1, 2})),
    )])  # fmt: skip


def correlations(facts: Facts) -> Section:
    """Return the section on the correlations before and after."""
    found = sorted(facts.correlations, key=lambda row: -abs(row.after - row.before))
    shown = found[:_MOST_PAIRS]
    if not shown:
        return Section("correlations", "Correlations")
    rows = [[row.pair, number(row.before), number(row.after), number(row.after - row.before)] for row in shown]
    text = [] if len(found) == len(shown) else [f"The {len(shown)} of {len(found)} pairs that changed most."]
    return Section("correlations", "Correlations", [Block(
        text=text,
        chart=lambda key: charts.pairs(key, "Correlations before and after", shown),
        table=Table("Correlations of the numeric columns", ["Columns", "Before", "After", "Change"], rows,
                    frozenset({1, 2, 3})),
    )])  # fmt: skip


def tables(facts: Facts) -> Section:
    """Return the section on by how much the contingency tables differ."""
    found = facts.deviations
    section = Section("tables", "Contingency tables (SAFE deviations)")
    if isinstance(found, Nothing):
        return section
    orders = [
        [order, f"{p.tables:,}", f"{p.count_deviation:,}", f"{p.count_max:,}", percent(p.share_changed)]
        for order, p in found.orders.items()
    ]
    section.blocks.append(Block(
        text=[f"The SAFE distance of release and original is {number(found.distance)}; 0 is equal. A deviation is "
              "the difference of a cell of a table before and after."],
        table=Table(
            "Deviations by the number of columns of a table",
            ["Columns", "Tables", "Sum of deviations", "Largest", "Cells changed"], orders, frozenset({1, 2, 3, 4})),
    ))  # fmt: skip
    shown = found.tables[:_MOST_TABLES]
    if not shown:
        return section
    rows = [
        [" × ".join(t.columns), percent(t.share), f"{t.largest:,g}", f"{t.changed:,} of {t.cells:,}"] for t in shown
    ]
    bars = [Bar(" × ".join(t.columns), None, t.share) for t in shown]
    most = "" if len(shown) == len(found.tables) else f" The {len(shown)} that changed most, of {len(found.tables)}."
    section.blocks.append(Block(
        heading="Table by table",
        text=["How many records would have to change their cell to make a table what it was." + most],
        chart=lambda key: charts.bars(key, "Records that changed their cell, by table", bars),
        table=Table("Deviations by table", ["Table", "Records moved", "Largest deviation", "Cells changed"], rows,
                    frozenset({1, 2, 3})),
    ))  # fmt: skip
    return section


def candidates(facts: Facts) -> Section:
    """Return the section on the candidates of SAFE."""
    rows = [
        [f"{c.candidate}{' (released)' if c.released else ''}", c.algorithm, c.which, number(c.distance),
         f"{number(c.loss)} %", f"{c.groups:,}"] for c in facts.safe_candidates
    ]  # fmt: skip
    if not rows:
        return Section("safe", "Candidates of SAFE")
    bars = [Bar(f"{c.candidate}: {c.algorithm.partition('(')[0]}", None, c.distance) for c in facts.safe_candidates]
    return Section("safe", "Candidates of SAFE", [Block(
        text=["The release is the candidate whose tables are nearest to those of the original."],
        chart=lambda key: charts.bars(key, "Distance of every candidate", bars, unit="SAFE distance", percent=False),
        table=Table("Candidates of SAFE, the nearest first",
                    ["Candidate", "Algorithm", "Columns", "SAFE distance", "Loss", "Groups"], rows,
                    frozenset({3, 4, 5})),
    )])  # fmt: skip
