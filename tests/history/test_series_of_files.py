"""A series of safe: every file by what an outsider counts, and what cannot be a night of it.

What is counted here is counted in plain Python from the released tables, over all pairs of nights.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
import world
from world import counted as released
from world import execute

pytest.importorskip("numba")

from command import run as command

from sqlmicro.database.templates import ident
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.history import remembered
from sqlmicro.safe_method import continued
from sqlmicro.safe_method.admissible import Combinations
from sqlmicro.safe_method.successor import Night

COLUMNS = ["sex", 'net "income"', "size", "born", "sick"]
GIVEN: dict[str, Any] = {"columns": COLUMNS, "k": 3, "nulls": "keep", "effort": "fast", "series": "files"}


def persons(first: int, rows: int, draw: random.Random) -> str:
    return ", ".join(
        f"({first + i}, '{draw.choice('fmd')}', {draw.choice(['NULL', '0.5', '1.5', '-2.25'])}, "
        f"{min(draw.randrange(7), draw.randrange(7))}, DATE '2000-01-01' + {draw.randrange(3)}, {draw.random() < 0.3})"
        for i in range(rows)
    )


def make(path: str) -> str:
    execute(
        path,
        'CREATE TABLE persons(id INTEGER, sex VARCHAR, "net ""income""" DOUBLE, size INTEGER, born DATE, sick BOOLEAN)',
        f"INSERT INTO persons VALUES {persons(0, 300, random.Random(1))}",
    )
    return path


