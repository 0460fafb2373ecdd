"""The section of a report on the three criteria: what each attack gains by somebody's being in the table."""

from __future__ import annotations

from sqlmicro.attacks.criteria import Criterion
from sqlmicro.reports.content import Block, Section, Table
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.numbers import percent
from sqlmicro.system.sentences import say, term


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
    table = Table(say("What being in the table adds for an attacker"), header, rows, frozenset({1, 2, 3, 4}))
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
