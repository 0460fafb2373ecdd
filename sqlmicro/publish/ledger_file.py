"""A ledger in a file of its own: for releases to files without a database, and where several databases share one.

The entry is made before anything becomes visible, and taken back if that fails. A process that is killed in between
leaves an entry of a release that nobody has: it counts as out until it is withdrawn.

Which night of a series was published last, noted beside the secret: a ledger cannot tell that it is an older one.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from sqlmicro.database import unfinished
from sqlmicro.database.files import file_format
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name, Select
from sqlmicro.database.warehouse import Database, database_of
from sqlmicro.errors import InputError, ParameterError, QueryError, SqlmicroError
from sqlmicro.history import ledger as history
from sqlmicro.history import union
from sqlmicro.history.ledger import Entry
from sqlmicro.history.union import Staged
from sqlmicro.options.common import OpenDatabase
from sqlmicro.publish import consult, continuing
from sqlmicro.publish.continuing import Book, Continued, Found
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.recording import record, refuse_other
from sqlmicro.publish.targets import SCHEMA, Target
from sqlmicro.system import secrets
from sqlmicro.system.object_moves import NotTakenBack
from sqlmicro.system.progress import Progress
from sqlmicro.system.stores import absolute

if TYPE_CHECKING:
    from sqlmicro.publish.release import Release


@dataclass(frozen=True)
class LastNight:
    """The last night of a series that this user has published under a ledger in a file of its own."""

    epoch: int
    entry: str
    """The hash of its entry in the ledger."""


def noted(ledger: Path, series: str) -> LastNight | None:
    """Return the last night of a series in a ledger; None where nothing is noted that can be read."""
    path = _place(ledger, series)
    try:
        told = json.loads(path.read_text(encoding="utf-8")) if path else {}
        return LastNight(int(told["epoch"]), str(told["entry"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(ledger: Path, series: str, night: LastNight) -> None:
    """Note a night that was published; where that cannot be written, an older ledger is not seen to be one."""
    path = _place(ledger, series)
    if path is None:
        return
    with contextlib.suppress(OSError):
        beside = path.with_name(f"{path.name}.{token_hex(8)}")
        try:
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(asdict(night), file)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def _place(ledger: Path, series: str) -> Path | None:
    """Return the path of a note, whose name tells of neither the ledger nor the series."""
    told = json.dumps([str(ledger.resolve()), series])
    return secrets.beside_secret(f"night-{sha256(told.encode()).hexdigest()[:32]}.json")


_PATIENCE, _PAUSE = 30.0, 0.2
"""Seconds that another run may have the ledger open, and between two tries."""
_MEND = "Run it again when no other process has it open, or restore it from a backup"


def place(ledger: str | None) -> Path | None:
    """Return the path of a ledger of its own: the one that is named, else that of the user, if there can be one.

    Raises
    ------
    ParameterError
        When a file of data is named.
    """
    if ledger and file_format(ledger) is not None:
        do = "Name another file, such as ledger.duckdb: it is made if it is not there"
        raise ParameterError("--ledger", "is a DuckDB database file", f"{ledger!r}, a file of data", do)
    return Path(ledger) if ledger else secrets.beside_secret("ledger.duckdb")


def recorded(
    database: str | OpenDatabase | None, ledger: str | None, where: str, attached: Sequence[str] | None = None
) -> str | OpenDatabase | None:
    """Return where releases are recorded: in the database that is named, else in a ledger of its own.

    None is a database in memory: then they are in one that is attached.

    Raises
    ------
    InputError
        When there is neither.
    """
    if attached and not database and not ledger:
        return None
    path = None if database else place(ledger)
    there = database or (str(path) if path is not None and path.is_file() else None)
    if there is None:
        ways = "--db FILE or --ledger FILE" if attached is None else "--db FILE, --ledger FILE or --attach NAME=URL"
        raise InputError(where, "needs the record of releases", "none", f"Name where it is: {ways}")
    return there


def found(ledger: str | None, series: str, progress: Progress, *, anew: bool) -> Found:
    """Return a series as it is remembered in a ledger of its own; one that begins `anew` needs little of it.

    Raises
    ------
    InputError
        When there can be no ledger, or it cannot be opened.
    """
    path = place(ledger)
    if path is None:
        must = "is remembered in a ledger, beside the secret of the user"
        raise InputError("--series", must, "no folder for it", "Give --ledger FILE")
    if not path.exists():
        return Found()
    with _opened(path, progress) as opened:
        return continuing.found(opened, NewFile("", Path(), records=opened), series, anew=anew, beside=False)


def has_night(ledger: str | None, file: str, progress: Progress) -> bool:
    """Tell whether a file is a night of a series, as far as a ledger of its own knows.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    path = place(ledger)
    if path is None or not path.exists():
        return False
    with open_warehouse(str(path), read_only=True, progress=progress) as opened:
        entries = history.entries(opened, Name(opened.catalog, SCHEMA, "releases"))
    where = history.place(None, absolute(file))
    return any(one.series is not None and one.place == where for one in entries)


