"""The certificate of a release: what a stranger can recount of it, and what whoever signs it says of the rest.

What cannot be recounted is taken from the entry of the release in its ledger, as its hash covers it (`history.ledger`).

It tells nothing that the release does not tell: no column that was left out, no record that was suppressed, no path, no
word of other releases but the hashes of their entries. The hash of the SQL is not in it either: whoever knows a script
but for one bound could try bounds until the hash is right.

The SSH signature of a certificate: by a key of the user, in a file or in the agent.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from itertools import chain
from pathlib import Path
from shutil import which
from typing import Any, Literal

from sqlmicro.database.catalog import find_relation
from sqlmicro.database.content import content_of
from sqlmicro.database.templates import Name, ident, statement
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.history import ledger
from sqlmicro.history.anonymized import IN_PLACE
from sqlmicro.options.guarantees import KEY_LIMITS
from sqlmicro.options.limits import of_audit
from sqlmicro.publish.recording import look_in, records_in, refuse_other
from sqlmicro.publish.recounted import as_promised, special
from sqlmicro.publish.report import Consulted, Parameters, Recounted
from sqlmicro.registry import late, methods
from sqlmicro.system.reporting import as_json, from_json, named
from sqlmicro.system.stores import Store, absolute, is_url

_WHERE = "certify"
_COLUMNS = """SELECT target, place, target_kind, parameters, versions, output_hash, file_hash, alone_because, series,
  epoch, previous, entry, recounted, consulted, checks
FROM {{ r | ident }} WHERE id = $1"""
_EXPORTED = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT",
    "DOUBLE", "DECIMAL", "VARCHAR", "ENUM", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "BLOB",
    "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
)  # fmt: skip
"""The types of columns that an export to Parquet gives back as they are."""
_OTHERS = "the ledger and the other releases are not in it"
_WHY = {
    "persons": "it does not say whose record is whose", "union-k": _OTHERS, "union-l": _OTHERS, "differences": _OTHERS,
    "join-k": "the other tables are not in it",
    **{one.audit: "the population is not in it" for one in KEY_LIMITS if one.everybody},
}  # fmt: skip
_UNTOLD = "(not told)"
_NO_BYTES = "its values have no bytes of their own"


@dataclass(frozen=True)
class CertifiedRelease:
    """What the certificate is of."""

    name: str
    kind: Literal["file", "table"]
    sha256: str
    """Of the bytes of a file, of the content of a table: sqlmicro.verify says how."""
    rows: int
    columns: list[list[str]]
    """Name and Arrow type of every column."""


@dataclass(frozen=True)
class Attested:
    """A check that nobody can make who has only the release."""

    check: str
    value: float | None
    threshold: float | None
    """None where nothing was promised."""
    passed: bool | None
    why: str
    """Why it cannot be recounted."""


@dataclass(frozen=True)
class CertifiedStep:
    """A step of the plan; settings that may tell of somebody's files or words are not told."""

    method: str
    columns: list[str]
    nulls: str
    promise: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class CertifiedPlan:
    """What made the release, as far as its own columns are concerned."""

    steps: list[CertifiedStep]
    kept: list[str]
    """The columns that were released as they are."""


@dataclass(frozen=True)
class CertifiedEntry:
    """The entry of the release in its ledger, and the earlier releases that it was measured with."""

    release: int
    entry: str
    """The hash of its entry: the head of the chain when it was made."""
    previous: str | None
    series: str | None
    epoch: int | None
    alone: bool
    """Whether it was published although it does not keep its k together with others."""
    consulted: list[Consulted]


@dataclass(frozen=True)
class Certificate:
    """What is said of a release to strangers."""

    format: Literal["sqlmicro-release-certificate"]
    version: Literal[1]
    issued: str
    signed: bool
    """Whether a signature belongs to it. Without one, nobody says what is in it."""
    release: CertifiedRelease
    not_counted: dict[str, str]
    """The columns that nobody is taken to know from elsewhere, and why."""
    recounted: list[Recounted]
    attested: list[Attested]
    plan: CertifiedPlan
    versions: dict[str, str]
    ledger: CertifiedEntry


@dataclass(frozen=True)
class Certified:
    """A certificate that was written."""

    to: str
    signature: str | None
    """The file of its signature."""
    signer: str | None
    """Who signed, as far as the signature tells."""
    told: Certificate = field(metadata=named("certificate"))


