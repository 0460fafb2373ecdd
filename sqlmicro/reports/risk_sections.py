"""The sections on what was promised, what was found, and what is not promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlmicro.reports import charts
from sqlmicro.reports.audit_text import NULLS
from sqlmicro.reports.content import Block, Section, Table, names
from sqlmicro.reports.drawn import Bar
from sqlmicro.reports.facts import AuditFacts, Facts
from sqlmicro.reports.numbers import number, percent
from sqlmicro.reports.recorded import RecordedCheck


def promise(facts: Facts) -> Section:
    """Return the section on what was promised, step by step, and for which unit."""
    whose = (
        f"The unit is one entity, named by the column {facts.unit}: the size of a class is its number of entities."
        if facts.unit
        else "The unit is one record. Where a person has several records, k records may be fewer than k persons: name "
        "the column that says whose record it is with --entity."
    )
    known = (
        f"An attacker is assumed to know the quasi-identifiers: {names(facts.quasi, 40)}. If one of them is "
        f"missing: {NULLS[facts.nulls]}."
    )
    if not facts.steps:
        text = ["Nothing is recorded of how this release was made; what follows was measured on it.", whose, known]
        return Section("promise", "What was promised", [Block(text=text)])
    rows = [
        [step.method, "" if step.k is None else str(step.k), step.promise, names(step.columns),
         names(step.by)] for step in facts.steps
    ]  # fmt: skip
    table = Table(
        "The steps, and what each promises of its columns", ["Step", "k", "Promise", "Columns", "Strata"], rows
    )
    return Section("promise", "What was promised", [Block(text=[whose, known], table=table)])


def classes(facts: Facts) -> Section:
    """Return the section on the sizes of the classes."""
    units = "entities" if facts.unit else "records"
    rows, below, k = facts.class_sizes, facts.below_k, facts.min_k
    if not rows and not below:
        return Section("classes", "Class sizes")
    steps = [Bar(f"below {k}", None, below)] if below else []
    steps += [Bar(row.size, None, row.records) for row in rows]
    lines = [[f"below {k}", "not shown", f"{below:,}"]] if below else []
    lines += [[row.size, f"{row.classes:,}", f"{row.records:,}"] for row in rows]
    text = (
        f"A class is all records with the same values of {names(facts.quasi)}; its size is the number of "
        f"{units}. The larger it is, the less a single one stands out."
    )
    header = ["Class size", "Classes", units.capitalize()]
    return Section("classes", "Class sizes", [Block(
        text=[text],
        chart=lambda key: charts.bars(
            key, f"{units.capitalize()} by class size", steps, warned=int(below > 0), unit=units, percent=False),
        table=Table(f"How many {units} are in classes of each size", header, lines, frozenset({1, 2})),
    )])  # fmt: skip


def attacks(facts: Facts) -> Section:
    """Return the section on how often attacks found the right record."""
    section = Section("attacks", "Attacks")
    if not facts.attacks:
        section.blocks.append(Block(text=[
            f"No attack was run for this report: {facts.no_attacks}. What is known without one is the worst "
            "case: one in k for whoever knows exactly these columns. The command is: sqlmicro attack"
        ]))  # fmt: skip
        return section
    text = [f"The attacker knows {names(facts.attacked)} of a person, and looks for the person's record."]
    others = [name for name in facts.attacked if name not in facts.quasi]
    if others and facts.quasi:
        text.append(f"That is more than the k was measured over: it does not cover {names(others)}.")
    if facts.attacks_assume:
        text.append("Nothing tells which record became which, so the worst is assumed: that the true record is among "
                    "those that an attack ends with. Rates are upper bounds; --match measures them.")  # fmt: skip
    if facts.not_tried:
        left = "; ".join(f"{row.name} {row.why}" for row in facts.not_tried)
        text.append(f"Not tried: {left}.")
    rows = [
        [a.name, percent(a.rate), f"{percent(a.ci[0])} to {percent(a.ci[1])}", percent(a.chance),
         f"{a.n:,}"] for a in facts.attacks
    ]  # fmt: skip
    bars = [Bar(a.name, a.chance, a.rate) for a in facts.attacks]
    header = ["Attack", "Found", "95 % interval", "By chance", "Tried"]
    section.blocks.append(Block(
        text=text,
        chart=lambda key: charts.bars(key, "Records found by each attack", bars, unit="share of the records tried",
                                      names=("by chance", "found")),
        table=Table("How often each attack was right", header, rows, frozenset({1, 2, 3, 4})),
    ))  # fmt: skip
    return section


def risk_map(facts: Facts) -> Section:
    """Return the section on the releases of one source on an R-U map."""
    points = facts.candidates
    if len(points) < 2:
        return Section("map", "Risk and loss")
    text = [
        "These are the recorded releases of the same source with the same columns, "
        f"{names(facts.verdict.columns, 8)}. Risk is the share of the tried records that distance-based linkage "
        "over all these columns links, measured in the same way for each. Loss is the mean over the columns: IL for "
        "numeric ones, the share of changed values for others. No release has less risk and less loss than one on the "
        "front."
    ]
    if facts.other_candidates:
        others = names(facts.other_candidates, 8)
        text.append(f"Not on this map, because their columns or their measure of loss differ: {others}.")
    rows = [
        [
            f"{p.label} ({p.command}{', this one' if p.chosen else ''})",
            percent(p.risk),
            f"{number(p.loss)} %",
            "yes" if p.front else "no",
        ]
        for p in points
    ]
    return Section("map", "Risk and loss", [Block(
        text=text,
        chart=lambda key: charts.ru_map(points, key=key, risk="share of records linked", loss="loss in %"),
        table=Table("Releases of the same source", ["Release", "Risk", "Loss", "On the front"], rows,
                    frozenset({1, 2})),
    )])  # fmt: skip


def audits(facts: Facts) -> Section:
    """Return the section on what was measured, and what was recorded."""
    section = Section("audits", "Audits")
    rows = [_audit(row, facts.quasi) for row in facts.audits if row.value is not None]
    if rows:
        header = ["Audit", "Value", "Needed", "Result", "What it says", "Columns"]
        section.blocks.append(
            Block(table=Table("Measured on the release for this report", header, rows, frozenset({1})))
        )
    recorded = [
        [row.check, _count(row.value), f"{row.threshold:,g}", _passed(row)]
        for row in facts.recorded_audits
        if row.threshold is not None and row.value is not None
    ]
    if recorded:
        caption = "Recorded when the release was made, and by audits since"
        header = ["Audit", "Value", "Needed", "Result"]
        section.blocks.append(Block(table=Table(caption, header, recorded, frozenset({1, 2}))))
    return section


def _audit(row: AuditFacts, quasi: Sequence[str]) -> list[str]:
    columns = names(row.columns, 6)
    if any(", " in column for column in row.columns):
        columns = f"{len(row.columns)} pairs of columns"
    elif row.columns == list(quasi) and len(quasi) > 3:
        columns = "the quasi-identifiers"
    return [row.check, _count(row.value or 0), _needed(row), _passed(row), row.meaning, columns]


def _count(value: float) -> str:
    """Return counts in full, measures with three digits."""
    return f"{int(value):,}" if value == int(value) and abs(value) >= 1 else number(value)


def _needed(row: AuditFacts) -> str:
    return "" if row.threshold is None else f"{'at least' if row.at_least else 'at most'} {row.threshold:,g}"


def _passed(row: AuditFacts | RecordedCheck) -> str:
    return "measured" if row.threshold is None else "passed" if row.passed else "FAILED"


def parameters(facts: Facts) -> Section:
    """Return the section on how the release was made."""
    rows = [
        ["Release", f"{facts.release}" if facts.release else "not recorded"],
        ["Published as", facts.table],
        ["Made from", facts.source or "not recorded"],
        ["Made on", f"{facts.started} UTC" if facts.started else "not recorded"],
        ["Records", _records(facts)],
        ["Released as they were", names(facts.kept)],
        ["Left out", names(facts.dropped)],
    ]
    for number_, step in enumerate(facts.steps, 1):
        behind = f" (step {number_})" if len(facts.steps) > 1 else ""
        rows += [[f"{name.replace('_', ' ')}{behind}", _value(value)] for name, value in step.parameters.items()]
        if step.released:
            chosen = step.released
            shown = ", ".join((chosen.algorithm, chosen.which, chosen.unification))
            rows.append([f"chosen candidate{behind}", shown])
    rows += [[name, str(version)] for name, version in facts.versions.items()]
    return Section(
        "parameters", "Parameters", [Block(table=Table("How the release was made", ["What", "Value"], rows))]
    )


def _records(facts: Facts) -> str:
    before = facts.records_before
    text = f"{facts.records:,}"
    if before.recorded is not None:
        text += f" of {before.recorded:,}"
    if before.recorded is not None and before.now is not None and before.now != before.recorded:
        text += f"; the original now has {before.now:,}, so it has changed since"
    return text


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def not_promised(facts: Facts) -> Section:
    """Return the section on what nobody may take for promised."""
    items = []
    if facts.verdict.status != "held":
        items.append("Not that a record cannot be singled out: over all that is released no k is promised, or it does "
                     "not hold.")  # fmt: skip
    if facts.verdict.apart:
        left = [f"{name} ({why})" for name, why in facts.verdict.apart.items()]
        items.append(f"Nothing against whoever knows {names(left)}: these were not counted.")
    if facts.kept:
        items.append(f"Nothing about {names(facts.kept)}, released as they were.")
    items.append(
        f"Not that nobody learns the {names(facts.sensitive)} of a person: where all records of a class agree, "
        "finding the class is enough. See l-diversity and t-closeness among the audits."
        if facts.sensitive
        else "Not that nobody learns a fact about a person: where all records of a class agree, finding the class is "
        "enough. Name sensitive columns with --sensitive to have that measured."
    )
    if not facts.unit:
        items.append("Nothing about persons, households or firms that have several records.")
    items += [
        "Nothing about this release together with another of the same persons: their classes can be intersected.",
        "No differential privacy: what an attacker knows already decides what can be learned.",
        "No judgement whether the figures above are good enough; that is for whoever publishes.",
    ]
    return Section("not-promised", "What is not promised", [Block(items=items)])
