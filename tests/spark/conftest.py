"""One Spark session in local mode for all tests of this folder; they are skipped where pyspark or Java is missing.

With SPARK_REMOTE=local[1] in the environment it is one of a Connect server; `-m connect` are the tests for it.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys

import anywhere
import duckdb
import pytest

from sqlmicro.identifiers import scan

HOW = "needs Spark: pip install 'sqlmicro[spark]', and Java 17 on the PATH or in JAVA_HOME"


@pytest.fixture(scope="session")
def spark():
    """Open a session for small tables: statements are interpreted, and one core has one task for each of their stages.

    Compiling would take longer, Spark's of every statement and the second compiler of Java alike. With the first one
    alone Java keeps 48 MB of compiled code, of which Spark fills all: what is swept out is compiled again.
    """
    sql = pytest.importorskip("pyspark.sql", reason=HOW)
    pytest.importorskip("sqlglot", reason=HOW)
    pytest.importorskip("pandas", reason=HOW)
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip(HOW)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for library in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(library, "1")
    builder = sql.SparkSession.builder
    if "SPARK_REMOTE" in os.environ:  # local[1]: a Connect server of our own
        pytest.importorskip("grpc", reason="needs Spark Connect: pip install 'sqlmicro[connect]'")
    else:
        builder = builder.master("local[1]")
    for option, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.constraintPropagation.enabled": "false",
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        "spark.shuffle.compress": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }.items():
        builder = builder.config(option, value)
    session = builder.getOrCreate()
    if "SPARK_REMOTE" not in os.environ:
        session.sparkContext.setLogLevel("OFF")
    yield session
    left = [one for one in gc.get_objects() if type(one).__name__ == "SparkConnectClient" and not one.is_closed]
    others = [client for client in left if client is not getattr(session, "client", None)]
    session.stop()
    for client in others:  # which would ask the server that is gone for ten minutes
        client.close()
    assert not others, "a release closes the sessions that it opened beside ours"


@pytest.fixture
def most_at_driver(monkeypatch, spark):
    """Return a list of how many rows each collect brought to the driver, but for the look for identifiers.

    That looks at a bounded sample: of each column at most so many values.
    """
    sizes = []
    kind = type(spark.range(1))
    for name in ("collect", "toArrow", "toPandas", "toLocalIterator"):
        real = getattr(kind, name)

        def counted(self, *args, real=real, **kwargs):
            found = real(self, *args, **kwargs)
            found = found if hasattr(found, "__len__") else list(found)
            if self.columns == ["place", "path", "value"]:
                places = found["place"].to_pylist()
                assert all(places.count(place) <= scan.MOST_VALUES for place in set(places))
            else:
                sizes.append(len(found))
            return found

        monkeypatch.setattr(kind, name, counted)
    return sizes


@pytest.fixture(scope="session")
def visits(tmp_path_factory):
    """Write the visits with some that are of nobody, and a number that differs within persons."""
    path = tmp_path_factory.mktemp("data") / "visits.parquet"
    duckdb.execute(
        f"COPY (SELECT * REPLACE (CASE WHEN visit_id % 40 = 0 THEN NULL ELSE patient_id END AS patient_id), "
        f"visit_id AS id FROM ({anywhere.joined()})) TO '{path}' (FORMAT parquet)"
    )
    return str(path)


@pytest.fixture(scope="session")
def stays(visits, tmp_path_factory):
    """Write the visits with the day of each, the household of the patients, three in each, and the rent of that."""
    path = tmp_path_factory.mktemp("data") / "stays.parquet"
    duckdb.execute(
        f"COPY (SELECT *, hash(id) % 365 AS day, patient_id // 3 AS home, 400 + hash(home) % 600 AS rent "
        f"FROM '{visits}') TO '{path}' (FORMAT parquet)"
    )
    return str(path)
