"""What a run left unfinished, as its database knows it: sqlmicro.unfinished, empty as long as all went well.

- `pending`: the release is recorded, its files are being put in place. The next run that opens the database finishes
  this if all files are in place, and takes it back otherwise.
- `recorded`: the files are in place, the old ones that were kept are still to be removed.
- `not purged`: a table was released in place, the file still holds the values that were replaced.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmicro.database.catalog import tables_of
from sqlmicro.database.templates import Name
from sqlmicro.system import moves
from sqlmicro.system.moves import Move

if TYPE_CHECKING:
    from sqlmicro.database.warehouse import Database

SCHEMA = "sqlmicro"
TABLE = "unfinished"
_TITLE = "unfinished"
_OF_RELEASES = (
    "releases", "audits", "candidates", "memory", "class_values", "contents", "series", "series_seats",
    "series_classes", "series_values", "series_sensitive", "series_texts", "series_rows", "series_combinations",
    "series_inputs", "series_occurred", "series_records", "series_columns", "series_contents", "series_measured",
)  # fmt: skip
"""The tables with rows of releases; what they held before a release is found again when its rows are removed."""
_DEFINITION = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  run VARCHAR, release BIGINT, state VARCHAR, path VARCHAR, kept VARCHAR, digest VARCHAR)"""
_live: set[str] = set()
"""The runs of this process that are putting files in place: other threads leave them alone."""


@dataclass(frozen=True)
class _Placing:
    """The files of one run that were being put in place, with the releases they are of."""

    run: str
    releases: tuple[int, ...]
    recorded: bool
    moves: tuple[Move, ...]


def exists(warehouse: Database, catalog: str = "") -> bool:
    """Tell whether a database has the table of what is unfinished."""
    return bool(tables_of(warehouse, [_table(warehouse, catalog=catalog)]))


def note_not_purged(warehouse: Database, catalog: str, release: int) -> None:
    """Record, in the open transaction, that a release in place is not purged yet."""
    _insert(warehouse, _table(warehouse, catalog=catalog), [None, release, "not purged", None, None, None])


def not_purged(warehouse: Database, catalog: str = "") -> list[int]:
    """Return the releases in place whose replaced values are still in the file of a database."""
    if not exists(warehouse, catalog):
        return []
    rows = warehouse.query(
        _TITLE,
        "SELECT DISTINCT release FROM {{ name | ident }} WHERE state = 'not purged' ORDER BY 1",
        name=_table(warehouse, catalog=catalog),
    )
    return [int(release) for (release,) in rows]


def without_purged(warehouse: Database, catalog: str) -> Name:
    """Return a staging view of what is unfinished in a database whose file is purged."""
    view = warehouse.staged("unfinished_without_purged")
    warehouse.query(
        _TITLE,
        "CREATE OR REPLACE VIEW {{ view | ident }} AS SELECT * FROM {{ name | ident }} WHERE state <> 'not purged'",
        view=view,
        name=_table(warehouse, catalog=catalog),
    )
    return view


# Files


@contextmanager
def live() -> Iterator[str]:
    """Return the name of a run that puts files in place for the length of the block."""
    run = secrets.token_hex(8)
    _live.add(run)
    try:
        yield run
    finally:
        _live.discard(run)


def note_pending(warehouse: Database, run: str, release: int, planned: Sequence[Move]) -> None:
    """Record, in the open transaction, that the files of a release are about to be put in place."""
    for move in planned:
        kept = None if move.kept is None else str(move.kept)
        values = [run, release, "pending", str(move.place), kept, move.digest]
        _insert(warehouse, _table(warehouse), values)


def note_recorded(warehouse: Database, run: str) -> None:
    """Record, in the open transaction, that the files of a run are in place."""
    warehouse.insert(_TITLE, "UPDATE {{ t | ident }} SET state = 'recorded' WHERE run = $1", [run], t=_table(warehouse))


def end(warehouse: Database, run: str) -> None:
    """Forget a run of which nothing is left to be done."""
    if exists(warehouse):  # a run that has put objects only was never pending
        warehouse.insert(_TITLE, "DELETE FROM {{ t | ident }} WHERE run = $1", [run], t=_table(warehouse))


