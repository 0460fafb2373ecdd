"""Plan and apply: what a policy will do is compared with what was done last, signed off, and done exactly.

What is approved of a job file: the tables as they were found, the role of every column, and the keys.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets as random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.database import attach
from sqlmicro.database.catalog import table_labels
from sqlmicro.database.columns import names_of
from sqlmicro.database.content import content
from sqlmicro.database.files import file_format, file_stem
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.views import views
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import AuditFailed, InputError, JobError
from sqlmicro.jobs import file, joins
from sqlmicro.jobs.plan import Plan, compiled, drafted, looked_at
from sqlmicro.jobs.roles import named
from sqlmicro.jobs.steps import Job
from sqlmicro.mask.keyed import VARIABLE
from sqlmicro.options import common
from sqlmicro.options.common import JoinOptions
from sqlmicro.options.params import Param, parameters
from sqlmicro.reports.planned import ApprovedColumn, ApprovedTable, Difference, PlannedRelease
from sqlmicro.system import secrets
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import as_json

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


_FORMAT = 2


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What `sqlmicro plan` takes."""

    policy: Annotated[str, Param("Job file, TOML.", metavar="FILE.toml", positional=True)]
    out: Annotated[
        str | None, Param("Plan file to write. Default: that of the policy, .plan.json.", metavar="FILE.json")
    ] = None
    accept: Annotated[
        tuple[str, ...],
        Param(
            "Columns whose changed type is accepted, as table.column, and tables that may now be views or other views.",
            metavar="A,B",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """What `sqlmicro apply` takes."""

    plan: Annotated[
        str, Param("Plan file, JSON, that sqlmicro plan has written.", metavar="FILE.json", positional=True)
    ]
    approved: Annotated[
        str | None,
        Param(
            "The hash that was signed off; another plan is refused. Without it the plan must be one that this user "
            "has made.",
            metavar="HASH",
        ),
    ] = None
    exact: Annotated[bool, Param("Refuse changed records too, not only another schema.")] = False
    dry_run: Annotated[bool, Param("Do everything except publishing; nothing is written.")] = False


@dataclass(frozen=True)
class Found:
    """What a policy comes to over the tables as they are now."""

    tables: list[ApprovedTable]
    keys: list[str]
    undecided: list[Difference]
    """Tables and views of the database that the policy does not name."""


def plan_values(options: PlanOptions, progress: Progress) -> PlannedRelease:
    """Show what a policy will do, compared with what was applied last, and write a plan that can be signed off.

    While a new column, table or view, or a changed type, is not decided, no plan is written and the exit code is 1.
    Take `plan` before every night whose tables may have changed; take `explain` to read in words what a policy does.
    """

    path = Path(options.policy)
    told = file.content(options.policy)
    jobs = file.of_content(options.policy, told, {}, progress)
    found = _found(options.policy, jobs)
    last = _read(_applied(path)) if _applied(path).exists() else None
    differences = _differences(last, found, jobs, options.accept)
    differences += of_joins(last["job"], told) if last else []
    if last and not _is_sealed(last):
        now = "compared with all the same, but somebody may have changed it"
        differences.append(Difference("not sealed by this user", _applied(path).name, None, now, decided=True))
    out = Path(options.out) if options.out else path.with_name(f"{path.stem}.plan.json")
    if out.suffix != ".json":
        raise InputError("plan, --out", "must be a path that ends in .json", repr(str(out)))
    if not all(one.decided for one in differences):
        return PlannedRelease(options.policy, None, None, differences, found.tables, found.keys, passed=False)
    for job in jobs:
        _need_key(job)
    body = {
        "format": _FORMAT,
        "policy": os.path.relpath(path.absolute(), out.absolute().parent),
        "job": json.loads(json.dumps(told, default=str)),
        "tables": as_json(found.tables),
        "keys": found.keys,
    }
    hashed = _hash(body)
    _write(out, {**body, "hash": hashed, "seal": secrets.seal(hashed)})
    return PlannedRelease(options.policy, str(out), hashed, differences, found.tables, found.keys, passed=True)


def approved_plan(options: ApplyOptions) -> dict[str, Any]:
    """Return what a plan file says: it is read once, so that what is checked is what is done.

    Raises
    ------
    InputError
        When the file is no plan, or was changed by accident after it was made.
    AuditFailed
        When it is not the one that was signed off, or nobody says so and this user has not made it.
    """
    told = _read(Path(options.plan))
    if options.approved is not None and options.approved != told["hash"]:
        raise AuditFailed("apply, --approved", "must be the hash of the plan", "that of another one",
                          "Nothing was published. Apply the one that was signed off, or sign off this one")  # fmt: skip
    if options.approved is None and not _is_sealed(told):
        must = "a plan is the one whose hash was signed off, or one that this user has made"
        raise AuditFailed("apply", must, "another, or one that was changed",
                          "Nothing was published. Give --approved HASH, or plan again")  # fmt: skip
    return told


def _is_sealed(told: Mapping[str, Any]) -> bool:
    """Tell whether this user has written a plan: whoever edits one can make a new hash, but no new seal."""
    made = secrets.seal(told["hash"])
    return made is not None and hmac.compare_digest(str(told.get("seal")).encode(), made.encode())


def approved_jobs(options: ApplyOptions, told: Mapping[str, Any], progress: Progress) -> list[Job]:
    """Return the jobs of a plan, each with the table as it was approved.

    Raises
    ------
    InputError
        When it does not have a table for every job.
    AuditFailed
        When schema, roles or keys are not those that were approved; with `exact`, or the records.
    """
    where = str(Path(options.plan).parent / told["policy"])
    overrides = {"dry_run": True} if options.dry_run else {}
    jobs = file.of_content(where, told["job"], overrides, progress)
    tables = [table_from(table, table["columns"]) for table in told["tables"]]
    if len(tables) != len(jobs):
        raise InputError(options.plan, "must have every table of its job", f"{len(tables)} of {len(jobs)}")
    now = _found(options.plan, jobs)
    differences = of_keys(told["keys"], now.keys)
    for was, found in zip(tables, now.tables, strict=True):
        differences += of_source(was, found.kind, found.definition)
        differences += of_columns(was.name, was.columns, found.columns)
        if was.key_fingerprint != found.key_fingerprint:
            differences.append(Difference("another key of pseudonyms of", was.name, None, None, decided=False))
    refuse(options.plan, differences)
    if options.exact:
        _refuse_changed(tables, now.tables)
    return [replace(job, approved=table) for job, table in zip(jobs, tables, strict=True)]


def jobs_of(policy: str, progress: Progress) -> list[Job]:
    """Return the jobs of a policy as it was applied, or of a plan as it was made.

    Raises
    ------
    InputError
        When the policy was changed since it was applied.
    """
    if not policy.endswith(".json"):
        applied = _applied(Path(policy))
        told = json.loads(json.dumps(file.content(policy), default=str))
        if applied.exists() and _read(applied)["job"] != told:
            do = f"Plan and apply it, or name the plan that was applied: {applied.name}"
            raise InputError(policy, "must be as it was applied", "another policy", do)
        return file.read(policy, {}, progress)
    told = _read(Path(policy))
    return file.of_content(str(Path(policy).parent / told["policy"]), told["job"], {}, progress)


def released_as(job: Job) -> str:
    """Return what the release of a job is called where it is published: a file or a table."""
    given, own = job.publish, job.options.table
    if given.in_place:
        return own
    return given.to or given.into or f"{file_stem(own) if file_format(own) else own}_anonymized"


def note_applied(options: ApplyOptions, told: Mapping[str, Any]) -> None:
    """Keep a plan as the one that was applied last, under the seal of who applied it."""
    _write(_applied(Path(options.plan).parent / told["policy"]), {**told, "seal": secrets.seal(told["hash"])})


def _refuse_changed(was: Sequence[ApprovedTable], now: Sequence[ApprovedTable]) -> None:
    if any(table.content is None for table in (*was, *now)):
        must = "needs a secret that lasts, when it is planned and when it is applied: the hash of the records is keyed"
        raise InputError("apply, --exact", must, "none", "Set SQLMICRO_SECRET, or seed_file in the policy")
    changed = [one.name for one, other in zip(was, now, strict=True) if one.content != other.content]
    if changed:
        raise AuditFailed("apply, --exact", "the records must be those that were planned", ", ".join(changed),
                          "Nothing was published. Plan again, or leave out --exact")  # fmt: skip


def _found(where: str, jobs: Sequence[Job]) -> Found:
    """Look at the tables of a policy as they are now; nothing is released."""
    given = jobs[0].options
    if not all(job.anonymizes for job in jobs):
        raise JobError(where, "must anonymize and publish", "a job that does not")
    if any(job.commands for job in jobs):
        raise JobError(where, "is planned over tables that are there", "a step that registers or profiles")
    if given.engine != "duckdb":
        raise JobError(where, "is planned with the engine duckdb", given.engine)
    seed = secrets.run_key(given.seed, given.seed_file)
    with open_warehouse(given.db, read_only=True, machine=given, progress=jobs[0].progress) as warehouse:
        attach.attach(warehouse, given.attach)
        sources = []
        for number, job in enumerate(jobs):
            if number:
                warehouse.add_staging()
            sources.append((warehouse.source(job.options.table, job.options), warehouse.staging))
        warehouse.seal()
        joins.found(jobs, [source for source, _ in sources])
        tables = []
        for job, (source, staging) in zip(jobs, sources, strict=True):
            warehouse.staging = staging
            tables.append(
                ApprovedTable(
                    job.options.table, source.kind, _columns(warehouse, job, source), warehouse.count(source.relation),
                    _content(warehouse, source, seed), _fingerprint(job), source.definition,
                )
            )  # fmt: skip
        return Found(tables, keys_of(jobs), _undecided(warehouse, jobs) if given.db else [])


def _content(warehouse: Database, source: Source, seed: secrets.Key) -> str | None:
    """Return a keyed hash of the records of a table; None where the key is not the same in the next run."""
    if seed.source == "operating system":
        return None
    held = content(warehouse, source.relation)
    return seed.of_input(json.dumps([held.columns, held.records, held.hashes]).encode())


def _columns(warehouse: Database, job: Job, source: Source) -> list[ApprovedColumn]:
    """Return the columns of a table with what becomes of them; those that nothing is said of are undecided."""
    plan = drafted(job, source.columns)
    if plan.left and not (plan.takes_rest or job.options.rest):
        left = names_of(plan.left)
        told = columns_of(plan)
        return [replace(one, role=UNDECIDED) if one.name in left else one for one in told]
    return columns_of(looked_at(compiled(job, source), warehouse, source))


def _need_key(job: Job) -> None:
    """Refuse to approve pseudonyms without a key: another one later would not be what was approved."""
    if any(step.method.surrogate for step in job.steps) and _fingerprint(job) is None:
        raise InputError(
            f"plan, {job.label}", "the secret key of its pseudonyms is approved with it", "none",
            f"Set {VARIABLE}, or write key_file in the policy",
        )  # fmt: skip


def _fingerprint(job: Job) -> str | None:
    """Return the fingerprint of the key of a job's pseudonyms, if it makes some."""
    files = [step.key_file for step in job.steps if step.method.surrogate]
    secret = secrets.read(f"{job.label}, key_file", "key", VARIABLE, files[0]) if files else None
    return secret.fingerprint if secret else None


def _undecided(warehouse: Database, jobs: Sequence[Job]) -> list[Difference]:
    """Return the tables and views that a policy neither releases, nor leaves out, nor makes."""
    said = [*jobs[0].options.leave_out, *(job.options.table for job in jobs)]
    said += [released_as(job) for job in jobs]
    known = {name.lower().removeprefix("main.") for name in said}
    there = [("new table", label) for label in table_labels(warehouse)]
    there += [("new view", view.label) for view in views(warehouse)]
    return [
        Difference(what, label, None, "the policy does not name it", decided=False)
        for what, label in there
        if label.lower() not in known
    ]


def _differences(
    last: Mapping[str, Any] | None, found: Found, jobs: Sequence[Job], accepted: Iterable[str]
) -> list[Difference]:
    """Return what differs from the plan that was applied last; without one, which tables are not decided."""
    differences = list(found.undecided)
    if last is None:
        return differences + [one for table in found.tables for one in _undecided_columns(table)]
    was = {table["name"].lower(): table_from(table, table["columns"]) for table in last["tables"]}
    types = {name.lower() for name in accepted}
    for job, table in zip(jobs, found.tables, strict=True):
        old = was.pop(table.name.lower(), None)
        if old is None:
            told = f"{len(table.columns)} columns"
            differences += [Difference("new table", table.name, None, told, decided=True), *_undecided_columns(table)]
            continue
        decided = {column.name.lower() for column in named(job)} | {
            f"type of {column.name.lower()}" for column in table.columns
            if f"{table.name}.{column.name}".lower() in types
        }  # fmt: skip
        differences += of_source(old, table.kind, table.definition, types)
        differences += of_columns(table.name, old.columns, table.columns, decided)
        if old.key_fingerprint != table.key_fingerprint:
            differences.append(Difference("another key of pseudonyms", table.name, None, None, decided=True))
    gone = [Difference("no longer released", table.name, None, None, decided=True) for table in was.values()]
    return [*differences, *gone, *of_keys(last["keys"], found.keys)]


def _undecided_columns(table: ApprovedTable) -> list[Difference]:
    return [
        Difference("new column", f"{table.name}.{column.name}", None, f"{column.type}, {column.role}", decided=False)
        for column in table.columns
        if column.role == UNDECIDED
    ]


def _applied(policy: Path) -> Path:
    """Return where the plan that was applied last is kept."""
    return policy.with_name(f"{policy.stem}.applied.json")


def _hash(body: Mapping[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Read a plan file; one that was changed after it was made is refused."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        hashed = told["hash"]
        body = {name: value for name, value in told.items() if name not in ("hash", "seal")}
    except OSError:
        raise InputError(
            str(path), "there must be a plan", "none", "Make one with: sqlmicro plan POLICY.toml"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        do = "Make one with: sqlmicro plan POLICY.toml"
        raise InputError(str(path), "must be a plan that sqlmicro plan has written", "something else", do) from None
    if hashed != _hash(body) or body.get("format") != _FORMAT:
        raise InputError(str(path), "must be as sqlmicro plan has written it", "a file that was changed", "Plan again")
    return dict(told)


def _write(path: Path, told: Mapping[str, Any]) -> None:
    """Write a plan file, whole or not at all."""
    beside = path.with_name(f".sqlmicro-{random.token_hex(6)}.json")
    try:
        with beside.open("w", encoding="utf-8") as out:
            json.dump(told, out, indent=2, ensure_ascii=True)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    except OSError as error:
        raise InputError("plan", f"{str(path)!r} must be writable", error.strerror or "an error") from None
    finally:
        beside.unlink(missing_ok=True)
