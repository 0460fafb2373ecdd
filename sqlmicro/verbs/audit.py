"""The command `audit`: what a release discloses and what it is still good for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.audits import inputs, k_anonymity, runner
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.row import AuditReport, demanded
from sqlmicro.audits.verdict import together
from sqlmicro.database import attach
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import ParameterError
from sqlmicro.options.common import MachineOptions, ReaderOptions, SourceOptions
from sqlmicro.options.params import Param
from sqlmicro.publish import recording
from sqlmicro.system.progress import Progress

_MOST_CLASSES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class _ShowValues:
    show_values: Annotated[bool, Param("Print the values of the smallest violating classes.")] = False


@dataclass(frozen=True, kw_only=True)
class AuditOptions(SourceOptions, AuditStep, _ShowValues, MachineOptions, ReaderOptions):
    """What `sqlmicro audit` takes."""


def audit_values(options: AuditOptions, progress: Progress) -> AuditReport:
    """Measure what a release discloses and what it is still good for; gates hold it to thresholds.

    The table is read, never changed. If this database has recorded it as a release, the results are then added to
    sqlmicro.audits, provided that the file can be written to.
    """

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        audited = inputs.audited(warehouse, options.table, options, options)
        warehouse.seal()
        rows = runner.run(audited, options.measure, options.thresholds, options.settings)
        if not rows:
            raise ParameterError(
                "audit, --quasi",
                "must name the quasi-identifiers, unless --original or another option says what to audit",
                "none",
                "The table has: " + ", ".join(column.name for column in audited.release.columns),
            )
        below, shown = options.gates.get(k_anonymity.GATE), None
        if options.show_values and audited.quasi:
            shown = k_anonymity.smallest(audited, int(below or 2), _MOST_CLASSES_SHOWN)
        release = recording.release_of(warehouse, options.table, audited.release.relation)
    return AuditReport(
        table=options.table,
        nulls=options.nulls,
        quasi=[column.name for column in audited.quasi],
        sensitive=[column.name for column in audited.sensitive],
        weight=audited.weight.name if audited.weight else None,
        entity=audited.entity.name if audited.entity else None,
        audits=rows,
        passed=together(demanded(rows)),
        classes_shown=shown,
        release=release,
        recorded=release is not None and recording.add(options.database, release, rows, options, progress),
    )
