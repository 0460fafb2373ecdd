"""A report as one HTML page: no script, nothing from the network; light, dark and print follow the reader.

A report as text: Markdown for a pull request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from sqlmicro.reports import charts
from sqlmicro.reports.content import Table, tile_colours, tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import language
from sqlmicro.reports.sections import sections
from sqlmicro.system import packages
from sqlmicro.system.printable import shown
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
            tiles=[*zip(tiles(facts), tile_colours(facts), strict=True)],
            sections=sections(facts),
            version=packages.version("sqlmicro"),
            day=figure(date.fromisoformat(facts.made)),
            min_k=facts.min_k,
        )
    )
    return page


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is: nobody is mentioned, nothing becomes a tag, a link or a cell.

    >>> escaped("<b> a|b @you *x* snake_case _y_")
    '&lt;b&gt; a\\\\|b &#64;you \\\\*x\\\\* snake_case \\\\_y\\\\_'
    """
    flat = shown(" ".join(text.split()))
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    flat = re.sub(r"([\\`*\[\]|~#!])", r"\\\1", flat.replace("&#64;", "\0")).replace("\0", "&#64;")
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", flat)


def markdown(facts: Facts) -> str:
    """Return the report as Markdown: the same words and tables as the page; for a chart there is its table."""
    spoken = language(facts.lang)

    def told(text: str) -> str:
        return escaped(spoken.told(text))

    def table(found: Table) -> str:
        header, words = [*found.header], [[one.word] for one in found.judged] or [[] for _ in found.rows]
        header += [say("Judgement")] * bool(found.judged)
        rule = ["---:" if place in found.numeric else "---" for place in range(len(header))]
        whole = [header, *([*row, *word] for row, word in zip(found.rows, words, strict=True))]
        rows: list[Sequence[str]] = [[told(cell) for cell in row] for row in whole]
        return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))

    words, sentence = verdict(facts)
    lines = [f"# {told(heading(facts))}", told(about(facts)), f"**{told(words)}.** {told(sentence)}"]
    lines.append(table(Table("", [say("Figure"), say("Value"), say("Meaning")], tiles(facts), frozenset({1}))))
    for section in sections(facts):
        lines.append(f"## {told(section.title)}")
        for block in section.blocks:
            if block.heading:
                lines.append(f"### {told(block.heading)}")
            lines += [told(paragraph) for paragraph in block.text]
            if block.items:
                lines.append("\n".join(f"- {told(item)}" for item in block.items))
            if block.table:
                lines += [f"{told(block.table.caption)}:", table(block.table)]
            lines += [f"{told(field)}: ……………………………………" for field in block.form]
    return "\n\n".join(lines) + "\n"
