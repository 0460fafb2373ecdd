"""What is approved of a job file: the tables as they were found, the role of every column, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlmicro.database.columns import names_of
from sqlmicro.database.source import Source
from sqlmicro.errors import AuditFailed
from sqlmicro.jobs.plan import Plan
from sqlmicro.jobs.steps import Job
from sqlmicro.options import common
from sqlmicro.options.joins import JoinOptions
from sqlmicro.options.params import parameters
from sqlmicro.reports.planned import ApprovedColumn, ApprovedTable, Difference

UNDECIDED = "undecided"
"""The role of a column of which nothing is said."""


def columns_of(plan: Plan) -> list[ApprovedColumn]:
    """Return every column of a table with what becomes of it."""
    return [ApprovedColumn(column.name, column.type, _role(plan, column.name)) for column in plan.columns]


def _role(plan: Plan, name: str) -> str:
    does = []
    for step in plan.steps:
        if name in names_of(step.columns):
            does.append(step.method.name)
        if name in names_of(step.by):
            does.append("stratum")
    if name in names_of(plan.roles.person):
        does.append("person")
    if name in names_of(plan.roles.of_person):
        does.append("of the person")
    if name in names_of(plan.roles.household):
        does.append("household")
    if name in names_of(plan.roles.identifiers):
        return "drop: looks like a direct identifier"
    if name in names_of(plan.roles.dropped):
        return " + ".join(["drop", *does])
    return " + ".join(does) or "keep"


def keys_of(jobs: Sequence[Job]) -> list[str]:
    """Return the keys between the tables, in words."""
    return [
        f"{job.options.table} ({', '.join(key.columns)}) to {jobs[key.parent].options.table} ({', '.join(key.to)})"
        for job in jobs
        for key in job.keys
    ]


def of_columns(
    table: str, was: Sequence[ApprovedColumn], now: Sequence[ApprovedColumn], decided: Iterable[str] = ()
) -> list[Difference]:
    """Return what differs in the columns of a table; `decided` are those, in small letters, that somebody named."""
    old, new = ({column.name: column for column in columns} for columns in (was, now))
    named, found = set(decided), []
    for name, column in new.items():
        where, known = f"{table}.{name}", old.get(name)
        if known is None:
            told = f"{column.type}, {column.role}"
            found.append(Difference("new column", where, None, told, name.lower() in named))
            continue
        if known.type != column.type:
            found.append(Difference("changed type", where, known.type, column.type, f"type of {name.lower()}" in named))
        if known.role != column.role:
            found.append(Difference("changed role", where, known.role, column.role, name.lower() in named))
    for name, column in old.items():
        if name not in new:
            found.append(Difference("column is gone", f"{table}.{name}", f"{column.type}, {column.role}", None, True))
    return found


def of_keys(was: Sequence[str], now: Sequence[str]) -> list[Difference]:
    """Return what differs in the keys: they stand in the policy, and so are decided."""
    gone = [Difference("key is gone", key, key, None, True) for key in was if key not in now]
    return [Difference("new key", key, None, key, True) for key in now if key not in was] + gone


def of_joins(was: Mapping[str, object], now: Mapping[str, object]) -> list[Difference]:
    """Return what differs in what a policy says of joins, which decides what k is counted over."""
    return [
        Difference("over joins", name, _said(was.get(name)), _said(now.get(name)), decided=True)
        for name in common.names(parameters(JoinOptions))
        if was.get(name) != now.get(name)
    ]


def _said(value: object) -> str:
    return "as by default" if value is None else ", ".join(value) if isinstance(value, list) else str(value)


def of_source(was: ApprovedTable, kind: str, definition: str, accepted: Iterable[str] = ()) -> list[Difference]:
    """Return what differs in what a table is: a view of its name, or of another text, may show whatever it likes."""
    decided = was.name.lower() in accepted
    if was.kind != kind:
        return [Difference(f"a {kind} in place of a {was.kind}", was.name, was.kind, kind, decided)]
    return (
        [] if was.definition == definition else [Difference("another text of the view", was.name, None, None, decided)]
    )


def refuse_drift(approved: ApprovedTable | None, plan: Plan, source: Source) -> None:
    """Refuse a table that is not as it was approved, before a record is released.

    Raises
    ------
    AuditFailed
        With what differs.
    """
    if approved is not None:
        found = of_source(approved, source.kind, source.definition)
        refuse(plan.job.label, [*found, *of_columns(approved.name, approved.columns, columns_of(plan))])


def refuse(where: str, found: Sequence[Difference]) -> None:
    """Refuse what differs from what was approved."""
    if found:
        raise AuditFailed(
            where,
            "schema, roles and keys must be those that were approved",
            "; ".join(f"{one.what} {one.where}" for one in found),
            "Nothing was published. See the changes, and approve them, with: sqlmicro plan",
        )


def table_from(told: Mapping[str, object], columns: Iterable[Mapping[str, str]]) -> ApprovedTable:
    """Return a table from what a plan file has of it."""
    given = {name: told[name] for name in ("name", "kind", "rows", "content", "key_fingerprint", "definition")}
    listed = [ApprovedColumn(one["name"], one["type"], one["role"]) for one in columns]
    return ApprovedTable(columns=listed, **given)  # type: ignore[arg-type]
