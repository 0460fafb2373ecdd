"""What an intruder with the original in hand makes of a release, and of the others of the same source: its risk map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.attacks.report import AttackReport
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import settle
from sqlmicro.publish.report import Parameters
from sqlmicro.reports.drawn import Point, pareto
from sqlmicro.reports.facts import AttackFacts, Facts
from sqlmicro.reports.recorded import RecordedRelease
from sqlmicro.verbs.attack import attack_options, attack_values, strongest

if TYPE_CHECKING:
    from sqlmicro.audits.verdict import Verdict
    from sqlmicro.system.progress import Progress

MOST_RELEASES = 20
"""So many releases of one source are on its map at most, the newest."""


def attack(facts: Facts, verdict: Verdict, values: Mapping[str, Any], progress: Progress) -> None:
    """Attack the release with its original in hand; what came of it goes into the facts and the verdict."""

    if facts.original is None or not values["sample"]:
        return
    try:
        report = _attacked(facts.original, facts.table, values, progress)
    except (InputError, ParameterError) as error:
        facts.no_attacks = str(error).rstrip(".")
        return
    facts.attacks = [AttackFacts(row.name, row.rate, row.ci, row.chance, row.n) for row in report.attacks]
    facts.attacked = report.columns
    facts.attacks_assume = report.truth == "assumed"
    facts.not_tried = report.not_tried
    facts.no_attacks = "" if facts.attacks else "none can be made"
    facts.verdict = verdict.after(strongest(report)).told()
    facts.passed = facts.verdict.passed


def place(facts: Facts, known: RecordedRelease | None, values: Mapping[str, Any], progress: Progress) -> None:
    """Put the releases of one source on a map: those with the same columns, linked in the same way.

    Risk is the share of the records that distance-based linkage links. Loss is the mean over the columns: IL of
    numeric ones, the share of values changed of nominal ones, 0 where a column was released as it is. Where it was not
    measured, as for numbers recoded to ranges, there is no place on the map.
    """

    if known is None or facts.original is None or not values["sample"]:
        return
    own = _columns(known.parameters, facts)
    points, match = [], {name.lower() for name in values["match"]}
    for row in known.siblings[-MOST_RELEASES:]:
        changed = {name for step in row.parameters.steps for name in step.columns} & set(own)
        if _columns(row.parameters, facts) != own or not changed <= set(row.loss_by_column):
            facts.other_candidates.append(row.target)
            continue
        asked = {"columns": tuple(name for name in own if name.lower() not in match), "attack": ("distance-linkage",)}
        try:
            (linked,) = _attacked(facts.original, row.target, {**values, **asked}, progress).attacks
        except (InputError, ParameterError):  # it is gone, or is another table by now
            continue
        loss = sum(row.loss_by_column.get(name, 0.0) for name in own) / len(own)
        points.append(Point(row.target, linked.rate, loss, row.method, chosen=row.id == known.id))
    facts.candidates = pareto(points)


def _columns(given: Parameters, facts: Facts) -> list[str]:
    """Return the columns of a recorded release that an attacker may know."""
    worked_on = [name for step in given.steps for name in (*step.columns, *step.by)]
    apart = {*given.apart, *facts.sensitive}
    return sorted({*worked_on, *given.kept} - apart)


def _attacked(original: str, release: str, values: Mapping[str, Any], progress: Progress) -> AttackReport:
    options = attack_options()
    given = {option.name: values[option.name] for option in options if option.name in values}
    return attack_values(settle(options, given | {"original": original, "release": (release,)}, "report"), progress)
