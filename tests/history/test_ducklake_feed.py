"""The change feed of a DuckLake tells a night of a series what it has to read."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb

import sqlmicro
from tests.test_sources import VERSION, needs

K = 3


def lake(folder: Path, *texts: str) -> list[list[tuple[Any, ...]]]:
    found = importlib.util.find_spec("duckdb_extension_ducklake")
    (place,) = found.submodule_search_locations if found and found.submodule_search_locations else ("",)
    with duckdb.connect() as connection:
        connection.execute(f"LOAD '{place}/extensions/{VERSION}/ducklake.duckdb_extension'")
        connection.execute(f"ATTACH 'ducklake:{folder}/meta.ducklake' AS lake")
        return [connection.execute(text).fetchall() for text in texts]


def feed(folder: Path, since: int) -> int:
    """Make a view of what has changed after a snapshot; return the newest snapshot, which the view is made in."""
    ((now,),) = lake(folder, "FROM lake.current_snapshot()")[0]
    changes = f"ducklake_table_changes('lake', 'main', 'persons', {since + 1}, {now})"
    lake(folder, f"CREATE OR REPLACE VIEW lake.feed AS SELECT id FROM {changes}")
    return int(now)


@needs("ducklake")
def test_a_view_of_the_change_feed_is_a_list_of_changes(tmp_path: Path) -> None:
    """Read are who came and who changed; seats and rows are those of a night that compares all rows."""
    lake(tmp_path, "CREATE TABLE lake.persons AS SELECT i AS id, i * 1.5 AS age FROM range(60) r(i)")
    for name in ("fed", "whole"):
        duckdb.connect(f"{tmp_path}/{name}.duckdb").close()

    def night(name: str, day: int, **more: Any) -> Any:
        return sqlmicro.mdav(
            "lake.main.persons", db=f"{tmp_path}/{name}.duckdb", attach=f"lake=ducklake:{tmp_path}/meta.ducklake",
            into="out", columns=["age"], k=K, row_key=["id"], rest="drop", overwrite=True, series="s",
            night=f"2026-01-{day:02}", **more,
        )  # fmt: skip

    since = feed(tmp_path, 0)
    night("fed", 1, changes_from="lake.main.feed")
    night("whole", 1)
    for day in (2, 9):
        lake(
            tmp_path,
            f"DELETE FROM lake.persons WHERE id = {day}",
            f"UPDATE lake.persons SET age = 9 WHERE id = {day + 20}",
            f"INSERT INTO lake.persons VALUES ({day + 100}, 1)",
        )
        since = feed(tmp_path, since)
        told, whole = night("fed", day, changes_from="lake.main.feed"), night("whole", day)
        assert told["series"] == whole["series"]
        assert any("rows that were read: 2 of 60" in note for note in told["notes"]), told["notes"]
        made = []
        for name in ("fed", "whole"):
            with duckdb.connect(f"{tmp_path}/{name}.duckdb") as connection:
                made.append(Counter(connection.execute("FROM out").fetchall()))
        assert made[0] == made[1]
