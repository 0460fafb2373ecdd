"""A job on Spark: load, group, replace, write, audit what was written, rename."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlmicro import pipeline
from sqlmicro.database.columns import make_columns, numbers_by_column
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs.plan import Plan, compiled, drafted, looked_at
from sqlmicro.jobs.roles import roles_in_words
from sqlmicro.jobs.run import finished, unpublished
from sqlmicro.jobs.steps import Job
from sqlmicro.options import common
from sqlmicro.options.common import (
    AttachOption,
    DbOption,
    MachineOptions,
    PublishSettings,
    ReaderOptions,
    RecordOptions,
    RowKeyOption,
)
from sqlmicro.options.params import filled, parameters
from sqlmicro.pipeline import PlannedStep
from sqlmicro.publish import publish, published_types, targets
from sqlmicro.publish.published_types import Change
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import Method
from sqlmicro.spark import blocks
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system import scratch, secrets
from sqlmicro.system.interrupts import committing
from sqlmicro.work import Work

KERNELS = ("microaggregate", "mdav")
METHODS = (*KERNELS, "individual-ranking")
"""The methods that run on Spark."""
_HERE = ("to", "overwrite")
_NOT_HERE = tuple(
    name
    for options in (DbOption, AttachOption, PublishSettings, MachineOptions, RowKeyOption, ReaderOptions)
    for name in common.names(parameters(options))
    if name not in _HERE
)
_NOT_IN_BLOCKS = ("ordinal", "nominal", "block_attributes", "time_limit", "certify")


def release(jobs: Sequence[Job]) -> list[ReleaseReport]:
    """Run a job of one step on Spark and return its report.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """
    plans = [drafted(job) for job in jobs]
    refuse(plans)
    job = jobs[0]
    given = job.options
    target = _target(plans[0])
    key = secrets.run_key(given.seed, given.seed_file)
    with SparkWarehouse.open(given.master, job.progress) as opened:
        warehouse: Any = opened
        source = _source(opened, given.table)
        plan = looked_at(compiled(job, source), warehouse, source)
        run = pipeline.load(warehouse, source, plan.roles, key, plan.recipe(source))
        pipeline.refuse_unique(run, plan.accepted, f"{job.label}, --keep")
        opened.fit(run.rows_in)
        run.notes += roles_in_words(run.roles)
        pipeline.step(run, _in_blocks(plan.steps[0]))
        report = unpublished(run, job, target.label, "folder", engine="spark")
        audited, report.types_changed = _publish(run, target, dry=job.dry)
        finished(run, report, audited)
        if given.show_sql:
            report.sql = opened.script()
        return [report]


def refuse(plans: Sequence[Plan]) -> None:
    """Refuse what cannot be done on Spark, and say what can.

    Raises
    ------
    JobError, ParameterError
        Before Spark is started.
    """
    plan = plans[0]
    job, where = plan.job, f"{plan.job.label}, --engine spark"
    can = f"On Spark run {', '.join(METHODS)}: one step, from Parquet files or a table of Spark's, --to a folder"
    does = [*(command.do for command in job.commands), *(step.method.name for step in plan.steps)]
    if len(plans) > 1 or len(does) != 1 or does[0] not in METHODS or plan.gates:
        raise JobError(where, "runs one step of its own methods", ", ".join(does), can)
    wrong = [name for name in _NOT_HERE if getattr(plan.options, name, None) or getattr(plan.publish, name, None)]
    wrong += ["diff"] if plan.options.diff else []
    if wrong:
        shown = ", ".join("--" + name.replace("_", "-") for name in wrong)
        raise ParameterError(where, "does not go with every option", shown, can)
    step = plan.steps[0]
    wrong = [name for name in _NOT_IN_BLOCKS if step.settings.get(name)]
    if step.method.name in KERNELS and wrong:
        raise ParameterError(f"{step.where}, --engine spark", "groups numeric columns in blocks", ", ".join(wrong))


def _in_blocks(step: PlannedStep) -> PlannedStep:
    """Return a step as it runs here: a kernel runs in blocks."""
    if step.method.name not in KERNELS:
        return step
    own = common.names(step.method.parameters)
    function = partial(_group, step.method, filled(RecordOptions, step.settings).importance)
    settings = {name: value for name, value in step.settings.items() if name in own}
    return replace(step, method=replace(step.method, engine="sql", function=function), settings=settings)


def _group(method: Method, importance: tuple[str, ...], work: Work, **settings: Any) -> None:
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.columns, importance, f"{work.where}, importance", must, zero=True)
    blocks.group(work, method, {column: found.get(column, 1.0) for column in work.columns}, settings)
    work.note("grouped in blocks of near records, then searched across their borders")


def _target(plan: Plan) -> targets.Target:
    to, overwrite = plan.publish.to, plan.publish.overwrite
    if to is None:
        raise ParameterError("--engine spark", "publishes to a folder of Parquet files", "no --to", "Add --to FOLDER")
    path = Path(to).absolute()
    if "://" in to or not path.parent.is_dir():
        raise InputError("--to", "its folder must exist on a disk that driver and workers share", repr(to))
    if path.exists() and not (overwrite and path != Path(plan.options.table).absolute()):
        raise InputError("--to", f"{to!r} must not exist yet", "one", "Choose another name, or add --overwrite")
    return targets.Target("file", to, path=path, overwrite=overwrite)


def _source(warehouse: SparkWarehouse, table: str) -> Source:
    """Return the Parquet files or the table of Spark's catalog that --table names."""
    is_file = "/" in table or table.lower().endswith((".parquet", ".pq"))

    def read() -> Any:
        session = warehouse.session
        return session.read.parquet(table) if is_file else session.table(table)

    try:
        frame = warehouse.call("load", read)
    except Exception:
        frame = None
    if frame is None:
        raise InputError("--table", "must be Parquet files, or a table that Spark's catalog has", repr(table))
    relation = warehouse.put(warehouse.numbered(frame), "source")
    described = [column for column in warehouse.describe(relation) if column[0] != "rowid"]
    return Source(relation, table, tuple(make_columns(described)), is_table=False, is_file=is_file)


def _publish(run: pipeline.Run, target: targets.Target, *, dry: bool) -> tuple[publish.Audited, list[Change]]:
    """Write beside the target, audit what can be read back, then rename; return the audits, and types that changed."""
    warehouse: Any = run.warehouse
    assert target.path is not None
    with run.timed("publish and audit"), scratch.folder(target.path.parent) as folder:
        beside = folder / "release"
        output = publish.ordered(run, publish.Output(run.current, target))
        select = publish.select_of(run, output)
        records = warehouse.define("published", "{{ select }}", select=select)
        frame = warehouse.frame(records)
        warehouse.call("publish", lambda: frame.write.option("compression", "zstd").parquet(str(beside)))
        written = warehouse.put(
            warehouse.call("audit", lambda: warehouse.session.read.parquet(str(beside))), "read_back"
        )
        columns = make_columns(warehouse.describe(written))
        audits = publish.audit_release(run, output, written, columns)
        if not dry:
            with committing():
                if target.path.exists():
                    target.path.rename(folder / "replaced")
                beside.rename(target.path)
    return audits, published_types.changes(run, columns, target)
