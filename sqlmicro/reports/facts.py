"""The facts of a report: what is recorded of a release, and what is measured on it and its original, as aggregates.

They are what `sqlmicro report --json` prints, and all that the page and the text are made from. `disclosure.py` says
what may be among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from sqlmicro.attacks.report import NotTried
from sqlmicro.audits import inputs, k_anonymity, promised, runner
from sqlmicro.audits.information_loss import LossByColumn
from sqlmicro.audits.inputs import AuditedOptions
from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.missing import MissingRates
from sqlmicro.audits.moments import Correlated
from sqlmicro.audits.promised import Promises
from sqlmicro.audits.registry import find
from sqlmicro.audits.row import AuditRow, ByColumn, Status
from sqlmicro.audits.tables import Deviating
from sqlmicro.audits.verdict import Verdict, VerdictReport
from sqlmicro.database.columns import pick
from sqlmicro.database.finding import find_source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions, ReaderOptions
from sqlmicro.options.params import Param
from sqlmicro.reports import disclosure, distributions, recorded
from sqlmicro.reports.distributions import ColumnFacts, TableFacts
from sqlmicro.reports.drawn import Correlation, Point
from sqlmicro.reports.recorded import RecordedCandidate, RecordedCheck, RecordedRelease, StepFacts
from sqlmicro.system.reporting import WHOLE, named

if TYPE_CHECKING:
    from sqlmicro.audits.audited import AuditedRelease
    from sqlmicro.database.columns import Column
    from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse

SMALLEST_K = 3
"""Fewest records behind a figure where no k was promised or asked for."""
_DISTANCES = ("hellinger", "emd")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(DbOption, AttachOption, AuditedOptions, MachineOptions, ReaderOptions):
    """What `sqlmicro report` takes."""

    release: Annotated[
        str,
        Param(
            "Release: its number in sqlmicro.releases, or the table or file it was published as.", metavar="ID|TABLE"
        ),
    ]
    to: Annotated[str | None, Param("File to write: .html, or .md for text.", metavar="FILE")] = None
    markdown: Annotated[bool, Param("Write Markdown, for a pull request; without --to print it.")] = False
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False
    min_k: Annotated[
        int | None,
        Param(
            "k that must hold, and fewest records behind any figure. Default: the k that was promised, else 3.", min=2
        ),
    ] = None
    sample: Annotated[int, Param("Records of the original that attacks try; 0 for no attacks.", min=0)] = 1000
    order: Annotated[int, Param("SAFE deviations: tables of up to this many nominal columns.", min=1, max=10)] = 2


@dataclass(frozen=True)
class RecordsBefore:
    """How many records there were: as recorded, and as the original has them now."""

    recorded: int | None
    now: int | None


@dataclass(frozen=True)
class AuditFacts:
    """What a report says of an audit."""

    check: str
    columns: list[str]
    value: float | None
    threshold: float | None
    at_least: bool
    passed: bool | None
    status: Status
    meaning: str


@dataclass(frozen=True)
class ClassFacts:
    """Classes of neighbouring sizes."""

    size: str
    classes: int
    records: int


@dataclass(frozen=True)
class AttackFacts:
    """How far an attack got, beside chance."""

    name: str
    rate: float
    ci: list[float]
    chance: float
    n: int


@dataclass(frozen=True)
class LossFacts:
    """IL: as it is measured record by record, else as it was recorded when the release was made."""

    il: float | None = field(metadata=named("IL"))
    by_column: dict[str, float]
    changed: dict[str, float]
    measured: bool


@dataclass(frozen=True)
class Nothing:
    """What could not be compared."""


@dataclass
class Facts:
    """The facts about a release: first what it is, then what was measured, then what an intruder makes of it."""

    release: int | None
    """Its number in sqlmicro.releases."""
    table: str
    source: str | None
    original: str | None
    no_original: str
    """Why there is no original to compare with."""
    unit: str | None
    """The column that says whose record it is."""
    nulls: str
    sensitive: list[str]
    records: int
    records_before: RecordsBefore
    started: str | None
    steps: list[StepFacts]
    kept: list[str]
    """Columns released as they were."""
    dropped: list[str]
    versions: dict[str, str]
    recorded_audits: list[RecordedCheck]
    attacks: list[AttackFacts]
    attacked: list[str]
    """The columns that the attacker knows."""
    attacks_assume: bool
    """Whether rates of linkage are upper bounds, since nothing tells which record became which."""
    no_attacks: str
    """Why none was made."""
    not_tried: list[NotTried]
    candidates: list[Point]
    """The recorded releases of the same source with the same columns, on an R-U map."""
    other_candidates: list[str]
    safe_candidates: list[RecordedCandidate]
    quasi: list[str] = field(default_factory=list)
    min_k: int = SMALLEST_K
    """Fewest records behind a figure."""
    audits: list[AuditFacts] = field(default_factory=list)
    verdict: VerdictReport = field(default_factory=lambda: Verdict((), (), None, {}).told())
    class_sizes: list[ClassFacts] = field(default_factory=list)
    below_k: int = 0
    """Records in classes of fewer than `min_k`."""
    columns: list[ColumnFacts] = field(default_factory=list)
    correlations: list[Correlation] = field(default_factory=list)
    distances: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """The distance of every column before and after, by its measure."""
    loss: LossFacts = field(default_factory=lambda: LossFacts(None, {}, {}, False))
    missing: list[disclosure.MissingShare] = field(default_factory=list)
    deviations: TableFacts | Nothing = field(default_factory=Nothing)
    passed: bool | None = None
    """Whether the promise was kept; None where no k was promised."""
    to: str | None = None
    """The file that was written."""
    markdown: str | None = field(default=None, metadata=WHOLE)


def collect(warehouse: DuckDBWarehouse, options: ReportOptions) -> tuple[Facts, Verdict, RecordedRelease | None]:
    """Return the facts about a release, its verdict before any attack, and what is recorded of it.

    Parameters
    ----------
    warehouse : DuckDBWarehouse
        Where the release is, opened for reading.
    options : ReportOptions
        The options of `sqlmicro report`.

    Raises
    ------
    InputError
        When the release, or an original that was named, is not there.
    ParameterError
        When nothing is recorded of the release and no --quasi is given.
    """
    known = recorded.find_release(warehouse, options.release)
    audited, facts = _audited(warehouse, options, known)
    warehouse.seal()
    verdict = _verdict(audited, known.promises if known else Promises(), options)
    if not options.quasi:
        quasi = [name for name in verdict.quasi if name not in facts.sensitive]
        audited = replace(audited, quasi=tuple(pick(audited.release.columns, quasi, "report, --quasi")), _made={})
    facts.verdict, facts.passed = verdict.told(), verdict.passed
    facts.quasi = [column.name for column in audited.quasi]
    facts.min_k = max([one.k for one in verdict.promised] + [step.k or 0 for step in facts.steps], default=0)
    facts.min_k = facts.min_k or SMALLEST_K
    needed = max((one.k for one in verdict.promised if set(one.columns) == set(facts.quasi)), default=0)
    _measure(audited, facts, _audits(audited, options, needed), known)
    return facts, verdict, known


def _measure(audited: AuditedRelease, facts: Facts, rows: Sequence[AuditRow], known: RecordedRelease | None) -> None:
    """Put what was measured into the facts."""
    k = facts.min_k
    facts.audits = [_audit(row) for row in rows]
    sizes = next((row.detail.histogram for row in rows if isinstance(row.detail, ClassCounts)), {})
    steps = disclosure.class_steps({size: n for size, n in sizes.items() if size >= k}, k)
    facts.class_sizes = [ClassFacts(step.label, step.classes, step.records) for step in steps]
    facts.below_k = sum(size * n for size, n in sizes.items() if size < k)
    facts.columns = distributions.columns(audited, k)
    facts.loss = LossFacts(known.il if known else None, {}, {}, False)
    for row in rows:
        if row.value is None:
            continue
        found = row.detail.more if isinstance(row.detail, ByColumn) else row.detail
        if isinstance(row.detail, ByColumn) and row.check in _DISTANCES:
            facts.distances[row.check] = row.detail.by_column
        elif isinstance(found, Correlated):
            both = found.before_and_after.items()
            known_pairs = [(pair, old, new) for pair, (old, new) in both if old is not None and new is not None]
            facts.correlations = [Correlation(*one) for one in known_pairs]
        elif isinstance(found, LossByColumn):
            facts.loss = LossFacts(row.value, found.by_column, found.changed, True)
        elif isinstance(found, MissingRates):
            facts.missing = disclosure.missing(found, k)
        elif isinstance(found, Deviating):
            facts.deviations = distributions.deviations(audited, row.value, found)


def _verdict(audited: AuditedRelease, promises: Promises, options: ReportOptions) -> Verdict:
    """Return what the release is worth by now, counting records, or entities where these are named."""

    count = promised.counter(audited.warehouse, audited.release.relation)
    if audited.entity is not None or audited.nulls != "own_value":

        def count(columns: Sequence[Column]) -> int:
            return k_anonymity.sizes_of(replace(audited, quasi=tuple(columns), _made={})).k

    apart = {column.name: "sensitive" for column in audited.sensitive}
    if audited.weight is not None:
        apart[audited.weight.name] = "weight"
    quasi = [column.name for column in audited.quasi]
    if options.min_k and not quasi:
        left_out = {*apart, *promises.apart}
        everything = [column.name for column in audited.release.columns if column.name not in left_out]
        quasi = max((list(columns) for _, columns in promises.over), key=len, default=everything)
    demanded = [(options.min_k, quasi)] if options.min_k else []
    unit = audited.entity.name if audited.entity else ""
    columns = audited.release.columns
    return promised.measured(columns, promises, count, apart=apart, demanded=demanded, unit=unit)


def _audited(
    warehouse: DuckDBWarehouse, options: ReportOptions, known: RecordedRelease | None
) -> tuple[AuditedRelease, Facts]:
    """Return what is audited, and the facts that say what it is."""

    table = known.target if known else options.release
    try:
        release = find_source(warehouse, table)
    except InputError:
        if known is None:
            raise
        raise InputError(
            "--release", f"what was published as {table!r} must still be there", "nothing", "Name another release"
        ) from None
    if not options.quasi and known is None:
        raise ParameterError(
            "report, --quasi", "is needed where nothing is recorded of the release", "none",
            f"The table has: {', '.join(column.name for column in release.columns)}",
        )  # fmt: skip
    original, why = options.original, ""
    if original is None:
        original, why = recorded.original_of(known)
    audited = inputs.audited(warehouse, table, replace(options, original=None))
    if original is not None:
        try:
            theirs = find_source(warehouse, original, options, name="original_source")
            if theirs.relation == release.relation and not theirs.is_file:
                raise InputError("--original", "must not be the release itself", repr(original))
            audited = replace(audited, original=theirs)
        except InputError:
            if options.original is not None:
                raise
            original, why = None, f"its source, {original}, is no longer there; name it with --original"
    return audited, _said(warehouse, options, known, table, audited, original, why)


def _said(
    warehouse: DuckDBWarehouse,
    options: ReportOptions,
    known: RecordedRelease | None,
    table: str,
    audited: AuditedRelease,
    original: str | None,
    why: str,
) -> Facts:
    """Return what a report says of a release before anything is measured on it."""
    return Facts(
        release=known.id if known else None,
        table=table,
        source=known.source if known else None,
        original=original,
        no_original=why,
        unit=options.entity,
        nulls=options.nulls,
        sensitive=[column.name for column in audited.sensitive],
        records=warehouse.count(audited.release.relation),
        records_before=RecordsBefore(
            known.n + (known.suppressed or 0) if known else None,
            warehouse.count(audited.original.relation) if audited.original else None,
        ),
        started=str(known.started)[:16] if known else None,
        steps=recorded.steps_of(known) if known else [],
        kept=known.parameters.kept if known else [],
        dropped=[*known.parameters.direct_identifiers, *known.parameters.dropped] if known else [],
        versions=known.versions if known else {},
        recorded_audits=known.audits if known else [],
        attacks=[],
        attacked=[],
        attacks_assume=False,
        no_attacks=why or "none was asked for",
        not_tried=[],
        candidates=[],
        other_candidates=[],
        safe_candidates=known.candidates if known else [],
    )


def _audits(audited: AuditedRelease, options: ReportOptions, needed: int) -> list[AuditRow]:
    """Run every audit the inputs allow that has a gate, k-anonymity against what was needed; also the SAFE distance."""

    rows = runner.run(audited, (), {k_anonymity.GATE: needed} if needed and audited.quasi else {}, {})
    rows = [row for row in rows if find(row.check).gate]
    if audited.original is not None:
        rows += runner.run(audited, ("safe-distance",), {}, {"order": options.order})
    return rows


def _audit(row: AuditRow) -> AuditFacts:
    """Return what a report says of an audit: no histogram, and nothing by column, which has a place of its own."""
    return AuditFacts(
        row.check, row.columns, row.value, row.threshold, row.at_least, row.passed, row.status, find(row.check).summary
    )
