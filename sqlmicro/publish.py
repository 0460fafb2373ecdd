"""Publishing: a new table, a file, or in place; audited before it becomes visible, in one transaction.

Inside a transaction the new table is made and read back by the audits; what fails is rolled back. A file is written
beside its place, read back by the audits, and then renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlmicro import templates
from sqlmicro.audits import k_anonymity
from sqlmicro.columns import Column, make_columns
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.pipeline import Run
from sqlmicro.reports.text import some
from sqlmicro.source import Source, file_format, find_relation, reading, schema_exists, target_name
from sqlmicro.templates import Name
from sqlmicro.warehouse import Warehouse

_SCHEMA = "sqlmicro"
_LONGEST_NAME = 255
_FILES = (".parquet", ".csv", ".csv.gz", ".csv.zst")
_RELEASES = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  id BIGINT PRIMARY KEY, source VARCHAR, target VARCHAR, method VARCHAR, parameters JSON, k BIGINT, n BIGINT,
  suppressed BIGINT, il DOUBLE, started TIMESTAMP, seconds DOUBLE, versions JSON)"""
_CANDIDATES = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, candidate BIGINT, algorithm VARCHAR, pass VARCHAR, distance DOUBLE, counts DOUBLE, sums DOUBLE,
  loss DOUBLE, groups BIGINT, dropped BIGINT, seconds DOUBLE, released BOOLEAN)"""
_AUDITS = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  release BIGINT, "check" VARCHAR, value DOUBLE, threshold DOUBLE, passed BOOLEAN)"""


@dataclass(frozen=True)
class Target:
    """Where a release goes."""

    kind: Literal["table", "file", "in place"]
    label: str
    name: Name | None = None
    path: Path | None = None
    overwrite: bool = False
    widen: bool = False


def choose_target(
    source: Source, *, into: str | None, to: str | None, in_place: bool, overwrite: bool = False, widen: bool = False
) -> Target:
    """Return the one target that the options name; by default the table `<table>_anonymized`.

    Raises
    ------
    ParameterError
        When more than one is named, or a target cannot be.
    """
    named = [
        option
        for option, given in (("--into", into is not None), ("--to", to is not None), ("--in-place", in_place))
        if given
    ]
    if len(named) > 1:
        raise ParameterError("target", "a release goes to one place", " and ".join(named), "Choose one of them")
    if widen and not in_place:
        raise ParameterError(
            "--widen",
            "goes with --in-place",
            "another target",
            "A new table or file has means in full precision anyway",
        )
    if to is not None:
        if not to.lower().endswith(_FILES):
            raise ParameterError("--to", f"must be a path that ends in {', '.join(_FILES)}", repr(to))
        return Target("file", to, path=Path(to).absolute(), overwrite=overwrite)
    if in_place:
        if not source.is_table:
            raise InputError(
                "--in-place", "needs a table of the database", "a view or a file", "Use --into NAME or --to FILE"
            )
        return Target("in place", source.label, name=source.relation, widen=widen)
    if into is not None:
        return Target("table", into, name=target_name(into, "--into"), overwrite=overwrite)
    if source.is_file:
        stem = Path(source.label).name.partition(".")[0].replace("*", "").strip("_- ") or "records"
        name = Name("", "", f"{stem}_anonymized")
    else:
        name = source.relation._replace(table=f"{source.relation.table}_anonymized")
    return Target("table", str(name).removeprefix("main."), name=name, overwrite=overwrite)


def check_target(run: Run, target: Target, *, dry: bool) -> None:
    """Refuse a target that exists, or a table that cannot be changed in place, before any work is done.

    Raises
    ------
    InputError
        With the reason and the way out. In a dry run an existing target is only noted.
    """
    if target.kind == "in place":
        _check_in_place(run, target)
        return
    option = "--to" if target.kind == "file" else "--into"
    exists = _existing(run, target)
    if not exists or (target.overwrite and exists != "a view"):
        return
    way = "Choose another name" + ("" if exists == "a view" else ", or add --overwrite")
    if not dry:
        raise InputError(option, f"{target.label!r} must not exist yet", exists, way)
    run.notes.append(f"{target.label!r} exists already: publishing will need another name or --overwrite")


