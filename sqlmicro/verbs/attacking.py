"""What attacks on a release are given, made with and reported as, wherever its records are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.attacks import registry
from sqlmicro.attacks.attacked import MOST_TRIED, AttackedRelease
from sqlmicro.attacks.knowledge import UNKNOWN, Knowledge
from sqlmicro.attacks.registry import Attack, AttackRow, NothingToAttack, attacks
from sqlmicro.audits.inputs import ControlOption
from sqlmicro.audits.verdict import Attacked, Verdict
from sqlmicro.audits.verdict_words import told
from sqlmicro.database.columns import Column
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import AttachOption, DbOption, EngineChoice, MachineOptions
from sqlmicro.options.params import Param, Registered, settle
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.publish.report import Parameters
from sqlmicro.registry import PROMISES, Promise
from sqlmicro.reports.attack_report import AttackReport, NotTried
from sqlmicro.reports.recorded import RecordedRelease
from sqlmicro.system.reporting import from_json
from sqlmicro.system.secrets import Recipe, Task
from sqlmicro.system.sentences import say, term


@dataclass(frozen=True)
class Published:
    """What the attacks need of a manifest."""

    parameters: Parameters


@dataclass(frozen=True, kw_only=True)
class AttackOptions(DbOption, ControlOption, AttachOption, EngineChoice, MachineOptions, ReaderOptions):
    """What `sqlmicro attack` takes: inputs, and settings of the attacks."""

    original: Annotated[str, Param("Table, view or file the release was made from.", metavar="TABLE")]
    release: Annotated[tuple[str, ...], Param("Release to attack: a table, view or file; repeatable.", metavar="TABLE")]
    match: Annotated[
        tuple[str, ...],
        Param(
            "Columns unchanged in the release that identify a record, to tell whether an attack is right. Default: the "
            "worst is assumed.",
            metavar="A,B",
        ),
    ] = ()
    person: Annotated[
        tuple[str, ...],
        Param(
            "Columns of the original that say whose record it is: persons are looked for, with all their records. The "
            "release has them too, or records are matched.",
            metavar="A,B",
        ),
    ] = ()
    columns: Annotated[
        tuple[str, ...], Param("What the attacker knows. Default: the columns both tables have.", metavar="A,B")
    ] = ()
    sensitive: Annotated[
        tuple[str, ...], Param("Sensitive columns of the release, which the attacker wants.", metavar="A,B")
    ] = ()
    nominal: Annotated[tuple[str, ...], Param("Numbers that are only compared as equal or not.", metavar="A,B")] = ()
    attack: Annotated[
        tuple[str, ...], Param("Make this attack only; repeatable. Default: all that can be made.", metavar="NAME")
    ] = ()
    sample: Annotated[
        int | None, Param(f"Records, or persons, of the original to try. Default: all, up to {MOST_TRIED:,}.", min=1)
    ] = None
    manifest: Annotated[
        str | None, Param("JSON file published with the release, to replay keys from.", metavar="FILE")
    ] = None
    settings: Annotated[Mapping[str, object], Registered(registry.settings)] = field(default_factory=dict)


def refuse_known(sensitive: Sequence[Column], attacked: AttackedRelease) -> None:
    """Refuse sensitive columns that the attacker is said to know.

    Raises
    ------
    ParameterError
        With the first of them.
    """
    both = [column.name for column in sensitive if column in (*attacked.columns, *attacked.match)]
    if both:
        raise ParameterError("attack, --sensitive", "is what the attacker does not know", f"known: {both[0]}")


def read_manifest(path: str | None) -> Any:
    """Return what a published manifest says; None without one.

    Raises
    ------
    InputError
        When it is no JSON file.
    """
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError("attack, --manifest", "must be a JSON file", repr(path)) from None


def strongest(report: AttackReport) -> list[Attacked]:
    """Return the attacks of a report that a verdict counts: those that somebody outside can make."""
    assumed = report.truth == "assumed"
    return [
        Attacked(row.name, row.rate, row.ci[0], row.chance, row.n, assumed)
        for row in report.attacks if attacks()[row.name].outsider
    ]  # fmt: skip


def parameters_in(manifest: Any) -> Parameters | None:
    """Return what a manifest says of how a release was made; nothing where it does not."""
    try:
        return from_json(Published, manifest).parameters
    except ValueError:
        return None


def recipe_of(parameters: Parameters | None) -> Recipe:
    """Return the recipe that parameters tell of, but for the source."""
    if parameters is None:
        return UNKNOWN
    tasks = [Task(step.method, tuple(step.columns), tuple(step.by), step.nulls, step.settings)
             for step in parameters.steps]  # fmt: skip
    given = parameters
    units = (tuple(names) for names in (given.person, given.of_person, given.household))
    return Recipe("", tuple(given.dropped), tuple(given.row_key), tuple(tasks), *units)


def least(made: Sequence[Promise]) -> Promise | None:
    """Return the least of what some steps promise; None without any."""
    order: tuple[Promise, ...] = ("column", "moments", "masked", "block", "record")
    return min(made, key=order.index, default=None)


def rows_of(made: Attack, knowledge: Knowledge, *, asked: bool) -> list[AttackRow] | str:
    """Make an attack and return a row for what it measured, or why it was not tried where it was not asked for."""
    lacking = knowledge.lacks(made)
    if lacking:
        if not asked:
            return say("needs {what}", what=_all_of(lacking))
        raise ParameterError(f"attack, {made.name}", f"needs {' and '.join(lacking)}", "none")
    given = knowledge.settings
    own = {parameter.name: given[parameter.name] for parameter in made.parameters if parameter.name in given}
    try:
        found = made.function(knowledge, **settle(made.parameters, own, made.name))
    except NothingToAttack as error:
        if asked:
            raise
        return say("{option} {must}", option=error.where.removeprefix("attack, "), must=term(error.must))
    return [
        AttackRow(made.name, one.rate, list(one.ci), one.chance, one.n, one.unit, one.detail, made.source)
        for one in (found if isinstance(found, list) else [found])
    ]


def _all_of(what: Sequence[str]) -> str:
    return reduce(lambda one, other: say("{one} and {other}", one=one, other=other), map(term, what))


def report_of(
    knowledge: Knowledge,
    record: RecordedRelease | None,
    options: AttackOptions,
    made: Sequence[tuple[Attack, list[AttackRow] | str]],
    verdict: Verdict,
) -> AttackReport:
    """Return the report of attacks that were made, and of those that were not."""
    first: AttackedRelease = knowledge.first
    promise = least([step.promise for step in record.parameters.steps]) if record else None
    report = AttackReport(
        original=options.original,
        release=list(options.release),
        columns=[column.name for column in first.columns],
        match=[column.name for column in first.match],
        person=list(options.person),
        truth="match" if first.match else "assumed",
        tried=len(first.tried),
        persons=None if first.persons is None else first.persons_tried,
        records=list(first.whole),
        interval="Wilson, 95 %",
        recorded=record.id if record else None,
        promise=promise,
        k=verdict.k,
        promises=PROMISES[promise] if promise else None,
        notes=first.notes(),
        attacks=[row for _, rows in made if not isinstance(rows, str) for row in rows],
        not_tried=[NotTried(one.name, why) for one, why in made if isinstance(why, str)],
        passed=None,
        verdict=told(verdict),
    )
    verdict = verdict.after(strongest(report))
    return replace(report, passed=verdict.passed, verdict=told(verdict))
