"""The verbs: each is a function here, a command of `sqlmicro`, and, where it makes sense, a step of a job file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal

from sqlmicro.audits import inputs, k_anonymity, runner, sql_macros
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.row import AuditReport, demanded
from sqlmicro.audits.verdict import together
from sqlmicro.database import attach
from sqlmicro.database.catalog import find_relation, schema_exists, target_name
from sqlmicro.database.files import reading
from sqlmicro.database.finding import find_source, may_read
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name, Sql
from sqlmicro.erasure.purge import PurgeOptions, PurgeReport, purge
from sqlmicro.erasure.residue import ResidueOptions, ResidueReport, residue
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.jobs import file, run, steps
from sqlmicro.jobs.approval import ApplyOptions, PlanOptions, approved_jobs, note_applied, plan_values
from sqlmicro.jobs.draft import InitOptions, init_values
from sqlmicro.jobs.explain import ExplainOptions, explain_values
from sqlmicro.jobs.policy import ScanOptions, scan_values
from sqlmicro.jobs.schema import job_schema
from sqlmicro.options import common
from sqlmicro.options.params import Param, Parameter, Registered, parameters
from sqlmicro.publish import recording
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import Method, late
from sqlmicro.registry import methods as registered
from sqlmicro.reports.facts import ReportOptions
from sqlmicro.reports.results import (  # fmt: skip
    Compiled,
    LookingJob,
    MacroReport,
    MacrosReport,
    RegisterReport,
    ReleasingJob,
    ReleasingJobs,
    SchemaReport,
    StepDone,
)
from sqlmicro.safe_method.compare import Compared, TwoTables
from sqlmicro.safe_method.compare import compare as compare_tables
from sqlmicro.system.interrupts import watched
from sqlmicro.system.json_schema import reports_schema
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import Json, passed
from sqlmicro.verbs import compare, described, warm_up
from sqlmicro.verbs import report as reporting
from sqlmicro.verbs.attack import AttackOptions, attack_values
from sqlmicro.verbs.verb import MethodVerb, Verb

_MOST_CLASSES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class RegisterOptions(common.RegisterSettings, common.DbOption, common.MachineOptions, common.ReaderOptions):
    """What `sqlmicro register` takes."""


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(common.SourceOptions, common.RegionOption, common.MachineOptions, common.ReaderOptions):
    """What `sqlmicro profile` takes."""


@dataclass(frozen=True, kw_only=True)
class _ShowValues:
    show_values: Annotated[bool, Param("Print the values of the smallest violating classes.")] = False


@dataclass(frozen=True, kw_only=True)
class AuditOptions(common.SourceOptions, AuditStep, _ShowValues, common.MachineOptions, common.ReaderOptions):
    """What `sqlmicro audit` takes."""


@dataclass(frozen=True, kw_only=True)
class SafeDistanceOptions(TwoTables, common.DbOption, common.AttachOption, common.MachineOptions, common.ReaderOptions):
    """What `sqlmicro safe-distance` takes."""


@dataclass(frozen=True, kw_only=True)
class MacrosOptions:
    """Where the macros go."""

    db: Annotated[str | None, Param("Database file to install the macros into.", metavar="FILE", env="SQLMICRO_DB")] = (
        None
    )
    print: Annotated[bool, Param("Print the statements instead, for the DuckDB shell.")] = False


def _instead() -> tuple[Parameter, ...]:
    """Return the options of a job file that the command line may give too."""
    (db,) = parameters(common.DbOption)
    # A job file says what is done: only --db puts another database in its place, no variable of the environment.
    db = replace(db, param=replace(db.param, help="Database file to use instead of the one in the file.", env=""))
    others = (parameters(group) for group in (common.AttachOption, common.RunOptions, common.MachineOptions))
    return (db, *(option if option.many else option.overriding() for group in others for option in group))


@dataclass(frozen=True, kw_only=True)
class JobFileOptions:
    """What `sqlmicro run` takes: a job file, and what takes the place of what it says."""

    job: Annotated[str, Param("Job file, TOML.", metavar="FILE.toml", positional=True)]
    table: Annotated[str | None, Param("Table to use instead of the one in the file.", metavar="TABLE")] = None
    instead: Annotated[Mapping[str, object], Registered(_instead)] = field(default_factory=dict)


def register_values(options: RegisterOptions, progress: Progress) -> RegisterReport:
    """Register files as a table or view of a database."""

    if not options.database:
        raise ParameterError(
            "register, --db",
            "a database file is needed; a table in memory would be gone at once",
            "none",
            "Give --db FILE or set SQLMICRO_DB",
        )
    if not options.files:
        raise ParameterError("register", "at least one file is needed", "none")
    template, params = reading(options.files, options.given())
    with open_warehouse(options.database, may_create=True, machine=options, progress=progress) as warehouse:
        warehouse.reading = ", ".join(options.files)
        may_read(warehouse, params["paths"])
        warehouse.seal()
        target = warehouse.full(target_name(options.table, "--table"))
        if not schema_exists(warehouse, target):
            schema = warehouse.label(target).rpartition(".")[0]
            raise InputError("--table", f"schema {schema!r} must exist", "none", "Make it with CREATE SCHEMA")
        if options.view:
            must = "a view reads its files with DuckDB's own functions, each time"
            warehouse.refuse_shadowing("--view", must, "Give the macros other names, or leave out --view")
        found = find_relation(warehouse, target)
        if found is not None and not options.overwrite:
            raise InputError(
                "--table",
                f"{options.table!r} must not exist yet",
                "a table" if found[1] else "a view",
                "Choose another name, or add --overwrite",
            )
        with warehouse.transaction():
            if found is not None:
                kind = "DROP TABLE {{ name | ident }}" if found[1] else "DROP VIEW {{ name | ident }}"
                warehouse.execute("register", kind, name=found[0])
            warehouse.create("VIEW" if options.view else "TABLE", target, template, **params)
        columns = [name for name, _ in warehouse.describe(target)]
        made: Literal["view", "table"] = "view" if options.view else "table"
        return RegisterReport(options.table, made, str(options.database), warehouse.count(target), columns)


def profile_values(options: ProfileOptions, progress: Progress) -> ProfileReport:
    """Describe a table's columns and propose a scale and a role for each."""

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        source = find_source(warehouse, options.table, options)
        warehouse.seal()
        return scan.report(options.table, scan.profiles(warehouse, source, options.region))


