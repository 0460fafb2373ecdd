"""What the database recorded of a release: a row of sqlmicro.releases, its audits, and the candidates it won over."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlmicro.audits.verdict import DIFFERENCES, UNION_K, UNION_L, Promises, alone
from sqlmicro.database.catalog import find_relation, find_table
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.publish.recording import look_in, records_in, refuse_other, release_of
from sqlmicro.publish.report import ChosenCandidate, Parameters
from sqlmicro.registry import PROMISES
from sqlmicro.system.reporting import from_json, named
from sqlmicro.system.sentences import say

if TYPE_CHECKING:
    from sqlmicro.database.warehouse import Database

SCHEMA = "sqlmicro"
_CANDIDATE = "candidate "
WITH_OTHERS = (UNION_K, UNION_L, DIFFERENCES)
"""The checks of a release with all others of the same people."""


@dataclass(frozen=True)
class RecordedPromise:
    """A k that was promised over columns together."""

    k: int
    columns: list[str]


@dataclass(frozen=True)
class RecordedCheck:
    """A check as it was recorded."""

    check: str
    value: float | None
    threshold: float | None
    passed: bool | None


@dataclass(frozen=True)
class RecordedCandidate:
    """A candidate of SAFE as it was recorded."""

    candidate: int
    algorithm: str
    which: str = field(metadata=named("pass"))
    unification: str
    distance: float
    loss: float
    groups: int
    dropped: int
    released: bool


@dataclass(frozen=True)
class Sibling:
    """A release of the same source."""

    id: int
    target: str
    method: str
    parameters: Parameters
    loss_by_column: dict[str, float]
    """Of the columns whose loss is known."""
    series: str | None
    """The series that it is a night of."""


@dataclass(frozen=True)
class RecordedRelease:
    """What is recorded of a release; `audits` are those of the release itself, `siblings` has the release too."""

    id: int
    source: str
    target: str
    method: str
    parameters: Parameters
    promised: list[RecordedPromise]
    n: int
    suppressed: int | None
    il: float | None
    started: datetime
    versions: dict[str, str]
    audits: list[RecordedCheck]
    candidates: list[RecordedCandidate]
    siblings: list[Sibling]
    together: list[RecordedCheck]
    """The checks of this release and of later ones with all that were out then; not of those that were withdrawn."""
    accepted: dict[int, str]
    """Why releases were published although they do not keep their k together with others: this one, and later ones."""
    withdrawn: str | None
    """Why nobody has the release any more."""
    series: str | None
    """The series that it is a night of."""
    output_hash: str | None
    """Of its records, in any order."""

    @property
    def promises(self) -> Promises:
        """What was promised of it."""
        over = [(one.k, one.columns) for one in self.promised]
        promises = [step.promise for step in self.parameters.steps]
        return Promises(over, self.parameters.apart, alone(promises), self.parameters.person)


@dataclass(frozen=True)
class StepFacts:
    """A step of a release: what is promised, and the parameters that were set."""

    method: str
    columns: list[str]
    by: list[str]
    k: int | None
    promise: str
    """In words."""
    parameters: dict[str, Any]
    released: ChosenCandidate | None
    """The candidate of SAFE that was released."""


def find_release(warehouse: Database, text: str) -> RecordedRelease | None:
    """Return what is recorded of the release that `--release` names: by its number, or the newest of a table or file.

    Raises
    ------
    InputError
        When no release has the number.
    """

    if text.isdecimal():
        look_in(warehouse)
        row = read(warehouse, int(text))
        if row is None:
            raise InputError(
                "--release",
                "must be the number of a release in sqlmicro.releases, or a table or file",
                text,
                f"There are: {', '.join(_numbers(warehouse)) or 'none; name where it is by --db or --ledger FILE'}",
            )
        return row
    found = find_table(warehouse, text)
    number = release_of(warehouse, text, found[0] if found else Name("", "", text))
    return None if number is None else read(warehouse, number)


def _there(warehouse: Database, table: str) -> bool:

    return find_relation(warehouse, _named(warehouse, table)) is not None


def _named(warehouse: Database, table: str) -> Name:

    return records_in(warehouse, table)


def _numbers(warehouse: Database) -> list[str]:
    if not _there(warehouse, "releases"):
        return []
    releases = _named(warehouse, "releases")
    rows = warehouse.query("report", "SELECT id FROM {{ r | ident }} ORDER BY id DESC LIMIT 20", r=releases)
    return [str(row[0]) for row in rows]


def read(warehouse: Database, number: int) -> RecordedRelease | None:
    """Return what is recorded of the release with a number.

    Raises
    ------
    InputError
        When somebody has changed it, or what is recorded of another release of the same source.
    """
    try:
        return _read(warehouse, number)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InputError(
            f"release {number}", "what is recorded of the releases of its source must be as it was written",
            "something else", "Restore sqlmicro.releases and sqlmicro.audits from a backup, or release it again",
        ) from None  # fmt: skip


def _read(warehouse: Database, number: int) -> RecordedRelease | None:
    if not _there(warehouse, "releases"):
        return None
    refuse_other(warehouse, _named(warehouse, "releases"))
    names = (
        "id", "source", "target", "method", "parameters", "promised", "n", "suppressed", "il", "started", "versions",
        "series", "output_hash",
    )  # fmt: skip
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE id = $1",
        [number],
        names=names,
        r=_named(warehouse, "releases"),
    )
    if not rows:
        return None
    id_, source, target, method, parameters, promised, n, suppressed, il, started, versions, series, output = rows[0]
    if None in (source, target, method, n, started):
        raise ValueError(number)
    reasons = _withdrawn(warehouse)
    return RecordedRelease(
        id_, source, target, method,
        from_json(Parameters, json.loads(parameters)),
        from_json(list[RecordedPromise], json.loads(promised)),
        n, suppressed, il, started,
        json.loads(versions),
        _audits(warehouse, number),
        _candidates(warehouse, number),
        _siblings(warehouse, source),
        *_later(warehouse, number, reasons),
        reasons.get(number),
        series,
        output,
    )  # fmt: skip


def _withdrawn(warehouse: Database) -> dict[int, str]:
    """Return why releases were withdrawn, by their numbers."""
    if not _there(warehouse, "withdrawn"):
        return {}
    text = "SELECT release, any_value(reason) FROM {{ r | ident }} GROUP BY release"
    return dict(warehouse.query("report", text, r=_named(warehouse, "withdrawn")))


def _later(warehouse: Database, number: int, withdrawn: Collection[int]) -> tuple[list[RecordedCheck], dict[int, str]]:
    """Return the checks with others, and why some were passed over, of a release and of later ones of the same people.

    What two of them tell together, all of them tell together: no class is larger for another release that is known.
    """
    rows = warehouse.query(
        "report",
        "SELECT r.id, r.alone_because FROM {{ r | ident }} AS r, {{ r | ident }} AS own WHERE own.id = $1 AND "
        "r.id >= own.id AND (r.people = own.people OR r.schema_hash = own.schema_hash) ORDER BY r.id",
        [number], r=_named(warehouse, "releases"),
    )  # fmt: skip
    out = {id_: why for id_, why in rows if id_ == number or id_ not in withdrawn}
    checks = [one for id_ in out for one in _audits(warehouse, id_) if one.check.partition(" (")[0] in WITH_OTHERS]
    return checks, {id_: why for id_, why in out.items() if why}


def _audits(warehouse: Database, number: int) -> list[RecordedCheck]:
    """Return the checks of the release itself, in the order in which they were recorded."""
    rows = warehouse.query(
        "report",
        'SELECT "check", value, threshold, passed FROM {{ r | ident }} WHERE release = $1 ORDER BY rowid',
        [number],
        r=_named(warehouse, "audits"),
    )
    return [RecordedCheck(*row) for row in rows if not row[0].startswith(_CANDIDATE)]


def _candidates(warehouse: Database, number: int) -> list[RecordedCandidate]:
    """Return the candidates of SAFE, the nearest to the original first."""
    if not _there(warehouse, "candidates"):
        return []
    names = ("candidate", "algorithm", "pass", "unification", "distance", "loss", "groups", "dropped", "released")
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE release = $1 ORDER BY distance, candidate",
        [number],
        names=names,
        r=_named(warehouse, "candidates"),
    )
    return [RecordedCandidate(*row) for row in rows]


def _siblings(warehouse: Database, source: str) -> list[Sibling]:
    """Return every release of the same source, with its parameters and what it lost in each column."""
    names = ("id", "target", "method", "parameters", "loss_by_column", "series")
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE source = $1 ORDER BY id",
        [source],
        names=names,
        r=_named(warehouse, "releases"),
    )
    return [
        Sibling(id_, target, method, from_json(Parameters, json.loads(made)), _known(lost), series)
        for id_, target, method, made, lost, series in rows
    ]


def _known(lost: str | None) -> dict[str, float]:
    """Return the loss of every column of which it is known."""
    found = json.loads(lost) if lost else None
    return {name: loss for name, loss in (found or {}).items() if loss is not None}


def steps_of(recorded: RecordedRelease) -> list[StepFacts]:
    """Return the steps of a release: what is promised, and the parameters that were set."""
    steps = []
    for given in recorded.parameters.steps:
        shown = {"nulls": given.nulls, **given.settings, "key_fingerprint": given.key_fingerprint}
        k = shown.pop("k", None)
        told = {key: value for key, value in shown.items() if value not in (None, [], "", False)}
        promise = PROMISES[given.promise]
        steps.append(StepFacts(given.method, given.columns, given.by, k, promise, told, given.released))
    return steps


def original_of(recorded: RecordedRelease | None) -> tuple[str | None, str]:
    """Return the original to compare with, and if there is none to be had, why."""
    if recorded is None:
        return None, say("nothing is recorded of where the release comes from; name the original with --original")
    if recorded.series is not None:
        return None, say(
            "it is a night of a series: what a page says of its original would differ from that of the next night by "
            "whoever is new"
        )
    if recorded.parameters.target_kind == "in place":
        return None, say("the release took the place of the original, which is gone: there is no before")
    return recorded.source, ""
