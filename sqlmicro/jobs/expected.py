"""What a release is expected to take: its steps, what is done around them, and the column that costs most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.jobs import laws, sizes
from sqlmicro.jobs.calibration import Calibration, Observation
from sqlmicro.jobs.laws import AROUND
from sqlmicro.jobs.sizes import Measured, Sizes
from sqlmicro.system.memory import peak_memory
from sqlmicro.system.printable import shown
from sqlmicro.system.progress import duration

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import PlannedStep, Run

WORTH_TELLING = 10.0
"""Seconds from which on an estimate is told before the work."""
_DEAR = 0.3
"""The share of the time from which on a column is named."""


@dataclass(frozen=True)
class Dear:
    """The column without which a run would be shortest: how many values it has, and its share of the time."""

    column: str
    values: int
    share: float


@dataclass(frozen=True)
class Expected:
    """What a release is expected to take, in seconds and bytes, and what that is reckoned from."""

    calibration: Calibration
    steps: tuple[PlannedStep, ...]
    measured: tuple[Measured, ...]
    around: Sizes
    dry: bool
    peak: int | None
    """The memory that the process had taken at most before the work."""
    dear: Dear | None = None

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        own = [self.of_step(step, one.sizes) for step, one in zip(self.steps, self.measured, strict=True)]
        return self.calibration.seconds(AROUND, self._kind, self.around, "") + sum(own)

    @property
    def memory(self) -> float:
        """Bytes at most, of the whole process."""
        found = [
            self.calibration.memory(step.method.name, kind_of(step), one.sizes)
            for step, one in zip(self.steps, self.measured, strict=True)
        ]
        return max(found, default=0.0)

    @property
    def _kind(self) -> str:
        """What is measured apart: what is promised is audited, and a dry run publishes nothing."""
        promised = f"{self.steps[-1].method.promise}{' k' if any(step.k for step in self.steps) else ''}"
        return f"{promised}{' dry' if self.dry else ''}"

    def of_step(self, step: PlannedStep, of: Sizes) -> float:
        """Return the seconds of a step that is so large; a search that has a limit takes that."""
        limit = step.settings.get("time_limit")
        if limit is not None:
            return float(limit) * max(1.0, of.strata if step.method.engine == "numpy" else 1.0)
        effort = laws.effort_of(step.method, step.settings)
        return self.calibration.seconds(step.method.name, kind_of(step), of, effort)

    @property
    def told(self) -> str:
        """What is said before the work, such as: about 4 min and 2.1 GB; email (19,870 values) costs 80 %.

        Memory is told from 0.1 GB on.
        """
        memory = f" and {self.memory / 1e9:.2g} GB" if self.memory >= 1e8 else ""
        return f"about {duration(max(1.0, self.seconds))}{memory}{self.costs}"

    @property
    def costs(self) -> str:
        """What is said of the column that costs most; nothing where none costs much."""
        dear = self.dear
        return f"; {shown(dear.column)} ({dear.values:,} values) costs {100 * dear.share:.0f} %" if dear else ""

    def with_steps(self, steps: Sequence[PlannedStep]) -> Expected:
        """Return what other settings of the same steps are expected to take."""
        return replace(self, steps=tuple(steps))

    def with_dear(self, run: Run) -> Expected:
        """Return it with the column that costs most, if one costs much of it; its values are counted."""
        whole, found = self.seconds, self.dear
        for step, own in zip(self.steps, self.measured, strict=True):
            if not own.values or len(step.columns) < 2:
                continue
            column = max(own.values, key=lambda column: own.values[column])
            left = _without(run, step, own, column)
            share = (self.of_step(step, own.sizes) - self.of_step(step, left)) / whole
            if share >= max(_DEAR, found.share if found else 0.0):
                found = Dear(column.name, sizes.values(run.warehouse, run.current, column), min(share, 0.99))
        return replace(self, dear=found)

    def observed(self, run: Run) -> list[Observation]:
        """Return what a run took of it, step by step, once it is done; of a run that compiled kernels nothing."""
        if run.warehouse.progress.compiled:
            return []
        stages = [_stage(step) for step in self.steps]
        around = sum(seconds for stage, seconds in run.seconds.items() if stage not in stages)
        found = [Observation(AROUND, self._kind, self.around, around)]
        peak = peak_memory()
        grown = float(peak) if peak and self.peak and peak > self.peak and len(self.steps) == 1 else 0.0
        for step, one, stage in zip(self.steps, self.measured, stages, strict=True):
            if stages.count(stage) == 1 and step.settings.get("time_limit") is None:
                taken = run.seconds.get(stage, 0.0)
                found.append(Observation(step.method.name, kind_of(step), one.sizes, taken, grown))
        return [one for one in found if one.seconds > 0]


def kind_of(step: PlannedStep) -> str:
    """Return what is measured apart from other runs of the method of a step."""
    return laws.told_apart(step.method, step.settings, guaranteed=step.guarantees.asked)


def _stage(step: PlannedStep) -> str:
    return f"{step.method.stage}: {step.method.name}"


def _without(run: Run, step: PlannedStep, own: Measured, column: Column) -> Sizes:
    """Return the sizes of a step without a column."""
    rest = [other for other in (*step.columns, *step.by) if other != column]
    counted = sizes.combinations(run.warehouse, run.current, rest) if step.method.stage == "safe" else 0
    return own.without(column, counted)


def expected(run: Run, steps: Sequence[PlannedStep], calibration: Calibration, *, dry: bool) -> Expected:
    """Return what the steps over the records that a run has loaded are expected to take, and all around them."""
    rows = run.warehouse.count(run.current)
    measured = tuple(sizes.of_step(run, step, rows) for step in steps)
    around = Sizes(rows, max(1, len(run.roles.released)))
    return Expected(calibration, tuple(steps), measured, around, dry, peak_memory())
