"""The report of a release as text: what matters most in 15 lines, or all that is known of it.

The SAFE distance and the candidates of SAFE as text.

The preview of a release as text: a table where it fits the terminal, else a paragraph for every record.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlmicro.audits.registry import Check
from sqlmicro.erasure.purge import Purging
from sqlmicro.missing.counted import Missing, number
from sqlmicro.publish.report import Preview, ReleasedRows, ReleaseReport, Route
from sqlmicro.registry import rounded_up
from sqlmicro.reports.text import figure, line, some, table, width
from sqlmicro.safe_method.compare import Compared
from sqlmicro.safe_method.distance import Deviations, SafeDistance
from sqlmicro.safe_method.means import ShiftedMeans

if TYPE_CHECKING:
    from sqlmicro.reports.done import ReleasingJobs


def brief(report: ReleaseReport) -> str:
    """Return what was published where, what it protects, how close it is, and what asks for a decision."""
    missing = _missing(report.losses.missing)
    lines = [
        line("published", _where(report)),
        line("rows", _rows(report)),
        line("protects", f"{report.verdict.headline}. {report.verdict.sentence}"),
        *_close(report),
        *missing,
        *_audits([check for check in report.audits if check.threshold is not None and not check.passed]),
        *(_purged(report.purging) if report.purging and not report.purging.purged else []),
    ]
    told_of = _TOLD if missing else (*_TOLD, "--nulls")  # what was filled in and taken out is told once
    told = [note for note in report.notes if note.startswith(told_of) or (report.series and note == report.notes[-1])]
    for note in told:
        label, _, text = note.partition(": ")
        lines.append(
            line(label, text) if label in ("warning", "dropped") else line("note", note.partition(" (see ")[0])
        )
    left = len(report.notes) - len(told)
    more = ", ".join(filter(None, [number(len(report.audits), "check"), number(left, "note") if left else ""]))
    return "\n".join([*lines, line("more", f"{more}, groups and seconds: --details")])


def summary(job: ReleasingJobs) -> str:
    """Return several releases in a table, and below it what asks for a decision, and what failed."""
    rows = [[one.target or "not yet", _rows(one), one.verdict.headline, _loss_in_short(one)] for one in job.tables]
    rehearsed = any(one.dry_run for one in job.tables)
    lines = [table(rows, ["would be published" if rehearsed else "published", "rows", "protects", "loss"])]
    for one in job.tables:
        for note in (note for note in one.notes if note.startswith(_DECIDE)):
            label = "warning" if note.startswith("warning") else "note"
            lines.append(line(label, f"{one.source}: {note.removeprefix('warning: ')}"))
        lines += _purged(one.purging) if one.purging and not one.purging.purged else []
        lines += ["", brief(one)] if one.passed is False else []
    return "\n".join([*lines, line("more", "each release in full: --details")])


def _loss_in_short(report: ReleasedRows) -> str:
    if report.losses.il is not None:
        return f"IL {_percent(report.losses.il)} %"
    return f"SAFE distance {report.safe_distance:.3g}" if report.safe_distance is not None else ""


_DECIDE = ("warning: ", "not erased", "k counts")
_TOLD = (*_DECIDE, "dropped", "released as they are")
"""How notes begin that ask for a decision, or say what became of columns."""


def _where(report: Route) -> str:
    where = f"{report.target} ({report.target_kind})"
    if report.target is None:
        return "not yet"
    if report.draft:
        return f"not yet: a draft, {report.draft}, erased after a day; it counts nowhere"
    if report.dry_run:
        return f"nothing was written (would be {where})"
    return where + (f", release {report.release} in sqlmicro.releases" if report.release else "")


def _rows(report: ReleasedRows) -> str:
    of = "" if report.rows_in is None else f" of {report.rows_in:,}"
    return f"{report.rows:,}{of}" + (f", {report.suppressed:,} suppressed" if report.suppressed else "")


def _close(report: ReleasedRows) -> list[str]:
    """Return how close a release is to its source: its tables and numbers, or its loss, and the worst column."""
    if report.safe_parts is not None:
        summary = report.safe_parts.summary
        return [line("tables", summary.tables), line("numbers", summary.numbers), line("not told", summary.not_told)]
    lost, told = report.losses, []
    if lost.il is not None:
        told.append(f"IL {_percent(lost.il)} %: that share of the variance of the numeric columns is lost")
    if shares := {name: of for name, of in (lost.changed_by_column or {}).items() if of is not None}:
        worst = max(shares, key=lambda name: shares[name])
        told.append(f"values changed: at most {100 * shares[worst]:.1f} %, of {worst}")
    return [line("loss", "; ".join(told))] if told else []


def release(report: ReleaseReport) -> str:
    """Return all that is known of a release."""
    lines = [
        line("source", report.source),
        line("published", _where(report)),
        line("method", report.method),
        line("rows", _rows(report)),
        *_groups(report),
        *_losses(report),
        *_missing(report.losses.missing),
        *_types(report),
        line("verdict", report.verdict.headline),
        line("", report.verdict.sentence),
        *_audits(report.audits),
        *_purged(report.purging),
        line("seconds", ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in report.seconds.items())),
    ]
    if len(report.candidates) > 1:
        lines += ["", candidates(report)]
    if report.safe_parts:
        for level in report.steps[-1].levels or []:
            title = f"tables of {level.units:,} {level.unit}s: SAFE distance {level.safe_distance.distance:.6f}"
            lines += ["", title, deviations(level.safe_distance.orders)]
    if report.notes:
        lines.append("")
        lines += [
            textwrap.fill(note, width(), initial_indent="note: ", subsequent_indent="      ") for note in report.notes
        ]
    return "\n".join(lines)


def _purged(purging: Purging | None) -> list[str]:
    if purging is None:  # nothing was replaced
        return []
    return [line("purged", "yes" if purging.purged else f"no: {purging.not_purged_because}")]


def _groups(report: ReleasedRows) -> list[str]:
    return [
        line(
            "groups" if len(report.steps) == 1 else f"groups, step {number}",
            f"{step.groups:,} of {step.smallest_group:,} to {step.largest_group:,} records ({step.method})",
        )
        for number, step in enumerate(report.steps, 1)
        if step.groups
    ]


def _percent(value: float) -> str:
    return f"{value:.4f}" if value >= 0.01 or value == 0 else f"{value:.2g}"


def _losses(report: ReleasedRows) -> list[str]:
    lines, lost = [], report.losses
    if lost.il is not None:
        lines.append(line("IL", f"{_percent(lost.il)} % (100 SSE/SST over the standardised numeric columns)"))
    for step in report.steps:
        if step.above_optimum is not None:
            of = f" ({step.method})" if len(report.steps) > 1 else ""
            above = f"at most {rounded_up(step.above_optimum)} % above the optimum" if step.above_optimum else "optimal"
            lines.append(line("groups", f"their loss is {above}{of}"))
    if lost.changed_by_column:
        shares = {name: "unknown" if of is None else f"{100 * of:.1f} %" for name, of in lost.changed_by_column.items()}
        changed = ", ".join(f"{name} {share}" for name, share in shares.items())
        lines.append(line("values changed", changed))
    if report.safe_parts is not None:
        parts = report.safe_parts.distance
        lines.append(line("SAFE distance", f"{parts.distance:.6f} = {weighted(parts)}"))
        summary = report.safe_parts.summary
        lines += [line("tables", summary.tables), line("numbers", summary.numbers), line("not told", summary.not_told)]
    return lines


_VERDICTS = {True: "passed", False: "FAILED", None: "passed over"}
_MISSING_AT_MOST = 6
_TYPELESS = r"\.(csv|json|ndjson)(\.(gz|zst))?$"


def _missing(found: Sequence[Missing]) -> list[str]:
    """Return the share of missing values before and after, of the columns that changed most."""

    def changed(one: Missing) -> int:
        return one.filled_in + one.taken_out

    parts = []
    for one in sorted(found, key=changed, reverse=True)[:_MISSING_AT_MOST]:
        before, after = 100 * one.before / max(one.records_before, 1), 100 * one.after / max(one.records_after, 1)
        moved = [f"{n:,} {what}" for n, what in ((one.filled_in, "filled in"), (one.taken_out, "taken out")) if n]
        of = f" ({', '.join(moved)})" if moved else ""
        parts.append(f"{one.column} {before:.1f} % → {after:.1f} %{of}")
    more = len(found) - len(parts)
    return [line("missing", ", ".join([*parts, *([f"and {more} more columns"] if more > 0 else [])]))] if parts else []


def _types(report: ReleaseReport) -> list[str]:
    """Return the columns that have another type in the release than in its source."""
    changed = [f"{one.column} {one.before} → {one.after}" for one in report.types_changed]
    if report.target_kind == "file" and re.search(_TYPELESS, (report.target or "").lower()):
        changed = ["none: CSV and JSON files keep no types"]
    return [line("types changed", ", ".join(changed))] if changed else []


def _audits(audits: Sequence[Check]) -> list[str]:
    """Return a line per check; checks of single columns with one threshold and one verdict share a line."""
    lines: list[str] = []
    kinds: dict[tuple[str, float | None, bool | None, int], list[Check]] = {}
    for place, check in enumerate(audits):
        alone = place if len(check.columns) != 1 else -1
        kinds.setdefault((check.check, check.threshold, check.passed, alone), []).append(check)
    for (name, threshold, passed, _), checks in kinds.items():
        columns = list(dict.fromkeys(column for check in checks for column in check.columns))
        of = f" ({some(columns)})" if columns else ""
        verdict = "measured" if threshold is None else _VERDICTS[passed]
        values = [check.value for check in checks if check.value is not None]
        if not values:  # no column counts
            continue
        worst = (min if checks[0].at_least else max)(values)
        needed = "" if threshold is None else f", needed {figure(threshold)}"
        lines.append(line("audit", f"{name}{of}: {figure(worst)}{needed}, {verdict}"))
    return lines


_CANDIDATES_IN_FULL, _CANDIDATES_WITH_SECONDS = 100, 72
_SHIFT = (
    "IL is what the numeric columns lose. Shift is the largest change of the mean of a subgroup of 30 or more records, "
    "in its standard errors; gone, if one is not there."
)


def weighted(parts: SafeDistance) -> str:
    """Return the parts of a SAFE distance as they add up to it.

    >>> from sqlmicro.safe_method.distance import Weights
    >>> weighted(SafeDistance(1.25, 0.25, 0.5, Weights(1.0, 2.0), {}))
    'counts 0.250000 + 2 × sums 0.500000'
    """
    return " + ".join(
        ("" if weight == 1 else f"{weight:g} × ") + f"{name} {part:.6f}"
        for name, weight, part in (
            ("counts", parts.weights.counts, parts.counts),
            ("sums", parts.weights.sums, parts.sums),
        )
    )


def candidates(report: ReleasedRows) -> str:
    """Return the candidates of SAFE and their distances, the released one marked."""
    narrow, timed = width() < _CANDIDATES_IN_FULL, width() >= _CANDIDATES_WITH_SECONDS
    several = len({c.unification for c in report.candidates if c.algorithm != "search"}) > 1
    rows = [
        [
            f"{'*' if c.candidate == report.chosen else ''}{c.candidate}",
            f"{c.distance:.6f}",
            f"{c.loss:.3g}",
            _shift(c.means),
            *([f"{c.seconds:.2f}"] if timed else []),
            *([] if narrow else [f"{c.groups:,}", "" if c.memory is None else f"{c.memory / 1e6:.1f}"]),
            c.which,
            c.algorithm + ("" if narrow and not several else f"; {c.unification}"),
        ]
        for c in report.candidates
    ]
    if narrow:
        header = ["", "distance", "IL %", "shift", *(["seconds"] if timed else []), "columns", "candidate"]
        meaning = f"* released. A candidate is better only if its distance is smaller. {_SHIFT}"
        return f"{table(rows, header, right=range(5 if timed else 4))}\n{textwrap.fill(meaning, width())}"
    header = [
        "",
        "distance",
        "IL %",
        "shift",
        "seconds",
        "groups",
        "+MB",
        "columns",
        "candidate; unification (* released)",
    ]
    meaning = (
        f"A candidate is better only if its distance is smaller. {_SHIFT} +MB is by how much it raised the peak of the "
        "memory; one that needs no more than an earlier one shows 0."
    )
    return f"{table(rows, header, right=[0, 1, 2, 3, 4, 5, 6])}\n{textwrap.fill(meaning, width())}"


def _shift(means: ShiftedMeans | None) -> str:
    """Return the largest shift of the mean of a subgroup, in standard errors."""
    if means is None or not means.subgroups:
        return ""
    return "gone" if means.gone or means.largest is None else f"{means.largest:.2f}"


def deviations(orders: Mapping[str, Deviations]) -> str:
    """Return the deviations of the tables by order."""
    rows = [
        [
            order,
            str(p.tables),
            f"{p.count_deviation:,.10g}",
            f"{p.count_max:,.10g}",
            f"{100 * p.share_changed:.1f}",
        ]
        for order, p in orders.items()
    ]
    return table(rows, ["order", "tables", "sum |dA|", "max |dA|", "% cells changed"], right=[1, 2, 3, 4])


def safe_distance(report: Compared) -> str:
    """Return the SAFE distance of two tables and its parts."""
    lines = [
        line("original", report.first),
        line("changed", report.second),
        line("nominal", ", ".join(report.nominal) or "none"),
        line("numeric", ", ".join(report.numeric) or "none"),
        line("SAFE distance", f"{report.parts.distance:.6f} = {weighted(report.parts)}"),
        "",
        deviations(report.parts.orders),
    ]
    if report.numeric:
        before, after = report.moments.before, report.moments.after
        rows = [
            [f"{what} {name}", f"{old:.6g}", f"{new:.6g}"]
            for what, olds, news in (
                ("mean", before.mean, after.mean),
                ("variance", before.variance, after.variance),
                ("covariance", before.covariance, after.covariance),
            )
            for name, old in olds.items()
            if old is not None and (new := news[name]) is not None
        ]
        lines += ["", table(rows, ["", "original", "changed"], right=[1, 2])]
    return "\n".join(lines)


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
