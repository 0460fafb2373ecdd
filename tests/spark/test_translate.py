"""Every template on Spark in local mode: its cases have the rows that were worked out, as they have on DuckDB."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest
from sql.conformance import NUMBERED, bind, prepare, rows_of, same_rows

from sqlmicro.database import templates
from sqlmicro.database.templates import Name
from sqlmicro.spark.session import OPTIONS
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
    from sqlmicro.database.columns import Column

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
