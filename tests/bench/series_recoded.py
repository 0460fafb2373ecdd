"""Recodings in a series: how many records wait, night after night.

python tests/bench/series_recoded.py [--rows 20000] [--nights 10] [--seed 1] [--ways mondrian generalize]

The nights of `series.py`: 1 % are inserted, 0.3 % deleted and 0.5 % changed in one of four columns.
"""

import argparse
import os
import tempfile

import duckdb
import pyarrow as pa
from _measure import Measure, emit
from series import nights

import sqlmicro

COLUMNS = "abcd"
WIDTHS = (0.5, 1, 2, 4)
WAYS = {
    "mondrian": {"k": 5},
    "generalize": {"until_k": 5, "suppress_up_to": 0.02, "width": [f"{c}={w}" for c in COLUMNS for w in WIDTHS]},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--nights", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    given = parser.parse_args()
    os.environ.setdefault("SQLMICRO_SECRET", "a lasting secret of the benchmark")
    for way in given.ways:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CONFIG_HOME"] = folder  # nobody's own ledger
            live(way, given, f"{folder}/nights.duckdb")


def live(way, given, db):
    for day, (key, _, X, _) in enumerate(nights(given.rows, given.nights, given.seed), 1):
        table = pa.table({"id": key, **{name: X[:, j] for j, name in enumerate(COLUMNS)}})
        with duckdb.connect(db) as connection:
            connection.register("given", table)
            connection.execute("CREATE OR REPLACE TABLE persons AS FROM given")
        with Measure() as measured:
            report = getattr(sqlmicro, way)(
                "persons", db=db, columns=list(COLUMNS), rest="drop", row_key=["id"], into="out", overwrite=True,
                series="nightly", night=f"2026-01-{day:02}", **WAYS[way],
            )  # fmt: skip
        night = report["series"]
        told = {name: night[name] for name in ("longest_wait", "empty", "opened")}
        emit(bench="series_recoded", way=way, night=day, rows=len(key), withheld=night["withheld"] / len(key),
             **told, cpu=measured.cpu)  # fmt: skip


if __name__ == "__main__":
    main()
