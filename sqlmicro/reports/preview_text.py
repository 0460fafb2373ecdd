"""The preview of a release as text: a table where it fits the terminal, else a paragraph for every record."""

from __future__ import annotations

import textwrap
from typing import Any

from sqlmicro.publish.report import Preview
from sqlmicro.reports.text import line, some, table, width

_MARKS = {"changed": "*", "unchanged": "", "suppressed": ""}
_LEGEND = (
    "* changed, - suppressed. size is the number of records in the smallest class of the record. What a value was "
    "before is raw data and is not shown. The marks tell which values are true: they are not for the reader of the "
    "release."
)


def preview(report: Preview) -> str:
    """Return the records of a preview, marked, and what is not shown.

    >>> from sqlmicro.publish.report import PreviewRow
    >>> print(preview(Preview(["age"], {}, [PreviewRow(4, [31], ["changed"])], 3)).partition("\\n\\n")[0])
    size  age
       4  31*
    """
    header = ["size", *report.columns]
    rows = [
        [str(row.size), *(_cell(value, mark) for value, mark in zip(row.values, row.marks, strict=True))]
        for row in report.rows
    ]
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    if not rows:
        shown = "no record is shown: none shares what is promised of it with at least k others"
        shown = shown if report.columns else "no record is shown: no step promises a k for what it released"
    elif sum(widths) + 2 * len(widths) <= width():
        shown = table(rows, header, right=[0])
    else:
        shown = "\n".join(_paragraph(header, row) for row in rows)
    parts = [shown, textwrap.fill(_LEGEND, width())]
    for reason in dict.fromkeys(report.hidden.values()):
        names = [name for name, why in report.hidden.items() if why == reason]
        parts.append(line("not shown", f"{some(names)}: {reason}"))
    return "\n\n".join(parts[:2]) + "".join(f"\n{part}" for part in parts[2:])


def _paragraph(header: list[str], row: list[str]) -> str:
    text = "; ".join(f"{name} {cell}" for name, cell in zip(header, row, strict=True))
    return textwrap.fill(text, width(), subsequent_indent="    ")


def _cell(value: Any, mark: str) -> str:
    if value is None:
        return "-" if mark == "suppressed" else "NULL" + _MARKS[mark]
    return (f"{value:.6g}" if isinstance(value, float) else str(value)) + _MARKS[mark]