def _existing(run: Run, target: Target) -> str:
    """Return what is in the target's place already: "a file", "a table", "a view", or nothing."""
    itself = "a release does not replace its own source this way"
    if target.path is not None:
        if not target.path.parent.is_dir():
            raise InputError("--to", f"the folder of {target.label!r} must exist", "none", "Make it first")
        if run.source.is_file and target.path in run.source.files():
            raise InputError("--to", itself, repr(target.label), "Choose another name")
        if len(target.path.name.encode()) > _LONGEST_NAME:
            raise InputError("--to", f"a file name has at most {_LONGEST_NAME} bytes", str(len(target.path.name)))
        return "a file" if target.path.exists() else ""
    assert target.name is not None
    if target.name.schema.lower() == _SCHEMA:
        raise InputError("--into", f"must not be in schema {_SCHEMA}, which holds releases and audits", target.label)
    if target.name.schema and not schema_exists(run.warehouse, target.name):
        raise InputError("--into", f"schema {target.name.schema!r} must exist", "none", "Make it with CREATE SCHEMA")
    found = find_relation(run.warehouse, target.name)
    if found and found[0] == run.source.relation:
        raise InputError("--into", itself, repr(target.label), "Use --in-place")
    return "" if found is None else "a table" if found[1] else "a view"


def _check_in_place(run: Run, target: Target) -> None:
    """Refuse a table whose definition forbids what would be written into it."""
    relation = run.source.relation
    names = [relation.catalog, relation.schema, relation.table]
    here = "WHERE database_name = CASE WHEN $1 = '' THEN current_database() ELSE $1 END AND schema_name = $2 AND "
    found = run.warehouse.query(
        "catalog",
        "SELECT constraint_type, constraint_column_names FROM duckdb_constraints() " + here + "table_name = $3",
        names,
    )
    indexes = run.warehouse.query(
        "catalog", "SELECT index_name, is_unique, sql FROM duckdb_indexes() " + here + "table_name = $3", names
    )
    used = {column.name for column in run.quasi}
    emptied = {column.name for column in run.roles.dropped}
    for kind, columns in found:
        if kind in ("PRIMARY KEY", "UNIQUE") and used & set(columns):
            _refuse_in_place(f"no column of a {kind} can be anonymized: its values must stay distinct", columns)
        if kind in ("PRIMARY KEY", "NOT NULL") and emptied & set(columns):
            _refuse_in_place(f"a dropped column is emptied, which a {kind} forbids", emptied & set(columns))
    if any(unique for _, unique, _ in indexes):
        _refuse_in_place("the table must have no unique index", [name for name, unique, _ in indexes if unique])
    if target.widen and (indexes or any(kind == "CHECK" for kind, _ in found)):
        _refuse_in_place(
            "--widen changes types, which an index or a CHECK on the table forbids",
            [name for name, _, _ in indexes] or ["a CHECK"],
        )
    children = run.warehouse.query(
        "catalog",
        "SELECT table_name FROM duckdb_constraints() "
        + here
        + "constraint_type = 'FOREIGN KEY' AND referenced_table = $3 AND table_name <> $3",
        names,
    )
    if children:
        _refuse_in_place("no other table may refer to it by a foreign key", [str(row[0]) for row in children])
    definition = run.warehouse.query("catalog", "SELECT sql FROM duckdb_tables() " + here + "table_name = $3", names)
    if "GENERATED ALWAYS AS" in str(definition[0][0]).upper():
        _refuse_in_place("the table must have no generated columns", ["at least one"])


def _refuse_in_place(must: str, what: Iterable[str]) -> None:
    raise InputError("--in-place", must, ", ".join(sorted(what)), "Use --into NAME, or --keep or --drop the column")


def publish(run: Run, target: Target, *, dry: bool, report: dict[str, Any], started: float) -> list[dict[str, Any]]:
    """Publish the current relation of a run and return its audits; in a dry run only the audits are made.

    Raises
    ------
    AuditFailed
        When the release does not keep what its methods promise. Nothing is published.
    """
    with run.timed("publish and audit"):
        if dry:
            return _rehearse(run, target)
        if target.kind == "file":
            return _to_file(run, target, report, started)
        with run.warehouse.transaction():
            relation = _write_table(run, target)
            audits = audit_release(run, relation, _published_columns(run, relation, target))
            _record(run, target, report, audits, started)
        return audits


