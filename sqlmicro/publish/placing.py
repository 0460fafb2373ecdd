"""Files put in place and recorded: a pending record, the renaming, the final record.

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
from typing import TYPE_CHECKING

from sqlmicro.database import unfinished
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.publish import consult
from sqlmicro.publish.recording import record
from sqlmicro.system import locks, moves
from sqlmicro.system.interrupts import committing
from sqlmicro.system.moves import Move, Placed

if TYPE_CHECKING:
    from sqlmicro.publish.release import Release


def place(
    releases: Sequence[Release], planned: Mapping[int, Sequence[Placed]], records: DuckDBWarehouse | None
) -> None:
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
                locks.fsync(folder)
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
    records: DuckDBWarehouse | None, run: str, releases: Sequence[Release], files: Sequence[Placed]
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
