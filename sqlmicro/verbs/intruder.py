"""What an intruder with the original in hand makes of a release, and of the others of the same source: its risk map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import carried
from sqlmicro.reports.charts import pareto
from sqlmicro.reports.facts import ReportOptions
from sqlmicro.verbs.attack import AttackOptions, attack_values, strongest

if TYPE_CHECKING:
    from sqlmicro.audits.verdict import Verdict
    from sqlmicro.system.progress import Progress

MOST_RELEASES = 20
"""So many releases of one source are on its map at most, the newest."""


def attack(facts: dict[str, Any], verdict: Verdict, options: ReportOptions, progress: Progress) -> None:
    """Attack the release with its original in hand; what came of it goes into the facts and the verdict."""

    if facts["original"] is None or not options.sample:
        return
    try:
        report = _attacked(facts["original"], facts["table"], options, progress)
    except (InputError, ParameterError) as error:
        facts["no_attacks"] = str(error).rstrip(".")
        return
    names = ("name", "rate", "ci", "chance", "n")
    facts["attacks"] = [{name: row[name] for name in names} for row in report["attacks"]]
    facts["attacked"] = report["columns"]
    facts["attacks_assume"] = report["truth"] == "assumed"
    facts["not_tried"] = report["not_tried"]
    facts["no_attacks"] = "" if facts["attacks"] else "none can be made"
    facts["verdict"] = verdict.after(strongest(report)).told()


def place(facts: dict[str, Any], known: Mapping[str, Any] | None, options: ReportOptions, progress: Progress) -> None:
    """Put the releases of one source on a map: those with the same columns, linked in the same way.

    Risk is the share of the records that distance-based linkage links. Loss is the mean over the columns: IL of
    numeric ones, the share of values changed of nominal ones, 0 where a column was released as it is. Where it was not
    measured, as for numbers recoded to ranges, there is no place on the map.
    """

    if known is None or facts["original"] is None or not options.sample:
        return
    own = _columns(next(row for row in known["siblings"] if row["id"] == known["id"]), facts)
    points, match = [], {name.lower() for name in options.match}
    for row in known["siblings"][-MOST_RELEASES:]:
        changed = {name for step in row["parameters"]["steps"] for name in step["columns"]} & set(own)
        if _columns(row, facts) != own or not changed <= set(row["loss_by_column"]):
            facts["other_candidates"].append(row["target"])
            continue
        columns = tuple(name for name in own if name.lower() not in match)
        try:
            (linked,) = _attacked(
                facts["original"], row["target"], options, progress, columns=columns, attack=("distance-linkage",)
            )["attacks"]
        except (InputError, ParameterError):  # it is gone, or is another table by now
            continue
        loss = sum(row["loss_by_column"].get(name, 0.0) for name in own) / len(own)
        points.append({
            "label": row["target"], "risk": linked["rate"], "loss": loss, "command": row["method"],
            "chosen": row["id"] == known["id"],
        })  # fmt: skip
    facts["candidates"] = pareto(points)


def _columns(row: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """Return the columns of a recorded release that an attacker may know."""
    given = row["parameters"]
    worked_on = [name for step in given["steps"] for name in (*step["columns"], *step["by"])]
    apart = {*given["apart"], *facts["sensitive"]}
    return sorted({*worked_on, *given["kept"]} - apart)


def _attacked(
    original: str, release: str, options: ReportOptions, progress: Progress, **asked: object
) -> dict[str, Any]:
    """Attack a release with what a report was told of it, and return what came of it."""
    return attack_values(carried(AttackOptions, options, original=original, release=(release,), **asked), progress)
