"""Jobs: steps over a table, run in order, then publishing; of several tables all releases are published together.

What decides a release, as it is recorded: roles, steps and their settings.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmicro import pipeline
from sqlmicro.audits.inputs import PassedGate
from sqlmicro.database import attach
from sqlmicro.database.catalog import has_attached, split_name
from sqlmicro.database.columns import names_of, pick
from sqlmicro.database.finding import is_elsewhere
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.erasure import purge
from sqlmicro.errors import AuditFailed, InputError, JobError, ParameterError
from sqlmicro.history.retention import Retention
from sqlmicro.jobs import joins
from sqlmicro.jobs import series as series_jobs
from sqlmicro.jobs.approval import refuse_drift
from sqlmicro.jobs.forecast import Forecast
from sqlmicro.jobs.plan import Plan, compiled, counted_in_words, looked_at, refuse_whole_weights
from sqlmicro.jobs.roles import populations_in_words, refuse_unique, roles_in_words
from sqlmicro.jobs.steps import Gate, Job
from sqlmicro.options.params import carried
from sqlmicro.pipeline import Run
from sqlmicro.publish import beside, drafts, gate, in_place, ledger_file, preview, publish, recording, targets
from sqlmicro.publish.choose import choose_target
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.release import OutputAudit, prepare
from sqlmicro.publish.report import ChosenCandidate, OfJob, Parameters, ReleaseReport, StepParameters, losses
from sqlmicro.publish.targets import Target
from sqlmicro.system import secrets
from sqlmicro.system.interrupts import watched
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    from sqlmicro.publish.release import Release
    from sqlmicro.system.secrets import Key


def parameters(run: Run, job: Job, target: Target) -> Parameters:
    """Return everything that decides what was released, but the key."""
    roles = run.roles
    steps = []
    for step in run.log.steps:
        chosen = next((c for c in step.candidates if c.candidate == step.chosen), None)
        steps.append(
            StepParameters(
                step.method, step.columns, step.by, step.nulls, step.promise, step.parameters,
                step.key_fingerprint or None,
                ChosenCandidate(chosen.algorithm, chosen.which, chosen.unification) if chosen else None,
            )
        )  # fmt: skip
    return Parameters(
        steps,
        [column.name for column in roles.kept],
        [column.name for column in roles.dropped],
        [column.name for column in roles.row_key],
        [column.name for column in roles.identifiers],
        run.promises.apart,
        [column.name for column in roles.allowed],
        target.kind,
        target.widen,
        [column.name for column in roles.person],
        [column.name for column in roles.of_person],
        [column.name for column in roles.household],
        job.options.rows_are_persons,
        sorted(column.name for column in run.table.numeric),
        job.options.decimals,
    )


@dataclass(frozen=True)
class _Found:
    """A plan whose table was found, and where its release goes; `watched` if that may yet become the table itself."""

    plan: Plan
    source: Source
    target: Target
    staging: str
    watched: bool = False


def execute(jobs: Sequence[Job]) -> list[ReleaseReport]:
    """Run the jobs of one file, publish their releases together, and return a report of each.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """

    with watched():
        made = _release(jobs)
        try:
            _purge(jobs[0], [release for release, _ in made])
        finally:  # what was published is told of, and purged before anything can go wrong in telling
            for (release, path), job in zip(made, jobs, strict=True):
                if not release.report.dry_run:
                    beside.write_all(release, path, overwrite=job.publish.overwrite)
    return [release.report for release, _ in made]


def _purge(job: Job, releases: Sequence[Release]) -> None:
    files = [(release, release.target) for release in releases if isinstance(release.target, InPlace)]
    files = [(release, target) for release, target in files if not target.on_server]
    if not files:
        return

    first, place = files[0]
    wanted = any(target.purge for _, target in files)
    options = carried(purge.PurgeOptions, job.options, db=place.file or job.options.db)
    purge_file(first.report, options, job.progress, wanted=wanted)
    for other, _ in files[1:]:
        other.report.purging = first.report.purging and replace(first.report.purging, purge=None)


def purge_file(report: ReleaseReport, options: purge.PurgeOptions, progress: Progress, *, wanted: bool) -> None:
    """Rewrite a database file after a release in place, and report of it."""
    stays = purge.stays_readable(options.db)
    made = purge.after_publishing(lambda: purge.purge(options, progress), stays, dry=report.dry_run, wanted=wanted)
    report.purged(made, made.purge.not_erased if made.purge else ())


def _release(jobs: Sequence[Job]) -> list[tuple[Release, str | None]]:
    """Plan all jobs, run their steps, then publish; return the releases and where their manifests go."""

    given, dry, draft = jobs[0].options, jobs[0].dry, jobs[0].draft
    if given.diff and not dry:
        raise ParameterError("--diff", "goes with --dry-run: it shows what would be published", "no --dry-run")
    key = secrets.run_key(given.seed, given.seed_file)
    keeps_file = bool(given.db) and not dry and not draft
    others = [attach.parse(text).name for text in given.attach]
    from_files = all(is_elsewhere(job.options.table, others) for job in jobs)
    # A dry run makes no database: one that is not there yet is stood for by memory.
    missing = dry and from_files and given.db and not Path(given.db).exists()
    with open_warehouse(
        None if missing else given.db,
        stands_for=given.db,
        read_only=not keeps_file,
        publishes=keeps_file,
        may_create=keeps_file and from_files,
        machine=given,
        progress=jobs[0].progress,
    ) as warehouse:
        attach.attach(warehouse, given.attach, writable=() if dry or draft else _written(jobs), later=True)
        found = [_find(warehouse, job, number) for number, job in enumerate(jobs)]
        _refuse_unlike(found)
        several = len(found) > 1 and given.budget
        forecast = Forecast.of(jobs, [warehouse.count(part.source.relation) for part in found] if several else ())
        joined = joins.found(jobs, [part.source for part in found])
        warehouse.seal(*(part.target.path.parent for part in found if part.target.path))
        releases = [_make(warehouse, part, key, forecast) for part in found]
        elsewhere = found[0].target.name is not None and has_attached(warehouse, found[0].target.name.catalog)
        lost = warehouse.in_memory and releases[0].target.kind != "file" and not elsewhere
        together = joins.together(joined, [part.plan for part in found], releases)
        if together:
            together.attack()
        publish.publish(warehouse, releases, together, dry=dry or lost, draft=draft)
        for part, release in zip(found, releases, strict=True):
            _finish(release, dry=dry, lost=lost)
            part.target.after_publishing(release.report)
        forecast.remember()
        if given.show_sql:
            releases[0].report.sql = warehouse.script()
        for release in releases if given.diff else ():
            release.report.preview = preview.preview(release, given.diff_rows)
    return [(release, part.plan.publish.manifest) for part, release in zip(found, releases, strict=True)]


def _find(warehouse: Database, job: Job, number: int) -> _Found:
    """Find the table of a job, plan what is done to it and where its release goes, before any work is done."""

    if number:
        warehouse.add_staging()
    for population in (*(held.options.population for held in job.gates), *(step.population for step in job.steps)):
        if population:
            warehouse.source(population, name="population_source")
    if job.publish.ledger:
        ledger_file.place(job.publish.ledger)  # refused before any work is done
    if job.publish.series and job.publish.changes_from:
        warehouse.source(job.publish.changes_from, name=series_jobs.CHANGES)
    source = warehouse.source(job.options.table, job.options)
    plan = compiled(job, source)
    return _Found(plan, source, _choose_target(plan, source, warehouse), warehouse.staging)


def _written(jobs: Sequence[Job]) -> set[str]:
    """Return the names of the attached databases that releases are written to."""

    names = [split_name(job.publish.into or job.options.table) for job in jobs if not job.publish.to]
    return {parts[0] for parts in names if len(parts) == 3}


def _choose_target(plan: Plan, source: Source, warehouse: Database) -> Target:
    """Return where the release goes; what cannot be is refused."""

    given, dry = plan.publish, plan.job.dry
    target = choose_target(warehouse, source, given, keeps=plan.keeps_candidates)
    whole = [column.name for column in plan.worked_on if column.family == "integer"]
    if isinstance(target, InPlace) and plan.options.decimals and not given.widen and whole:
        must = "whole numbers of a table that is changed in place have decimals where its columns become DOUBLE"
        raise ParameterError("--decimals", must, ", ".join(whole), "Add --widen, or use --into NAME")
    if isinstance(target, InPlace) and target.purge and not target.on_server and not dry:
        purge.check(target.file or str(plan.options.db))
    for option, path in beside.files(plan.steps, given.manifest):
        beside.check(option, path, given.overwrite or dry, source)
    if not dry and not plan.job.draft:
        recording.check(warehouse, target)
    return target


def _refuse_unlike(found: Sequence[_Found]) -> None:
    """Refuse what cannot be published together: tables with files, two releases in one place, one over a source."""

    label = found[0].plan.job.label.partition(", table ")[0]
    for part in found:
        for other in found:
            if isinstance(part.target, NewFile):
                part.target.refuse_source(other.source)
            for option, path in beside.files(part.plan.steps, part.plan.publish.manifest):
                targets.refuse_source(option, path, Path(path).absolute(), other.source)
    if len({part.target.kind == "file" for part in found}) > 1:
        must = "the releases of one job file are published together: all as tables, or all as files"
        raise JobError(label, must, "both", "Make two job files")
    names = [part.target.name for part in found if part.target.name]
    if len({name.catalog.lower() for name in names}) > 1:
        must = "the releases of one job file are published in one transaction, which writes to one database"
        raise JobError(label, must, "targets in several", "Make a job file for each")
    found[0].target.check_together([part.target for part in found])
    places = [(name.catalog.lower(), name.schema.lower() or "main", name.table.lower()) for name in names]
    paths = [place for part in found if (place := part.target.place)]
    kept = [to for part in found for _, to in beside.files(part.plan.steps, part.plan.publish.manifest)]
    for listed in (places, [*paths, *(str(Path(to).absolute()) for to in kept)]):
        if len(set(listed)) < len(listed):
            raise JobError(label, "every release and every file beside it has a place of its own", "two with the same")


def _make(warehouse: Database, found: _Found, key: Key, forecast: Forecast) -> Release:
    """Run the steps of one plan up to a release that its gates let pass."""

    started = time.time()
    source, target, job = found.source, found.target, found.plan.job
    warehouse.staging = found.staging
    watched = found.watched or (target.kind == "in place" and not job.dry)
    plan = looked_at(found.plan, warehouse, source)
    refuse_drift(job.approved, plan, found.source)
    series = series_jobs.series_of(plan, warehouse, source, target)
    run = series_jobs.load(warehouse, source, plan, key, series, watched=watched)
    run.around.seater = series
    if isinstance(series, Retention) and isinstance(target, InPlace):
        target = in_place.of(target, run, series, plan.worked_on)
    target.check(run, plan.worked_on, dry=job.dry)
    if target.kind == "in place":
        refuse_whole_weights(plan)
    if not job.dry and not warehouse.in_memory:
        recording.refuse_triggers(warehouse, target)
    refuse_unique(run, plan.accepted, f"{job.label}, --keep")
    if key.source == "plain text":
        run.log.notes.append(OfJob("the seed was given in plain text, which is for tests: it is no secret"))
    stays = plan.roles.row_key if isinstance(series, Retention) else ()
    shown = replace(run.roles, dropped=tuple(column for column in run.roles.dropped if column not in stays))
    run.log.notes += map(OfJob, (*job.said, *roles_in_words(shown, plan.calibrated), *counted_in_words(plan)))
    run.log.notes += [OfJob(f"the row key stays in the table: {', '.join(names_of(stays))}")] if stays else []
    run.log.notes += populations_in_words(warehouse, job)
    plan = forecast.settled(run, plan)
    for step in plan.steps:
        pipeline.step(run, step)
    series_jobs.watch(run, series)
    beside.refuse_hidden(run, job.label)
    for held in plan.gates:
        hold(run, held)
    report = reported(run, job, target, sensitive_in(run, plan))
    made = drafts.fingerprint(run) if job.draft or job.drafted else None
    report.draft = made if job.draft else None
    if job.drafted and made != job.drafted:
        must = "must make the release that was drafted: from the same records, by the same secret and versions"
        raise InputError("publish-draft", must, "another", "Nothing was published. Make another draft")
    if series is not None and series.tonight is not None:
        report.in_series(series.tonight.report)
        run.log.notes += series.tonight.report.notes
    return prepare(run, target, dry=job.dry, report=report, started=started, past=job.publish, series=series)


def sensitive_in(run: Run, plan: Plan) -> list[gate.Sensitive]:
    """Measure what safe has left to learn of the sensitive columns that it took with the others."""

    columns = dict.fromkeys(c for step in plan.steps if step.method.name == "safe" for c in step.columns)
    if not columns:
        return []
    with run.log.timed("audit"):
        return gate.measured_sensitive(run, list(columns))


def anonymized(job: Job, warehouse: Warehouse, source: Source, read: Name | None = None, *, steps: bool = True) -> Run:
    """Run the steps of a job in memory, over some rows (`read`), and return its state: nothing is published."""
    key = secrets.run_key(job.options.seed, job.options.seed_file)
    plan = looked_at(compiled(job, source), warehouse, source)
    run = pipeline.load(warehouse, source, plan.roles, key, plan.recipe(source), read=read)
    for step in plan.steps if steps else ():
        pipeline.step(run, step)
    return run


def rehearsed(job: Job, warehouse: Database, source: Source) -> Release:
    """Run the steps of a job and audit its release in staging, from where it can be published later.

    Raises
    ------
    AuditFailed
        When the release does not keep what its methods promise.
    """

    job = replace(job, options=replace(job.options, dry_run=True))
    nowhere = NewTable(warehouse, "", warehouse.staged("not_published"))
    key = secrets.run_key(job.options.seed, job.options.seed_file)
    found = _Found(compiled(job, source), source, nowhere, warehouse.staging, watched=source.is_table)
    forecast = Forecast.of([job])
    release = _make(warehouse, found, key, forecast)
    publish.publish(warehouse, [release], dry=True)
    _finish(release, dry=True, lost=False)
    forecast.remember()
    release.report.target = release.report.target_kind = None
    return release


def published(job: Job, warehouse: Database, release: Release) -> Release:
    """Publish what was rehearsed to where the job says by now; it is audited again, as any release.

    Raises
    ------
    SqlmicroError
        Nothing was published.
    """

    run = release.run
    run.resume()
    target = _choose_target(compiled(job, run.source), run.source, warehouse)
    if isinstance(target, InPlace) and (target.on_server or target.file):
        raise InputError(
            "publish, in_place",
            "a table of another database is changed in place by one call, which compares, locks and purges it",
            "a release that was made before",
            "Call the method with attach and in_place=True, or publish with into=",
        )
    target.check(run, run.quasi, dry=False)
    report = reported(run, job, target, release.report.sensitive or [])
    made = prepare(run, target, dry=False, report=report, started=release.started, past=job.publish)
    publish.publish(warehouse, [made], dry=False)
    _finish(made, dry=False, lost=False)
    beside.write_all(made, job.publish.manifest, overwrite=job.publish.overwrite)
    return made


def _finish(release: Release, *, dry: bool, lost: bool) -> None:
    """Add to the report of a release what publishing it has told."""
    run, report = release.run, release.report
    report.dry_run = dry or lost
    if lost and not dry:
        report.lost = "nothing was kept: the database is in memory. Give --to FILE or --db FILE"
    finished(run, report, release.audits[None])


def finished(run: Run, report: ReleaseReport, audited: OutputAudit) -> None:
    """Add to a report the audits of what was published and the verdict on them, what took how long, and the notes."""
    report.judged(run, audited.checks, audited.sizes)
    report.seconds = {stage: round(seconds, 3) for stage, seconds in run.log.seconds.items()}
    report.notes = run.log.notes


def hold(run: Run, held: Gate) -> None:
    """Hold the records, as they would be released, to a gate."""

    with run.log.timed("audit"):
        rows = gate.rows(run, run.table.current, held.options, held.where)
    failed = [row for row in rows if row.passed is False]
    if failed:
        raise AuditFailed(
            held.where,
            "the release must pass its gates",
            "; ".join(row.told for row in failed),
            "Nothing was published",
        )
    run.promises.gates.append(PassedGate(held.options, held.where, rows))
    for why, named in (("weight", filter(None, [held.options.weight])), ("sensitive", held.options.sensitive)):
        found = pick(run.roles.released, named, f"{held.where}, {why}")
        run.promises.apart |= dict.fromkeys((column.name for column in found), why)


def reported(
    run: Run, job: Job, target: Target, left: list[gate.Sensitive], engine: str | None = None
) -> ReleaseReport:
    """Return what is known of the release before it is published."""

    report = _unpublished(run, job, target, engine)
    report.parameters = parameters(run, job, target)
    report.alone_because = job.publish.alone_because
    report.key, report.hashes, report.sensitive = beside.key_of(run), beside.before(run), left
    return report


def _unpublished(run: Run, job: Job, target: Target, engine: str | None) -> ReleaseReport:
    rows = run.warehouse.count(run.table.current)
    steps = run.log.steps
    last = steps[-1]
    return ReleaseReport(
        release=None,
        source=job.options.table,
        target=target.label,
        target_kind=target.kind,
        method=" + ".join(step.method for step in steps),
        engine=engine,
        parameters=None,
        rows_in=run.table.loaded.rows,
        rows=rows,
        suppressed=run.table.loaded.rows - rows,
        groups=last.groups,
        smallest_group=last.smallest_group,
        largest_group=last.largest_group,
        losses=losses(run),
        safe_distance=last.safe_distance.distance.distance if last.safe_distance else None,
        safe_parts=last.safe_distance,
        candidates=last.candidates,
        chosen=last.chosen,
        promise=sorted({step.promise for step in steps}),
        steps=steps,
        key=None,
        hashes=None,
        versions=beside.versions(),
        dry_run=job.dry,
    )
