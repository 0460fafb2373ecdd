"""Reports as text: plain lines that fit the terminal, are readable in a pipe and need no colour."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Mapping, Sequence

from sqlmicro.audits.row import Check
from sqlmicro.erasure.purge import Purging
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.missing.counted import Missing
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.reports.disclosure import class_steps
from sqlmicro.reports.results import Compiled, Macros, MethodReport, Methods, ParameterReport, Registered
from sqlmicro.safe_method.compare import Compared
from sqlmicro.safe_method.distance import Deviations, SafeDistance

_LABEL = 16
_BAR = "#"


def width() -> int:
    """Return the number of columns to write in: the terminal's, at most 100."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def line(label: str, value: str) -> str:
    """Return `label  value`, the value wrapped under itself."""
    return textwrap.fill(
        value,
        width(),
        initial_indent=label.ljust(_LABEL),
        subsequent_indent=" " * _LABEL,
        break_long_words=True,
        break_on_hyphens=False,
    )


def table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[int] = ()) -> str:
    """Return rows under a header; the last column is wrapped to what is left of the width.

    >>> print(table([["a", "1"]], ["name", "n"], right=[1]))
    name  n
    a     1
    """
    cells = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    lines = []
    for row in cells:
        parts = [
            cell.rjust(size) if j in right else cell.ljust(size)
            for j, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lead = "  ".join(parts[:-1])
        room = width() - len(lead) - 2
        if len(row[-1]) > room and room >= 20:
            wrapped = textwrap.wrap(row[-1], room, break_on_hyphens=False)
            lines += [f"{lead}  {wrapped[0]}", *(" " * (len(lead) + 2) + part for part in wrapped[1:])]
        else:
            lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def histogram(sizes: dict[int, int], k: int | None, unit: str = "records") -> str:
    """Return the class sizes as bars of characters: how many records, or entities, are in classes of each size.

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


def figure(value: float) -> str:
    """Return a number to be read: whole ones in full, others with six digits.

    >>> figure(12345), figure(0.123456789)
    ('12,345', '0.123457')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def registered(report: Registered) -> str:
    """Return what `register` did."""
    return f"{report.kind} {report.table}: {report.rows:,} rows, {len(report.columns)} columns"


def profile(report: ProfileReport) -> str:
    """Return a table of the columns, the proposals and their reasons."""
    head = f"{report.table}: {report.rows:,} rows. Proposals; only `safe` without --columns acts on them."
    blocks = [textwrap.fill(head, width()), ""]
    if width() >= 90:
        rows = [
            [
                c.name,
                c.type,
                f"{c.nulls:,}",
                f"{c.distinct:,}",
                c.scale,
                c.role,
                f"{c.role_reason}; {c.scale_reason}",
            ]
            for c in report.columns
        ]
        blocks.append(table(rows, ["column", "type", "NULLs", "distinct", "scale", "role", "because"], right=[2, 3]))
        return "\n".join(blocks)
    for c in report.columns:
        blocks.append(f"{c.name}  {c.type}")
        blocks.append(f"  {c.nulls:,} NULLs, {c.distinct:,} distinct")
        blocks.append(
            textwrap.fill(f"{c.scale}: {c.scale_reason}", width(), initial_indent="  ", subsequent_indent="    ")
        )
        blocks.append(
            textwrap.fill(f"{c.role}: {c.role_reason}", width(), initial_indent="  ", subsequent_indent="    ")
        )
    return "\n".join(blocks)


def release(report: ReleaseReport) -> str:
    """Return what a release is worth, in one screen."""
    where = f"{report.target} ({report.target_kind})"
    if report.target is None:
        where = "not yet"
    elif report.dry_run:
        where = f"nothing was written (would be {where})"
    elif report.release:
        where += f", release {report.release} in sqlmicro.releases"
    rows = f"{report.rows:,} of {report.rows_in:,}"
    if report.suppressed:
        rows += f", {report.suppressed:,} suppressed"
    lines = [
        line("source", report.source),
        line("published", where),
        line("method", report.method),
        line("rows", rows),
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
    if report.candidates:
        lines += ["", candidates(report)]
    if report.safe_parts:
        lines += ["", deviations(report.safe_parts.distance.orders)]
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


def some(names: Sequence[str]) -> str:
    """Return up to six names, or their number and the first ones.

    >>> some(["a", "b"]), some(list("abcdefgh"))
    ('a, b', '8 columns (a, b, c, d, …)')
    """
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} columns ({', '.join(names[:4])}, …)"


def _groups(report: ReleaseReport) -> list[str]:
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


def _losses(report: ReleaseReport) -> list[str]:
    lines, lost = [], report.losses
    if lost.il is not None:
        lines.append(line("IL", f"{_percent(lost.il)} % (100 SSE/SST over the standardised numeric columns)"))
    if lost.changed_by_column:
        changed = ", ".join(f"{name} {100 * share:.1f} %" for name, share in lost.changed_by_column.items())
        lines.append(line("values changed", changed))
    if report.safe_parts is not None:
        parts = report.safe_parts.distance
        lines.append(line("SAFE distance", f"{parts.distance:.6f} = {weighted(parts)}"))
    return lines


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


def weighted(parts: SafeDistance) -> str:
    """Return the parts of a SAFE distance as they add up to it.

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


def _audits(audits: Sequence[Check]) -> list[str]:
    """Return a line per check; checks of single columns with one threshold and one verdict share a line."""
    lines: list[str] = []
    kinds: dict[tuple[str, float | None, bool | None, int], list[Check]] = {}
    for number, check in enumerate(audits):
        alone = number if len(check.columns) != 1 else -1
        kinds.setdefault((check.check, check.threshold, check.passed, alone), []).append(check)
    for (name, threshold, passed, _), checks in kinds.items():
        columns = [column for check in checks for column in check.columns]
        of = f" ({some(columns)})" if columns else ""
        verdict = "measured" if threshold is None else "passed" if passed else "FAILED"
        values = [check.value for check in checks if check.value is not None]
        if not values:  # no column counts
            continue
        worst = (min if checks[0].at_least else max)(values)
        needed = "" if threshold is None else f", needed {figure(threshold)}"
        lines.append(line("audit", f"{name}{of}: {figure(worst)}{needed}, {verdict}"))
    return lines


_CANDIDATES_IN_FULL = 100


def candidates(report: ReleaseReport) -> str:
    """Return the candidates of SAFE and their distances, the released one marked."""
    narrow = width() < _CANDIDATES_IN_FULL
    several = len({c.unification for c in report.candidates if c.algorithm != "search"}) > 1
    rows = [
        [
            f"{'*' if c.candidate == report.chosen else ''}{c.candidate}",
            f"{c.distance:.6f}",
            f"{c.seconds:.2f}",
            *([] if narrow else [f"{c.groups:,}", "" if c.memory is None else f"{c.memory / 1e6:.1f}"]),
            c.which,
            c.algorithm + ("" if narrow and not several else f"; {c.unification}"),
        ]
        for c in report.candidates
    ]
    if narrow:
        header = ["", "distance", "seconds", "columns", "candidate"]
        meaning = "* released. A candidate is better only if its distance is smaller."
        return f"{table(rows, header, right=[0, 1, 2])}\n{textwrap.fill(meaning, width())}"
    header = ["", "distance", "seconds", "groups", "+MB", "columns", "candidate; unification (* released)"]
    meaning = (
        "A candidate is better only if its distance is smaller. +MB is by how much it raised the peak of the memory; "
        "one that needs no more than an earlier one shows 0."
    )
    return f"{table(rows, header, right=[0, 1, 2, 3, 4])}\n{textwrap.fill(meaning, width())}"


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


def warmed_up(report: Compiled) -> str:
    """Return what was compiled, and where it is kept."""
    lines = [f"{report.functions} functions are compiled, in {report.seconds:.0f} s. They are kept in:"]
    lines += [f"  {folder}" for folder in report.folders]
    lines += [f"not compiled: what needs {name}, which is not installed" for name in report.left_out]
    return "\n".join(lines)


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


def macros(report: Macros) -> str:
    """Return the statements, or what was installed."""
    if report.script is not None:
        return str(report.script).rstrip()
    rows = [[macro.call, macro.title] for macro in report.macros]
    return table(rows, ["macro", "what it returns"]) + "\n\nFor example: FROM sm_k_anonymity('table', ['a', 'b'])"


def methods(report: Methods) -> str:
    """Return the list of methods."""
    rows = [[m.name, m.summary] for m in report.methods]
    return table(rows, ["method", "what it does"]) + "\n\nOne of them: sqlmicro methods NAME"


def method(report: MethodReport) -> str:
    """Return everything about a method."""
    lines = [
        line("method", report.name),
        line("promise", report.promise),
        line("source", report.source),
        line("module", report.module),
        line("engine", report.engine),
    ]
    lines += [line("templates" if i == 0 else "", name) for i, name in enumerate(report.templates)]
    lines.append("")
    for p in report.parameters:
        lines.append(textwrap.fill(_parameter(p), width(), initial_indent=f"{p.option}  ", subsequent_indent="    "))
    for paragraph in _prose(report.description):
        lines += ["", textwrap.fill(paragraph, width())]
    return "\n".join(lines)


def _parameter(parameter: ParameterReport) -> str:
    choices = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
    value = parameter.default
    if value in (None, (), [], False):
        return f"{parameter.help}{choices}"
    return f"{parameter.help}{choices} Default: {value}."


def _prose(description: str) -> list[str]:
    """Return the paragraphs of a docstring a user cares for: what it does, and the notes."""
    sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", description, flags=re.MULTILINE)
    notes = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Notes", "")
    return [" ".join(part.split()) for part in f"{sections[0]}\n\n{notes}".split("\n\n") if part.strip()]
