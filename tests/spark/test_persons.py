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
    moved = [f"avg((r.{one} - o.{one}) ** 2) / var_pop(o.{one})" for one in columns]
    text = f"SELECT ({' + '.join(moved)}) / {len(columns)} FROM '{path}' r JOIN '{visits}' o USING (id)"
    return duckdb.sql(text).fetchall()[0][0]


def both(method, table, tmp_path, **given):
    """Release a table on one machine and on Spark; return the reports, and where the two are."""
    given |= {"keep": ["id"], "accept_unique": ["id"], "rest": "drop"}
    ours = method(table, to=str(tmp_path / "alone.parquet"), **given)
    theirs = method(table, to=str(tmp_path / "spark"), engine="spark", **given)
    return ours, theirs, tmp_path / "alone.parquet", f"{tmp_path}/spark/*.parquet"


@pytest.mark.parametrize(
    ("method", "columns", "most", "own"),
    [
        (sqlmicro.mdav, ["cost", "day"], 400, {}),
        (sqlmicro.microaggregate, ["cost", "day"], 400, {"quality": "balanced"}),
        (sqlmicro.mdav, ["cost", "day"], 300, {"by": ["region"]}),
        (sqlmicro.mdav, ["decade", "cost"], 20_000, {}),
        (sqlmicro.v_mdav, ["decade", "cost", "day"], 300, {}),
    ],
    ids=["records", "annealed", "strata", "levels", "levels in parts"],
)
def test_groups_in_blocks_count_persons(spark, stays, tmp_path, monkeypatch, most_at_driver, method, columns, most, own):
    monkeypatch.setattr(blocks, "MOST", most)
    ours, theirs, alone, there = both(method, stays, tmp_path, columns=columns, person=["patient_id"], k=4, **own)
    print(loss(there, stays, columns), loss(alone, stays, columns), ours["steps"][0]["groups"], theirs["steps"][0]["groups"], theirs["notes"], ours["notes"], max(most_at_driver))
    assert fewest(there, stays, [*columns, *own.get("by", [])]) >= 4
    assert theirs["passed"] and theirs["k"] >= 4
    assert theirs["promise"] == ours["promise"]
    assert loss(there, stays, columns) <= 1.1 * loss(alone, stays, columns)
