"""A release that is ready to be published: its records in the types and the order they are published in.

The types of a release: kept columns keep theirs, ENUM types lose labels that no record has, changes are reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.registry import AuditRow, Check
from sqlmicro.audits.verdict import PERSONS
from sqlmicro.database import templates
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.content import by_kind, content_of
from sqlmicro.database.files import file_format
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import ORDER, database_of
from sqlmicro.erasure.enums import definition, labels_of
from sqlmicro.history import union
from sqlmicro.history.retention import Retention
from sqlmicro.history.series import Series
from sqlmicro.history.union import Staged, staged
from sqlmicro.options.common import ONLY_ITS_OWN, PastOptions
from sqlmicro.pipeline import Run
from sqlmicro.publish import gate as gates
from sqlmicro.publish import in_place
from sqlmicro.publish.in_place import RowsInPlace
from sqlmicro.publish.report import Change, Recounted, ReleaseReport
from sqlmicro.publish.targets import Target

_LABELS = re.compile(r"""("(?:[^"]|"")*")|\bENUM\(\s*'(?:[^']|'')*'(?:\s*,\s*'(?:[^']|'')*')*\s*\)""")
"""A quoted name, which may hold anything, or an ENUM type with its labels."""


def with_enums_as(kind: str, other: str) -> str:
    r"""Return a type with another one in place of every ENUM in it.

    >>> with_enums_as('STRUCT("ENUM(\'x\')" ENUM(\'a\', \'it\'\'s\')[], b DATE)', "VARCHAR")
    'STRUCT("ENUM(\'x\')" VARCHAR[], b DATE)'
    """
    return _LABELS.sub(lambda found: found.group(1) or other, kind)


def of_release(run: Run, relation: Name, target: Target) -> dict[Column, str]:
    """Return the type of the columns that are not published in the type they are staged in: those with ENUM types.

    A table of DuckDB keeps the ENUM type of a column that no step changed, with the labels that occur in the release
    only: others may be values of records that were left out. Within another type, and anywhere else, an ENUM is text:
    a Parquet file would have all labels in its dictionary. A table that is changed in place keeps its definition.
    """
    if target.kind == "in place":
        return {}
    released = [column for column in run.source.columns if column in set(run.roles.released)]
    nested = {c: with_enums_as(c.type, "VARCHAR") for c in released if c.family == "other"}
    found = {column: kind for column, kind in nested.items() if kind != column.type}
    changed = {name for step in run.log.steps for name in step.columns}
    enums = [column for column in released if column.family == "enum" and column.name not in changed]
    if target.has_enums and enums:
        rows = run.warehouse.rows("publish/labels.sql", log=False, relation=relation, columns=enums)
        occurring = {(number, label) for number, label in rows}
        for number, column in enumerate(enums, 1):
            # DuckDB wants one label at least: an empty text stands for none.
            labels = [label for label in labels_of(column.type) if (number, label) in occurring]
            found[column] = definition(labels or [""])
    return found


def changes(run: Run, columns: Sequence[Column], target: Target) -> list[Change]:
    """Return the columns whose type in the release, as it was read back, is not that of the source."""
    if target.kind == "file" and file_format(target.label) in ("csv", "json"):
        return []
    published = {column.name: column for column in columns}
    return [
        Change(column.name, *_of_types(column, published[column.name]))
        for column in run.source.columns
        if column.name in published and _differ(column, published[column.name])
    ]


def _differ(before: Column, after: Column) -> bool:
    return (before.type, before.collated) != (after.type, after.collated)


def _of_types(before: Column, after: Column) -> tuple[str, str]:
    """Return both types without labels, which are values, and with what makes them differ."""
    shown = [with_enums_as(one.type, "ENUM") + (" with a collation" if one.collated else "") for one in (before, after)]
    if shown[0] == shown[1]:
        shown[1] += " with the labels that occur"
    if "HUGEINT" in shown[0] and shown[1] == "DOUBLE":
        shown[1] += " of 15 digits"
    return shown[0], shown[1]


@dataclass(frozen=True)
class Output:
    """A file or table to be published: the release, or one of the candidates that are kept beside it."""

    relation: Name
    target: Target
    candidate: int | None = None
    gated: tuple[AuditRow, ...] = ()
    records: Name | None = None
    told: tuple[Staged, ...] = ()
    """What it tells of its persons, where k is promised: what later releases are measured with."""
    order: str = field(default="", repr=False)
    """The key of the order of its rows."""
    words: Name | None = None
    """What its rows are put in order by, in the order of row_id; None where each is by its number or its values."""


