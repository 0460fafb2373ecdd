"""t-closeness, (alpha, k)-anonymity, beta-likeness: what a class tells beyond what the whole table tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.classes import reference, shares, worst
from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.row import Detail
from sqlmicro.system.reporting import INLINE


@dataclass(frozen=True)
class Closeness(Detail):
    """How far apart two values of the sensitive column were taken to be."""

    classes: Detail | None = field(metadata=INLINE)
    distance: Literal["ordered", "equal"]
    input: bool
    """Whether it is compared with the input, else with the whole release."""


@audit(
    "t-closeness",
    needs=("quasi", "sensitive"),
    gate="max_t",
    source="Li, Li & Venkatasubramanian (2007)",
    templates=(
        "audit/reference_shares.sql",
        "audit/shares.sql",
        "audit/closeness_nominal.sql",
        "audit/closeness_numeric.sql",
    ),
)
def t_closeness(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How far the distribution of a sensitive column in a class is from that in the whole table, at most.

    Returns
    -------
    list of Found
        One per sensitive column: the largest Earth Mover's Distance of a class, from 0 to 1, with `distance`: "equal"
        for a nominal column, where any two values are 1 apart, "ordered" for a numeric one, where the values of rank i
        and j of m distinct ones are |i - j|/(m - 1) apart.

    Notes
    -----
    The table is the original where one is given that has the column in the same type, else the release itself. A
    missing value counts as a value, in a numeric column as the largest. O(d log d) for d pairs of class and value
    that occur: values that a class does not have are not enumerated.
    """
    numeric, _ = audited.split(audited.sensitive)
    found = []
    for column in audited.sensitive:
        of, of_input = shares(audited, column), audited.original_values(column) is not None
        if column in numeric:
            template = "audit/closeness_numeric.sql"
            other = reference(audited, column)
            ordered = worst(audited, template, limit, columns=[column], shares=of, reference=other, value=column)
            found.append(replace(ordered, detail=Closeness(ordered.detail, "ordered", of_input)))
        else:
            equal = worst(audited, "audit/closeness_nominal.sql", limit, columns=[column], shares=of)
            found.append(replace(equal, detail=Closeness(equal.detail, "equal", of_input)))
    return found


@audit(
    "alpha-k-anonymity",
    needs=("quasi", "sensitive"),
    gate="max_alpha",
    source="Wong, Li, Fu & Wang (2006)",
    templates=("audit/reference_shares.sql", "audit/shares.sql", "audit/highest_share.sql"),
)
def alpha_k(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """The largest share that one sensitive value has of a class.

    Returns
    -------
    list of Found
        One per sensitive column: alpha, from 0 to 1; the k of (alpha, k) is that of k-anonymity.

    Notes
    -----
    Every value is taken for sensitive. 1 is a class that is alike in the column (homogeneity).
    """
    return [
        worst(audited, "audit/highest_share.sql", limit, columns=[column], shares=shares(audited, column))
        for column in audited.sensitive
    ]


@audit(
    "beta-likeness",
    needs=("quasi", "sensitive"),
    gate="max_beta",
    source="Cao & Karras (2012)",
    templates=("audit/reference_shares.sql", "audit/shares.sql", "audit/highest_gain.sql"),
)
def beta_likeness(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """By how much a sensitive value is more frequent in a class than in the whole table, relative to it, at most.

    Returns
    -------
    list of Found
        One per sensitive column: the largest (q - p)/p of a share q in a class and p in the table; 0 and more.

    Notes
    -----
    Basic beta-likeness: positive gain only.
    """
    return [
        worst(audited, "audit/highest_gain.sql", limit, columns=[column], shares=shares(audited, column))
        for column in audited.sensitive
    ]
