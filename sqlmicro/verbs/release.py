"""The commands of the methods: a release, on the engine that is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from sqlmicro.errors import ParameterError
from sqlmicro.jobs import run, steps
from sqlmicro.options import common
from sqlmicro.options.common import MethodOptions, PublishSettings
from sqlmicro.options.params import parameters
from sqlmicro.publish import drafts
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
    """Run one method as a job of one step, to publish what it makes or to draft it."""
    if options.draft:
        return _drafted(method, options, progress)
    return execute([steps.one_step(method, options, progress)])[0]


def _drafted(method: Method, options: MethodOptions, progress: Progress) -> ReleaseReport:
    """Write a draft into a folder of its own."""
    elsewhere = [one for one in fields(PublishSettings) if one.name != "ledger"]  # which the environment may name
    given = {"--" + one.name.replace("_", "-"): getattr(options, one.name) != one.default for one in elsewhere}
    given |= {"--engine": options.engine == "spark", "--dry-run": options.dry_run, "--show-sql": options.show_sql}
    if named := [option for option, there in given.items() if there]:
        must = "goes nowhere yet, and is measured with nothing"
        raise ParameterError("--draft", must, ", ".join(named), "Name it when you publish the draft")
    shared = {name for name in common.names(parameters(MethodOptions)) if method.takes(name)}
    own = shared - {*common.names(parameters(PublishSettings)), "draft"}
    asked = drafts.as_given({**{name: getattr(options, name) for name in sorted(own)}, **options.settings})
    with drafts.begun(options.db, method.name) as folder:
        to = replace(options, to=str(drafts.rows(folder)))
        (report,) = run.execute([steps.one_step(method, to, progress)])
        drafts.write(folder, drafts.Draft(method.name, asked, report.draft or ""))
    report.draft = str(folder)
    return report
