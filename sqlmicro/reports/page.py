"""A report as one HTML page: no script, nothing from the network; light, dark and print follow the reader."""

from __future__ import annotations

from sqlmicro.reports import charts
from sqlmicro.reports.content import tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.sections import sections


def heading(facts: Facts) -> str:
    """Return the title of a report."""
    return f"Release {facts.table}"


def about(facts: Facts) -> str:
    """Return the line below the title: what the release is."""
    parts = [f"{facts.records:,} records"]
    if facts.source:
        parts.append(f"made from {facts.source}")
    if facts.steps:
        parts.append("by " + " + ".join(step.method for step in facts.steps))
    if facts.started:
        parts.append(f"on {facts.started[:10]}")
    return ", ".join(parts) + "."


def html(facts: Facts) -> str:
    """Return the page of a report; every name and value in it is escaped."""
    from importlib.metadata import version

    page: str = (
        charts.environment()
        .get_template("page.html.jinja")
        .render(
            title=f"{heading(facts)}: disclosure report",
            heading=heading(facts),
            about=about(facts),
            colour=facts.verdict.colour,
            verdict=verdict(facts),
            tiles=tiles(facts),
            sections=sections(facts),
            version=version("sqlmicro"),
            min_k=facts.min_k,
        )
    )
    return page
