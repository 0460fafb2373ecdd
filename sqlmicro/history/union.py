"""What a release tells together with others of the same people: how many persons share their classes in all of them.

A release in which every record occurs k times can be taken apart by another one of the same people: somebody who is in
one class of five today and was in another class of five yesterday may share both with nobody. Published beside each
other, two releases keep what the *union* of them keeps. Source: Ganta, Kasiviswanathan & Smith (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, runtime_checkable

from sqlmicro.database.catalog import find_beside
from sqlmicro.database.columns import Column
from sqlmicro.database.content import by_kind, content_of
from sqlmicro.database.loading import KNOWN_BY
from sqlmicro.database.templates import Name, Params, Select
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.history import ledger
from sqlmicro.pipeline import Run
from sqlmicro.registry import find
from sqlmicro.system import secrets
from sqlmicro.work import Claim

KEY = "sqlmicro_ledger"
"""The session variable with the key that persons are hashed with."""
REMEMBERED = {
    "memory": ["who", "class", "value"],
    "class_values": ["column_name", "class", "value"],
    "contents": ["who", "value"],
}
"""The tables with what is remembered of releases, and their columns."""
_SAMPLED = 1000
"""Persons whose content is remembered, to tell a key that is given anew."""
_BY_CHANCE = 1
"""So many of them may have another key: somebody who came may have the values of somebody who left."""


@runtime_checkable
class Seats(Protocol):
    """What continues a series of classes."""

    @property
    def members(self) -> tuple[Name, Name, Name] | None:
        """Who sits where (who, label), the class of every row (row_id, label), tonight's founders (row_id, who, …)."""


@dataclass(frozen=True)
class Staged:
    """What a release tells of its persons: the class of each, and the sensitive values of every class."""

    classes: Name
    values: Name | None
    """None where no column is sensitive."""
    contents: Name | None = None
    """A sample of the persons by their content, where they are known by a key that nobody has named."""


@dataclass(frozen=True)
class Union:
    """How many persons share their classes in several releases."""

    persons: int
    fewest: int
    """The fewest persons who share their classes in all of them."""
    below: int
    """Persons who share them with fewer than k, themselves included."""
    known: int
    """Persons of the release to be published who are in an earlier one."""
    of_release: int
    """All of its persons."""


@dataclass(frozen=True)
class Left:
    """How many values of a sensitive column a person may have after several releases."""

    sensitive: str
    persons: int
    fewest: int
    below: int
    """Persons with fewer than l values left."""


def staged(run: Run, records: Name, into: str) -> tuple[Staged, ...]:
    """Stage what a release tells of its persons, where k records are promised and persons can be known again.

    The classes are over all columns that an attacker may know; and, where fewer were promised, over those.
    """
    promised = _widest(run)
    if promised is None:
        return ()
    if run.warehouse.database is None:
        run.log.notes.append(
            "what this release tells together with others was not measured: the ledger is kept by DuckDB"
        )
        return ()
    key = secrets.ledger_key(ledger.unit(run))
    if key is None:
        run.log.notes.append(
            "what this release tells together with others was not measured: no secret could be kept. Set "
            f"{secrets.LASTING_VARIABLE}"
        )
        return ()
    sensitive = [column for column in run.roles.released if run.promises.apart.get(column.name) == "sensitive"]
    found = dict.fromkeys(frozenset(columns) for columns in (run.known, promised.columns) if columns)
    return tuple(
        _staged(run, records, f"{into}_{number}", [c for c in run.roles.released if c in columns], sensitive, key)
        for number, columns in enumerate(found, 1)
    )


def promises(run: Run) -> bool:
    """Tell whether a run promises a k of records, which must hold together with other releases."""
    return _widest(run) is not None


def _widest(run: Run) -> Claim | None:
    found = max((claim for claim in run.promises.claims if claim.promise == "record"), key=_width, default=None)
    return found if found and found.columns else None


def with_candidates(run: Run, release: Staged, candidates: Sequence[tuple[int, Staged]], into: str) -> Staged:
    """Return what a release tells together with the candidates that are published beside it, by their numbers."""
    classes = run.warehouse.run(
        "history/classes_of_outputs.sql", f"{into}_classes", release=release.classes,
        candidates=[(number, one.classes) for number, one in candidates],
    )  # fmt: skip
    values = release.values and run.warehouse.run(
        "history/values_of_outputs.sql", f"{into}_values", release=release.values,
        candidates=[(number, one.values) for number, one in candidates],
    )  # fmt: skip
    return Staged(classes, values, release.contents)


def _width(claim: Claim) -> tuple[int, int]:
    return len(claim.columns), claim.terms.k


def promised_k(run: Run) -> int:
    """Return the k that is promised of records."""
    return max((claim.terms.k for claim in run.promises.claims if claim.promise == "record"), default=0)


