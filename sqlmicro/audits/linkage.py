"""Record linkage as an audit: how often the nearest released record is the true one."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.attacks.linkage import distance_linkage
from sqlmicro.attacks.pair import pair
from sqlmicro.audits.registry import Found, audit
from sqlmicro.audits.row import Linked
from sqlmicro.audits.subject import Subject


@audit(
    "linkage",
    needs=("original",),
    gate="max_linkage",
    on_request=True,
    source="Pagliuca & Seri (1999); Domingo-Ferrer & Torra (2001)",
    templates=(
        "audit/values.sql",
        "attack/features.sql",
        "attack/columns.sql",
        "attack/matches.sql",
        "attack/sampled.sql",
    ),
)
def linkage(subject: Subject, limit: float | None) -> Found:
    """The share of the records that are linked to their own by taking the nearest released one.

    Returns
    -------
    Found
        The value is the rate of `sqlmicro attack --attack distance-linkage` over the quasi-identifiers, or, without
        them, over the columns both tables have; `ci` is its interval at 95 %, `chance` what taking any record would
        give, `n` the records tried. `truth` is `assumed` without --match: the true record is then taken to be among the
        nearest, which is the worst case.
    """
    assert subject.original is not None
    quasi = [column.name for column in subject.quasi if column not in subject.match]
    lacking = [name for name in quasi if name not in subject.theirs]
    if lacking:
        return Found(None, reason=f"the original does not have {', '.join(lacking)}")
    made = pair(
        subject.warehouse,
        replace(subject.original, label="--original"),
        replace(subject.release, label="--table"),
        columns=quasi,
        match=[column.name for column in subject.match],
        nominal=[name for name in quasi or (column.name for column in subject.shared) if name in subject.nominal],
    )
    found = distance_linkage(made)
    detail = Linked(list(found.ci), found.chance, found.n, "match" if made.match else "assumed")
    return Found(found.rate, tuple(column.name for column in made.columns), detail)
