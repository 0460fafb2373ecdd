"""`microaggregate --engine spark` in local mode against the same job on one machine: IL, k, CPU of all processes.

python tests/bench/spark.py [--records 100000] [--k 5] [--quality balanced] [--engines duckdb spark] [--cores 2]

Four columns, two of them skewed and correlated with the others. IL (100·SSE/SST on standardised columns) and k are
computed here, from the released files and the original, by the same statements for both. CPU seconds are those of this
process and of all it started: for Spark, the driver's JVM and the Python workers.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from _measure import emit
from pyarrow import parquet

import sqlmicro

COLUMNS = ["a", "b", "c", "d"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--quality", default="balanced")
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="2g", help="of the driver's JVM")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        original = str(Path(folder) / "original.parquet")
        parquet.write_table(records(given.records), original)
        for engine in given.engines:
            session = spark(given.cores, given.memory) if engine == "spark" else None
            to = Path(folder) / ("release" if session else "release.parquet")
            collected = counted(session) if session else []
            cpu, wall = ProcessorTime(), time.perf_counter()
            report = sqlmicro.microaggregate(
                original, columns=COLUMNS, keep=["id"], accept_unique=["id"], rest="drop", k=given.k,
                quality=given.quality, seed="bench", to=str(to), engine=engine,
            )  # fmt: skip
            cpu, wall = cpu.stop(), time.perf_counter() - wall
            loss, k, groups = measured(original, f"{to}/*.parquet" if session else str(to))
            emit(
                engine=engine, records=given.records, columns=len(COLUMNS), quality=given.quality, k=k, IL=loss,
                IL_reported=report["IL"], groups=groups, cpu_seconds=cpu, wall_seconds=wall,
                most_rows_at_driver=max(collected, default=None), rows_at_driver=sum(collected) if collected else None,
                seconds=report["seconds"],
            )  # fmt: skip
            if session:
                session.stop()


def records(n):
    """Return n records of four columns, two of them log-normal, and their number."""
    Z = np.random.default_rng(1).normal(size=(n, 4))
    X = [np.exp(Z[:, 0]), 0.6 * Z[:, 0] + 0.8 * Z[:, 1], Z[:, 2], np.exp(0.5 * Z[:, 3] + 0.3 * Z[:, 2])]
    return pa.table({"id": np.arange(n), **dict(zip(COLUMNS, X, strict=True))})


def spark(cores, memory):
    """Open the session that the job will use, so that its processes are still there when their seconds are read."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]")
    for option, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
    }.items():
        builder = builder.config(option, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def counted(session):
    """Return a list that gets the number of rows of everything that is collected at the driver."""
    sizes, kind = [], type(session.range(1))

    def counting(real):
        def collect(self, *args, **kwargs):
            found = list(real(self, *args, **kwargs))
            sizes.append(len(found))
            return found

        return collect

    for name in ("collect", "toArrow", "toPandas", "toLocalIterator"):
        setattr(kind, name, counting(getattr(kind, name)))
    return sizes


class ProcessorTime(threading.Thread):
    """Count the CPU seconds of this process and of all below it, also of those that end meanwhile."""

    def __init__(self):
        super().__init__(daemon=True)
        self._seen, self._done = {}, threading.Event()
        self._look()
        self._before = sum(self._seen.values())
        self.start()

    def run(self):
        while not self._done.wait(0.5):
            self._look()

    def stop(self):
        """Return the CPU seconds since the start."""
        self._done.set()
        self.join()
        self._look()
        return (sum(self._seen.values()) - self._before) / os.sysconf("SC_CLK_TCK")

    def _look(self):
        children, ticks = {}, {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            pid = int(path.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            ticks[pid] = int(fields[11]) + int(fields[12])
        below = [os.getpid()]
        while below:
            pid = below.pop()
            self._seen[pid] = ticks.get(pid, 0)
            below += children.get(pid, [])


def measured(original, release):
    """Return IL, the smallest class and the number of classes of a release, matched by id."""
    rows = " JOIN ".join((f"read_parquet('{original}') AS o", f"read_parquet('{release}') AS r USING (id)"))
    parts = " + ".join(f"avg((o.{c} - r.{c}) ** 2) / var_pop(o.{c})" for c in COLUMNS)
    loss, matched = duckdb.execute(f"SELECT 100 * ({parts}) / {len(COLUMNS)}, count(*) FROM {rows}").fetchone()
    (total,) = duckdb.execute(f"SELECT count(*) FROM read_parquet('{original}')").fetchone()
    assert matched == total, f"{matched} of {total} records were found in the release"
    classes = f"SELECT count(*) AS n FROM read_parquet('{release}') GROUP BY {', '.join(COLUMNS)}"
    k, groups = duckdb.execute(f"SELECT min(n), count(*) FROM ({classes})").fetchone()
    return loss, k, groups


if __name__ == "__main__":
    main()
