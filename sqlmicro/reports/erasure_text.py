"""What `purge` did and what `residue` found, as text."""

from __future__ import annotations

import textwrap

from sqlmicro.erasure.purge import PurgeReport
from sqlmicro.erasure.residue import ResidueReport
from sqlmicro.reports.text import line, table, width


def purged(report: PurgeReport) -> str:
    """Return what the purge did."""
    size = f"{report.bytes_before / 2**20:,.1f} MB before, {report.bytes_after / 2**20:,.1f} MB after"
    lines = [
        line("purged", f"{report.db}: {report.tables:,} tables, {report.rows:,} rows"),
        *([line("releases", ", ".join(map(str, report.releases)))] if report.releases else []),
        line("size", size),
        line("storage", f"{report.storage_version}, as before"),
        *([line("ENUM types", f"{report.narrowed} narrowed")] if report.narrowed else []),
        line("seconds", f"{report.seconds:.2f}"),
    ]
    return "\n".join([*lines, *(line("not erased", note) for note in report.not_erased)])


def residue(report: ResidueReport) -> str:
    """Return where replaced values were found, or may be; counts and places only."""
    head = [line("table", report.table)]
    if report.original is None:
        head.append(line("looked for", "nothing, since no --original was given: places that may hold replaced values"))
    else:
        told = ", ".join(f"{c.column} {c.values:,} ({c.distinctive:,})" for c in report.columns)
        head.append(line("looked for", f"values no longer in the release (those looked for as bytes): {told}"))
    rows = [[place.place, f"{place.values:,}", f"{place.times:,}", place.where] for place in report.places]
    body = table(rows, ["place", "values", "times", "where"], right=[1, 2]) if rows else "nothing was found"
    notes = [textwrap.fill(note, width(), initial_indent="note: ", subsequent_indent="      ") for note in report.notes]
    return "\n".join([*head, "", body, *([""] if notes else []), *notes])