@pytest.fixture
def db(tmp_path: Path) -> str:
    return make(str(tmp_path / "w.duckdb"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Publish the first night once, for all tests that go on from there."""
    db = make(str(tmp_path_factory.mktemp("files") / "w.duckdb"))
    night(db, 1)
    return db


@pytest.fixture
def begun(first: str, tmp_path: Path) -> str:
    return str(shutil.copy(first, tmp_path / "w.duckdb"))


def night(db: str, number: int, **more: Any) -> dict[str, Any]:
    return world.night("safe", db, number, row_key=None, **{**GIVEN, **more})


def changed(db: str, number: int, draw: random.Random) -> None:
    execute(db, f"DELETE FROM persons WHERE id % 37 = {number}",
            f"UPDATE persons SET sex = '{draw.choice('fmd')}' WHERE id % 53 = {number}",
            f"INSERT INTO persons VALUES {persons(1000 * number, draw.randrange(12), draw)}")  # fmt: skip


def faults(nights: list[Counter[Any]], k: int) -> list[Any]:
    """Return the combinations that differ by 1 to k - 1 rows between two nights, and likewise the whole files."""
    found = [
        (row, a[row], b[row]) for a, b in combinations(nights, 2) for row in {*a, *b} if 0 < abs(a[row] - b[row]) < k
    ]
    totals = [sum(one.values()) for one in nights]
    return [*found, *((a, b) for a, b in combinations(totals, 2) if 0 < abs(a - b) < k)]


def checks(report: dict[str, Any]) -> dict[str, Any]:
    return {row["check"]: row["value"] for row in report["audits"] if row["check"].startswith("series")}


@pytest.mark.slow
def test_nights_differ_by_whole_classes_only(db: str) -> None:
    """Values vanish, NULLs and dates come and go, a night is missed, one is run twice."""
    draw, nights = random.Random(2), list[Counter[Any]]()
    for number in (1, 2, 3, 5, 6):
        report = night(db, number, max_loss_of_rows=0.3)
        nights.append(released(db))
        assert report["verdict"]["passed"]
        assert report["series"]["withheld"] == execute(db, "SELECT count(*) FROM persons")[0][0][0] - nights[-1].total()
        if number > 1:
            assert all(value is None or value >= 3 for value in checks(report).values())
            assert set(checks(report)) == {"series-rows", "series-records"}
        changed(db, number, draw)
        if number == 3:
            execute(db, "DELETE FROM persons WHERE sex = 'd' AND size > 1")
    assert len({frozenset(one.items()) for one in nights}) > 3
    assert not faults(nights, 3)


@pytest.mark.slow
def test_the_same_records_have_the_same_file(begun: str) -> None:
    db = begun
    changed(db, 1, random.Random(3))
    night(db, 2)
    once = released(db)
    night(db, 2)
    again = released(db)
    execute(
        db, "CREATE TABLE copy AS FROM persons ORDER BY id DESC", "DELETE FROM persons", "INSERT INTO persons FROM copy"
    )
    assert night(db, 3)["series"]["night"] == 3
    assert once == again == released(db)


@pytest.mark.slow
def test_every_night_has_the_scales_of_the_first(begun: str) -> None:
    """`size` has 7 values, which `profile` takes for codes; with 200 it would be averaged, and the night be refused."""
    db = begun
    new = "SELECT 10000 + i, 'f', 0.5, 50 + i % 200, DATE '2000-01-01', false FROM range(800) r(i)"
    execute(db, f"INSERT INTO persons {new}")
    assert night(db, 2)["verdict"]["passed"]
    assert len({row[COLUMNS.index("size")] for row in released(db)}) > 7


def test_nothing_of_a_person_is_remembered(begun: str) -> None:
    db = begun
    texts = execute(db, f"SELECT column_name, value FROM sqlmicro.{remembered.COMBINATIONS}")[0]
    shown = {None if value is None else str(value).lower() for row in released(db) for value in row}
    assert {value for _, value in texts} <= shown
    for table in (remembered.SEATS, remembered.CLASSES):
        assert execute(db, f"SELECT count(*) FROM sqlmicro.{table}") == [[(0,)]]


def test_a_file_that_is_not_carried_on_is_never_published(begun: str, monkeypatch: pytest.MonkeyPatch) -> None:
    db = begun
    before = released(db)

    def wrong(tonight: Combinations, *_: Any, **__: Any) -> Night:
        counts = tonight.shown.before.copy()
        one, other = counts.argsort()[-2:]
        counts[one] += 1
        counts[other] -= 1
        return Night(counts, int(tonight.n.sum() - counts.sum()), 0.0, 0, False)

    execute(db, f"INSERT INTO persons VALUES {persons(1000, 12, random.Random(4))}")
    with monkeypatch.context() as patched:
        patched.setattr(continued, "carried_on", wrong)
        with pytest.raises(AuditFailed, match="series-rows"):
            night(db, 2)
    assert released(db) == before
    night(db, 2)
    assert not faults([before, released(db)], 3)


@pytest.mark.slow
def test_a_new_epoch_begins_anew(begun: str) -> None:
    db = begun
    changed(db, 1, random.Random(5))
    assert night(db, 2, epoch=True, alone_because="a test")["series"] | {"opened": 0} == {
        "name": "files", "epoch": 2, "night": 1, "day": "2026-01-02", "withheld": 0, "longest_wait": 0, "empty": 0,
        "opened": 0, "closed": 0, "moves": False,
    }  # fmt: skip


@pytest.mark.slow
def test_files_with_a_ledger_of_their_own_are_carried_on(db: str, tmp_path: Path) -> None:
    draw, nights = random.Random(6), list[Counter[Any]]()
    for number in (1, 2, 3):
        file = tmp_path / f"out_{number}.parquet"
        night(db, number, into=None, overwrite=False, to=str(file), ledger=str(tmp_path / "ledger.duckdb"))
        nights.append(Counter(duckdb.execute(f"FROM '{file}'").fetchall()))
        changed(db, number, draw)
    assert len({frozenset(one.items()) for one in nights}) == 3
    assert not faults(nights, 3)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"method": "cluster"}, "direct search"),
        ({"round": ["size=2"], "numeric": ["size"]}, "--round"),
        ({"algorithm": ["mdav"]}, "--algorithm"),
        ({"numeric_values": "means"}, "averaged: "),
        ({"columns": COLUMNS[1:], "sensitive": ["sex"], "min_l": 2}, "rows that are of no record.*--columns"),
        ({"columns": COLUMNS[1:], "rest": "keep", "drop": ["id"]}, "rows that are of no record.*--columns"),
        ({"person": ["id"]}, "k rows by which two nights differ may be of one person. Got --person"),
        ({"household": ["id"]}, "may be of one household. Got --household"),
        ({"nulls": "pattern"}, "--nulls"),
        ({"keep_candidates": True}, "--keep-candidates"),
    ],
)
def test_what_cannot_be_a_night_is_refused(db: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        night(db, 1, **more)


def test_a_stratum_of_a_file_is_a_column_of_it(db: str) -> None:
    """Every combination has one value of it, as of any column: it is the same file."""
    night(db, 1, columns=COLUMNS[1:], by=COLUMNS[:1], seed="one", into="of_stratum")
    night(db, 1, columns=[*COLUMNS[1:], *COLUMNS[:1]], seed="one", into="of_columns", series="other")
    columns = ", ".join(str(ident(name)) for name in COLUMNS)
    both = [execute(db, f"SELECT {columns}, count(*) FROM {name} GROUP BY ALL ORDER BY ALL")[0]
            for name in ("of_stratum", "of_columns")]  # fmt: skip
    assert both[0] == both[1]


def test_a_changed_schema_or_k_needs_a_new_epoch(begun: str) -> None:
    db = begun
    with pytest.raises(InputError, match="--epoch"):
        night(db, 2, k=4)
    execute(db, "ALTER TABLE persons ALTER size TYPE BIGINT")
    with pytest.raises(InputError, match="--epoch"):
        night(db, 2)


def test_a_new_column_that_is_dropped_changes_nothing_and_missing_values_need_no_option(begun: str) -> None:
    """The first night was made with --nulls keep, which is the default of a series."""
    execute(begun, "ALTER TABLE persons ADD COLUMN town VARCHAR")
    assert night(begun, 2, nulls=None)["verdict"]["passed"]


@pytest.mark.slow
def test_command_needs_no_row_key_and_lists_the_series(db: str) -> None:
    names = "sex,size,born,sick"
    for day in ("2026-01-01", "2026-01-02"):
        done = command(
            "safe", "--db", db, "--table", "persons", "--columns", names, "--rest", "drop", "--into", "out",
            "--overwrite", "--series", "files", "--night", day, "--effort", "fast", "--nulls", "error",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        changed(db, 1, random.Random(7))
    listed = command("series", "--db", db, "--json")
    assert f'"rows": {released(db).total()}' in listed.stdout
