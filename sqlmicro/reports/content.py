"""What a report is made of, whatever it is written as: sections of paragraphs, charts and tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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
    judged: Sequence[Judgement] = ()
    """Of every row what its figure is worth: a last column, in colours."""


@dataclass(frozen=True)
class Judgement:
    """What a figure is worth: a word, and a colour where there is a threshold."""

    word: str
    colour: Literal["green", "amber", "red", ""] = ""


@dataclass(frozen=True)
class _Thresholds:
    """Up to where a figure is good, and up to where it is bearable; with `least`, from where."""

    good: float
    bearable: float
    least: bool = False


_RISK, _COUNT = _Thresholds(1 / 11, 1 / 3), _Thresholds(11, 3, least=True)
THRESHOLDS = {
    **dict.fromkeys(("prosecutor-risk", "journalist-risk", "individual-risk", "household-risk"), _RISK),
    **dict.fromkeys(("k-anonymity", "k-map"), _COUNT),
    "sample-uniques": _Thresholds(0, 0), "l-diversity": _Thresholds(2, 2, least=True),
    "correlations": _Thresholds(0.1, 0.3), "means": _Thresholds(0.2, 0.5), "emd": _Thresholds(0.2, 0.5),
    "regression": _Thresholds(1, 1.96), "information-loss": _Thresholds(_LITTLE, _MUCH),
}  # fmt: skip
"""By the audit. Of all others no threshold is known; `sources` says where these are from."""


def sources() -> list[str]:
    """Return where the thresholds are from."""
    return [
        say("Risks and class sizes: good up to 9 %, which is a class of 11 (European Medicines Agency, policy 0070, "
            "and Health Canada); bearable up to one third, which is a class of 3 (El Emam 2013)."),
        say("Records that are unique: none, since a class of one is no class. l-diversity: 2, since with 1 a class "
            "tells the value."),
        say("Correlations: 0.1 is a small and 0.3 a medium one. Means and Earth Mover's Distance: 0.2 standard "
            "deviations are a small and 0.5 a medium difference (Cohen 1988)."),
        say("Coefficients: 1 standard error; beyond 1.96 the 95 % interval of the original ends."),
        say("Loss: 5 % and 20 %. These two are ours; no standard has any."),
        say("Linkage and attacks: as risks; bad beyond what the promised k allows, one in k, or chance "
            "where that is more."),
    ]  # fmt: skip


def judged(check: str, value: float | None) -> Judgement:
    """Return what the value of an audit is worth, by its name.

    >>> judged("means", 0.3).colour, judged("k-anonymity", 20).word, judged("pmse", 0.1).word
    ('amber', 'good', 'no threshold is known')
    """
    limits = THRESHOLDS.get(check)
    if value is None:
        return Judgement("")
    if limits is None:
        return Judgement(say("no threshold is known"))
    sign = -1 if limits.least else 1
    if sign * value <= sign * limits.good:
        return Judgement(say("good"), "green")
    return (
        Judgement(say("bearable"), "amber") if sign * value <= sign * limits.bearable
        else Judgement(say("bad"), "red")
    )  # fmt: skip


def judged_attack(rate: float, low: float, chance: float, k: int) -> Judgement:
    """Return what an attack is worth: bad beyond what the promised k allows (see `beats`), else as any risk is."""
    if k and low > max(1 / k, chance):
        return Judgement(say("bad"), "red")
    found = judged("prosecutor-risk", rate)
    return found if k or found.colour == "green" else Judgement(say("no threshold is known"))


def judged_class(k: int, promised: int) -> Judgement:
    """Return what the smallest class is worth: bad where it is smaller than was promised, else as any is."""
    return Judgement(say("bad"), "red") if k < promised else judged("k-anonymity", k)


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
            join([lost, _loss_judged(loss), _worst_told(facts)]),
        ),
        linkage,
    ]


def tile_colours(facts: Facts) -> list[str]:
    """Return the colours of the three figures of the first screen; none where there is no threshold."""
    k, loss, made = facts.verdict.k_released, facts.loss.il, facts.verdict.attack
    most = lost_most(facts)
    worst = max(most[1], loss or 0.0) if most else loss
    return [
        "" if k is None else judged_class(k, promised(facts)).colour,
        judged("information-loss", worst).colour,
        judged_attack(made.rate, made.low, made.chance, promised(facts)).colour if made else "",
    ]


def lost_most(facts: Facts) -> tuple[str, float] | None:
    """Return the column that lost most, and how much in percent: of its variation, or of its values."""
    lost = {name: loss for name, loss in facts.loss.by_column.items() if loss is not None}
    lost |= {name: 100 * share for name, share in facts.loss.changed.items() if share is not None}
    return max(lost.items(), key=lambda one: one[1], default=None)


def promised(facts: Facts) -> int:
    """Return the largest k that was promised, 0 where none was."""
    return max((promise.k for promise in facts.verdict.promised), default=0)


def _class_judged(facts: Facts) -> str:
    """Say whether the smallest class is as large as was promised."""
    k, least = facts.verdict.k_released, promised(facts)
    if k is None or not least:
        return ""
    if k >= least:
        return say("That is what was promised: {k:,} or more.", k=least)
    return say("That is fewer than was promised: {k:,}.", k=least)


def _loss_judged(loss: float | None) -> str:
    """Say how much of the numbers is lost, in a word; the limits are ours."""
    if loss is None:
        return ""
    if loss <= _LITTLE:
        return say("That is little.")
    if loss <= _MUCH:
        return say("That is more than a little: compare the columns below.")
    return say("That is much: see below which columns are still of use.")


def _worst_told(facts: Facts) -> str:
    """Say which column lost most."""
    most = lost_most(facts)
    if most is None:
        return ""
    given = {"column": most[0], "share": percent(most[1] / 100)}
    if most[1] > _MUCH:
        return say("But {column} lost {share}: see below whether it is still of use.", **given)
    return say("The column that lost most: {column}, {share}.", **given)


def _attack_judged(facts: Facts) -> str:
    """Say whether the strongest attack gets further than the k that was promised allows."""
    made, k = facts.verdict.attack, promised(facts)
    if made is None or not k:
        return ""
    most = percent(max(1 / k, made.chance))
    if made.beats(k):
        return say("That is more than k = {k:,} allows: {most}.", k=k, most=most)
    return say("That is within what k = {k:,} allows: {most}.", k=k, most=most)


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
