"""What is known of the rows of a person, as a job file says it: `orders: count, sum(amount)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlmicro.audits.join_k import AGGREGATES, Known
from sqlmicro.errors import JobError

_TERM = re.compile(r"""\s*(?:(count|none)|(\w+)\s*\(\s*(?:"((?:[^"]|"")+)"|([^()",]+?))\s*\))\s*(?:,|$)""")


def read(where: str, texts: Sequence[str], tables: Sequence[str]) -> list[Known]:
    """Return what is known of the rows of every table: their number, where nothing else is said.

    Raises
    ------
    JobError
        For a table that is not in the file or is named twice, or what cannot be known of one.

    >>> read("f", ['orders: count, sum("net a")', "visits: none"], ["visits", "orders", "x"])[:2]
    [Known(count=False, of=()), Known(count=True, of=(('sum', 'net a'),))]
    """
    found: dict[int, Known] = {}
    where = f"{where}, key 'known'"
    for text in texts:
        at = next((n for n, name in enumerate(tables) if text.lower().startswith(f"{name}:".lower())), None)
        if at is None or at in found:
            must = 'each is "table: what", of every [[table]] of this file once'
            raise JobError(where, must, repr(text), "There are the tables: " + ", ".join(tables))
        found[at] = _known(where, text[len(tables[at]) + 1 :])
    return [found.get(at, Known()) for at in range(len(tables))]


def _known(where: str, text: str) -> Known:
    terms, rest = [], text.strip()
    while rest:
        term = _TERM.match(rest)
        if term is None or (term[2] and term[2] not in AGGREGATES):
            must = f"what is known is count, {', '.join(f'{name}(column)' for name in AGGREGATES)}, or none alone"
            raise JobError(where, must, repr(text.strip()))
        terms.append(term)
        rest = rest[term.end() :]
    words = [term[1] for term in terms if term[1]]
    if not terms or ("none" in words and len(terms) > 1):
        raise JobError(where, "what is known is count, an aggregate of a column, or none alone", repr(text.strip()))
    of = [(term[2], term[3].replace('""', '"') if term[3] else term[4]) for term in terms if not term[1]]
    return Known("count" in words, tuple(dict.fromkeys(of)))
