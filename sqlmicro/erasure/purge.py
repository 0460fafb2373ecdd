"""The purge: a database file is rewritten, so that values which were replaced are no longer in it.

`DELETE`, `CREATE OR REPLACE`, `CHECKPOINT` and `VACUUM` leave replaced values readable in the file. A fresh file into
which the database is copied holds none. It is made in a private folder beside the old one, with the same storage
version and block size, read back from the disk, compared (catalog, number and content of the records), and renamed
over the old one; before that the old file is not touched.

The order of the steps:

1. Open the database to write, so that nobody else has it open, checkpoint, close: no write-ahead log is left.
2. Lock the file to read (a lock of the open file: unlike DuckDB's own it does not end when DuckDB closes the file), and
   check that there is still no log. From here on nobody can write, so none can come.
3. Copy through a read-only connection, compare, close, fsync.
4. Make the lock exclusive, so that nobody reads either; check that the file is as it was when it was locked, and that
   there is no log. Rename, fsync the folder, unlock.

Where locks of open files are unknown (macOS), the lock ends when DuckDB closes the file before step 4. While DuckDB has
it open nobody can write; who did so since has changed the file or left a log, and is found by the check.

Since there is no log when the file is renamed, none can be replayed onto the fresh file: DuckDB 1.5 would do so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from sqlmicro.database import unfinished
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure.copy_database import copy_database
from sqlmicro.errors import InputError, QueryError, SqlmicroError
from sqlmicro.options.common import MachineOptions
from sqlmicro.options.params import Param
from sqlmicro.system import scratch
from sqlmicro.system.closed import user
from sqlmicro.system.interrupts import committing
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import OMITTED

WHERE = "purge"
_SPARE = 16 * 2**20
_PATIENCE = 3.0
ALWAYS = (
    "copies elsewhere are not erased: backups, snapshots of the file system, replicas, swap, and blocks that the disk "
    "has freed but not yet overwritten"
)


@dataclass(frozen=True, kw_only=True)
class PurgeOptions(MachineOptions):
    """Which file is rewritten."""

    db: Annotated[str, Param("Database file.", metavar="FILE", env="SQLMICRO_DB")]
    narrow_enums: Annotated[bool, Param("Take out of ENUM types the labels that no record holds.")] = False


@dataclass(frozen=True)
class PurgeReport:
    """What a purge did."""

    db: str
    purged: bool
    clean: bool
    """Whether no definition, comment or label of the catalog quotes what no record holds; names are not compared."""
    releases: list[int]
    """The releases in place that waited for it."""
    tables: int
    rows: int
    bytes_before: int
    bytes_after: int
    storage_version: str
    narrowed: int
    """ENUM types that lost labels."""
    not_erased: list[str]
    seconds: float


@dataclass(frozen=True)
class ServerPurge:
    """What a purge on a server left, and how long it took."""

    not_erased: list[str]
    seconds: float


@dataclass(frozen=True)
class Purging:
    """Whether a release in place was followed by a purge, and if not, why."""

    purged: bool
    not_purged_because: str | None
    purge_failed: bool
    warning: str | None = field(default=None, metadata=OMITTED)
    """The replaced values are still readable."""
    purge: PurgeReport | ServerPurge | None = field(default=None, metadata=OMITTED)


def purge(options: PurgeOptions, progress: Progress) -> PurgeReport:
    """Rewrite a database file without what its tables no longer hold.

    Returns
    -------
    PurgeReport

    Raises
    ------
    SqlmicroError
        The old file is as it was: it is not writable, in use, larger than the room beside it, or the copy differs.
    """
    started, db = time.time(), options.db
    check(db)
    file = Path(db).resolve()
    before = file.stat().st_size
    with _locked(options, file, progress) as lock, _made_beside(file) as folder:
        fresh, held = folder / file.name, _state(os.fstat(lock))
        with open_warehouse(db, read_only=True, purging=True, machine=options, progress=progress) as warehouse:
            releases = unfinished.not_purged(warehouse)
            copied = copy_database(warehouse, fresh, options.narrow_enums)
            not_erased = [*left_behind(warehouse, file), *copied.notes]
        _like(fresh, file)
        _replace(fresh, file, lock, held)
    return PurgeReport(
        db, True, not copied.notes, releases, copied.tables, copied.rows, before, file.stat().st_size,
        copied.storage_version, copied.narrowed, [*not_erased, ALWAYS], round(time.time() - started, 3),
    )  # fmt: skip


def check(db: str) -> None:
    """Refuse a file that cannot be rewritten, before any work is done.

    Raises
    ------
    InputError
        When the file is no database file, cannot be written to, or the room beside it is too small for a second one;
        on Windows.
    """
    scratch.check_database_locks(WHERE)
    if not Path(db).is_file():
        raise InputError(
            "--db",
            f"{db!r} must be a DuckDB database file",
            "none",
            "DuckLake, Iceberg and Delta keep replaced records in older data files: expire their snapshots and delete "
            "those files with their own means",
        )
    file = Path(db).resolve()
    for path in (file, file.parent):
        if not os.access(path, os.W_OK):
            raise InputError(WHERE, f"{str(path)!r} must be writable", "one that is not", "Change its permissions")
    log = Path(f"{db}.wal")
    needed = file.stat().st_size + (log.stat().st_size if log.exists() else 0) + _SPARE
    free = shutil.disk_usage(file.parent).free
    if free < needed:
        raise InputError(
            WHERE,
            f"a second file is made in {str(file.parent)!r}, which takes up to {needed / 2**20:,.0f} MB",
            f"{free / 2**20:,.0f} MB free",
            "Free disk space, or publish with --no-purge and purge later",
        )


def left_behind(warehouse: Database, file: Path) -> list[str]:
    """Return what a rewritten file does not erase of this database."""
    notes = []
    if file.stat().st_nlink > 1:
        notes.append("the file has another name (a hard link), under which the old content stays")
    lake = "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('ducklake_data_file', 'ducklake_snapshot')"
    if warehouse.query(WHERE, lake)[0][0]:
        notes.append(
            "this is the catalog of a DuckLake: its Parquet files and its statistics of columns are not erased, since "
            "older snapshots refer to them; expire the snapshots and clean up the old files with DuckLake"
        )
    views = warehouse.query(
        WHERE,
        "SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = $1 AND "
        "regexp_matches(sql, '(read_(csv|parquet|json|ndjson)(_auto)?|parquet_scan|(delta|iceberg)_scan)[( ]', 'i')",
        [warehouse.catalog],
    )
    if views:
        named = ", ".join(str(name) for (name,) in views[:6])
        notes.append(f"files outside the database that views read are not erased: {named}")
    return notes


def after_publishing(purge: Callable[[], PurgeReport | ServerPurge], stays: str, *, dry: bool, wanted: bool) -> Purging:
    """Purge after a release in place; return whether that was done, and why not. `stays` says what else stays readable.

    The release is published already: what goes wrong here is told, not raised, and no signal stops it.
    """
    if dry:
        return Purging(False, "a dry run", False)
    if not wanted:
        return Purging(False, "--no-purge", False, stays)
    try:
        done = purge()
    except (SqlmicroError, OSError) as error:
        reason = str(error) if isinstance(error, SqlmicroError) else f"the system refused it ({type(error).__name__})"
        return Purging(False, reason, True, f"the release is published, but the purge failed: {stays}. {reason}")
    return Purging(True, None, False, purge=done)


def stays_readable(db: str) -> str:
    """Say until when replaced values can be read in a database file."""
    return f"the replaced values stay readable in the file until: sqlmicro purge --db {db}"


# Locks and renaming


@contextmanager
def _locked(options: PurgeOptions, file: Path, progress: Progress) -> Iterator[int]:
    """Checkpoint the database and hold a read lock on its file: nobody can write in the block."""
    log = Path(f"{options.db}.wal")
    ends = time.monotonic() + _PATIENCE
    while True:
        with open_warehouse(options.db, purging=True, machine=options, progress=progress) as warehouse:
            warehouse.query(WHERE, "CHECKPOINT {{ own | ident }}", own=warehouse.catalog)
        descriptor = os.open(file, os.O_RDWR)
        try:
            # Between closing and locking another process may have written: then there is a lock or a log.
            if scratch.database_taken(descriptor, alone=False) and not log.exists():
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > ends:
            raise _in_use(options.db)
        time.sleep(0.05)


def _in_use(db: str) -> InputError:
    return InputError(
        "--db",
        f"{db!r} must be used by nobody else while it is replaced",
        "another process that has it open",
        "Wait for the other process, or stop it; the file is as it was",
    )


@contextmanager
def _made_beside(file: Path) -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch.folder(file.parent))
        except OSError as error:
            raise InputError(WHERE, f"{str(file.parent)!r} must be writable", type(error).__name__) from None
        yield folder


def _like(fresh: Path, file: Path) -> None:
    """Give the fresh file the owner and mode of the old one, and write it to the disk."""
    status = file.stat()
    if Path(f"{fresh}.wal").exists():
        raise QueryError(WHERE, "the fresh file must be complete", "a log beside it", "The old file is as it was")
    descriptor = os.open(fresh, os.O_RDWR)
    try:
        if (status.st_uid, status.st_gid) != (user(), os.fstat(descriptor).st_gid):
            try:
                os.fchown(descriptor, status.st_uid, status.st_gid)
            except PermissionError:
                raise InputError(
                    WHERE, "the fresh file must belong to the same user and group", "a file of somebody else",
                    "Let its owner purge it; the file is as it was",
                ) from None  # fmt: skip
        os.fchmod(descriptor, status.st_mode & 0o7777)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _state(status: os.stat_result) -> tuple[int, ...]:
    """Return what is another once a file was written to, or is another file."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _replace(fresh: Path, file: Path, lock: int, before: tuple[int, ...]) -> None:
    """Rename the fresh file over the old one, while nobody has the old one open, and if nobody has written to it."""
    ends = time.monotonic() + _PATIENCE
    while not scratch.database_taken(lock, alone=True):
        if time.monotonic() > ends:
            raise _in_use(str(file))
        time.sleep(0.05)
    if not _state(os.fstat(lock)) == _state(file.stat()) == before or Path(f"{file}.wal").exists():
        raise _in_use(str(file))
    with committing():
        fresh.replace(file)
        # Somebody may have opened the old file just before: the lock is held on, so that DuckDB refuses it.
        scratch.fsync(file.parent)
