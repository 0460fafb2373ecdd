"""What a report is made of, whatever it is written as: sections of paragraphs, charts and tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.reports.numbers import number, percent


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
    chart: Callable[[str], Any] | None = None
    table: Table | None = None


@dataclass(frozen=True)
class Section:
    """A section: its id in the page, its title, its parts."""

    key: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def unit(facts: Mapping[str, Any], count: int) -> str:
    """Return what a class counts, with its number.

    >>> unit({"unit": None}, 1), unit({"unit": "person"}, 3)
    ('1 record', '3 entities (person)')
    """
    if facts["unit"]:
        return f"{count:,} {'entity' if count == 1 else 'entities'} ({facts['unit']})"
    return f"{count:,} {'record' if count == 1 else 'records'}"


def names(columns: Sequence[str], most: int = 12) -> str:
    """Return the names of columns in one line.

    >>> names(["a", "b"]), names([])
    ('a, b', 'none')
    """
    shown = ", ".join(columns[:most])
    return f"{shown} and {len(columns) - most} more" if len(columns) > most else shown or "none"


def verdict(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict in a few words, and the sentence that explains it."""
    found = facts["verdict"]
    over, k, needed = names(facts["quasi"]), found["k"], found["needed"]
    if found["status"] == "held":
        return f"k = {needed:,} held", (
            f"Yes: every combination of values of {over} is shared by at least {unit(facts, k)}; "
            f"{needed:,} were needed."
        )
    if found["status"] == "broken":
        return f"k = {needed:,} NOT held", (
            f"No: the rarest combination of values of {over} occurs in {unit(facts, k)} only; {needed:,} were needed."
        )
    if k is None:
        return "No k measured", "No column of this release was named as one that an attacker may know."
    alone = " What was promised holds for single columns, blocks or groups." if facts["steps"] else ""
    return "No k promised", (
        f"Nobody promised a k for {over} together; the rarest combination of their values occurs in {unit(facts, k)}."
        + alone
    )


def tiles(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the three figures of the first screen: label, value, what it means."""
    k, loss = facts["verdict"]["k"], facts["loss"]["IL"]
    attacks = facts["attacks"]
    highest = max(attacks, key=lambda attack: attack["rate"], default=None)
    if highest is not None:
        bound = "at most " if facts["attacks_assume"] else ""
        linkage = (
            "Strongest attack", f"{bound}{percent(highest['rate'])}",
            f"of {highest['n']:,} records tried were linked to the right one by {highest['name']}, which knows "
            f"{names(facts['attacked'], 8)}. By chance it would be {percent(highest['chance'])}.",
        )  # fmt: skip
    else:
        linkage = (
            "Chance to be found", "unknown" if not k else f"at most {percent(1 / k)}",
            "for somebody who knows these columns of a person, no other, and that the person is in the release. No "
            "attack was run for this report.",
        )  # fmt: skip
    lost = (
        "of the variation of the numeric columns was lost (IL = 100 SSE/SST on standardised columns; 0 is nothing)"
        if loss is not None
        else "no numeric column was compared record by record"
    )
    units = "entities" if facts["unit"] else "records"
    return [
        (
            "Smallest class",
            "unknown" if k is None else f"{k:,}",
            f"{units} in the class of the rarest combination of values",
        ),
        ("Information loss", "unknown" if loss is None else f"{number(loss)} %", lost + "."),
        linkage,
    ]
