"""Local suppression: the number of values, and CPU seconds from a table of the database to a table of the database.

On testdata.csv beside what the R package sdcMicro 5.8 needs there (157 / 293 / 500 for k = 2 / 3 / 5, where a missing
value may be any value), and on random tables, most of whose combinations are rare.

    python tests/bench/suppression.py [--rows 20000 1000000] [--values 1000 60] [--k 3]
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from _measure import Measure, emit, peak_mb

from sqlmicro import pipeline
from sqlmicro.database.columns import Roles
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.params import settle
from sqlmicro.registry import find
from sqlmicro.system import secrets
from sqlmicro.work import Work

DATA = Path(os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
READINGS = ["own-value", "wildcard"]


def suppress(warehouse, table, columns, **settings):
    """Return what was noted, and the measure of the method alone: loading the table into staging is not in it."""
    source = find_source(warehouse, table)
    chosen = [column for column in source.columns if column.name in columns]
    roles, plan = Roles(tuple(source.columns), (), ()), secrets.Recipe(source.identity, (), (), ())
    run = pipeline.load(warehouse, source, roles, secrets.from_text("bench"), plan)
    method = find("suppress")
    work = Work(
        warehouse, source, run.original, chosen, [], where="suppress", prefix="suppress_1", key=run.key,
        task=secrets.Task("suppress", tuple(columns), (), "keep", settings), rows=run.rows_in,
    )  # fmt: skip
    with Measure() as measured:
        outcome = method.function(work, **settle(method.settings, settings, "suppress"))
    values = next(note for note in outcome.notes if " values suppressed" in note)
    return int(values.split()[0].replace(",", "")), outcome.notes, measured


def on_testdata(reading):
    theirs = json.loads((DATA.parent / "reference" / "kanon_testdata.json").read_text())
    with open_warehouse(None) as warehouse:
        file = DATA / "testdata.csv"
        warehouse.query("bench", f"CREATE TABLE memory.main.people AS SELECT * FROM read_csv('{file}')")
        for k in (2, 3, 5):
            values, notes, measured = suppress(warehouse, "people", KEYS, k=k, nulls_match=reading)
            emit(
                bench="suppression", data="testdata", nulls_match=reading, k=k, values=values,
                sdcmicro_wildcard=theirs[f"k{k}"]["total"], cpu=measured.cpu, notes=notes,
            )  # fmt: skip


def on_random(reading, rows, values, k):
    X = np.random.default_rng(1).integers(0, values, size=(rows, 5))
    table = pa.table({f"key_{j}": X[:, j] for j in range(5)})
    with open_warehouse(None) as warehouse:
        name = warehouse.load(table, "people", "random keys")
        warehouse.query("bench", "CREATE TABLE memory.main.people AS SELECT * FROM {{ name | ident }}", name=name)
        lost, notes, measured = suppress(warehouse, "people", table.column_names, k=k, nulls_match=reading)
        emit(
            bench="suppression", data="random", rows=rows, values=values, keys=5, nulls_match=reading, k=k,
            suppressed=lost, share=lost / rows / 5, cpu=measured.cpu, wall=measured.wall, peak_mb=peak_mb(),
            notes=notes,
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[20_000, 1_000_000])
    parser.add_argument("--values", type=int, nargs="*", default=[1000, 60], help="distinct values, for every --rows")
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--readings", nargs="+", default=READINGS)
    given = parser.parse_args()
    for reading in given.readings:
        on_testdata(reading)
        for rows, values in zip(given.rows, given.values, strict=True):
            on_random(reading, rows, values, given.k)


if __name__ == "__main__":
    main()
