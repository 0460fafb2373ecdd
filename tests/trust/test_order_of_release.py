"""The order of a release: any order with the same probability, and nothing of the input in it."""

from __future__ import annotations

from hashlib import sha256, shake_128
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from databases import opened

import sqlmicro
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import aligned
from sqlmicro.system.secrets import WORDS_OF_A_BLOCK, Key


def test_words_are_those_of_shake_128_block_by_block() -> None:
    n = WORDS_OF_A_BLOCK + 3
    found = np.frombuffer(b"".join(Key.words("5e", n)), "<u8")
    blocks = (shake_128(b"5e" + bytes(7) + bytes([block])).digest(8 * words) for block, words in ((0, n - 3), (1, 3)))
    assert np.array_equal(found, np.frombuffer(b"".join(blocks), "<u8"))
    assert len(np.unique(found)) == n  # no block repeats another one
    assert not np.array_equal(found, np.frombuffer(b"".join(Key.words("5f", n)), "<u8"))
    assert list(Key.words("5e", 0)) == []


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """Return the places of the records in releases under 40 seeds; some records are suppressed."""

    db = tmp_path_factory.mktemp("order") / "persons.duckdb"
    with opened(db) as con:
        con.execute("CREATE TABLE persons AS SELECT i AS id, CASE WHEN i < 3 THEN NULL ELSE i * 1.5e0 END AS x "
                    "FROM range(23) AS t(i)")  # fmt: skip
    found = []
    with sqlmicro.open(str(db)) as session:
        for seed in range(40):
            release = session.individual_ranking(
                "persons", columns="x", keep="id", accept_unique="id", k=2, nulls="suppress", rows_are_persons=True,
                seed=f"seed {seed} of the test",
            )  # fmt: skip
            found.append(release.arrow().column("id").to_pylist())
    return found


@pytest.mark.slow
def test_every_record_is_everywhere(releases: list[list[int]]) -> None:
    assert all(sorted(ids) == list(range(3, 23)) for ids in releases)  # the words of those left out are left out too
    places = np.array([np.argsort(ids) for ids in releases])
    means = places.mean(axis=0)
    # 20 means of 40 places, each with standard deviation sqrt((20² - 1) / 12 / 40) = 0.91
    assert np.all(np.abs(means - 9.5) < 4 * 0.91)
    assert len({tuple(ids) for ids in releases}) == 40


def test_relations_are_joined_by_place_only_where_they_have_all_records() -> None:
    with open_warehouse(None) as warehouse:

        def make(name: str, numbers: list[int]) -> Name:
            return warehouse.load(pa.table({"row_id": pa.array(numbers, pa.int64())}), name, "a test")

        every, others = make("every", [0, 1, 2]), make("others", [2, 0, 1])
        assert aligned(warehouse, every, others)
        assert not aligned(warehouse, every, make("fewer", [0, 1]))
        assert not aligned(warehouse, every, make("added", [0, 1, 3]))  # as many, one left out and one added
        assert not aligned(warehouse, make("left", [1, 2]), make("left_too", [1, 2]))
        assert aligned(warehouse, make("none", []), make("none_too", []))


def bytes_of(table: Any) -> str:
    """Return a hash of the numbers of a release in their order; one that is missing is -1."""
    columns = [table.column(name).fill_null(-1).to_numpy().view(np.int64) for name in table.column_names]
    return sha256(b"".join(column.tobytes() for column in columns)).hexdigest()


@pytest.mark.slow
def test_a_release_depends_on_neither_threads_nor_the_order_of_its_source(tmp_path: Path) -> None:
    """More records than a thread takes at once, with ties, copies and missing values.

    Several columns are put in their places; the records of one are numbered in its order.
    """

    rows = "SELECT i % 140000 AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE hash(i % 140000) % 900 / 4e0 END AS x, "
    rows += "CASE WHEN i % 140000 % 7 < 3 THEN -0.0e0 ELSE hash(i % 140000 + 1) % 50000 / 8e0 END AS y "
    rows += "FROM range(150000) AS t(i)"
    shared: dict[str, Any] = {"keep": "id", "accept_unique": "id", "rows_are_persons": True, "rest": "drop"}
    shared["seed"] = "a seed of the test"
    ranking = {"k": 3, "nulls": "keep", **shared}
    found: list[list[str]] = []
    for number, (order, threads) in enumerate([("i", 1), ("i", 4), ("-i", 2), ("hash(i)", 3)]):
        db = str(tmp_path / f"persons_{number}.duckdb")
        with opened(db) as con:
            con.execute(f"CREATE TABLE persons AS {rows} ORDER BY {order}")
        with sqlmicro.open(db, threads=threads) as session:
            made = [session.individual_ranking("persons", columns=c, **ranking) for c in (["x", "y"], ["x"], ["y"])]
            made += [session.swap("persons", columns=[c], kind="rank", percent=5.0, **shared) for c in ("x", "y")]
            found.append([bytes_of(release.arrow()) for release in made])
    assert all(one == found[0] for one in found)
    assert len({*found[0]}) == len(found[0])


@pytest.mark.slow
def test_the_order_of_a_release_says_nothing_of_the_values_by_which_its_records_were_numbered(tmp_path: Path) -> None:
    """Places of a uniform order correlate with ranks by ± 1/√n; beyond four times that is one key of 16 000."""

    n = 20_000
    db = str(tmp_path / "persons.duckdb")
    with opened(db) as con:
        con.execute(f"CREATE TABLE persons AS SELECT i AS id, i * 1e0 AS x FROM range({n}) AS t(i)")
    with sqlmicro.open(db) as session:
        release = session.individual_ranking(
            "persons", columns=["x"], keep="id", accept_unique="id", rows_are_persons=True, seed="a seed of the test"
        )
        ids = release.arrow().column("id").to_numpy()
    places = np.arange(n)
    assert sorted(ids) == list(range(n))
    for lag in (0, 1, 2, n // 2):
        assert abs(np.corrcoef(places, np.roll(ids, lag))[0, 1]) < 4 / np.sqrt(n), lag
    assert abs(np.corrcoef(ids[1:], ids[:-1])[0, 1]) < 4 / np.sqrt(n)
    assert np.mean(np.abs(np.diff(ids)) == 1) < 10 / n
