"""Every template on Spark in local mode: its cases have the rows that were worked out, as they have on DuckDB."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest
from sql.case import by_hash
from sql.conformance import NUMBERED, bind, prepare, rows_of, same_rows

from sqlmicro.database import templates
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.spark import select_corrections
from sqlmicro.spark.session import OPTIONS, keyed
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system.progress import Progress

translation = pytest.importorskip("sqlmicro.spark.translate")
pytestmark = pytest.mark.slow

INTERVALS = "an INTERVAL of months, days and microseconds, which Spark has no type for"
UNIONS = "a UNION, which Spark has no type for"
OTHER_BYTES = "bytes that tell numbers apart: in DuckDB their bits, on Spark their text; see test_cells_round_trip"
HASHES = "DuckDB's own 64-bit hash, of which Spark has another"
NOT_ON_SPARK = {
    "load/typed.sql-1": HASHES,
    "load/typed.sql-2": HASHES,
    "load/typed.sql-4": HASHES,
    "load/typed.sql-5": INTERVALS,
    "audit/cell_sizes.sql-5": INTERVALS,
    "audit/cell_sizes.sql-7": INTERVALS,
    "audit/cell_sizes.sql-11": UNIONS,
    "audit/records.sql-2": INTERVALS,
    "publish/own_types.sql-3": INTERVALS,
    "publish/own_types.sql-1": "names the type TIMESTAMP_S: all timestamps of Spark count microseconds",
    "audit/cell_sizes.sql-8": "NaN of two payloads: Spark reads both as NaN",
    "audit/records.sql-4": UNIONS,
    "audit/records.sql-1": OTHER_BYTES,
    "audit/violating_classes.sql-3": OTHER_BYTES,
}
"""Cases, of templates that pass others, whose input or output Spark has no value for."""


@pytest.fixture(scope="module")
def bench(spark):
    """Open a session as a run does, and a DuckDB in which the relations of a case are made."""
    session = spark.newSession()
    for option, value in OPTIONS.items():
        session.conf.set(option, value)
    warehouse = SparkWarehouse(session, Progress(enabled=False))
    bind(warehouse)
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.execute("ATTACH ':memory:' AS staging (READ_WRITE)")
        connection.execute("SET TimeZone = 'America/New_York'")
        yield OnSpark(warehouse, connection)


def has_rowid(sql, table):
    """Tell whether a translated statement reads the `rowid` of a table."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="spark")
    aliases = {found.alias_or_name for found in tree.find_all(exp.Table) if found.name == table}
    columns = [column for column in tree.find_all(exp.Column) if column.name == "rowid"]
    return any(not column.table or column.table in aliases for column in columns)


class OnSpark:
    """Spark under test: relations are copied from DuckDB, as types that Spark has."""

    def __init__(self, warehouse, connection):
        self.warehouse, self.connection = warehouse, connection

    def put(self, case):
        prepare(self.connection, case)
        sql = translation.translate(templates.render(case.template, **case.params))
        for table in case.given:
            number = "rowid, " if has_rowid(sql, table) else ""
            arrow = self.connection.sql(f"SELECT {number}* FROM {templates.ident(Name('staging', '', table))}")
            self.warehouse.load(as_spark_has(arrow.to_arrow_table()), table, "a case")

    def shown(self, relation, show):
        self.connection.register("of_spark", self.warehouse.frame(relation).toArrow())
        # A table, which the expressions can be those of DuckDB's own types over.
        self.connection.execute("CREATE OR REPLACE TABLE of_spark_as_a_table AS SELECT * FROM of_spark")
        return self.connection.execute(f"SELECT {show} FROM of_spark_as_a_table").fetchall()


def as_spark_has(arrow):
    """Return an Arrow table without types that Spark lacks."""
    import pyarrow as pa

    for i, field in enumerate(arrow.schema):
        kind = field.type
        if pa.types.is_dictionary(kind):
            kind = pa.string()
        elif pa.types.is_unsigned_integer(kind):
            kind = pa.int64()
        elif pa.types.is_null(kind):
            kind = pa.int32()
        arrow = arrow.set_column(i, field.name, arrow.column(i).cast(kind))
    return arrow


