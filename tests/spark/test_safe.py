"""SAFE on Spark: the release is that of one machine, combinations alone come to the driver, and files are audited."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.spark import warehouse
from sqlmicro.spark.warehouse import SparkWarehouse

DATA = Path(os.environ.get("SQLMICRO_DATA", Path(__file__).parents[3] / "shared" / "data"))
INCOME = 'net "income"'
pytestmark = pytest.mark.slow


def rows(path, order="ALL"):
    return duckdb.execute(f"SELECT * FROM '{path}' ORDER BY {order}").fetchall()


def cells(path):
    return duckdb.execute(f"SELECT *, count(*) FROM '{path}' GROUP BY ALL ORDER BY ALL").fetchall()


@pytest.fixture(scope="module")
def microcensus(tmp_path_factory):
    if not (DATA / "mikrozensus2010.csv").is_file():
        pytest.skip("needs mikrozensus2010.csv in the folder that SQLMICRO_DATA names")
    path = tmp_path_factory.mktemp("data") / "microcensus.parquet"
    duckdb.execute(f"COPY (FROM read_csv('{DATA / 'mikrozensus2010.csv'}') LIMIT 5000) TO '{path}' (FORMAT parquet)")
    return str(path)


def test_the_release_is_that_of_one_machine_and_cells_alone_come_to_the_driver(
    spark, microcensus, tmp_path, most_at_driver
):
    alone, there = tmp_path / "alone.parquet", f"{tmp_path}/spark/*.parquet"
    given = {"k": 3, "method": "search", "effort": "fast", "rows_are_persons": True, "seed": "s"}
    ours = sqlmicro.safe(microcensus, to=str(alone), **given)
    theirs = sqlmicro.safe(microcensus, to=str(tmp_path / "spark"), engine="spark", **given)
    # Equal combinations, each as often: so are all tables of all columns.
    assert cells(there) == cells(alone)
    assert theirs["safe_distance"] == ours["safe_distance"]
    assert theirs["k"] == ours["k"] == 3
    assert [(a["check"], a["value"], a["passed"]) for a in theirs["audits"]] == [
        (a["check"], a["value"], a["passed"]) for a in ours["audits"]
    ]
    # The combinations of the table, and those of both sides without what is averaged for the audits of denial.
    without = "SELECT DISTINCT * EXCLUDE (EF44) FROM '{}'"
    denied = [duckdb.execute(without.format(side)).fetchall() for side in (microcensus, there)]
    assert {n for n in most_at_driver if n > 30} == {len(cells(microcensus)), *map(len, denied)}


@pytest.fixture(scope="module")
def persons(tmp_path_factory):
    """Write records with values that are missing, a date, a name to quote, weights, and a number each."""
    path = tmp_path_factory.mktemp("data") / "persons.parquet"
    duckdb.execute(
        f'''COPY (SELECT i AS id, CASE WHEN i % 4 = 0 THEN 'f' WHEN i % 4 = 1 THEN NULL ELSE 'm' END AS sex,
          CASE WHEN i % 60 = 0 THEN NULL ELSE CAST(20 + (i * i) % 23 AS SMALLINT) END AS age,
          CASE WHEN i % 50 = 0 THEN NULL ELSE 100.5 + (i * 7919) % 400 END
            AS "net ""income""",
          DATE '2000-01-01' + CAST(i % 5 AS INTEGER) AS day, CAST(1 + i % 3 AS DECIMAL(9, 2)) AS share,
          CASE WHEN i % 2 = 0 THEN 'n' ELSE 's' END AS land FROM range(1, 700) AS t(i))
        TO '{path}' (FORMAT parquet)'''
    )
    return str(path)


COMMON = {
    "columns": ["sex", "age", INCOME, "day"], "nominal": ["sex", "day"], "keep": ["id"], "accept_unique": ["id"],
    "rest": "drop", "row_key": ["id"], "seed": "s", "k": 3, "effort": "fast", "nulls": "keep",
}  # fmt: skip
STRATA = COMMON | {"by": ["land"], "numeric_values": "means", "method": "search"}
STEPS = COMMON | {
    "round": ['net "income"=50'], "weights": "share", "keep": ["id", "share"], "method": "best",
    "algorithm": ["kmeans++(clusters=20)"],
}  # fmt: skip


@pytest.fixture(scope="module")
def in_strata(spark, persons, tmp_path_factory):
    to = tmp_path_factory.mktemp("release") / "spark"
    return f"{to}/*.parquet", sqlmicro.safe(persons, to=str(to), engine="spark", **STRATA)


def same_as_alone(persons, tmp_path, there, theirs, given):
    alone = tmp_path / "alone.parquet"
    ours = sqlmicro.safe(persons, to=str(alone), **given)
    without = "SELECT * EXCLUDE (id), count(*) FROM '{}' GROUP BY ALL ORDER BY ALL"
    assert str(duckdb.sql(without.format(there)).fetchall()) == str(duckdb.sql(without.format(alone)).fetchall())
    assert [found["distance"] for found in theirs["candidates"]] == [found["distance"] for found in ours["candidates"]]
    assert theirs["k"] == ours["k"]
    kinds = [duckdb.sql(f"DESCRIBE FROM '{path}'").fetchall() for path in (alone, there)]
    assert [kind[:2] for kind in kinds[0]] == [kind[:2] for kind in kinds[1]]


@pytest.mark.connect
def test_strata_and_missing_values(persons, tmp_path, in_strata):
    same_as_alone(persons, tmp_path, *in_strata, STRATA)


def test_steps_weights_and_clusters(spark, persons, tmp_path):
    theirs = sqlmicro.safe(persons, to=str(tmp_path / "spark"), engine="spark", **STEPS)
    same_as_alone(persons, tmp_path, f"{tmp_path}/spark/*.parquet", theirs, STEPS)


def test_who_becomes_what_goes_by_content(persons, tmp_path, in_strata):
    """The records in another order, and in several files, are released as they were."""
    other = tmp_path / Path(persons).name
    other.mkdir()
    for part in range(3):
        some = f"FROM '{persons}' WHERE id % 3 = {part} ORDER BY hash(id)"
        duckdb.execute(f"COPY ({some}) TO '{other}/{part}.parquet' (FORMAT parquet)")
    sqlmicro.safe(str(other), to=str(tmp_path / "two"), engine="spark", **STRATA)
    assert str(rows(in_strata[0], "id")) == str(rows(f"{tmp_path}/two/*.parquet", "id"))


def test_what_breaks_the_promise_is_not_published(spark, persons, tmp_path, monkeypatch):
    """The files are audited as they were written."""
    from pyspark.sql import functions

    def write(self, select, path, partition_by=(), *, rows=0):
        frame = self.frame(self.define("published", "{{ select }}", select=select))
        frame.withColumn("age", functions.monotonically_increasing_id().cast("smallint")).write.parquet(str(path))
        return self.put(self.session.read.parquet(str(path)), "read_back")

    monkeypatch.setattr(SparkWarehouse, "write", write)
    given = {"columns": ["sex", "age"], "keep": ["land"], "rest": "drop", "nulls": "keep", "k": 3, "effort": "fast"}
    with pytest.raises(AuditFailed, match="k-anonymity"):
        sqlmicro.safe(persons, to=str(tmp_path / "release"), seed="s", engine="spark", method="search", **given)
    assert list(tmp_path.iterdir()) == []


def test_too_many_combinations_and_what_needs_records_are_refused(spark, persons, tmp_path, monkeypatch):
    monkeypatch.setattr(warehouse, "MOST_COMBINATIONS", 5)
    given = {"columns": ["sex", "age"], "rest": "drop", "nulls": "keep", "engine": "spark"}
    given |= {"to": str(tmp_path / "release")}
    with pytest.raises(InputError, match="at most 5 combinations of values come to the driver"):
        sqlmicro.safe(persons, **given)
    with pytest.raises(ParameterError, match="keep-candidates"):
        sqlmicro.safe(persons, keep_candidates=True, **given)
    assert list(tmp_path.iterdir()) == []
