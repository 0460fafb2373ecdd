"""A rehearsal: a release made again in memory without some people, who are the control group of its attacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease, attacked_release
from sqlmicro.attacks.control import Controlled, controlled
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.criteria import attacked_of
from sqlmicro.database.columns import Column, make_columns, names_of, pick
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database, database_of
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.jobs.run import anonymized
from sqlmicro.jobs.steps import Job, Step
from sqlmicro.options.common import JobOptions
from sqlmicro.publish.release import rehearsal_of
from sqlmicro.publish.report import Parameters
from sqlmicro.registry import find
from sqlmicro.reports import recorded
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    from sqlmicro.pipeline import Run

HELD_OUT = 0.05
"""The share of the people who are held out."""
_ENOUGH, _AT_MOST = 200, 0.2
"""Of a small table more: as many as make an interval that says something, but not more than this share."""
TEMPLATES = ("attack/sampled.sql", "attack/held_out.sql")


def rehearsed(
    attacked: AttackedRelease, sensitive: Sequence[Column], made: Parameters | None, sample: int | None = None
) -> Controlled:
    """Make a release again without some people, and return it beside those who were in it and those who were not.

    Parameters
    ----------
    attacked : AttackedRelease
        The release as it was published, beside its original.
    sensitive : sequence of Column
        What the attacker wants to know.
    made : Parameters, optional
        What is recorded of how the release was made.
    sample : int, optional
        Most people of either group who are attacked.

    Raises
    ------
    InputError
        When it is not known how the release was made, or it cannot be made again.

    Notes
    -----
    5 % of the people are held out, of a small table up to 200, but no more than a fifth: fewer would leave wide
    intervals. Who they are is drawn by a hash of their number, so that the same are drawn each time. The key of the
    release is not used: the draws are others, and the same in every rehearsal. It costs what the release cost.
    """
    warehouse = database_of(attacked.warehouse)
    if made is None:
        raise InputError("rehearsal", "the options of the release must be recorded", "none", "Give --control TABLE")
    original = attacked.original
    whose = pick(original.columns, made.person, "rehearsal") or list(attacked.person)
    inside, outside = divided(warehouse, original, whose, HELD_OUT)
    run = anonymized(_job(made, original.label, warehouse.progress), warehouse, inside)
    named = Named(names_of(attacked.columns), names_of(sensitive), attacked.nominal)
    return beside_others(run, attacked.release.label, named, (inside, outside), whose, sample)


@dataclass(frozen=True)
class Named:
    """The columns that an attacker knows, those that he wants to know, and which are nominal, by name."""

    known: Sequence[str]
    sensitive: Sequence[str]
    nominal: Sequence[str]


def beside_others(
    run: Run,
    label: str,
    named: Named,
    people: tuple[Source, Source],
    whose: Sequence[Column],
    sample: int | None = None,
) -> Controlled:
    """Return what a run would publish beside the people it was made from, and those who were held out."""
    warehouse, (inside, outside) = run.warehouse, people
    relation = rehearsal_of(run)
    release = Source(relation, label, tuple(make_columns(warehouse.describe(relation))), is_table=False)
    there = {column.name for column in release.columns}
    known = [name for name in named.known if name in there]
    wanted = pick(release.columns, named.sensitive, "attack, --sensitive")
    nominal = [name for name in named.nominal if name in known]
    beside = attacked_release(warehouse, inside, release, columns=known, nominal=nominal)
    return controlled(replace(beside, person=tuple(whose)), outside, wanted, "rehearsed", sample)


def divided(warehouse: Database, original: Source, whose: Sequence[Column], share: float) -> tuple[Source, Source]:
    """Return the records of the people who stay in the table, and of those who are held out: a share, or up to 200."""
    text = 'SELECT count(*) FROM (SELECT DISTINCT {{ whose | listed("{name}") }} FROM {{ r | ident }})'
    relation = original.relation
    people = warehouse.count(relation)
    if whose:
        ((people,),) = warehouse.query("rehearsal", text, whose=whose, r=relation)
    size = max(round(share * people), min(_ENOUGH, round(_AT_MOST * people)))
    if not size:
        raise InputError("rehearsal", "there must be people who can be held out", f"{people}")
    drawn = warehouse.run("attack/sampled.sql", "rehearsal_drawn", records=people, size=size)
    unit = [column.staged for column in whose] or ["position"]
    inside, outside = (
        warehouse.run(
            "attack/held_out.sql",
            into,
            relation=relation,
            drawn=drawn,
            columns=original.columns,
            unit=unit,
            held=held,
        )
        for into, held in (("rehearsal_inside", False), ("rehearsal_outside", True))
    )
    return (
        Source(inside, original.label, original.columns, is_table=False),
        Source(outside, "people held out", original.columns, is_table=False),
    )


def _job(made: Parameters, table: str, progress: Progress) -> Job:
    """Return the job of a release as it is recorded."""
    options = JobOptions(
        table=table, rest="drop", keep=tuple(made.kept), accept_unique=tuple(made.kept), row_key=tuple(made.row_key),
        identifier_ok=tuple(made.identifier_ok), person=tuple(made.person), of_person=tuple(made.of_person),
        household=tuple(made.household), rows_are_persons=made.rows_are_persons or not made.person, seed="rehearsal",
        decimals=made.decimals or made.widen,
    )  # fmt: skip
    steps = [
        Step(
            method := find(step.method), method.name, _settings(step.settings), tuple(step.columns), tuple(step.by),
            step.nulls if method.takes("nulls") else None,
        )
        for step in made.steps
    ]  # fmt: skip
    return Job(options, tuple(steps), "rehearsal", progress)


def _settings(recorded: object) -> dict[str, object]:
    """Return settings as they were given: those that were not are left out, lists are tuples again."""
    assert isinstance(recorded, dict)
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in recorded.items()
        if value is not None
    }


def with_control(audited: AuditedRelease, number: int | None) -> tuple[AuditedRelease, list[str]]:
    """Return a release with a control group, held out of a rehearsal; else why there is none.

    `number` is that of the release in sqlmicro.releases.
    """
    warehouse = database_of(audited.warehouse)
    known = None if number is None else recorded.read(warehouse, number)
    try:
        made = rehearsed(attacked_of(audited), audited.sensitive, known.parameters if known else None)
    except SqlmicroError as error:
        return audited, [f"no rehearsal: {str(error).rstrip('.')}"]
    return replace(audited, control=made, _made={}), []
