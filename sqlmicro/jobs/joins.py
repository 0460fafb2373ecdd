"""The keys of a job file over the tables that were found, and over the releases that were made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError
from sqlmicro.jobs.steps import ForeignKey, Job
from sqlmicro.publish.references import Reference
from sqlmicro.publish.release import Release


@dataclass(frozen=True)
class Join:
    """A key, and the columns of both sides."""

    key: ForeignKey
    columns: tuple[Column, ...]
    to: tuple[Column, ...]


def found(jobs: Sequence[Job], sources: Sequence[Source]) -> list[Join]:
    """Return the joins of a job file; the text of equal values must be the same, as pseudonyms are made of it.

    Raises
    ------
    ParameterError, InputError
        When a column is not there, or its type is another one than that of the column it refers to.
    """
    joins = []
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


def kept(joins: Sequence[Join], releases: Sequence[Release]) -> list[Reference]:
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