def _staged(
    run: Run, records: Name, into: str, columns: Sequence[Column], sensitive: Sequence[Column], key: str
) -> Staged:
    """Stage the class of every record of a release over some columns, who it is about, and what its class has.

    Who it is, is the person where one is named, else the row key, else the content that was read.
    """
    warehouse = run.warehouse
    warehouse.set_key(KEY, key)
    members = run.around.seater.members if isinstance(run.around.seater, Seats) else None
    types = dict(warehouse.describe(records))
    known = by_kind([Column(column.staged, types[column.staged], column.staged) for column in columns])
    classed = warehouse.run("history/classed.sql", f"{into}_classed", records=records, kinds=known)
    by: Params = {"stream": KEY, "original": run.table.original}
    contents = None
    averaged = _averaged(run)
    told: Params = {**by, "classed": classed, "averaged": averaged}
    if members:
        who, groups, founders = members
        told |= {"members": who, "groups": groups, "founders": founders, "otherwise": -1 if averaged else 0}
        classes = warehouse.run("history/classes_of_seats.sql", f"{into}_classes", **told)
    elif run.roles.person:
        classes = warehouse.run("history/classes_of_persons.sql", f"{into}_classes", **told, person=run.roles.person)
    else:
        by |= {"identity": KNOWN_BY if run.roles.known_by else "record", "columns": ["copy"]}
        classes = warehouse.run("history/classes_of_records.sql", f"{into}_classes", **{**told, **by})
        if run.roles.known_by:
            contents = warehouse.run("history/contents.sql", f"{into}_contents", most=_SAMPLED, **by)
    if not sensitive:
        return Staged(classes, None, contents)
    told = {"stream": KEY, "classed": classed, "records": records, "sensitive": list(sensitive)}
    return Staged(classes, warehouse.run("history/class_values.sql", f"{into}_values", **told), contents)


def _averaged(run: Run) -> list[str]:
    """Return the columns whose values totals of a release are of, as they were loaded, in the order of their names."""
    there = {name for name, _ in run.warehouse.describe(run.table.original)}
    grouped = {name for step in run.log.steps if find(step.method).stage == "group" for name in step.columns}
    return sorted(column.staged for column in run.roles.released if column.name in grouped and column.staged in there)


def shared(warehouse: Database, members: Select, k: int) -> Union:
    """Return how many persons share their classes. One GROUP BY over the members of all releases."""
    ((persons, fewest, below, known, of_release),) = warehouse.rows("history/union_classes.sql", members=members, k=k)
    return Union(int(persons), int(fewest), int(below), int(known), int(of_release))


def forgotten(warehouse: Database, releases: Name, entries: Sequence[ledger.Entry]) -> list[ledger.Entry]:
    """Return the entries of which a ledger has not all that it remembered: classes, their values, contents."""
    tables = find_beside(warehouse, [ledger.beside(releases, name) for name in REMEMBERED])
    if tables[0] is None:
        return [*entries]
    numbers = sorted({one.release for one in entries})
    sums: dict[int, list[tuple[int, int]]] = {number: [] for number in numbers}
    for table, columns in zip(tables, REMEMBERED.values(), strict=True):
        told: dict[int, tuple[int, int]] = {}
        if table is not None:
            rows = warehouse.rows("history/digests.sql", remembered=table, columns=columns, releases=numbers)
            told = {int(number): (count, hashes) for number, count, hashes in rows}
        for number, found in sums.items():
            found.append(told.get(number, (0, 0)))
    return [one for one in entries if one.remembered is None or one.remembered != _hashed(sums[one.release])]


def digest(warehouse: Database, tables: Sequence[Name | Select | None]) -> str:
    """Return what tells whether what is remembered of a release is still that; `tables` are those of `REMEMBERED`.

    A table that there is not remembers nothing, like an empty one. It is a hash: a number of persons would differ
    between two nights by whoever came or left.
    """
    told = zip(tables, REMEMBERED.values(), strict=True)
    return _hashed([
        warehouse.rows("history/digest.sql", remembered=table, columns=columns)[0] if table else (0, 0)
        for table, columns in told
    ])  # fmt: skip


def output_hash(warehouse: Warehouse, relation: Name, columns: Sequence[Column]) -> str:
    """Return the hash of the records of a release, in any order, as its entry has it."""
    described = [(column.name, column.type) for column in columns]
    return sha256(content_of(warehouse, relation, described, described)).hexdigest()


def _hashed(sums: Sequence[tuple[Any, ...]]) -> str:
    """Return the hash of how many rows each table of `REMEMBERED` has, and of the sums of their hashes."""
    return sha256(", ".join(f"{count} {hashes}" for count, hashes in sums).encode()).hexdigest()


def is_given_anew(warehouse: Database, contents: Name, remembered: Name, releases: list[int]) -> bool:
    """Tell whether the key of a table seems to stand for other persons than in earlier releases."""
    ((_, moved),) = warehouse.rows(
        "history/moved_keys.sql", contents=contents, remembered=remembered, releases=releases
    )
    return bool(moved > _BY_CHANCE)


def left(warehouse: Database, members: Select, values: Select, l: int) -> list[Left]:  # noqa: E741
    """Return how many values of every sensitive column a person may have, at least."""
    rows = warehouse.rows("history/union_values.sql", members=members, class_values=values, k=l)
    return [Left(str(name), int(persons), int(fewest), int(below)) for name, persons, fewest, below in rows]