def _select(run: Run, target: Target) -> templates.Sql:
    """Return the SELECT of the records as they are published."""
    used = set(run.quasi)
    in_place = target.kind == "in place"
    kinds: dict[str, list[Column]] = {
        "plain": [],
        "dates": [],
        "timestamps": [],
        "timestamps_with_zone": [],
        "casts": [],
    }
    for column in run.roles.released:
        kind = "plain"
        if column in used and column.family in ("date", "timestamp", "timestamptz"):
            kind = {"date": "dates", "timestamp": "timestamps", "timestamptz": "timestamps_with_zone"}[column.family]
        elif (column in used and column.family == "other") or (in_place and column.family == "enum"):
            kind = "casts"
        kinds[kind].append(column)
    released = set(run.roles.released)
    ordered = [column for column in run.source.columns if column in released]
    return templates.render("publish/records.sql", released=run.current, ordered=ordered, **kinds)


def _statements(run: Run, target: Target) -> list[tuple[str, dict[str, Any]]]:
    """Return the statements that make the release visible, as constant text and the names in it."""
    select = _select(run, target)
    if target.kind == "table":
        verb = "CREATE OR REPLACE TABLE" if target.overwrite else "CREATE TABLE"
        return [(verb + " {{ target | ident }} AS\n{{ select }}", {"target": target.name, "select": select})]
    if target.kind == "file":
        assert target.path is not None
        options = "FORMAT parquet, COMPRESSION zstd" if file_format(target.label) == "parquet" else "FORMAT csv, HEADER"
        return [
            (
                "COPY (\n{{ select }}\n) TO {{ path | lit }} (" + options + ")",
                {"select": select, "path": str(target.path)},
            )
        ]
    used, released = set(run.quasi), set(run.roles.released)
    kept = [column for column in run.source.columns if column in released]
    emptied = [column for column in run.source.columns if column not in released]
    widened = [c for c in run.source.columns if c in used and c.family in ("integer", "decimal") and target.widen]
    return [
        *(
            (
                "ALTER TABLE {{ target | ident }} ALTER COLUMN {{ column | ident }} TYPE DOUBLE",
                {"target": target.name, "column": column.name},
            )
            for column in widened
        ),
        ("DELETE FROM {{ target | ident }}", {"target": target.name}),
        (
            "INSERT INTO {{ target | ident }} ({{ columns | idents }})\n"
            "SELECT *{% for column in emptied %}, NULL{% endfor %} FROM (\n{{ select }})",
            {
                "target": target.name,
                "columns": [c.name for c in (*kept, *emptied)],
                "emptied": emptied,
                "select": select,
            },
        ),
    ]


def _write_table(run: Run, target: Target) -> Name:
    with run.warehouse.progress.stage("publish", run.rows_in):
        for text, names in _statements(run, target):
            run.warehouse.execute("publish", text, **names)
    assert target.name is not None
    return target.name


def _published_columns(run: Run, relation: Name, target: Target) -> list[Column]:
    """Describe the published relation: only a table changed in place keeps its collations."""
    collated = frozenset(c.name for c in run.source.columns if c.collated) if target.kind == "in place" else frozenset()
    return make_columns(run.warehouse.describe(relation), collated)


_GUARD_FILLED = """SELECT CASE WHEN count(*) = 0 THEN error({{ message | lit }}) END FROM {{ relation | ident }}"""
_GUARD_K = """SELECT CASE WHEN min(size) < {{ k }} THEN error('a record occurs too rarely: nothing is published') END
FROM (
{{ select }})"""


