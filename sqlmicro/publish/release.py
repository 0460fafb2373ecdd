"""A release that is ready to be published: its records in the types and the order they are published in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.row import AuditRow, Check
from sqlmicro.database import templates
from sqlmicro.database.columns import Column
from sqlmicro.database.content import content_of
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import ORDER
from sqlmicro.pipeline import Run
from sqlmicro.publish import gate as gates
from sqlmicro.publish import published_types
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.publish.targets import Target


@dataclass(frozen=True)
class Output:
    """A file or table to be published: the release, or one of the candidates that are kept beside it."""

    relation: Name
    target: Target
    candidate: int | None = None
    gated: tuple[AuditRow, ...] = ()
    records: Name | None = None
    order: str = field(default="", repr=False)


@dataclass(frozen=True)
class OutputAudit:
    """The checks of a file that is published, the classes over all columns that an attacker may know, and the file."""

    checks: list[Check]
    sizes: k_anonymity.ClassSizes | None
    relation: Name


@dataclass
class Release:
    """A release that is ready to be published: the run that made it, where it goes, and what is reported of it."""

    run: Run
    target: Target
    report: ReleaseReport
    started: float
    outputs: list[Output]
    audits: dict[int | None, OutputAudit] = field(default_factory=dict)
    """Those of every file that is published, by the number of the candidate; None is the release."""

    @property
    def checks(self) -> dict[int | None, list[Check]]:
        """The checks of every file."""
        return {number: made.checks for number, made in self.audits.items()}


def prepare(run: Run, target: Target, *, dry: bool, report: ReleaseReport, started: float) -> Release:
    """Return the current relation of a run as a release; candidates that are kept go with it, the release last.

    Raises
    ------
    InputError
        When the target cannot be.
    """
    target.check_types(run)
    outputs = [Output(relation, target.of_candidate(number), number) for number, relation in run.kept.items()]
    for number, kept in zip(run.kept, outputs, strict=True):
        kept.target.check(run, run.quasi, dry=dry)
        if not dry:
            report.candidates[number - 1] = replace(report.candidates[number - 1], kept=kept.target.label)
    outputs.append(Output(run.current, target))
    # Gates and types stage relations, which cannot be done in the transaction that publishes.
    outputs = [replace(ordered(run, output), gated=_gated(run, output.relation)) for output in outputs]
    return Release(run, target, report, started, outputs)


def published_as(run: Run, *, in_place: bool, types: Mapping[Column, str] | None = None) -> dict[str, list[Column]]:
    """Return the released columns by how their staged values become those that are published, some of another type."""
    used = set(run.roles.used) - run.text
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


def ordered(run: Run, output: Output) -> Output:
    """Return an output with its records in the types that are published, and the key of their order."""
    types = published_types.of_release(run, output.relation, output.target)
    kinds: Params = {**published_as(run, in_place=output.target.kind == "in place", types=types)}
    into = f"{output.relation.table}_in_own_types"
    records = run.warehouse.run("publish/own_types.sql", into, view=True, released=output.relation, **kinds)
    names = [(column.staged, "") for column in _in_order(run)]
    order = run.key.order(run.recipe, run.content, content_of(run.warehouse, records, names))
    return replace(output, records=records, order=order)


def _in_order(run: Run) -> list[Column]:
    """Return the released columns in the order of the source, new ones last."""
    released = set(run.roles.released)
    known = [column for column in run.source.columns if column in released]
    return known + [column for column in run.roles.released if column not in known]


def select_of(run: Run, output: Output) -> templates.Sql:
    """Return the SELECT of the records as they are published; the key of their order is bound."""
    run.warehouse.set_key(ORDER, output.order)
    return templates.render("publish/records.sql", records=output.records, columns=_in_order(run))


def _gated(run: Run, staged: Name) -> tuple[AuditRow, ...]:
    """Return what the gates of the job measured: of the release in their step, of another candidate now.

    What the classes of a step must keep besides k is measured of every output. They stage relations, which cannot be
    done in the transaction that publishes.
    """
    kept = [row for claim in run.claims if claim.asked for row in gates.kept(run, staged, claim)]
    if staged == run.current:
        denied = (row for claim in run.denied for row in gates.denied(run, staged, claim))
        return (*(row for gate in run.gates for row in gate.rows), *kept, *denied)
    held = (row for gate in run.gates for row in gates.rows(run, staged, gate.options, gate.where))
    return (*held, *kept)
