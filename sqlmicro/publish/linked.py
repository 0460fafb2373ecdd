"""The cross-table attack on releases that are about to be published together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlmicro.attacks import cross_table
from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.cross_table import Found, Pattern
from sqlmicro.audits.row import AuditRow, Linked
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.publish.references import Reference
from sqlmicro.publish.release import Release, published_as

CHECK = "cross-table"


@dataclass(frozen=True)
class LinkedByRows(Linked):
    """How sure the rate of the cross-table attack is, and what the attacker knows."""

    attack: ClassVar[str] = CHECK

    rows: int | None = field(kw_only=True)
    """So many rows of a person in every table; None for all, and how many there are."""


@dataclass(frozen=True)
class Measured:
    """What the attack found in some releases."""

    release: Release
    rows: list[AuditRow]


def attacked(releases: Sequence[Release], references: Sequence[Reference], limit: float) -> list[Measured]:
    """Look for persons by the pattern of their rows in the releases, and hold the share that is found to a limit."""
    measured = []
    for group in _groups(releases, references):
        release = group[0][0]
        release.run.resume()
        with release.run.timed("attack"):
            found = cross_table.link([_pattern(one, whose) for one, whose in group])
        measured.append(Measured(release, [_row(one, limit) for one in found]))
    return measured


def _row(found: Found, limit: float) -> AuditRow:
    made = found.measured
    detail = LinkedByRows(ci=list(made.ci), chance=made.chance, n=made.n, truth="match", rows=found.rows)
    passed = made.rate <= limit
    known = "all rows, and how many" if found.rows is None else f"{found.rows} {'row' if found.rows == 1 else 'rows'}"
    return AuditRow(
        CHECK, [*found.tables, known], made.rate, limit, False, passed, "passed" if passed else "failed", "own_value",
        detail=detail,
    )  # fmt: skip


def _groups(
    releases: Sequence[Release], references: Sequence[Reference]
) -> Iterator[list[tuple[Release, Sequence[Column]]]]:
    """Yield the releases whose pseudonyms are those of the same persons, each with the columns that hold them."""
    by_persons: dict[tuple[int, tuple[str, ...]], list[tuple[Release, Sequence[Column]]]] = {}
    numbers = {id(release): number for number, release in enumerate(releases)}
    parents = {numbers[id(one.parent)] for one in references if one.parent is not one.child}
    for number, release in enumerate(releases):
        away = [one for one in references if one.child is release and one.parent is not release]
        person = release.run.roles.person
        if person:
            away = [one for one in away if set(one.columns) == set(person)]
        for one in away:
            key = (numbers[id(one.parent)], tuple(column.name for column in one.to))
            by_persons.setdefault(key, []).append((release, one.columns))
        if not away and release.run.tells_whose:
            key = (number, tuple(column.name for column in person))
            by_persons.setdefault(key, []).append((release, person))
        elif not away and number in parents:
            for to in dict.fromkeys(one.to for one in references if one.parent is release):
                by_persons.setdefault((number, tuple(column.name for column in to)), []).append((release, to))
    yield from by_persons.values()


def _pattern(release: Release, whose: Sequence[Column]) -> Pattern:
    """Return a release beside its original, in both of which the last columns say whose a row is."""
    run, records = release.run, release.outputs[-1].records or release.run.current
    run.resume()
    warehouse = run.warehouse
    kinds: Params = {**published_as(run, in_place=False, text=())}
    before = warehouse.run("publish/own_types.sql", "original_in_own_types", view=True, released=run.original, **kinds)
    known = [column for column in run.known if column not in whose]
    original = warehouse.run("attack/with_pseudonyms.sql", "original_with_pseudonyms", view=False, original=before,
                             released=records, columns=known, pseudonyms=whose)  # fmt: skip
    pseudonyms = [column.staged for column in whose]
    made = attacked_release(
        warehouse, _source(release, original), _source(release, records), nominal=pseudonyms,
        columns=[*(column.staged for column in known), *pseudonyms],
    )  # fmt: skip
    return Pattern(release.report.source, made, made.columns[len(known) :])


def _source(release: Release, relation: Name) -> Source:
    columns = tuple(Column(c.name, c.type, c.name) for c in make_columns(release.run.warehouse.describe(relation)))
    return Source(relation, release.report.source, columns, is_table=False)
