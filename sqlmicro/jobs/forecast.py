"""What the releases of a job are expected to take: told before the work, chosen by a budget, kept for later runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlmicro.errors import ParameterError
from sqlmicro.jobs import budget, calibration
from sqlmicro.jobs.calibration import UNREADABLE, Calibration
from sqlmicro.jobs.expected import WORTH_TELLING, Expected, expected
from sqlmicro.jobs.plan import Plan
from sqlmicro.jobs.steps import Job
from sqlmicro.pipeline import Run


@dataclass
class Forecast:
    """What is expected of the releases of one job; of a budget each table has a share by its records."""

    calibration: Calibration
    budget: str | None = None
    left: float = 0.0
    """Seconds that are left of the budget."""
    rows: list[int] = field(default_factory=list)
    """The records of the tables to come, where there are several."""
    releases: list[tuple[Run, Expected]] = field(default_factory=list)

    @classmethod
    def of(cls, jobs: Sequence[Job], rows: Sequence[int] = ()) -> Forecast:
        """Return what is known before the work.

        Raises
        ------
        ParameterError
            When the budget is none, or goes with a series.
        """
        text = jobs[0].options.budget
        if text and any(job.publish.is_night for job in jobs):
            must = "chooses settings by the size of the table; those of a series are the same every night"
            raise ParameterError(budget.WHERE, must, "--series", "Give --quality or --effort")
        left = budget.seconds_of(text) if text else 0.0
        return cls(calibration.read(), text, left, list(rows))

    def settled(self, run: Run, plan: Plan) -> Plan:
        """Return the plan with the settings that fit into the budget, and tell what it is expected to take.

        Raises
        ------
        ParameterError
            When there is nothing to choose, or even the least does not fit.
        """
        progress, dry = run.warehouse.progress, plan.job.options.dry_run
        found = expected(run, plan.steps, self.calibration, dry=plan.job.dry)
        if self.calibration.spoiled:
            run.notes.append(UNREADABLE)
        if self.budget:
            ahead = sum(self.rows)
            share = self.left * self.rows.pop(0) / ahead if ahead else self.left
            found, told = budget.chosen(found, run, self.budget, share)
            self.left -= found.seconds
            run.notes += told
            for sentence in told:
                progress.say(sentence)
            plan = plan.with_steps(found.steps)
            run.recipe = plan.recipe(run.source)
            found = found.with_steps(plan.steps)
        tell = dry or found.seconds >= WORTH_TELLING
        found = found.with_dear(run) if tell else found
        label = f"{run.source.label}: " if self.rows or self.releases else ""
        progress.expect(f"{label}{found.told}", found.seconds, tell=tell)
        self.releases.append((run, found))
        return plan

    def remember(self) -> None:
        """Keep what the releases took for later runs, once they are done."""
        measured = [one for run, found in self.releases for one in found.observed(run)]
        calibration.add(measured, spoiled=self.calibration.spoiled)
