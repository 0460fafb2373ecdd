"""What is recorded of a release: a row in sqlmicro.releases, its audits, and the candidates it was chosen from."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlmicro.audits.registry import Check
from sqlmicro.audits.verdict import judge
from sqlmicro.database import risk_tables, triggers, unfinished
from sqlmicro.database.catalog import find_beside, find_relation, kind_of
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, QueryError
from sqlmicro.history import ledger, remembered, union
from sqlmicro.options.common import MachineOptions, OpenDatabase
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.report import Chain, ReleaseReport
from sqlmicro.publish.targets import SCHEMA, Target
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import as_json
from sqlmicro.system.stores import absolute

if TYPE_CHECKING:
    from sqlmicro.pipeline import Run

_RELEASES = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  id BIGINT PRIMARY KEY, source VARCHAR, people VARCHAR, schema_hash VARCHAR, unit VARCHAR,
  target VARCHAR, place VARCHAR, target_kind VARCHAR,
  method VARCHAR, parameters JSON, k BIGINT, k_released BIGINT,
  verdict VARCHAR, promised JSON, n BIGINT, suppressed BIGINT, il DOUBLE, loss_by_column JSON,
  started TIMESTAMP, seconds DOUBLE, versions JSON, key_source VARCHAR,
  key_fingerprint VARCHAR, input_hash VARCHAR, output_hash VARCHAR, file_hash VARCHAR, sql_hash VARCHAR,
  alone_because VARCHAR, remembered VARCHAR, series VARCHAR, epoch BIGINT, previous VARCHAR, entry VARCHAR,
  recounted JSON, consulted JSON, checks JSON)"""
RECORDED = (
    "id", "source", "people", "schema_hash", "unit", "target", "place", "target_kind",
    "method", "parameters", "k", "k_released", "verdict", "promised", "n", "suppressed", "il",
    "loss_by_column", "started", "seconds", "versions", "key_source", "key_fingerprint",
    "input_hash", "output_hash", "file_hash", "sql_hash",
    "alone_because", "remembered", "series", "epoch", "previous", "entry", "recounted", "consulted",
    "checks",
)  # fmt: skip
"""The columns of sqlmicro.releases."""
_INSERT = """INSERT INTO {{ r | ident }} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
  $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)"""
_LAST = "SELECT id, entry FROM {{ r | ident }} WHERE id IS NOT NULL ORDER BY id DESC LIMIT 1"
_CANDIDATES = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, candidate BIGINT, algorithm VARCHAR, pass VARCHAR, unification VARCHAR, distance DOUBLE,
  counts DOUBLE, sums DOUBLE, parts JSON, loss DOUBLE, groups BIGINT, dropped BIGINT, seconds DOUBLE, memory BIGINT,
  kept VARCHAR, released BOOLEAN)"""
_AUDITS = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, "check" VARCHAR, value DOUBLE, threshold DOUBLE, passed BOOLEAN)"""


class Kept(NamedTuple):
    """Where the ledger finds a release, and what tells whether its persons are remembered as they were."""

    place: str
    remembered: str | None


def record(
    warehouse: Database,
    run: Run,
    target: Target,
    report: ReleaseReport,
    audits: Mapping[int | None, Sequence[Check]],
    started: float,
    kept: Kept | None = None,
) -> None:
    """Write the release and its audits into the tables of schema sqlmicro; the key is in neither.

    `audits` are those of every file that was published, by the number of the candidate; None is the release.
    `kept` says what the ledger keeps of its persons, and where it is.
    """
    refuse_triggers(warehouse, target)
    releases, checks = target.record_table(warehouse, "releases"), target.record_table(warehouse, "audits")
    if releases.schema == SCHEMA:
        schema = Name("", releases.catalog, SCHEMA)
        warehouse.query("record", "CREATE SCHEMA IF NOT EXISTS {{ schema | ident }}", schema=schema)
    warehouse.query("record", target.record_definition(_RELEASES), name=releases)
    warehouse.query("record", _AUDITS, name=checks)
    before = warehouse.query("record", _LAST, r=releases)
    number = report.release = int(before[0][0]) + 1 if before else 1
    if isinstance(target, InPlace) and not target.on_server:
        gone = risk_tables.remove_of(warehouse, target.name)
        run.log.notes += [f"removed sqlmicro.{name}: the risks of records that are no longer there" for name in gone]
    if isinstance(target, InPlace) and not target.on_server and (target.file or warehouse.has_file):
        unfinished.note_not_purged(warehouse, releases.catalog, number)
    entry = _entry(warehouse, run, target, report, audits[None], started, before, kept)
    warehouse.insert("record", _INSERT, entry, r=releases)
    if report.printed.candidates:
        candidates = target.record_table(warehouse, "candidates")
        warehouse.query("record", target.record_definition(_CANDIDATES), name=candidates)
        _record_candidates(warehouse, candidates, number, report)
    for candidate, made in audits.items():
        of = "" if candidate is None else f"candidate {candidate}: "
        _add_checks(warehouse, checks, number, of, report.told_checks(made))


