"""A job on Spark: load, group, replace, write, audit what was written, rename."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlmicro import pipeline
from sqlmicro.database.columns import numbers_by_column
from sqlmicro.database.lakes import LAKES
from sqlmicro.errors import InputError, JobError, Need, ParameterError, demand
from sqlmicro.history import union
from sqlmicro.jobs.plan import Plan, compiled, counted_in_words, drafted, looked_at
from sqlmicro.jobs.roles import refuse_unique, roles_in_words
from sqlmicro.jobs.run import finished, hold, reported, sensitive_in
from sqlmicro.jobs.steps import Job
from sqlmicro.options import common
from sqlmicro.options.common import AttachOption, BudgetOption, DbOption, MachineOptions, PublishSettings, RecordOptions
from sqlmicro.options.params import Parameter, filled, parameters
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.pipeline import PlannedStep
from sqlmicro.publish import beside, publish
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.release import prepare
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import Method, methods
from sqlmicro.spark import blocks
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system import secrets
from sqlmicro.work import Work

_HERE = ("to", "overwrite", "manifest")
_NOT_HERE = [
    one
    for options in (DbOption, AttachOption, PublishSettings, MachineOptions, ReaderOptions, BudgetOption)
    for one in parameters(options)
    if one.name not in _HERE
]
"""Options that mean nothing on Spark."""
_NOT_IN_BLOCKS = ("ordinal", "nominal", "block_attributes", "time_limit", "certify")
_ELSEWHERE = ("keep_candidates", "where_risk", "population", "max_risk", "target", "recoding_to")
"""Settings that read other tables, need all records in one place, or write more than the release."""


def release(jobs: Sequence[Job]) -> list[ReleaseReport]:
    """Run the steps of a job over one table on Spark and return its report.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """
    plans = [drafted(job) for job in jobs]
    demand(needs(plans))
    job = jobs[0]
    given = job.options
    target, started = _target(plans[0]), time.time()
    key = secrets.run_key(given.seed, given.seed_file)
    with SparkWarehouse.open(given.master, job.progress) as warehouse:
        source = warehouse.source(given.table)
        target.refuse_source(source)
        plan = looked_at(compiled(job, source), warehouse, source)
        for option, path in beside.files(plan.steps, plan.publish.manifest):
            beside.check(option, path, plan.publish.overwrite or job.dry, source)
        run = pipeline.load(warehouse, source, plan.roles, key, plan.recipe(source))
        refuse_unique(run, plan.accepted, f"{job.label}, --keep")
        run.log.notes += (*roles_in_words(run.roles, plan.calibrated), *counted_in_words(plan))
        for step in plan.steps:
            pipeline.step(run, _in_blocks(warehouse, step))
        if union.promises(run):
            run.log.notes.append(
                "Spark keeps no ledger: the release is in none, and was not measured together with others"
            )
        for held in plan.gates:
            hold(run, held)
        report = reported(run, job, target, sensitive_in(run, plan), engine="spark")
        made = prepare(run, target, dry=job.dry, report=report, started=started)
        with run.log.timed("publish and audit"):
            publish.to_files([made], dry=job.dry)
        finished(run, report, made.audits[None])
        if given.show_sql:
            report.sql = warehouse.script()
    if not job.dry:
        beside.write_all(made, plan.publish.manifest, overwrite=plan.publish.overwrite)
    return [report]


def runs(method: Method) -> bool:
    """Tell whether a method runs on Spark."""
    return method.on_clusters or _in_kernel(method)


def _in_kernel(method: Method) -> bool:
    """Tell whether a method groups records in a kernel, which runs in blocks."""
    return method.stage == "group" and method.engine == "numpy"


def needs(plans: Sequence[Plan]) -> Iterator[Need]:
    """Yield what a job needs to be done on Spark, and what is said where that is not so, before Spark is started."""
    plan = plans[0]
    job, where = plan.job, f"{plan.job.label}, --engine spark"
    can = f"On Spark run {', '.join(one.name for one in methods().values() if runs(one))}; see sqlmicro help spark"
    yield Need(
        len(plans) == 1, where, "releases one table", f"{len(plans)} tables", "Make a job file for each", JobError
    )
    commands, do = ", ".join(command.do for command in job.commands), "Run it by itself, with --engine duckdb"
    yield Need(not commands, where, "runs steps that make a release", commands, do, JobError)
    wrong = [step.method.name for step in plan.steps if not runs(step.method)]
    got = ", ".join(wrong) or "no step"
    yield Need(plan.steps and not wrong, where, "runs methods that it has", got, can, JobError)
    options = [
        one.name for one in _NOT_HERE
        if any(_is_given(one, getattr(given, one.name, one.default)) for given in (plan.options, plan.publish))
    ]  # fmt: skip
    options += ["diff"] if plan.options.diff else []
    must = "reads Parquet files or a table of Spark's catalog, and writes --to a folder"
    do = "Leave it out, or use --engine duckdb; see sqlmicro help spark"
    yield Need(not options, where, must, _shown(options), do)
    for step in plan.steps:
        elsewhere = (*_ELSEWHERE, *(_NOT_IN_BLOCKS if _in_kernel(step.method) else ()))
        given = [*(name for name in elsewhere if step.settings.get(name)), *step.guarantees.given()]
        must = "groups numeric columns in blocks" if _in_kernel(step.method) else "counts records"
        do = "Leave it out, or use --engine duckdb"
        yield Need(not given, f"{step.where}, --engine spark", must, _shown(given), do)


def _shown(options: Iterable[str]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in options)


def _is_given(option: Parameter, value: object) -> bool:
    """Tell whether an option was given for this run: what the environment says of all runs asks for nothing here."""
    return value != option.default and not (option.param.env and value == os.environ.get(option.param.env))


def _in_blocks(warehouse: SparkWarehouse, step: PlannedStep) -> PlannedStep:
    """Return a step as it runs here: a kernel runs in blocks."""
    if not _in_kernel(step.method):
        return step
    own = common.names(step.method.parameters)
    function = partial(_group, warehouse, step.method, filled(RecordOptions, step.settings).importance)
    settings = {name: value for name, value in step.settings.items() if name in own}
    return replace(step, method=replace(step.method, engine="sql", load=lambda: function), settings=settings)


def _group(warehouse: SparkWarehouse, method: Method, importance: tuple[str, ...], work: Work, **settings: Any) -> None:
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.step.columns, importance, f"{work.where}, importance", must, zero=True)
    blocks.group(warehouse, work, method, {column: found.get(column, 1.0) for column in work.step.columns}, settings)
    work.note("grouped in blocks of near records, then searched across their borders")


def _target(plan: Plan) -> NewFile:
    to, overwrite = plan.publish.to, plan.publish.overwrite
    if to is None:
        raise ParameterError("--engine spark", "publishes to a folder of Parquet files", "no --to", "Add --to FOLDER")
    path = Path(to).absolute()
    if "://" in to or to.partition(":")[0] in LAKES or not path.parent.is_dir():
        raise InputError("--to", "its folder must exist on a disk that driver and workers share", repr(to))
    if path.exists() and not overwrite:
        raise InputError("--to", f"{to!r} must not exist yet", "one", "Choose another name, or add --overwrite")
    return NewFile(to, path, overwrite)