@dataclass(frozen=True)
class OutputAudit:
    """The checks of a file that is published, the classes over all columns that an attacker may know, and the file."""

    checks: list[Check]
    sizes: k_anonymity.ClassSizes | None
    relation: Name
    columns: tuple[Column, ...]
    records: int
    recounted: list[Recounted] | None = None
    """What was counted anew without the database; a large table has no classes there. None in a dry run."""


@dataclass
class Release:
    """A release that is ready to be published: the run that made it, where it goes, and what is reported of it."""

    run: Run
    target: Target
    report: ReleaseReport
    started: float
    outputs: list[Output]
    past: PastOptions = ONLY_ITS_OWN
    series: Series | None = None
    """The series that it continues."""
    audits: dict[int | None, OutputAudit] = field(default_factory=dict)
    """Those of every file that is published, by the number of the candidate; None is the release."""

    @property
    def checks(self) -> dict[int | None, list[Check]]:
        """The checks of every file."""
        return {number: made.checks for number, made in self.audits.items()}


def prepare(
    run: Run,
    target: Target,
    *,
    dry: bool,
    report: ReleaseReport,
    started: float,
    past: PastOptions = ONLY_ITS_OWN,
    series: Series | None = None,
) -> Release:
    """Return the current relation of a run as a release; candidates that are kept go with it, the release last.

    Raises
    ------
    InputError
        When the target cannot be.
    """
    target.check_types(run)
    outputs = [
        Output(kept.relation, target.of_candidate(number), number) for number, kept in run.table.candidates.items()
    ]
    for number, kept in zip(run.table.candidates, outputs, strict=True):
        kept.target.check(run, run.quasi, dry=dry)
        if not dry:
            report.candidates[number - 1] = replace(report.candidates[number - 1], kept=kept.target.label)
    outputs.append(Output(run.table.current, target))
    # Gates and types stage relations, which cannot be done in the transaction that publishes.
    outputs = [replace(ordered(run, output, series), gated=_gated(run, output)) for output in outputs]
    if isinstance(target, RowsInPlace) and isinstance(series, Retention) and (made := outputs[-1].records):
        target = in_place.staged(target, run, series, made)
        outputs[-1] = replace(outputs[-1], target=target)
    if not dry:
        outputs[-1] = replace(outputs[-1], told=_told(run, outputs))
    return Release(run, target, report, started, outputs, past, series)


def _told(run: Run, outputs: Sequence[Output]) -> tuple[Staged, ...]:
    """Return what a release tells of its persons, together with the candidates that are kept beside it."""
    into = f"{outputs[-1].relation.table}_told"
    *candidates, release = [
        staged(run, output.records, f"{into}_{output.candidate or 0}")
        for output in outputs
        if output.records is not None
    ]
    if not candidates:
        return release
    return tuple(
        union.with_candidates(
            run, one, [(number, told[at]) for number, told in enumerate(candidates, 1)], f"{into}_{at}_all"
        )
        for at, one in enumerate(release)
    )


def published_as(
    run: Run, *, in_place: bool, types: Mapping[Column, str] | None = None, text: Collection[Column] | None = None
) -> dict[str, list[Column]]:
    """Return the released columns by how their staged values become those that are published, some of another type.

    `text` are those that are text by now.
    """
    used = set(run.roles.used) - set(run.table.text if text is None else text)
    kinds: dict[str, list[Column]] = {
        "plain": [],
        "dates": [],
        "timestamps": [],
        "timestamps_with_zone": [],
        "casts": [],
    }
    types = types or {}
    for column in run.roles.released:
        kind = "plain"
        if column in types:
            kind, column = "casts", replace(column, type=types[column])
        elif column in used and column.family in ("date", "timestamp", "timestamptz"):
            kind = {"date": "dates", "timestamp": "timestamps", "timestamptz": "timestamps_with_zone"}[column.family]
        elif (column in used and column.family == "other") or (in_place and column.family == "enum"):
            kind = "casts"
        kinds[kind].append(column)
    return kinds


