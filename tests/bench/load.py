"""Load: tables larger than the memory, two processes on one file, readers while a release is published in place.

python tests/bench/load.py [--case ranking strata writers reader] [--rows 100000000] [--limit 4GB] [--columns 3]

`ranking` is individual ranking of all columns and an audit of the release. `strata` is MDAV in strata of some 2 000
records, with 20 more columns that are kept: the columns that are grouped are held in memory, the table is not. CPU
seconds and peak memory are those of the command with all its threads, the limit is that of --memory-limit. `writers`
starts two releases of different tables of one file at once and counts what became of them. `reader` asks a file that is
replaced in place for its numbers of records and distinct values, over and over; a release has fewer distinct values
than the table, so a mixture would have another number than either.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from _measure import apart, emit, sqlmicro

SQLMICRO = [sys.executable, "-m", "sqlmicro"]


def make(db, rows, columns, strata, table="t", kept=0):
    """Write a table of skewed numbers, in strata, with some more columns; in a process of its own."""
    apart(_make, db, rows, columns, strata, table, kept)


def _make(db, rows, columns, strata, table, kept):
    with duckdb.connect(str(db)) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        made = [f"exp(3 * random() + random() * random()) AS x{j}" for j in range(columns)]
        numbers = ", ".join([*made, *(f"random() AS kept{j}" for j in range(kept))])
        connection.execute(
            f"CREATE TABLE {table} AS SELECT (i % {strata})::INTEGER AS s, {numbers} FROM range({rows}) r(i)"
        )


def larger(case, folder, rows, columns, limit, method, strata, kept=0):
    """Release a table that is larger than the memory, and audit what was published."""
    db = folder / f"{case}.duckdb"
    make(db, rows, columns, strata, kept=kept)
    names = ",".join(f"x{j}" for j in range(columns))
    options = ["--db", str(db), "--memory-limit", limit]
    unique = ",".join(f"kept{j}" for j in range(kept))
    chosen = ["--by", "s", "--rest", "keep", "--accept-unique", unique] if method == "mdav" else ["--rest", "drop"]
    report, *measured = sqlmicro(method, "--table", "t", "--columns", names, "--into", "released", *chosen, *options)
    sizes = {
        "rows": rows,
        "columns": columns,
        "kept": kept,
        "raw_mb": rows * (columns + kept) * 8 / 2**20,
        "file_mb": db.stat().st_size / 2**20,
    }
    emit(bench="load", case=case, method=method, limit=limit, **sizes, k=report["k_released"], il=report.get("IL"),
         **dict(zip(("seconds", "cpu", "peak_mb"), measured, strict=True)))  # fmt: skip
    quasi = names if method == "mdav" else "x0"
    report, *measured = sqlmicro("audit", "--table", "released", "--quasi", quasi, "--min-k", "3", *options)
    emit(bench="load", case=case, method="audit", limit=limit, **sizes, passed=report["passed"],
         **dict(zip(("seconds", "cpu", "peak_mb"), measured, strict=True)))  # fmt: skip
    db.unlink()


def writers(folder, rows, times):
    """Start two releases of one file at once; one may have to be told that the file is in use."""
    db, found = folder / "writers.duckdb", collections.Counter()
    for _ in range(times):
        db.unlink(missing_ok=True)
        make(db, rows, 2, 1, "a")
        make(db, rows, 2, 1, "b")
        command = [*SQLMICRO, "individual-ranking", "--db", str(db), "--columns", "x0,x1", "--rest", "drop", "--table"]
        both = [subprocess.Popen([*command, table], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for table in "ab"]
        codes = sorted((process.communicate(), process.returncode)[1] for process in both)
        with duckdb.connect(str(db), read_only=True) as connection:
            tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            complete = [
                connection.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] == rows
                for name in ("a_anonymized", "b_anonymized") if name in tables
            ]  # fmt: skip
        found[f"exit codes {codes}, {len(complete)} releases, all whole: {all(complete)}"] += 1
    emit(bench="load", case="writers", rows=rows, found=dict(found))


READ = """
import collections, duckdb, json, sys, time
seen, end = collections.Counter(), time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    try:
        with duckdb.connect(sys.argv[1], read_only=True) as connection:
            seen[str(connection.execute("SELECT count(*), count(DISTINCT x0) FROM a").fetchall()[0])] += 1
    except duckdb.IOException:
        seen["in use"] += 1
        time.sleep(0.01)
print(json.dumps(seen))
"""


def reader(folder, rows, times):
    """Read a table all the while it is replaced and purged."""
    db, found = folder / "reader.duckdb", collections.Counter()
    for _ in range(times):
        db.unlink(missing_ok=True)
        make(db, rows, 2, 1, "a")
        reading = subprocess.Popen([sys.executable, "-c", READ, str(db), "8"], stdout=subprocess.PIPE)
        command = [*SQLMICRO, "individual-ranking", "--db", str(db), "--table", "a", "--columns", "x0,x1", "--in-place"]
        codes = []
        while not codes or (codes[-1] == 2 and len(codes) < 200):  # 2: a reader keeps the writer out, 1: the purge
            codes.append(subprocess.run([*command, "--keep", "s"], capture_output=True).returncode)
        seen = json.loads(reading.communicate()[0])
        found.update(seen)
        found.update(f"release: exit {code}" for code in codes)
    emit(bench="load", case="reader", rows=rows, found=dict(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", default=["ranking", "strata", "writers", "reader"])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--limit", default="4GB")
    parser.add_argument("--times", type=int, default=10, help="how often writers meet, or a reader and a writer")
    parser.add_argument("--folder", default=None, help="where the files are made")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        if "ranking" in given.case:
            larger("ranking", folder, given.rows, given.columns, given.limit, "individual-ranking", 1)
        if "strata" in given.case:
            larger("strata", folder, given.rows, given.columns, given.limit, "mdav", given.rows // 2_000, kept=20)
        if "writers" in given.case:
            writers(folder, min(given.rows, 300_000), given.times)
        if "reader" in given.case:
            reader(folder, min(given.rows, 300_000), given.times)


if __name__ == "__main__":
    main()
