"""The ledger as text."""

from __future__ import annotations

import textwrap

from sqlmicro.history.ledger import Entry, Ledger
from sqlmicro.reports.text import table, width

_MEANT = {
    "out": "somebody may have it",
    "replaced": "another release took its place",
    "gone": "its table was dropped",
    "withdrawn": "its owner says that nobody has it",
}


def ledger(report: Ledger) -> str:
    """Return the releases as a table, what their states mean, and what was changed behind our back."""
    private = [f"{name}: the risk of every record, as private as the originals" for name in report.private]
    if not report.releases:
        return "\n\n".join(["no release is recorded", *private])
    rows = [
        [str(one.release), one.state, one.source, one.target, one.method, "" if one.k is None else str(one.k),
         one.started[:16], "" if one.series is None else f"{one.series}, epoch {one.epoch:,}"]
        for one in report.releases
    ]  # fmt: skip
    states = dict.fromkeys(one.state for one in report.releases)
    header = ["release", "state", "source", "target", "method", "k", "started (UTC)", "series"]
    shown = len(header) - (not any(one.series for one in report.releases))
    blocks = [table([row[:shown] for row in rows], header[:shown])]
    blocks.append("\n".join(f"{state}: {_MEANT[state]}" for state in states))
    said = [*(text for one in report.releases for text in _said(one)), *private]
    return "\n\n".join([*blocks, *(textwrap.fill(text, width()) for text in said)])


def _said(entry: Entry) -> list[str]:
    found = []
    if entry.reason:
        found.append(f"release {entry.release} was withdrawn: {entry.reason}")
    if entry.alone_because:
        found.append(f"release {entry.release} does not keep its k together with others: {entry.alone_because}")
    if not entry.intact:
        found.append(f"release {entry.release}: this entry or the one before it was changed or removed")
    return found
