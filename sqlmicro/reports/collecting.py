"""Collecting the facts of a report: reading what is recorded, and measuring the release and its original.

What the checks that were demanded of a release come to, those that were recorded and those of this report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlmicro.audits import inputs, k_anonymity, runner
from sqlmicro.audits.information_loss import LossByColumn, MissingRates
from sqlmicro.audits.k_anonymity import ClassCounts
from sqlmicro.audits.moments import Correlated
from sqlmicro.audits.registry import AuditRow, ByColumn, Check, audits, find
from sqlmicro.audits.regression import Deviating
from sqlmicro.audits.verdict import PERSONS, UNION_K, Promises, Verdict, class_counter, judge_promises, told_of_check
from sqlmicro.audits.verdict_words import told
from sqlmicro.database.columns import names_of, pick
from sqlmicro.database.finding import find_source
from sqlmicro.database.source import Source
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.history.union import output_hash
from sqlmicro.options.limits import limits as declared
from sqlmicro.reports import disclosure, distributions, recorded
from sqlmicro.reports.charts import Correlation
from sqlmicro.reports.facts import (
    SMALLEST_K,
    AuditFacts,
    Claims,
    ClassFacts,
    Facts,
    LossFacts,
    RecordsBefore,
    ReportOptions,
)
from sqlmicro.reports.recorded import WITH_OTHERS, RecordedCheck, RecordedRelease
from sqlmicro.system.sentences import join, say

if TYPE_CHECKING:
    from sqlmicro.audits.audited import AuditedRelease
    from sqlmicro.database.columns import Column
    from sqlmicro.database.warehouse import Database

_DISTANCES = ("hellinger", "emd")


def collect(warehouse: Database, options: ReportOptions) -> tuple[Facts, Verdict, RecordedRelease | None]:
    """Return the facts about a release, its verdict before any attack, and what is recorded of it.

    Parameters
    ----------
    warehouse : Database
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
    limits = demanded_limits(known)
    audited, facts = _audited(warehouse, options, known, limits.sensitive)
    warehouse.seal()
    verdict = _verdict(audited, known.promises if known else Promises(), options)
    if not options.quasi:
        quasi = [name for name in verdict.quasi if name not in facts.sensitive]
        audited = replace(audited, quasi=tuple(pick(audited.release.columns, quasi, "report, --quasi")), _made={})
    facts.quasi = [column.name for column in audited.quasi]
    facts.min_k = max([one.k for one in verdict.promised] + [step.k or 0 for step in facts.steps], default=0)
    facts.min_k = facts.min_k or SMALLEST_K
    needed = max((one.k for one in verdict.promised if set(one.columns) == set(facts.quasi)), default=0)
    gates: dict[str, float] = {k_anonymity.GATE: needed} if needed and audited.quasi else {}
    kept = not verdict.uncounted and set(facts.sensitive) == set(limits.sensitive)
    if kept and not limits.alone:
        gates |= limits.gates
    rows = _audits(audited, options, gates, limits.settings)
    if kept and limits.alone:
        rows += _of_each(audited, limits)
    verdict = after_checks(verdict, known, rows)
    facts.verdict, facts.passed = told(verdict), verdict.passed
    facts.with_others = verdict.with_others
    _measure(audited, facts, rows, known)
    return facts, verdict, known


def as_published(warehouse: Database, name: str, *, goes_on: bool) -> RecordedRelease:
    """Return what is recorded of a release that is out, and has the content it was published with, or `goes_on`.

    Raises
    ------
    InputError, AuditFailed
        When it is not.
    """
    known, do = recorded.find_release(warehouse, name), "Release it again"
    if known is None:
        raise InputError(name, "must be recorded as a release", "no record of it", do)
    if known.withdrawn is not None:
        raise AuditFailed(name, "must be a release that is out", f"release {known.id}, withdrawn", do)
    there = find_source(warehouse, known.target)
    if not goes_on and output_hash(warehouse, there.relation, there.columns) != known.output_hash:
        raise AuditFailed(name, "must be as it was published", "other content: somebody has changed it since", do)
    return known


