"""What the checks that were demanded of a release come to, those that were recorded and those of this report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlmicro.audits.row import AuditRow, Check
from sqlmicro.audits.verdict import PERSONS, UNION_K, Verdict, told
from sqlmicro.options.limits import limits as declared
from sqlmicro.reports.recorded import WITH_OTHERS, RecordedCheck, RecordedRelease
from sqlmicro.system.sentences import join, say


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
    failed = [told(row) for row in demanded if row.status == "failed"]
    not_run = [join([told(row), row.reason or ""], ": ") for row in demanded if row.status == "unknown"]
    if known is None:
        return replace(verdict, failed=tuple(failed), not_run=tuple(not_run))
    again = {row.label for row in demanded}
    failed += [
        told(as_check(one)) for one in known.audits
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
        waived=tuple(told(as_check(one)) for one in least.values()),
    )  # fmt: skip


class Limits(NamedTuple):
    """What was promised of sensitive columns besides k."""

    sensitive: Sequence[str] = ()
    gates: Mapping[str, float] = {}
    """The limits, by the gates of their audits."""
    settings: Mapping[str, object] = {}
    """Of these audits."""
    alone: Sequence[str] = ()
    """The columns whose values are classes, each for itself; none: their combinations are."""


def limits(known: RecordedRelease | None) -> Limits:
    """Return what was promised of sensitive columns.

    No limits where several steps promised it, or a hierarchy is needed: what is recorded stands for it then.
    """
    steps = known.parameters.steps if known else []
    made = [step for step in steps if step.settings.get("sensitive")]
    sensitive = list(dict.fromkeys(name for step in made for name in _listed(step.settings["sensitive"])))
    if len(steps) != 1 or not made:
        return Limits(sensitive)
    (step,) = made
    settings = step.settings
    gates = {name: float(settings[name]) for name in declared() if settings.get(name) is not None}
    if settings.get("hierarchical"):
        gates.pop("max_t", None)
    alone = (*step.columns, *step.by) if step.promise == "column" else ()
    return Limits(sensitive, gates, {"c": settings["c"]} if "c" in settings else {}, alone)


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
