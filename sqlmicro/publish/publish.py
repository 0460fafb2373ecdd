"""Publishing: a new table, a file, or in place; audited before it becomes visible, in one transaction.

Inside a transaction the new table is made and read back by the audits; what fails is rolled back. A file is written
beside its place, read back by the audits, and then renamed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlmicro.audits import gate as gates
from sqlmicro.audits import k_anonymity
from sqlmicro.audits.row import AuditRow, Check
from sqlmicro.database import postgres, templates
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.content import content_of
from sqlmicro.database.source import file_format, reading
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import ORDER, Warehouse
from sqlmicro.errors import AuditFailed
from sqlmicro.pipeline import Run
from sqlmicro.publish import in_place, manifest, mysql, placing, published_types
from sqlmicro.publish.recording import record
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.publish.targets import Target, check_target, file_ending
from sqlmicro.system import moves, scratch
from sqlmicro.system.moves import Move


@dataclass(frozen=True)
class Output:
    """A file to be published: the release, or one of the candidates that are kept beside it."""

    relation: Name
    target: Target
    candidate: int | None = None
    gated: tuple[AuditRow, ...] = ()
    records: Name | None = None
    order: str = field(default="", repr=False)


@dataclass(frozen=True)
class Audited:
    """The checks of a file that is published, and the classes over all columns that an attacker may know."""

    checks: list[Check]
    sizes: k_anonymity.ClassSizes | None


@dataclass
class Release:
    """A release that is ready to be published: the run that made it, where it goes, and what is reported of it."""

    run: Run
    target: Target
    report: ReleaseReport
    started: float
    outputs: list[Output]
    audits: dict[int | None, Audited] = field(default_factory=dict)
    """Those of every file that is published, by the number of the candidate; None is the release."""

    @property
    def checks(self) -> dict[int | None, list[Check]]:
        """The checks of every file."""
        return {number: made.checks for number, made in self.audits.items()}


def prepare(run: Run, target: Target, *, dry: bool, report: ReleaseReport, started: float) -> Release:
    """Return the current relation of a run as a release; candidates that are kept go with it, the release last.

    Raises
    ------
    InputError
        When the target cannot be.
    """
    if target.kind == "in place":
        in_place.refuse_other_types(run)
    outputs = [Output(relation, target.of_candidate(number), number) for number, relation in run.kept.items()]
    for number, kept in zip(run.kept, outputs, strict=True):
        check_target(run, kept.target, run.quasi, dry=dry)
        if not dry:
            report.candidates[number - 1] = replace(report.candidates[number - 1], kept=kept.target.label)
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
    changed = [release.run for release in releases if release.target.kind == "in place"]
    comments = in_place.comments(changed)
    with mysql.taken_back(warehouse, targets), warehouse.transaction(releasing=True):
        in_place.hold(changed, comments)
        for release in releases:
            run = release.run
            run.resume()
            for output in release.outputs:
                relation = _write_table(run, output)
                columns = _published_columns(run, relation, release.target)
                release.audits[output.candidate] = audit_release(run, output, relation, columns)
            _read_back(release, relation, columns)  # of the last output, which is the release
            record(run, release.target, release.report, release.checks, release.started)
        in_place.look_again(changed)


def _read_back(release: Release, relation: Name, columns: Sequence[Column], path: Path | None = None) -> None:
    """Report of what was published: its hashes, and the types that are not those of the source."""
    report = release.report
    report.hashes = manifest.after(release.run, report.hashes, relation, columns, path)
    report.types_changed = published_types.changes(release.run, columns, release.target)


def published_as(run: Run, *, in_place: bool, types: Mapping[Column, str] | None = None) -> dict[str, list[Column]]:
    """Return the released columns by how their staged values become those that are published, some of another type."""
    used = set(run.roles.used) - run.text
    kinds: dict[str, list[Column]] = {
        "plain": [],
        "dates": [],
        "timestamps": [],
        "timestamps_with_zone": [],
        "casts": [],
    }
    types = types or {}
    for column in run.roles.released:
        kind = "plain"
        if column in types:
            kind, column = "casts", replace(column, type=types[column])
        elif column in used and column.family in ("date", "timestamp", "timestamptz"):
            kind = {"date": "dates", "timestamp": "timestamps", "timestamptz": "timestamps_with_zone"}[column.family]
        elif (column in used and column.family == "other") or (in_place and column.family == "enum"):
            kind = "casts"
        kinds[kind].append(column)
    return kinds


def ordered(run: Run, output: Output) -> Output:
    """Return an output with its records in the types that are published, and the key of their order."""
    types = published_types.of_release(run, output.relation, output.target)
    kinds: dict[str, Any] = {**published_as(run, in_place=output.target.kind == "in place", types=types)}
    into = f"{output.relation.table}_in_own_types"
    records = run.warehouse.run("publish/own_types.sql", into, view=True, released=output.relation, **kinds)
    names = [(column.staged, "") for column in _in_order(run)]
    order = run.key.order(run.recipe, run.content, content_of(run.warehouse, records, names))
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


_ONLY_COLUMN = """SELECT coalesce(CAST({{ column | ident }} AS VARCHAR), '') AS {{ column | ident }} FROM (
{{ select }})"""


def _statements(run: Run, output: Output) -> list[tuple[str, dict[str, Any]]]:
    """Return the statements that make the release visible, as constant text and the names in it."""
    select, target = select_of(run, output), output.target
    if target.kind == "table":
        verb = "CREATE OR REPLACE TABLE" if target.overwrite else "CREATE TABLE"
        return [(verb + " {{ target | ident }} AS\n{{ select }}", {"target": target.name, "select": select})]
    if target.kind == "file":
        assert target.path is not None
        if len(run.roles.released) == 1 and file_ending(target.label).startswith(".csv"):
            # A missing value alone would be a blank line, which readers skip: it is written as "".
            only = {"column": run.roles.released[0].name, "select": select}
            select = templates.statement(_ONLY_COLUMN, **only)
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
        _read_back(release, rehearsed, columns)
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
    planned: dict[int, list[Move]] = {}
    with contextlib.ExitStack() as folders:
        for number, release in enumerate(releases):
            run = release.run
            run.resume()
            planned[number] = []
            paths = [output.target.path for output in release.outputs if output.target.path is not None]
            folder = folders.enter_context(scratch.folder(paths[0].parent))
            for output, path in zip(release.outputs, paths, strict=True):
                beside = folder / f"{number}_{len(planned[number])}{file_ending(output.target.label)}"
                relation = _write_file(run, output, beside)
                columns = make_columns(warehouse.describe(relation))
                release.audits[output.candidate] = audit_release(run, output, relation, columns)
                placing.to_disk(beside)
                planned[number].append(moves.planned(beside, path))
            _read_back(release, relation, columns, beside)
        placing.place(releases, planned)


def _write_file(run: Run, output: Output, path: Path) -> Name:
    """Write a file that nobody else can read yet, and return a relation that reads it."""
    warehouse = run.warehouse
    ((text, names),) = _statements(run, output)
    with warehouse.progress.stage("publish", run.rows_in):
        warehouse.execute("publish", text, **{**names, "path": str(path)})
    path.chmod(0o700 if path.is_dir() else 0o600)
    # As text: what a reader of the file sees, whatever types a reader would guess.
    options = {"all_varchar": True, "header": True} if file_format(str(path)) == "csv" else {}
    if path.is_dir():
        files, own = str(path / "**" / "*.parquet"), {"hive_partitioning": True, "hive_types_autocast": False}
    else:
        files, own = str(path), {"hive_partitioning": False}
    template, params = reading([files], options, **own)
    return warehouse.run(template, "read_back", view=True, **params)


def _gated(run: Run, staged: Name) -> tuple[AuditRow, ...]:
    """Return what the gates of the job measured: of the release in their step, of another candidate now.

    They stage relations, which cannot be done in the transaction that publishes.
    """
    if staged == run.current:
        return tuple(row for gate in run.gates for row in gate.rows)
    return tuple(row for gate in run.gates for row in gates.rows(run, staged, gate.options, gate.where))


def audit_release(run: Run, output: Output, relation: Name, columns: Sequence[Column]) -> Audited:
    """Hold what was published to its promises: rows, what the gates found, and what every step claims of its columns.

    Returns
    -------
    Audited
        The first check is the k over all released columns that an attacker may know, None without any. `verdict.judge`
        says what they come to.

    Raises
    ------
    AuditFailed
        When a promise is broken.
    """
    warehouse = run.warehouse
    by_name = {column.name: column for column in columns}

    def published(found: Sequence[Column]) -> list[Column]:
        return [by_name[column.name] for column in found]

    known = run.known
    overall = k_anonymity.class_sizes(warehouse, relation, published(known)) if known else None
    first = _check("k-anonymity", known, overall.k if overall else None, None)
    expected, records = warehouse.count(output.relation), warehouse.count(relation)
    audits: list[Check] = [first, _check("rows", (), records, expected, passed=records == expected), *output.gated]
    for claim in run.claims:
        if claim.promise == "record" and claim.columns:
            if overall and set(claim.columns) == set(known):
                audits[0] = _check("k-anonymity", known, overall.k, max(claim.k, int(audits[0].threshold or 0)))
                continue
            sizes = k_anonymity.class_sizes(warehouse, relation, published(claim.columns))
            audits.append(_check("k-anonymity", claim.columns, sizes.k, claim.k))
        elif claim.promise == "column":
            audits += _value_frequencies(warehouse, relation, published(claim.columns), claim.k)
    failed = [check for check in audits if check.passed is False]
    if failed:
        raise AuditFailed(
            "audit",
            "the release must keep what its methods promise",
            "; ".join(check.told for check in failed),
            _why_failed(run),
        )
    return Audited(audits, overall)


def _why_failed(run: Run) -> str:
    if len(run.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    return "Nothing was published. If few values are missing, choose another --nulls"


def _check(
    name: str, columns: Sequence[Column], value: int | None, threshold: int | None, passed: bool | None = None
) -> Check:
    if passed is None and threshold is not None:
        passed = value is not None and value >= threshold
    return Check(name, [column.name for column in columns], value, threshold, True, passed)


def _value_frequencies(warehouse: Warehouse, relation: Name, columns: Sequence[Column], k: int) -> list[Check]:
    """Check that the rarest value of every column occurs at least k times; NULL counts as a value."""
    sizes = [k_anonymity.class_sizes(warehouse, relation, [column]) for column in columns]
    return [_check("value frequency", [column], found.k, k) for column, found in zip(columns, sizes, strict=True)]
