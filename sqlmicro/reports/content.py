"""What a report is made of, whatever it is written as: sections of paragraphs, charts and tables, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.reports.facts import Facts
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


def names(columns: Sequence[str], most: int = 12) -> str:
    """Return the names of columns in one line.

    >>> names(["a", "b"]), names([])
    ('a, b', 'none')
    """
    shown = ", ".join(columns[:most])
    return f"{shown} and {len(columns) - most} more" if len(columns) > most else shown or "none"


def verdict(facts: Facts) -> tuple[str, str]:
    """Return the verdict in a few words, and the sentences that explain it."""
    return facts.verdict.headline, facts.verdict.sentence


def tiles(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the three figures of the first screen: label, value, what it means."""
    k, loss = facts.verdict.k_released, facts.loss.il
    attacks = facts.attacks
    made = facts.verdict.attack
    highest = next((attack for attack in attacks if made and attack.name == made.name), None)
    if highest is not None:
        bound = "at most " if facts.attacks_assume else ""
        linkage = (
            "Strongest attack", f"{bound}{percent(highest.rate)}",
            f"of {highest.n:,} tries of {highest.name} were right; it knows {names(facts.attacked, 8)}. By "
            f"chance it would be {percent(highest.chance)}.",
        )  # fmt: skip
    else:
        linkage = (
            "Chance to be found", "unknown" if not k else f"at most {percent(1 / k)}",
            "for somebody who knows these columns of a person, and that the person is in the release. No attack was "
            "run for this report.",
        )  # fmt: skip
    lost = (
        "of the variation of the numeric columns was lost (IL = 100 SSE/SST on standardised columns; 0 is nothing)"
        if loss is not None
        else "no numeric column was compared record by record"
    )
    units = "entities" if facts.unit else "records"
    return [
        (
            "Smallest class",
            "unknown" if k is None else f"{k:,}",
            f"{units} in the class of the rarest combination of values of {names(facts.verdict.columns, 8)}",
        ),
        ("Information loss", "unknown" if loss is None else f"{number(loss)} %", lost + "."),
        linkage,
    ]
