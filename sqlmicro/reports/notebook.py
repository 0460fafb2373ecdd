"""Reports for a notebook: HTML with the class sizes as a chart; names are escaped, figures are aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from sqlmicro.attacks.report import AttackReport
from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.row import AuditReport, AuditRow
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.reports import charts
from sqlmicro.reports.disclosure import class_steps
from sqlmicro.reports.drawn import Bar
from sqlmicro.reports.facts import Facts

_numbers = count(1)


def release(report: ReleaseReport) -> str:
    """Return a release: its main figures, its class sizes, its notes."""
    wanted = max((promise.k for promise in report.verdict.promised), default=0)
    rows = [
        ("source", report.source),
        ("published", report.target or "not yet"),
        ("method", report.method),
        ("rows", f"{report.rows:,} of {report.rows_in:,}"),
        ("verdict", report.verdict.headline),
        ("", report.verdict.sentence),
    ]
    if report.losses.il is not None:
        rows.append(("information loss", f"{report.losses.il:.4g} %"))
    return _piece("Release", rows, _chart(report.histogram, wanted), "", report.notes, report.verdict.colour)


def result(verb: str, text: str, report: object) -> str:
    """Return what a verb found: its text, and the class sizes where it counted them."""
    chart = _of_classes(report.audits) if isinstance(report, AuditReport) else ""
    colour = report.verdict.colour if isinstance(report, AttackReport | Facts) else ""
    return _piece(verb.replace("-", " ").capitalize(), [], chart, text, [], colour)


def _of_classes(rows: Sequence[AuditRow]) -> str:
    counted = [(row.detail, row.threshold) for row in rows if isinstance(row.detail, ClassCounts)]
    return next((_chart(found.histogram, wanted or 0) for found, wanted in counted if found.histogram), "")


def _chart(sizes: Mapping[int, int], k: float) -> str:
    wanted = int(k)
    steps = class_steps(sizes, wanted or None)
    if not steps:
        return ""
    bars = [Bar(step.label, None, step.records) for step in steps]
    below = sum(step.first < wanted for step in steps)
    key = f"sqlmicro-{next(_numbers)}"  # several charts share the page of a notebook
    return charts.bars(key, "Records by class size", bars, warned=below, unit="records", percent=False)


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
