"""The audit of what was published, read back before it becomes visible."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.row import Check
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import AuditFailed
from sqlmicro.pipeline import Run
from sqlmicro.publish.release import Output, OutputAudit


def audit_release(run: Run, output: Output, relation: Name, columns: Sequence[Column]) -> OutputAudit:
    """Hold what was published to its promises: rows, what the gates found, and what every step claims of its columns.

    Returns
    -------
    OutputAudit
        The first check is the k over all released columns that an attacker may know, None without any. `verdict.judge`
        says what they come to.

    Raises
    ------
    AuditFailed
        When a promise is broken.
    """
    warehouse = run.warehouse
    by_name = {column.name: column for column in columns}

    def published(found: Sequence[Column]) -> list[Column]:
        return [by_name[column.name] for column in found]

    known = run.known
    overall = k_anonymity.class_sizes(warehouse, relation, published(known)) if known else None
    first = _check("k-anonymity", known, overall.k if overall else None, None)
    expected, records = warehouse.count(output.relation), warehouse.count(relation)
    audits: list[Check] = [first, _check("rows", (), records, expected, passed=records == expected), *output.gated]
    for claim in run.claims:
        if claim.promise == "record" and claim.columns:
            if overall and set(claim.columns) == set(known):
                audits[0] = _check("k-anonymity", known, overall.k, max(claim.k, int(audits[0].threshold or 0)))
                continue
            sizes = k_anonymity.class_sizes(warehouse, relation, published(claim.columns))
            audits.append(_check("k-anonymity", claim.columns, sizes.k, claim.k))
        elif claim.promise == "column":
            audits += _value_frequencies(warehouse, relation, published(claim.columns), claim.k)
    failed = [check for check in audits if check.passed is False]
    if failed:
        raise AuditFailed(
            "audit",
            "the release must keep what its methods promise",
            "; ".join(check.told for check in failed),
            _why_failed(run),
        )
    return OutputAudit(audits, overall, relation)


def _why_failed(run: Run) -> str:
    if len(run.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    return "Nothing was published. If few values are missing, choose another --nulls"


def _check(
    name: str, columns: Sequence[Column], value: int | None, threshold: int | None, passed: bool | None = None
) -> Check:
    if passed is None and threshold is not None:
        passed = value is not None and value >= threshold
    return Check(name, [column.name for column in columns], value, threshold, True, passed)


def _value_frequencies(warehouse: Warehouse, relation: Name, columns: Sequence[Column], k: int) -> list[Check]:
    """Check that the rarest value of every column occurs at least k times; NULL counts as a value."""
    sizes = [k_anonymity.class_sizes(warehouse, relation, [column]) for column in columns]
    return [_check("value frequency", [column], found.k, k) for column, found in zip(columns, sizes, strict=True)]
