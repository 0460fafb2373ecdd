"""Record linkage as an audit: how often the strongest attacker finds the true record."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.attacks.attacked import LINKED, attacked_release
from sqlmicro.attacks.linkage import strongest_linkage
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Found, Linked
from sqlmicro.system.sentences import say


@audit(
    "linkage",
    needs=("original",),
    gate="max_linkage",
    on_request=True,
    source="Domingo-Ferrer & Torra (2001); Fellegi & Sunter (1969)",
    templates=LINKED,
)
def linkage(audited: AuditedRelease, limit: float | None) -> Found:
    """The share of the records that the strongest of a family of attackers links to their own.

    Returns
    -------
    Found
        The value is the rate of `sqlmicro attack --attack linkage` over the quasi-identifiers, or, without
        them, over the columns both tables have; `ci` is its interval at 95 %, `chance` what taking any record would
        give, `n` the records tried. `truth` is `assumed` without --match: the true record is then taken to be among the
        nearest, which is the worst case. With --person it is the share of persons, each by the record
        of hers that gives her away most.
    """
    assert audited.original is not None
    quasi = [column.name for column in audited.quasi if column not in audited.match]
    person = audited.original_person or tuple(column.name for column in audited.person)
    lacking = [name for name in (*quasi, *person) if name not in audited.theirs]
    if lacking:
        return Found(None, reason=say("the original does not have {columns}", columns=", ".join(lacking)))
    made = attacked_release(
        audited.warehouse,
        replace(audited.original, label="--original"),
        replace(audited.release, label="--table"),
        columns=quasi,
        match=[column.name for column in audited.match],
        person=person,
        nominal=[name for name in quasi or (column.name for column in audited.shared) if name in audited.nominal],
    )
    found = strongest_linkage(made)
    detail = Linked(list(found.ci), found.chance, found.n, "match" if made.match else "assumed")
    return Found(found.rate, tuple(column.name for column in made.columns), detail)
