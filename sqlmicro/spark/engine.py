"""A job on Spark: load, group, replace, write, audit what was written, rename."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlmicro import pipeline
from sqlmicro.database.columns import make_columns, numbers_by_column
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs.run import _note_roles, finished, unpublished
from sqlmicro.jobs.steps import Job, Step, accepted, own_settings, plan_of, settle_columns, step_columns
from sqlmicro.options import common
from sqlmicro.options.common import PublishSettings
from sqlmicro.options.params import parameters, take
from sqlmicro.publish import publish, published_types, targets
from sqlmicro.publish.published_types import Change
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import Method, find
from sqlmicro.spark import blocks
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system import scratch, secrets
from sqlmicro.system.interrupts import committing
from sqlmicro.work import Work

KERNELS = ("microaggregate", "mdav")
METHODS = (*KERNELS, "individual-ranking")
"""The methods that run on Spark."""
_NOT_HERE = (
    "db", "attach", "into", "partition_by", "in_place", "widen", "no_purge", "manifest", "memory_limit", "threads",
    "row_key", "diff", *common.names(parameters(common.ReaderOptions)),
)  # fmt: skip
_NOT_IN_BLOCKS = ("ordinal", "nominal", "block_attributes", "time_limit", "certify")


def release(jobs: Sequence[Job]) -> list[ReleaseReport]:
    """Run a job of one step on Spark and return its report.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """
    job, step = jobs[0], _only_step(jobs)
    given = job.options
    target = _target(given.table, take(PublishSettings, job.steps[-1].settings, job.steps[-1].where))
    key = secrets.run_key(given.seed, given.seed_file)
    with SparkWarehouse.open(given.master, job.progress) as opened:
        warehouse: Any = opened
        source = _source(opened, given.table)
        roles = settle_columns(warehouse, source, job)
        run = pipeline.load(warehouse, source, roles, key, plan_of(job, roles, source))
        pipeline.refuse_unique(run, accepted(job), f"{job.label}, --keep")
        opened.fit(run.rows_in)
        _note_roles(run)
        columns, by = step_columns(job, step, run.roles, source)
        method, settings = _here(find(step.do), step)
        pipeline.step(run, method, settings, columns, by, step.settings.get("nulls") or method.nulls, step.where)
        report = unpublished(run, job, target.label, "folder", engine="spark")
        audited, report.types_changed = _publish(run, target, dry=job.dry)
        finished(run, report, audited)
        if given.show_sql:
            report.sql = opened.script()
        return [report]


def _only_step(jobs: Sequence[Job]) -> Step:
    """Return the step that changes records; refuse what cannot be done on Spark, and say what can."""
    job, where = jobs[0], f"{jobs[0].label}, --engine spark"
    can = f"On Spark run {', '.join(METHODS)}: one step, from Parquet files or a table of Spark's, --to a folder"
    steps = job.steps[:-1]
    if len(jobs) > 1 or len(steps) != 1 or steps[0].do not in METHODS or job.gates:
        raise JobError(where, "runs one step of its own methods", ", ".join(s.do for s in steps), can)
    given = {**asdict(job.options), **job.steps[-1].settings}
    wrong = [option for option in _NOT_HERE if given.get(option)]
    if wrong:
        shown = ", ".join("--" + option.replace("_", "-") for option in wrong)
        raise ParameterError(where, "does not go with every option", shown, can)
    return steps[0]


def _here(method: Method, step: Step) -> tuple[Method, dict[str, Any]]:
    """Return a method as it runs here, and its settings: a kernel runs in blocks."""
    settings = own_settings(step)
    if method.name not in KERNELS:
        return method, settings
    wrong = [name for name in _NOT_IN_BLOCKS if settings.get(name)]
    if wrong:
        raise ParameterError(f"{step.where}, --engine spark", "groups numeric columns in blocks", ", ".join(wrong))
    own = {parameter.name for parameter in method.parameters}
    function = partial(_group, method, tuple(settings.get("importance") or ()))
    return replace(method, engine="sql", function=function), {n: v for n, v in settings.items() if n in own}


def _group(method: Method, importance: tuple[str, ...], work: Work, **settings: Any) -> None:
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.columns, importance, f"{work.where}, importance", must, zero=True)
    blocks.group(work, method, {column: found.get(column, 1.0) for column in work.columns}, settings)
    work.note("grouped in blocks of near records, then searched across their borders")


def _target(table: str, settings: PublishSettings) -> targets.Target:
    if settings.to is None:
        raise ParameterError("--engine spark", "publishes to a folder of Parquet files", "no --to", "Add --to FOLDER")
    path = Path(settings.to).absolute()
    if "://" in settings.to or not path.parent.is_dir():
        raise InputError("--to", "its folder must exist on a disk that driver and workers share", repr(settings.to))
    if path.exists() and not (settings.overwrite and path != Path(table).absolute()):
        raise InputError(
            "--to", f"{settings.to!r} must not exist yet", "one", "Choose another name, or add --overwrite"
        )
    return targets.Target("file", settings.to, path=path, overwrite=settings.overwrite)


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
