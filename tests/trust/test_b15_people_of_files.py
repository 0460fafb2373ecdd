"""Files are of the same people by what is in them and where they are, never by the last part of a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import run
from databases import opened
from looping import each

from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source, place_of
from sqlmicro.database.templates import Name

UUIDS = ("6cf31a0e-9d5c-4c1b-8a3e-0f6b7c2d1e4f", "0b7d2a66-1e0f-4d57-b0c4-5aa0cbe1f9d2")


@each(
    "one, other, same",
    [
        ("/lake/customers/*/*.parquet", "/lake/orders/*/*.parquet", False),
        (f"/lake/customers/part-00000-{UUIDS[0]}-c000.snappy.parquet",
         f"/lake/orders/part-00000-{UUIDS[1]}-c000.snappy.parquet", False),
        (f"/lake/orders/part-00000-{UUIDS[0]}-c000.snappy.parquet",
         f"/lake/orders/part-00001-{UUIDS[1]}-c000.snappy.parquet", True),
        ("s3://lake/customers/*.parquet", "s3://lake/orders/*.parquet", False),
        ("s3://lake/orders/dt=2026-11-01/*.parquet", "s3://lake/orders/dt=2026-11-02/*.parquet", True),
        ("/in/site1/persons.csv", "/in/site2/persons.csv", False),
        ("/in/table1.csv", "/in/table2.csv", False),
        ("/in/persons-2026-11-01.csv", "/in/persons-2026-11-02.csv", True),
        ("/in/persons_20261101T0300Z.csv", "/in/persons_20261102T0300Z.csv", True),
        ("/in/2026-11-01/persons.csv", "/in/2026-11-02/persons.csv", True),
        ("/in/2026/11/01/persons.csv", "/in/2026/12/31/persons.csv", True),
        ("/in/2026-11-01/persons.csv", "/in/2026-11-01/visits.csv", False),
        ("/in/year=2026/month=1/persons.parquet", "/in/year=2026/month=11/persons.parquet", True),
        ("/in/export 17.csv", "/in/export 18.csv", True),
        ("delta:/lake/customers", "delta:/lake/orders", False),
    ],
)  # fmt: skip
def test_a_place_is_the_whole_path_without_days(one: str, other: str, same: bool) -> None:
    assert (place_of(one) == place_of(other)) is same


def test_a_link_and_a_way_round_lead_to_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "customers").mkdir()
    (tmp_path / "latest").symlink_to("customers")
    monkeypatch.chdir(tmp_path)
    ways = ("customers/*.csv", "latest/*.csv", "latest/../customers/*.csv", f"{tmp_path}/customers/*.csv")
    assert len({place_of(way) for way in ways}) == 1


def _file(label: str, *columns: str) -> Source:
    made = tuple(Column(name, "BIGINT", name) for name in columns)
    return Source(Name("", "", "source"), label, made, is_table=False, is_file=True)


def test_draws_are_shared_by_what_the_columns_are_called() -> None:
    """Exports of two days share them, or noise could be averaged out; unrelated files of one name do not."""
    monday, tuesday = _file("a/1/part.csv", "id", "age"), _file("b/2/other-2.csv", "AGE", "id")
    orders = _file("a/1/part.csv", "id", "amount")
    assert monday.identity == tuesday.identity != orders.identity


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    with opened("made.duckdb") as connection:
        for name, column, step in (("customers", "age", 7), ("orders", "amount", 11)):
            for part in range(2):
                folder = Path(name, f"part{part}")
                folder.mkdir(parents=True)
                rows = (
                    f"SELECT i AS id, 18 + i * {step} % 60 AS {column} FROM range({30 * part}, {30 * part + 30}) r(i)"
                )
                connection.execute(f"COPY ({rows}) TO '{folder}/part-0000{part}.parquet'")
    return tmp_path


def mdav(table: str, column: str, to: str, *more: object):  # type: ignore[no-untyped-def]
    return run("mdav", "--table", table, "--columns", column, "--rest", "drop", "--k", 4, "--to", to, *more)


def test_unrelated_files_of_one_name_are_released_beside_each_other(lake: Path) -> None:
    done = mdav("customers/*/*.parquet", "age", "c.parquet", "--row-key", "id")
    assert done.returncode == 0, done.stderr
    done = mdav("orders/*/*.parquet", "amount", "o.parquet", "--row-key", "id")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_same_people_are_found_by_place_and_by_columns(lake: Path) -> None:
    """Another schema in the same place, and the same schema in another place."""
    assert mdav("customers/*/*.parquet", "age", "c.parquet", "--row-key", "id").returncode == 0
    with opened("made.duckdb") as connection:
        rows = "SELECT * REPLACE (age + id % 3 AS age) FROM 'customers/*/*.parquet' UNION ALL SELECT 900, 41"
        connection.execute(f"COPY ({rows}) TO 'elsewhere.parquet'")
    refused = mdav("elsewhere.parquet", "age", "again.parquet", "--row-key", "id")
    assert refused.returncode == 1 and "together with release 1 (c.parquet)" in " ".join(refused.stderr.split())
    with opened("made.duckdb") as connection:
        for part in Path("customers").glob("*/*.parquet"):
            connection.execute(f"COPY (SELECT *, 1 AS more FROM '{part}' WHERE id <> 7) TO 'x.parquet'")
            Path("x.parquet").replace(part)
    refused = mdav(f"{lake}/customers/*/*.parquet", "age", "third.parquet", "--row-key", "id")
    assert refused.returncode == 1 and "together with release 1 (c.parquet)" in " ".join(refused.stderr.split())
