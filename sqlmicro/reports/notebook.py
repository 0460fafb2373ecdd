"""Reports for a notebook: HTML with the class sizes as a chart; names are escaped, figures are aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import count

from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.registry import AuditReport, AuditRow
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.reports import charts
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.reports.charts import Bar
from sqlmicro.reports.compared import LOSS, RISK, CompareReport
from sqlmicro.reports.disclosure import class_steps
from sqlmicro.reports.distributions import ColumnFacts
from sqlmicro.reports.facts import Facts
from sqlmicro.reports.language import ENGLISH, Language, language, of_environment
from sqlmicro.system.printable import shown
from sqlmicro.system.sentences import say

_numbers = count(1)


def release(report: ReleaseReport) -> str:
    """Return a release: its main figures, its class sizes, its notes, which are English in every language."""
    wanted = max((promise.k for promise in report.verdict.promised), default=0)
    rows: list[tuple[str, str]] = [
        (say("source"), report.source),
        (say("published"), report.target or say("not yet")),
        (say("method"), report.method),
        (say("rows"), say("{n:,} of {all:,}", n=report.rows, all=report.rows_in or report.rows)),
        (say("verdict"), report.verdict.headline),
        ("", report.verdict.sentence),
    ]
    if report.losses.il is not None:
        rows.append((say("information loss"), say("{x:.4g} %", x=report.losses.il)))
    spoken = of_environment()
    chart = _chart(report.histogram, wanted, spoken)
    return _piece(say("Release"), rows, chart, "", report.notes, report.verdict.colour, spoken)


def result(verb: str, text: str, report: object) -> str:
    """Return what a verb found: its text, and the class sizes where it counted them."""
    spoken = language(report.lang) if isinstance(report, Facts) else ENGLISH
    chart = _of_classes(report.audits, spoken) if isinstance(report, AuditReport) else ""
    if isinstance(report, CompareReport):
        chart = charts.ru_map(report.points, key=f"sqlmicro-{next(_numbers)}", risk=RISK, loss=LOSS)
    colour = report.verdict.colour if isinstance(report, AttackReport | Facts) else ""
    title = say("Report") if isinstance(report, Facts) else verb.replace("-", " ").capitalize()
    return _piece(title, [], chart, text, [], colour, spoken)


def pictures(facts: Sequence[ColumnFacts]) -> dict[str, str]:
    """Return an SVG of each column that has values enough in common: how its values were shared out, and are now."""
    spoken = of_environment()
    return {
        one.name: str(charts.bars(f"sqlmicro-{next(_numbers)}", shown(one.name), one.bars, spoken, standalone=True))
        for one in facts
        if one.bars
    }


def page_of(pictures: Mapping[str, str]) -> str:
    """Return pictures as a notebook shows them, each under its name."""
    shown_as = (
        f"<figure><figcaption>{escape(shown(name))}</figcaption>{svg}</figure>" for name, svg in pictures.items()
    )
    return "<div>" + "".join(shown_as) + "</div>"


def _of_classes(rows: Sequence[AuditRow], spoken: Language) -> str:
    counted = [(row.detail, row.threshold) for row in rows if isinstance(row.detail, ClassCounts)]
    return next((_chart(found.histogram, wanted or 0, spoken) for found, wanted in counted if found.histogram), "")


def _chart(sizes: Mapping[int, int], k: float, spoken: Language) -> str:
    wanted = int(k)
    steps = class_steps(sizes, wanted or None)
    if not steps:
        return ""
    bars = [Bar(step.label, None, step.records) for step in steps]
    below = sum(step.first < wanted for step in steps)
    key = f"sqlmicro-{next(_numbers)}"  # several charts share the page of a notebook
    title = say("Records by class size")
    return charts.bars(key, title, bars, spoken, warned=below, unit=say("records"), percent=False)


def _piece(
    title: str,
    rows: Sequence[tuple[str, str]],
    chart: str,
    text: str,
    notes: Sequence[str],
    colour: str,
    spoken: Language,
) -> str:
    page = charts.environment(spoken)

    # The page is not ours: rules hold inside this piece only.
    colours = page.get_template("colours.css.jinja").render().replace(":root", ".sqlmicro")
    styles = colours + page.get_template("chart.css.jinja").render().replace(".chart", ".sqlmicro .chart")
    html = page.get_template("notebook.html.jinja").render(
        title=title, rows=rows, chart=chart, text=text, notes=notes, styles=styles, colour=colour
    )
    return shown(html, keep="\n")
