"""Publishing: a new table, a file, or in place; audited before it becomes visible, in one transaction.

Inside a transaction the new table is made and read back by the audits; what fails is rolled back. A file is written
beside its place, read back by the audits, and then renamed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlmicro import manifest, mysql, postgres, private, templates
from sqlmicro.audits import gate as gates
from sqlmicro.audits import k_anonymity
from sqlmicro.audits.runner import described
from sqlmicro.columns import Column, make_columns
from sqlmicro.content import content_of
from sqlmicro.errors import AuditFailed
from sqlmicro.interrupts import uninterrupted
from sqlmicro.pipeline import Run
from sqlmicro.recording import record
from sqlmicro.reports.text import some
from sqlmicro.source import file_format, reading
from sqlmicro.targets import Target, check_target, file_ending, refuse_other_types
from sqlmicro.templates import Name
from sqlmicro.warehouse import ORDER, Warehouse


@dataclass(frozen=True)
class Output:
    """A file to be published: the release, or one of the candidates that are kept beside it."""

    relation: Name
    target: Target
    candidate: int | None = None
    gated: tuple[dict[str, Any], ...] = ()
    records: Name | None = None
    order: str = field(default="", repr=False)


Audits = dict[int | None, list[dict[str, Any]]]
"""The audits of every file that is published, by the number of the candidate; None is the release."""


@dataclass
class Release:
    """A release that is ready to be published: the run that made it, where it goes, and what is reported of it."""

    run: Run
    target: Target
    report: dict[str, Any]
    started: float
    outputs: list[Output]
    audits: Audits = field(default_factory=dict)


def prepare(run: Run, target: Target, *, dry: bool, report: dict[str, Any], started: float) -> Release:
    """Return the current relation of a run as a release; candidates that are kept go with it, the release last.

    Raises
    ------
    InputError
        When the target cannot be.
    """
    if target.kind == "in place":
        refuse_other_types(run)
    outputs = [Output(relation, target.of_candidate(number), number) for number, relation in run.kept.items()]
    for number, kept in zip(run.kept, outputs, strict=True):
        check_target(run, kept.target, dry=dry)
        if not dry:
            report["candidates"][number - 1]["kept"] = kept.target.label
    outputs.append(Output(run.current, target))
    # Gates and types stage relations, which cannot be done in the transaction that publishes.
    outputs = [replace(ordered(run, output), gated=_gated(run, output.relation)) for output in outputs]
    return Release(run, target, report, started, outputs)


def publish(releases: Sequence[Release], *, dry: bool) -> None:
    """Publish releases of one warehouse, all of them or none, and note their audits; a dry run only audits.

    All go to tables, or all to files. Tables are made, audited and recorded in one transaction. Files are all written
    and audited before the first is put in its place.

    Raises
    ------
    AuditFailed
        When a file does not keep what its methods promise. Nothing is published.
    """
    with contextlib.ExitStack() as timers:
        for release in releases:
            timers.enter_context(release.run.timed("publish and audit"))
        if dry:
            _rehearse(releases)
        elif releases[0].target.kind == "file":
            _to_files(releases)
        else:
            _to_tables(releases)


def _to_tables(releases: Sequence[Release]) -> None:
    warehouse = releases[0].run.warehouse
    targets = [output.target for release in releases for output in release.outputs]
    with mysql.taken_back(warehouse, targets), warehouse.transaction():
        served = [release.target for release in releases if release.target.seen]
        postgres.lock(warehouse, [(target.name, target.seen) for target in served if target.name])
        for release in releases:
            run = release.run
            run.resume()
            for output in release.outputs:
                relation = _write_table(run, output)
                columns = _published_columns(run, relation, release.target)
                release.audits[output.candidate] = audit_release(run, output, relation, columns)
            release.report |= manifest.after(run, relation, columns)  # of the last output, which is the release
            record(run, release.target, release.report, release.audits, release.started)


def published_as(run: Run, *, in_place: bool) -> dict[str, list[Column]]:
    """Return the released columns by how their staged values become those that are published."""
    used = set(run.roles.used) - run.text
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
    return kinds


def ordered(run: Run, output: Output) -> Output:
    """Return an output with its records in the types that are published, and the key of their order."""
    kinds: dict[str, Any] = published_as(run, in_place=output.target.kind == "in place")
    into = f"{output.relation.table}_in_own_types"
    records = run.warehouse.run("publish/own_types.sql", into, view=True, released=output.relation, **kinds)
    names = [(column.staged, "") for column in _in_order(run)]
    order = run.key.order(run.plan, run.content, content_of(run.warehouse, records, names))
    return replace(output, records=records, order=order)


def _in_order(run: Run) -> list[Column]:
    """Return the released columns in the order of the source, new ones last."""
    released = set(run.roles.released)
    known = [column for column in run.source.columns if column in released]
    return known + [column for column in run.roles.released if column not in known]


def select_of(run: Run, output: Output) -> templates.Sql:
    """Return the SELECT of the records as they are published; the key of their order is bound."""
    run.warehouse.set_key(ORDER, output.order)
    return templates.render("publish/records.sql", records=output.records, columns=_in_order(run))


def _statements(run: Run, output: Output) -> list[tuple[str, dict[str, Any]]]:
    """Return the statements that make the release visible, as constant text and the names in it."""
    select, target = select_of(run, output), output.target
    if target.kind == "table":
        verb = "CREATE OR REPLACE TABLE" if target.overwrite else "CREATE TABLE"
        return [(verb + " {{ target | ident }} AS\n{{ select }}", {"target": target.name, "select": select})]
    if target.kind == "file":
        assert target.path is not None
        return [
            (
                "COPY (\n{{ select }}\n) TO {{ path | lit }} (" + _file_options(target) + ")",
                {"select": select, "path": str(target.path), "parts": target.partition_by},
            )
        ]
    used, released = set(run.quasi), set(run.roles.released)
    kept = [column for column in run.source.columns if column in released]
    emptied = [column for column in run.source.columns if column not in released]
    emptying: tuple[str, dict[str, Any]] = ("DELETE FROM {{ target | ident }}", {"target": target.name})
    if target.database == postgres.KIND:
        assert target.name is not None
        emptying = postgres.emptying(target.name)
    widened = [c for c in run.source.columns if c in used and c.family in ("integer", "decimal") and target.widen]
    return [
        *(
            (
                "ALTER TABLE {{ target | ident }} ALTER COLUMN {{ column | ident }} TYPE DOUBLE",
                {"target": target.name, "column": column.name},
            )
            for column in widened
        ),
        emptying,
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


def _file_options(target: Target) -> str:
    """Return how a file is written, from its ending."""
    if target.partition_by:
        return "FORMAT parquet, COMPRESSION zstd, PARTITION_BY ({{ parts | idents }})"
    ending = file_ending(target.label)
    kinds = {
        ".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER",
        ".json": "FORMAT json, ARRAY true", ".ndjson": "FORMAT json",
    }  # fmt: skip
    packed = {".gz": ", COMPRESSION gzip", ".zst": ", COMPRESSION zstd"}
    kind, _, packing = ending.removeprefix(".").partition(".")
    return kinds[f".{kind}"] + packed.get(f".{packing}", "")


def _write_table(run: Run, output: Output) -> Name:
    with run.warehouse.progress.stage("publish", run.rows_in):
        for text, names in _statements(run, output):
            run.warehouse.execute("publish", text, **names)
    assert output.target.name is not None
    return output.target.name


def _published_columns(run: Run, relation: Name, target: Target) -> list[Column]:
    """Describe the published relation: only a table changed in place keeps its collations."""
    collated = frozenset(c.name for c in run.source.columns if c.collated) if target.kind == "in place" else frozenset()
    return make_columns(run.warehouse.describe(relation), collated)


_GUARD_FILLED = """SELECT CASE WHEN count(*) = 0 THEN error({{ message | lit }}) END FROM {{ relation | ident }}"""
_GUARD_K = """SELECT CASE WHEN min(size) < {{ k }} THEN error('a record occurs too rarely: nothing is published') END
FROM (
{{ select }})"""


def _rehearse(releases: Sequence[Release]) -> None:
    """Audit the releases in staging; the statements that would publish them only go into the log.

    The log is a script that somebody may run. Inside its transaction it is first tested that the tables a kernel fills
    were filled, and that the release is what was promised: in an aborted transaction nothing is published.
    """
    warehouse = releases[0].run.warehouse
    guarded = []
    for release in releases:
        run = release.run
        run.resume()
        for output in release.outputs:
            into = "published" if output.candidate is None else f"published_candidate_{output.candidate}"
            rehearsed = warehouse.rehearse(into, select_of(run, output))
            columns = make_columns(warehouse.describe(rehearsed))
            release.audits[output.candidate] = audit_release(run, output, rehearsed, columns)
            by_name = {column.name: column for column in columns}
            guarded += [
                (claim.k, k_anonymity.statement(rehearsed, [by_name[column.name] for column in claim.columns]))
                for claim in run.claims
                if claim.promise == "record"
            ]
        release.report |= manifest.after(run, rehearsed, columns)
    warehouse.log_only("publish", "BEGIN TRANSACTION")
    for relation in warehouse.loaded:
        message = f"fill {relation} with the groups first, a script cannot make them: nothing is published"
        warehouse.log_only("publish", _GUARD_FILLED, relation=relation, message=message)
    for k, select in guarded:
        warehouse.log_only("publish", _GUARD_K, k=k, select=select)
    for release in releases:
        for output in release.outputs:
            for text, names in _statements(release.run, output):
                warehouse.log_only("publish", text, **names)
    warehouse.log_only("publish", "COMMIT")


def _to_files(releases: Sequence[Release]) -> None:
    """Write beside the targets, audit what can be read back, then rename over the targets, each release last."""
    warehouse = releases[0].run.warehouse
    written: list[tuple[Path, Path]] = []
    with contextlib.ExitStack() as folders:
        for release in releases:
            run = release.run
            run.resume()
            paths = [output.target.path for output in release.outputs if output.target.path is not None]
            folder = folders.enter_context(private.folder(paths[0].parent))
            for output, path in zip(release.outputs, paths, strict=True):
                beside = folder / f"{len(written)}{file_ending(output.target.label)}"
                written.append((beside, path))
                relation = _write_file(run, output, beside)
                columns = make_columns(warehouse.describe(relation))
                release.audits[output.candidate] = audit_release(run, output, relation, columns)
                for part in (beside, *beside.rglob("*")):
                    _fsync(part)
            release.report |= manifest.after(run, relation, columns, beside)
        with uninterrupted(), contextlib.ExitStack() as stack:
            if not warehouse.in_memory:
                stack.enter_context(warehouse.transaction())
                for release in releases:
                    record(release.run, release.target, release.report, release.audits, release.started)
            for beside, path in written:
                _open_to_others(beside)
                beside.replace(path)
            warehouse.committed = True
        for folder in {path.parent for _, path in written}:
            _fsync(folder)


def _write_file(run: Run, output: Output, path: Path) -> Name:
    """Write a file that nobody else can read yet, and return a relation that reads it."""
    warehouse = run.warehouse
    ((text, names),) = _statements(run, output)
    with warehouse.progress.stage("publish", run.rows_in):
        warehouse.execute("publish", text, **{**names, "path": str(path)})
    path.chmod(0o700 if path.is_dir() else 0o600)
    # As text: what a reader of the file sees, whatever types a reader would guess.
    options: dict[str, Any] = {"all_varchar": True, "header": True} if file_format(str(path)) == "csv" else {}
    if path.is_dir():
        files, own = str(path / "**" / "*.parquet"), {"hive_partitioning": True, "hive_types_autocast": False}
    else:
        files, own = str(path), {"hive_partitioning": False}
    template, params = reading([files], options, **own)
    return warehouse.run(template, "read_back", view=True, **params)


def _open_to_others(path: Path) -> None:
    """Give a file, or a folder and all in it, the mode it would have had from the start."""
    mask = _umask()
    for part in (path, *path.rglob("*")):
        part.chmod((0o777 if part.is_dir() else 0o666) & ~mask)


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


def _gated(run: Run, staged: Name) -> tuple[dict[str, Any], ...]:
    """Return what the gates of the job measured: of the release in their step, of another candidate now.

    They stage relations, which cannot be done in the transaction that publishes.
    """
    if staged == run.current:
        return tuple(row for gate in run.gates for row in gate["rows"])
    return tuple(row for gate in run.gates for row in gates.rows(run, staged, gate["values"], gate["where"]))


def audit_release(run: Run, output: Output, relation: Name, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Hold what was published to its promises: rows, what the gates found, and what every step claims of its columns.

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
    expected = warehouse.count(output.relation)
    audits.append(_check("rows", (), overall.records, expected, passed=overall.records == expected))
    audits += output.gated
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
            "; ".join(described(check) for check in failed),
            _why_failed(run),
        )
    return audits


def _why_failed(run: Run) -> str:
    if len(run.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    return "Nothing was published. If few values are missing, choose another --nulls"


def warnings(run: Run, report: dict[str, Any]) -> list[str]:
    """Return what the reader must know of a release that is less than k-anonymous as a whole."""
    wanted, over = max(claim.k for claim in run.claims), some(report["quasi"])
    if not report["quasi"]:
        return ["no column that was worked on is a quasi-identifier, so no k was measured; see: sqlmicro audit"]
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
    return {
        "check": name, "columns": names, "value": value, "threshold": threshold, "at_least": True, "passed": passed
    }  # fmt: skip


def _value_frequencies(warehouse: Warehouse, relation: Name, columns: Sequence[Column], k: int) -> list[dict[str, Any]]:
    """Check that the rarest value of every column occurs at least k times; NULL counts as a value."""
    floats = [column for column in columns if column.family == "float"]
    others = [column for column in columns if column.family != "float"]
    rows = warehouse.rows("audit/value_counts.sql", relation=relation, floats=floats, others=others)
    by_name = {column.name: column for column in columns}
    return [_check("value frequency", [by_name[name]], int(rarest or 0), k) for name, rarest in rows]
