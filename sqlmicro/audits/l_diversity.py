"""l-diversity: how many values of a sensitive column the members of a class may have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.classes import worst
from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.row import Detail
from sqlmicro.options.params import Param
from sqlmicro.system.reporting import INLINE

_SOURCE = "Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)"


@dataclass(frozen=True)
class Recursive(Detail):
    """The c of (c, l)-diversity."""

    classes: Detail | None = field(metadata=INLINE)
    c: float


@audit(
    "l-diversity",
    needs=("quasi", "sensitive"),
    gate="min_l",
    at_least=True,
    whole=True,
    source=_SOURCE,
    templates=(
        "audit/cells.sql",
        "audit/distinct_values.sql",
        "audit/at_most_persons.sql",
        "audit/class_summary.sql",
        "audit/person_summary.sql",
    ),
)
def distinct(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How many distinct values of a sensitive column the least diverse class has.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest number of values, classes and records below the gate. With --person it is
        that over the records of a class, and never above its number of persons: nobody is diverse alone.

    Notes
    -----
    A missing sensitive value counts as a value, unless records with one are left out. One GROUP BY over the
    quasi-identifiers and the column, one over its result.
    """
    return [
        worst(
            audited,
            "audit/distinct_values.sql",
            limit,
            at_least=True,
            diversity=True,
            columns=[c],
            members=audited.members(c),
        )
        for c in audited.sensitive
    ]


@audit(
    "entropy-l-diversity",
    needs=("quasi", "sensitive"),
    gate="min_entropy_l",
    at_least=True,
    source=_SOURCE,
    templates=(
        "audit/cells.sql",
        "audit/entropy.sql",
        "audit/at_most_persons.sql",
        "audit/class_summary.sql",
        "audit/person_summary.sql",
    ),
)
def entropy(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """The entropy of a sensitive column in its most uniform class, as a number of equally frequent values.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest exp(H), where H = -sum p log p over the shares p of the values in a
        class. The release is entropy l-diverse for every l up to that.

    Notes
    -----
    O(n), as distinct l-diversity.
    """
    return [
        worst(
            audited, "audit/entropy.sql", limit, at_least=True, diversity=True, columns=[c], members=audited.members(c)
        )
        for c in audited.sensitive
    ]


@audit(
    "recursive-l-diversity",
    needs=("quasi", "sensitive"),
    gate="min_recursive_l",
    at_least=True,
    whole=True,
    source=_SOURCE,
    templates=(
        "audit/cells.sql",
        "audit/recursive_diversity.sql",
        "audit/at_most_persons.sql",
        "audit/class_summary.sql",
        "audit/person_summary.sql",
    ),
)
def recursive(
    audited: AuditedRelease,
    limit: float | None,
    *,
    c: Annotated[float, Param("Recursive (c, l)-diversity: the c in r1 < c (rl + ... + rm).", min=0)] = 2.0,
) -> list[Found]:
    """The largest l for which every class is recursively (c, l)-diverse.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest l of a class, where r1 >= ... >= rm are the frequencies of the values
        and l is the largest with r1 < c (rl + ... + rm); 0 if it holds for none.

    Notes
    -----
    A window over the values of every class: O(d log d) for d pairs of class and value that occur.
    """
    template = "audit/recursive_diversity.sql"
    found = [
        worst(
            audited,
            template,
            limit,
            at_least=True,
            diversity=True,
            columns=[column],
            members=audited.members(column),
            c=c,
        )
        for column in audited.sensitive
    ]
    return [replace(one, detail=Recursive(one.detail, c)) for one in found]
