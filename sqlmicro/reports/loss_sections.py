"""The sections on what the release is still good for: columns, correlations and tables, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlmicro.reports import charts
from sqlmicro.reports.content import Block, Section, Table
from sqlmicro.reports.disclosure import MissingShare
from sqlmicro.reports.distributions import ColumnFacts
from sqlmicro.reports.drawn import Bar
from sqlmicro.reports.facts import Facts, Nothing
from sqlmicro.reports.language import Language
from sqlmicro.reports.numbers import number, percent
from sqlmicro.system.sentences import figure, join, say

_MOST_PAIRS = 15
_MOST_TABLES = 15


def columns(facts: Facts) -> Section:
    """Return the section on every column before and after: at a glance, and its distribution."""
    section = Section("columns", say("Columns before and after"))
    if not facts.columns:
        return section
    text = [
        say("Every bar, and every row of a table, stands for at least {k:,} records in either file; what is rarer is "
            "merged with its neighbours or counted among all others. Quantiles are means of that many values.",
            k=facts.min_k)
    ]  # fmt: skip
    if facts.no_original:
        text.insert(0, say("Only what was released is shown: {why}.", why=facts.no_original))
    section.blocks.append(Block(text=text, table=_overview(facts)))
    for column in facts.columns:
        section.blocks.extend(_column(column, facts))
    return section


def _overview(facts: Facts) -> Table:
    """Return what became of every column: by which methods, its missing values before and after, and its loss."""
    two, lacking = not facts.no_original, {one.column: one for one in facts.missing}
    shares_lost = {name: loss and loss / 100 for name, loss in facts.loss.by_column.items()} | facts.loss.changed
    lost = {name: percent(share) for name, share in shares_lost.items() if share is not None}
    rows = []
    for column in facts.columns:
        name = column.name
        methods = [step.method for step in facts.steps if name in step.columns]
        became = join(methods, " + ") if methods else say("as it was") if name in facts.kept else say("not recorded")
        share = lacking.get(name, MissingShare(name, 0.0, 0.0))
        shares = [_share(share.before), _share(share.after)] if two else [_share(share.after)]
        loss = [lost.get(name, say("not measured"))] if two else []
        scale = say("numeric") if column.scale == "numeric" else say("nominal")
        rows.append([name, scale, became, *shares, *loss])
    header = [say("Column"), say("Scale"), say("What became of it")]
    header += [say("Missing before"), say("Missing after"), say("Loss")] if two else [say("Missing")]
    return Table(say("All columns at a glance"), header, rows, frozenset(range(3, len(header))))


def _share(share: float | None) -> str:
    return say("not shown") if share is None else percent(share)


def _column(column: ColumnFacts, facts: Facts) -> Iterable[Block]:
    name, bars = column.name, column.bars
    two = not facts.no_original
    header = [say("Before"), say("After")] if two else [say("Share")]
    right = frozenset({1, 2}) if two else frozenset({1})
    text = _distance(column, facts)
    if bars:
        shares = [[bar.label, *([percent(bar.before or 0.0)] if two else []), percent(bar.after)] for bar in bars]
        title = say("Distribution of {column}", column=name)
        caption = say("Distribution of {column}, shares of the records", column=name)

        def chart(key: str, language: Language) -> Any:
            return charts.bars(key, title, bars, language)

        table = Table(caption, [say("Values"), *header], shares, right)
        yield Block(heading=name, text=text, chart=chart, table=table)
    else:
        nothing = say("No distribution is shown: too few records have values in common, or nearly all have the same "
                      "one.")  # fmt: skip
        yield Block(heading=name, text=[*text, nothing])
    if column.summary:
        rows = [[row.label, *([row.before or ""] if two else []), row.after] for row in column.summary]
        header = [say("Before"), say("After")] if two else [say("Value")]
        yield Block(table=Table(say("Summary of {column}", column=name), [say("Figure"), *header], rows, right))


def _distance(column: ColumnFacts, facts: Facts) -> list[str]:
    nominal = column.scale == "nominal"
    moved = facts.distances.get("hellinger" if nominal else "emd", {}).get(column.name)
    if moved is None:
        return []
    if nominal:
        return [say("Before to after: Hellinger distance {d} (0 alike, 1 nothing in common).", d=number(moved))]
    return [say("Before to after: Earth Mover's Distance {d} standard deviations.", d=number(moved))]


def missing(facts: Facts) -> Section:
    """Return the section on missing values before and after."""
    section = Section("missing", say("Missing values"))
    if not facts.missing:
        return section
    two = not facts.no_original
    rows = [
        [one.column, *([_share(one.before)] if two else []), _share(one.after)]
        for one in facts.missing
    ]  # fmt: skip
    text = [
        say("How many of the records lack a value. If a share rises, values were taken out. If it falls, values of "
            "other records were filled in. A share that would tell of fewer than {k:,} records is not shown.",
            k=facts.min_k)
    ]  # fmt: skip
    header = [say("Column"), *([say("Before")] if two else []), say("After")]
    table = Table(say("Shares of missing values"), header, rows, frozenset({1, 2}))
    section.blocks.append(Block(text=text, table=table))
    return section


def correlations(facts: Facts) -> Section:
    """Return the section on the correlations before and after."""
    section = Section("correlations", say("Correlations"))
    found = sorted(facts.correlations, key=lambda row: -abs(row.after - row.before))
    shown = found[:_MOST_PAIRS]
    if not shown:
        return section
    rows = [[row.pair, number(row.before), number(row.after), number(row.after - row.before)] for row in shown]
    text = [say("The {n:,} of {all:,} pairs that changed most.", n=len(shown), all=len(found))]

    def chart(key: str, language: Language) -> Any:
        return charts.pairs(key, say("Correlations before and after"), shown, language)

    header = [say("Columns"), say("Before"), say("After"), say("Change")]
    table = Table(say("Correlations of the numeric columns"), header, rows, frozenset({1, 2, 3}))
    section.blocks.append(Block(text=text if len(found) > len(shown) else [], chart=chart, table=table))
    return section


def tables(facts: Facts) -> Section:
    """Return the section on by how much the contingency tables differ."""
    found = facts.deviations
    section = Section("tables", say("Contingency tables (SAFE deviations)"))
    if isinstance(found, Nothing):
        return section
    orders = [
        [say("all") if order == "all" else order, figure(p.tables, ","), figure(p.count_deviation, ","),
         figure(p.count_max, ","), percent(p.share_changed)] for order, p in found.orders.items()
    ]  # fmt: skip
    text = say("The SAFE distance of release and original is {d}; 0 is equal. A deviation is the difference of a cell "
               "of a table before and after.", d=number(found.distance))  # fmt: skip
    header = [say("Columns"), say("Tables"), say("Sum of deviations"), say("Largest"), say("Cells changed")]
    caption = say("Deviations by the number of columns of a table")
    section.blocks.append(Block(text=[text], table=Table(caption, header, orders, frozenset({1, 2, 3, 4}))))
    if found.tables:
        section.blocks.append(_table_by_table(facts))
    return section


def _table_by_table(facts: Facts) -> Block:
    assert not isinstance(facts.deviations, Nothing)
    found = facts.deviations.tables
    shown = found[:_MOST_TABLES]
    rows = [
        [" × ".join(t.columns), percent(t.share), figure(t.largest, ",g"),
         say("{n:,} of {all:,}", n=t.changed, all=t.cells)] for t in shown
    ]  # fmt: skip
    bars = [Bar(" × ".join(t.columns), None, t.share) for t in shown]
    most = say("The {n:,} that changed most, of {all:,}.", n=len(shown), all=len(found))

    def chart(key: str, language: Language) -> Any:
        return charts.bars(key, say("Records that changed their cell, by table"), bars, language)

    header = [say("Table"), say("Records moved"), say("Largest deviation"), say("Cells changed")]
    return Block(
        heading=say("Table by table"),
        text=[say("How many records would have to change their cell to make a table what it was."),
              *([most] if len(found) > len(shown) else [])],
        chart=chart,
        table=Table(say("Deviations by table"), header, rows, frozenset({1, 2, 3})),
    )  # fmt: skip


def candidates(facts: Facts) -> Section:
    """Return the section on the candidates of SAFE."""
    section = Section("safe", say("Candidates of SAFE"))
    rows = [
        [join([str(c.candidate), say(" (released)") if c.released else ""], ""), c.algorithm, c.which,
         number(c.distance), percent(c.loss / 100), figure(c.groups, ",")] for c in facts.safe_candidates
    ]  # fmt: skip
    if not rows:
        return section
    bars = [Bar(f"{c.candidate}: {c.algorithm.partition('(')[0]}", None, c.distance) for c in facts.safe_candidates]

    def chart(key: str, language: Language) -> Any:
        title, unit = say("Distance of every candidate"), say("SAFE distance")
        return charts.bars(key, title, bars, language, unit=unit, percent=False)

    header = [say("Candidate"), say("Algorithm"), say("Columns"), say("SAFE distance"), say("Loss"), say("Groups")]
    table = Table(say("Candidates of SAFE, the nearest first"), header, rows, frozenset({3, 4, 5}))
    text = [say("The release is the candidate whose tables are nearest to those of the original.")]
    section.blocks.append(Block(text=text, chart=chart, table=table))
    return section
