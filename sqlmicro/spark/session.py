"""The Spark session of a run: the one that runs already, or a new one for the length of the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTIONS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "0",
}
"""What the session of a run is set to; plans are not written out, which takes long and may quote values and keys."""


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
        builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
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


def through_connect(session: SparkSession) -> bool:
    """Tell whether a session is the client of a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _silence() -> None:
    """Let PySpark print no errors of its own, which may quote records: they are told by `SparkWarehouse.call`."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
