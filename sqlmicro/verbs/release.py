"""The commands of the methods: a release, on the engine that is named."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.jobs import run, steps
from sqlmicro.options.common import MethodOptions
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import Method, late
from sqlmicro.system.interrupts import watched
from sqlmicro.system.progress import Progress


def execute(jobs: Sequence[steps.Job]) -> list[ReleaseReport]:
    """Run jobs on the engine that they name."""
    if jobs[0].options.engine == "spark":
        with watched():
            reports: list[ReleaseReport] = late("sqlmicro.spark.engine").release(jobs)
        return reports
    return run.execute(jobs)


def release_values(method: Method, options: MethodOptions, progress: Progress) -> ReleaseReport:
    """Run one method as a job of one step."""
    return execute([steps.one_step(method, options, progress)])[0]
