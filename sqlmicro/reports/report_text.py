"""What `sqlmicro report` prints: the first screen of the report in a few lines."""

from __future__ import annotations

from sqlmicro.reports.content import tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import language
from sqlmicro.reports.numbers import percent
from sqlmicro.reports.text import line
from sqlmicro.system.sentences import say, term


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
