"""Groups in blocks on Spark, where k counts persons: counted by hand, and no worse than on one machine."""

from __future__ import annotations

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import InputError
from sqlmicro.spark import blocks

pytestmark = pytest.mark.slow


def fewest(path, visits, columns, of="patient_id"):
    """Count by hand the fewest persons of a class; all rows of nobody are one."""
    named = ", ".join(f"r.{name}" for name in columns)
    who = f"SELECT count(DISTINCT coalesce({of}, -1)) FROM '{path}' r JOIN '{visits}' o USING (id)"
    return min(duckdb.sql(f"{who} GROUP BY {named}").fetchall())[0]


def loss(path, visits, columns):
    """Return the squares of what the values were moved by, in units of the variance, on average of the columns."""
    moved = [f"avg((CAST(r.{one} AS DOUBLE) - o.{one}) ** 2) / var_pop(o.{one})" for one in columns]
    text = f"SELECT ({' + '.join(moved)}) / {len(columns)} FROM '{path}' r JOIN '{visits}' o USING (id)"
    return duckdb.sql(text).fetchall()[0][0]


def both(release, table, tmp_path, **given):
    """Release a table on one machine and on Spark; return the reports, and where the two are."""
    given |= {"keep": ["id"], "accept_unique": ["id"], "rest": "drop"}
    ours = release(table, to=str(tmp_path / "alone.parquet"), **given)
    theirs = release(table, to=str(tmp_path / "spark"), engine="spark", **given)
    return ours, theirs, tmp_path / "alone.parquet", f"{tmp_path}/spark/*.parquet"


@pytest.mark.parametrize(
    ("method", "columns", "most", "own"),
    [
        (sqlmicro.microaggregate, ["cost", "day"], 400, {"quality": "balanced"}),
        (sqlmicro.mdav, ["cost", "day"], 150, {"by": ["region"]}),
        (sqlmicro.mdav, ["decade", "cost"], 20_000, {}),
        (sqlmicro.v_mdav, ["decade", "cost", "day"], 300, {}),
    ],
    ids=["annealed", "strata", "levels", "levels in parts"],
)
def test_groups_in_blocks_count_persons(spark, stays, tmp_path, monkeypatch, method, columns, most, own):
    """Blocks have some hundred records, so that groups lie across borders and persons are in several blocks."""
    monkeypatch.setattr(blocks, "MOST", most)
    ours, theirs, alone, there = both(method, stays, tmp_path, columns=columns, person=["patient_id"], k=4, **own)
    assert fewest(there, stays, [*columns, *own.get("by", [])]) >= 4
    assert theirs["passed"] and theirs["k"] >= 4
    assert theirs["promise"] == ours["promise"]
    assert loss(there, stays, columns) <= 1.15 * loss(alone, stays, columns)


def test_a_block_without_k_persons_is_taken_back(spark, stays, tmp_path, monkeypatch):
    """One person has a third of all records, far from the others: cut at the median these would be a block."""
    path = tmp_path / "one.parquet"
    duckdb.execute(
        f"COPY (SELECT id, CASE WHEN id % 3 = 0 THEN 0 ELSE id END AS patient_id, "
        f"CASE WHEN id % 3 = 0 THEN 1000 + id % 50 ELSE cost % 50 END AS cost FROM '{stays}') "
        f"TO '{path}' (FORMAT parquet)"
    )
    monkeypatch.setattr(blocks, "MOST", 200)
    given = {"columns": ["cost"], "person": ["patient_id"], "k": 3, "keep": ["id"], "accept_unique": ["id"]}
    report = sqlmicro.mdav(str(path), to=str(tmp_path / "spark"), rest="drop", engine="spark", **given)
    assert report["passed"]
    assert fewest(f"{tmp_path}/spark/*.parquet", path, ["cost"]) >= 3


def test_strata_without_k_persons_are_refused(spark, stays, tmp_path):
    given = {"columns": ["cost"], "rest": "drop", "engine": "spark", "to": str(tmp_path / "release")}
    with pytest.raises(
        InputError, match=r"at least k = 90 persons\. Got \d of 4 strata with fewer, the smallest has \d+\."
    ):
        sqlmicro.mdav(stays, person=["patient_id"], by=["region"], k=90, **given)
    with pytest.raises(InputError, match=r"there must be at least k = 386 persons\. Got 385\."):
        sqlmicro.mdav(stays, person=["patient_id"], k=386, **given)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "columns", "unit", "own"),
    [
        (sqlmicro.mdav, ["rent", "decade", "cost"], "patient_id", {}),
        (sqlmicro.mdav, ["rent", "cost"], "", {}),
        (sqlmicro.safe, ["rent", "decade", "sex"], "patient_id", {"method": "search", "effort": "fast"}),
        (sqlmicro.suppress, ["rent", "sex"], "patient_id", {}),
        (sqlmicro.generalize, ["rent", "decade"], "patient_id", {"width": ["rent=200", "rent=400", "decade=40"]}),
        (sqlmicro.individual_ranking, ["rent", "decade"], "patient_id", {}),
        (sqlmicro.noise, ["rent", "decade"], "patient_id", {}),
    ],
    ids=["mdav", "mdav of rows", "safe", "suppress", "generalize", "individual-ranking", "noise"],
)
def test_households_keep_one_value_in_classes_of_k(spark, stays, tmp_path, method, columns, unit, own):
    """Counted by hand: households in the classes of their column, persons in those of all, values of each unit."""
    given = {"columns": columns, "household": ["home"], **own}
    given |= {"person": [unit]} if unit else {"rows_are_persons": True}
    given |= {"amount": 0.3} if method is sqlmicro.noise else {"until_k": 4} if "width" in own else {"k": 4}
    ours, theirs, _, there = both(method, stays, tmp_path, **given)
    assert theirs["promise"] == ours["promise"] and theirs["passed"] == ours["passed"]
    about = [note for note in ours["notes"] if "household" in note or "person" in note]
    told = {note for note in about if "classes of" not in note and "moved" not in note and "changed seats" not in note}
    assert {note for note in theirs["notes"] if note in told} == told
    if method is not sqlmicro.noise:
        assert fewest(there, stays, ["rent"], "home") >= 4
        for together in [columns] if "record" in ours["promise"] else [[column] for column in columns]:
            assert fewest(there, stays, together, unit or "o.id") >= 4
    for column, of in {"rent": "home", "decade": "patient_id"}.items():
        if column in columns:
            known = f"FROM '{there}' r JOIN '{stays}' o USING (id) WHERE {of} IS NOT NULL"
            value = f"coalesce(CAST(r.{column} AS VARCHAR), 'none')"
            most = f"SELECT max(n) FROM (SELECT count(DISTINCT {value}) AS n {known} GROUP BY {of})"
            assert duckdb.sql(most).fetchall() == [(1,)]
