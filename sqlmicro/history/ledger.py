"""The ledger: which releases of a source there are, and which of them somebody may still have.

It is kept in the tables `sqlmicro.releases`, `sqlmicro.memory` and `sqlmicro.withdrawn` beside the releases, so that
one transaction makes a release and its entry. Every entry holds the hash of the one before it: one that was removed or
changed is seen. `sqlmicro.memory` has the class of every person in every release, by a keyed hash of who it is; the
key is in no database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from sqlmicro.database.catalog import find_beside, find_relation
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.pipeline import Run

State = Literal["out", "replaced", "gone", "withdrawn"]
"""Whether somebody may still have a release. `out`: it is there, or a file. `replaced`: another one took its place, but
readers may have kept it. `gone`: its table was dropped. `withdrawn`: the owner says that nobody has it."""
MEMORY = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, who BIGINT, class BIGINT, value BIGINT)"""
CLASS_VALUES = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, column_name VARCHAR, class BIGINT, value BIGINT)"""
WITHDRAWN = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (release BIGINT, moment TIMESTAMP, reason VARCHAR)"""
CONTENTS = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (release BIGINT, who BIGINT, value BIGINT)"""
TABLES = ("releases", "memory", "class_values", "contents", "withdrawn")
"""The tables of a ledger."""
_ENTRIES = """SELECT id, source, people, schema_hash, unit, target, place, target_kind, method, k,
  CAST(started AS VARCHAR), alone_because, remembered, series, epoch, previous, entry,
  k_released, verdict, n, suppressed, key_source, key_fingerprint, input_hash, output_hash, file_hash, sql_hash,
  CAST(parameters AS VARCHAR), CAST(promised AS VARCHAR), CAST(recounted AS VARCHAR), CAST(consulted AS VARCHAR),
  CAST(checks AS VARCHAR), CAST(versions AS VARCHAR)
