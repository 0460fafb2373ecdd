"""A job on Spark: load, group, replace, write, audit what was written, rename."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlmicro import pipeline
from sqlmicro.database.columns import numbers_by_column
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs.roles import roles_in_words
from sqlmicro.jobs.run import judged
from sqlmicro.jobs.steps import Job, Step, accepted, own_settings, plan_of, settle_columns, step_columns
from sqlmicro.options import common
from sqlmicro.options.params import settle
from sqlmicro.publish import manifest, publish
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.release import prepare
from sqlmicro.registry import Method, find
from sqlmicro.spark import blocks
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system import secrets
from sqlmicro.work import Work

KERNELS = ("microaggregate", "mdav")
METHODS = (*KERNELS, "individual-ranking")
"""The methods that run on Spark."""
_NOT_HERE = (
    "db", "attach", "into", "partition_by", "in_place", "widen", "no_purge", "manifest", "memory_limit", "threads",
    "row_key", "diff", *common.names(common.READER),
)  # fmt: skip
_NOT_IN_BLOCKS = ("ordinal", "nominal", "block_attributes", "time_limit", "certify")


def release(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Run a job of one step on Spark and return its report.

    Raises
    ------
    SqlmicroError
        Nothing was published, whatever the reason.
    """
    job, step = jobs[0], _only_step(jobs)
    given = {**job.options, **settle(common.TARGET, job.steps[-1].settings, job.steps[-1].where)}
    target, started = _target(given), time.time()
    key = secrets.run_key(given["seed"], given["seed_file"])
    with SparkWarehouse.open(given["master"], job.progress) as warehouse:
        source = warehouse.source(given["table"])
        roles = settle_columns(warehouse, source, job)
        run = pipeline.load(warehouse, source, roles, key, plan_of(job, roles, source))
        pipeline.refuse_unique(run, accepted(job), f"{job.label}, --keep")
        warehouse.fit(run.rows_in)
        run.notes += roles_in_words(run.roles)
        columns, by = step_columns(job, step, run.roles, source)
        method, settings = _here(warehouse, find(step.do), step)
        pipeline.step(run, method, settings, columns, by, step.settings.get("nulls") or method.nulls, step.where)
        made = prepare(run, target, dry=job.dry, report=_report(run, job, target), started=started)
        with run.timed("publish and audit"):
            publish.to_files([made], dry=job.dry)
        report = made.report | {"audits": made.audits[None]}
        report |= judged(run, made.audits[None])
        report["seconds"] = {stage: round(seconds, 3) for stage, seconds in run.seconds.items()}
        report["notes"] = run.notes
        if given["show_sql"]:
            report["sql"] = warehouse.script()
        return [report]


def _only_step(jobs: Sequence[Job]) -> Step:
    """Return the step that changes records; refuse what cannot be done on Spark, and say what can."""
    job, where = jobs[0], f"{jobs[0].label}, --engine spark"
    can = f"On Spark run {', '.join(METHODS)}: one step, from Parquet files or a table of Spark's, --to a folder"
    steps = job.steps[:-1]
    if len(jobs) > 1 or len(steps) != 1 or steps[0].do not in METHODS or job.gates:
        raise JobError(where, "runs one step of its own methods", ", ".join(s.do for s in steps), can)
    given = {**job.options, **job.steps[-1].settings}
    wrong = [option for option in _NOT_HERE if given.get(option)]
    if wrong:
        shown = ", ".join("--" + option.replace("_", "-") for option in wrong)
        raise ParameterError(where, "does not go with every option", shown, can)
    return steps[0]


def _here(warehouse: SparkWarehouse, method: Method, step: Step) -> tuple[Method, dict[str, Any]]:
    """Return a method as it runs here, and its settings: a kernel runs in blocks."""
    settings = own_settings(step)
    if method.name not in KERNELS:
        return method, settings
    wrong = [name for name in _NOT_IN_BLOCKS if settings.get(name)]
    if wrong:
        raise ParameterError(f"{step.where}, --engine spark", "groups numeric columns in blocks", ", ".join(wrong))
    own = {parameter.name for parameter in method.parameters}
    function = partial(_group, warehouse, method, tuple(settings.get("importance") or ()))
    return replace(method, engine="sql", function=function), {n: v for n, v in settings.items() if n in own}


def _group(warehouse: SparkWarehouse, method: Method, importance: tuple[str, ...], work: Work, **settings: Any) -> None:
    must = "is written COLUMN=WEIGHT, with a weight of at least 0"
    found = numbers_by_column(work.columns, importance, f"{work.where}, importance", must, zero=True)
    blocks.group(warehouse, work, method, {column: found.get(column, 1.0) for column in work.columns}, settings)
    work.note("grouped in blocks of near records, then searched across their borders")


def _target(given: Mapping[str, Any]) -> NewFile:
    if given["to"] is None:
        raise ParameterError("--engine spark", "publishes to a folder of Parquet files", "no --to", "Add --to FOLDER")
    path = Path(given["to"]).absolute()
    if "://" in given["to"] or not path.parent.is_dir():
        raise InputError("--to", "its folder must exist on a disk that driver and workers share", repr(given["to"]))
    if path.exists() and not (given["overwrite"] and path != Path(given["table"]).absolute()):
        raise InputError(
            "--to", f"{given['to']!r} must not exist yet", "one", "Choose another name, or add --overwrite"
        )
    return NewFile(given["to"], path, given["overwrite"])


def _report(run: pipeline.Run, job: Job, target: NewFile) -> dict[str, Any]:
    last, rows = run.steps[-1], run.warehouse.count(run.current)
    return {
        "release": None, "source": job.options["table"], "target": target.label, "target_kind": "folder",
        "method": last["method"], "engine": "spark", "rows_in": run.rows_in, "rows": rows,
        "suppressed": run.rows_in - rows, "groups": last["groups"], "smallest_group": last["smallest_group"],
        "largest_group": last["largest_group"], **pipeline.losses(run), "safe_distance": None, "safe_parts": None,
        "candidates": [], "chosen": None,
        "promise": [last["promise"]], "steps": run.steps, "versions": manifest.versions(), "dry_run": job.dry,
    }  # fmt: skip
