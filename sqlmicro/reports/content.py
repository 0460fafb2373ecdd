"""What a report is made of, whatever it is written as: sections of paragraphs, charts and tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import Language, language, percent
from sqlmicro.reports.text import line
from sqlmicro.system.sentences import figure, join, names, say, term

_LITTLE, _MUCH = 5.0, 20.0
"""Percent of the variation of numbers up to which little is lost, and beyond which much."""


@dataclass(frozen=True)
class Table:
    """A table: its caption, its header, its rows as text; the first cell of a row names it, the numbers align right."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Block:
    """A part of a section: a heading if it has one, paragraphs, and a chart with its table."""

    heading: str = ""
    text: Sequence[str] = ()
    items: Sequence[str] = ()
    chart: Callable[[str, Language], Any] | None = None
    table: Table | None = None
    form: Sequence[str] = ()
    """What somebody writes in by hand."""


@dataclass(frozen=True)
class Section:
    """A section: its id in the page, its title, its parts."""

    key: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def verdict(facts: Facts) -> tuple[str, str]:
    """Return the verdict in a few words, and the sentences that explain it."""
    return facts.verdict.headline, facts.verdict.sentence


def tiles(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the three figures of the first screen: label, value, what it means, and how it is to be judged."""
    k, loss = facts.verdict.k_released, facts.loss.il
    attacks = facts.attacks
    made = facts.verdict.attack
    highest = next((attack for attack in attacks if made and attack.name == made.name), None)
    if highest is not None:
        rate = percent(highest.rate)
        linkage = (
            say("Strongest attack"), say("at most {rate}", rate=rate) if facts.attacks_assume else rate,
            join([
                say("of {n:,} tries of {attack} were right; it knows {columns}. By chance it would be {chance}.",
                    n=highest.n, attack=term(highest.name), columns=names(facts.attacked, 8, say("none")),
                    chance=percent(highest.chance)),
                _attack_judged(facts),
            ]),
        )  # fmt: skip
    else:
        linkage = (
            say("Chance to be found"), say("unknown") if not k else say("at most {rate}", rate=percent(1 / k)),
            say("for somebody who knows these columns of a person, and that the person is in the release. No attack "
                "was run for this report."),
        )  # fmt: skip
    lost = (
        say("of the variation of the numeric columns was lost (IL = 100 SSE/SST on standardised columns; 0 is "
            "nothing).")
        if loss is not None
        else say("no numeric column was compared record by record.")
    )  # fmt: skip
    columns = names(facts.verdict.columns, 8, say("none"))
    rarest = (
        say("persons in the class of the rarest combination of values of {columns}", columns=columns) if facts.unit
        else say("records in the class of the rarest combination of values of {columns}", columns=columns)
    )  # fmt: skip
    return [
        (
            say("Smallest class"),
            say("unknown") if k is None else figure(k, ","),
            join([rarest, _class_judged(facts)], ". "),
        ),
        (
            say("Information loss"),
            say("unknown") if loss is None else percent(loss / 100),
            join([lost, _loss_judged(loss)]),
        ),
        linkage,
    ]


def _promised(facts: Facts) -> int:
    return max((promise.k for promise in facts.verdict.promised), default=0)


def _class_judged(facts: Facts) -> str:
    """Say whether the smallest class is as large as was promised."""
    k, promised = facts.verdict.k_released, _promised(facts)
    if k is None or not promised:
        return ""
    if k >= promised:
        return say("That is what was promised: {k:,} or more.", k=promised)
    return say("That is fewer than was promised: {k:,}.", k=promised)


def _loss_judged(loss: float | None) -> str:
    """Say how much of the numbers is lost, in a word; the limits are ours."""
    if loss is None:
        return ""
    if loss <= _LITTLE:
        return say("That is little.")
    if loss <= _MUCH:
        return say("That is more than a little: compare the columns below.")
    return say("That is much: see below which columns are still of use.")


def _attack_judged(facts: Facts) -> str:
    """Say whether the strongest attack gets further than the k that was promised allows."""
    made, promised = facts.verdict.attack, _promised(facts)
    if made is None or not promised:
        return ""
    most = percent(max(1 / promised, made.chance))
    if made.beats(promised):
        return say("That is more than k = {k:,} allows: {most}.", k=promised, most=most)
    return say("That is within what k = {k:,} allows: {most}.", k=promised, most=most)


def report(found: Facts) -> str:
    """Return what `sqlmicro report` prints: the Markdown where it was asked for, else the first screen."""
    if found.markdown is not None:
        return str(found.markdown).rstrip()
    told = language(found.lang).told
    words, sentence = verdict(found)
    lines = [
        line(told(say("release")), told(say("{table}, {n:,} records", table=found.table, n=found.records))),
        line(told(say("verdict")), told(words)),
        line("", told(sentence)),
    ]
    shown = zip((say("smallest class"), say("IL"), say("linkage")), tiles(found), strict=True)
    lines += [line(told(label), told(value)) for label, (_, value, _) in shown]
    if found.criteria is not None and found.criteria.how is not None:
        risks = ", ".join(
            told(say("{criterion} {risk}", criterion=term(c.name), risk=percent(c.risk))) for c in found.criteria.all
        )
        lines.append(line(told(say("criteria")), risks))
    if found.to:
        lines.append(line(told(say("written")), found.to))
    else:
        advice = say("--to report.html writes the whole report, --markdown prints it as text")
        lines.append(line(told(say("next")), told(advice)))
    return "\n".join(lines)
