"""A job with `--engine spark` in local mode against the same job on one machine: what is lost, k, CPU of all processes.

python tests/bench/spark.py [--method microaggregate] [--records 100000] [--k 5] [--quality balanced] [--cores 2]
python tests/bench/spark.py --method safe --k 3 [--records 1000000] [--engines duckdb spark]

`microaggregate`: four columns, two of them skewed and correlated with the others. IL (100·SSE/SST on standardised
columns) and k are computed here, from the released files and the original, by the same statements for both.

`safe`: records drawn from the microcensus in SQLMICRO_DATA, now and then with any value of a column. The largest
deviations of the tables of 1, 2 and 3 nominal columns are counted anew from the files, and k. The search is the same
code on both engines and is timed on its own.

CPU seconds are those of this process and of all it started: for Spark, the driver's JVM and the Python workers.
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
from _measure import Measure, emit
from pyarrow import parquet
from safe_search import DATA, NUMERIC, enlarge, largest_deviations, read

import sqlmicro
from sqlmicro.safe_method import direct
from sqlmicro.spark.session import LOCAL

COLUMNS = ["a", "b", "c", "d"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["microaggregate", "safe"], default="microaggregate")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--quality", default="balanced")
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="2g", help="of the driver's JVM")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        original = str(Path(folder) / "original.parquet")
        job = Safe(given) if given.method == "safe" else Microaggregate(given)
        parquet.write_table(job.records(given.records), original)
        for engine in given.engines:
            os.environ["XDG_CONFIG_HOME"] = str(Path(folder) / engine)  # the releases are not published together
            session = spark(given.cores, given.memory) if engine == "spark" else None
            to = Path(folder) / ("release" if session else "release.parquet")
            collected = counted(session) if session else []
            cpu, wall = ProcessorTime(), time.perf_counter()
            report = job.run(original, to=str(to), seed="bench", engine=engine)
            cpu, wall = cpu.stop(), time.perf_counter() - wall
            emit(
                engine=engine, method=given.method, records=given.records,
                **job.measured(original, f"{to}/*.parquet" if session else str(to), cpu), cpu_seconds=cpu,
                wall_seconds=wall, most_rows_at_driver=max(collected, default=None),
                rows_at_driver=sum(collected) if collected else None, seconds=report["seconds"],
            )  # fmt: skip
            if session:
                session.stop()


class Microaggregate:
    def __init__(self, given):
        self.given = given

    def records(self, n):
        """Return n records of four columns, two of them log-normal, and their number."""
        Z = np.random.default_rng(1).normal(size=(n, 4))
        X = [np.exp(Z[:, 0]), 0.6 * Z[:, 0] + 0.8 * Z[:, 1], Z[:, 2], np.exp(0.5 * Z[:, 3] + 0.3 * Z[:, 2])]
        return pa.table({"id": np.arange(n), **dict(zip(COLUMNS, X, strict=True))})

    def run(self, original, **options):
        return sqlmicro.microaggregate(
            original, columns=COLUMNS, keep=["id"], accept_unique=["id"], rest="drop", k=self.given.k,
            quality=self.given.quality, **options,
        )  # fmt: skip

    def measured(self, original, release, cpu):
        """Return IL, the smallest class and the number of classes of a release, matched by id."""
        rows = " JOIN ".join((f"read_parquet('{original}') AS o", f"read_parquet('{release}') AS r USING (id)"))
        parts = " + ".join(f"avg((o.{c} - r.{c}) ** 2) / var_pop(o.{c})" for c in COLUMNS)
        loss, matched = duckdb.execute(f"SELECT 100 * ({parts}) / {len(COLUMNS)}, count(*) FROM {rows}").fetchone()
        (total,) = duckdb.execute(f"SELECT count(*) FROM read_parquet('{original}')").fetchone()
        assert matched == total, f"{matched} of {total} records were found in the release"
        classes = f"SELECT count(*) AS n FROM read_parquet('{release}') GROUP BY {', '.join(COLUMNS)}"
        k, groups = duckdb.execute(f"SELECT min(n), count(*) FROM ({classes})").fetchone()
        return {"quality": self.given.quality, "k": k, "IL": loss, "groups": groups}


class Safe:
    def __init__(self, given):
        self.given, self.search = given, 0.0
        self.names = DATA.open(encoding="utf-8").readline().strip().replace('"', "").split(",")

    def records(self, n):
        """Return n records drawn from the microcensus."""
        return pa.table(dict(zip(self.names, enlarge(read()[0], n, 0).T, strict=True)))

    def run(self, original, **options):
        place = direct.Search.place

        def timed(*arguments):
            with Measure() as spent:
                found = place(*arguments)
            self.search = spent.cpu
            return found

        direct.Search.place = timed
        try:
            return sqlmicro.safe(
                original, k=self.given.k, method="search", numeric=NUMERIC, rows_are_persons=True, **options,
                nominal=[name for name in self.names if name not in NUMERIC],
            )  # fmt: skip
        finally:
            direct.Search.place = place

    def measured(self, original, release, cpu):
        """Return k, the largest deviations of the tables, and the CPU seconds without the search."""
        cells = f"SELECT {', '.join(self.names)}, count(*) FROM read_parquet('{{}}') GROUP BY ALL"
        before, after = (np.array(duckdb.execute(cells.format(path)).fetchall()) for path in (original, release))
        nominal = [j for j, name in enumerate(self.names) if name not in NUMERIC]
        sides = before[:, :-1], before[:, -1], after[:, :-1], after[:, -1]
        assert before[:, -1].sum() == after[:, -1].sum()
        return {
            "cells": len(before), "k": int(after[:, -1].min()),
            "nominal_max": largest_deviations(*sides, nominal),
            "all_columns_max": largest_deviations(*sides, range(len(self.names))),
            "cpu_without_search": cpu - self.search,
        }  # fmt: skip


def spark(cores, memory):
    """Open the session that the job will use as sqlmicro opens one.

    So its processes are still there when their seconds are read.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]")
    for option, value in {**LOCAL, "spark.ui.showConsoleProgress": "false", "spark.driver.memory": memory}.items():
        builder = builder.config(option, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def counted(session):
    """Return a list that gets the number of rows of everything that is collected at the driver."""
    sizes, kind = [], type(session.range(1))

    def counting(real):
        def collect(self, *args, **kwargs):
            found = real(self, *args, **kwargs)
            found = found if hasattr(found, "__len__") else list(found)
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


if __name__ == "__main__":
    main()