def of(
    warehouse: Database, text: str, folder: Path, *, signed: bool, apart: bool = False
) -> tuple[Certificate, Path | None]:
    """Return the certificate of a release that a ledger knows, and the file if it is one; the release is read again.

    An object of a store is copied into `folder` first. Of a night of a table some rows of which are anonymized, these
    are written to a file there, if they are to be `apart`.

    Raises
    ------
    InputError
        When there is no such release, or it is not what was published, or nobody could check it.
    """
    look_in(warehouse)
    releases = records_in(warehouse, "releases")
    if find_relation(warehouse, releases) is None:
        raise InputError(_WHERE, "needs the record of the release", "none here", "Name where it is: --db or --ledger")
    refuse_other(warehouse, releases)
    entry = _entry(warehouse, releases, text)
    values = warehouse.query("record", _COLUMNS, [entry.release], r=releases)[0]
    names = _COLUMNS.removeprefix("SELECT ").partition("\nFROM")[0].replace("\n ", "").split(", ")
    row: dict[str, Any] = dict(zip(names, values, strict=True))
    parameters = from_json(Parameters, json.loads(row["parameters"]))
    promised = from_json(list[Recounted], json.loads(row["recounted"]) or [])
    path = _fetched(json.loads(row["place"])[0], folder) if row["target_kind"] == "file" else None
    asked = _Asked(promised, parameters.apart)
    if path:
        release, counted = _file(path, row, asked)
    elif row["series"] and row["target_kind"] == IN_PLACE:
        path = folder / "anonymized.parquet"
        release, counted = _anonymized(warehouse, row, asked, path if apart else None)
    else:
        if apart:
            must = "goes with a release that is some rows of a table (--only-where): any other is certified where it is"
            raise ParameterError(f"{_WHERE}, --rows-to", must, f"{row['target']!r}", "Leave it out")
        release, counted = _table(warehouse, row, asked)
    own = {name for name, _ in release.columns}
    told = Certificate(
        "sqlmicro-release-certificate", 1, datetime.now(UTC).replace(microsecond=0).isoformat(), signed, release,
        counted.apart, counted.checks,
        _attested(json.loads(row["checks"]), counted.checks), _plan(parameters, own), json.loads(row["versions"]),
        CertifiedEntry(
            entry.release, row["entry"], row["previous"], row["series"], row["epoch"], row["alone_because"] is not None,
            from_json(list[Consulted], json.loads(row["consulted"])),
        ),
    )  # fmt: skip
    return told, path


def _entry(warehouse: Database, releases: Name, text: str) -> ledger.Entry:
    """Return the entry of a release, by its number, or the newest of a table or file; the ledger must be whole."""
    entries = ledger.entries(warehouse, releases)
    if text.isdecimal():
        found = [one for one in entries if one.release == int(text)]
    else:
        parts = text.split(".")
        name = warehouse.full(Name("", parts[-2] if len(parts) > 1 else "", parts[-1]))
        places = {ledger.place(None, absolute(text)), ledger.place(name, None)}
        found = [one for one in entries if one.place in places or one.target == text][-1:]
    if not found:
        has = ", ".join(f"{one.release} ({one.target})" for one in entries[-6:])
        raise InputError(_WHERE, "names a release that is recorded here", repr(text), f"There are {has}" * bool(has))
    changed = [str(one.release) for one in entries if one.release <= found[0].release and not one.intact]
    if changed:
        do = "Restore it from a backup, or release it again, to a database or --ledger FILE without such changes"
        raise InputError(_WHERE, "the ledger must be as it was written", f"changes at release {', '.join(changed)}", do)
    if found[0].state not in ("out", "replaced"):
        do = "Release it again" + ", without withdrawing it" * (found[0].state == "withdrawn")
        raise InputError(_WHERE, "certifies a release that is out", f"one that is {found[0].state}", do)
    return found[0]


def _fetched(place: str, folder: Path) -> Path:
    """Return the file of a place, of an object a copy; of what is there no more, where it would be."""
    if not is_url(place):
        return Path(place)
    store, path = Store(place, _WHERE), folder / place.rpartition("/")[2]
    if found := store.stored(place):
        store.get(found, path)
    elif store.under(place):
        path.mkdir()
    return path


@dataclass(frozen=True)
class _Asked:
    """The checks that are to be recounted, or were, and the columns that none of them is about, with the reason."""

    checks: list[Recounted]
    apart: dict[str, str]

    def of(self, batch: Any) -> _Asked:
        """Return what is asked of a release: of all its columns that are not apart at least how often they occur.

        Raises
        ------
        InputError
            When there is no such column.
        """
        apart = dict.fromkeys(special(batch), _NO_BYTES) | self.apart
        every = [name for name in batch.schema.names if name not in apart]
        if not every:
            must = "a column of the release must be known from elsewhere, so that k can be counted over it"
            raise InputError(_WHERE, must, ", ".join(f"{name} ({why})" for name, why in apart.items()))
        checks = self.checks
        if not any(one.check == "k-anonymity" and {*one.columns} == {*every} for one in checks):
            checks = [Recounted("k-anonymity", every, None, None, None, None, None), *checks]
        return _Asked(checks, {name: why for name, why in apart.items() if name in batch.schema.names})


