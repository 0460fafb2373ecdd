"""A budget of time: how long each step searches is chosen by what it is expected to take, before it begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlmicro.errors import ParameterError
from sqlmicro.jobs.laws import EFFORTS
from sqlmicro.options.params import Parameter
from sqlmicro.system.progress import duration

if TYPE_CHECKING:
    from sqlmicro.jobs.expected import Expected
    from sqlmicro.pipeline import PlannedStep, Run

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