def _measure(audited: AuditedRelease, facts: Facts, rows: Sequence[AuditRow], known: RecordedRelease | None) -> None:
    """Put what was measured into the facts."""
    k = facts.min_k
    facts.audits = [_audit(row) for row in rows]
    sizes = next((row.detail.histogram for row in rows if isinstance(row.detail, ClassCounts)), {})
    steps = disclosure.class_steps({size: n for size, n in sizes.items() if size >= k}, k)
    facts.class_sizes = [ClassFacts(step.label, step.classes, step.records) for step in steps]
    facts.below_k = sum(size * n for size, n in sizes.items() if size < k)
    if audited.person and facts.below_k:
        facts.below_k = k_anonymity.sizes_of(audited).below(k)[1]
    facts.columns = distributions.columns(audited, k)
    facts.loss = _recorded_loss(known)
    if audited.original is None:  # then the release stands for it, and what is before is not shown
        both = replace(audited, original=audited.release, _made={})
        rows = [*rows, *runner.run(both, ("missing-rate",), {}, {})]
    for row in rows:
        if row.value is None:
            continue
        found = row.detail.more if isinstance(row.detail, ByColumn) else row.detail
        if isinstance(row.detail, ByColumn) and row.check in _DISTANCES:
            facts.distances[row.check] = row.detail.by_column
        elif isinstance(found, Correlated):
            pairs = found.before_and_after.items()
            known_pairs = [(pair, old, new) for pair, (old, new) in pairs if old is not None and new is not None]
            facts.correlations = [Correlation(*one) for one in known_pairs]
        elif isinstance(found, LossByColumn):
            facts.loss = LossFacts(row.value, found.by_column, found.changed, True)
        elif isinstance(found, MissingRates):
            shares = disclosure.missing(found, k)
            facts.missing = shares if audited.original else [replace(one, before=None) for one in shares]
        elif isinstance(found, Deviating):
            facts.deviations = distributions.deviations(audited, row.value, found)


def _recorded_loss(known: RecordedRelease | None) -> LossFacts:
    """Return what was lost as it was recorded, record by record; what was released as it is lost nothing."""
    if known is None:
        return LossFacts(None, {}, {}, False)
    lost = next((row.loss_by_column for row in known.siblings if row.id == known.id), {})
    numeric = set(known.parameters.numeric)
    il = {name: value for name, value in lost.items() if name in numeric}
    changed = {name: value / 100 for name, value in lost.items() if name not in numeric}
    return LossFacts(known.il, {**il}, {**changed, **dict.fromkeys(known.parameters.kept, 0.0)}, False)


def _verdict(audited: AuditedRelease, promises: Promises, options: ReportOptions) -> Verdict:
    """Return what the release is worth by now, counting records, or persons where these are named."""

    count = class_counter(audited.warehouse, audited.release.relation)
    if audited.person or audited.nulls != "own_value":

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
    unit = ", ".join(names_of(audited.person))
    columns = audited.release.columns
    return judge_promises(columns, promises, count, apart=apart, demanded=demanded, unit=unit)


def _without_emptied(
    warehouse: Database, release: Source, known: RecordedRelease | None, named: Sequence[str]
) -> Source:
    """Return a table without the columns that a release in place has emptied: they are in it, and tell nothing.

    One that somebody has filled since counts as any other, and so does one that is named.
    """
    dropped = {*known.parameters.direct_identifiers, *known.parameters.dropped} - {*named} if known else set()
    text = "SELECT count({{ c | ident }}) FROM {{ r | ident }}"
    emptied = [
        column for column in release.columns
        if column.name in dropped and not warehouse.query("report", text, c=column.name, r=release.relation)[0][0]
    ]  # fmt: skip
    return replace(release, columns=tuple(column for column in release.columns if column not in emptied))


