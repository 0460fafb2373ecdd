"""What `sqlmicro report` prints: the first screen of the report in a few lines."""

from __future__ import annotations

from sqlmicro.reports.content import tiles, verdict
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.text import line


def report(found: Facts) -> str:
    """Return what `sqlmicro report` prints: the Markdown where it was asked for, else the first screen."""
    if found.markdown is not None:
        return str(found.markdown).rstrip()
    words, sentence = verdict(found)
    lines = [
        line("release", f"{found.table}, {found.records:,} records"),
        line("verdict", words),
        line("", sentence),
    ]
    shown = zip(("smallest class", "IL", "linkage"), tiles(found), strict=True)
    lines += [line(label, value) for label, (_, value, _) in shown]
    if found.to:
        lines.append(line("written", found.to))
    else:
        lines.append(line("next", "--to report.html writes the whole report, --markdown prints it as text"))
    return "\n".join(lines)
