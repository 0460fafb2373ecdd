"""Reports as text: plain lines that fit the terminal, are readable in a pipe and need no colour."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

from sqlmicro.options.docstrings import sections
from sqlmicro.reports.disclosure import class_steps

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


def registered(report: dict[str, Any]) -> str:
    """Return what `register` did."""
    return f"{report['kind']} {report['table']}: {report['rows']:,} rows, {len(report['columns'])} columns"


def profile(report: dict[str, Any]) -> str:
    """Return a table of the columns, the proposals and their reasons."""
    head = f"{report['table']}: {report['rows']:,} rows. Proposals; only `safe` without --columns acts on them."
    blocks = [textwrap.fill(head, width()), ""]
    if width() >= 90:
        rows = [
            [
                c["name"],
                c["type"],
                f"{c['nulls']:,}",
                f"{c['distinct']:,}",
                c["scale"],
                c["role"],
                f"{c['role_reason']}; {c['scale_reason']}",
            ]
            for c in report["columns"]
        ]
        blocks.append(table(rows, ["column", "type", "NULLs", "distinct", "scale", "role", "because"], right=[2, 3]))
        return "\n".join(blocks)
    for c in report["columns"]:
        blocks.append(f"{c['name']}  {c['type']}")
        blocks.append(f"  {c['nulls']:,} NULLs, {c['distinct']:,} distinct")
        blocks.append(
            textwrap.fill(f"{c['scale']}: {c['scale_reason']}", width(), initial_indent="  ", subsequent_indent="    ")
        )
        blocks.append(
            textwrap.fill(f"{c['role']}: {c['role_reason']}", width(), initial_indent="  ", subsequent_indent="    ")
        )
    return "\n".join(blocks)


def release(report: dict[str, Any]) -> str:
    """Return what a release is worth, in one screen."""
    where = f"{report['target']} ({report['target_kind']})"
    if report["target"] is None:
        where = "not yet"
    elif report["dry_run"]:
        where = f"nothing was written (would be {where})"
    elif report["release"]:
        where += f", release {report['release']} in sqlmicro.releases"
    rows = f"{report['rows']:,} of {report['rows_in']:,}"
    if report["suppressed"]:
        rows += f", {report['suppressed']:,} suppressed"
    lines = [
        line("source", report["source"]),
        line("published", where),
        line("method", report["method"]),
        line("rows", rows),
        *_groups(report),
        *_losses(report),
        *_missing(report["missing"]),
        *_types(report),
        line("verdict", report["verdict"]["headline"]),
        line("", report["verdict"]["sentence"]),
        *_audits(report["audits"]),
        *_purged(report),
        line("seconds", ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in report["seconds"].items())),
    ]
    if report["candidates"]:
        lines += ["", candidates(report)]
    if report["safe_parts"]:
        lines += ["", deviations(report["safe_parts"])]
    if report["notes"]:
        lines.append("")
        lines += [
            textwrap.fill(note, width(), initial_indent="note: ", subsequent_indent="      ")
            for note in report["notes"]
        ]
    return "\n".join(lines)


def _purged(report: dict[str, Any]) -> list[str]:
    if "purged" not in report:  # nothing was replaced
        return []
    return [line("purged", "yes" if report["purged"] else f"no: {report['not_purged_because']}")]


def some(names: Sequence[str]) -> str:
    """Return up to six names, or their number and the first ones.

    >>> some(["a", "b"]), some(list("abcdefgh"))
    ('a, b', '8 columns (a, b, c, d, …)')
    """
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} columns ({', '.join(names[:4])}, …)"


def _groups(report: dict[str, Any]) -> list[str]:
    return [
        line(
            "groups" if len(report["steps"]) == 1 else f"groups, step {number}",
            f"{step['groups']:,} of {step['smallest_group']:,} to {step['largest_group']:,} records ({step['method']})",
        )
        for number, step in enumerate(report["steps"], 1)
        if step["groups"]
    ]


def _percent(value: float) -> str:
    return f"{value:.4f}" if value >= 0.01 or value == 0 else f"{value:.2g}"


def _losses(report: dict[str, Any]) -> list[str]:
    lines = []
    if report["IL"] is not None:
        lines.append(line("IL", f"{_percent(report['IL'])} % (100 SSE/SST over the standardised numeric columns)"))
    if report["changed_by_column"]:
        changed = ", ".join(f"{name} {100 * share:.1f} %" for name, share in report["changed_by_column"].items())
        lines.append(line("values changed", changed))
    if report["safe_distance"] is not None:
        parts = report["safe_parts"]
        lines.append(line("SAFE distance", f"{report['safe_distance']:.6f} = {weighted(parts)}"))
    return lines


_MISSING_AT_MOST = 6


def _missing(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the share of missing values before and after, of the columns that changed most."""

    def changed(one: dict[str, Any]) -> int:
        return int(one["filled_in"] + one["taken_out"])

    parts = []
    for one in sorted(found, key=changed, reverse=True)[:_MISSING_AT_MOST]:
        shares = [100 * one[when] / max(one[f"records_{when}"], 1) for when in ("before", "after")]
        moved = [f"{one[what]:,} {what.replace('_', ' ')}" for what in ("filled_in", "taken_out") if one[what]]
        of = f" ({', '.join(moved)})" if moved else ""
        parts.append(f"{one['column']} {shares[0]:.1f} % → {shares[1]:.1f} %{of}")
    more = len(found) - len(parts)
    return [line("missing", ", ".join([*parts, *([f"and {more} more columns"] if more > 0 else [])]))] if parts else []


