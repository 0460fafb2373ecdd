"""The change feed of a Delta table, written down as a list of keys, tells a night of a series what it has to read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlmicro

deltalake = pytest.importorskip("deltalake", reason="needs: pip install 'sqlmicro[lakes]'")
pytestmark = pytest.mark.slow
K = 3


def rows(ids: list[int], ages: list[float]) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "age": pa.array(ages, pa.float64())})


def test_keys_from_a_delta_table_are_a_list_of_changes(tmp_path: Path) -> None:
    """Read are who came, changed and went since the version of the last night; the release is that of all rows."""
    place, keys = f"{tmp_path}/persons", tmp_path / "keys.parquet"
    fed = {"delta.enableChangeDataFeed": "true"}
    deltalake.write_deltalake(place, rows(list(range(60)), [i * 1.5 for i in range(60)]), configuration=fed)
    for name in ("fed", "whole"):
        duckdb.connect(f"{tmp_path}/{name}.duckdb").close()

    def night(name: str, day: int, **more: Any) -> Any:
        return sqlmicro.mdav(
            f"delta:{place}", db=f"{tmp_path}/{name}.duckdb", into="out", columns=["age"], k=K, row_key=["id"],
            rest="drop", overwrite=True, series="s", night=f"2026-01-{day:02}", **more,
        )  # fmt: skip

    since = -1
    for day in (1, 2, 9):
        table = deltalake.DeltaTable(place)
        if day > 1:
            table.delete(f"id = {day}")
            table.update(updates={"age": "9.0"}, predicate=f"id = {day + 20}")
            deltalake.write_deltalake(place, rows([day + 100], [1.0]), mode="append")
            table = deltalake.DeltaTable(place)
        feed = pa.table(table.load_cdf(starting_version=since + 1, ending_version=table.version()))
        pq.write_table(feed.select(["id"]), keys)
        since = table.version()
        told, whole = night("fed", day, changes_from=str(keys)), night("whole", day)
        assert told["series"] == whole["series"]
        read = [note for note in told["notes"] if note.startswith("rows that were read")]
        assert read == ([] if day == 1 else ["rows that were read: 2 of 60; IL is theirs"])
        made = []
        for name in ("fed", "whole"):
            with duckdb.connect(f"{tmp_path}/{name}.duckdb") as connection:
                made.append(Counter(connection.execute("FROM out").fetchall()))
        assert made[0] == made[1]
