"""Reports as text: plain lines that fit the terminal, are readable in a pipe and need no colour.

The ledger as text.

The series of a database as text.

What `purge` did and what `residue` found, as text.

A certificate that was written, as text.

What was found of all releases of a policy, as text.

What there is to know of job files as text: the schema, a draft, and what a job will do.
"""

from __future__ import annotations

import json
import shlex
import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlmicro.database.column_names import is_sampling_weight, is_weight
from sqlmicro.options.docstrings import sections
from sqlmicro.reports.results import (
    Compiled,
    Draft,
    DraftedHierarchy,
    Explanation,
    MacrosReport,
    MethodReport,
    Methods,
    ParameterReport,
    Policy,
    RegisterReport,
    SchemaReport,
    SubsetReport,
)

if TYPE_CHECKING:
    from sqlmicro.erasure.purge import PurgeReport
    from sqlmicro.erasure.residue import ResidueReport
    from sqlmicro.history.ledger import Entry, Ledger
    from sqlmicro.history.series_list import SeriesList
    from sqlmicro.identifiers.scan import ProfileReport
    from sqlmicro.mask.encrypt import DecryptReport
    from sqlmicro.publish.certificate import Attested, Certified
    from sqlmicro.publish.report import Recounted
    from sqlmicro.reports.done import OverPolicy

_LABEL = 16


def width() -> int:
    """Return the number of columns to write in: the terminal's, at most 100."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def line(label: str, value: str) -> str:
    """Return `label  value`, the value wrapped under itself."""
    return textwrap.fill(
        value,
        width(),
        initial_indent=f"{label} ".ljust(_LABEL),
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


def figure(value: float) -> str:
    """Return a number to be read: whole ones in full, others with six digits.

    >>> figure(12345), figure(0.123456789)
    ('12,345', '0.123457')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def registered(report: RegisterReport) -> str:
    """Return what `register` did."""
    head = f"{report.kind} {report.table}: {report.rows:,} rows, {len(report.columns)} columns"
    read = [[one.what, one.value, one.option if one.guessed else "as you said"] for one in report.read_as]
    kinds: dict[str, list[str]] = {}
    for name, kind in zip(report.columns, report.types, strict=False):
        kinds.setdefault(kind.partition("(")[0], []).append(name)  # an ENUM lists its values
    lines = [
        head,
        *([table(read, ["read as", "", "to say otherwise"])] if any(o.guessed for o in report.read_as) else []),
        table([[kind, ", ".join(names)] for kind, names in kinds.items()], ["type", "columns"]),
    ]
    lines += [
        textwrap.fill(f"open: {text}", width(), subsequent_indent="      ", break_on_hyphens=False)
        for text in report.open
    ]
    who = report.persons
    if who is not None:
        lines.append(textwrap.fill(f"rows: {who.told}", width(), subsequent_indent="      ", break_on_hyphens=False))
    if who is None or not who.others:
        of = ["--person", ",".join(who.columns)] if who is not None else []
        of += _of_weights(report, alone=who is None)
        lines.append("next  " + shlex.join(["sqlmicro", "safe", "--db", report.db, "--table", report.table, *of]))
    return "\n".join(lines)


def _of_weights(report: RegisterReport, *, alone: bool) -> list[str]:
    """Return what the next command must say of weights: `safe` takes one whose name says that it is of sampling."""
    found = [
        name for name, kind in zip(report.columns, report.types, strict=False)
        if is_weight(name) and kind.startswith(("DOUBLE", "FLOAT", "DECIMAL", "BIGINT", "INTEGER", "SMALLINT"))
    ]  # fmt: skip
    of_sampling = [name for name in found if is_sampling_weight(name)][: int(alone)]
    if found == of_sampling:
        return []
    others = [name for name in found if name not in of_sampling]
    return [*(["--weights", *of_sampling] if of_sampling else []), "--drop", ",".join(others)]