def _file(path: Path, row: Mapping[str, Any], asked: _Asked) -> tuple[CertifiedRelease, _Asked]:
    verify = late("sqlmicro.verify")
    if path.is_dir() or {".json", ".ndjson"} & {*path.suffixes}:
        raise InputError(_WHERE, "certifies Parquet and CSV files, and tables", f"{path.name!r}", "Release it to one")
    if not path.is_file() or path.is_symlink():
        raise InputError(_WHERE, "the file must be where it was published", f"none there: {path.name!r}")
    with verify.regular(path) as file:
        digest = file_digest(file, "sha256").hexdigest()
    _refuse_changed(digest == row["file_hash"], row)
    return _held("file", path.name, digest, verify.batches(path), asked)


def _table(warehouse: Database, row: Mapping[str, Any], asked: _Asked) -> tuple[CertifiedRelease, _Asked]:
    database, *place = json.loads(row["place"])
    found = None if database else find_relation(warehouse, Name(warehouse.catalog, *place))
    if found is None or not found[1]:
        raise InputError(_WHERE, "certifies tables of the database that records them", f"{row['target']!r}",
                         "Name that database with --db, or release to a Parquet file")  # fmt: skip
    return _content(warehouse, found[0], row, asked)


def _anonymized(
    warehouse: Database, row: Mapping[str, Any], asked: _Asked, to: Path | None
) -> tuple[CertifiedRelease, _Asked]:
    """Certify the rows of a table that a series has anonymized, and write them to a file of their own."""
    import pyarrow as pa
    from pyarrow import parquet

    if to is None:
        must = "certifies of a table whose rows come of age those that are anonymized; nothing in the table tells which"
        do = "Give --rows-to FILE.parquet: these rows are written there, in an order of their own, to be handed on"
        raise InputError(_WHERE, must, "no file for them", do)
    _, *place = json.loads(row["place"])
    source = warehouse.source(".".join(ident(part) for part in place))
    found = late("sqlmicro.history.anonymized", "rows_of")(
        warehouse, lambda table: records_in(warehouse, table), row["series"], source
    )
    text = "SELECT {{ columns | idents }} FROM {{ r | ident }} ORDER BY ALL"
    rows = warehouse.rehearse("certified", statement(text, columns=found.released, r=found.relation))
    made, counted = _content(warehouse, rows, row, asked)
    parquet.write_table(pa.Table.from_batches(exported(warehouse.batches(rows))), to)
    # How many rows are raw is told to their holder, not to strangers, who would see by how many it grows every night.
    return replace(made, name=f"the anonymized rows of {row['target']}"), counted


def _content(
    warehouse: Database, relation: Name, row: Mapping[str, Any], asked: _Asked
) -> tuple[CertifiedRelease, _Asked]:
    """Certify a relation by its content."""
    described = warehouse.describe(relation)
    special = [name for name, kind in described if kind.partition("(")[0] not in _EXPORTED or kind.endswith("]")]
    if special:
        raise InputError(_WHERE, "a table must have columns that an export to Parquet gives back as they are",
                         ", ".join(special), "Release it to a Parquet file")  # fmt: skip
    content = content_of(warehouse, relation, described, described)
    _refuse_changed(sha256(content).hexdigest() == row["output_hash"], row)
    digest = late("sqlmicro.verify", "content")(exported(warehouse.batches(relation)))
    return _held("table", str(row["target"]), digest, exported(warehouse.batches(relation)), asked)