def audit_values(options: AuditOptions, progress: Progress) -> AuditReport:
    """Measure what a release discloses and what it is still good for; gates hold it to thresholds.

    The table is read, never changed. If this database has recorded it as a release, the results are then added to
    sqlmicro.audits, provided that the file can be written to.
    """

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        audited = inputs.audited(warehouse, options.table, options, options)
        warehouse.seal()
        rows = runner.run(audited, options.measure, options.thresholds, options.settings)
        if not rows:
            raise ParameterError(
                "audit, --quasi",
                "must name the quasi-identifiers, unless --original or another option says what to audit",
                "none",
                "The table has: " + ", ".join(column.name for column in audited.release.columns),
            )
        below, shown = options.gates.get(k_anonymity.GATE), None
        if options.show_values and audited.quasi:
            shown = k_anonymity.smallest(audited, int(below or 2), _MOST_CLASSES_SHOWN)
        release = recording.release_of(warehouse, options.table, audited.release.relation)
    return AuditReport(
        table=options.table,
        nulls=options.nulls,
        quasi=[column.name for column in audited.quasi],
        sensitive=[column.name for column in audited.sensitive],
        weight=audited.weight.name if audited.weight else None,
        entity=audited.entity.name if audited.entity else None,
        audits=rows,
        passed=together(demanded(rows)),
        classes_shown=shown,
        release=release,
        recorded=release is not None and recording.add(options.database, release, rows, options, progress),
    )


def macros_values(options: MacrosOptions, progress: Progress) -> MacrosReport:
    """Install the audits as macros of a database, or print them: audits in plain SQL, without this program."""

    if not options.print:
        if not options.db:
            raise ParameterError("macros, --db", "a database file is needed", "none", "Give --db FILE, or --print")
        with open_warehouse(options.db, progress=progress) as warehouse, warehouse.transaction():
            must = "the macros call DuckDB's own functions, but in a shell they would find yours"
            warehouse.refuse_shadowing("macros", must, "Give your macros other names")
            with warehouse.using(Name("", warehouse.catalog, "main")):
                for _, _, statement in sql_macros.definitions():
                    warehouse.execute("macros", "{{ statement }}", statement=Sql(statement.removesuffix(";")))
    return MacrosReport(
        None if options.print else options.db,
        [MacroReport(call, title) for call, title, _ in sql_macros.definitions()],
        sql_macros.script() if options.print else None,
    )


def purge_values(options: PurgeOptions, progress: Progress) -> PurgeReport:
    """Rewrite a database file, so that values which were replaced are no longer readable in it."""

    return purge(options, progress)


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """What `sqlmicro schema` takes."""

    report: Annotated[bool, Param("That of reports, which --json prints, instead of that of job files.")] = False


def schema_values(options: SchemaOptions, progress: Progress) -> SchemaReport:
    """Print the JSON Schema of job files, for editors and for checking a file without its data; or that of reports."""
    if not options.report:
        return SchemaReport(job_schema())
    made = {name: verb.returns for name, verb in verbs().items() if name != "schema"}
    return SchemaReport(reports_schema("Reports of sqlmicro: what each command prints with --json", made))


def warm_up_values(options: common.NoOptions, progress: Progress) -> Compiled:
    """Compile now what is compiled on first use, which takes a minute or two: for images, and before the first run."""
    return warm_up.warm_up(python_function, progress)