def plain(value):
    """Return a number as Python's: sums of whole numbers are DECIMAL on one side or the other."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def plain_rows(rows):
    return [tuple(plain(value) for value in row) for row in rows]


RUNNING = {
    name: case for name, case in NUMBERED if case.template not in translation.DUCKDB_ONLY and name not in NOT_ON_SPARK
}


@pytest.mark.parametrize("case", RUNNING.values(), ids=RUNNING)
def test_rows(bench, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, rows = rows_of(bench, case)
    assert names == case.returns
    assert same_rows(plain_rows(case.expect), plain_rows(rows), case.ordered), rows


def test_all_but_the_listed_templates_run():
    passed = {case.template for case in RUNNING.values()}
    every = set(templates.all_templates())
    assert translation.DUCKDB_ONLY.keys() <= every
    assert NOT_ON_SPARK.keys() <= dict(NUMBERED).keys()
    assert every == passed | translation.DUCKDB_ONLY.keys()


def test_cells_round_trip(bench):
    """What tells -0.0 from 0.0 on Spark is read back as the number it was."""
    x, session = Column("x", "DOUBLE", "x"), bench.warehouse.session
    session.sql("SELECT explode(array(-0.0D, 0.0D, -1.5D, -1.5D, NULL)) AS x").createOrReplaceTempView("released")
    records = case_params("audit/records.sql", relation=Name("", "", "released"), as_bits=[x])
    found = session.sql(translation.translate(templates.render("audit/records.sql", **records)))
    assert sorted(row[0] or "" for row in found.collect()) == ["", "-0.0", "-1.5", "-1.5", "0.0"]
    found.groupBy("x").count().withColumnRenamed("count", "size").createOrReplaceTempView("cells")
    shown = case_params("audit/violating_classes.sql", cells=Name("", "", "cells"), as_bits=[x], k=2, most=9)
    rows = session.sql(translation.translate(templates.render("audit/violating_classes.sql", **shown))).collect()
    assert sorted(str(row[0]) for row in rows) == ["-0.0", "0.0", "None"]


def case_params(template, **own):
    """Return parameters of a template: own ones, empty lists else."""
    declared = templates.declared_params(template)
    return {name: own.get(name, []) for name in declared}


def test_what_is_not_a_select_of_duckdb_is_refused():
    sqlglot = pytest.importorskip("sqlglot")
    with pytest.raises(sqlglot.errors.ParseError):
        translation.translate("SELECT FROM WHERE")


@pytest.fixture
def in_four_parts(bench):
    """Return the session of a run whose statements are shuffled into four parts."""
    conf = bench.warehouse.session.conf
    before = conf.get("spark.sql.shuffle.partitions")
    conf.set("spark.sql.shuffle.partitions", "4")
    yield bench.warehouse
    conf.set("spark.sql.shuffle.partitions", before)


def plan_of(frame):
    conf, option = frame.sparkSession.conf, "spark.sql.maxPlanStringLength"
    conf.set(option, "100000")
    found = frame._jdf.queryExecution().executedPlan().toString()
    conf.set(option, OPTIONS[option])
    return found


def test_what_was_made_with_a_with_is_found_again_where_there_is_another_one(bench):
    warehouse = bench.warehouse
    warehouse.define("numbers", "SELECT range AS row_id, range % 7 AS a FROM range(100)")
    made = "WITH t AS (SELECT row_id, a + 1 AS a FROM numbers) SELECT t.* FROM t JOIN numbers USING (row_id)"
    warehouse.define("kept", made, keep=True)
    read = "WITH u AS (SELECT a, count(*) AS n FROM kept GROUP BY a) SELECT kept.*, n FROM kept JOIN u USING (a)"
    frame = warehouse.frame(warehouse.define("counted", read))
    assert plan_of(frame).count("InMemoryTableScan") == 2
    assert sorted(row.n for row in frame.collect()) == [14] * 70 + [15] * 30


def test_a_table_that_is_read_twice_stays_in_its_with():
    text = "WITH a AS (SELECT x FROM t), b AS (SELECT x FROM a) SELECT b.x FROM b JOIN a AS c USING (x)"
    once = "WITH a AS (SELECT x FROM t) SELECT b.x FROM (SELECT x FROM a) AS b JOIN a AS c USING (x)"
    assert translation.translate(text) == once


def test_what_is_staged_is_not_sorted_unless_it_is_cut():
    without_order = select_corrections.without_order
    assert translation.translate("SELECT x FROM t ORDER BY x", without_order) == "SELECT x FROM t"
    assert " LIMIT 2" in translation.translate("SELECT x FROM t ORDER BY x LIMIT 2", without_order)
    assert " ORDER BY x " in translation.translate("SELECT x FROM t ORDER BY x LIMIT 2", without_order)


def test_what_is_parted_by_row_id_is_joined_by_it_where_it_is(in_four_parts):
    session = in_four_parts.session
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    for name in ("one", "other"):
        frame = in_four_parts.keep(keyed(session, session.range(0, 100, 1, 3).withColumnRenamed("id", "row_id")))
        in_four_parts.put(frame, name)
    joined = session.sql("SELECT one.row_id FROM one JOIN other ON one.row_id = other.row_id")
    plan = plan_of(joined)
    session.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert "SortMergeJoin" in plan
    assert "ENSURE_REQUIREMENTS" not in plan
    assert joined.count() == 100


def test_the_parts_of_a_release_and_the_order_in_them_go_by_keyed_words(in_four_parts, tmp_path):
    from pyarrow import parquet

    in_four_parts.define("numbers", "SELECT range AS row_id, range AS n FROM range(1000)")
    given = {"records": Name("", "", "numbers"), "columns": [Column("n", "BIGINT", "n")]}
    in_four_parts.write(templates.render("publish/records_apart.sql", **given), tmp_path / "release")
    files = sorted((tmp_path / "release").glob("*.parquet"))
    parts = [parquet.read_table(file).column("n").to_pylist() for file in files]
    assert len(parts) == 4
    assert sorted(n for part in parts for n in part) == list(range(1000))
    for part in parts:
        assert 180 < len(part) < 320  # 250 and five standard deviations
        assert part == by_hash(part)
        assert 0.3 < sum(n < 500 for n in part) / len(part) < 0.7  # six standard deviations