def take_back(warehouse: Database, run: str, releases: Sequence[int]) -> None:
    """Forget a run, in the open transaction, and the releases that were recorded for it."""
    there = tables_of(warehouse, [_table(warehouse, table) for table in _OF_RELEASES])
    for table in _OF_RELEASES:
        name = _table(warehouse, table)
        if table in there:
            warehouse.insert(
                _TITLE,
                "DELETE FROM {{ t | ident }} WHERE list_contains($1, {{ c | ident }})",
                [list(releases)],
                t=name,
                c="id" if table == "releases" else "release",
            )
    end(warehouse, run)


def left(warehouse: Database) -> list[_Placing]:
    """Return the runs that were killed while they put files in place."""
    return _left(warehouse) if exists(warehouse) else []


def _left(warehouse: Database) -> list[_Placing]:
    rows = warehouse.query(
        _TITLE,
        "SELECT run, release, state, path, kept, digest FROM {{ t | ident }} WHERE run IS NOT NULL ORDER BY rowid",
        t=_table(warehouse),
    )
    found = []
    for run in dict.fromkeys(row[0] for row in rows if row[0] not in _live):
        with contextlib.suppress(ValueError):  # what is kept has no name of ours: no file of others is touched
            found.append(_placing(run, [row[1:] for row in rows if row[0] == run]))
    return found


def _placing(run: str, rows: Sequence[tuple[Any, ...]]) -> _Placing:
    planned = [
        Move(Path(), Path(path), None if kept is None else Path(kept), str(digest)) for _, _, path, kept, digest in rows
    ]
    numbers = tuple(dict.fromkeys(int(release) for release, *_ in rows))
    return _Placing(run, numbers, any(state == "recorded" for _, state, *_ in rows), tuple(planned))


def tell(warehouse: Database, *, settles: bool, purging: bool = False) -> None:
    """Settle what killed runs left, where the file can be written to, and say what is unfinished."""
    if not warehouse.has_file or not exists(warehouse):
        return
    for placing in _left(warehouse):
        warehouse.progress.say(_settle(warehouse, placing) if settles else _killed(placing) + ": open it to write")
    for sentence in () if purging else not_purged_yet(warehouse):
        warehouse.progress.say(sentence)


def not_purged_yet(warehouse: Database) -> list[str]:
    """Return a sentence on the releases in place that wait for the purge."""
    found = not_purged(warehouse)
    if not found:
        return []
    what = f"release {', '.join(map(str, found))} in place is published, but not purged yet: "
    return [what + f"the replaced values stay readable in the file until: sqlmicro purge --db {warehouse.db}"]


def _settle(warehouse: Database, placing: _Placing) -> str:
    """Finish what is in place as a whole, take anything else back, and say which it was."""
    if not all(move.place.parent.is_dir() for move in placing.moves):
        return f"{_killed(placing)}, and their folder is not there now"
    try:
        done = placing.recorded or all(moves.is_put(move) for move in placing.moves)
        if done:
            moves.forget(placing.moves)
        else:
            moves.take_back(placing.moves)
    except OSError:
        return f"{_killed(placing)}, and their folder cannot be written to now"
    with warehouse.aside():
        if done:
            end(warehouse, placing.run)
        else:
            take_back(warehouse, placing.run, placing.releases)
    return _killed(placing) + (": all of them are there now, and it is finished" if done else ": it is taken back")


def _killed(placing: _Placing) -> str:
    return f"release {', '.join(map(str, placing.releases))} was killed while its files were put in place"


def _table(warehouse: Database, table: str = TABLE, catalog: str = "") -> Name:
    return warehouse.full(Name(catalog, SCHEMA, table))


def _insert(warehouse: Database, table: Name, values: Sequence[object]) -> None:
    warehouse.query(_TITLE, _DEFINITION, name=table)
    warehouse.insert(_TITLE, "INSERT INTO {{ t | ident }} VALUES ($1, $2, $3, $4, $5, $6)", values, t=table)
