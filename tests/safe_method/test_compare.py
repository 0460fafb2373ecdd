"""safe-distance: any two tables, compared by cell values."""

import pytest
from databases import opened

import sqlmicro


@pytest.fixture
def db(tmp_path):
    path = str(tmp_path / "w.duckdb")
    with opened(path) as con:
        con.execute(
            "CREATE TABLE a AS SELECT i % 3 AS g, ['x', 'y', NULL][1 + i % 3] AS h, i * 1.5 AS v FROM range(90) r(i)"
        )
        con.execute("CREATE TABLE same AS SELECT h, v, g FROM a ORDER BY v DESC")
        con.execute("CREATE TABLE b AS SELECT CASE WHEN v < 3 THEN 2 ELSE g END AS g, h, v FROM a")
    return path


def test_equal_tables_have_distance_0_whatever_the_order_of_rows_and_columns(db):
    report = sqlmicro.safe_distance("a", "same", db=db)
    assert report["distance"] == 0
    assert report["moments"]["before"] == report["moments"]["after"]


def test_two_records_that_move(db):
    """v = 0 moves from g = 0 to 2 and v = 1.5 from 1 to 2: tables g, h, g x h with n = 90 and sum of v = 6007.5."""
    report = sqlmicro.safe_distance("a", "b", db=db, numeric=["v"], nominal=["g", "h"])
    counts = (4 + 0 + 4) / 180 / 3
    sums = (2 * 1.5 + 0 + 2 * 1.5) / 6007.5 / 3
    assert report["counts"] == pytest.approx(counts, abs=1e-12)
    assert report["sums"] == pytest.approx(sums, abs=1e-12)
    assert report["distance"] == pytest.approx(counts + sums, abs=1e-11)
    assert report["orders"]["1"]["count_max"] == 2
    assert sqlmicro.safe_distance("b", "a", db=db, numeric=["v"], nominal=["g", "h"])["counts"] == report["counts"]


def test_files_are_compared_with_tables(db, tmp_path):
    first, second = str(tmp_path / "a.parquet"), str(tmp_path / "b.csv")
    with opened(db, read_only=True) as con:
        con.execute(f"COPY a TO '{first}' (FORMAT parquet)")
        con.execute(f"COPY b TO '{second}' (FORMAT csv, HEADER)")
    by_table = sqlmicro.safe_distance("a", "b", db=db)
    assert sqlmicro.safe_distance(first, second)["distance"] == by_table["distance"] > 0


def test_tables_without_a_common_column_are_refused(db):
    with opened(db) as con:
        con.execute("CREATE TABLE other AS SELECT 1 AS z")
    with pytest.raises(sqlmicro.InputError, match="in common"):
        sqlmicro.safe_distance("a", "other", db=db)
