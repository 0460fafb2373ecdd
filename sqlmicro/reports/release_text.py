"""The report of a release as text: what matters most in 15 lines, or all that is known of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from sqlmicro.audits.row import Check
from sqlmicro.erasure.purge import Purging
from sqlmicro.missing.counted import Missing, number
from sqlmicro.publish.report import ReleasedRows, ReleaseReport, Route
from sqlmicro.registry import rounded_up
from sqlmicro.reports.safe_text import candidates, deviations, weighted
from sqlmicro.reports.text import figure, line, some, table, width


def brief(report: ReleaseReport) -> str:
    """Return what was published where, what it protects, how close it is, and what asks for a decision."""
    lines = [
        line("published", _where(report)),
        line("rows", _rows(report)),
        line("protects", f"{report.verdict.headline}. {report.verdict.sentence}"),
        *_close(report),
        *_missing(report.losses.missing),
        *_audits([check for check in report.audits if check.threshold is not None and not check.passed]),
        *(_purged(report.purging) if report.purging and not report.purging.purged else []),
    ]
    told = [note for note in report.notes if note.startswith(_TOLD) or (report.series and note == report.notes[-1])]
    for note in told:
        label, _, text = note.partition(": ")
        lines.append(
            line(label, text) if label in ("warning", "dropped") else line("note", note.partition(" (see ")[0])
        )
    left = len(report.notes) - len(told)
    more = ", ".join(filter(None, [number(len(report.audits), "check"), number(left, "note") if left else ""]))
    return "\n".join([*lines, line("more", f"{more}, groups and seconds: --details")])


def summary(reports: Sequence[ReleaseReport]) -> str:
    """Return several releases in a table, and below it what asks for a decision, and what failed."""
    rows = [[_target(one), _rows(one), one.verdict.headline, _loss_in_short(one)] for one in reports]
    lines = [table(rows, ["published", "rows", "protects", "loss"])]
    for one in reports:
        warnings = (note.partition(": ")[2] for note in one.notes if note.startswith("warning: "))
        lines += [line("warning", f"{one.source}: {text}") for text in warnings]
    lines += [part for one in reports if one.passed is False for part in ("", brief(one))]
    return "\n".join([*lines, line("more", "each release in full: --details")])


def _target(report: Route) -> str:
    return report.target or report.draft or "not yet"


def _loss_in_short(report: ReleasedRows) -> str:
    if report.losses.il is not None:
        return f"IL {_percent(report.losses.il)} %"
    return f"SAFE distance {report.safe_distance:.3g}" if report.safe_distance is not None else ""


_TOLD = ("warning: ", "dropped", "released as they are", "--nulls", "not erased", "k counts")
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
