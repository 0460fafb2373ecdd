"""The statement at the head of a report, which somebody can sign: promise, unit, attacker, evidence, and what it lacks.

What was counted on the rows that were written, what was not, and what only whoever made the release says are told
apart: a signature under one is no signature under the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlmicro.attacks.registry import attacks
from sqlmicro.reports.audit_text import NULLS
from sqlmicro.reports.content import Block, Section, Table
from sqlmicro.reports.facts import AuditFacts, Facts
from sqlmicro.reports.numbers import percent
from sqlmicro.reports.risk_sections import needed, result
from sqlmicro.system.sentences import figure, names, say, term


def statement(facts: Facts) -> Section:
    """Return the section that a data protection officer signs."""
    parts = (promised, unit, attacker, checked, not_checked, only_said, signature)
    return Section("statement", say("Statement"), [part(facts) for part in parts])


def promised(facts: Facts) -> Block:
    """Return what was promised."""
    items: list[str] = []
    for one in facts.verdict.promised:
        given = {"k": one.k, "columns": _all(one.columns)}
        items.append(
            say("At least {k:,} persons share every combination of values of {columns}.", **given) if facts.unit
            else say("At least {k:,} records share every combination of values of {columns}.", **given)
        )  # fmt: skip
    items += [
        say("{audit} of {columns}: {limit}.", audit=term(row.check), columns=_told_of(row, facts), limit=needed(row))
        for row in facts.audits if row.threshold is not None and row.check != "k-anonymity"
    ]  # fmt: skip
    if not facts.verdict.promised:
        items.append(say("No k was promised for the record."))
    if facts.series:
        items.append(say("It is a night of the series {name}: what each night keeps, all nights of an epoch keep "
                         "together.", name=facts.series))  # fmt: skip
    return Block(heading=say("What is promised"), items=items)


def unit(facts: Facts) -> Block:
    """Return whom it protects."""
    whose = (
        say("The unit is one person, told by {columns}: the size of a class is its number of different persons.",
            columns=facts.unit)
        if facts.unit
        else say("The unit is one record. Where a person has several records, k records may be fewer than k persons: "
                 "name the column that says whose record it is with --person.")
    )  # fmt: skip
    text = [whose]
    if facts.household:
        text.append(say("Persons of one household are known by {columns}.", columns=_all(facts.household)))
    return Block(heading=say("Whom it protects"), text=text)


def attacker(facts: Facts) -> Block:
    """Return what somebody who looks for a person is assumed to know."""
    items = [
        say("Knows these columns of a person exactly, the quasi-identifiers: {columns}.", columns=_all(facts.quasi)),
        say("Knows that the person is in the release, and knows how the release was made, but for its key."),
        say("Takes a missing value among these as: {how}.", how=NULLS[facts.nulls]),
    ]
    if facts.verdict.apart:
        left = [say("{name} ({why})", name=name, why=term(why)) for name, why in facts.verdict.apart.items()]
        items.append(say("Does not know {columns}.", columns=_all(left)))
    items.append(
        say("Has the other releases of the same people that the ledger knows.") if facts.with_others is not None
        else say("Has no other data on the same people than these columns: no other release was there to be counted "
                 "with it.")
    )  # fmt: skip
    return Block(heading=say("Who is assumed to attack"), items=items)


def checked(facts: Facts) -> Block:
    """Return what was counted on the rows that were written, for this report or when they were published."""
    rows: list[list[str]] = []
    verdict = facts.verdict
    for one in verdict.promised:
        kept = one.found is not None and one.found >= one.k
        found = say("unknown") if one.found is None else figure(one.found, ",")
        rows.append([
            say("Smallest class over {columns}", columns=_all(one.columns)),
            say("at least {limit}", limit=figure(one.k, ",")), found, say("passed") if kept else say("FAILED"),
        ])  # fmt: skip
    if verdict.k_released is not None:
        over = say("Smallest class over all released columns that may be known: {columns}",
                   columns=_all(verdict.columns))  # fmt: skip
        rows.append([over, "", figure(verdict.k_released, ","), say("measured")])
    rows += [
        [term(row.check), needed(row), say("unknown") if row.value is None else figure(row.value, ",.3g"), result(row)]
        for row in facts.audits if row.threshold is not None and row.check != "k-anonymity"
    ]  # fmt: skip
    made = verdict.attack
    if made is not None:
        rate = percent(made.rate)
        rows.append([
            say("Strongest attack: {attack}, {n:,} tries", attack=term(made.name), n=made.n), "",
            say("at most {rate} right", rate=rate) if made.assumed else say("{rate} right", rate=rate),
            say("measured"),
        ])  # fmt: skip
    rows += [
        [say("{criterion}: what being in the table adds", criterion=term(one.name.capitalize())), "",
         percent(one.risk), say("measured")]
        for one in (facts.criteria.all if facts.criteria else ()) if one.risk is not None
    ]  # fmt: skip
    if facts.with_others is not None:
        least = max((one.k for one in verdict.promised), default=0)
        rows.append([
            say("Smallest class together with other releases, as recorded"),
            say("at least {limit}", limit=figure(least, ",")) if least else "",
            figure(facts.with_others, ",") if facts.with_others else say("unknown"),
            say("measured") if not least else say("passed") if facts.with_others >= least else say("passed over"),
        ])  # fmt: skip
    if (recorded := [row for row in facts.recorded_audits if row.threshold is not None]) and facts.started:
        failed, waived = (sum(row.passed is one for row in recorded) for one in (False, None))
        rows.append([
            say("Checks recorded when it was published and since"), figure(len(recorded), ","),
            say("{n:,} failed, {over:,} passed over", n=failed, over=waived),
            say("FAILED") if failed else say("passed over") if waived else say("passed"),
        ])  # fmt: skip
    text = say("Counted on the {n:,} rows of {table} as they were on {day}.",
               n=facts.records, table=facts.table, day=figure(date.fromisoformat(facts.made)))  # fmt: skip
    header = [say("Check"), say("Needed"), say("Found"), say("Result")]
    table = Table(say("What was checked on the written rows"), header, rows)
    return Block(heading=say("What was checked"), text=[text], table=table if rows else None)


def not_checked(facts: Facts) -> Block:
    """Return what was not checked, and why."""
    items: list[str] = []
    if facts.no_original:
        items.append(say("How far the release is from its original: {why}.", why=facts.no_original))
    if facts.no_attacks:
        items.append(say("What an attack finds: {why}.", why=facts.no_attacks))
    measured = facts.criteria is not None and facts.criteria.how is not None
    items += [
        say("The attack {attack}: {why}.", attack=term(one.name), why=one.why)
        for one in facts.not_tried if not (measured and "control" in attacks()[one.name].needs)
    ]  # fmt: skip
    items += [
        say("{audit}: {why}.", audit=term(row.check), why=term(row.reason or ""))
        for row in facts.audits if row.value is None
    ]  # fmt: skip
    if facts.criteria is None:
        items.append(
            say("Singling out, linkability and inference beside a control group: {why}.", why=facts.no_attacks)
        )
    else:
        items += [term(one.sentence) for one in facts.criteria.all if one.risk is None]
    before = facts.records_before
    if before.recorded is not None and before.now is not None and before.recorded != before.now:
        items.append(say("The original as it was: it has {now:,} records now and had {then:,} when the release was "
                         "made.", now=before.now, then=before.recorded))  # fmt: skip
    if not facts.steps:
        items.append(say("How the release was made: nothing is recorded of it."))
    items.append(say("Releases of the same people that the ledger does not know."))
    return Block(heading=say("What was not checked"), items=items)


def only_said(facts: Facts) -> Block:
    """Return what the release rests on and nothing in the rows can show."""
    said = facts.claims
    items: list[str] = []
    for name, why in facts.verdict.apart.items():
        items.append(say("Nobody outside knows {column} of a person ({why}).", column=name, why=term(why)))
    if said.rows_are_persons:
        items.append(say("Every row is a person of its own."))
    if said.of_person:
        items.append(say("{columns} are the same in all records of a person.", columns=_all(said.of_person)))
    if said.identifier_ok:
        items.append(say("{columns} look like identifiers and are none.", columns=_all(said.identifier_ok)))
    for release, why in said.accepted.items():
        given = {"release": release, "why": why}
        items.append(
            say("Release {release}, this one, may stand beside others although it does not keep its k together with "
                "them: \u201c{why}\u201d.", **given) if release == facts.release
            else say("Release {release} of the same people, a later one, may stand beside this one although they do "
                     "not keep their k together: \u201c{why}\u201d.", **given)
        )  # fmt: skip
    if said.withdrawn:
        items.append(say("Nobody has this release any more: \u201c{why}\u201d.", why=said.withdrawn))
    if others := [name for name in facts.verdict.columns if name not in facts.quasi]:
        items.append(say("{columns} tell nobody who a person is: k was not promised over them.", columns=_all(others)))
    items = items or [say("Nothing.")]
    return Block(heading=say("What rests on the word of whoever made the release"), items=items)


def signature(facts: Facts) -> Block:
    """Return where somebody signs."""
    text = say("I have read what is promised, who is assumed to attack, what was checked and what was not, and what "
               "rests on somebody's word, and agree that {table} is released.", table=facts.table)  # fmt: skip
    form = [say("Name"), say("Function"), say("Place and date"), say("Signature")]
    return Block(heading=say("Signature"), text=[text], form=form)


def _told_of(row: AuditFacts, facts: Facts) -> str:
    """Return the columns that an audit says something of, beside those that its classes are over."""
    return _all([name for name in row.columns if name not in facts.quasi] or row.columns)


def _all(columns: Sequence[str]) -> str:
    return names(columns, 40, say("none"))
