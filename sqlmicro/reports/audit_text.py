"""The report of `sqlmicro audit` as text: a line per audit, then the class sizes as bars of characters."""

from __future__ import annotations

from sqlmicro.audits.deniable import Inventions
from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.population_uniqueness import Uniqueness
from sqlmicro.audits.row import AuditReport, AuditRow, RecordRiskTable
from sqlmicro.audits.suda import Suda
from sqlmicro.reports.disclosure import class_steps
from sqlmicro.reports.text import figure, line, some, table, width
from sqlmicro.system.sentences import say

_BAR = "#"
NULLS = {
    "own_value": say("a value of its own"),
    "wildcard": say("matches every value"),
    "exclude": say("its record is left out"),
}


def audit(report: AuditReport) -> str:
    """Return what was measured, what failed, and the class sizes."""
    unit = "persons" if report.person else "records"
    lines = [line("table", report.table)]
    named = (("quasi", report.quasi), ("sensitive", report.sensitive))
    lines += [line(role, ", ".join(columns)) for role, columns in named if columns]
    if report.weight:
        lines.append(line("weight", report.weight))
    if report.person:
        lines.append(line("person", f"{', '.join(report.person)}: classes count distinct persons, not records"))
    if report.household:
        lines.append(line("household", ", ".join(report.household)))
    lines.append(line("NULL", NULLS[report.nulls]))
    recorded = f"release {report.release} in sqlmicro.audits" if report.recorded else ""
    if recorded:
        lines.append(line("recorded", recorded))
    if report.record_risks:
        lines.append(line("per record", _written(report.record_risks)))
    lines += [line("note", note) for note in report.notes]
    lines += [
        "",
        table([_cells(row, report.quasi) for row in report.audits], ["audit", "value", "gate", "", "of"], right=[1]),
    ]
    lines += [line(row.check, f"unknown: {row.reason}") for row in report.audits if row.status == "unknown"]
    lines += [line(row.check, _suda(row.detail)) for row in report.audits if isinstance(row.detail, Suda)]
    lines += [line("uniqueness", _unique(row.detail)) for row in report.audits if isinstance(row.detail, Uniqueness)]
    lines += [
        line(row.check, said) for row in report.audits if isinstance(row.detail, Inventions) for said in row.detail.told
    ]
    for row in report.audits:
        if isinstance(row.detail, ClassCounts) and row.status != "unknown":
            lines += ["", *_k(row.detail, row.threshold, unit)]
    if report.classes_shown:
        rows = [[("NULL" if value is None else str(value)) for value in row] for row in report.classes_shown]
        lines += ["", table(rows, [*report.quasi, unit])]
    return "\n".join(lines)


def _written(found: RecordRiskTable) -> str:
    known = f"a row for each of {found.records:,} records, by {', '.join(found.key)}"
    if not found.lasts:
        known += ": the place of the record in the table as it was read, which another order changes"
    return f"{found.table} has {known}. It is as private as the originals."


def _cells(row: AuditRow, quasi: list[str]) -> list[str]:
    """Return the cells of a row; of the columns, those that are no quasi-identifiers anyway."""
    value = "unknown" if row.value is None else figure(row.value)
    needed = ""
    if row.threshold is not None:
        needed = f"{'>=' if row.at_least else '<='} {figure(row.threshold)}"
    verdict = {"failed": "FAILED", "unknown": "FAILED" if row.asked else ""}.get(row.status, row.status)
    return [
        row.check,
        value,
        needed,
        "" if verdict == "measured" else verdict,
        some([name for name in row.columns if name not in quasi]),
    ]


def _k(found: ClassCounts, wanted: float | None, unit: str) -> list[str]:
    lines = [line(unit, f"{found.records:,} in {_classes(found.classes)}")]
    if wanted is not None:
        lines.append(line("below k", f"{found.violating_records:,} {unit} in {_classes(found.violating_classes)}"))
    if unit == "persons":
        lines.append(line("", "below, a person with records in several classes counts in each of them"))
    return [*lines, "", histogram(found.histogram, None if wanted is None else int(wanted), unit)]


def _suda(found: Suda) -> str:
    dis = found.dis_suda
    text = f"{found.records:,} have a score, from combinations of up to {found.size} columns. DIS-SUDA "
    if dis.highest is None or dis.sampling_fraction is None:
        return text + f"{dis.reason}."
    return text + f"is at most {figure(dis.highest)}, at a sampling fraction of {figure(dis.sampling_fraction)}."


def _unique(found: Uniqueness) -> str:
    if found.model == "counted":
        return "counted: the release has the whole population."
    models = (("Zayatz", found.zayatz), ("Pitman", found.pitman), ("SNB", found.snb))
    told = ", ".join(f"{name} {'does not converge' if value is None else figure(value)}" for name, value in models)
    return f"{told}. At a sampling fraction of {figure(found.sampling_fraction)} Dankar's rule takes {found.model}."


def _classes(number: int) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}"


def histogram(sizes: dict[int, int], k: int | None, unit: str = "records") -> str:
    """Return the class sizes as bars of characters: how many records, or persons, are in classes of each size.

    >>> print(histogram({1: 2, 5: 3}, 3))
    class size  classes  records
    1                 2        2  ####  below k
    5                 3       15  ##############################
    """
    steps = [
        (step.label, step.classes, step.records, k is not None and step.first < k) for step in class_steps(sizes, k)
    ]
    if not steps:
        return f"no {unit}"
    most = max(records for _, _, records, _ in steps)
    room = max(10, min(30, width() - 44))
    lines = (
        [f"{'class size':<15}{'classes':>10}{unit:>12}"]
        if max(len(s[0]) for s in steps) > 10
        else [f"class size  classes  {unit:>7}"]
    )
    wide = len(lines[0]) > 30
    for name, classes, records, below in steps:
        bar = _BAR * max(1, round(room * records / most)) + ("  below k" if below else "")
        lead = f"{name:<15}{classes:>10,}{records:>12,}" if wide else f"{name:<10}{classes:>9,}{records:>9,}"
        lines.append(f"{lead}  {bar}")
    return "\n".join(lines)