def residue_values(options: ResidueOptions, progress: Progress) -> ResidueReport:
    """Look for values that a release replaced: in the file, the catalog and other tables; values are not shown."""

    return residue(options, progress)


def safe_distance_values(options: SafeDistanceOptions, progress: Progress) -> Compared:
    """Measure by how much the cross tables of two tables differ: the SAFE distance and its parts."""

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        first = find_source(warehouse, options.first, options)
        second = find_source(warehouse, options.second, options, name="second_source")
        warehouse.seal()
        return compare_tables(warehouse, first, second, options)


def run_values(options: JobFileOptions, progress: Progress) -> ReleasingJob | ReleasingJobs | LookingJob:
    """Run the steps of a job file: one table, or several whose releases are published together."""
    jobs = file.read(options.job, {"table": options.table, **options.instead}, progress)
    if jobs[0].dry and any(command.do == "register" for found in jobs for command in found.commands):
        raise JobError(
            options.job,
            "a dry run writes nothing, so it cannot register",
            "a step that registers",
            "Register the table beforehand",
        )
    done = [_done(found, command, progress) for found in jobs for command in found.commands]
    if not jobs[0].anonymizes:
        return LookingJob(options.job, done, together(passed(step.report) for step in done))
    return _released(options.job, _execute(jobs), done)


def _released(job: str, reports: Sequence[ReleaseReport], done: list[StepDone]) -> ReleasingJob | ReleasingJobs:
    """Return the report of one table, or of several."""
    if len(reports) == 1:
        return ReleasingJob(reports[0], done)
    sql, reports[0].sql = reports[0].sql, None
    warnings = dict.fromkeys(report.warned for report in reports if report.warned)
    return ReleasingJobs(
        job,
        done,
        list(reports),
        together(report.passed for report in reports),
        sql,
        any(report.left_unpurged for report in reports) or None,
        " ".join(warnings) or None,
    )


def apply_values(options: ApplyOptions, progress: Progress) -> ReleasingJob | ReleasingJobs:
    """Run exactly what a plan file says; nothing is published if schema, roles or keys are not those approved."""
    jobs = approved_jobs(options, progress)
    reports = _execute(jobs)
    if not options.dry_run:
        note_applied(options)
    return _released(options.plan, reports, [])


def _done(found: steps.Job, command: steps.Command, progress: Progress) -> StepDone:
    """Run a step of a job file that is a command of its own."""
    verb = verbs()[command.do]
    known = {parameter.name for parameter in verb.parameters}
    shared = {name: value for name, value in vars(found.options).items() if name in known and value is not None}
    return StepDone(command.do, verb.run({**shared, **command.given}, progress, command.where))


def _execute(jobs: Sequence[steps.Job]) -> list[ReleaseReport]:
    """Run jobs on the engine that they name."""
    if jobs[0].options.engine == "spark":
        with watched():
            reports: list[ReleaseReport] = late("sqlmicro.spark.engine").release(jobs)
        return reports
    return run.execute(jobs)


def _run_method(method: Method, options: common.MethodOptions, progress: Progress) -> ReleaseReport:
    """Run one method as a job of one step."""
    return _execute([steps.one_step(method, options, progress)])[0]


def verbs() -> dict[str, Verb[Any]]:
    """Return every verb by its name on the command line."""
    found: list[Verb[Any]] = [
        Verb("register", RegisterOptions, register_values),
        Verb("profile", ProfileOptions, profile_values),
        Verb("audit", AuditOptions, audit_values),
        Verb("safe-distance", SafeDistanceOptions, safe_distance_values),
        Verb("attack", AttackOptions, attack_values),
        Verb("compare", compare.CompareOptions, compare.compare_values),
        Verb("macros", MacrosOptions, macros_values),
        Verb("purge", PurgeOptions, purge_values),
        Verb("residue", ResidueOptions, residue_values),
        Verb("report", ReportOptions, reporting.report_values),
        Verb("run", JobFileOptions, run_values),
        Verb("init", InitOptions, init_values),
        Verb("scan", ScanOptions, scan_values),
        Verb("plan", PlanOptions, plan_values),
        Verb("apply", ApplyOptions, apply_values),
        Verb("explain", ExplainOptions, explain_values),
        Verb("schema", SchemaOptions, schema_values),
        Verb("methods", described.MethodsOptions, described.methods_values),
        Verb("warm-up", common.NoOptions, warm_up_values),
    ]
    found += [
        MethodVerb(one.name, common.MethodOptions, partial(_run_method, one), one) for one in registered().values()
    ]
    return {verb.name: verb for verb in found}


def python_function(name: str) -> Callable[..., Json]:
    """Return a verb as a Python function with its real signature.

    >>> python_function("methods")("mdav")["module"]
    'sqlmicro.group.mdav'
    """
    return verbs()[name].function()
