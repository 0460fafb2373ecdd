"""What the releases of a job are expected to take: told before the work, chosen by a budget, kept for later runs.

What a release is expected to take: its steps, what is done around them, and the column that costs most.

A budget of time: how long each step searches is chosen by what it is expected to take, before it begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlmicro.errors import ParameterError
from sqlmicro.jobs import calibration, laws, sizes
from sqlmicro.jobs.calibration import UNREADABLE, Calibration, Observation
from sqlmicro.jobs.laws import AROUND, EFFORTS
from sqlmicro.jobs.plan import Plan
from sqlmicro.jobs.sizes import Measured, Sizes
from sqlmicro.jobs.steps import Job
from sqlmicro.options.params import Parameter
from sqlmicro.pipeline import Run
from sqlmicro.system.memory import peak_memory
from sqlmicro.system.printable import shown
from sqlmicro.system.progress import duration

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.pipeline import PlannedStep


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
            raise ParameterError(WHERE, must, "--series", "Give --quality or --effort")
        left = seconds_of(text) if text else 0.0
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
            run.log.notes.append(UNREADABLE)
        if self.budget:
            ahead = sum(self.rows)
            share = self.left * self.rows.pop(0) / ahead if ahead else self.left
            found, told = chosen(found, run, self.budget, share)
            self.left -= found.seconds
            run.log.notes += told
            for sentence in told:
                progress.say(sentence)
            plan = plan.with_steps(found.steps)
            run.repeat.recipe = plan.recipe(run.source)
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
                found = Dear(column.name, sizes.values(run.warehouse, run.table.current, column), min(share, 0.99))
        return replace(self, dear=found)

    def observed(self, run: Run) -> list[Observation]:
        """Return what a run took of it, step by step, once it is done; of a run that compiled kernels nothing."""
        if run.warehouse.progress.compiled:
            return []
        stages = [_stage(step) for step in self.steps]
        around = sum(seconds for stage, seconds in run.log.seconds.items() if stage not in stages)
        found = [Observation(AROUND, self._kind, self.around, around)]
        peak = peak_memory()
        grown = float(peak) if peak and self.peak and peak > self.peak and len(self.steps) == 1 else 0.0
        for step, one, stage in zip(self.steps, self.measured, stages, strict=True):
            if stages.count(stage) == 1 and step.settings.get("time_limit") is None:
                taken = run.log.seconds.get(stage, 0.0)
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
    counted = sizes.combinations(run.warehouse, run.table.current, rest) if step.method.stage == "safe" else 0
    return own.without(column, counted)


def expected(run: Run, steps: Sequence[PlannedStep], calibration: Calibration, *, dry: bool) -> Expected:
    """Return what the steps over the records that a run has loaded are expected to take, and all around them."""
    rows = run.warehouse.count(run.table.current)
    measured = tuple(sizes.of_step(run, step, rows) for step in steps)
    around = Sizes(rows, max(1, len(run.roles.released)))
    return Expected(calibration, tuple(steps), measured, around, dry, peak_memory())


WHERE = "--budget"
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s)\s*")
_SECONDS = {"h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0}


def seconds_of(text: str) -> float:
    """Return the seconds of a time that is written with its units.

    >>> seconds_of("5m"), seconds_of("1h30m"), seconds_of("90 s")
    (300.0, 5400.0, 90.0)

    Raises
    ------
    ParameterError
        For anything else, and for no time at all.
    """
    whole = text.strip()
    parts = _PART.findall(whole)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if _PART.sub("", whole) or not 0 < seconds <= 1e8:
        raise ParameterError(WHERE, "must be a time with its unit", repr(text), "Write 90s, 5m or 1h30m")
    return seconds


def chosen(expected: Expected, run: Run, budget: str, left: float) -> tuple[Expected, list[str]]:
    """Return what is expected of the steps with the longest searches that fit, and a sentence on each choice.

    `left` are the seconds that are left of the budget. From the shortest searches on, the step whose longer search
    costs least is raised as long as all fits.

    Raises
    ------
    ParameterError
        When nothing can be chosen, or even the shortest searches do not fit: nothing is begun.
    """
    free = _free(expected.steps)
    levels = dict.fromkeys(free, 0)
    found = _at(expected, free, levels)
    if found.seconds > left:
        raise ParameterError(
            WHERE, f"{budget} must be enough for the shortest search",
            f"about {duration(found.seconds)} with {_options(found.steps, free)}{found.with_dear(run).costs}",
            f"Give a longer one, or {_options(found.steps, free)} without a budget",
        )  # fmt: skip
    while True:
        raised = [
            (_at(expected, free, levels | {number: levels[number] + 1}), number)
            for number, (_, choices) in free.items() if levels[number] + 1 < len(choices)
        ]  # fmt: skip
        fitting = [(one.seconds, number, one) for one, number in raised if one.seconds <= left]
        if not fitting:
            break
        _, number, found = min(fitting, key=lambda item: item[:2])
        levels[number] += 1
    return found, [_sentence(found, budget, number, free[number][0]) for number in free]


def _free(steps: Sequence[PlannedStep]) -> dict[int, tuple[Parameter, tuple[str, ...]]]:
    """Return the steps whose search may be chosen, by number from 0: the setting, its values, the shortest first."""
    found, given = {}, []
    for number, step in enumerate(steps):
        setting = step.method.setting("effort")
        if setting is None or not setting.choices:
            continue
        if step.settings.get("time_limit") is not None:
            given.append("--time-limit")
        elif step.settings[setting.name] != setting.default:
            given.append(f"{setting.option} {step.settings[setting.name]}")
        else:
            order = [*EFFORTS, *setting.choices]
            found[number] = setting, tuple(sorted(setting.choices, key=order.index))
    if found:
        return found
    if given:
        must, do = "chooses how long a step searches", f"Leave out {given[0]}, or --budget"
        raise ParameterError(WHERE, must, given[0], do)
    names = ", ".join(dict.fromkeys(step.method.name for step in steps))
    raise ParameterError(
        WHERE, "chooses how long a method searches, as safe and microaggregate do",
        f"{names}, which has nothing to choose", "Leave it out",
    )  # fmt: skip


def _at(expected: Expected, free: dict[int, tuple[Parameter, tuple[str, ...]]], levels: dict[int, int]) -> Expected:
    """Return what is expected with so long searches."""
    steps = list(expected.steps)
    for number, level in levels.items():
        setting, choices = free[number]
        steps[number] = replace(steps[number], settings={**steps[number].settings, setting.name: choices[level]})
    return expected.with_steps(steps)


def _options(steps: Sequence[PlannedStep], free: dict[int, tuple[Parameter, tuple[str, ...]]]) -> str:
    """Return the choices as they are given on the command line."""
    return ", ".join(_option(steps[number], setting) for number, (setting, _) in free.items())


def _option(step: PlannedStep, setting: Parameter) -> str:
    return f"{setting.option} {step.settings[setting.name]}"


def _sentence(found: Expected, budget: str, number: int, setting: Parameter) -> str:
    step = found.steps[number]
    seconds = duration(found.of_step(step, found.measured[number].sizes))
    where = f"{step.where}: " if len(found.steps) > 1 else ""
    option = _option(step, setting)
    return f"budget {budget}: {where}{option}, about {seconds}; {option} in its place makes the same release"
