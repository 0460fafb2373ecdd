"""The tables of methods in Markdown, made from the catalogue; a test compares them with README and help."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlmicro.registry import PROMISES, methods

_BLOCK = re.compile(r"(<!-- (methods|every method) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def by_promise() -> str:
    """Return what is promised, and the commands that promise it."""
    rows = [
        (text[0].upper() + text[1:], ", ".join(f"`{name}`" for name, m in methods().items() if m.promise == promise))
        for promise, text in PROMISES.items()
    ]
    return _table(("promise", "commands"), [row for row in rows if row[1]])


def one_by_one() -> str:
    """Return what every method does."""
    return _table(("command", "what it does"), [(f"`{m.name}`", m.summary) for m in methods().values()])


_TABLES: dict[str, Callable[[], str]] = {"methods": by_promise, "every method": one_by_one}


def filled(markdown: str) -> str:
    """Return a text with the tables put between their markers, `<!-- methods -->` and `<!-- every method -->`."""
    return _BLOCK.sub(lambda found: found.group(1) + _TABLES[found.group(2)]() + found.group(3), markdown)


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- | --- |", "|---|---|")