def profile(report: ProfileReport) -> str:
    """Return a table of the columns, the proposals and their reasons."""
    head = f"{report.table}: {report.rows:,} rows. Proposals; only `safe` without --columns acts on them."
    blocks = [textwrap.fill(head, width()), ""]
    if report.persons:
        told = f"rows: {report.persons.told}. A release needs {report.persons.choice}, or --rows-are-persons."
        if report.of_person:
            told += f" One value for each person: {', '.join(report.of_person)}; these are grouped person by person."
        blocks += [textwrap.fill(told, width()), ""]
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


def some(names: Sequence[str]) -> str:
    """Return up to six names, or their number and the first ones.

    >>> some(["a", "b"]), some(list("abcdefgh"))
    ('a, b', '8 columns (a, b, c, d, …)')
    """
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} columns ({', '.join(names[:4])}, …)"


def warmed_up(report: Compiled) -> str:
    """Return what was compiled, and where it is kept."""
    lines = [f"{report.functions} functions are compiled, in {report.seconds:.0f} s. They are kept in:"]
    lines += [f"  {folder}" for folder in report.folders]
    lines += [f"not compiled: what needs {name}, which is not installed" for name in report.left_out]
    return "\n".join(lines)


def macros(report: MacrosReport) -> str:
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
    found = sections(description)
    text = f"{found['']}\n\n{found.get('Notes', '')}"
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def decrypted(report: DecryptReport) -> str:
    """Return the values, one on each line."""
    return "\n".join(report.values)


def subset(report: SubsetReport) -> str:
    """Return what was copied, and that nothing of it is anonymised."""
    needed = f", and {report.persons_needed:,} others whom their rows refer to" if report.persons_needed else ""
    lines = [
        f"NOT ANONYMISED: {report.to} has real records of {report.persons:,} persons{needed}.",
        table([[one.name, f"{one.rows:,}", f"{one.of:,}"] for one in report.tables], ["table", "rows", "of"], [1, 2]),
    ]
    for key in report.keys:
        how = "" if key.declared else ", as --key says"
        dangling = f"; {key.dangling:,} rows refer to nothing, as before" if key.dangling else ""
        lines.append(f"checked  {key.child} to {key.parent}{how}{dangling}")
    if report.left_out:
        lines.append(line("left out", ", ".join(report.left_out)))
    return "\n".join([*lines, "next  " + shlex.join(["sqlmicro", "scan", "--db", report.to])])


def drafted_hierarchy(report: DraftedHierarchy) -> str:
    """Return what was written, what is not in it, and what is to be done with it."""
    lines = [
        f"{report.file}: {report.values:,} values of {report.column} on {report.levels} levels ({report.kind}).",
        "It has values of the column as they are. Only you can read it; keep it so, and read it before it is used.",
    ]
    if report.values_left_out:
        lines.append(
            f"Too rare to be written: {report.values_left_out:,} (values), {report.records_left_out:,} (records). "
            "generalize refuses a column with values that its hierarchy lacks: add --rare, or join them beforehand."
        )
    return "\n".join([*lines, f"To use it: sqlmicro generalize --hierarchy {report.column}={report.file}"])


_MEANT = {
    "out": "somebody may have it",
    "replaced": "another release took its place",
    "gone": "its table was dropped",
    "withdrawn": "its owner says that nobody has it",
}


def ledger(report: Ledger) -> str:
    """Return the releases as a table, what their states mean, and what was changed behind our back."""
    private = [f"{name}: the risk of every record, as private as the originals" for name in report.private]
    if not report.releases:
        return "\n\n".join(["no release is recorded", *private])
    rows = [
        [str(one.release), one.state, one.source, one.target, one.method, "" if one.k is None else str(one.k),
         one.started[:16], "" if one.series is None else f"{one.series}, epoch {one.epoch:,}"]
        for one in report.releases
    ]  # fmt: skip
    states = dict.fromkeys(one.state for one in report.releases)
    header = ["release", "state", "source", "target", "method", "k", "started (UTC)", "series"]
    shown = len(header) - (not any(one.series for one in report.releases))
    blocks = [table([row[:shown] for row in rows], header[:shown])]
    blocks.append("\n".join(f"{state}: {_MEANT[state]}" for state in states))
    said = [*(text for one in report.releases for text in _said(one)), *private]
    return "\n\n".join([*blocks, *(textwrap.fill(text, width()) for text in said)])


