"""A report as one HTML page: no script, nothing from the network; light, dark and print follow the reader."""

from __future__ import annotations

from datetime import date

from sqlmicro.reports import charts
from sqlmicro.reports.content import tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import language
from sqlmicro.reports.sections import sections
from sqlmicro.system import packages
from sqlmicro.system.sentences import figure, join, say


def heading(facts: Facts) -> str:
    """Return the title of a report."""
    return say("Release {table}", table=facts.table)


def about(facts: Facts) -> str:
    """Return the line below the title: what the release is."""
    parts: list[str] = [say("{n:,} records", n=facts.records)]
    if facts.source:
        parts.append(say("made from {source}", source=facts.source))
    if facts.steps:
        parts.append(say("by {methods}", methods=" + ".join(step.method for step in facts.steps)))
    if facts.started:
        parts.append(say("on {day}", day=figure(date.fromisoformat(facts.started[:10]))))
    return say("{parts}.", parts=join(parts, ", "))


def html(facts: Facts) -> str:
    """Return the page of a report; every name and value in it is escaped."""
    spoken = language(facts.lang)
    page: str = (
        charts.environment(spoken)
        .get_template("page.html.jinja")
        .render(
            heading=heading(facts),
            running=charts.shortened(spoken.told(heading(facts)), 50),
            about=about(facts),
            colour=facts.verdict.colour,
            verdict=verdict(facts),
            tiles=tiles(facts),
            sections=sections(facts),
            version=packages.version("sqlmicro"),
            day=figure(date.fromisoformat(facts.made)),
            min_k=facts.min_k,
        )
    )
    return page
