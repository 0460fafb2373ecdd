"""The Spark session of a run: the one that runs already, or a new one for the length of the run."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPTIONS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "0",
}
"""What the session of a run is set to; plans are not written out, which takes long and may quote values and keys."""

LOCAL: dict[str, bool | float | int | str | None] = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.defaultJavaOptions": "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000",
}
"""What a session on this machine is opened with.

Every statement is code of its own, most of which runs for less than the second compiler of Java takes for it: it has to
run ten times longer than usual before that begins. Own `spark.driver.extraJavaOptions` come behind and win.
"""
_PARTITIONS = "spark.sql.shuffle.partitions"
_LEAST_IN_A_TASK = 20_000
"""Records, about, that are worth a task of their own after a shuffle: one takes 0.1 s to start in Python."""
_IN_A_TASK = 200_000
"""Records, about, of a task where all cores have some."""
_ROUNDS = 2
"""Tasks for each core: with one, all others would wait for the longest."""


@contextmanager
def opened(master: str | None) -> Iterator[SparkSession]:
    """Lend a session of our own for the length of the block.

    Raises
    ------
    InputError
        When pyspark or Java is missing, or no session can be had.
    """
    try:
        import sqlglot  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(
            "--engine spark", "needs pyspark and sqlglot", "neither or one", "pip install 'sqlmicro[spark]'"
        ) from None
    running = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("sqlmicro")
    if master and master.startswith("sc://"):
        builder = builder.remote(master)
    elif not os.environ.get("SPARK_REMOTE"):
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
        builder = builder.master(master) if master else builder
    if master and master.startswith("local"):
        builder = builder.config(map=LOCAL)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # or the workers are the python3 of the PATH
    try:
        session = running or builder.getOrCreate()
        # One that a Connect server opened for us is ours already.
        session = session if running is None and through_connect(session) else session.newSession()
    except Exception as error:
        name = type(error).__name__
    else:
        name = ""
    if name:
        raise InputError("--master", "Spark must start there; it needs Java 17 or 21", name)
    for option, value in OPTIONS.items():
        session.conf.set(option, value)
    _silence()
    try:
        yield session
    finally:
        if running is None:
            session.stop()
        elif through_connect(session):
            _leave(session)


def _leave(session: SparkSession) -> None:
    """Close a session beside others of a Connect server, which goes on.

    A client that is left open asks the server once more when the process ends: for ten minutes, if it is gone by then.
    """
    with contextlib.suppress(Exception):  # whatever has become of the server, the release has ended
        session.client.release_session()
    session.client.close()


def through_connect(session: SparkSession) -> bool:
    """Tell whether a session is the client of a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def fit(session: SparkSession, records: int) -> None:
    """Shuffle so many records into as many partitions as are worth it, never more than the session is set up for.

    What is persisted keeps its partitions, empty ones too, and each is a task in every statement that reads it.
    """
    most, worth = session.conf.get(_PARTITIONS) or "", records // _LEAST_IN_A_TASK
    if not through_connect(session):  # which does not tell its cores
        worth = min(worth, max(_ROUNDS * session.sparkContext.defaultParallelism, records // _IN_A_TASK))
    if most.isdecimal():
        session.conf.set(_PARTITIONS, str(min(int(most), max(1, worth))))


def keyed(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Return a data frame parted and sorted by row_id, into a number of parts that a join does not change."""
    parts = session.conf.get(_PARTITIONS) or ""
    made = frame.repartition(int(parts), "row_id") if parts.isdecimal() else frame.repartition("row_id")
    return made.sortWithinPartitions("row_id")


def apart(frame: DataFrame) -> DataFrame:
    """Return a data frame whose columns Spark does not take for those they were made of, where both are joined."""
    return frame.toDF(*frame.columns)


def _silence() -> None:
    """Let PySpark print no errors of its own, which may quote records: they are told by `SparkWarehouse.call`."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