def exported(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the batches of a table in the types that an export to Parquet has."""
    import pyarrow as pa

    for batch in batches:
        fields = [(field.name, _kind(field.type)) for field in batch.schema]
        yield from pa.Table.from_batches([batch]).cast(pa.schema(fields)).to_batches() or [
            pa.RecordBatch.from_pylist([], schema=pa.schema(fields))
        ]


def _kind(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us" if kind.unit == "s" else kind.unit, kind.tz and "UTC")
    return kind


def _held(
    kind: Literal["file", "table"], name: str, digest: str, batches: Iterator[Any], asked: _Asked
) -> tuple[CertifiedRelease, _Asked]:
    """Return a release as it is certified, and what is recounted of it now: what it was when it was published."""
    first = next(batches, None)
    asked = asked if first is None else asked.of(first)
    records = () if first is None else chain([first], batches)
    promised = asked.checks
    rows, columns, found = late("sqlmicro.verify", "recount")(records, [as_json(one) for one in promised])
    made = [
        as_promised(replace(one, value=value, classes=sizes))
        for one, (value, sizes) in zip(promised, found, strict=True)
    ]
    changed = [
        one for one, before in zip(made, promised, strict=True)
        if before.value is not None and (one.value, one.classes) != (before.value, before.classes or one.classes)
    ]  # fmt: skip
    if columns is None or changed:
        got, do = "something else, or no records", "Release it again"
        raise InputError(_WHERE, "what is recounted must be what was published", got, do)
    return CertifiedRelease(name, kind, digest, rows, columns), replace(asked, checks=made)


def _refuse_changed(same: bool, row: Mapping[str, Any]) -> None:
    if not same and row["target_kind"] == IN_PLACE and row["series"]:
        must = f"the anonymized rows of {row['target']!r} must be as the last night left them"
        do = "Others have deleted or overwritten some since: run another night, which counts k again, and certify that"
        raise InputError(_WHERE, must, "other content", do)
    if not same:
        do = "Somebody has changed it since, or another version of DuckDB hashes it: release it again"
        raise InputError(_WHERE, f"{row['target']!r} must be as it was published", "other content", do)


def _attested(checks: Collection[list[Any]], recounted: list[Recounted]) -> list[Attested]:
    """Return the checks that were held to something, or are of several releases, and cannot be recounted."""
    labels = {
        f"{check} ({', '.join([*one.columns, *([one.sensitive] if one.sensitive else [])])})"
        for one in recounted if one.check != "t-closeness"
        for check in (one.check, *(["value frequency"] if one.sensitive is None else []))
    }  # fmt: skip
    why = {label: _why(label.partition(" (")[0]) for label, *_ in checks}
    return [
        Attested(label, value, threshold, passed, why[label])
        for label, value, threshold, passed in checks
        if (threshold is not None or label.partition(" (")[0] in ("union-k", "differences", "union-l"))
        and label not in labels and label != "rows" and not label.startswith("candidate ")
    ]  # fmt: skip


def _why(check: str) -> str:
    """Return why a check cannot be recounted from the records."""
    limit = of_audit(check)
    if limit and limit.of_table:
        return "measured against the source"
    if limit and limit.in_macros:
        return "not counted by sqlmicro.verify; the macros of sqlmicro measure it"
    return _WHY.get(check, "only the publisher can measure it")


def _plan(parameters: Parameters, own: Collection[str]) -> CertifiedPlan:
    steps = [
        CertifiedStep(
            step.method, [name for name in step.columns if name in own], step.nulls, step.promise,
            {name: _told(step.method, name, value, own) for name, value in step.settings.items()},
        )
        for step in parameters.steps
    ]  # fmt: skip
    return CertifiedPlan(steps, [name for name in parameters.kept if name in own])


def _told(method: str, name: str, value: Any, own: Collection[str]) -> Any:
    """Return a setting: numbers, choices, and columns that are released; words and paths are their owner's."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        return value if all(one in own for one in value) else _UNTOLD
    known = methods().get(method)
    choices = [one.choices for one in known.settings if one.name == name] if known else []
    return value if choices and value in choices[0] else _UNTOLD


def signature(data: bytes, key: str) -> bytes:
    """Return the signature of some bytes; a key with a passphrase asks for it on the terminal.

    Parameters
    ----------
    data : bytes
        What is signed.
    key : str
        The file of a private key, or that of a public key whose private half an agent has.

    Raises
    ------
    InputError, ParameterError
        When there is no ssh-keygen, or no such key, or it does not sign.
    """
    program, path = which("ssh-keygen"), Path(key).expanduser().absolute()
    if program is None:
        raise InputError(
            "certify, --key", "OpenSSH signs the certificate", "no ssh-keygen",
            "Install OpenSSH, or write a certificate that nobody vouches for with --unsigned",
        )  # fmt: skip
    if not path.is_file():
        got, do = f"no file {key!r}", "Make one with: ssh-keygen -t ed25519. Of a key in an agent, name the .pub file"
        raise ParameterError("certify, --key", "names an SSH key", got, do)
    words = [program, "-Y", "sign", "-n", late("sqlmicro.verify", "NAMESPACE"), "-f", str(path)]
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE"):
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise InputError("certify, --key", "must be a key that signs", f"from ssh-keygen: {said[-1]}")
    return done.stdout
