"""The command `run`: the steps of a job file.

The command `apply`: exactly what a plan file says.

The command `publish-draft`: a draft becomes a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.audits.verdict import together
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs import file, run, steps
from sqlmicro.jobs.approval import ApplyOptions, approved_jobs, approved_plan, note_applied
from sqlmicro.options import common
from sqlmicro.options.common import JoinOptions, LocationOptions, PublishSettings
from sqlmicro.options.params import Param, Parameter, Registered, parameters
from sqlmicro.options.series import SeriesOptions
from sqlmicro.publish import drafts
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import find
from sqlmicro.reports.done import LookingJob, ReleasingJob, ReleasingJobs, StepDone
from sqlmicro.system.interrupts import watched
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import passed
from sqlmicro.verbs.release import execute
from sqlmicro.verbs.verb import Verb


def _instead() -> tuple[Parameter, ...]:
    """Return the options of a job file that the command line may give too."""
    (db,) = parameters(common.DbOption)
    # A job file says what is done: only --db puts another database in its place, no variable of the environment.
    db = replace(db, param=replace(db.param, help="Database file to use instead of the one in the file.", env=""))
    groups = (common.AttachOption, LocationOptions, common.RunOptions, common.MachineOptions, JoinOptions)
    others = (parameters(group) for group in groups)
    return (db, *(option if option.many else option.overriding() for group in others for option in group))


@dataclass(frozen=True, kw_only=True)
class JobFileOptions:
    """What `sqlmicro run` takes: a job file, and what takes the place of what it says."""

    job: Annotated[str, Param("Job file, TOML.", metavar="FILE.toml", positional=True)]
    table: Annotated[str | None, Param("Table to use instead of the one in the file.", metavar="TABLE")] = None
    instead: Annotated[Mapping[str, object], Registered(_instead)] = field(default_factory=dict)


def run_values(
    verbs: Mapping[str, Verb[Any]], options: JobFileOptions, progress: Progress
) -> ReleasingJob | ReleasingJobs | LookingJob:
    """Run the steps of a job file: one table, or several whose releases are published together."""
    jobs = file.read(options.job, {"table": options.table, **options.instead}, progress)
    if jobs[0].dry and any(command.do == "register" for found in jobs for command in found.commands):
        raise JobError(
            options.job,
            "a dry run writes nothing, so it cannot register",
            "a step that registers",
            "Register the table beforehand",
        )
    done = [_done(verbs[command.do], found, command, progress) for found in jobs for command in found.commands]
    if not jobs[0].anonymizes:
        return LookingJob(options.job, done, together(passed(step.report) for step in done))
    return released(options.job, execute(jobs), done)


def released(job: str, reports: list[ReleaseReport], done: list[StepDone]) -> ReleasingJob | ReleasingJobs:
    """Return the report of the release of one table, or of several."""
    if len(reports) == 1:
        return ReleasingJob(reports[0], done)
    sql, reports[0].sql = reports[0].sql, None
    warnings = dict.fromkeys(report.warned for report in reports if report.warned)
    return ReleasingJobs(
        job,
        done,
        reports,
        together(report.passed for report in reports),
        sql,
        any(report.left_unpurged for report in reports) or None,
        " ".join(warnings) or None,
    )


def _done(verb: Verb[Any], found: steps.Job, command: steps.Command, progress: Progress) -> StepDone:
    """Run a step of a job file that is a command of its own."""
    known = {parameter.name for parameter in verb.parameters}
    shared = {name: value for name, value in vars(found.options).items() if name in known and value is not None}
    return StepDone(command.do, verb.run({**shared, **command.given}, progress, command.where))


__all__ = ["ApplyOptions", "apply_values"]


def apply_values(options: ApplyOptions, progress: Progress) -> ReleasingJob | ReleasingJobs:
    """Run exactly what a plan file says; nothing is published if schema, roles or keys are not those approved."""
    with watched():  # a signal that comes after the commit waits for the note: what is published was applied
        told = approved_plan(options)
        reports = execute(approved_jobs(options, told, progress))
        if not options.dry_run:
            note_applied(options, told)
    return released(options.plan, reports, [])


@dataclass(frozen=True, kw_only=True)
class PublishDraftOptions(PublishSettings):
    """What `sqlmicro publish-draft` takes."""

    draft: Annotated[
        str, Param("Folder of the draft, as --draft prints it.", metavar="DRAFT", positional=True, whole=True)
    ]


def publish_draft_values(verbs: Mapping[str, Any], options: PublishDraftOptions, progress: Progress) -> ReleaseReport:
    """Publish a draft: exactly the records that were drafted, judged together with all that is out.

    The release is made again from the source, which must be as it was; so must the secret be.
    """
    folder = Path(options.draft)
    draft = drafts.read(folder)
    asked = {one.name: getattr(options, one.name) for one in fields(PublishSettings)}
    of_series = [one.name for one in fields(SeriesOptions) if asked[one.name] != one.default]
    if of_series:
        option = "--" + of_series[0].replace("_", "-")
        must = "is of a series, whose nights are made one by one"
        raise ParameterError(
            f"publish-draft, {option}", must, "a draft", "Leave it out, or run the command with --series"
        )
    if draft.method not in verbs:
        raise InputError("publish-draft", "needs a draft of a method that there is", "another", "Make another draft")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in draft.given.items()}
    taken = verbs[draft.method].take({**given, **asked})
    job = steps.one_step(find(draft.method), taken, progress, drafted=draft.fingerprint)
    (report,) = run.execute([job])
    if not report.dry_run:
        drafts.erase(folder)
    return report
