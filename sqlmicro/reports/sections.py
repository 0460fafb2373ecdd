"""The sections of a report, in their order.

The statement at the head of a report, which somebody can sign: promise, unit, attacker, evidence, and what it lacks.

What was counted on the rows that were written, what was not, and what only whoever made the release says are told
apart: a signature under one is no signature under the other.

The section of a report on the three criteria: what each attack gains by somebody's being in the table.

The sections on what the release is still good for: columns, correlations and tables, before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

from sqlmicro.attacks.criteria import Criterion
from sqlmicro.attacks.registry import attacks
from sqlmicro.reports import charts
from sqlmicro.reports import risk_sections as risk
from sqlmicro.reports.audit_text import NULLS
from sqlmicro.reports.charts import Bar
from sqlmicro.reports.content import Block, Section, Table, judged
from sqlmicro.reports.disclosure import MissingShare
from sqlmicro.reports.distributions import ColumnFacts
from sqlmicro.reports.facts import AuditFacts, Facts, Nothing
from sqlmicro.reports.language import Language, number, percent
from sqlmicro.reports.risk_sections import needed, result
from sqlmicro.system.sentences import figure, join, names, say, term


def statement(facts: Facts) -> Section:
    """Return the section that a data protection officer signs."""
    parts = (promised, unit, attacker, checked, not_checked, only_said, signature)
    return Section("statement", say("Statement"), [part(facts) for part in parts])


def promised(facts: Facts) -> Block:
    """Return what was promised."""
    items: list[str] = []
    for one in facts.verdict.promised:
        given = {"k": one.k, "columns": _all(one.columns)}
        items.append(
            say("At least {k:,} persons share every combination of values of {columns}.", **given) if facts.unit
            else say("At least {k:,} records share every combination of values of {columns}.", **given)
        )  # fmt: skip
    items += [
        say("{audit} of {columns}: {limit}.", audit=term(row.check), columns=_told_of(row, facts), limit=needed(row))
        for row in facts.audits if row.threshold is not None and row.check != "k-anonymity"
    ]  # fmt: skip
    if not facts.verdict.promised:
        items.append(say("No k was promised for the record."))
    if facts.series:
        items.append(say("It is a night of the series {name}: what each night keeps, all nights of an epoch keep "
                         "together.", name=facts.series))  # fmt: skip
    return Block(heading=say("What is promised"), items=items)


def unit(facts: Facts) -> Block:
    """Return whom it protects."""
    whose = (
        say("The unit is one person, told by {columns}: the size of a class is its number of different persons.",
            columns=facts.unit)
        if facts.unit
        else say("The unit is one record. Where a person has several records, k records may be fewer than k persons: "
                 "name the column that says whose record it is with --person.")
    )  # fmt: skip
    text = [whose]
    if facts.household:
        text.append(say("Persons of one household are known by {columns}.", columns=_all(facts.household)))
    return Block(heading=say("Whom it protects"), text=text)


def attacker(facts: Facts) -> Block:
    """Return what somebody who looks for a person is assumed to know."""
    items = [
        say("Knows these columns of a person exactly, the quasi-identifiers: {columns}.", columns=_all(facts.quasi)),
        say("Knows that the person is in the release, and knows how the release was made, but for its key."),
        say("Takes a missing value among these as: {how}.", how=NULLS[facts.nulls]),
    ]
    if facts.verdict.apart:
        left = [say("{name} ({why})", name=name, why=term(why)) for name, why in facts.verdict.apart.items()]
        items.append(say("Does not know {columns}.", columns=_all(left)))
    items.append(
        say("Has the other releases of the same people that the ledger knows.") if facts.with_others is not None
        else say("Has no other data on the same people than these columns: no other release was there to be counted "
                 "with it.")
    )  # fmt: skip
    return Block(heading=say("Who is assumed to attack"), items=items)


def checked(facts: Facts) -> Block:
    """Return what was counted on the rows that were written, for this report or when they were published."""
    rows: list[list[str]] = []
    verdict = facts.verdict
    for one in verdict.promised:
        kept = one.found is not None and one.found >= one.k
        found = say("unknown") if one.found is None else figure(one.found, ",")
        rows.append([
            say("Smallest class over {columns}", columns=_all(one.columns)),
            say("at least {limit}", limit=figure(one.k, ",")), found, say("passed") if kept else say("FAILED"),
        ])  # fmt: skip
    if verdict.k_released is not None:
        over = say("Smallest class over all released columns that may be known: {columns}",
                   columns=_all(verdict.columns))  # fmt: skip
        rows.append([over, "", figure(verdict.k_released, ","), say("measured")])
    rows += [
        [term(row.check), needed(row), say("unknown") if row.value is None else figure(row.value, ",.3g"), result(row)]
        for row in facts.audits if row.threshold is not None and row.check != "k-anonymity"
    ]  # fmt: skip
    made = verdict.attack
    if made is not None:
        rate = percent(made.rate)
        rows.append([
            say("Strongest attack: {attack}, {n:,} tries", attack=term(made.name), n=made.n), "",
            say("at most {rate} right", rate=rate) if made.assumed else say("{rate} right", rate=rate),
            say("measured"),
        ])  # fmt: skip
    rows += [
        [say("{criterion}: what being in the table adds", criterion=term(one.name.capitalize())), "",
         percent(one.risk), say("measured")]
        for one in (facts.criteria.all if facts.criteria else ()) if one.risk is not None
    ]  # fmt: skip
    if facts.with_others is not None:
        least = max((one.k for one in verdict.promised), default=0)
        rows.append([
            say("Smallest class together with other releases, as recorded"),
            say("at least {limit}", limit=figure(least, ",")) if least else "",
            figure(facts.with_others, ",") if facts.with_others else say("unknown"),
            say("measured") if not least else say("passed") if facts.with_others >= least else say("passed over"),
        ])  # fmt: skip
    if (recorded := [row for row in facts.recorded_audits if row.threshold is not None]) and facts.started:
        failed, waived = (sum(row.passed is one for row in recorded) for one in (False, None))
        rows.append([
            say("Checks recorded when it was published and since"), figure(len(recorded), ","),
            say("{n:,} failed, {over:,} passed over", n=failed, over=waived),
            say("FAILED") if failed else say("passed over") if waived else say("passed"),
        ])  # fmt: skip
    text = say("Counted on the {n:,} rows of {table} as they were on {day}.",
               n=facts.records, table=facts.table, day=figure(date.fromisoformat(facts.made)))  # fmt: skip
    header = [say("Check"), say("Needed"), say("Found"), say("Result")]
    table = Table(say("What was checked on the written rows"), header, rows)
    return Block(heading=say("What was checked"), text=[text], table=table if rows else None)


def not_checked(facts: Facts) -> Block:
    """Return what was not checked, and why."""
    items: list[str] = []
    if facts.no_original:
        items.append(say("How far the release is from its original: {why}.", why=facts.no_original))
    if facts.no_attacks:
        items.append(say("What an attack finds: {why}.", why=facts.no_attacks))
    measured = facts.criteria is not None and facts.criteria.how is not None
    items += [
        say("The attack {attack}: {why}.", attack=term(one.name), why=one.why)
        for one in facts.not_tried if not (measured and "control" in attacks()[one.name].needs)
    ]  # fmt: skip
    items += [
        say("{audit}: {why}.", audit=term(row.check), why=term(row.reason or ""))
        for row in facts.audits if row.value is None
    ]  # fmt: skip
    if facts.criteria is None:
        items.append(
            say("Singling out, linkability and inference beside a control group: {why}.", why=facts.no_attacks)
        )
    else:
        items += [term(one.sentence) for one in facts.criteria.all if one.risk is None]
    before = facts.records_before
    if before.recorded is not None and before.now is not None and before.recorded != before.now:
        items.append(say("The original as it was: it has {now:,} records now and had {then:,} when the release was "
                         "made.", now=before.now, then=before.recorded))  # fmt: skip
    if not facts.steps:
        items.append(say("How the release was made: nothing is recorded of it."))
    items.append(say("Releases of the same people that the ledger does not know."))
    return Block(heading=say("What was not checked"), items=items)


def only_said(facts: Facts) -> Block:
    """Return what the release rests on and nothing in the rows can show."""
    said = facts.claims
    items: list[str] = []
    for name, why in facts.verdict.apart.items():
        items.append(say("Nobody outside knows {column} of a person ({why}).", column=name, why=term(why)))
    if said.rows_are_persons:
        items.append(say("Every row is a person of its own."))
    if said.of_person:
        items.append(say("{columns} are the same in all records of a person.", columns=_all(said.of_person)))
    if said.identifier_ok:
        items.append(say("{columns} look like identifiers and are none.", columns=_all(said.identifier_ok)))
    for release, why in said.accepted.items():
        given = {"release": release, "why": why}
        items.append(
            say("Release {release}, this one, may stand beside others although it does not keep its k together with "
                "them: \u201c{why}\u201d.", **given) if release == facts.release
            else say("Release {release} of the same people, a later one, may stand beside this one although they do "
                     "not keep their k together: \u201c{why}\u201d.", **given)
        )  # fmt: skip
    if said.withdrawn:
        items.append(say("Nobody has this release any more: \u201c{why}\u201d.", why=said.withdrawn))
    if others := [name for name in facts.verdict.columns if name not in facts.quasi]:
        items.append(say("{columns} tell nobody who a person is: k was not promised over them.", columns=_all(others)))
    items = items or [say("Nothing.")]
    return Block(heading=say("What rests on the word of whoever made the release"), items=items)


def signature(facts: Facts) -> Block:
    """Return where somebody signs."""
    text = say("I have read what is promised, who is assumed to attack, what was checked and what was not, and what "
               "rests on somebody's word, and agree that {table} is released.", table=facts.table)  # fmt: skip
    form = [say("Name"), say("Function"), say("Place and date"), say("Signature")]
    return Block(heading=say("Signature"), text=[text], form=form)


def _told_of(row: AuditFacts, facts: Facts) -> str:
    """Return the columns that an audit says something of, beside those that its classes are over."""
    return _all([name for name in row.columns if name not in facts.quasi] or row.columns)


def _all(columns: Sequence[str]) -> str:
    return names(columns, 40, say("none"))


def criteria(facts: Facts) -> Section:
    """Return the section on the three criteria, and on membership."""
    section, found = Section("criteria", say("Singling out, linkability, inference")), facts.criteria
    if found is None:
        return section
    if found.how is None:
        section.blocks.append(Block(text=[say("Not measured. {why}", why=term(found.sentence))]))
        return section
    header = [
        say("Criterion"), say("Right about the table"), say("Right about the control"), say("Risk"),
        say("95 % interval"),
    ]  # fmt: skip
    text = [
        say("The Article 29 Working Party (opinion 05/2014) asks three questions of anonymised data. Each is answered "
            "by an attack on people of the table, and by the same attack on people who were not in it. What it gets "
            "right about the latter too is general knowledge; the risk is what is left (Giomi et al. 2023)."),
        term(found.sentence),
    ]  # fmt: skip
    said = [*(term(one.sentence) for one in found.all), term(found.membership.sentence)]
    rows = [_row(one) for one in found.all]
    worth = [judged(one.name, one.risk) for one in found.all]
    table = Table(say("What being in the table adds for an attacker"), header, rows, frozenset({1, 2, 3, 4}), worth)
    section.blocks.extend([Block(text=text, table=table), Block(items=said)])
    return section


def _row(one: Criterion) -> list[str]:
    name = (
        term(one.name)
        if one.column is None
        else say("{criterion} of {column}", criterion=term(one.name), column=one.column)
    )
    if one.attack is None:
        return [name, say("unknown"), say("unknown"), say("unknown"), ""]
    if one.risk is None or one.risk_ci is None:
        return [name, percent(one.attack), percent(one.control), say("unknown"), ""]
    low, high = one.risk_ci
    interval = say("{low} to {high}", low=percent(low), high=percent(high))
    return [name, percent(one.attack), percent(one.control), percent(one.risk), interval]


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
    rows, worth = [], []
    for column in facts.columns:
        name = column.name
        share_lost = shares_lost.get(name)
        worth.append(judged("information-loss", None if share_lost is None else 100 * share_lost))
        methods = [step.method for step in facts.steps if name in step.columns]
        became = join(methods, " + ") if methods else say("as it was") if name in facts.kept else say("not recorded")
        share = lacking.get(name, MissingShare(name, 0.0, 0.0))
        shares = [_share(share.before), _share(share.after)] if two else [_share(share.after)]
        loss = [lost.get(name, say("not measured"))] if two else []
        scale = say("numeric") if column.scale == "numeric" else say("nominal")
        rows.append([name, scale, became, *shares, *loss])
    header = [say("Column"), say("Scale"), say("What became of it")]
    header += [say("Missing before"), say("Missing after"), say("Loss")] if two else [say("Missing")]
    numeric = frozenset(range(3, len(header)))
    return Table(say("All columns at a glance"), header, rows, numeric, worth if two else ())


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
            "other records were filled in. No threshold is known for either. A share that would tell of fewer than "
            "{k:,} records is not shown.",
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
    worth = [judged("correlations", abs(row.after - row.before)) for row in shown]
    table = Table(say("Correlations of the numeric columns"), header, rows, frozenset({1, 2, 3}), worth)
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
               "of a table before and after. No threshold is known.", d=number(found.distance))  # fmt: skip
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


_ORDER: tuple[Callable[[Facts], Section], ...] = (
    statement, risk.steps, risk.classes, risk.attacks, criteria, risk.risk_map, risk.audits,
    columns, missing, correlations, tables, candidates, risk.parameters, risk.not_promised,
)  # fmt: skip
"""A section more is one function more: its English sentences are said with `say`, and translated in `languages`."""


def sections(facts: Facts) -> list[Section]:
    """Return the sections of a report that have something to say."""
    return [section for section in (make(facts) for make in _ORDER) if section.blocks]
