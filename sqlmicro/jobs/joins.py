"""The keys of a job file over the tables that were found, and over the releases that were made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlmicro.audits.audited import ARITHMETIC
from sqlmicro.audits.join_k import Known
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError
from sqlmicro.jobs.plan import Plan
from sqlmicro.jobs.steps import ForeignKey, Job
from sqlmicro.options.common import JoinOptions
from sqlmicro.options.params import carried
from sqlmicro.publish.release import Release
from sqlmicro.publish.together import Part, Reference, Together


@dataclass(frozen=True)
class Join:
    """A key, and the columns of both sides."""

    key: ForeignKey
    columns: tuple[Column, ...]
    to: tuple[Column, ...]


def found(jobs: Sequence[Job], sources: Sequence[Source]) -> list[Join]:
    """Return the joins of a job file; the text of equal values must be the same, as pseudonyms are made of it.

    What is known of a person's rows must be a column too.

    Raises
    ------
    ParameterError, InputError
        When a column is not there, or its type is another one than that of the column it refers to.
    """
    joins = []
    for job, source in zip(jobs, sources, strict=True):
        for _, name in job.known.of if job.known else ():
            pick(source.columns, [name], f"{job.label}, key 'known'")
    for key in (key for job in jobs for key in job.keys):
        columns = pick(sources[key.child].columns, key.columns, f"{key.where}, from")
        to = pick(sources[key.parent].columns, key.to, f"{key.where}, to")
        for one, other in zip(columns, to, strict=True):
            if _text_form(one) != _text_form(other) or one.collated or other.collated:
                must = "the columns of a key are of one type, without a collation: pseudonyms are made of text"
                got = f"{one.name} ({one.type}) and {other.name} ({other.type})"
                raise InputError(key.where, must, got, "Convert one of them in a view")
        joins.append(Join(key, tuple(columns), tuple(to)))
    return joins


def _text_form(column: Column) -> str:
    """Return what types have in common whose equal values have equal text."""
    return {"integer": "integer", "text": "text", "enum": "text"}.get(column.family, column.type)


def together(joins: Sequence[Join], plans: Sequence[Plan], releases: Sequence[Release]) -> Together | None:
    """Return what the releases of a job file tell together; nothing where the file is about one table.

    Raises
    ------
    InputError
        When what is said to be known of a person's rows is not released, or has no arithmetic.
    """
    parts = []
    for plan, release in zip(plans, releases, strict=True):
        if plan.job.known is None:
            return None
        parts.append(
            Part(release, _known(plan.job, plan.job.known, release), plan.accepted, plan.options.rows_are_persons)
        )
    return Together(parts, _kept(joins, releases), carried(JoinOptions, plans[0].options))


def _known(job: Job, known: Known, release: Release) -> Known:
    """Return what is known of a person's rows with the columns as the release calls them."""
    run, where, of = release.run, f"{job.label}, key 'known'", []
    for does, name in known.of:
        (column,) = pick(run.roles.released, [name], where)
        if does in ("sum", "avg") and run.table.as_it_is(column).family not in ARITHMETIC:
            got = f"{column.name} ({run.table.as_it_is(column).type})"
            raise InputError(where, f"{does} is of numbers, as they are released", got, "Use min or max, or count")
        of.append((does, column.name))
    return replace(known, of=tuple(of))


def _kept(joins: Sequence[Join], releases: Sequence[Release]) -> list[Reference]:
    """Return the references between releases: those of which both sides are released."""
    references = [
        Reference(
            join.key.where, releases[join.key.child], join.columns, releases[join.key.parent], join.to,
            join.key.max_lost,
        )
        for join in joins
    ]  # fmt: skip
    return [
        reference
        for reference in references
        if {*reference.columns} <= {*reference.child.run.roles.released}
        and {*reference.to} <= {*reference.parent.run.roles.released}
    ]
