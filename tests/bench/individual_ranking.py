"""Individual ranking of one column, from a table of the database to a table of the database, against
`CREATE TABLE … AS SELECT row_id, x … ORDER BY x`, NumPy, pandas and Polars doing the same job in the same run.

    python tests/bench/individual_ranking.py [--rows 1000000 10000000] [--k 3] [--repeat 3]
"""

import argparse

import numpy as np
import pyarrow as pa
from _measure import Measure, emit, peak_mb, rounds

from sqlmicro import pipeline
from sqlmicro.database.column_roles import Roles
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.registry import find
from sqlmicro.system import secrets
from sqlmicro.work import Draws, Records, StepOf, Work


def bounds(n, k):
    """First positions of the groups, spread from both ends."""
    groups = n // k
    low, high = groups // 2, (groups - 1) // 2
    return np.concatenate([np.arange(low + 1) * k, n - np.arange(high, 0, -1) * k])


def spread_means(values, k):
    starts = bounds(len(values), k)
    sizes = np.diff(np.append(starts, len(values)))
    return np.repeat(np.add.reduceat(values, starts) / sizes, sizes)


def peers(warehouse, k):
    connection = warehouse._connection

    def write(table):
        connection.register("arrow_table", table)
        connection.execute("CREATE OR REPLACE TABLE memory.main.result AS SELECT * FROM arrow_table")
        connection.unregister("arrow_table")

    def order_by():
        connection.execute(
            "CREATE OR REPLACE TABLE memory.main.result AS SELECT row_id, x FROM staging.numbered ORDER BY x"
        )

    def numpy():
        arrays = connection.execute("SELECT row_id, x FROM staging.numbered").fetchnumpy()
        row_id, x = np.asarray(arrays["row_id"]), np.asarray(arrays["x"])
        order = np.argsort(x, kind="stable")
        means = np.empty(len(x))
        means[order] = spread_means(x[order], k)
        write(pa.table({"row_id": row_id, "value": means}))

    def pandas():
        frame = connection.sql("SELECT row_id, x FROM staging.numbered").df()
        frame = frame.sort_values(["x", "row_id"])
        frame["label"] = np.searchsorted(bounds(len(frame), k), np.arange(len(frame)), side="right")
        frame["value"] = frame.groupby("label")["x"].transform("mean")
        write(pa.Table.from_pandas(frame[["row_id", "value"]], preserve_index=False))

    def polars():
        import polars as pl

        frame = pl.from_arrow(connection.sql("SELECT row_id, x FROM staging.numbered").to_arrow_table())
        frame = frame.sort("x", "row_id")
        starts = pl.Series(bounds(len(frame), k))
        label = starts.search_sorted(pl.int_range(len(frame), eager=True), side="right")
        frame = frame.with_columns(label.alias("label"))
        frame = frame.with_columns(pl.col("x").mean().over("label").alias("value"))
        write(frame.select("row_id", "value").to_arrow())

    return {"order_by": order_by, "numpy": numpy, "pandas": pandas, "polars": polars}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", type=int, default=1, help="0: leave out NumPy, pandas and Polars")
    given = parser.parse_args()
    for rows in given.rows:
        for k in given.k:
            with open_warehouse(None) as warehouse:
                warehouse.query(
                    "bench",
                    "CREATE TABLE memory.main.people AS SELECT (hash(i) % 1000000007) / 1000.0::DOUBLE AS x "
                    "FROM range({{ n }}) t(i)",
                    n=rows,
                )
                source = find_source(warehouse, "people")
                roles, plan = Roles(tuple(source.columns), (), ()), secrets.Recipe("main.people", (), (), ())
                with Measure() as loading:
                    run = pipeline.load(warehouse, source, roles, secrets.from_text("bench"), plan)
                method = find("individual-ranking")

                def ours(run=run, method=method, k=k):
                    columns = run.source.columns
                    step = StepOf(run.source, method.name, "bench", run.table.loaded.rows, columns)
                    draws = Draws(run.repeat.key, secrets.Task(method.name, ("x",), (), "keep", {"k": k}))
                    work = Work(run.warehouse, Records(run.table.original, columns), step, draws)
                    method.function(work, k=k)

                functions = {"sqlmicro": ours, **peers(warehouse, k)}
                if not given.peers:
                    functions = {name: functions[name] for name in ("sqlmicro", "order_by")}
                cpu = rounds(functions, given.repeat)
                emit(
                    bench="individual-ranking",
                    rows=rows,
                    k=k,
                    load_cpu=loading.cpu,
                    **{f"{name}_cpu": cpu.median(name) for name in cpu},
                    **{f"ratio_to_{name}": cpu.ratio("sqlmicro", name) for name in cpu if name != "sqlmicro"},
                    peak_mb=peak_mb(),
                )


if __name__ == "__main__":
    main()