def _entry(
    warehouse: Database,
    run: Run,
    target: Target,
    report: ReleaseReport,
    checks: Sequence[Check],
    started: float,
    before: Sequence[tuple[object, ...]],
    kept: Kept | None,
) -> list[object]:
    """Return what is recorded of a release, with the hash that ties it to the entry before it."""
    assert report.key is not None and report.hashes is not None and report.release is not None  # on engines that record
    told, checks = report.printed, report.told_checks(checks)
    verdict = judge(checks, run.promises.apart, run.unit)
    promised = [{"k": one.k, "columns": one.columns} for one in verdict.promised]
    audited = [(check.label, check.value, check.threshold, check.passed) for check in checks]
    evidence = (report.parameters, promised, report.recounted, report.consulted, audited, report.versions)
    made, *found, versions = (json.dumps(as_json(one)) for one in evidence)
    previous = str(before[0][1]) if before else None
    at = datetime.fromtimestamp(started, UTC).replace(tzinfo=None, microsecond=0)
    place, digest = kept or Kept(ledger.place(target.name and warehouse.full(target.name), target.place), None)
    where = [report.source, run.source.people, ledger.schema_hash(run.source.columns), ledger.unit(run),
             target.label, place, report.target_kind, report.method]  # fmt: skip
    night = [report.series and report.series.name, report.series and report.series.epoch]
    by, of = [report.key.source, report.key.fingerprint], told.hashes
    assert of is not None
    hashes = [of.input_hash, of.output_hash, of.file_hash, of.sql_hash]
    said = [report.release, *where, verdict.k, str(at), report.alone_because, digest, *night]
    sealed = [verdict.k_released, verdict.status, report.rows, told.suppressed, *by, *hashes]
    entry = ledger.hashed(previous, [*said, *sealed], [made, *found, versions])
    report.chain = Chain(entry, previous)
    return [
        report.release,
        *where,
        made,
        verdict.k,
        verdict.k_released,
        verdict.status,
        found[0],
        report.rows,
        told.suppressed,
        told.losses.il,
        None if report.series else json.dumps(told.losses.loss_by_column),
        at,
        None if report.series else time.time() - started,
        versions,
        *by,
        *hashes,
        *(report.alone_because, digest, *night, previous, entry),
        *found[1:],
    ]


def _add_checks(warehouse: Database, table: Name, release: int, of: str, checks: Sequence[Check]) -> None:
    """Insert the checks of a published file, all in one statement; `of` says which file it is."""
    rows = ", ".join(f"($1, ${i}, ${i + 1}, ${i + 2}, ${i + 3})" for i in range(2, 4 * len(checks) + 2, 4))
    values = [value for c in checks for value in (of + c.label, c.value, c.threshold, c.passed)]
    warehouse.insert("record", "INSERT INTO {{ r | ident }} VALUES " + rows, [release, *values], r=table)


def refuse_triggers(warehouse: Database, target: Target) -> None:
    """Refuse triggers on the tables of records: they would run after the audit, and could change what was audited.

    Raises
    ------
    InputError
        With their names.
    """
    tables = [
        target.record_table(warehouse, name)
        for name in (*ledger.TABLES, *remembered.TABLES, "audits", "candidates", unfinished.TABLE)
    ]
    found = [table for table in find_beside(warehouse, tables) if table]
    if not found or triggers.none_in(warehouse, found[0].catalog):
        return
    for table in found:
        there = triggers.on(warehouse, table)
        if there:
            must = "the tables that releases are recorded in must have no triggers, which run after the audit"
            raise InputError(str(table), must, ", ".join(there), "Drop them")


def check(warehouse: Database, target: Target) -> None:
    """Refuse to publish where the table of releases is of another version of this program, or somebody else's.

    Raises
    ------
    InputError
        When it lacks columns, or has others.
    """
    refuse_other(warehouse, target.record_table(warehouse, "releases"))


def refuse_other(warehouse: Database, releases: Name) -> None:
    """Raise InputError where a table of releases, if it is there, has not the columns that this version records."""
    tables = {releases: {*RECORDED}, ledger.beside(releases, "memory"): {"release", *union.REMEMBERED["memory"]}}
    found = find_beside(warehouse, list(tables))
    if found[0] is None:
        return
    for (table, columns), there in zip(tables.items(), found, strict=True):
        others = {name for name, _ in warehouse.describe(table)} ^ columns if there else set()
        if not others:
            continue
        raise InputError(
            str(table),
            "must have the columns that this version records of a release",
            "another table: " + ", ".join(sorted(others)),
            "Rename it, to keep what it holds; a new one is made",
        )


