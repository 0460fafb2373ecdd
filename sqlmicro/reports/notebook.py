"""Reports for a notebook: HTML with the class sizes as a chart; names are escaped, figures are aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from sqlmicro.reports import charts
from sqlmicro.reports.disclosure import class_steps

_numbers = count(1)


def release(report: Mapping[str, Any]) -> str:
    """Return a release: its main figures, its class sizes, its notes."""
    wanted = max((promise["k"] for promise in report["verdict"]["promised"]), default=0)
    rows = [
        ("source", report["source"]),
        ("published", report["target"] or "not yet"),
        ("method", report["method"]),
        ("rows", f"{report['rows']:,} of {report['rows_in']:,}"),
        ("verdict", report["verdict"]["headline"]),
        ("", report["verdict"]["sentence"]),
    ]
    if report["IL"] is not None:
        rows.append(("information loss", f"{report['IL']:.4g} %"))
    colour = report["verdict"]["colour"]
    return _piece("Release", rows, _chart(report["histogram"], wanted), "", report["notes"], colour)


def result(verb: str, text: str, report: Mapping[str, Any]) -> str:
    """Return what a verb found: its text, and the class sizes where it counted them."""
    found = [row for row in report.get("audits", []) if row.get("histogram")]
    chart = _chart(found[0]["histogram"], found[0]["threshold"] or 0) if found else ""
    colour = (report.get("verdict") or {}).get("colour", "")
    return _piece(verb.replace("-", " ").capitalize(), [], chart, text, [], colour)


def _chart(sizes: Mapping[int, int], k: float) -> str:
    wanted = int(k)
    steps = [
        {"label": step.label, "before": None, "after": step.records, "below": step.first < wanted}
        for step in class_steps(sizes, wanted or None)
    ]
    if not steps:
        return ""
    key = f"sqlmicro-{next(_numbers)}"  # several charts share the page of a notebook
    return charts.bars(key, "Records by class size", steps, unit="records", percent=False)


def _piece(
    title: str, rows: Sequence[tuple[str, str]], chart: str, text: str, notes: Sequence[str], colour: str = ""
) -> str:
    page = charts.environment()

    # The page is not ours: rules hold inside this piece only.
    colours = page.get_template("colours.css.jinja").render().replace(":root", ".sqlmicro")
    styles = colours + page.get_template("chart.css.jinja").render().replace(".chart", ".sqlmicro .chart")
    return str(
        page.get_template("notebook.html.jinja").render(
            title=title, rows=rows, chart=chart, text=text, notes=notes, styles=styles, colour=colour
        )
    )
