"""Referential integrity of releases that are published together: what joined before joins after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlmicro.audits.row import Check
from sqlmicro.database.columns import Column
from sqlmicro.errors import AuditFailed
from sqlmicro.publish.release import Release


@dataclass(frozen=True)
class Reference:
    """Columns of a release that refer to columns of another one, or of itself."""

    where: str
    child: Release
    columns: tuple[Column, ...]
    parent: Release
    to: tuple[Column, ...]
    max_lost: int


def audit(references: Iterable[Reference]) -> None:
    """Count the rows that joins lose, in what was written, and note it with the audits of the release that refers.

    Raises
    ------
    AuditFailed
        When a join loses more rows than its key allows.
    """
    failed = []
    for reference in references:
        check = _checked(reference)
        reference.child.audits[None].checks.append(check)
        if not check.passed:
            failed.append((reference, check))
    if failed:
        raise AuditFailed(
            failed[0][0].where,
            "what a foreign key joined before, it must join in the releases",
            "; ".join(f"{reference.child.report.source}: {check.told}" for reference, check in failed),
            "Nothing was published. A step may leave out records that others refer to: use one that keeps them, or set "
            "max_lost in the [[key]]",
        )


def _checked(reference: Reference) -> Check:
    """Return how many rows of the join are lost; rows that joined nothing before and something after count too."""
    child, parent = reference.child.run, reference.parent.run
    ((_, _, held, joined),) = child.warehouse.rows(
        "audit/references.sql",
        child_before=child.original,
        parent_before=parent.original,
        child_kept=child.current,
        child=reference.child.audits[None].relation,
        parent=reference.parent.audits[None].relation,
        columns=reference.columns,
        keys=reference.to,
        released_columns=[replace(column, staged=column.name) for column in reference.columns],
        released_keys=[replace(column, staged=column.name) for column in reference.to],
    )
    lost, most = abs(held - joined), reference.max_lost
    names = [column.name for column in reference.columns]
    return Check("rows lost by a join", names, lost, most, False, lost <= most)
