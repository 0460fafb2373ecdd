"""Steps: what a job is made of, which options it has, and which role its steps give every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlmicro.audits.inputs import AuditStep, GateOptions
from sqlmicro.database.columns import Column, Roles, Seen, names_of, pick, settle_roles
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.identifiers import scan
from sqlmicro.options import common
from sqlmicro.options.common import JobOptions, MethodOptions, PublishSettings
from sqlmicro.options.params import Parameter, carried, parameters, settle
from sqlmicro.registry import Method, find
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import Plan, Task

if TYPE_CHECKING:
    from sqlmicro.database.source import Source
    from sqlmicro.database.warehouse import Warehouse

STEP_COLUMNS = ("columns", "by", "nulls")
STEP_OPTIONS = (*parameters(common.StepColumns), *parameters(common.NullsOption))
TABLE_OPTIONS = parameters(common.JobTableOptions)
"""What a job says of its table."""
FILE_OPTIONS = parameters(common.FileOptions)
"""What holds for all tables of a job file."""
JOB_OPTIONS = parameters(JobOptions)
TABLE_STEPS = ("register", "profile")
OTHER_STEPS = (*TABLE_STEPS, "audit", "publish")
FOR_IDENTIFIERS = ("pseudonymise", "partial", "constant")
"""The methods that are made for direct identifiers."""


@dataclass(frozen=True)
class Step:
    """One step, or a gate: what to do, and its settings as they were given."""

    do: str
    settings: dict[str, Any]
    where: str


@dataclass(frozen=True)
class Job:
    """A job over one table: its options, its steps in order, and the gates that its release is held to."""

    options: JobOptions
    steps: tuple[Step, ...]
    label: str = "sqlmicro"
    progress: Progress = field(default_factory=lambda: Progress(enabled=False))
    gates: tuple[Step, ...] = ()

    @property
    def method_steps(self) -> tuple[Step, ...]:
        """The steps that make a release."""
        return tuple(step for step in self.steps if step.do not in OTHER_STEPS)

    @property
    def anonymizes(self) -> bool:
        """Whether there is a step that makes a release."""
        return bool(self.method_steps)

    @property
    def dry(self) -> bool:
        """Whether nothing is to be written."""
        return self.options.dry_run or self.options.show_sql


def one_step(method: Method, options: MethodOptions, progress: Progress) -> Job:
    """Return the job of a command: one method, then publishing."""
    shared = {name: getattr(options, name) for name in STEP_COLUMNS if method.takes(name)}
    steps = (
        Step(method.name, {**shared, **options.settings}, method.name),
        Step("publish", asdict(carried(PublishSettings, options)), method.name),
    )
    return Job(carried(JobOptions, options), steps, method.name, progress)


def step_parameters(do: str) -> tuple[Parameter, ...]:
    """Return the parameters of a step of a job file."""
    others = {
        "publish": PublishSettings, "audit": AuditStep, "register": common.RegisterSettings,
        "profile": common.NoOptions,
    }  # fmt: skip
    if do in others:
        return parameters(others[do])
    method = find(do)
    return (*(option for option in STEP_OPTIONS if method.takes(option.name)), *method.settings)


def gate_parameters() -> tuple[Parameter, ...]:
    """Return the parameters of a gate: those of an audit; the original is what the job has loaded."""
    return parameters(GateOptions)


def settle_columns(warehouse: Warehouse, source: Source, job: Job) -> Roles:
    """Give every column a role from the options of the job and the columns of its steps.

    Raises
    ------
    InputError
        When a direct identifier would be released as it is, or take part as if it were none.
    """
    used: list[Column] = []
    takes_rest = False
    for step in job.method_steps:
        for key in ("columns", "by"):
            found = pick(source.columns, step.settings.get(key) or (), f"{step.where}, {key}")
            used += [column for column in found if column not in used]
        takes_rest |= find(step.do).takes_every_column and not step.settings.get("columns")
    keep = pick(source.columns, job.options.keep, "--keep")
    keep += [column for column in _weights(source, job) if column not in keep]
    _refuse_pseudonyms(source, job)
    drop = pick(source.columns, job.options.drop, "--drop")
    row_key = tuple(pick(source.columns, job.options.row_key, "--row-key"))
    drop += [column for column in row_key if column not in (*used, *keep, *drop)]
    allowed = pick(source.columns, job.options.identifier_ok, "--identifier-ok")
    if not takes_rest:
        roles = replace(settle_roles(source.columns, used, keep, drop, job.options.rest), row_key=row_key)
        return _accepted(job, source, _checked(warehouse, source, job, roles, allowed))

    profiles = scan.profiles(warehouse, source, job.options.region)
    left = [p for p in profiles if p.column not in (*used, *keep, *drop)]
    identifiers = [p.column for p in left if p.role[0] == "identifier" and p.column not in allowed]
    used += [p.column for p in left if p.column not in identifiers]
    roles = settle_roles(source.columns, used, keep, [*drop, *identifiers], None)
    roles = replace(roles, identifiers=tuple(identifiers), row_key=row_key)
    seen = {profile.column: profile.seen for profile in profiles}
    return _accepted(job, source, _checked(warehouse, source, job, roles, allowed, seen))


def _accepted(job: Job, source: Source, roles: Roles) -> Roles:
    """Return the roles, once every column that is accepted as unique is one that is released as it is.

    Raises
    ------
    ParameterError
        For another column: the option would do nothing, and hide a mistake.
    """
    accepted = pick(source.columns, job.options.accept_unique, "--accept-unique")
    others = [column.name for column in accepted if column not in roles.kept]
    if others:
        raise ParameterError("--accept-unique", "names columns that are released as they are", ", ".join(others))
    return roles


def accepted(job: Job) -> set[str]:
    """Return the columns, in small letters, that may single out records: those named for it, and weights."""
    weights = [step.settings.get("weights") for step in job.method_steps]
    weights += [gate.settings.get("weight") for gate in job.gates]
    return {name.lower() for name in (*job.options.accept_unique, *filter(None, weights))}


def _refuse_pseudonyms(source: Source, job: Job) -> None:
    """Refuse to anonymize what is a pseudonym: the same value would no longer have the same one in every table.

    Raises
    ------
    ParameterError
        When a step names a column that another one pseudonymises.
    """
    made = {
        column
        for step in job.method_steps if find(step.do).makes_pseudonyms
        for column in pick(source.columns, step.settings.get("columns") or (), f"{step.where}, columns")
    }  # fmt: skip
    for step in job.method_steps:
        for key in () if find(step.do).makes_pseudonyms else ("columns", "by"):
            named = pick(source.columns, step.settings.get(key) or (), f"{step.where}, {key}")
            both = [column.name for column in named if column in made]
            if both:
                raise ParameterError(
                    f"{step.where}, {key}", "a pseudonym is not anonymized again, nor grouped by", ", ".join(both),
                    "Leave it out of this step, or do not pseudonymise it",
                )  # fmt: skip


def _checked(
    warehouse: Warehouse,
    source: Source,
    job: Job,
    roles: Roles,
    allowed: Sequence[Column],
    seen: Mapping[Column, Seen] | None = None,
) -> Roles:
    """Return roles with what was seen of the released columns; refuse direct identifiers that were not allowed."""

    if seen is None:
        seen = scan.seen(warehouse, source, roles.released, job.options.region)
    roles = replace(roles, allowed=tuple(allowed), seen=tuple((column, seen[column]) for column in roles.released))
    treated = _treated(source, job)
    found = [
        (column, of.finding)
        for column, of in roles.seen
        if of.finding and of.finding.direct and column not in (*allowed, *treated)
    ]
    if found:
        raise InputError(
            "columns",
            "a direct identifier is neither released as it is nor grouped",
            ", ".join(f"{column.name} ({finding.reason})" for column, finding in found),
            "Use --drop, or pseudonymise it; if it names nobody, say so with --identifier-ok COLUMN",
        )
    return roles


def _treated(source: Source, job: Job) -> list[Column]:
    """Return the columns that a method for identifiers takes before any other step does."""
    first: dict[Column, str] = {}
    for step in job.method_steps:
        names = (*(step.settings.get("columns") or ()), *(step.settings.get("by") or ()))
        for column in pick(source.columns, dict.fromkeys(names), step.where):
            first.setdefault(column, step.do)
    return [column for column, method in first.items() if method in FOR_IDENTIFIERS]


def _weights(source: Source, job: Job) -> list[Column]:
    """Return the columns of weights: they are released as they are."""
    named = [(step.settings["weights"], step.where) for step in job.method_steps if step.settings.get("weights")]
    return list(dict.fromkeys(pick(source.columns, [name], f"{where}, weights")[0] for name, where in named))


def plan_of(job: Job, roles: Roles, source: Source) -> Plan:
    """Return what decides the release of a job besides its input and the key."""
    tasks: list[Task] = []
    for step in job.method_steps:
        columns, by = step_columns(job, step, roles, source)
        method = find(step.do)
        values = settle(method.settings, own_settings(step), step.where)
        task = Task(method.name, names_of(columns), names_of(by), nulls_of(step), values)
        tasks.append(replace(task, repeated=tasks.count(task)))
    return Plan(source.identity, names_of(roles.dropped), names_of(roles.row_key), tuple(tasks))


def own_settings(step: Step) -> dict[str, Any]:
    """Return the settings of a step that are its method's own."""
    return {name: value for name, value in step.settings.items() if name not in STEP_COLUMNS}


