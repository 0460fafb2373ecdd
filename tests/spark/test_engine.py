"""Jobs on Spark in local mode: the same promises, audits and errors as on DuckDB, and nothing large at the driver."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest

import sqlmicro
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import ident
from sqlmicro.errors import AuditFailed, InputError, JobError, ParameterError
from sqlmicro.identifiers.scan import seen
from sqlmicro.spark import blocks
from sqlmicro.spark.session import fit
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.spark.worker import cut_batches
from sqlmicro.system.progress import Progress

DATA = Path(os.environ.get("SQLMICRO_DATA", Path(__file__).parents[3] / "shared" / "data"))
INCOME = 'net "income"'


def parquet(path, select):
    """Write the rows of a SELECT of DuckDB's to a Parquet file."""
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return str(path)


@pytest.fixture(scope="module")
def tarragona(tmp_path_factory):
    if not (DATA / "tarragona.csv").is_file():
        pytest.skip("needs tarragona.csv in the folder that SQLMICRO_DATA names")
    path = tmp_path_factory.mktemp("data") / "tarragona.parquet"
    return parquet(path, f"SELECT row_number() OVER () AS id, * FROM read_csv('{DATA / 'tarragona.csv'}')")


COLUMNS = ["FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY"]


@pytest.mark.slow
def test_microaggregate_in_blocks_keeps_its_promise_and_loses_little(
    spark, tarragona, tmp_path, monkeypatch, most_at_driver
):
    monkeypatch.setattr(blocks, "MOST", 300)
    to = tmp_path / "release"
    given = {"columns": COLUMNS, "keep": ["id"], "accept_unique": ["id"], "rest": "drop", "k": 5, "seed": "s"}
    alone = sqlmicro.microaggregate(tarragona, to=str(tmp_path / "alone.parquet"), **given)
    found = sqlmicro.microaggregate(tarragona, to=str(to), engine="spark", **given)
    # Four blocks of 200 records: the worst case of borders.
    assert 0.97 * alone["IL"] < found["IL"] < 1.03 * alone["IL"]
    assert found["rows"] == alone["rows"] == 834
    assert [(a["check"], a["threshold"], a["passed"]) for a in found["audits"]] == [
        (a["check"], a["threshold"], a["passed"]) for a in alone["audits"]
    ]
    # What Spark's SQL says of the release is what DuckDB says of it.
    audit = sqlmicro.audit(
        f"{to}/*.parquet", quasi=COLUMNS, original=tarragona, match=["id"], measure=["k-anonymity", "information-loss"]
    )
    values = {row["check"]: row["value"] for row in audit["audits"]}
    assert values["k-anonymity"] == found["k"] >= 5
    assert values["information-loss"] == pytest.approx(found["IL"], rel=1e-9)
    assert most_at_driver, "nothing was counted"
    assert max(most_at_driver) <= 30, "more than the sizes of the blocks came to the driver"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.parquet", "release"]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory):
    """Make duplicates, ties, missing values, a constant, strata of which one is missing, and a name to quote."""
    path = tmp_path_factory.mktemp("data") / "awkward.parquet"
    return parquet(
        path,
        '''SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a' WHEN i % 3 = 1 THEN 'b' END AS land,
          CASE WHEN i % 10 = 0 THEN NULL WHEN i < 200 THEN 7 ELSE i % 50 END AS "net ""income""",
          CAST(i % 4 AS DECIMAL(9, 2)) AS wealth, 1 AS constant, DATE '2020-01-01' + CAST(i % 30 AS INTEGER) AS day
        FROM range(600) AS t(i)''',
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", [pytest.param("mdav", marks=pytest.mark.connect), "microaggregate", "v_mdav"])
def test_duplicates_missing_values_and_strata(spark, awkward, tmp_path, tmp_path_factory, monkeypatch, method):
    seen_blocks, real = tmp_path_factory.mktemp("seen") / "blocks", blocks.group_block

    def counted(table, **given):
        with seen_blocks.open("a") as file:
            file.write(f"{min(table['row_id'].to_pylist())} {len(table)}\n")
        return real(table, **given)

    monkeypatch.setattr(blocks, "group_block", counted)
    monkeypatch.setattr(blocks, "MOST", 100)
    columns = [INCOME, "wealth", "constant", "day"]
    given = {"columns": columns, "by": ["land"], "drop": ["id"], "k": 4, "seed": "s", "engine": "spark"}
    nulls = "pattern" if method == "mdav" else "keep"
    found = getattr(sqlmicro, method)(awkward, to=str(tmp_path / "release"), nulls=nulls, **given)
    assert found["rows"] == 600
    (rarest,) = duckdb.execute(
        f'''SELECT min(n) FROM (SELECT count(*) AS n FROM '{tmp_path}/release/*.parquet'
        GROUP BY land, "net ""income""", wealth, constant, day)'''
    ).fetchone()
    assert found["k"] == rarest >= 4
    described = duckdb.execute(f"DESCRIBE FROM '{tmp_path}/release/*.parquet'").fetchall()
    if method == "mdav":  # every block is grouped once
        grouped = seen_blocks.read_text(encoding="utf-8").splitlines()
        assert len(grouped) == len(set(grouped)) > 3
        assert sum(int(line.split()[1]) for line in grouped) == 600
    kinds = {name: kind for name, kind, *_ in described}
    assert kinds["day"] == "DATE" and kinds["land"] == "VARCHAR"
    with pytest.raises(InputError, match="no missing values"):
        getattr(sqlmicro, method)(awkward, to=str(tmp_path / "other"), **given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release"]


@pytest.mark.slow
def test_individual_ranking_gives_the_values_that_duckdb_gives(spark, tarragona, tmp_path, monkeypatch):
    logs, run = [], SparkWarehouse.run

    def logged(self, *given, **params):
        logs.append(self.log)
        return run(self, *given, **params)

    monkeypatch.setattr(SparkWarehouse, "run", logged)
    given = {"columns": COLUMNS[:2], "keep": ["id"], "accept_unique": ["id"], "rest": "drop", "k": 3, "seed": "s"}
    sqlmicro.individual_ranking(tarragona, to=str(tmp_path / "alone.parquet"), **given)
    found = sqlmicro.individual_ranking(tarragona, to=str(tmp_path / "release"), engine="spark", **given)
    ordered = "SELECT * FROM '{}' ORDER BY id"
    ours = duckdb.execute(ordered.format(f"{tmp_path}/release/*.parquet")).fetchnumpy()
    theirs = duckdb.execute(ordered.format(tmp_path / "alone.parquet")).fetchnumpy()
    assert ours["id"].tolist() == theirs["id"].tolist()
    for column in COLUMNS[:2]:
        # Ties go by a keyed hash that either database has of its own, so that equal values may change places.
        np.testing.assert_allclose(np.sort(ours[column]), np.sort(theirs[column]), rtol=1e-12)
        value = duckdb.execute(ordered.format(tarragona)).fetchnumpy()[column]
        alone = np.isin(value, [v for v, n in zip(*np.unique(value, return_counts=True), strict=True) if n == 1])
        np.testing.assert_allclose(ours[column][alone], theirs[column][alone], rtol=1e-12)
    assert found["promise"] == ["column"]
    statements = [entry.sql for entry in logs[-1]]
    assert len(statements) > 10
    # A window over all records would be computed in one task.
    assert not [sql for sql in statements if "OVER ()" in sql or "OVER (ORDER" in sql]


@pytest.mark.slow
def test_a_release_that_breaks_its_promise_is_not_published(spark, awkward, tmp_path, monkeypatch):
    def singles(table, **_):
        return table.drop_columns("block").set_column(2, "label", table["row_id"])

    monkeypatch.setattr(blocks, "search_block", singles)
    given = {"columns": ["id", "wealth"], "rest": "drop", "k": 4, "seed": "s", "engine": "spark"}
    with pytest.raises(AuditFailed, match="k-anonymity"):
        sqlmicro.mdav(awkward, to=str(tmp_path / "release"), **given)
    assert list(tmp_path.iterdir()) == []


def test_small_blocks_are_merged():
    # A chain: 15 goes into 7, which is still too small, so that all of 3 is one block.
    tree = {("a", 1): (1, 0.0), ("a", 3): (1, 1.0), ("a", 7): (1, 2.0), ("b", 1): (1, 0.0)}
    blocks.prune(tree, {("a", 2): 9, ("a", 6): 9, ("a", 14): 1, ("a", 15): 1, ("b", 2): 8, ("b", 3): 8}, 4)
    assert tree.keys() == {("a", 1), ("b", 1)}
    tree = {("", 1): (1, 0.0)}
    blocks.prune(tree, {("", 2): 1, ("", 3): 1}, 4)
    assert tree == {}


def test_a_shuffle_has_as_many_partitions_as_are_worth_a_task_each():
    class Options(dict):
        set = dict.__setitem__

    found = []
    for asked, records, cores in (
        ("200", 0, 2), ("200", 60_000, 2), ("200", 10**6, 2), ("200", 10**6, 100), ("200", 10**7, 2), ("200", 10**9, 2),
        ("3", 10**9, 2), ("auto", 10**9, 2),
    ):  # fmt: skip
        options = Options({"spark.sql.shuffle.partitions": asked})
        session = SimpleNamespace(conf=options, sparkContext=SimpleNamespace(defaultParallelism=cores))
        fit(session, records)
        found.append(options["spark.sql.shuffle.partitions"])
    assert found == ["1", "3", "5", "50", "50", "200", "3", "auto"]


def test_records_are_put_into_the_blocks_of_their_stratum():
    pa = pytest.importorskip("pyarrow")
    tree = {("a", 1): (1, 0.5), ("a", 3): (2, 1.0), ("b", 1): (0, 2.0)}
    batch = pa.record_batch(
        {"row_id": [0, 1, 2, 3], "stratum": ["a", "a", "a", "b"], "x": [0.5, 0.6, 0.7, 9.0], "y": [0.0, 1.0, 1.5, 9.0]}
    )
    (found,) = cut_batches([batch], tree=tree, names=["row_id", "x", "y"])
    assert found["block"].to_pylist() == [2, 6, 7, 3]


def test_what_does_not_run_on_spark_is_refused_with_what_does(tmp_path):
    given = {"columns": ["a"], "engine": "spark", "to": str(tmp_path / "release")}
    with pytest.raises(JobError, match="On Spark run individual-ranking, k-ward") as refused:
        sqlmicro.secure_k_ward("a.parquet", k=3, **given)
    assert "secure" not in str(refused.value).partition("On Spark run")[2]
    with pytest.raises(ParameterError, match="--db"):
        sqlmicro.mdav("a.parquet", k=3, db="a.duckdb", **given)
    with pytest.raises(ParameterError, match="--to FOLDER"):
        sqlmicro.mdav("a.parquet", k=3, columns=["a"], engine="spark")
    for dry in (True, False):
        with pytest.raises(ParameterError, match="--diff") as caught:
            sqlmicro.mdav("a.parquet", k=3, diff=True, dry_run=dry, **given)
        assert caught.value.exit_code == 2
    job = tmp_path / "two.toml"
    part = '[[table]]\nname = "a.parquet"\n[[table.step]]\ndo = "mdav"\ncolumns = ["a"]\nk = 3\n'
    ends = [f'[[table.step]]\ndo = "publish"\nto = "{name}"\n' for name in "ab"]
    job.write_text('engine = "spark"\n' + "".join(part + end for end in ends), encoding="utf-8")
    with pytest.raises(JobError, match="releases one table") as refused:
        sqlmicro.run(str(job))
    assert refused.value.exit_code == 2


def test_without_the_extra_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"pip install 'sqlmicro\[spark\]'"):
        sqlmicro.mdav("a.parquet", columns=["a"], k=3, engine="spark", to=str(tmp_path / "release"))


@pytest.mark.slow
def test_a_direct_identifier_is_found_as_on_one_machine_inside_of_json_too(spark, tmp_path):
    told = """'{"mail": "person' || i || '@example.org", "size": ' || i || '}' AS told"""
    path = parquet(
        tmp_path / "told.parquet",
        f"SELECT {told}, 'person' || i || '@example.org' AS {ident(INCOME)}, i AS n FROM range(3000) AS t(i)",
    )
    with open_warehouse(None) as alone, SparkWarehouse.open(None, Progress(enabled=False)) as there:
        found = []
        for warehouse in (alone, there):
            source = warehouse.source(path)
            kinds = {column.name: one.finding for column, one in seen(warehouse, source, source.columns).items()}
            found.append({name: finding and finding.kind for name, finding in kinds.items()})
    assert found[0] == found[1] == {"told": "e-mail addresses", INCOME: "e-mail addresses", "n": None}
