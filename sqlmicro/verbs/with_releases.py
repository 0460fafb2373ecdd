"""What a table tells together with releases of the same people: what every publish measures, of what is there already.

Two ways. The ledger remembers the classes of every person in every release: then nothing but its numbers is needed. Or
the tables are at hand, and have a key in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import AuditRow, Status
from sqlmicro.audits.verdict import DIFFERENCES, UNION_K, UNION_L
from sqlmicro.database.catalog import find_relation
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Select, select
from sqlmicro.database.warehouse import Database, Warehouse, database_of
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.history import differences, ledger, union
from sqlmicro.history.ledger import Entry
from sqlmicro.options.common import AuditedWith
from sqlmicro.options.reader import AS_FOUND
from sqlmicro.publish.recording import records_in, refuse_other
from sqlmicro.system import secrets
from sqlmicro.system.progress import Progress
from sqlmicro.system.stores import absolute

T = TypeVar("T")


@dataclass(frozen=True)
class _Members:
    """The classes of persons in the table, which is release 0, and in others."""

    warehouse: Database
    all: Select
    pairs: Sequence[Select]
    """Of release 0 and each of the others alone."""
    k: int
    """What was promised of them; 2 where it is not known."""
    content: bool = False
    """Whether persons are known by the content of their records."""
    values: Select | None = None


def sources(audited: AuditedRelease, options: AuditedWith) -> list[Source]:
    """Return the tables and files of --with, where persons are known by a key that all have."""
    if not audited.match:
        return []
    return [audited.warehouse.source(name, AS_FOUND, f"with_{number}") for number, name in enumerate(options.with_, 1)]


def measured(
    audited: AuditedRelease, others: Sequence[Source], options: AuditedWith, progress: Progress
) -> list[AuditRow]:
    """Return what a table tells together with the releases of --with; no rows without any.

    Raises
    ------
    InputError
        When a release is not known, or its persons cannot be found.
    """
    if not options.with_:
        if options.min_union_k:
            raise ParameterError("audit, --min-union-k", "says how many must share classes with --with", "no --with")
        return []
    if audited.match:
        return _rows(_by_match(audited, others), options.min_union_k)
    with _ledger(audited.warehouse, options, progress) as warehouse:
        return _rows(_by_ledger(warehouse, audited, options), options.min_union_k)


# By a key that all have


def _by_match(audited: AuditedRelease, others: Sequence[Source]) -> _Members:
    if not audited.quasi:
        raise ParameterError("audit, --quasi", "must name the columns that classes are over", "none")
    key, sensitive = names_of(audited.match), names_of(audited.sensitive)
    tables = [
        (0, audited.release.relation, audited.match, audited.quasi),
        *((number, one.relation, *_columns(one, key, sensitive)) for number, one in enumerate(others, 1)),
    ]
    every, *pairs = (select("history/keyed_classes.sql", tables=chosen) for chosen in _with_each(tables))
    return _Members(database_of(audited.warehouse), every, pairs, 2)


def _with_each(tables: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield all of some tables, and then the first with each of the others."""
    yield tables
    yield from ([tables[0], other] for other in tables[1:])


def _columns(source: Source, key: Sequence[str], sensitive: Sequence[str]) -> tuple[list[Column], list[Column]]:
    """Return the columns of the key in a release, and those that its classes are over: all others."""
    known = {column.name: column for column in source.columns}
    lacking = [name for name in key if name not in known]
    if lacking:
        raise ParameterError("audit, --match", f"must be columns of {source.label} too", ", ".join(lacking))
    return [known[name] for name in key], [c for c in source.columns if c.name not in (*key, *sensitive)]


# By the ledger


@contextmanager
def _ledger(own: Warehouse, options: AuditedWith, progress: Progress) -> Iterator[Database]:
    """Lend the warehouse of the ledger: that of the table, or a file."""
    path = (
        Path(options.ledger) if options.ledger else None if options.database else secrets.beside_secret("ledger.duckdb")
    )
    with ExitStack() as stack:
        if path is None:
            yield database_of(own)
            return
        if not path.exists():
            raise InputError("audit, --ledger", "must be the ledger of the releases", f"no file {path.name}")
        yield stack.enter_context(open_warehouse(str(path), read_only=True, progress=progress))


def _by_ledger(warehouse: Database, audited: AuditedRelease, options: AuditedWith) -> _Members:
    releases = records_in(warehouse, "releases")
    refuse_other(warehouse, releases)
    entries = ledger.entries(warehouse, releases)
    own = _entry(entries, options.table, "audit", "Name the columns that all of them have with --match")
    others = [_entry(entries, name, "audit, --with", "List them: sqlmicro ledger") for name in options.with_]
    forgotten = union.forgotten(warehouse, releases, (own, *others))
    if forgotten:
        numbers = ", ".join(str(one.release) for one in forgotten)
        raise InputError("audit, --with", "needs the classes of persons in all releases", f"none of release {numbers}")
    if len({one.unit for one in (own, *others)}) > 1:
        must = "needs releases whose persons are known by the same columns"
        raise InputError("audit, --with", must, "; ".join(sorted({one.unit for one in (own, *others)})))
    return _remembered(warehouse, releases, own, others)


def _remembered(warehouse: Database, releases: Name, own: Entry, others: Sequence[Entry]) -> _Members:
    memory, remembered = ledger.beside(releases, "memory"), ledger.beside(releases, "class_values")
    classes = select(
        "history/remembered_of.sql", remembered=memory, columns=union.REMEMBERED["memory"], release=own.release
    )

    def of(numbers: list[int]) -> Select:
        return select("history/members.sql", classes=classes, memory=memory, releases=numbers)

    numbers = [one.release for one in others]
    values = None
    if find_relation(warehouse, remembered):
        told = select("history/class_values_of.sql", remembered=remembered, release=own.release)
        values = select("history/values_of_members.sql", class_values=told, remembered=remembered, releases=numbers)
    k = max(one.k or 2 for one in (own, *others))
    return _Members(
        warehouse, of(numbers), [of([number]) for number in numbers], k,         own.unit.startswith("content"), values,
    )  # fmt: skip


def _entry(entries: Sequence[Entry], name: str, where: str, do: str) -> Entry:
    """Return the newest release of a number, a target or a place."""
    place = ledger.place(None, absolute(name))
    found = [one for one in entries if name in (str(one.release), one.target) or one.place == place]
    if not found:
        raise InputError(where, "must be a release that the ledger knows", name, do)
    return found[-1]


# What they tell


def _rows(members: _Members, needed: int | None) -> list[AuditRow]:
    k = needed or members.k
    found = union.shared(members.warehouse, members.all, k)
    unknown = ""
    if members.content and 2 * found.known < found.of_release:
        unknown = "most records have changed, so that persons cannot be known again; name a key with --match"
    rows = [_row(UNION_K, [], None if unknown else found.fewest, needed, unknown)]
    if not unknown:
        fewest = min(differences.measured(members.warehouse, pair, k).fewest for pair in members.pairs)
        rows.append(_row(DIFFERENCES, [], fewest, needed))
    if members.values is not None and not unknown:
        left = union.left(members.warehouse, members.all, members.values, 2)
        rows += [_row(UNION_L, [one.sensitive], one.fewest, None) for one in left]
    return rows


def _row(check: str, columns: list[str], value: int | None, needed: int | None, unknown: str = "") -> AuditRow:
    passed = None if needed is None else value is not None and value >= needed
    status: Status = "unknown" if value is None else "measured" if passed is None else "passed" if passed else "failed"
    return AuditRow(check, columns, value, needed, True, passed, status, "own_value", unknown or None)
