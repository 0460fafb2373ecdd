"""l-diversity: how many values of a sensitive column the members of a class may have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.classes import measured
from sqlmicro.audits.registry import audit_of
from sqlmicro.audits.row import Detail, Found
from sqlmicro.guarantees.limits import Distinct, Entropy, Recursive
from sqlmicro.system.reporting import INLINE


@dataclass(frozen=True)
class WithC(Detail):
    """The c of (c, l)-diversity."""

    classes: Detail | None = field(metadata=INLINE)
    c: float


@audit_of(Distinct)
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
    return measured(Distinct.declared, audited, limit)


@audit_of(Entropy)
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
    return measured(Entropy.declared, audited, limit)


@audit_of(Recursive)
def recursive(audited: AuditedRelease, limit: float | None, *, c: float) -> list[Found]:
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
    found = measured(Recursive.declared, audited, limit, c=c)
    return [replace(one, detail=WithC(one.detail, c)) for one in found]