FROM {{ releases | ident }} ORDER BY id"""
TOLD = ("release", "source", "people", "schema_hash", "unit", "target", "place", "kind", "method", "k", "started",
        "alone_because", "remembered", "series", "epoch")  # fmt: skip
"""What an entry says, in the order in which it is hashed."""
SEALED = ("k_released", "verdict", "n", "suppressed", "key_source", "key_fingerprint", "input_hash", "output_hash",
          "file_hash", "sql_hash")  # fmt: skip
"""What is hashed after that: what was published, and how it came out. Losses and seconds are not hashed."""
_TEXTS = ("source", "people", "schema_hash", "unit", "target", "place", "kind", "method", "started")
"""What every entry says."""
_WITHDRAWN = """SELECT release, any_value(reason) FROM {{ withdrawn | ident }} GROUP BY release"""


@dataclass(frozen=True)
class Entry:
    """A release as the ledger knows it."""

    release: int
    source: str
    people: str
    """The name of the source, whatever the database or the day is called."""
    schema_hash: str
    """Of the names and types of the columns of the source."""
    unit: str
    """By what its persons are known again: a person key, a row key, or what was read of them."""
    target: str
    place: str
    """Where it is, however it was called: see `place`."""
    kind: str
    method: str
    k: int | None
    started: str
    alone_because: str | None
    """Why it was published although it does not keep its k together with others."""
    remembered: str | None
    """What tells whether its classes are still remembered as they were; None where nothing is remembered."""
    series: str | None
    """The series that it is a night of."""
    epoch: int | None
    """Within an epoch, nights keep together what each of them keeps."""
    entry: str
    """Its hash, which the entry after it holds."""
    state: State
    reason: str | None
    """Why it was withdrawn."""
    intact: bool
    """Whether neither it nor the entry before it was changed or removed."""


@dataclass(frozen=True)
class Ledger:
    """The releases that a database has recorded, the oldest first."""

    db: str
    releases: list[Entry]
    private: list[str] = field(default_factory=list)
    """The tables with the risk of every record: no releases, and never to be released."""


def schema_hash(columns: Sequence[Column]) -> str:
    """Return what the columns of a source have in common with those of its renamed copy: their names and types."""
    return sha256(json.dumps(sorted((column.name.lower(), column.type) for column in columns)).encode()).hexdigest()


def unit(run: Run) -> str:
    """Return by what the persons of a run are known again: a person key, a row key, or what was read of them."""
    roles = run.roles
    if person := roles.of_night if run.around.seater else roles.person:
        return by_person(column.name for column in person)
    if key := roles.row_key or roles.known_by:
        return by_row_key(column.name for column in key)
    read = set(roles.read) & set(run.source.columns)
    return f"content: {', '.join(sorted(column.name.lower() for column in read))}"


def by_person(columns: Iterable[str]) -> str:
    """Return by what persons are known again who have many records.

    >>> by_person(["Patient"])
    'person: patient'
    """
    return f"person: {', '.join(name.lower() for name in columns)}"


def by_row_key(columns: Iterable[str]) -> str:
    """Return by what persons are known again that a row key tells apart.

    >>> by_row_key(["ID", "part"])
    'row key: id, part'
    """
    return f"row key: {', '.join(name.lower() for name in columns)}"


def hashed(previous: str | None, told: Sequence[object], evidence: Sequence[str]) -> str:
    """Return the hash of an entry: of what it says (`TOLD`, `SEALED`), of the evidence, and of the hash before it.

    The evidence is JSON: how the release was made, what was promised, recounted, consulted and checked, and by which
    versions. How a database writes JSON down does not count.

    >>> hashed(None, [1, "persons"], ['{"k": 5, "n": 9}']) == hashed(None, [1, "persons"], ['{"n":9,"k":5}'])
    True
    >>> hashed(None, [1, "persons"], ['{"k": 5, "n": 9}']) == hashed(None, [1, "persons"], ['{"k": 50, "n": 9}'])
    False
    """
    told = [previous, *told, *(json.loads(text) for text in evidence)]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _intact(entry: str, previous: str | None, told: Sequence[object], evidence: Sequence[str]) -> bool:
    """Tell whether an entry says what it said."""
    try:
        return entry == hashed(previous, told, evidence)
    except (ValueError, TypeError):  # somebody has put something else there than JSON
        return False


def entries(warehouse: Database, releases: Name) -> list[Entry]:
    """Return all entries of a ledger, the oldest first; none where there is no table of releases."""
    withdrawn = beside(releases, "withdrawn")
    there, any_withdrawn = find_beside(warehouse, [releases, withdrawn])
    if there is None:
        return []
    reasons: dict[int, str] = {}
    if any_withdrawn:
        reasons = dict(warehouse.query("ledger", _WITHDRAWN, withdrawn=withdrawn))
    rows = warehouse.query("ledger", _ENTRIES, releases=releases)
    found: list[Entry] = []
    before = None
    for row in rows:
        told, (previous, entry, *more) = row[: len(TOLD)], row[len(TOLD) :]
        sealed, evidence = more[: len(SEALED)], more[len(SEALED) :]
        intact = previous == before and _intact(entry, previous, [*told, *sealed], evidence)
        given: dict[str, Any] = dict(zip(TOLD, told, strict=True))
        given |= {name: "" for name in _TEXTS if given[name] is None}  # somebody has taken it out: it is not intact
        found.append(Entry(**given, entry=entry or "", state="out", reason=reasons.get(told[0]), intact=intact))
        before = entry
    newest = {one.place: one.release for one in found}
    return [replace(one, state=_state(warehouse, releases, one, newest[one.place] == one.release)) for one in found]


def _state(warehouse: Database, releases: Name, entry: Entry, newest: bool) -> State:
    """Return whether somebody may still have a release: a file is out for ever, a table as long as it is there.

    Whether a table of another database is there, nobody looks: it is out.
    """
    if entry.reason is not None:
        return "withdrawn"
    if entry.kind == "file":
        return "out"
    if not newest:
        return "replaced"
    try:
        database, *name = json.loads(entry.place)
        there = database or find_relation(warehouse, Name(releases.catalog, *name))
    except (ValueError, TypeError):  # somebody has changed it: it may be anywhere
        return "out"
    return "out" if there else "gone"


def place(name: Name | None, file: str | None, database: str = "") -> str:
    """Return where a release is, however it was called: one absolute path, URL or table is one place.

    A table is known by its schema and name, and by its database where that is not the one of the ledger.

    >>> place(Name("w", "main", "out"), None), place(None, "/data/out.parquet")
    ('["", "main", "out"]', '["/data/out.parquet"]')
    """
    parts = [file] if file is not None else [database, *(name or Name("", "", ""))[1:]]
    return json.dumps([part.lower() for part in parts] if file is None else parts)


def beside(releases: Name, table: str) -> Name:
    """Return another table of a ledger.

    >>> beside(Name("shop", "", "sqlmicro_releases"), "withdrawn").table
    'sqlmicro_withdrawn'
    """
    return releases._replace(table=releases.table.removesuffix("releases") + table)


def withdraw(warehouse: Database, releases: Name, release: int, reason: str) -> None:
    """Note, in the open transaction, that nobody has a release any more, and forget its classes."""
    withdrawn = beside(releases, "withdrawn")
    warehouse.query("ledger", WITHDRAWN, name=withdrawn)
    at = datetime.now(UTC).replace(tzinfo=None)
    warehouse.insert("ledger", "INSERT INTO {{ w | ident }} VALUES ($1, $2, $3)", [release, at, reason], w=withdrawn)
    for table in (beside(releases, name) for name in ("memory", "class_values", "contents")):
        if find_relation(warehouse, table):
            warehouse.insert("ledger", "DELETE FROM {{ t | ident }} WHERE release = $1", [release], t=table)
