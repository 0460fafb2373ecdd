"""The change feed of a DuckLake tells a night of a series what it has to read."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import insert

import sqlmicro
from tests.test_sources import VERSION, needs

pytestmark = pytest.mark.slow
K = 3


def lake(folder: Path, *texts: str) -> list[list[tuple[Any, ...]]]:
    found = importlib.util.find_spec("duckdb_extension_ducklake")
    (place,) = found.submodule_search_locations if found and found.submodule_search_locations else ("",)
    with duckdb.connect() as connection:
        connection.execute(f"LOAD '{place}/extensions/{VERSION}/ducklake.duckdb_extension'")
        connection.execute(f"ATTACH 'ducklake:{folder}/meta.ducklake' AS lake")
        return [connection.execute(text).fetchall() for text in texts]


class Nights:
    """Nights of the persons of a lake, and of a copy of them in a database without a feed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.change("CREATE TABLE lake.persons AS SELECT i AS id, i * 1.5 AS age FROM range(60) r(i)")
        for name in ("fed", "whole"):
            duckdb.connect(f"{folder}/{name}.duckdb").close()

    def change(self, *texts: str) -> list[list[tuple[Any, ...]]]:
        return lake(self.folder, *texts)

    def moves(self, day: int) -> None:
        self.change(
            f"DELETE FROM lake.persons WHERE id = {day}",
            f"UPDATE lake.persons SET age = 9 WHERE id = {day + 20}",
            f"INSERT INTO lake.persons VALUES ({day + 100}, 1)",
        )

    def night(self, name: str, day: int, **more: Any) -> Any:
        rows = self.change("SELECT id, CAST(age AS DOUBLE) FROM lake.persons")[0]
        source, attach = "lake.main.persons", [f"lake=ducklake:{self.folder}/meta.ducklake"]
        if name == "whole":
            source, attach = "persons", []
            with duckdb.connect(f"{self.folder}/whole.duckdb") as connection:
                connection.execute("CREATE OR REPLACE TABLE persons (id BIGINT, age DOUBLE)")
                insert(connection, "persons", rows)
        return sqlmicro.mdav(
            source, db=f"{self.folder}/{name}.duckdb", attach=attach, into="out", columns=["age"], k=K, row_key=["id"],
            rest="drop", overwrite=True, series="s", night=f"2026-01-{day:02}", **more,
        )  # fmt: skip

    def same(self, day: int, read: int | None, **more: Any) -> None:
        """Publish a night of both; rows and seats are the same, and of the lake so many rows were read (None: all)."""
        told, whole = self.night("fed", day, **more), self.night("whole", day)
        assert told["series"] == whole["series"]
        notes = [note for note in told["notes"] if note.startswith("rows that were read")]
        many = len(self.change("FROM lake.persons")[0])
        source = "" if more else ", by the change feed of the lake"
        assert notes == ([] if read is None else [f"rows that were read: {read} of {many}{source}; IL is theirs"])
        made = []
        for name in ("fed", "whole"):
            with duckdb.connect(f"{self.folder}/{name}.duckdb") as connection:
                made.append(Counter(connection.execute("FROM out").fetchall()))
        assert made[0] == made[1]


@needs("ducklake")
def test_a_view_of_the_change_feed_is_a_list_of_changes(tmp_path: Path) -> None:
    """Read are who came and who changed; seats and rows are those of a night that compares all rows."""
    nights, since = Nights(tmp_path), 0
    for day in (1, 2, 9):
        if day > 1:
            nights.moves(day)
        (((now,),),) = nights.change("FROM lake.current_snapshot()")
        told = f"ducklake_table_changes('lake', 'main', 'persons', {since + 1}, {now})"
        nights.change(f"CREATE OR REPLACE VIEW lake.feed AS SELECT id FROM {told}")
        nights.same(day, None if day == 1 else 2, changes_from="lake.main.feed")
        since = int(now)


@needs("ducklake")
def test_a_night_asks_the_lake_itself(tmp_path: Path) -> None:
    nights = Nights(tmp_path)
    nights.same(1, None)
    for day in (2, 9):
        nights.moves(day)
        nights.same(day, 2)
    nights.change("CREATE TABLE lake.other AS SELECT 1 AS a")  # a snapshot that changes nobody
    nights.same(10, 1)


@needs("ducklake")
def test_all_rows_are_read_where_the_lake_cannot_tell(tmp_path: Path) -> None:
    """Snapshots that have expired; another table of this name; a backup that has gone on by itself."""
    nights = Nights(tmp_path)
    nights.same(1, None)
    nights.moves(2)
    (snapshots,) = nights.change("SELECT snapshot_id FROM ducklake_snapshots('lake') ORDER BY snapshot_id")
    nights.change(f"CALL ducklake_expire_snapshots('lake', versions => [{snapshots[-2][0]}])")
    nights.same(2, None)
    nights.moves(9)
    other = "SELECT id, CASE WHEN id = 40 THEN 8 ELSE age END AS age FROM lake.persons"
    nights.change(f"CREATE TABLE lake.next AS {other}")  # before the night, so that its own feed tells nothing after it
    nights.same(9, 2)

    nights.change("ALTER TABLE lake.persons RENAME TO gone")
    nights.change("ALTER TABLE lake.next RENAME TO persons")
    nights.same(10, None)

    backup = tmp_path / "meta.ducklake"
    content = backup.read_bytes()
    nights.moves(11)
    nights.same(11, 3)  # one of them waits
    backup.write_bytes(content)
    for day in (12, 13):
        nights.moves(day)
    nights.same(14, None)
