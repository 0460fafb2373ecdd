"""A night that is killed, at whatever statement, leaves release, ledger and memory of the series agreeing."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened

import sqlmicro
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.system import moves

GIVEN: dict[str, Any] = {
    "columns": ["age", "pay"], "rest": "drop", "row_key": ["id"], "k": 3, "series": "s", "overwrite": True,
}  # fmt: skip


def night(folder: Path, number: int, *, file: bool, **more: Any) -> None:
    where = {"to": str(folder / "out.parquet")} if file else {"into": "out"}
    sqlmicro.mdav("persons", db=str(folder / "w.duckdb"), night=f"2026-01-0{number}", **where, **GIVEN, **more)


def released(folder: Path, *, file: bool) -> Counter[Any]:
    with opened(folder / "w.duckdb", read_only=True) as connection:
        return Counter(connection.execute(f"FROM '{folder / 'out.parquet'}'" if file else "FROM out").fetchall())


def state(folder: Path, *, file: bool) -> tuple[Any, ...]:
    """Return what is there: the release, its number in the ledger, and what the series remembers and of which night."""
    db = str(folder / "w.duckdb")
    (row,) = sqlmicro.series(db=db)["series"]
    entries = sqlmicro.ledger(db=db)["releases"]
    return released(folder, file=file), row, [one["release"] for one in entries], all(one["intact"] for one in entries)


def killed(work: Any, at: int) -> int:
    """Run `work` in a child that is killed before its statement, or file, number `at`; return how it ended."""
    child = os.fork()
    if child == 0:
        done = [0]

        def counted(function: Any) -> Any:
            def call(*given: Any, **named: Any) -> Any:
                done[0] += 1
                if done[0] == at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*given, **named)

            return call

        DuckDBWarehouse._call = counted(DuckDBWarehouse._call)  # type: ignore[method-assign]
        moves.put = counted(moves.put)
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "more"),
    [(False, {}), (True, {}), (False, {"household": ["home"], "nulls": "pattern"})],
    ids=["table", "file", "households and patterns"],
)
def test_a_killed_night_was_published_as_a_whole_or_not_at_all(
    tmp_path: Path, *, file: bool, more: dict[str, Any]
) -> None:
    """Killed before every 19th statement, and made again after every second kill; WHOLE=1 kills before every one."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    with duckdb.connect(str(first / "w.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE persons AS SELECT i AS id, 20 + i * 7 % 50 AS age, i * 37 % 900 AS pay, i % 25 AS home "
            "FROM range(60) r(i)"
        )
        if more:
            connection.execute("UPDATE persons SET pay = NULL WHERE id % 5 = 0")
    night(first, 1, file=file, **more)
    with duckdb.connect(str(first / "w.duckdb")) as connection:
        connection.execute("DELETE FROM persons WHERE id % 9 = 0")
        connection.execute("INSERT INTO persons SELECT 100 + i, 30, 400 + i, 50 + i FROM range(5) r(i)")
        if more:
            connection.execute("UPDATE persons SET home = 70 WHERE home = 7")
    old = state(first, file=file)
    shutil.copytree(first, second)
    night(second, 2, file=file, **more)
    new = state(second, file=file)
    assert old != new
    found, at, step = [], 1, 1 if "WHOLE" in os.environ else 19
    while True:
        shutil.rmtree(second)
        shutil.copytree(first, second)
        ended = killed(lambda: night(second, 2, file=file, **more), at)
        left = state(second, file=file)
        assert left in (old, new), at
        found.append(left == new)
        if os.WIFEXITED(ended):
            break
        if left == old and len(found) % 2:
            night(second, 2, file=file, **more)
            assert released(second, file=file) == new[0], "the night is made again as it would have been"
        at += step
    assert found == sorted(found)
    assert len(found) > 10
    assert found[-1]
    assert not found[0]