def _audited(
    warehouse: Database, options: ReportOptions, known: RecordedRelease | None, sensitive: Sequence[str]
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
    own = {column.name for column in release.columns}
    if not options.sensitive and set(sensitive) <= own - set(options.quasi):
        options = replace(options, sensitive=tuple(sensitive))
    if known and not options.person and set(known.parameters.told_person) <= own:
        options = replace(options, person=tuple(known.parameters.told_person))
    original, why = options.original, ""
    if original is not None and known is not None and known.series is not None:
        raise night_alone(original)
    if original is None:
        original, why = recorded.original_of(known)
    audited = inputs.audited(warehouse, table, replace(options, original=None))
    audited = replace(audited, release=_without_emptied(warehouse, audited.release, known, options.quasi))
    if original is not None:
        try:
            theirs = find_source(warehouse, original, options, name="original_source")
            if theirs.relation == release.relation and not theirs.is_file:
                raise InputError("--original", "must not be the release itself", repr(original))
            audited = replace(audited, original=theirs)
        except InputError:
            if options.original is not None:
                raise
            why = say("its source, {source}, is no longer there; name it with --original", source=original)
            original = None
    return audited, _said(warehouse, options, known, table, audited, original, why)


def night_alone(original: str) -> ParameterError:
    """Return what is said where a night of a series is to be reported of beside its original."""
    return ParameterError(
        "report, --original", "is not compared with a night of a series: two pages would differ by whoever is new",
        repr(original), "Leave it out. What sqlmicro audit and attack find with --original is for you alone",
    )  # fmt: skip


def _said(
    warehouse: Database,
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
        unit=", ".join(options.person),
        nulls=options.nulls,
        sensitive=[column.name for column in audited.sensitive],
        records=warehouse.count(audited.release.relation),
        records_before=RecordsBefore(
            known.n + (known.suppressed or 0) if known and known.series is None else None,
            warehouse.count(audited.original.relation) if audited.original else None,
        ),
        started=str(known.started)[:16] if known else None,
        steps=recorded.steps_of(known) if known else [],
        kept=known.parameters.kept if known else [],
        dropped=[*dict.fromkeys((*known.parameters.direct_identifiers, *known.parameters.dropped))] if known else [],
        versions=known.versions if known else {},
        recorded_audits=known.audits if known else [],
        attacks=[],
        attacked=[],
        attacks_assume=False,
        no_attacks=why or say("none was asked for"),
        not_tried=[],
        candidates=[],
        other_candidates=[],
        safe_candidates=known.candidates if known else [],
        claims=_claims(known),
        household=known.parameters.household if known else [],
        series=known.series if known else None,
        with_others=None,
        made=datetime.now(UTC).date().isoformat(),
        lang=options.lang,
    )


def _claims(known: RecordedRelease | None) -> Claims:
    if known is None:
        return Claims({}, False, [], [], {}, None)
    given = known.parameters
    return Claims(
        given.apart, given.rows_are_persons, given.of_person, given.identifier_ok, known.accepted, known.withdrawn
    )


def _audits(
    audited: AuditedRelease, options: ReportOptions, gates: Mapping[str, float], settings: Mapping[str, object]
) -> list[AuditRow]:
    """Run every audit the inputs allow that has a gate, against what was promised; also the SAFE distance."""

    rows = runner.run(audited, (), gates, settings)
    rows = [row for row in rows if find(row.check).gate]
    if audited.original is not None:
        rows += runner.run(audited, ("safe-distance",), {}, {"order": options.order})
    return rows


def _of_each(audited: AuditedRelease, limits: DemandedLimits) -> list[AuditRow]:
    """Hold the classes of every column alone to what was promised of them."""
    columns = {column.name: column for column in audited.release.columns}
    alone = [columns[name] for name in limits.alone if name in columns]
    wanted = [found.name for found in audits().values() if found.gate in limits.gates]
    return [
        row for column in alone
        for row in runner.run(replace(audited, quasi=(column,), _made={}), wanted, limits.gates, limits.settings)
    ]  # fmt: skip


def _audit(row: AuditRow) -> AuditFacts:
    """Return what a report says of an audit: no histogram, and nothing by column, which has a place of its own."""
    return AuditFacts(
        row.check, row.columns, row.value, row.threshold, row.at_least, row.passed, row.status,
        find(row.check).summary, row.reason,
    )  # fmt: skip


def after_checks(verdict: Verdict, known: RecordedRelease | None, rows: Sequence[AuditRow]) -> Verdict:
    """Return the verdict once other checks count: one that failed or could not be made is never passed over.

    Parameters
    ----------
    verdict : Verdict
        What the k of the release comes to.
    known : RecordedRelease, optional
        What is recorded of it. A check that failed when it was recorded counts, unless this report made it again.
    rows : sequence of AuditRow
        The audits of this report.
    """
    demanded = [row for row in rows if row.threshold is not None and row.check != "k-anonymity"]
    failed = [told_of_check(row) for row in demanded if row.status == "failed"]
    not_run = [join([told_of_check(row), row.reason or ""], ": ") for row in demanded if row.status == "unknown"]
    if known is None:
        return replace(verdict, failed=tuple(failed), not_run=tuple(not_run))
    again = {row.label for row in demanded}
    failed += [
        told_of_check(as_check(one)) for one in known.audits
        if one.passed is False and one.check not in again and not _is_of_k(one.check)
    ]  # fmt: skip
    if verdict.uncounted and not any(_name(one) == PERSONS and one.passed for one in known.audits):
        not_run.append(say("persons ({columns}) were never counted", columns=verdict.uncounted))
    others = [int(one.value or 0) for one in known.together if _name(one) == UNION_K]
    least: dict[str, RecordedCheck] = {}
    for one in known.together:
        if _name(one) != UNION_K and _fails(one):
            least[one.check] = min(least.get(one.check, one), one, key=lambda found: found.value or 0)
    return replace(
        verdict, failed=tuple(failed), not_run=tuple(not_run), with_others=min(others, default=None),
        waived=tuple(told_of_check(as_check(one)) for one in least.values()),
    )  # fmt: skip


class DemandedLimits(NamedTuple):
    """What was promised of sensitive columns besides k."""

    sensitive: Sequence[str] = ()
    gates: Mapping[str, float] = {}
    """The limits, by the gates of their audits."""
    settings: Mapping[str, object] = {}
    """Of these audits."""
    alone: Sequence[str] = ()
    """The columns whose values are classes, each for itself; none: their combinations are."""


def demanded_limits(known: RecordedRelease | None) -> DemandedLimits:
    """Return what was promised of sensitive columns.

    No limits where several steps promised it, or a hierarchy is needed: what is recorded stands for it then.
    """
    steps = known.parameters.steps if known else []
    made = [step for step in steps if step.settings.get("sensitive")]
    sensitive = list(dict.fromkeys(name for step in made for name in _listed(step.settings["sensitive"])))
    if len(steps) != 1 or not made:
        return DemandedLimits(sensitive)
    (step,) = made
    settings = step.settings
    gates = {name: float(settings[name]) for name in declared() if settings.get(name) is not None}
    if settings.get("hierarchical"):
        gates.pop("max_t", None)
    alone = (*step.columns, *step.by) if step.promise == "column" else ()
    return DemandedLimits(sensitive, gates, {"c": settings["c"]} if "c" in settings else {}, alone)


def as_check(one: RecordedCheck) -> Check:
    """Return a check as it was recorded; the columns are in its label, and which bound it was is told by its result."""
    name, _, columns = one.check.partition(" (")
    least = _name(one) in WITH_OTHERS or _is_of_k(one.check)
    if one.value is not None and one.threshold is not None and one.passed is not None and one.value != one.threshold:
        least = (one.value > one.threshold) == one.passed
    return Check(name, [columns.removesuffix(")")] if columns else [], one.value, one.threshold, least, one.passed)


def _fails(one: RecordedCheck) -> bool:
    return one.threshold is not None and (one.value is None or one.value < one.threshold)


def _name(one: RecordedCheck) -> str:
    return one.check.partition(" (")[0]


def _is_of_k(check: str) -> bool:
    """Tell whether a check is one of k: the verdict has measured it itself."""
    return check.partition(" (")[0] in ("k-anonymity", PERSONS)


def _listed(value: object) -> Sequence[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else []