def refuse_elsewhere(
    warehouse: Database, target: Target, ledger: str | None, series: str, people: str, progress: Progress
) -> None:
    """Refuse to begin a series that another ledger at hand knows: that of the target, or that of the user.

    `people` is the source as a ledger calls it. A series of that name and another source is another one.

    Raises
    ------
    InputError
        With the ledger that knows it.
    """
    in_file, own, others = isinstance(target, NewFile) and target.records is None, place(None), []
    if own is not None and own.exists() and (ledger or not in_file):
        try:
            others.append(("the ledger beside the secret", found(None, series, progress, anew=True)))
        except SqlmicroError as error:
            raise InputError(
                f"series {series}", "begins where no other ledger at hand knows it",
                f"a ledger beside the secret that cannot be read: {error.got}", f"{_MEND}, or begin with --epoch",
            ) from None  # fmt: skip
    if ledger and not in_file:
        others.append(("the database", continuing.found(warehouse, target, series, anew=True)))
    for where, other in others:
        if other.entry is not None and other.entry.people == people:
            raise InputError(
                f"series {series}", "goes on in the ledger that it began in", f"another one: {where} has nights of it",
                "Give the same --ledger as before, or none. Or begin anew with --epoch: nothing is kept across epochs",
            )  # fmt: skip


def refuse_older(warehouse: Database, target: Target, known: Found, series: str, people: str) -> None:
    """Refuse to go on with what a ledger of its own knows, where the database of the target has a later night.

    Raises
    ------
    InputError
        When the last night of the series that the database has is none of the ledger.
    """
    if isinstance(target, NewFile) and target.records is None:
        return
    there = continuing.found(warehouse, target, series, anew=True)
    last = there.entry
    if last is None or last.people != people:
        return
    same = [[one.started for one in found.entries].count(last.started) for found in (there, known)]
    if same[0] <= same[1]:  # the time is that of a second, in which there may be two nights
        return
    raise InputError(
        f"series {series}", "goes on from its last night", "a ledger that does not know the last one of the database",
        "An older ledger may have been restored: restore the one that belongs to the database. Or begin anew with "
        "--epoch: nothing is kept across epochs",
    )  # fmt: skip


def last_night(ledger: str | None, series: str) -> LastNight | None:
    """Return the last night of a series that this user has published under a ledger of its own."""
    path = place(ledger)
    return noted(path, series) if path else None


def refuse_restored(last: LastNight | None, known: Found, series: str) -> None:
    """Refuse to go on with what a ledger of its own knows, where this user has published a later night under it.

    Raises
    ------
    InputError
        When the ledger does not have the entry of the last night.
    """
    if last is None or last.entry in {one.entry for one in known.entries}:
        return
    raise InputError(
        f"series {series}", "goes on from its last night", "a ledger without the last night that was published",
        "It was removed, or an older one was restored: restore the one that belongs to it. Or begin anew with --epoch: "
        "nothing is kept across epochs",
    )  # fmt: skip


