"""Every template on Spark in local mode: the rows of its cases equal those that DuckDB gives."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest
from sql.case import KEY
from sql.test_templates import NUMBERED, prepare, run, same_rows

from sqlmicro.database import templates
from sqlmicro.database.templates import Name
from sqlmicro.mask.pseudonymise import pads

translation = pytest.importorskip("sqlmicro.spark.translate")
pytestmark = pytest.mark.slow

INTERVALS = "an INTERVAL of months, days and microseconds, which Spark has no type for"
OTHER_BYTES = "bytes that tell numbers apart: in DuckDB their bits, on Spark their text; see test_cells_round_trip"
HASHES = "DuckDB's own 64-bit hash, of which Spark has another"
NOT_ON_SPARK = {
    "load/typed.sql-1": HASHES,
    "load/typed.sql-3": HASHES,
    "load/typed.sql-4": INTERVALS,
    "audit/class_sizes.sql-4": INTERVALS,
    "audit/class_sizes.sql-6": INTERVALS,
    "audit/records.sql-2": INTERVALS,
    "publish/own_types.sql-3": INTERVALS,
    "publish/own_types.sql-1": "names the type TIMESTAMP_S: all timestamps of Spark count microseconds",
    "audit/class_sizes.sql-7": "NaN of two payloads: Spark reads both as NaN",
    "audit/records.sql-1": OTHER_BYTES,
    "audit/violating_classes.sql-3": OTHER_BYTES,
}
"""Cases, of templates that pass others, whose input or output Spark has no value for."""


@pytest.fixture(scope="module")
def connection():
    opened = duckdb.connect(config={"threads": "1"})
    opened.execute("SET python_enable_replacements = false")
    opened.execute("ATTACH ':memory:' AS staging (READ_WRITE)")
    opened.execute("SET TimeZone = 'America/New_York'")
    opened.execute("SET VARIABLE sqlmicro_order = $1", [KEY])
    for name, pad in zip(("inner", "outer"), pads(b"k" * 80), strict=True):
        opened.execute(f"SET VARIABLE sqlmicro_{name}_pad = $1", [pad])
    with opened:
        yield opened


@pytest.fixture(scope="module")
def session(spark):
    opened = spark.newSession()
    opened.conf.set("spark.sql.session.timeZone", "UTC")
    opened.conf.set("spark.sql.ansi.enabled", "true")
    opened.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    opened.sql("DECLARE VARIABLE sqlmicro_order STRING")
    opened.sql("SET VARIABLE sqlmicro_order = :key", args={"key": KEY})
    for name, pad in zip(("inner", "outer"), pads(b"k" * 80), strict=True):
        opened.sql(f"DECLARE VARIABLE sqlmicro_{name}_pad BINARY")
        opened.sql(f"SET VARIABLE sqlmicro_{name}_pad = :pad", args={"pad": bytearray(pad)})
    return opened


def without_database(value):
    """Name relations as the views of a Spark session are named."""
    if isinstance(value, Name):
        return Name("", "", value.table)
    if isinstance(value, (list, tuple)):
        return type(value)(without_database(part) for part in value)
    return value


def has_rowid(sql, table):
    """Tell whether a translated statement reads the `rowid` of a table."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="spark")
    aliases = {found.alias_or_name for found in tree.find_all(exp.Table) if found.name == table}
    columns = [column for column in tree.find_all(exp.Column) if column.name == "rowid"]
    return any(not column.table or column.table in aliases for column in columns)


def put(session, connection, case, sql):
    """Copy the input relations of a case from DuckDB to Spark, as types that Spark has."""
    import pyarrow as pa

    for table in case.given:
        number = "rowid, " if has_rowid(sql, table) else ""
        source = templates.ident(Name("staging", "", table))
        arrow = connection.sql(f"SELECT {number}* FROM {source}").to_arrow_table()
        for i, field in enumerate(arrow.schema):
            kind = field.type
            if pa.types.is_dictionary(kind):
                kind = pa.string()
            elif pa.types.is_unsigned_integer(kind):
                kind = pa.int64()
            elif pa.types.is_null(kind):
                kind = pa.int32()
            arrow = arrow.set_column(i, field.name, arrow.column(i).cast(kind))
        session.createDataFrame(arrow).createOrReplaceTempView("`" + table.replace("`", "``") + "`")


def run_on_spark(session, connection, case):
    """Return columns and rows of a case on Spark; what it shows of them is shown by DuckDB."""
    sql = translation.translate(templates.render(case.template, **without_database_in(case.params)))
    put(session, connection, case, sql)
    frame = session.sql(sql)
    connection.register("of_spark", frame.toArrow())
    connection.execute('CREATE OR REPLACE TABLE staging."the result" AS SELECT * FROM of_spark')
    rows = connection.execute(f'SELECT {case.show or "*"} FROM staging."the result"').fetchall()
    return frame.columns, rows


def without_database_in(params):
    return {name: without_database(value) for name, value in params.items()}


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
def test_rows_equal_those_of_duckdb(session, connection, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(connection, case)
    names, expected = run(connection, case)
    columns, rows = run_on_spark(session, connection, case)
    assert columns == names
    assert same_rows(plain_rows(expected), plain_rows(rows), case.ordered), rows


def test_all_but_the_listed_templates_run():
    passed = {case.template for case in RUNNING.values()}
    every = set(templates.all_templates())
    assert translation.DUCKDB_ONLY.keys() <= every
    assert NOT_ON_SPARK.keys() <= dict(NUMBERED).keys()
    assert every == passed | translation.DUCKDB_ONLY.keys()


def test_cells_round_trip(session):
    """What tells -0.0 from 0.0 on Spark is read back as the number it was."""
    from sqlmicro.database.columns import Column

    x = Column("x", "DOUBLE", "x")
    session.sql("SELECT explode(array(-0.0D, 0.0D, -1.5D, -1.5D, NULL)) AS x").createOrReplaceTempView("released")
    records = case_params("audit/records.sql", relation=Name("", "", "released"), as_bits=[x])
    found = session.sql(translation.translate(templates.render("audit/records.sql", **records)))
    assert sorted((row[0] or b"").decode() for row in found.collect()) == ["", "-0.0", "-1.5", "-1.5", "0.0"]
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