def records_in(warehouse: Database, table: str) -> Name:
    """Return the name of a table of records: in the own database, or where `look_in` has found releases."""
    return ledger.beside(warehouse.releases or warehouse.full(Name("", SCHEMA, "releases")), table)


def look_in(warehouse: Database, relation: Name | None = None) -> None:
    """Have records read from the database of a release; of none, from an attached one where the own one has none.

    Raises
    ------
    InputError
        When several attached databases have recorded releases.
    """
    own = warehouse.full(Name("", SCHEMA, "releases"))
    if relation is not None:
        elsewhere = relation.catalog not in ("", warehouse.catalog) and relation.catalog not in warehouse.stagings
        warehouse.releases = _recorded_beside(warehouse, relation) if elsewhere else None
    elif find_relation(warehouse, own) is None:
        rows = warehouse.query("record", _LEDGERS, [warehouse.attached, SCHEMA])
        if len(rows) > 1:
            got = ", ".join(sorted({str(row[0]) for row in rows}))
            must = "releases must be recorded in one of the databases"
            raise InputError("--attach", must, f"several: {got}", "Attach one of them at a time")
        warehouse.releases = Name(*rows[0]) if rows else None


_LEDGERS = """SELECT database_name, schema_name, table_name FROM duckdb_tables()
WHERE list_contains(list_transform($1, lambda x: lower(x)), lower(database_name))
  AND (schema_name = $2 AND table_name = 'releases' OR table_name = $2 || '_releases') ORDER BY ALL"""


def _recorded_beside(warehouse: Database, relation: Name) -> Name:
    """Return the table of releases in the database of a release that is not the own one."""
    if kind_of(warehouse, relation.catalog) in ("mysql", "sqlite"):
        return relation._replace(table=f"{SCHEMA}_releases")
    return Name(relation.catalog, SCHEMA, "releases")


def release_of(warehouse: Database, table: str, relation: Name) -> int | None:
    """Return the number of the newest release that was published as this table or file, or None.

    From here on the records are read where it is recorded.

    Raises
    ------
    InputError
        When the table of releases is of another version, or somebody else's.
    """
    look_in(warehouse, relation)
    releases = records_in(warehouse, "releases")
    if find_relation(warehouse, releases) is None:
        return None
    refuse_other(warehouse, releases)
    names = {table, ".".join(relation[1:]), warehouse.label(relation)}
    found = warehouse.query(
        "record",
        "SELECT max(id) FROM {{ r | ident }} WHERE list_contains($1, target) OR place IN ($2, $3)",
        [sorted(names), ledger.place(relation, None), ledger.place(None, absolute(table))],
        r=releases,
    )
    return None if found[0][0] is None else int(found[0][0])


def add(
    db: str | OpenDatabase | None, release: int, rows: Sequence[Check], machine: MachineOptions, progress: Progress
) -> bool:
    """Add what an audit found to sqlmicro.audits, and tell whether that could be done.

    The same check with the same threshold is replaced. A file that cannot be written to, or that somebody else has
    open, stays as it is: measuring does not depend on it.
    """
    try:
        with open_warehouse(db, machine=machine, progress=progress) as warehouse, warehouse.transaction():
            checks = records_in(warehouse, "audits")
            for row in rows:
                key = [release, row.label, row.threshold]
                warehouse.insert(
                    "record",
                    'DELETE FROM {{ r | ident }} WHERE release = $1 AND "check" = $2 '
                    "AND threshold IS NOT DISTINCT FROM CAST($3 AS DOUBLE)",
                    key,
                    r=checks,
                )
                warehouse.insert(
                    "record",
                    "INSERT INTO {{ r | ident }} VALUES ($1, $2, $4, $3, $5)",
                    [*key, row.value, row.passed],
                    r=checks,
                )
    except (InputError, QueryError):
        return False
    return True


def _record_candidates(warehouse: Database, name: Name, number: int, report: ReleaseReport) -> None:
    for row in report.candidates:
        values = [
            number,
            *(row.candidate, row.algorithm, row.which, row.unification, row.distance, row.counts, row.sums),
            json.dumps(as_json(row.parts)),
            *(row.loss, row.groups, row.dropped, row.seconds, row.memory, row.kept),
            row.candidate == report.chosen,
        ]
        warehouse.insert(
            "record",
            "INSERT INTO {{ r | ident }} "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            values,
            r=name,
        )