@contextmanager
def entered(releases: Sequence[Release]) -> Iterator[None]:
    """Measure releases together with those in a ledger of its own, and enter them; the block makes them visible.

    Where none is named, the ledger is that of the user, beside the secret. Releases of Spark are in none, and say so.

    Raises
    ------
    AuditFailed
        When a release does not keep its k together with others, or nobody can tell. Nothing is published.
    InputError
        When the ledger of a series cannot be opened.
    """
    told = [
        release
        for release in releases
        if release.run.warehouse.database is not None and (union.promises(release.run) or release.series)
    ]
    if not told:
        yield
        return
    ledger = next((release.past.ledger for release in told if release.past.ledger), None)
    path = place(ledger)
    numbers, entries = _entered(path, told)
    if path is None or not numbers:
        yield
        return
    try:
        yield
    except NotTakenBack:
        raise
    except BaseException:
        with contextlib.suppress(Exception), _opened(path, told[0].run.warehouse.progress) as opened, opened.aside():
            unfinished.take_back(opened, "", numbers)
        raise
    for one in entries:
        if one.release in numbers and one.series is not None:
            note(path, one.series, LastNight(one.epoch or 1, one.entry))


def _entered(path: Path | None, releases: Sequence[Release]) -> tuple[list[int], list[Entry]]:
    """Measure and enter releases; return their numbers, and all entries. Of those that are to stand alone it may fail.

    Raises
    ------
    AuditFailed
        When that cannot be done, or a release does not keep its k together with others.
    InputError
        When the ledger of a series cannot be used.
    """
    if path is None:
        for release in releases:
            consult.unmeasured(release, "no folder for a ledger of the user", "Give --ledger FILE or --db FILE")
        return [], []
    try:
        with _opened(path, releases[0].run.warehouse.progress) as opened:
            return _enter_all(opened, releases), history.entries(opened, Name(opened.catalog, SCHEMA, "releases"))
    except (InputError, QueryError) as error:
        if any(release.series for release in releases):
            raise
        why = error.got or "what is in it cannot be read"
        for release in releases:
            release.report.release = release.report.chain = None
            consult.unmeasured(release, f"a ledger that cannot be used, {str(path)!r}: {why}", _MEND)
        return [], []


def _enter_all(opened: Database, releases: Sequence[Release]) -> list[int]:
    """Measure and enter releases in one transaction; return their numbers."""
    refuse_other(opened, Name(opened.catalog, SCHEMA, "releases"))
    books = [_book(opened, release) for release in releases]
    with opened.aside():
        return [_enter(book, release) for book, release in zip(books, releases, strict=True)]


def _book(opened: Database, release: Release) -> Book:
    """Return a ledger with the classes of a release in its staging, which no transaction may write to."""
    own = database_of(release.run.warehouse)
    told = consult.counted(release)

    def loaded(relation: Name | Select) -> Name:
        return opened.load(own.table(relation), token_hex(8), "what the release tells of its persons")

    copied = told and Staged(
        loaded(told.classes), told.values and loaded(told.values), told.contents and loaded(told.contents)
    )
    copied = consult.carried(opened, Name(opened.catalog, SCHEMA, "memory"), release, copied)
    target, database = release.target, str(Path(own.db).absolute()) if own.db else ""
    name = target.name and own.full(target.name)
    where = history.place(name, target.place, f"{database} {name.catalog}" if name else "")
    night = continuing.beside(release)
    if night is not None:
        rows = night.rows and loaded(night.rows)
        night = Continued({table: loaded(changed) for table, changed in night.changed.items()}, rows)
    return Book(opened, NewFile(target.label, Path(), records=opened), copied, where, night)


def _enter(book: Book, release: Release) -> int:
    consult.consult(book, release)
    record(
        book.warehouse, release.run, book.target, release.report, release.checks, release.started,
        consult.kept(book, release),
    )  # fmt: skip
    consult.remember(book, release)
    assert release.report.release is not None
    return release.report.release


@contextmanager
def _opened(path: Path, progress: Progress) -> Iterator[Database]:
    """Open a ledger, and wait for another run that has it open."""
    until = time.monotonic() + _PATIENCE
    with ExitStack() as stack:
        while True:
            try:
                book = stack.enter_context(open_warehouse(str(path), may_create=True, progress=progress))
                break
            except InputError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        yield book
