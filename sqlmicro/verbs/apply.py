"""The command `apply`: exactly what a plan file says."""

from __future__ import annotations

from sqlmicro.jobs.approval import ApplyOptions, approved_jobs, approved_plan, note_applied
from sqlmicro.reports.done import ReleasingJob, ReleasingJobs
from sqlmicro.system.interrupts import watched
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.job_file import released
from sqlmicro.verbs.release import execute

__all__ = ["ApplyOptions", "apply_values"]


def apply_values(options: ApplyOptions, progress: Progress) -> ReleasingJob | ReleasingJobs:
    """Run exactly what a plan file says; nothing is published if schema, roles or keys are not those approved."""
    with watched():  # a signal that comes after the commit waits for the note: what is published was applied
        told = approved_plan(options)
        reports = execute(approved_jobs(options, told, progress))
        if not options.dry_run:
            note_applied(options, told)
    return released(options.plan, reports, [])
