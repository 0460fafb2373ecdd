"""What the releases of a job file tell together: audited once all are written, before any becomes visible.

Referential integrity of releases that are published together: what joined before joins after.

The cross-table attack on releases that are about to be published together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from sqlmicro.attacks import cross_table
from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.cross_table import Found, Pattern
from sqlmicro.audits.join_k import Joins, Known, Link, Member, View
from sqlmicro.audits.registry import AuditRow, Check, Linked
from sqlmicro.audits.verdict import JOINED
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import AuditFailed
from sqlmicro.options.common import JoinOptions
from sqlmicro.publish.release import Release, published_as

_NOT_COUNTED = "k is not counted over joins: join_depth = 0 says that the tables are handed to different people"
_MOST_COLUMNS = 8


@dataclass(frozen=True)
class Part:
    """A release of a job file: what is known of the rows of a person in it, and what may single out records."""

    release: Release
    known: Known = field(default_factory=Known)
    accepted: Collection[str] = ()
    """Columns, in small letters, that were accepted although they single out records."""
    rows_are_persons: bool = False


@dataclass(frozen=True)
class Together:
    """The releases of a job file, the keys between them, and over which joins k is counted."""

    parts: Sequence[Part]
    references: Sequence[Reference]
    options: JoinOptions
    found: list[Measured] = field(default_factory=list)
    """What the cross-table attack found."""

    def attack(self) -> None:
        """Look for persons by their rows in all releases, where the file holds that to a limit; nothing is written yet.

        Raises
        ------
        AuditFailed
            When more are found.
        """
        limit = self.options.max_cross_table
        if limit is None:
            return
        self.found.extend(attacked([part.release for part in self.parts], self.references, limit))
        failed = [row for one in self.found for row in one.rows if not row.passed]
        if failed:
            worst = max(failed, key=lambda row: row.value or 0.0)
            raise AuditFailed(
                f"audit, {CHECK}",
                "persons must not be found by the pattern of their rows",
                worst.told,
                "Nothing was published. Leave out the pseudonyms of tables of events (drop), or release coarser groups",
            )

    def audit(self) -> None:
        """Audit the keys, and then the persons over what they join; note both with the audits of the releases.

        Raises
        ------
        AuditFailed
            When a key does not join what it joined, or too few persons are alike: by default fewer than the tables
            promise each for itself.
        """
        audit(self.references)
        for one in self.found:
            one.release.audits[None].checks.extend(one.rows)
        if self.options.join_depth == 0:
            for part in self.parts if self.references else ():
                part.release.run.log.notes.append(_NOT_COUNTED)
            return
        _audit_joins(self)


def _audit_joins(together: Together) -> None:
    joins = _joins(together)
    wanted = joins.k if together.options.min_join_k is None else together.options.min_join_k
    failed: list[tuple[int, str]] = []
    for view in joins.views():
        release = together.parts[view.base].release
        sizes = _sizes(release.run.warehouse, view)
        k = min(sizes, default=0)
        check = Check(JOINED, list(view.columns), k, wanted, True, None if wanted is None else k >= wanted)
        release.audits[None].checks.append(check)
        if check.passed is False:
            failed.append((view.base, _told(release.report.source, view, sizes, wanted or 0)))
    if failed:
        raise AuditFailed(
            "audit of the joins",
            "persons must be alike over all that is released together",
            "; ".join(told for _, told in failed),
            f"Nothing was published. {_way_out(joins, together, wanted or 0, failed[0][0])}",
        )


def _told(table: str, view: View, sizes: dict[int, int], wanted: int) -> str:
    few, persons = sum(n for size, n in sizes.items() if size < wanted), sum(sizes.values())
    shown = ", ".join(view.columns[:_MOST_COLUMNS])
    more = f" and {len(view.columns) - _MOST_COLUMNS} more" if len(view.columns) > _MOST_COLUMNS else ""
    return (
        f"{table} joined: {JOINED} is {min(sizes, default=0)}, needed at least {wanted}; fewer are alike of {few:,} of "
        f"{persons:,} persons, in {shown}{more}"
    )


def _way_out(joins: Joins, together: Together, wanted: int, base: int) -> str:
    """Say what lowers the k that is seen from a table, and what can be done."""
    warehouse, tried = together.parts[0].release.run.warehouse, []
    for link, reference in zip(joins.links, together.references, strict=True):
        name = f"{joins.members[link.child].label}.{', '.join(link.columns)}"
        without = f"without {name} ({reference.where.rpartition(', ')[2]})"
        tried.append(f"{without} {_found(joins.without(link), warehouse, wanted, base)}")
    if any(member.known != Known(count=False) for member in joins.members):
        nothing = joins.knowing(Known(count=False))
        tried.append(f"if nothing is known of a person's rows {_found(nothing, warehouse, wanted, base)}")
    return (
        f"What lowers it, of {joins.members[base].label}: {'; '.join(tried)}. Leave a key out (drop), release coarser "
        "groups, say what is known of a person's rows (known), or decide with join_depth = 0 that nobody is handed "
        "more than one of the tables: see sqlmicro help policy"
    )


def _found(joins: Joins, warehouse: Warehouse, wanted: int, base: int) -> str:
    """Say what is seen from a table."""
    found = [_sizes(warehouse, view) for view in joins.views(base)]
    if not found:
        return "nothing is joined"
    few = max(sum(persons for size, persons in sizes.items() if size < wanted) for sizes in found)
    return f"it is {min(min(sizes, default=0) for sizes in found)}, with fewer alike of {few:,} persons"


def _joins(together: Together) -> Joins:
    number = {id(part.release): at for at, part in enumerate(together.parts)}
    links = [
        Link(
            number[id(one.child)], tuple(column.name for column in one.columns),
            number[id(one.parent)], tuple(column.name for column in one.to),
        )
        for one in together.references
    ]  # fmt: skip
    return Joins([_member(part) for part in together.parts], links, together.options.join_depth)


def _member(part: Part) -> Member:
    """Return a release as it was written; where it does not say whose record it is, with what it was made of."""
    release, run = part.release, part.release.run
    person = [column.name for column in run.roles.person]
    hidden = bool(person) and not run.tells_whose
    written = release.audits[None]
    columns = {column.name: column for column in written.columns}
    relation: Name | Select = written.relation
    whose = [columns[name] for name in person if name in columns]
    if hidden:
        records = release.outputs[-1].records or run.table.current
        relation = select("publish/with_persons.sql", released=records, original=run.table.original,
                          person=run.roles.person, columns=run.roles.released)  # fmt: skip
        types = dict(run.warehouse.describe(records))
        columns = {c.name: Column(c.staged, types[c.staged], c.staged) for c in run.roles.released}
        whose = [Column("person", "BIGINT", "person")]
    return Member(
        release.report.source, relation, columns,
        tells=[column.name for column in run.known if column.name.lower() not in part.accepted],
        person=whose, pseudonyms=() if hidden else person, rows_are_persons=part.rows_are_persons,
        k=min((one.terms.k for one in run.promises.claims if one.promise == "record" and one.columns), default=0),
        known=part.known,
    )  # fmt: skip


def _sizes(warehouse: Warehouse, view: View) -> dict[int, int]:
    """Return how many persons there are by how many are alike."""
    params: Params = {**view.statement.params}
    rows = warehouse.rows(view.statement.template, **params)
    return {int(size): int(persons) for size, persons in rows}


@dataclass(frozen=True)
class Reference:
    """Columns of a release that refer to columns of another one, or of itself."""

    where: str
    child: Release
    columns: tuple[Column, ...]
    parent: Release
    to: tuple[Column, ...]
    max_lost: int


def audit(references: Iterable[Reference]) -> None:
    """Count the rows that joins lose, in what was written, and note it with the audits of the release that refers.

    Raises
    ------
    AuditFailed
        When a join loses more rows than its key allows.
    """
    failed = []
    for reference in references:
        check = _checked(reference)
        reference.child.audits[None].checks.append(check)
        if not check.passed:
            failed.append((reference, check))
    if failed:
        raise AuditFailed(
            failed[0][0].where,
            "what a foreign key joined before, it must join in the releases",
            "; ".join(f"{reference.child.report.source}: {check.told}" for reference, check in failed),
            "Nothing was published. A step may leave out records that others refer to: use one that keeps them, or set "
            "max_lost in the [[key]]",
        )


def _checked(reference: Reference) -> Check:
    """Return how many rows of the join are lost; rows that joined nothing before and something after count too."""
    child, parent = reference.child.run, reference.parent.run
    ((_, _, held, joined),) = child.warehouse.rows(
        "audit/references.sql",
        child_before=child.table.original,
        parent_before=parent.table.original,
        child_kept=child.table.current,
        child=reference.child.audits[None].relation,
        parent=reference.parent.audits[None].relation,
        columns=reference.columns,
        keys=reference.to,
        released_columns=[replace(column, staged=column.name) for column in reference.columns],
        released_keys=[replace(column, staged=column.name) for column in reference.to],
    )
    lost, most = abs(held - joined), reference.max_lost
    names = [column.name for column in reference.columns]
    return Check("rows lost by a join", names, lost, most, False, lost <= most)


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
        with release.run.log.timed("attack"):
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
    run, records = release.run, release.outputs[-1].records or release.run.table.current
    run.resume()
    warehouse = run.warehouse
    kinds: Params = {**published_as(run, in_place=False, text=())}
    before = warehouse.run(
        "publish/own_types.sql", "original_in_own_types", view=True, released=run.table.original, **kinds
    )
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