def nulls_of(step: Step) -> str:
    """Return what becomes of missing values in a step."""
    return str(step.settings.get("nulls") or find(step.do).nulls)


def keeps_candidates(job: Job) -> bool:
    """Tell whether the candidates of the last step are published too; those of earlier ones are no whole files."""
    steps = job.method_steps
    keeping = tuple(step for step in steps if step.settings.get("keep_candidates"))
    if keeping and keeping != steps[-1:]:
        raise JobError(
            f"{keeping[0].where}, key 'keep_candidates'",
            "goes with the last step that changes records",
            "other steps after it",
        )
    return bool(keeping)


def steps_apart(job: Job, step: Step) -> list[Step]:
    """Return the steps whose columns are not among all columns of a step that names none.

    These are the steps before it, and those that make pseudonyms.
    """
    steps = job.method_steps
    return [other for other in steps if steps.index(other) < steps.index(step) or find(other.do).makes_pseudonyms]


def step_columns(job: Job, step: Step, roles: Roles, source: Source) -> tuple[list[Column], list[Column]]:
    """Return the columns a step works on, and its strata.

    A step that takes every column and names none works on those that no earlier step worked on and that are no
    pseudonyms.
    """
    by = pick(source.columns, step.settings.get("by") or (), f"{step.where}, by")
    columns = pick(source.columns, step.settings.get("columns") or (), f"{step.where}, columns")
    if not columns and find(step.do).takes_every_column:
        treated = {c for other in steps_apart(job, step) for c in step_columns(job, other, roles, source)[0]}
        columns = [c for c in source.columns if c in roles.used and c not in by and c not in treated]
    both = [column.name for column in columns if column in by]
    if both:
        raise ParameterError(step.where, "a stratum is not anonymized", f"{', '.join(both)} in both --columns and --by")
    return columns, by
