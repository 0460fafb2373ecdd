"""Jobs: steps over one table, run in order; a command is a job of one step, a job file (`jobfile.py`) has several."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmicro import options
from sqlmicro.audits.inputs import audit_options
from sqlmicro.audits.runner import described
from sqlmicro.columns import Column, Roles, pick, settle_roles
from sqlmicro.errors import AuditFailed, JobError, ParameterError
from sqlmicro.params import settle
from sqlmicro.progress import Progress
from sqlmicro.registry import Method, find

if TYPE_CHECKING:
    from sqlmicro.pipeline import Run
    from sqlmicro.source import Source
    from sqlmicro.targets import Target
    from sqlmicro.warehouse import Warehouse

STEP_COLUMNS = ("columns", "by", "nulls")
_JOB_COLUMNS = tuple(option for option in options.COLUMNS if option.name not in STEP_COLUMNS)
STEP_OPTIONS = tuple(option for option in options.COLUMNS if option.name in STEP_COLUMNS)
JOB_OPTIONS = (*options.SOURCE, *options.READER, *_JOB_COLUMNS, *options.MACHINE, *options.RUN)
TABLE_STEPS = ("register", "profile")
OTHER_STEPS = (*TABLE_STEPS, "audit", "publish")


@dataclass(frozen=True)
class Step:
    """One step: what to do, and its settings as they were given."""

    do: str
    settings: dict[str, Any]
    where: str


@dataclass(frozen=True)
class Job:
    """A job: the options all steps share, and the steps."""

    options: dict[str, Any]
    steps: tuple[Step, ...]
    label: str = "sqlmicro"
    progress: Progress = field(default_factory=lambda: Progress(enabled=False))

    @property
    def anonymizes(self) -> bool:
        """Whether there is a step that makes a release."""
        return any(step.do not in OTHER_STEPS for step in self.steps)

    @property
    def dry(self) -> bool:
        """Whether nothing is to be written."""
        return bool(self.options["dry_run"] or self.options["show_sql"])


def one_step(method: Method, values: Mapping[str, Any], progress: Progress) -> Job:
    """Return the job of a command: one method, then publishing."""
    own = {parameter.name for parameter in method.settings} | set(STEP_COLUMNS)
    steps = (
        Step(method.name, {name: value for name, value in values.items() if name in own}, method.name),
        Step("publish", {name: values[name] for name in options.names(options.TARGET)}, method.name),
    )
    shared = {name: values[name] for name in options.names(JOB_OPTIONS)}
    return Job(shared, steps, method.name, progress)


def execute(job: Job) -> dict[str, Any]:
    """Run a job and return its report.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """
    from sqlmicro import pipeline, publish, targets
    from sqlmicro.source import file_format, find_source
    from sqlmicro.warehouse import Warehouse

    started = time.time()
    given = job.options
    target_values = settle(options.TARGET, job.steps[-1].settings, job.steps[-1].where)
    keeps_file = bool(given["db"]) and not job.dry
    from_file = file_format(given["table"]) is not None
    # A dry run makes no database: one that is not there yet is stood for by memory.
    missing = job.dry and from_file and given["db"] and not Path(given["db"]).exists()
    with Warehouse.open(
        None if missing else given["db"],
        read_only=not keeps_file,
        may_create=keeps_file and from_file,
        memory_limit=given["memory_limit"],
        threads=given["threads"],
        progress=job.progress,
    ) as warehouse:
        source = find_source(warehouse, given["table"], options.reader_options(given))
        target = targets.choose_target(source, **target_values, keeps=_keeps_candidates(job))
        lost = warehouse.in_memory and target.kind == "table"
        roles = _roles(warehouse, source, job)
        run = pipeline.load(warehouse, source, roles, given["seed"])
        _plan_claims(run, job)
        targets.check_target(run, target, dry=job.dry)
        run.claims.clear()
        _note_roles(run)
        for step in job.steps[:-1]:
            _take_step(run, source, step)
        report = _report(run, job, target)
        report["audits"] = publish.publish(run, target, dry=job.dry or lost, report=report, started=started)
        report["dry_run"] = job.dry or lost
        if lost and not job.dry:
            report["warning"] = "nothing was kept: the database is in memory. Give --to FILE or --db FILE"
        report["k"] = report["audits"][0]["value"]
        report["histogram"] = report["audits"][0].pop("histogram")
        report["seconds"] = {stage: round(seconds, 3) for stage, seconds in run.seconds.items()}
        report["notes"] = run.notes + publish.warnings(run, report)
        if given["show_sql"]:
            report["sql"] = warehouse.script()
    return report


def _roles(warehouse: Warehouse, source: Source, job: Job) -> Roles:
    """Give every column a role from the options of the job and the columns of its steps."""
    used: list[Column] = []
    takes_rest = False
    for step in _method_steps(job):
        for key in ("columns", "by"):
            found = pick(source.columns, step.settings.get(key) or (), f"{step.where}, {key}")
            used += [column for column in found if column not in used]
        takes_rest |= find(step.do).takes_every_column and not step.settings.get("columns")
    keep = pick(source.columns, job.options["keep"], "--keep")
    keep += [column for column in _weights(source, job) if column not in keep]
    drop = pick(source.columns, job.options["drop"], "--drop")
    if not takes_rest:
        return settle_roles(source.columns, used, keep, drop, job.options["rest"])
    from sqlmicro.source import profile_columns

    profiles = profile_columns(warehouse, source)
    left = [p for p in profiles if p.column not in (*used, *keep, *drop)]
    identifiers = [p.column for p in left if p.role[0] == "identifier"]
    used += [p.column for p in left if p.column not in identifiers]
    roles = settle_roles(source.columns, used, keep, [*drop, *identifiers], None)
    return replace(roles, identifiers=tuple(identifiers))


def _weights(source: Source, job: Job) -> list[Column]:
    """Return the columns of weights: they are released as they are."""
    named = [(step.settings["weights"], step.where) for step in _method_steps(job) if step.settings.get("weights")]
    return list(dict.fromkeys(pick(source.columns, [name], f"{where}, weights")[0] for name, where in named))


def _method_steps(job: Job) -> Iterable[Step]:
    return (step for step in job.steps if step.do not in OTHER_STEPS)


def _keeps_candidates(job: Job) -> bool:
    """Tell whether the candidates of the last step are published too; those of earlier ones are no whole files."""
    steps = list(_method_steps(job))
    keeping = [step for step in steps if step.settings.get("keep_candidates")]
    if keeping and keeping != steps[-1:]:
        raise JobError(
            f"{keeping[0].where}, key 'keep_candidates'",
            "goes with the last step that changes records",
            "other steps after it",
        )
    return bool(keeping)


def _step_columns(step: Step, roles: Roles, source: Source) -> tuple[list[Column], list[Column]]:
    """Return the columns a step works on, and its strata."""
    by = pick(source.columns, step.settings.get("by") or (), f"{step.where}, by")
    columns = pick(source.columns, step.settings.get("columns") or (), f"{step.where}, columns")
    if not columns and find(step.do).takes_every_column:
        columns = [column for column in source.columns if column in roles.used and column not in by]
    both = [column.name for column in columns if column in by]
    if both:
        raise ParameterError(step.where, "a stratum is not anonymized", f"{', '.join(both)} in both --columns and --by")
    return columns, by


def _plan_claims(run: Run, job: Job) -> None:
    """Say beforehand which columns will be worked on, so that an unsuitable target is refused before the work."""
    from sqlmicro.work import Claim

    for step in _method_steps(job):
        columns, by = _step_columns(step, run.roles, run.source)
        run.claims.append(Claim((*columns, *by), find(step.do).promise, 0))


def _note_roles(run: Run) -> None:
    roles = run.roles
    if roles.identifiers:
        run.notes.append(
            "dropped as direct identifiers: "
            + ", ".join(c.name for c in roles.identifiers)
            + " (see the reasons with: sqlmicro profile)"
        )
    others = [column.name for column in roles.dropped if column not in roles.identifiers]
    if others:
        run.notes.append("dropped: " + ", ".join(others))
    if roles.kept:
        run.notes.append("released as they are, not part of the audit: " + ", ".join(c.name for c in roles.kept))


def _take_step(run: Run, source: Source, step: Step) -> None:
    from sqlmicro import pipeline

    if step.do in TABLE_STEPS:
        return
    if step.do == "audit":
        _audit_step(run, step)
        return
    method = find(step.do)
    columns, by = _step_columns(step, run.roles, source)
    own = {name: value for name, value in step.settings.items() if name not in STEP_COLUMNS}
    nulls = step.settings.get("nulls") or ("error" if method.takes_nulls else "keep")
    pipeline.step(run, method, own, columns, by, nulls, step.where)


def _audit_step(run: Run, step: Step) -> None:
    """Audit the records as they stand now; the release itself is audited again when it is published."""
    from sqlmicro.audits import gate

    values = settle(audit_options(), step.settings, step.where)
    with run.timed("audit"):
        rows = gate.rows(run, run.current, values, step.where)
    failed = [row for row in rows if not row["passed"]]
    if failed:
        raise AuditFailed(
            step.where,
            "the records must pass the audits",
            "; ".join(described(row) for row in failed),
            "Nothing was published",
        )
    run.gates.append({"values": values, "where": step.where, "rows": rows})


def _report(run: Run, job: Job, target: Target) -> dict[str, Any]:
    """Return what is known of the release before it is published."""
    from sqlmicro.pipeline import losses

    rows = run.warehouse.count(run.current)
    steps = run.steps
    last = steps[-1]
    return {
        "release": None,
        "source": job.options["table"],
        "target": target.label,
        "target_kind": target.kind,
        "method": " + ".join(step["method"] for step in steps),
        "parameters": _parameters(run, target),
        "rows_in": run.rows_in,
        "rows": rows,
        "suppressed": run.rows_in - rows,
        "groups": last["groups"],
        "smallest_group": last["smallest_group"],
        "largest_group": last["largest_group"],
        **losses(run),
        "safe_distance": last["safe_distance"]["distance"] if last["safe_distance"] else None,
        "safe_parts": last["safe_distance"],
        "candidates": last["candidates"],
        "chosen": last["chosen"],
        "quasi": [column.name for column in run.quasi],
        "promise": sorted({step["promise"] for step in steps}),
        "steps": steps,
        "versions": _versions(),
    }


def _parameters(run: Run, target: Target) -> dict[str, Any]:
    """Return everything that decides what was released, but the key."""
    roles = run.roles
    steps = []
    for step in run.steps:
        shown = {name: step[name] for name in ("method", "columns", "by", "nulls")} | step["parameters"]
        if step["candidates"]:
            chosen = next(c for c in step["candidates"] if c["candidate"] == step["chosen"])
            shown["released"] = {name: chosen[name] for name in ("algorithm", "pass", "unification")}
        steps.append(shown)
    return {
        "steps": steps,
        "kept": [column.name for column in roles.kept],
        "dropped": [column.name for column in roles.dropped],
        "direct_identifiers": [column.name for column in roles.identifiers],
        "target_kind": target.kind,
        "widen": target.widen,
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "sqlmicro": version("sqlmicro"),
        "duckdb": version("duckdb"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }
