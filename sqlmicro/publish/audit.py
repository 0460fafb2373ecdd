"""The audit of what was published, read back before it becomes visible."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.k_anonymity import ClassSizes
from sqlmicro.audits.row import Check
from sqlmicro.audits.verdict import PERSONS
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import AuditFailed
from sqlmicro.pipeline import Run
from sqlmicro.publish.release import Output, OutputAudit

_FREQUENCY = "value frequency"
_COUNTED = ("k-anonymity", _FREQUENCY, PERSONS)
"""The checks that fail where a few values are missing."""


def audit_release(run: Run, output: Output, relation: Name, columns: Sequence[Column]) -> OutputAudit:
    """Hold what was published to its promises: rows, what the gates found, and what every step claims of its columns.

    Returns
    -------
    OutputAudit
        The first check is the k over all released columns that an attacker may know, None without any; where k counts
        persons, these were counted before. `verdict.judge` says what they come to.

    Raises
    ------
    AuditFailed
        When a promise is broken.
    """
    warehouse = run.warehouse
    by_name = {column.name: column for column in columns}

    def published(found: Sequence[Column]) -> list[Column]:
        return [by_name[column.name] for column in found]

    counted: dict[frozenset[str], ClassSizes] = {}

    def sizes_of(found: Sequence[Column]) -> ClassSizes:
        """Return the sizes of the classes of some columns, counted once."""
        names = frozenset(column.name for column in found)
        if names not in counted:
            counted[names] = k_anonymity.class_sizes(warehouse, relation, published(found))
        return counted[names]

    known = run.known
    alone = _promises_columns(run) and len(known) > 1 and k_anonymity.one_alone(warehouse, relation, published(known))
    overall = sizes_of(known) if known and not alone else None
    first = _check("k-anonymity", known, overall.k if overall else 1 if alone else None, None)
    expected, records = warehouse.count(output.relation), warehouse.count(relation)
    at = 1 if run.counted and known else 0
    rows = _check("rows", (), records, expected, passed=records == expected)
    audits: list[Check] = [*output.gated[:at], first, rows, *output.gated[at:]]
    for claim in run.claims:
        if claim.promise == "record" and claim.columns:
            if overall and set(claim.columns) == set(known):
                audits[at] = _check("k-anonymity", known, overall.k, max(claim.terms.k, int(audits[at].threshold or 0)))
                continue
            audits.append(_check("k-anonymity", claim.columns, sizes_of(claim.columns).k, claim.terms.k))
        elif claim.promise == "column":  # the rarest value of every column occurs at least k times; NULL is a value
            audits += [_check(_FREQUENCY, [column], sizes_of([column]).k, claim.terms.k) for column in claim.columns]
    failed = [check for check in audits if check.passed is False]
    if failed:
        raise AuditFailed(
            "audit",
            "the release must keep what its methods promise",
            "; ".join(check.told for check in failed),
            _why_failed(run, failed),
        )
    return OutputAudit(audits, overall, relation, tuple(columns), records)


def _promises_columns(run: Run) -> bool:
    """Tell whether all that is promised is promised of single columns: no classes of records were asked for."""
    return {claim.promise for claim in run.claims} == {"column"}


def _why_failed(run: Run, failed: Sequence[Check]) -> str:
    if len(run.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    if any(check.check in _COUNTED for check in failed):
        return "Nothing was published. If few values are missing, choose another --nulls"
    return "Nothing was published. The step did not keep what it was asked for: ask for less, or use another method"


def _check(
    name: str, columns: Sequence[Column], value: int | None, threshold: int | None, passed: bool | None = None
) -> Check:
    if passed is None and threshold is not None:
        passed = value is not None and value >= threshold
    return Check(name, [column.name for column in columns], value, threshold, True, passed)
