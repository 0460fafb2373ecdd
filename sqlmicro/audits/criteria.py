"""The three criteria of the European guidelines as audits, and membership: each attack against a control group.

Interval disclosure: how often the original value is near enough to the released one to be known.

Record linkage as an audit: how often the strongest attacker finds the true record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from sqlmicro.attacks.attacked import LINKED, AttackedRelease, attacked_release
from sqlmicro.attacks.control import SOURCE, WITH_CONTROL, AgainstControl, Controlled, How, controlled, refuse_members
from sqlmicro.attacks.criteria import linkability as link
from sqlmicro.attacks.criteria import singling_out as single_out
from sqlmicro.attacks.inference import inference as infer
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkage import strongest_linkage
from sqlmicro.attacks.membership import Told
from sqlmicro.attacks.membership import membership as tell_members
from sqlmicro.attacks.registry import Measured
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.information_loss import comparison, largest
from sqlmicro.audits.registry import Detail, Found, Linked, audit
from sqlmicro.database.columns import names_of
from sqlmicro.errors import InputError
from sqlmicro.options.params import Param
from sqlmicro.system.sentences import say


@dataclass(frozen=True)
class WithinSd(Detail):
    """The interval, and how many records are within it in every column."""

    in_all: float | None
    """The share of the records."""
    sd: float


@dataclass(frozen=True)
class WithinRanks(Detail):
    """The interval."""

    ranks: int


@audit(
    "interval-sd",
    needs=("original", "match"),
    gate="max_within_sd",
    source="Templ (2006), as in sdcMicro; Mateo-Sanz, Sebe & Domingo-Ferrer (2004)",
    templates=("audit/values.sql", "audit/within_sd.sql"),
)
def by_sd(
    audited: AuditedRelease,
    limit: float | None,
    *,
    sd: Annotated[float, Param("Interval disclosure: standard deviations around the released value.", min=0)] = 0.05,
) -> Found:
    """The share of records whose original value lies within some standard deviations of the released one.

    Returns
    -------
    Found
        The value is that of the column where it is largest; `by_column`, and `in_all`, the share of records for which
        it holds in all numeric columns at once (sdcMicro's dRisk). The standard deviation is that of the released
        column, which is what an attacker has.
    """
    found = comparison(audited, matched=True)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    rows = audited.warehouse.rows("audit/within_sd.sql", **found.of(found.numeric), sd=sd)
    shares = {name: within / records if records else None for name, within, records in rows}
    in_all = shares.pop(None)
    return largest(shares, WithinSd(in_all, sd))


@audit(
    "interval-ranks",
    needs=("original", "match"),
    gate="max_within_ranks",
    source="Domingo-Ferrer & Torra (2001)",
    templates=("audit/values.sql", "audit/within_ranks.sql"),
)
def by_rank(
    audited: AuditedRelease,
    limit: float | None,
    *,
    ranks: Annotated[int, Param("Interval disclosure: ranks around the released value.", min=0)] = 10,
) -> Found:
    """The share of records whose original value lies within some ranks of the released one.

    Returns
    -------
    Found
        The value is that of the column where it is largest, and `by_column`. Ranks are among the original values: the
        middle of the ranks of those that equal a value, between theirs where none does.
    """
    found = comparison(audited, matched=True)
    if not found.numeric:
        return Found(None, reason="no numeric column is in both tables")
    rows = audited.warehouse.rows("audit/within_ranks.sql", **found.of(found.numeric), ranks=ranks)
    return largest({name: within / records if records else None for name, within, records in rows}, WithinRanks(ranks))


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


@dataclass(frozen=True)
class Excess(Detail):
    """How often an attack was right about people of the table, and about people who were not in it."""

    ci: list[float]
    """The interval of the value at 95 %."""
    attack: float
    control: float
    n: int
    n_control: int
    how: How
    commonest: float | None
    """How often the commonest value of the column is right."""
    chosen: str
    """The strongest of what was tried."""


@dataclass(frozen=True)
class Members(Detail):
    """How well people of the table are told from people who were not in it."""

    ci: list[float]
    """The interval of the value at 95 %."""
    true_positives: float
    false_positives: float
    n: int
    n_control: int
    how: How
    chosen: str


@audit(
    "singling-out", needs=("original", "control"), gate="max_singling_out", on_request=True, source=SOURCE,
    templates=WITH_CONTROL,
)  # fmt: skip
def singling_out(audited: AuditedRelease, limit: float | None) -> Found:
    """How much likelier conditions read off the release hold for one person of the table than of a control group.

    Returns
    -------
    Found
        The value is the risk of the attack of this name, (r - c) / (1 - c) for the rates r about the table and c about
        the control group, over the quasi-identifiers, or without them over the columns both tables have.
    """
    (found,) = _excess(audited, [single_out(_knowledge(audited))])
    return found


@audit(
    "linkability", needs=("original", "control"), gate="max_linkability", on_request=True, source=SOURCE,
    templates=WITH_CONTROL,
)  # fmt: skip
def linkability(audited: AuditedRelease, limit: float | None) -> Found:
    """How much likelier two halves of what is known lead to one released record for the table than for a control group.

    Returns
    -------
    Found
        The value is the risk of the attack of this name, as of singling-out.
    """
    (found,) = _excess(audited, [link(_knowledge(audited))])
    return found


@audit(
    "inference-gain", needs=("sensitive", "original", "control"), gate="max_inference_gain", on_request=True,
    source=SOURCE, templates=WITH_CONTROL,
)  # fmt: skip
def inference_gain(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How much likelier a sensitive value is guessed right for people of the table than for a control group.

    Returns
    -------
    list of Found
        One per sensitive column: the risk of the attack `inference`. Needs the extra `attacks`.
    """
    return _excess(audited, infer(_knowledge(audited)))


@audit(
    "membership", needs=("original", "control"), gate="max_membership", on_request=True,
    source="Shokri, Stronati, Song & Shmatikov (2017); Carlini et al. (2022)", templates=WITH_CONTROL,
)  # fmt: skip
def membership(audited: AuditedRelease, limit: float | None) -> Found:
    """How well people of the table are told from people who were not in it: the area under the ROC curve.

    Returns
    -------
    Found
        The value is 0.5 where nobody is told, 1 where everybody is; a gate below 0.5 asks for 0.5. `true_positives` is
        the share of the table that is told at `false_positives`. Needs the extra `attacks`.
    """
    knowledge = _knowledge(audited)
    found = tell_members(knowledge)
    told = found.detail
    assert isinstance(told, Told)
    detail = Members(
        list(found.ci), told.true_positives, told.false_positives, found.n, told.n_control, told.how, told.chosen
    )  # fmt: skip
    return Found(found.rate, _columns(knowledge.controlled), detail, free=0.5)


def _excess(audited: AuditedRelease, measured: Iterable[Measured]) -> list[Found]:
    found = []
    for one in measured:
        told = one.detail
        assert isinstance(told, AgainstControl)
        detail = Excess(
            told.risk_ci, one.rate, told.control, one.n, told.n_control, told.how, told.commonest, told.chosen
        )  # fmt: skip
        columns = (told.column,) if told.column else _columns(_knowledge(audited).controlled)
        found.append(Found(told.risk, columns, detail))
    return found


def _columns(beside: Controlled) -> tuple[str, ...]:
    return tuple(column.name for column in beside.columns)


def _knowledge(audited: AuditedRelease) -> Knowledge:
    """Return the release beside its original and the control group, staged once."""

    def make() -> Knowledge:
        attacked = attacked_of(audited)
        control = audited.control
        assert control is not None
        if not isinstance(control, Controlled):
            refuse_members(attacked, control)
            control = controlled(attacked, control, audited.sensitive, "given")
        return Knowledge([attacked], audited.sensitive, control=control)

    found: Knowledge = audited.once("knowledge", make)
    return found


def attacked_of(audited: AuditedRelease) -> AttackedRelease:
    """Return a release under audit as it is attacked: what is known are the quasi-identifiers, else all but sensitive.

    Raises
    ------
    InputError
        When the original lacks a column of these.
    """
    assert audited.original is not None
    person = audited.original_person or names_of(audited.person)
    known = [c.name for c in audited.quasi or audited.shared if c not in (*audited.sensitive, *audited.match)]
    known = [name for name in known if name not in person]
    lacking = [name for name in (*known, *person) if name not in audited.theirs]
    if lacking:
        raise InputError(
            "--original", "must have the columns that an attack is made by", f"none for {', '.join(lacking)}"
        )
    return attacked_release(
        audited.warehouse, replace(audited.original, label="--original"), replace(audited.release, label="--table"),
        columns=known, match=names_of(audited.match), person=person,
        nominal=[name for name in known if name in audited.nominal],
    )  # fmt: skip
