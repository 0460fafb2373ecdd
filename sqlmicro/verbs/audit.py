"""The command `audit`: what a release discloses and what it is still good for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from sqlmicro.audits import inputs, k_anonymity, runner
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.registry import AuditReport, AuditRow, RecordRiskTable, audits, demanded
from sqlmicro.audits.verdict import together
from sqlmicro.database import attach
from sqlmicro.database.catalog import find_relation
from sqlmicro.database.columns import names_of
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.database.unfinished import SCHEMA
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.errors import ParameterError, demand
from sqlmicro.identifiers.repeated import repeated_persons
from sqlmicro.options.common import AttachOption, AuditedWith, DbOption, EngineChoice, MachineOptions, WithOptions
from sqlmicro.options.params import Param
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.registry import late
from sqlmicro.system.progress import Progress

_MOST_CLASSES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class _ShowValues:
    show_values: Annotated[bool, Param("Print the values of the smallest violating classes.")] = False


@dataclass(frozen=True, kw_only=True)
class PerRecordOption:
    """Whether the risk of every record is written."""

    per_record: Annotated[
        str | None,
        Param(
            "Write the risk of every record into this table of the schema sqlmicro, in the database of the originals: "
            "record_risk, or a name that begins so. It is as private as the originals. An older one is replaced.",
            metavar="INTO",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OfSeriesOption:
    """Which rows of a table that is anonymized in place are audited."""

    of_series: Annotated[
        str | None,
        Param(
            "Audit the rows of the table that this series has anonymized in place (--only-where), and no others: the "
            "series knows which they are, by your lasting secret.",
            metavar="NAME",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AuditOptions(
    AuditedWith, OfSeriesOption, AuditStep, _ShowValues, PerRecordOption, EngineChoice, MachineOptions, ReaderOptions
):
    """What `sqlmicro audit` takes."""


def audit_values(options: AuditOptions, progress: Progress) -> AuditReport:
    """Measure what a release discloses and what it is still good for; gates hold it to thresholds.

    Take `audit` to measure what you name of one table, `check` for all releases of a policy, `attack` to see what
    somebody with the original gets, and `report` for a page that somebody signs.

    The table is read, never changed. If this database has recorded it as a release, the results are then added to
    sqlmicro.audits, provided that the file can be written to.

    With --per-record the risk of every record goes into a table of its own, beside the originals.
    """
    if options.engine == "spark":
        return _on_spark(options, progress)
    into = options.per_record
    if into:
        late("sqlmicro.verbs.per_record", "refuse_unwritable")(options)
    with open_warehouse(
        options.database, read_only=not into, publishes=bool(into), machine=options, progress=progress
    ) as warehouse:
        attach.attach(warehouse, options.attach)
        audited = inputs.audited(warehouse, options.table, options, options)
        measured = _with_others(audited, options, progress)
        warehouse.seal()
        release = _release_of(warehouse, options.table, audited.release.relation)
        left: list[str] = []
        if options.of_series is not None:
            audited, left = _of_series(warehouse, audited, options.of_series)
        if _needs_control(audited, options):
            audited, more = late("sqlmicro.verbs.rehearsal", "with_control")(audited, release)
            left = [*left, *more]
        rows = runner.run(audited, options.measure, options.thresholds, options.settings)
        rows += measured()
        report = _report(audited, options, rows)
        write = late("sqlmicro.verbs.per_record", "write") if into else None
        written: RecordRiskTable | None = write and write(audited, into, options)
        notes = [*left, *_of_persons(warehouse, audited)]
    recorded = (
        release is not None
        and warehouse.releases is None
        and late("sqlmicro.publish.recording", "add")(options.database, release, rows, options, progress)
    )
    return replace(report, notes=notes, release=release, record_risks=written, recorded=recorded)


def _of_series(warehouse: Database, audited: AuditedRelease, name: str) -> tuple[AuditedRelease, list[str]]:
    """Return what is audited as the rows of it that a series has anonymized, and what is said of the others."""
    rows_of = late("sqlmicro.history.anonymized", "rows_of")
    look_in, records_in = late("sqlmicro.publish.recording", "look_in", "records_in")
    look_in(warehouse, audited.release.relation)
    found = rows_of(warehouse, lambda table: records_in(warehouse, table), name, audited.release)
    return replace(audited, release=replace(audited.release, relation=found.relation)), [found.told]


def _on_spark(options: AuditOptions, progress: Progress) -> AuditReport:
    """Audit files or tables of Spark's catalog there: their records stay where they are."""
    none_of = late("sqlmicro.verbs.on_spark", "none_of")
    must = "reads Parquet files or tables of Spark's catalog, and writes nothing"
    groups = (DbOption, AttachOption, WithOptions, OfSeriesOption, PerRecordOption, MachineOptions, ReaderOptions)
    demand([none_of(options, groups, must)])
    with late("sqlmicro.spark.warehouse", "SparkWarehouse").open(options.master, progress, numbers=False) as warehouse:
        audited = inputs.audited(warehouse, options.table, options)
        rows = runner.run(audited, options.measure, options.thresholds, options.settings)
        return replace(_report(audited, options, rows), notes=_of_persons(warehouse, audited))


def _report(audited: AuditedRelease, options: AuditOptions, rows: list[AuditRow]) -> AuditReport:
    """Return what was measured of a release.

    Raises
    ------
    ParameterError
        When there was nothing to measure.
    """
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
    return AuditReport(
        table=options.table,
        nulls=options.nulls,
        quasi=[column.name for column in audited.quasi],
        sensitive=[column.name for column in audited.sensitive],
        weight=audited.weight.name if audited.weight else None,
        person=list(names_of(audited.person)),
        household=list(names_of(audited.household)),
        audits=rows,
        passed=together(demanded(rows)),
        classes_shown=shown,
    )


def _with_others(audited: AuditedRelease, options: AuditOptions, progress: Progress) -> Callable[[], list[AuditRow]]:
    """Find the releases of --with, and return what measures the table together with them."""
    if not options.with_ and not options.min_union_k:
        return list
    sources, measured = late("sqlmicro.verbs.with_releases", "sources", "measured")
    others = sources(audited, options)
    return lambda: measured(audited, others, options, progress)


def _release_of(warehouse: Database, table: str, relation: Name) -> int | None:
    """Return the number of the newest release of this table; most databases have recorded none."""
    if not warehouse.attached and find_relation(warehouse, warehouse.full(Name("", SCHEMA, "releases"))) is None:
        return None
    found: int | None = late("sqlmicro.publish.recording", "release_of")(warehouse, table, relation)
    return found


def _needs_control(audited: AuditedRelease, options: AuditOptions) -> bool:
    """Tell whether an audit that was asked for needs a control group, which has to be held out of a rehearsal."""
    if audited.control is not None or audited.original is None:
        return False
    return any(
        "control" in one.needs and (one.name in options.measure or one.gate in options.thresholds)
        for one in audits().values()
    )


def _of_persons(warehouse: Warehouse, audited: AuditedRelease) -> list[str]:
    """Return a note where persons seem to have several of the records, or several rows of the population."""
    notes, release, population = [], audited.release, audited.population
    if audited.quasi and not audited.person and (found := repeated_persons(warehouse, release, {})):
        notes.append(f"the records seem to be {found.told}: here records are counted, with --person persons")
    if population is not None and (found := repeated_persons(warehouse, population, {})):
        notes.append(f"the rows of the population seem to be {found.told}: each counts as a member")
    return notes
