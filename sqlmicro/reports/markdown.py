"""A report as text: Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlmicro.reports.content import Table, tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import language
from sqlmicro.reports.page import about, heading
from sqlmicro.reports.sections import sections
from sqlmicro.system.printable import shown
from sqlmicro.system.sentences import say


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
        rule = ["---:" if place in found.numeric else "---" for place in range(len(found.header))]
        rows: list[Sequence[str]] = [[told(cell) for cell in row] for row in (found.header, *found.rows)]
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
