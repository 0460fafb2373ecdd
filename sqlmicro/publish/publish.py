"""Publishing: a new table, a file, or in place; audited before it becomes visible, in one transaction.

Inside a transaction the new table is made and read back by the audits; what fails is rolled back. A file is written
beside its place, read back by the audits, and then renamed.

The audit of what was published, read back before it becomes visible.

Files put in place and recorded: a pending record, the renaming, the final record.

Whatever stops this in between, the database knows of it: the next start that opens it finishes it or takes it back.
Without a database the renaming is all there is: one file is there as a whole or not at all; of several, a failure takes
back those that are in place.

Objects of a store are recorded before they are put there, and not pending: no start of a program asks a store about
them. A process that is killed in between leaves a record of a release that may be nowhere; it counts as out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.k_anonymity import ClassSizes
from sqlmicro.audits.registry import Check
from sqlmicro.audits.verdict import PERSONS
from sqlmicro.database import unfinished
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.opening import lock_to_write
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import AuditFailed
from sqlmicro.pipeline import Run
from sqlmicro.publish import beside, consult, ledger_file, recording, recounted
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.recording import record
from sqlmicro.publish.release import Output, OutputAudit, Release, changes, select_of
from sqlmicro.publish.targets import Statement, TableTarget, Target
from sqlmicro.publish.together import Together
from sqlmicro.system import moves, scratch
from sqlmicro.system.interrupts import committing
from sqlmicro.system.moves import Move, Placed


def publish(
    warehouse: Database, releases: Sequence[Release], together: Together | None = None, *, dry: bool,
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
            timers.enter_context(release.run.log.timed("publish and audit"))
        if dry:
            _rehearse(warehouse, releases, together)
        elif releases[0].target.kind == "file":
            to_files(releases, together, draft=draft)
        else:
            _to_tables(warehouse, releases, together)


def _to_tables(warehouse: Database, releases: Sequence[Release], together: Together | None) -> None:
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


def _lock(warehouse: Database, releases: Sequence[Release], catalogs: Sequence[str]) -> None:
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


def _write_table(warehouse: Database, run: Run, output: Output) -> Name:
    with warehouse.progress.stage("publish", run.table.loaded.rows):
        target = _table(output.target)
        target.write(run, select_of(run, output))
    return target.published


def _read_back(release: Release, relation: Name, columns: Sequence[Column], path: Path | None = None) -> None:
    """Report of what was published: its hashes, and the types that are not those of the source."""
    report = release.report
    report.hashes = beside.after(release.run, report.hashes, relation, columns, path)
    report.recounted = release.audits[None].recounted
    report.types_changed = changes(release.run, columns, release.target)


def _published_columns(run: Run, relation: Name, target: Target) -> list[Column]:
    """Describe the published relation: only a table changed in place keeps its collations."""
    collated = frozenset(c.name for c in run.source.columns if c.collated) if target.kind == "in place" else frozenset()
    return make_columns(run.warehouse.describe(relation), collated)


_GUARD_FILLED = """SELECT CASE WHEN count(*) = 0 THEN error({{ message | lit }}) END FROM {{ relation | ident }}"""
_GUARD_K = """SELECT CASE WHEN min(size) < {{ k }} THEN error('a record occurs too rarely: nothing is published') END
FROM (
{{ select }})"""
_GUARD_MORE = """SELECT error('a script tests k, but more was promised: run the command, nothing is published')"""


def _rehearse(warehouse: Database, releases: Sequence[Release], together: Together | None) -> None:
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
                for claim in run.promises.claims
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
    if any(claim.terms.limits or one.run.counted for one in releases for claim in one.run.promises.claims):
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
                relation = run.warehouse.write(select, beside, target.partition_by, rows=run.table.loaded.rows)
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
            place(releases, planned, None)
        elif not dry:
            records = _file(releases[0].target).records
            if records is not None:
                _lock(records, releases, [records.catalog])
            if records is None or any(release.past.ledger for release in releases):
                folders.enter_context(ledger_file.entered(releases))
            place(releases, planned, records)


_FREQUENCY = "value frequency"
_COUNTED = ("k-anonymity", _FREQUENCY, PERSONS)
"""The checks that fail where a few values are missing."""


def audit_release(run: Run, output: Output, relation: Name, columns: Sequence[Column]) -> OutputAudit:
    """Hold what was published to its promises: rows, what the gates found, and what every step claims of its columns.

    Returns
    -------
    OutputAudit
        The first check is the k over all released columns that an attacker may know, None without any; where k counts
        persons, these were counted before. `verdict.judge` says what they come to.

    Raises
    ------
    AuditFailed
        When a promise is broken.
    """
    warehouse = run.warehouse
    by_name = {column.name: column for column in columns}

    def published(found: Sequence[Column]) -> list[Column]:
        return [by_name[column.name] for column in found]

    counted: dict[frozenset[str], ClassSizes] = {}

    def sizes_of(found: Sequence[Column]) -> ClassSizes:
        """Return the sizes of the classes of some columns, counted once."""
        names = frozenset(column.name for column in found)
        if names not in counted:
            counted[names] = k_anonymity.class_sizes(warehouse, relation, published(found))
        return counted[names]

    known = run.known
    alone = _promises_columns(run) and len(known) > 1 and k_anonymity.one_alone(warehouse, relation, published(known))
    overall = sizes_of(known) if known and not alone else None
    first = _check("k-anonymity", known, overall.k if overall else 1 if alone else None, None)
    expected, records = warehouse.count(output.relation), warehouse.count(relation)
    at = 1 if run.counted and known else 0
    rows = _check("rows", (), records, expected, passed=records == expected)
    audits: list[Check] = [*output.gated[:at], first, rows, *output.gated[at:]]
    for claim in run.promises.claims:
        if claim.promise == "record" and claim.columns:
            if overall and set(claim.columns) == set(known):
                audits[at] = _check("k-anonymity", known, overall.k, max(claim.terms.k, int(audits[at].threshold or 0)))
                continue
            audits.append(_check("k-anonymity", claim.columns, sizes_of(claim.columns).k, claim.terms.k))
        elif claim.promise == "column":  # the rarest value of every column occurs at least k times; NULL is a value
            audits += [_check(_FREQUENCY, [column], sizes_of([column]).k, claim.terms.k) for column in claim.columns]
    failed = [check for check in audits if check.passed is False]
    if failed:
        raise AuditFailed(
            "audit",
            "the release must keep what its methods promise",
            "; ".join(check.told for check in failed),
            _why_failed(run, failed),
        )
    return OutputAudit(audits, overall, relation, tuple(columns), records)


def _promises_columns(run: Run) -> bool:
    """Tell whether all that is promised is promised of single columns: no classes of records were asked for."""
    return {claim.promise for claim in run.promises.claims} == {"column"}


def _why_failed(run: Run, failed: Sequence[Check]) -> str:
    if len(run.promises.claims) > 1:
        return "Nothing was published. A later step may have separated records that an earlier one made equal"
    if any(check.check in _COUNTED for check in failed):
        return "Nothing was published. If few values are missing, choose another --nulls"
    return "Nothing was published. The step did not keep what it was asked for: ask for less, or use another method"


def _check(
    name: str, columns: Sequence[Column], value: int | None, threshold: int | None, passed: bool | None = None
) -> Check:
    if passed is None and threshold is not None:
        passed = value is not None and value >= threshold
    return Check(name, [column.name for column in columns], value, threshold, True, passed)


def place(releases: Sequence[Release], planned: Mapping[int, Sequence[Placed]], records: Database | None) -> None:
    """Put the files of releases in their places, all or none; `planned` has those of each by its place in the list.

    `records` is the database they are recorded in, where there is one.
    """
    files = list(chain.from_iterable(planned.values()))
    local = [move for move in files if isinstance(move, Move)]
    with committing(), unfinished.live() as run:
        if records:
            with records.aside():
                for number, release in enumerate(releases):
                    book = consult.beside(records, release)
                    consult.consult(book, release)  # together with those of this job that have been recorded by now
                    consult.note_noise(records, release)
                    record(
                        records, release.run, release.target, release.report, release.checks, release.started,
                        consult.kept(book, release),
                    )  # fmt: skip
                    consult.remember(book, release)
                    pending = [move for move in planned[number] if isinstance(move, Move)]
                    unfinished.note_pending(records, run, _number(release), pending)
        with _taken_back(records, run, releases, files):
            for move in local:
                moves.open_to_others(move.new)
            moves.put(files)
            for folder in {move.place.parent for move in local}:
                scratch.fsync(folder)
            if records and local:
                with records.aside():
                    unfinished.note_recorded(records, run)
        releases[0].run.warehouse.committed = True
        moves.forget(files)
        if records:
            with contextlib.suppress(Exception), records.aside():  # or the next start does it
                unfinished.end(records, run)


def _number(release: Release) -> int:
    """Return the number that a release was recorded under."""
    assert release.report.release is not None
    return release.report.release


@contextmanager
def _taken_back(
    records: Database | None, run: str, releases: Sequence[Release], files: Sequence[Placed]
) -> Iterator[None]:
    """Put everything back as it was if the block fails; what cannot be, the next start puts back."""
    try:
        yield
    except BaseException:
        moves.take_back(files)
        if records:
            with contextlib.suppress(Exception), records.aside():
                unfinished.take_back(records, run, [_number(release) for release in releases])
        raise
