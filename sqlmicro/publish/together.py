"""What the releases of a job file tell together: audited once all are written, before any becomes visible."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlmicro.audits.join_k import Joins, Known, Link, Member, View
from sqlmicro.audits.row import Check
from sqlmicro.audits.verdict import JOINED
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import AuditFailed
from sqlmicro.options.joins import JoinOptions
from sqlmicro.publish import linked, references
from sqlmicro.publish.linked import Measured
from sqlmicro.publish.references import Reference
from sqlmicro.publish.release import Release

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
        self.found.extend(linked.attacked([part.release for part in self.parts], self.references, limit))
        failed = [row for one in self.found for row in one.rows if not row.passed]
        if failed:
            worst = max(failed, key=lambda row: row.value or 0.0)
            raise AuditFailed(
                f"audit, {linked.CHECK}",
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
        references.audit(self.references)
        for one in self.found:
            one.release.audits[None].checks.extend(one.rows)
        if self.options.join_depth == 0:
            for part in self.parts if self.references else ():
                part.release.run.notes.append(_NOT_COUNTED)
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
        records = release.outputs[-1].records or run.current
        relation = select("publish/with_persons.sql", released=records, original=run.original,
                          person=run.roles.person, columns=run.roles.released)  # fmt: skip
        types = dict(run.warehouse.describe(records))
        columns = {c.name: Column(c.staged, types[c.staged], c.staged) for c in run.roles.released}
        whose = [Column("person", "BIGINT", "person")]
    return Member(
        release.report.source, relation, columns,
        tells=[column.name for column in run.known if column.name.lower() not in part.accepted],
        person=whose, pseudonyms=() if hidden else person, rows_are_persons=part.rows_are_persons,
        k=min((claim.terms.k for claim in run.claims if claim.promise == "record" and claim.columns), default=0),
        known=part.known,
    )  # fmt: skip


def _sizes(warehouse: Warehouse, view: View) -> dict[int, int]:
    """Return how many persons there are by how many are alike."""
    params: Params = {**view.statement.params}
    rows = warehouse.rows(view.statement.template, **params)
    return {int(size): int(persons) for size, persons in rows}