def ordered(run: Run, output: Output, series: Series | None = None) -> Output:
    """Return an output with its records in the types that are published, and the key of their order.

    The rows of a night of a series are in an order by their values, so that it tells nothing but these.
    """
    types = of_release(run, output.relation, output.target)
    kinds: Params = {**published_as(run, in_place=output.target.kind == "in place", types=types)}
    into = f"{output.relation.table}_in_own_types"
    records = run.warehouse.run("publish/own_types.sql", into, view=True, released=output.relation, **kinds)
    if series is not None:
        return replace(output, records=records, order=series.order())
    names = [(column.staged, "") for column in _in_order(run)]
    order = run.repeat.key.order(run.repeat.recipe, run.table.loaded.content, content_of(run.warehouse, records, names))
    words = _words(run, output.relation, order) if run.warehouse.keeps_order else None
    return replace(output, records=records, order=order, words=words)


def _words(run: Run, relation: Name, order: str) -> Name:
    """Return the words that a relation is put in order by, one for each record, in the order of row_id.

    They are staged before the transaction that publishes, which writes to one database only.
    """
    warehouse, into = run.warehouse, f"{relation.table}_words"
    warehouse = database_of(warehouse)  # the only one that keeps an order
    text = "SELECT count(*), coalesce(max(row_id) + 1, 0) FROM {{ r | ident }}"
    ((records, numbers),) = warehouse.query("words", text, r=relation)
    words = warehouse.words(into, order, numbers)
    if records == numbers:
        return words
    return warehouse.run("publish/words_of_records.sql", f"{into}_left", records=relation, words=words)


def rehearsal_of(run: Run) -> Name:
    """Return the records of a run as they would be published, under their own names; nothing is audited."""
    kinds: Params = {**published_as(run, in_place=False)}
    warehouse = run.warehouse
    records = warehouse.run(
        "publish/own_types.sql", "rehearsed_in_own_types", view=True, released=run.table.current, **kinds
    )
    words = _words(run, run.table.current, token_hex(16))
    return warehouse.run("publish/records.sql", "rehearsed", records=records, words=words, columns=_in_order(run))


def _in_order(run: Run) -> list[Column]:
    """Return the released columns in the order of the source, new ones last."""
    released = set(run.roles.released)
    known = [column for column in run.source.columns if column in released]
    return known + [column for column in run.roles.released if column not in known]


def select_of(run: Run, output: Output) -> templates.Sql:
    """Return the SELECT of the records as they are published; the key of an order by numbers or values is bound."""
    columns, records = _in_order(run), output.records
    if output.words is not None or records is None:
        return templates.render("publish/records.sql", records=records, words=output.words, columns=columns)
    run.warehouse.set_key(ORDER, output.order)
    if not run.warehouse.keeps_order:
        return templates.render("publish/records_apart.sql", records=records, columns=columns)
    types = dict(run.warehouse.describe(records))
    kinds = by_kind([replace(column, type=types[column.staged]) for column in columns])
    return templates.render("publish/records_of_series.sql", records=records, columns=columns, kinds=kinds)


def _gated(run: Run, output: Output) -> tuple[AuditRow, ...]:
    """Return what the gates of the job measured: of the release in their step, of another candidate now.

    What the classes of a step must keep besides k is measured of every output, and first of all how many persons share
    a combination of what an attacker may know; so is whether it can be denied. They stage relations, which cannot be
    done in the transaction that publishes.
    """
    staged, number = output.relation, output.candidate
    kept = _persons_first(run, staged, [row for claim in run.promises.claims for row in gates.kept(run, staged, claim)])
    kept += [gates.constant(run, staged, level) for level in run.around.levels]
    claims = run.promises.denied if number is None else run.table.candidates[number].denied
    denied = (row for claim in claims for row in gates.denied(run, staged, claim, number))
    if number is None:
        return (*kept, *(row for gate in run.promises.gates for row in gate.rows), *denied)
    held = (row for gate in run.promises.gates for row in gates.rows(run, staged, gate.options, gate.where))
    return (*kept, *held, *denied)


def _persons_first(run: Run, staged: Name, kept: list[AuditRow]) -> list[AuditRow]:
    """Return rows with that of the persons over all that an attacker may know as the first, where k counts persons."""
    if not (run.counted and run.known):
        return kept
    known = set(names_of(run.known))
    whole = [row for row in kept if row.check == PERSONS and set(row.columns) == known]
    first = max(whole, key=lambda row: row.threshold or 0, default=None) or gates.persons(run, staged, run.known)
    return [first, *(row for row in kept if row not in whole)]