def _said(entry: Entry) -> list[str]:
    found = []
    if entry.reason:
        found.append(f"release {entry.release} was withdrawn: {entry.reason}")
    if entry.alone_because:
        found.append(f"release {entry.release} does not keep its k together with others: {entry.alone_because}")
    if not entry.intact:
        found.append(f"release {entry.release}: this entry or the one before it was changed or removed")
    return found


def series(report: SeriesList) -> str:
    """Return the series as a table."""
    if not report.series:
        return "no series is remembered"
    rows = [
        [one.series, one.source, one.target, f"{one.epoch:,}", f"{one.nights:,}", one.day or "changed by somebody",
         f"{one.persons:,}", f"{one.waiting:,}", f"{one.empty:,}"]
        for one in report.series
    ]  # fmt: skip
    header = ["series", "source", "target", "epoch", "nights", "last night", "seated", "waiting", "empty seats"]
    return table(rows, header, right=(3, 4, 6, 7, 8))


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


def certified(report: Certified) -> str:
    """Return what a stranger can recount, what is only attested, and who signed."""
    told = report.told
    if report.signer is None:
        signed = "NOT SIGNED: nobody vouches for it"
    else:
        signed = f"signed by {report.signer}; the signature is {report.signature}"
    earlier = ", ".join(str(one.release) for one in told.ledger.consulted) or "none"
    blocks = [
        textwrap.fill(f"certificate {report.to} of {told.release.name}, {told.release.rows:,} rows; {signed}", width()),
        "Anybody can recount:\n" + table([_counted(one) for one in told.recounted], _HEADER),
    ]
    if told.attested:
        blocks.append("Only attested:\n" + table([_attested(one) for one in told.attested], _HEADER))
    if told.not_counted:
        blocks.append("Not counted: " + ", ".join(f"{name} ({why})" for name, why in told.not_counted.items()))
    blocks.append(f"Measured with earlier releases: {earlier}")
    return "\n\n".join(blocks)


_HEADER = ["check", "found", "promised", "over"]


def _counted(one: Recounted) -> list[str]:
    over = ", ".join([*one.columns, *([one.sensitive] if one.sensitive else [])])
    return [one.check, _shown(one.value), _shown(one.threshold), over]


def _attested(one: Attested) -> list[str]:
    check, _, over = one.check.partition(" (")
    passed_over = one.threshold is not None and one.passed is None
    return [
        check,
        _shown(one.value),
        _shown(one.threshold),
        "not required of it" if passed_over else over.removesuffix(")"),
    ]


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def schema(report: SchemaReport) -> str:
    """Return the JSON Schema."""
    return json.dumps(report.schema, indent=2, ensure_ascii=False)


def draft(report: Draft) -> str:
    """Return the job file."""
    return report.toml.rstrip("\n")


def policy(report: Policy) -> str:
    """Return the job file of a warehouse."""
    return report.toml.rstrip("\n")


def explanation(report: Explanation) -> str:
    """Return the paragraphs, wrapped to the terminal."""
    return "\n\n".join(textwrap.fill(text, width(), break_on_hyphens=False) for text in report.paragraphs)


def over_policy(report: OverPolicy) -> str:
    """Return a table with a line for every release, and how many of them are fine."""
    rows = [[one.release, "" if one.rows is None else f"{one.rows:,}", one.found] for one in report.releases]
    fine = sum(one.exit_code == 0 for one in report.releases)
    lines = [table(rows, ["release", "rows", "found"], [1]), ""]
    lines.append(textwrap.fill(f"{fine} of {len(report.releases)} releases of {report.policy} {report.done}", width()))
    lines += [f"next  {shlex.join(report.next)}"] if report.next else []
    return "\n".join(lines)
