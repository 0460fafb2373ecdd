"""The risk of every record as a table: figures of sdcMicro, naive ones, and that it stays where the originals are."""

from __future__ import annotations

import os
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from databases import insert, opened

import sqlmicro
from sqlmicro import InputError, ParameterError, SqlmicroError
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse

from . import naive

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
Row = tuple[Any, ...]


COLUMNS = 'id INTEGER PRIMARY KEY, "net ""income""" INTEGER, b VARCHAR, h INTEGER'


def made(path: Path, rows: list[Row], columns: str = COLUMNS) -> str:
    """Write the table `people`."""
    db = str(path / "people.duckdb")
    with opened(db) as connection:
        connection.execute(f"CREATE TABLE people ({columns})")
        insert(connection, "people", rows)
    return db


def risks(db: str, table: str = "record_risk", order: str = "1") -> list[dict[str, Any]]:
    with opened(db, read_only=True) as connection:
        cursor = connection.execute(f"SELECT * FROM sqlmicro.{table} ORDER BY {order}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


PEOPLE: list[Row] = [
    (1, 5, "x", 10), (2, 5, "x", 10), (3, 5, "y", 11), (4, 6, "y", 11), (5, 6, "y", None), (6, None, "x", None),
    (7, 7, None, 12),
]  # fmt: skip
QUASI = ['net "income"', "b"]


def test_by_naive_figures(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    report = sqlmicro.audit(
        "people", db=db, quasi=QUASI, household=["h"], sampling_fraction=0.5, per_record="record_risk"
    )
    found = risks(db)
    assert report["record_risks"] == {"table": "sqlmicro.record_risk", "records": 7, "key": ["id"], "lasts": True}
    keys = [row[1:3] for row in PEOPLE]
    sizes = Counter(keys)
    assert list(found[0]) == [
        "id", "class_size", "individual_risk", "household_risk", "suda", "dis_suda", "linked_by",
    ]  # fmt: skip
    assert [row["class_size"] for row in found] == [sizes[key] for key in keys]
    single = [1 / sizes[key] for key in keys]
    assert [row["individual_risk"] for row in found] == pytest.approx(single)
    homes = [row[3] if row[3] is not None else -row[0] for row in PEOPLE]
    shared = {home: 1 - prod(1 - r for r, h in zip(single, homes, strict=True) if h == home) for home in homes}
    assert [row["household_risk"] for row in found] == pytest.approx([shared[home] for home in homes])
    assert [row["suda"] for row in found] == naive.suda(keys, 2)
    (suda,) = sqlmicro.audit("people", db=db, quasi=QUASI, sampling_fraction=0.5, measure="suda")["audits"]
    assert max(row["dis_suda"] for row in found) == suda["dis_suda"]["highest"]
    assert {row["dis_suda"] for row in found if not row["suda"]} == {0.0}
    assert {row["linked_by"] for row in found} == {None}


def test_figures_of_sdcmicro(data_folder: Path, reference_folder: Path, tmp_path: Path) -> None:
    """On testdata, record by record: class sizes, individual and household risk by the weights."""
    db = str(tmp_path / "survey.duckdb")
    with opened(db) as connection:
        connection.execute(
            f"CREATE TABLE survey AS SELECT row_number() OVER () AS id, * FROM '{data_folder / 'testdata.csv'}'"
        )
        connection.execute("ALTER TABLE survey ADD PRIMARY KEY (id)")
    sqlmicro.audit(
        "survey", db=db, quasi=KEYS, weight="sampling_weight", household=["ori_hid"], per_record="record_risk_2"
    )
    with duckdb.connect(db, read_only=True) as connection:
        ((records, size, risk, home),) = connection.execute(
            "SELECT count(*), sum(abs(class_size - fk)), max(abs(individual_risk / risk_approx - 1)), "
            "max(abs(household_risk / hier_risk - 1)) FROM sqlmicro.record_risk_2 AS r JOIN "
            f"(SELECT row_number() OVER () AS id, * FROM read_csv('{reference_folder / 'risk_testdata.csv.gz'}')) "
            "USING (id)"
        ).fetchall()
    assert (records, size) == (4580, 0)
    assert risk < 1e-9
    assert home < 1e-9


def test_who_is_linked(tmp_path: Path) -> None:
    """Records 1 and 2 are alike, so that nobody knows which is which; the others have kept all of their values."""
    rows: list[Row] = [(i, 10 if i < 3 else 100 * i * i, "x", 1) for i in range(1, 31)]
    db = made(tmp_path, rows)
    with opened(db) as connection:
        connection.execute('CREATE TABLE out AS SELECT id, "net ""income""" FROM people WHERE id <> 9')
    sqlmicro.audit("out", db=db, quasi=['net "income"'], original="people", match=["id"], per_record="record_risk")
    found = {row["id"]: row["linked_by"] for row in risks(db)}
    assert found[1] is None
    assert found[2] is None
    assert set(found) == set(range(1, 31)) - {9}
    assert all(found[i] for i in found if i > 2)


@pytest.mark.slow
def test_who_is_linked_is_what_the_audit_counts(tmp_path: Path) -> None:
    """Where no two records are alike, the share of those that are linked is the rate of linkage."""
    rng = np.random.default_rng(5)
    rows: list[Row] = [(i, int(v), "x", 1) for i, v in enumerate(rng.integers(0, 10**6, 300))]
    db = made(tmp_path, rows)
    with opened(db) as connection:
        connection.execute(
            'CREATE TABLE out AS SELECT id, "net ""income""" + (hash(id) % 20001)::INTEGER - 10000 AS "net ""income""" '
            "FROM people"
        )
    given: dict[str, Any] = {"quasi": ['net "income"'], "original": "people", "match": ["id"]}
    (row,) = sqlmicro.audit("out", db=db, measure="linkage", per_record="record_risk", **given)["audits"]
    linked = sum(one["linked_by"] is not None for one in risks(db)) / 300
    assert 0.05 < linked < 0.95
    assert linked == pytest.approx(row["value"], abs=0.02)


def test_a_table_without_a_key_is_numbered(tmp_path: Path) -> None:
    db = made(tmp_path, [(3, "x"), (1, "x"), (2, "y")], "a INTEGER, row_number VARCHAR")
    report = sqlmicro.audit("people", db=db, quasi=["a"], per_record="record_risk")
    assert report["record_risks"]["lasts"] is False
    assert [row["row_number"] for row in risks(db)] == [1, 2, 3]


@pytest.mark.parametrize(
    "options",
    [{"person": ["h"]}, {"nulls": "wildcard"}, {"person": ["h"], "household": ["b"], "quasi": ['net "income"']}],
)
def test_every_record_has_one_row(tmp_path: Path, options: dict[str, Any]) -> None:
    """Of persons too, and where NULL matches every value; who is in no class of her own has no score."""
    db = made(tmp_path, PEOPLE)
    sqlmicro.audit("people", db=db, **{"quasi": QUASI, "per_record": "record_risk"} | options)
    assert [row["id"] for row in risks(db)] == [1, 2, 3, 4, 5, 6, 7]


def test_weights_that_are_missing_or_zero_make_a_risk_of_one_over_f(tmp_path: Path) -> None:
    db = made(tmp_path, [(1, 5, 0.0), (2, 5, None), (3, 6, 100.0)], "id INTEGER PRIMARY KEY, a INTEGER, w DOUBLE")
    sqlmicro.audit("people", db=db, quasi=["a"], weight="w", per_record="record_risk")
    assert [row["individual_risk"] for row in risks(db)][:2] == [0.5, 0.5]
    assert risks(db)[2]["individual_risk"] < 0.05


def test_one_record_and_none(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE[:1])
    sqlmicro.audit("people", db=db, quasi=QUASI, household=["h"], per_record="record_risk")
    (row,) = risks(db)
    assert (row["class_size"], row["individual_risk"], row["household_risk"]) == (1, 1.0, 1.0)
    with opened(db) as connection:
        connection.execute("DELETE FROM people")
    sqlmicro.audit("people", db=db, quasi=QUASI, per_record="record_risk")
    assert risks(db) == []


# Where it may be


def test_it_is_written_nowhere_else(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    (tmp_path / "people.csv").write_text("a\n1\n2\n")
    for into in (
        "people",
        "main.record_risk",
        "other.sqlmicro.record_risk",
        "x.parquet",
        "releases",
        "record_risk.csv",
        "",
    ):
        if into:
            with pytest.raises(ParameterError, match="is record_risk, or a name that begins so"):
                sqlmicro.audit("people", db=db, quasi=["b"], per_record=into)
    for table, options, said in (
        (str(tmp_path / "people.csv"), {"db": db, "quasi": ["a"]}, "must be a table of the database"),
        (str(tmp_path / "people.csv"), {"quasi": ["a"]}, "writes into the database of the originals"),
        ("people", {"db": db, "quasi": ["b"], "original": "people"}, "needs --match"),
        ("people", {"db": db, "quasi": ["b"], "nulls": "exclude"}, "every record has a risk"),
        ("people", {"db": db}, "--quasi"),
    ):
        with pytest.raises(SqlmicroError, match=said):
            sqlmicro.audit(table, per_record="record_risk", **options)
    with duckdb.connect(db, read_only=True) as connection:
        assert connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'record%'"
        ).fetchall() == [(0,)]


def test_not_beside_another_database_or_a_release(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    release = {"columns": ["b"], "keep": ["id"], "accept_unique": ["id"], "drop": ['net "income"', "h"]}
    sqlmicro.pram("people", db=db, into="out", keep_probability=0.5, **release)
    with pytest.raises(InputError, match="which was released"):
        sqlmicro.audit("out", db=db, quasi=["b"], per_record="record_risk")
    other = str(tmp_path / "other.duckdb")
    duckdb.connect(other).close()
    attached = {"db": other, "attach": [f"crm={db}"], "quasi": ["b"], "per_record": "record_risk"}
    with pytest.raises(InputError, match="must be a table of the database that --db names"):
        sqlmicro.audit("crm.main.people", **attached)
    with pytest.raises(InputError, match="must be a table of the database that --db names"):
        sqlmicro.audit("crm.main.out", original="crm.main.people", match=["id"], **attached)


def test_an_older_one_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    for quasi in (["b"], QUASI):
        sqlmicro.audit("people", db=db, quasi=quasi, per_record="record_risk")
    assert risks(db)[2]["class_size"] == 1
    with duckdb.connect(db) as connection:
        connection.execute("CREATE TABLE sqlmicro.record_risk_of_mine (a INTEGER)")
        assert (
            connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'record_risk'")
            .fetchall()[0][0]
            .startswith("Private")
        )
    with pytest.raises(InputError, match="must not be another table"):
        sqlmicro.audit("people", db=db, quasi=QUASI, per_record="record_risk_of_mine")


def test_a_key_that_is_called_like_a_measure(tmp_path: Path) -> None:
    db = made(tmp_path, [(1, "x")], "suda INTEGER PRIMARY KEY, b VARCHAR")
    with pytest.raises(InputError, match="the key is called otherwise"):
        sqlmicro.audit("people", db=db, quasi=["b"], per_record="record_risk")


def test_a_match_that_does_not_identify_a_record(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    for column, found in (("b", "6 that share"), ("h", "2 records with a missing value")):
        with pytest.raises(InputError, match=found):
            sqlmicro.audit("people", db=db, quasi=['net "income"'], match=[column], per_record="record_risk")


def test_a_reader_without_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = made(tmp_path, PEOPLE)
    Path(db).chmod(0o400)
    if os.geteuid() == 0:  # who may write to every file
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(InputError, match="must be a file that you may write to"):
        sqlmicro.audit("people", db=db, quasi=QUASI, per_record="record_risk")
    assert sqlmicro.audit("people", db=db, quasi=QUASI)["audits"]


def test_ctrl_c_leaves_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = made(tmp_path, PEOPLE)
    sqlmicro.audit("people", db=db, quasi=["b"], per_record="record_risk")
    before = risks(db)
    insert = DuckDBWarehouse.insert

    def interrupted(self: DuckDBWarehouse, title: str, *given: Any, **named: Any) -> None:
        if title == "risk tables":
            raise KeyboardInterrupt
        insert(self, title, *given, **named)

    monkeypatch.setattr(DuckDBWarehouse, "insert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sqlmicro.audit("people", db=db, quasi=QUASI, per_record="record_risk")
    assert risks(db) == before


def test_a_session_that_is_open_to_be_read(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    with sqlmicro.open(db, read_only=True) as session, pytest.raises(InputError, match="can be written to"):
        session.audit("people", quasi=QUASI, per_record="record_risk")
    with sqlmicro.open(db) as session:
        session.audit("people", quasi=QUASI, per_record="record_risk")
    assert len(risks(db)) == 7


@pytest.mark.slow
def test_it_goes_with_the_originals(tmp_path: Path) -> None:
    """A release in place removes it, and the purge what was in it; the ledger tells that it is there."""
    columns = "id INTEGER PRIMARY KEY, name VARCHAR, b VARCHAR"
    db = made(tmp_path, [(i, f"secret-key-{i}", "xy"[i % 2]) for i in range(40)], columns)
    with opened(db) as connection:
        connection.execute("CREATE TABLE others AS FROM people")
    sqlmicro.audit("people", db=db, quasi=["b"], per_record="record_risk")
    sqlmicro.audit("others", db=db, quasi=["b"], per_record="record_risk_of_others")
    assert sqlmicro.ledger(db=db)["private"] == ["sqlmicro.record_risk", "sqlmicro.record_risk_of_others"]
    report = sqlmicro.constant("people", db=db, columns=["name"], keep=["id", "b"], accept_unique=["id"], in_place=True)
    assert sqlmicro.ledger(db=db)["private"] == ["sqlmicro.record_risk_of_others"]
    assert any("removed sqlmicro.record_risk" in note for note in report["notes"])
    assert "record_risk" not in str({name: value for name, value in report.items() if name != "notes"})


def test_no_plan_takes_it_for_a_table(tmp_path: Path) -> None:
    db = made(tmp_path, PEOPLE)
    sqlmicro.audit("people", db=db, quasi=QUASI, per_record="record_risk")
    with pytest.raises(SqlmicroError, match="must not be in schema sqlmicro"):
        sqlmicro.shuffle("people", db=db, columns=["b"], rest="drop", into="sqlmicro.record_risk", overwrite=True)
    assert "record_risk" not in str(sqlmicro.init("people", db=db))