def _types(report: dict[str, Any]) -> list[str]:
    """Return the columns that have another type in the release than in its source."""
    changed = [f"{one['column']} {one['before']} → {one['after']}" for one in report["types_changed"]]
    if report["target_kind"] == "file" and re.search(r"\.(csv|json|ndjson)(\.(gz|zst))?$", report["target"].lower()):
        changed = ["none: CSV and JSON files keep no types"]
    return [line("types changed", ", ".join(changed))] if changed else []


def weighted(parts: dict[str, Any]) -> str:
    """Return the parts of a SAFE distance as they add up to it.

    >>> weighted({"counts": 0.25, "sums": 0.5, "weights": {"counts": 1.0, "sums": 2.0}})
    'counts 0.250000 + 2 × sums 0.500000'
    """
    return " + ".join(
        ("" if parts["weights"][name] == 1 else f"{parts['weights'][name]:g} × ") + f"{name} {parts[name]:.6f}"
        for name in ("counts", "sums")
    )


def _audits(audits: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line per check; checks of single columns with one threshold and one verdict share a line."""
    lines: list[str] = []
    kinds: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for number, check in enumerate(audits):
        alone = len(check["columns"]) != 1
        kinds.setdefault((check["check"], check["threshold"], check["passed"], alone and number), []).append(check)
    for (name, threshold, passed, _), checks in kinds.items():
        columns = [column for check in checks for column in check["columns"]]
        of = f" ({some(columns)})" if columns else ""
        verdict = "measured" if threshold is None else "passed" if passed else "FAILED"
        values = [check["value"] for check in checks if check["value"] is not None]
        if not values:  # no column counts
            continue
        worst = (min if checks[0]["at_least"] else max)(values)
        needed = "" if threshold is None else f", needed {figure(threshold)}"
        lines.append(line("audit", f"{name}{of}: {figure(worst)}{needed}, {verdict}"))
    return lines


_CANDIDATES_IN_FULL = 100


def candidates(report: dict[str, Any]) -> str:
    """Return the candidates of SAFE and their distances, the released one marked."""
    narrow = width() < _CANDIDATES_IN_FULL
    several = len({c["unification"] for c in report["candidates"] if c["algorithm"] != "search"}) > 1
    rows = [
        [
            f"{'*' if c['candidate'] == report['chosen'] else ''}{c['candidate']}",
            f"{c['distance']:.6f}",
            f"{c['seconds']:.2f}",
            *([] if narrow else [f"{c['groups']:,}", "" if c["memory"] is None else f"{c['memory'] / 1e6:.1f}"]),
            c["pass"],
            c["algorithm"] + ("" if narrow and not several else f"; {c['unification']}"),
        ]
        for c in report["candidates"]
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


def deviations(parts: dict[str, Any]) -> str:
    """Return the deviations of the tables by order."""
    rows = [
        [
            order,
            str(p["tables"]),
            f"{p['count_deviation']:,.10g}",
            f"{p['count_max']:,.10g}",
            f"{100 * p['share_changed']:.1f}",
        ]
        for order, p in parts["orders"].items()
    ]
    return table(rows, ["order", "tables", "sum |dA|", "max |dA|", "% cells changed"], right=[1, 2, 3, 4])


def warmed_up(report: dict[str, Any]) -> str:
    """Return what was compiled, and where it is kept."""
    lines = [f"{report['functions']} functions are compiled, in {report['seconds']:.0f} s. They are kept in:"]
    lines += [f"  {folder}" for folder in report["folders"]]
    lines += [f"not compiled: what needs {name}, which is not installed" for name in report["left_out"]]
    return "\n".join(lines)


def safe_distance(report: dict[str, Any]) -> str:
    """Return the SAFE distance of two tables and its parts."""
    lines = [
        line("original", report["first"]),
        line("changed", report["second"]),
        line("nominal", ", ".join(report["nominal"]) or "none"),
        line("numeric", ", ".join(report["numeric"]) or "none"),
        line("SAFE distance", f"{report['distance']:.6f} = {weighted(report)}"),
        "",
        deviations(report),
    ]
    if report["numeric"]:
        before, after = report["moments"]["before"], report["moments"]["after"]
        rows = [
            [f"{what} {name}", f"{value:.6g}", f"{after[what][name]:.6g}"]
            for what in ("mean", "variance", "covariance")
            for name, value in before[what].items()
            if value is not None and after[what][name] is not None
        ]
        lines += ["", table(rows, ["", "original", "changed"], right=[1, 2])]
    return "\n".join(lines)


def macros(report: dict[str, Any]) -> str:
    """Return the statements, or what was installed."""
    if report["script"] is not None:
        return str(report["script"]).rstrip()
    rows = [[macro["call"], macro["title"]] for macro in report["macros"]]
    return table(rows, ["macro", "what it returns"]) + "\n\nFor example: FROM sm_k_anonymity('table', ['a', 'b'])"


def methods(report: dict[str, Any]) -> str:
    """Return the list of methods, or everything about one."""
    if "methods" in report:
        rows = [[m["name"], m["summary"]] for m in report["methods"]]
        return table(rows, ["method", "what it does"]) + "\n\nOne of them: sqlmicro methods NAME"
    lines = [
        line("method", report["name"]),
        line("promise", report["promise"]),
        line("source", report["source"]),
        line("module", report["module"]),
        line("engine", report["engine"]),
    ]
    lines += [line("templates" if i == 0 else "", name) for i, name in enumerate(report["templates"])]
    lines.append("")
    for p in report["parameters"]:
        lines.append(textwrap.fill(_parameter(p), width(), initial_indent=f"{p['option']}  ", subsequent_indent="    "))
    for paragraph in _prose(report["description"]):
        lines += ["", textwrap.fill(paragraph, width())]
    return "\n".join(lines)


def _parameter(parameter: dict[str, Any]) -> str:
    choices = f" One of {', '.join(parameter['choices'])}." if parameter["choices"] else ""
    value = parameter["default"]
    if value in (None, (), [], False):
        return f"{parameter['help']}{choices}"
    return f"{parameter['help']}{choices} Default: {value}."


def _prose(description: str) -> list[str]:
    """Return the paragraphs of a docstring a user cares for: what it does, and the notes."""
    found = sections(description)
    text = f"{found['']}\n\n{found.get('Notes', '')}"
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
