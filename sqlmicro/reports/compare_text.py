"""The comparison of methods as text: a table, the map in characters, and a command for every candidate."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from sqlmicro.reports.text import line, some, table, width

_HEIGHT = 12
_LABELS = 7


def compare(report: dict[str, Any]) -> str:
    """Return what was measured of every candidate."""
    rows = report["candidates"]
    measured = [row for row in rows if row["error"] is None]
    head = [
        line("table", report["table"]),
        line("columns", some(report["columns"])),
        line("risk", "share of records that distance-based linkage links correctly; every released column is known"),
        line("loss", "mean over the columns: IL of numeric ones, share of values changed of nominal ones"),
    ]
    parts = ["\n".join(head), _candidates(measured), picture([row for row in measured if row["on_map"]])]
    if "max_risk" in report:
        parts.append(_best(report))
    others = [f"{row['label']} ({some(row['columns'])})" for row in measured if not row["on_map"]]
    if others:
        parts.append(line("not on the map", f"measured over other columns: {', '.join(others)}"))
    failed = [f"{row['label']}: {row['error']}" for row in rows if row["error"] is not None]
    if failed:
        parts.append("\n".join(textwrap.fill(text, width(), subsequent_indent="  ") for text in failed))
    notes = list(dict.fromkeys(f"{row['label']}: {note}" for row in measured for note in row["notes"]))
    if notes:
        parts.append("\n".join(line("note", note) for note in notes))
    # Not wrapped: they are to be copied.
    parts.append("\n".join(f"{row['candidate']:>2}  {row['command']}" for row in measured))
    if report["map"]:
        parts.append(line("map", report["map"]))
    return "\n\n".join(parts)


def _candidates(measured: Sequence[Mapping[str, Any]]) -> str:
    wide = width() >= 76
    rows = [
        [
            f"{row['candidate']}{'*' if row['front'] else ' '}",
            row["label"],
            _percent(row["risk"]),
            *([f"{_percent(row['risk_ci'][0])} to {_percent(row['risk_ci'][1])}"] if wide else []),
            f"{row['loss']:.3g} %",
            str(row["k_released"]),
            *([f"{row['seconds']:.1f}", row["verdict"]["status"]] if wide else []),
        ]
        for row in measured
    ]
    header = ["", "candidate", "risk", *(["95 %"] if wide else []), "loss", "k"]
    header += ["seconds", "verdict"] if wide else []
    return table(rows, header, right=range(2, len(header) - 1)) + "\n* no other candidate has less risk and less loss"


def _best(report: Mapping[str, Any]) -> str:
    limit = _percent(report["max_risk"])
    if report["best"] is None:
        return line("best", f"none links at most {limit} of the records")
    return line("best", f"{report['best']}: the least loss of those that link at most {limit} of the records")


def _percent(share: float) -> str:
    """Return a share in percent.

    >>> _percent(0.0004), _percent(0.25), _percent(1)
    ('0.04 %', '25.0 %', '100.0 %')
    """
    return f"{100 * share:.2f} %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def picture(points: Sequence[Mapping[str, Any]]) -> str:
    """Return the map in characters: loss to the right, risk upward, every candidate as its number.

    >>> points = [{"candidate": 1, "risk": 0.5, "loss": 10.0}, {"candidate": 2, "risk": 0.0, "loss": 20.0}]
    >>> lines = picture(points).splitlines()
    >>> lines[1][:9], lines[1][-1], lines[12][:12], "2" in lines[12]
    (' 50.0 % |', '1', '  0.0 % +---', True)
    """
    room = min(64, width() - _LABELS - 4)
    highest = max([1e-9, *(point["risk"] for point in points)])
    furthest = max([1e-9, *(point["loss"] for point in points)])
    grid = [[" "] * (room + 2) for _ in range(_HEIGHT)]
    for point in points:
        text = str(point["candidate"])
        at = min(round(room * point["loss"] / furthest), room + 2 - len(text))
        row = grid[_HEIGHT - 1 - round((_HEIGHT - 1) * point["risk"] / highest)]
        # Where two fall on one place, the later one stands beside it.
        while at < room + 2 - len(text) and any(row[at + i] != " " for i in range(len(text))):
            at += 1
        row[at : at + len(text)] = text
    lines = [" risk"]
    for number, row in enumerate(grid):
        share = highest * (_HEIGHT - 1 - number) / (_HEIGHT - 1)
        label = f"{100 * share:.1f} %" if number in (0, _HEIGHT - 1) else ""
        body = "".join(row) if number < _HEIGHT - 1 else "".join(c if c != " " else "-" for c in row)
        lines.append(f"{label:>{_LABELS}} {'+' if number == _HEIGHT - 1 else '|'}{body}".rstrip())
    end = f"{furthest:.3g} % loss"
    lines.append(" " * (_LABELS + 2) + "0" + end.rjust(room))
    return "\n".join(lines)
