"""The comparison of methods as text: a table, the map in characters, and a command for every candidate."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from sqlmicro.reports.compared import Best, ComparedRow, CompareReport, Refused, Tried
from sqlmicro.reports.text import line, some, table, width

Measured = tuple[ComparedRow, Tried]
_HEIGHT = 12
_LABELS = 7


def compare(report: CompareReport) -> str:
    """Return what was measured of every candidate."""
    measured = [(row, row.found) for row in report.candidates if isinstance(row.found, Tried)]
    head = [
        line("table", report.table),
        line("columns", some(report.columns)),
        line(
            "risk",
            "share of records, with --person of persons, that the strongest linkage links correctly; every released "
            "column is known",
        ),
        line(
            "inference",
            "how much more often the nearest released group, by all other columns, tells a value of somebody in the "
            "table than of the tenth who are held out of it: the gain, mean over the columns",
        ),
        line("loss", "mean over the columns: IL of numeric ones, share of values changed of nominal ones"),
    ]
    if report.weights:
        head.append(line("left out", f"{some(report.weights)}: a weight by the name. --columns takes what is named"))
    parts = ["\n".join(head), _uses(report, measured), _candidates(measured), picture(measured)]
    if report.choice:
        parts.append(_best(report.choice))
    others = [f"{row.label} ({some(found.columns)})" for row, found in measured if not found.on_map]
    if others:
        parts.append(line("not on the map", f"measured over other columns: {', '.join(others)}"))
    failed = [f"{row.label}: {row.found.error}" for row in report.candidates if isinstance(row.found, Refused)]
    if failed:
        parts.append("\n".join(textwrap.fill(text, width(), subsequent_indent="  ") for text in failed))
    notes = list(dict.fromkeys(f"{row.label}: {note}" for row, found in measured for note in found.notes))
    if notes:
        parts.append("\n".join(line("note", note) for note in notes))
    # Not wrapped: they are to be copied.
    parts.append("\n".join(f"{row.candidate:>2}  {row.command}" for row, _ in measured))
    if report.map:
        parts.append(line("map", report.map))
    return "\n\n".join(parts)


def _candidates(measured: Sequence[Measured]) -> str:
    wide = width() >= 76
    rows = [
        [
            f"{row.candidate}{'*' if found.front else ' '}",
            row.label,
            _percent(found.risk),
            *([f"{_percent(found.risk_ci[0])} to {_percent(found.risk_ci[1])}"] if wide else []),
            "-" if found.inference is None else f"{100 * found.inference.gain:.1f} %",
            f"{found.loss:.3g} %",
            str(found.k_released),
            *([f"{found.seconds:.1f}", found.verdict.status] if wide else []),
        ]
        for row, found in measured
    ]
    header = ["", "candidate", "risk", *(["95 %"] if wide else []), "inference", "loss", "k"]
    header += ["seconds", "verdict"] if wide else []
    return table(rows, header, right=range(2, len(header) - 1)) + "\n* no other candidate has less risk and less loss"


_RANKED = {
    "tables": "the mean deviation of tables of 1, 2 and 3 columns, each counting the same",
    "means": "the share of means of subgroups that are off, then the deviation of bands",
    "models": "the largest error of a correlation, then the deviation of bands",
}
_OF_A_TARGET = "the accuracy of a model of the target"


def _uses(report: CompareReport, measured: Sequence[Measured]) -> str:
    """Return what the candidates are good for, the best first, and what the columns mean."""
    target, wide, rows = report.target is not None, width() >= 76, []
    for row, found in sorted(measured, key=lambda pair: (pair[0].rank or 0, pair[0].candidate)):
        use, told = found.use, found.accuracy
        tables = "/".join(f"{one.mean:.2g}" for one in use.tables.values())
        largest = "/".join(f"{one.largest:,}" for one in use.tables.values())
        error = "-" if use.correlation is None else f"{use.correlation:.3f}"
        rows.append([
            f"{row.rank}", row.label, tables, *([largest, _share(use.bands)] if wide else []),
            _share(use.means_off, 100), *([error] if wide else []),
            *([_share(told.of_release if told else None, 100)] if target else []),
        ])  # fmt: skip
    header = ["", f"for {report.ranked_by}", "tables %", *(["largest", "bands %"] if wide else []), "means off %"]
    header += [*(["corr."] if wide else []), *(["accuracy %"] if target else [])]
    by = _OF_A_TARGET if target and report.ranked_by == "models" else _RANKED[report.ranked_by]
    said = [
        f"ranked by {by}. tables: total variation of those of 1/2/3 columns, numbers in ten bins, and the largest "
        "deviation of a count; bands: a number in ten bins by a nominal column; means off: of subgroups of 30, by more "
        "than a standard error; corr.: the largest error of a correlation"
    ]
    if target and measured:
        told = measured[0][1].accuracy
        before = _share(told.of_original if told else None, 100)
        said.append(
            f"accuracy: a third of the records, whose {report.target} a ridge regression tells that is fitted on what "
            f"is released of the others (R² of a number); fitted on their original: {before} %"
        )
    told_of = "\n".join(textwrap.fill(text, width()) for text in said)
    return table(rows, header, right=range(2, len(header))) + "\n" + told_of


def _share(value: float | None, times: float = 1) -> str:
    return "-" if value is None else f"{times * value:.3g}"


def _best(found: Best) -> str:
    limit = _percent(found.max_risk)
    if found.best is None:
        return line("best", f"none links at most {limit} of the records")
    return line("best", f"{found.best}: the least loss of those that link at most {limit} of the records")


def _percent(share: float) -> str:
    """Return a share in percent.

    >>> _percent(0.0004), _percent(0.25), _percent(1)
    ('0.04 %', '25.0 %', '100.0 %')
    """
    return f"{100 * share:.2f} %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def picture(measured: Sequence[Measured]) -> str:
    """Return the map in characters: loss to the right, risk upward, every candidate as its number."""
    return drawn([(row.candidate, found.risk, found.loss) for row, found in measured if found.on_map])


def drawn(points: Sequence[tuple[int, float, float]]) -> str:
    """Return points (number, risk, loss) as a map in characters.

    >>> lines = drawn([(1, 0.5, 10.0), (2, 0.0, 20.0)]).splitlines()
    >>> lines[1][:9], lines[1][-1], lines[12][:12], "2" in lines[12]
    (' 50.0 % |', '1', '  0.0 % +---', True)
    """
    room = min(64, width() - _LABELS - 4)
    highest = max([1e-9, *(risk for _, risk, _ in points)])
    furthest = max([1e-9, *(loss for *_, loss in points)])
    grid = [[" "] * (room + 2) for _ in range(_HEIGHT)]
    for number, risk, loss in points:
        text = str(number)
        at = min(round(room * loss / furthest), room + 2 - len(text))
        row = grid[_HEIGHT - 1 - round((_HEIGHT - 1) * risk / highest)]
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
