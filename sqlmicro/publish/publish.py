"""Publishing: a new table, a file, or in place; audited before it becomes visible, in one transaction.

Inside a transaction the new table is made and read back by the audits; what fails is rolled back. A file is written
beside its place, read back by the audits, and then renamed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from sqlmicro.audits import k_anonymity
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import lock_to_write
from sqlmicro.database.templates import Name
from sqlmicro.pipeline import Run
from sqlmicro.publish import consult, ledger_file, manifest, placing, published_types, recording, recounted
from sqlmicro.publish.audit import audit_release
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.recording import record
from sqlmicro.publish.release import Output, Release, select_of
from sqlmicro.publish.targets import Statement, TableTarget, Target
from sqlmicro.publish.together import Together
from sqlmicro.system import scratch
from sqlmicro.system.moves import Placed


def publish(
    warehouse: DuckDBWarehouse, releases: Sequence[Release], together: Together | None = None, *, dry: bool,
    draft: bool = False,
) -> None:  # fmt: skip
    """Publish releases of one warehouse, all of them or none, and note their audits; a dry run only audits.

    A draft is a file that is recorded nowhere.

    All go to tables, or all to files. Tables are made, audited and recorded in one transaction. Files are all written
    and audited before the first is put in its place. What they tell `together` is audited when all are written.

    Raises
    ------
    AuditFailed
        When a file does not keep what its methods promise, or a key what it joined. Nothing is published.
    """
    with contextlib.ExitStack() as timers:
        for release in releases:
            timers.enter_context(release.run.timed("publish and audit"))
        if dry:
            _rehearse(warehouse, releases, together)
        elif releases[0].target.kind == "file":
            to_files(releases, together, draft=draft)
        else:
            _to_tables(warehouse, releases, together)


def _to_tables(warehouse: DuckDBWarehouse, releases: Sequence[Release], together: Together | None) -> None:
    targets = [output.target for release in releases for output in release.outputs]
    _lock(warehouse, releases, [target.name.catalog for target in targets if target.name])
    places = [_table(release.target) for release in releases]
    locks = [place.locking() for place in places]
    with places[0].taken_back(targets), contextlib.ExitStack() as entries, warehouse.transaction(releasing=True):
        # The locks come before anything is read: the snapshot of the transaction then has all that others committed.
        for lock in locks:
            lock()
        for place, release in zip(places, releases, strict=True):
            place.hold(release.run)
        for release in releases:
            run = release.run
            run.resume()
            for output in release.outputs:
                relation = _write_table(warehouse, run, output)
                columns = _published_columns(run, relation, release.target)
                audited = audit_release(run, output, relation, columns)
                release.audits[output.candidate] = recounted.of_table(run, audited)
            _read_back(release, relation, columns)  # of the last output, which is the release
        if together:
            together.audit()
        if any(release.past.ledger for release in releases):
            entries.enter_context(ledger_file.entered(releases))
        for release in releases:
            release.run.resume()
            book = consult.beside(warehouse, release)
            consult.consult(book, release)  # together with those of this job that have been recorded by now
            consult.note_noise(warehouse, release)
            record(
                warehouse, release.run, release.target, release.report, release.checks, release.started,
                consult.kept(book, release),
            )  # fmt: skip
            consult.remember(book, release)
        for place, release in zip(places, releases, strict=True):
            place.look_again(release.run)


def _lock(warehouse: DuckDBWarehouse, releases: Sequence[Release], catalogs: Sequence[str]) -> None:
    """Lock the databases that are written to; where others may have written just before, look at them again."""
    if not lock_to_write(warehouse, catalogs):
        return
    for release in releases:
        release.run.resume()
        recording.check(warehouse, release.target)
        for output in release.outputs:
            output.target.check(release.run, release.run.quasi, dry=False)


def _statements(run: Run, output: Output) -> list[Statement]:
    """Return the statements that make an output visible."""
    return output.target.statements(run, select_of(run, output))


def _table(target: Target) -> TableTarget:
    """Return a target that is no file as what it is."""
    if isinstance(target, NewTable | InPlace):
        return target
    raise TypeError(target.kind)


def _file(target: Target) -> NewFile:
    """Return a target that is a file as what it is."""
    if isinstance(target, NewFile):
        return target
    raise TypeError(target.kind)


def _write_table(warehouse: DuckDBWarehouse, run: Run, output: Output) -> Name:
    with warehouse.progress.stage("publish", run.loaded.rows):
        target = _table(output.target)
        target.write(run, select_of(run, output))
    return target.published


def _read_back(release: Release, relation: Name, columns: Sequence[Column], path: Path | None = None) -> None:
    """Report of what was published: its hashes, and the types that are not those of the source."""
    report = release.report
    report.hashes = manifest.after(release.run, report.hashes, relation, columns, path)
    report.recounted = release.audits[None].recounted
    report.types_changed = published_types.changes(release.run, columns, release.target)


def _published_columns(run: Run, relation: Name, target: Target) -> list[Column]:
    """Describe the published relation: only a table changed in place keeps its collations."""
    collated = frozenset(c.name for c in run.source.columns if c.collated) if target.kind == "in place" else frozenset()
    return make_columns(run.warehouse.describe(relation), collated)


_GUARD_FILLED = """SELECT CASE WHEN count(*) = 0 THEN error({{ message | lit }}) END FROM {{ relation | ident }}"""
_GUARD_K = """SELECT CASE WHEN min(size) < {{ k }} THEN error('a record occurs too rarely: nothing is published') END
FROM (
{{ select }})"""
_GUARD_MORE = """SELECT error('a script tests k, but more was promised: run the command, nothing is published')"""


def _rehearse(warehouse: DuckDBWarehouse, releases: Sequence[Release], together: Together | None) -> None:
    """Audit the releases in staging; the statements that would publish them only go into the log.

    The log is a script that somebody may run. Inside its transaction it is first tested that the tables a kernel fills
    were filled, and that every record occurs k times: in an aborted transaction nothing is published. Where more was
    promised, such as l-diversity, which only the command audits, the script ends there.
    """
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
                (claim.terms.k, k_anonymity.statement(rehearsed, [by_name[column.name] for column in claim.columns]))
                for claim in run.claims
                if claim.promise == "record"
            ]
        _read_back(release, rehearsed, columns)
    if together:
        together.audit()
    warehouse.log_only("publish", "BEGIN TRANSACTION")
    for relation in warehouse.loaded:
        message = f"fill {relation} with the groups first, a script cannot make them: nothing is published"
        warehouse.log_only("publish", _GUARD_FILLED, relation=relation, message=message)
    for k, select in guarded:
        warehouse.log_only("publish", _GUARD_K, k=k, select=select)
    if any(claim.terms.limits or one.run.counted for one in releases for claim in one.run.claims):
        warehouse.log_only("publish", _GUARD_MORE)
    for release in releases:
        for output in release.outputs:
            for text, names in _statements(release.run, output):
                warehouse.log_only("publish", text, **names)
    warehouse.log_only("publish", "COMMIT")


def to_files(
    releases: Sequence[Release], together: Together | None = None, *, dry: bool = False, draft: bool = False
) -> None:
    """Write beside the targets, audit what can be read back, then rename over the targets, each release last.

    Works on any engine. A dry run ends with the audits.

    Raises
    ------
    AuditFailed
        When a file does not keep what its methods promise. Nothing is published.
    """
    planned: dict[int, list[Placed]] = {}
    with contextlib.ExitStack() as folders:
        for number, release in enumerate(releases):
            run = release.run
            run.resume()
            written: list[tuple[Path, NewFile]] = []
            targets = [_file(output.target) for output in release.outputs]
            folder = folders.enter_context(scratch.folder(targets[0].path.parent))
            for output, target in zip(release.outputs, targets, strict=True):
                beside = folder / f"{number}_{len(written)}{target.ending}"
                select = target.written(run, select_of(run, output))
                relation = run.warehouse.write(select, beside, target.partition_by, rows=run.loaded.rows)
                columns = make_columns(run.warehouse.describe(relation))
                audited = audit_release(run, output, relation, columns)
                release.audits[output.candidate] = recounted.of_file(run, audited, beside)
                written.append((beside, target))
            _read_back(release, relation, columns, beside)
            if not dry:
                planned[number] = [target.move(beside) for beside, target in written]
        if together:
            together.audit()
        if draft:
            placing.place(releases, planned, None)
        elif not dry:
            records = _file(releases[0].target).records
            if records is not None:
                _lock(records, releases, [records.catalog])
            if records is None or any(release.past.ledger for release in releases):
                folders.enter_context(ledger_file.entered(releases))
            placing.place(releases, planned, records)
