"""The sections on what was found of the risk, and how the release was made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlmicro.reports import charts
from sqlmicro.reports.charts import Bar
from sqlmicro.reports.content import Block, Section, Table, judged, judged_attack, judged_class, promised, sources
from sqlmicro.reports.facts import AuditFacts, Facts
from sqlmicro.reports.language import Language, number, percent
from sqlmicro.reports.recorded import RecordedCheck
from sqlmicro.system.sentences import figure, join, names, say, term


def steps(facts: Facts) -> Section:
    """Return the section on what each step promises of its columns."""
    title = say("What each step promises")
    if not facts.steps:
        said = say("Nothing is recorded of how this release was made; what follows was measured on it.")
        return Section("promise", title, [Block(text=[said])])
    rows = [
        [step.method, "" if step.k is None else figure(step.k, ","), term(step.promise), _names(step.columns),
         _names(step.by)] for step in facts.steps
    ]  # fmt: skip
    header = [say("Step"), "k", say("Promise"), say("Columns"), say("Strata")]
    return Section("promise", title, [Block(
        table=Table(say("The steps, and what each promises of its columns"), header, rows, frozenset({1}))
    )])  # fmt: skip


def _names(columns: Sequence[str], most: int = 12) -> str:
    return names(columns, most, say("none"))


def classes(facts: Facts) -> Section:
    """Return the section on the sizes of the classes."""
    section = Section("classes", say("Class sizes"))
    units = say("persons") if facts.unit else say("records")
    rows, below, k = facts.class_sizes, facts.below_k, facts.min_k
    if not rows and not below:
        return section
    least = say("below {high}", high=figure(k, ","))
    bars = [Bar(least, None, below)] if below else []
    bars += [Bar(row.size, None, row.records) for row in rows]
    lines: list[list[str]] = [[least, say("not shown"), figure(below, ",")]] if below else []
    lines += [[row.size, figure(row.classes, ","), figure(row.records, ",")] for row in rows]
    text = [
        say("A class is all records with the same values of {columns}; its size is the number of {units}. The larger "
            "it is, the less a single one stands out.", columns=_names(facts.quasi), units=units)
    ]  # fmt: skip
    if facts.unit:
        text.append(say("A person with records in several classes counts in each of them."))
    shown = say("Persons by class size") if facts.unit else say("Records by class size")
    header = [say("Class size"), say("Classes"), say("Persons") if facts.unit else say("Records")]

    def chart(key: str, language: Language) -> Any:
        return charts.bars(key, shown, bars, language, warned=int(below > 0), unit=units, percent=False)

    caption = say("How many {units} are in classes of each size", units=units)
    section.blocks.append(Block(text=text, chart=chart, table=Table(caption, header, lines, frozenset({1, 2}))))
    return section


def attacks(facts: Facts) -> Section:
    """Return the section on how often attacks found the right record."""
    section = Section("attacks", say("Attacks"))
    if not facts.attacks:
        section.blocks.append(Block(text=[
            say("No attack was run for this report: {why}. What is known without one is the worst case: one in k for "
                "whoever knows exactly these columns. The command is: sqlmicro attack", why=facts.no_attacks)
        ]))  # fmt: skip
        return section
    text = [
        say("The attacker knows {columns} of a person, and looks for the person's record.",
            columns=_names(facts.attacked))
    ]  # fmt: skip
    others = [name for name in facts.attacked if name not in facts.quasi]
    if others and facts.quasi:
        text.append(say("That is more than the k was measured over: it does not cover {columns}.",
                        columns=_names(others)))  # fmt: skip
    if facts.attacks_assume:
        text.append(say(
            "Nothing tells which record became which, so the worst is assumed: that the true record is among those "
            "that an attack ends with. Rates are upper bounds; --match measures them."
        ))  # fmt: skip
    rows = [
        [term(a.name), percent(a.rate), say("{low} to {high}", low=percent(a.ci[0]), high=percent(a.ci[1])),
         percent(a.chance), figure(a.n, ",")] for a in facts.attacks
    ]  # fmt: skip
    bars = [Bar(term(a.name), a.chance, a.rate) for a in facts.attacks]
    header = [say("Attack"), say("Found"), say("95 % interval"), say("By chance"), say("Tried")]

    def chart(key: str, language: Language) -> Any:
        return charts.bars(
            key, say("Records found by each attack"), bars, language, unit=say("share of the records tried"),
            both=(say("by chance"), say("found")),
        )  # fmt: skip

    caption = say("How often each attack was right")
    worth = [judged_attack(a.rate, a.ci[0], a.chance, promised(facts)) for a in facts.attacks]
    table = Table(caption, header, rows, frozenset({1, 2, 3, 4}), worth)
    section.blocks.append(Block(text=text, chart=chart, table=table))
    return section


def risk_map(facts: Facts) -> Section:
    """Return the section on the releases of one source on an R-U map, which were measured alike."""
    section = Section("map", say("Risk and loss"))
    points, left = facts.candidates, facts.other_candidates
    if len(points) < 2:
        return section
    units = say("persons") if facts.unit else say("records")
    text = [say(
        "These are the recorded releases of the same source that were measured alike, over {columns}. Risk is the "
        "share of the tried {units} that the strongest linkage over all these columns links. Loss is the mean over "
        "the columns: {loss}. No release has less risk and less loss than one on the front.",
        columns=_names(facts.map_of, 8), units=units, loss=_measure_of_loss(facts),
    )]  # fmt: skip
    items = [say("{name}: {why}", name=one.label, why=one.why) for one in left]
    if left:
        text.append(say("Not on this map, because they were not measured alike:"))
    rows = [
        [join([p.label, say(" ({method}, this one)", method=p.command) if p.chosen else say(" ({method})",
               method=p.command)], ""), percent(p.risk), percent(p.loss / 100), say("yes") if p.front else say("no")]
        for p in points
    ]  # fmt: skip
    header = [say("Release"), say("Risk"), say("Loss"), say("On the front")]

    def chart(key: str, language: Language) -> Any:
        risk = say("share of {units} linked", units=units)
        return charts.ru_map(points, language, key=key, risk=risk, loss=say("loss in %"))

    table = Table(say("Releases of the same source"), header, rows, frozenset({1, 2}))
    section.blocks.append(Block(text=text, items=items, chart=chart, table=table))
    return section


def _measure_of_loss(facts: Facts) -> str:
    others = [name for name in facts.map_of if name not in facts.map_numeric]
    il = say("IL for {columns}", columns=_names(facts.map_numeric, 8)) if facts.map_numeric else ""
    changed = say("the share of changed values for {columns}", columns=_names(others, 8)) if others else ""
    return join([il, changed], ", ")


def audits(facts: Facts) -> Section:
    """Return the section on what was measured, and what was recorded."""
    section = Section("audits", say("Audits"))
    made = [row for row in facts.audits if row.value is not None or row.threshold is not None]
    rows = [_audit(row, facts.quasi) for row in made]
    if rows:
        header = [say("Audit"), say("Value"), say("Needed"), say("Result"), say("What it says"), say("Columns")]
        k = promised(facts)
        worth = [
            judged_attack(row.value, row.value, 0.0, k) if row.check == "linkage" and row.value is not None
            else judged_class(int(row.value), k) if row.check == "k-anonymity" and row.value is not None
            else judged(row.check, row.value) for row in made
        ]  # fmt: skip
        table = Table(say("Measured on the release for this report"), header, rows, frozenset({1}), worth)
        section.blocks.append(Block(table=table))
        section.blocks.append(Block(heading=say("Where the thresholds of the judgements are from"), items=sources()))
    recorded = [
        [_recorded(row.check), _count(row.value), figure(row.threshold, ",g"), result(row)]
        for row in facts.recorded_audits
        if row.threshold is not None and row.value is not None
    ]
    if recorded:
        caption = say("Recorded when the release was made, and by audits since")
        header = [say("Audit"), say("Value"), say("Needed"), say("Result")]
        section.blocks.append(Block(table=Table(caption, header, recorded, frozenset({1, 2}))))
    return section


def _recorded(label: str) -> str:
    check, _, columns = label.partition(" (")
    return join([term(check), f" ({columns}" if columns else ""], "")


def _audit(row: AuditFacts, quasi: Sequence[str]) -> list[str]:
    columns = _names(row.columns, 6)
    if any(", " in column for column in row.columns):
        pairs = len(row.columns)
        columns = say("1 pair of columns") if pairs == 1 else say("{n:,} pairs of columns", n=pairs)
    elif row.columns == list(quasi) and len(quasi) > 3:
        columns = say("the quasi-identifiers")
    return [term(row.check), _count(row.value), needed(row), result(row), term(row.meaning), columns]


def _count(value: float | None) -> str:
    """Return counts in full, measures with three digits."""
    whole = value is not None and value == int(value) and abs(value) >= 1
    return figure(int(value or 0), ",") if whole else number(value)


def needed(row: AuditFacts) -> str:
    """Return the threshold of an audit."""
    if row.threshold is None:
        return ""
    limit = figure(row.threshold, ",g")
    return say("at least {limit}", limit=limit) if row.at_least else say("at most {limit}", limit=limit)


def result(row: AuditFacts | RecordedCheck) -> str:
    """Return what came of a check."""
    if row.threshold is None:
        return say("measured")
    if row.value is None:
        return say("NOT MADE")
    if row.passed is None:
        return say("passed over")
    return say("passed") if row.passed else say("FAILED")


def parameters(facts: Facts) -> Section:
    """Return the section on how the release was made."""
    unknown = say("not recorded")
    made = say("{moment} UTC", moment=moment(facts.started)) if facts.started else unknown
    rows: list[list[str]] = [
        [say("Release"), f"{facts.release}" if facts.release else unknown],
        [say("Published as"), facts.table],
        [say("Made from"), facts.source or unknown],
        [say("Made on"), made],
        [say("Records"), _records(facts)],
        [say("Released as they were"), _names(facts.kept)],
        [say("Left out"), _names(facts.dropped)],
    ]
    for number_, step in enumerate(facts.steps, 1):
        behind = say(" (step {n})", n=number_) if len(facts.steps) > 1 else ""
        rows += [[join([name.replace("_", " "), behind], ""), _value(value)] for name, value in step.parameters.items()]
        if step.released:
            chosen = step.released
            shown = ", ".join((chosen.algorithm, chosen.which, chosen.unification))
            rows.append([join([say("chosen candidate"), behind], ""), shown])
    rows += [[name, str(version)] for name, version in facts.versions.items()]
    table = Table(say("How the release was made"), [say("What"), say("Value")], rows)
    return Section("parameters", say("Parameters"), [Block(table=table)])


def moment(started: str) -> str:
    """Return a recorded moment."""
    return figure(datetime.fromisoformat(started), "%Y-%m-%d %H:%M")


def _records(facts: Facts) -> str:
    before, now = facts.records_before.recorded, facts.records_before.now
    if before is None:
        return figure(facts.records, ",")
    text = say("{n:,} of {all:,}", n=facts.records, all=before)
    if now is None or now == before:
        return text
    return say("{records}; the original now has {n:,}, so it has changed since", records=text, n=now)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    return figure(value, ",.10g") if isinstance(value, float) else str(value)


def not_promised(facts: Facts) -> Section:
    """Return the section on what nobody may take for promised."""
    items = []
    if facts.verdict.status != "held":
        items.append(say("That no record can be singled out: over all released columns no k is promised, or it does "
                         "not hold."))  # fmt: skip
    if facts.verdict.apart:
        left = [say("{name} ({why})", name=name, why=term(why)) for name, why in facts.verdict.apart.items()]
        items.append(say("Protection from somebody who knows {columns}: k was not counted over these.",
                         columns=_names(left)))  # fmt: skip
    if facts.kept:
        items.append(say("Anything about {columns}: they are released as they were.", columns=_names(facts.kept)))
    items.append(
        say("That nobody learns the {columns} of a person: where all records of a class agree, finding the class is "
            "enough. See l-diversity and t-closeness among the audits.", columns=_names(facts.sensitive))
        if facts.sensitive
        else say("That nobody learns a fact about a person: where all records of a class agree, finding the class is "
                 "enough. Name sensitive columns with --sensitive to have that measured.")
    )  # fmt: skip
    if not facts.unit:
        items.append(say("Protection of persons, households or firms that have several records: k counts records."))
    items += [
        say(
            "Protection when this release is combined with another of the same persons: their classes can be "
            "intersected."
        ),
        say("Differential privacy: what an attacker knows already decides what can be learned."),
        say("That the figures above are good enough: whoever publishes decides that."),
    ]
    return Section("not-promised", say("What is not promised"), [Block(items=items)])
