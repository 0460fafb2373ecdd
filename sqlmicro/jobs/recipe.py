"""What decides a release, as it is recorded: roles, steps and their settings."""

from __future__ import annotations

from sqlmicro.jobs.steps import Job
from sqlmicro.pipeline import Run
from sqlmicro.publish.report import ChosenCandidate, Parameters, StepParameters
from sqlmicro.publish.targets import Target


def parameters(run: Run, job: Job, target: Target) -> Parameters:
    """Return everything that decides what was released, but the key."""
    roles = run.roles
    steps = []
    for step in run.steps:
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
        run.apart,
        [column.name for column in roles.allowed],
        target.kind,
        target.widen,
        [column.name for column in roles.person],
        [column.name for column in roles.of_person],
        [column.name for column in roles.household],
        job.options.rows_are_persons,
        sorted(column.name for column in run.numeric),
        job.options.decimals,
    )