def _rehearse(run: Run, target: Target) -> list[dict[str, Any]]:
    """Audit the release in staging; the statements that would publish it only go into the log.

    The log is a script that somebody may run. Inside its transaction it is first tested that the tables a kernel fills
    were filled, and that the release is what was promised: in an aborted transaction nothing is published.
    """
    warehouse = run.warehouse
    rehearsed = warehouse.rehearse("published", _select(run, target))
    columns = make_columns(warehouse.describe(rehearsed))
    audits = audit_release(run, rehearsed, columns)
    warehouse.log_only("publish", "BEGIN TRANSACTION")
    for relation in warehouse.loaded:
        message = f"fill {relation} with the groups first, a script cannot make them: nothing is published"
        warehouse.log_only("publish", _GUARD_FILLED, relation=relation, message=message)
    by_name = {column.name: column for column in columns}
    for claim in run.claims:
        if claim.promise == "record":
            select = k_anonymity.statement(rehearsed, [by_name[column.name] for column in claim.columns])
            warehouse.log_only("publish", _GUARD_K, k=claim.k, select=select)
    for text, names in _statements(run, target):
        warehouse.log_only("publish", text, **names)
    warehouse.log_only("publish", "COMMIT")
    return audits


def _to_file(run: Run, target: Target, report: dict[str, Any], started: float) -> list[dict[str, Any]]:
    """Write beside the target, audit what can be read back, then rename over the target."""
    assert target.path is not None
    suffix = next(ending for ending in _FILES if target.label.lower().endswith(ending))
    beside = target.path.with_name(f".sqlmicro-{secrets.token_hex(6)}{suffix}")
    warehouse = run.warehouse
    try:
        ((text, names),) = _statements(run, target)
        with warehouse.progress.stage("publish", run.rows_in):
            warehouse.execute("publish", text, **{**names, "path": str(beside)})
        beside.chmod(0o600)
        # As text: what a reader of the file sees, whatever types a reader would guess.
        options = {"all_varchar": True, "header": True} if file_format(target.label) == "csv" else {}
        template, params = reading([str(beside)], options)
        relation = warehouse.run(template, "read_back", view=True, **params)
        audits = audit_release(run, relation, make_columns(warehouse.describe(relation)))
        with contextlib.ExitStack() as stack:
            if not warehouse.in_memory:
                stack.enter_context(warehouse.transaction())
                _record(run, target, report, audits, started)
            _fsync(beside)
            beside.replace(target.path)
            target.path.chmod(0o666 & ~_umask())
    finally:
        beside.unlink(missing_ok=True)
    return audits


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def audit_release(run: Run, relation: Name, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Hold the release to its promises: rows, and what every step claims of its columns.

    Returns
    -------
    list of dict
        `check`, `value`, `threshold` (None where nothing is promised), `passed`; the first is the k of the release,
        over every column that some step worked on.

    Raises
    ------
    AuditFailed
        When a promise is broken.
    """
    warehouse = run.warehouse
    by_name = {column.name: column for column in columns}

    def published(found: Sequence[Column]) -> list[Column]:
        return [by_name[column.name] for column in found]

    overall = k_anonymity.class_sizes(warehouse, relation, published(run.quasi))
    audits = [{**_check("k-anonymity", run.quasi, overall.k, None), "histogram": overall.histogram}]
    expected = warehouse.count(run.current)
    audits.append(_check("rows", (), overall.records, expected, passed=overall.records == expected))
    audits += run.gates
    for claim in run.claims:
        if claim.promise == "record":
            if set(claim.columns) == set(run.quasi):
                threshold = max(claim.k, audits[0]["threshold"] or 0)
                audits[0] |= _check("k-anonymity", run.quasi, overall.k, threshold)
                continue
            sizes = k_anonymity.class_sizes(warehouse, relation, published(claim.columns))
            audits.append(_check("k-anonymity", claim.columns, sizes.k, claim.k))
        elif claim.promise == "column":
            audits += _value_frequencies(warehouse, relation, published(claim.columns), claim.k)
    failed = [check for check in audits if not check["passed"]]
    if failed:
        raise AuditFailed(
            "audit",
            "the release must keep what its methods promise",
            "; ".join(f"{label(check)} = {check['value']}, needed {check['threshold']}" for check in failed),
            _why_failed(run),
        )
    return audits


def _why_failed(run: Run) -> str:
    if len(run.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    return "Nothing was published. If few values are missing, choose another --nulls"


def label(check: dict[str, Any]) -> str:
    """Return how a check is called in sqlmicro.audits.

    >>> label({"check": "k-anonymity", "columns": ["age", "sex"]})
    'k-anonymity (age, sex)'
    """
    return f"{check['check']} ({', '.join(check['columns'])})" if check["columns"] else str(check["check"])


def warnings(run: Run, report: dict[str, Any]) -> list[str]:
    """Return what the reader must know of a release that is less than k-anonymous as a whole."""
    wanted, over = max(claim.k for claim in run.claims), some(report["quasi"])
    times = "once" if report["k"] == 1 else f"{report['k']} times"
    if report["k"] < wanted:
        return [
            f"the record is not k-anonymous: over {over} the rarest combination occurs {times}, k = {wanted} was asked "
            "for; what is promised holds for each column, or for the columns of each step, alone"
        ]
    if any(claim.promise != "record" for claim in run.claims):
        return [
            f"the record is not k-anonymous by promise; over {over} the rarest combination happens to occur {times}"
        ]
    return []


def _check(
    name: str, columns: Sequence[Column], value: int, threshold: int | None, passed: bool | None = None
) -> dict[str, Any]:
    if passed is None:
        passed = threshold is None or value >= threshold
    names = [column.name for column in columns]
    return {"check": name, "columns": names, "value": value, "threshold": threshold, "passed": passed}


def _value_frequencies(warehouse: Warehouse, relation: Name, columns: Sequence[Column], k: int) -> list[dict[str, Any]]:
    """Check that the rarest value of every column occurs at least k times; NULL counts as a value."""
    floats = [column for column in columns if column.family == "float"]
    others = [column for column in columns if column.family != "float"]
    rows = warehouse.rows("audit/value_counts.sql", relation=relation, floats=floats, others=others)
    by_name = {column.name: column for column in columns}
    return [_check("value frequency", [by_name[name]], int(rarest or 0), k) for name, rarest in rows]


def _record(run: Run, target: Target, report: dict[str, Any], audits: list[dict[str, Any]], started: float) -> None:
    """Write the release and its audits into the tables of schema sqlmicro; the key is in neither."""
    warehouse = run.warehouse
    catalog = target.name.catalog if target.name else ""
    releases, checks = Name(catalog, _SCHEMA, "releases"), Name(catalog, _SCHEMA, "audits")
    warehouse.query("record", "CREATE SCHEMA IF NOT EXISTS {{ schema | ident }}", schema=Name(catalog, "", _SCHEMA))
    warehouse.query("record", _RELEASES, name=releases)
    warehouse.query("record", _AUDITS, name=checks)
    number = int(warehouse.query("record", "SELECT coalesce(max(id), 0) + 1 FROM {{ r | ident }}", r=releases)[0][0])
    report["release"] = number
    warehouse.insert(
        "record",
        "INSERT INTO {{ r | ident }} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        [
            number,
            report["source"],
            target.label,
            report["method"],
            json.dumps(report["parameters"]),
            audits[0]["value"],
            report["rows"],
            report["suppressed"],
            report["IL"],
            datetime.fromtimestamp(started, UTC).replace(tzinfo=None),
            time.time() - started,
            json.dumps(report["versions"]),
        ],
        r=releases,
    )
    if report["candidates"]:
        _record_candidates(warehouse, Name(catalog, _SCHEMA, "candidates"), number, report)
    for check in audits:
        warehouse.insert(
            "record",
            "INSERT INTO {{ r | ident }} VALUES ($1, $2, $3, $4, $5)",
            [number, label(check), check["value"], check["threshold"], check["passed"]],
            r=checks,
        )


def _record_candidates(warehouse: Warehouse, name: Name, number: int, report: dict[str, Any]) -> None:
    warehouse.query("record", _CANDIDATES, name=name)
    shown = ("candidate", "algorithm", "pass", "distance", "counts", "sums", "loss", "groups", "dropped", "seconds")
    for candidate in report["candidates"]:
        values = [number, *(candidate[key] for key in shown), candidate["candidate"] == report["chosen"]]
        warehouse.insert(
            "record",
            "INSERT INTO {{ r | ident }} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            values,
            r=name,
        )
