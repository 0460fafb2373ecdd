"""A table of a PostgreSQL server: what reading it, a release into a new table, and one in place cost.

    python tests/bench/postgres.py --url 'dbname=postgres host=127.0.0.1' --rows 100000 1000000

It makes and drops the tables bench and bench_released in schema public. Each job is a process of its own; a line has
its CPU time (of the client) and peak memory, and those of the same job on the records in a Parquet file, in the same
round.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MADE = """DROP TABLE IF EXISTS bench, bench_released; CREATE TABLE bench AS SELECT i AS id, (i::int8 * 37) % 90 AS age,
  ((i::int8 * 7919) % 1013 + 0.25)::numeric(12, 2) AS income, CASE i % 3 WHEN 0 THEN 'Bonn' ELSE 'Mainz' END AS city,
  date '1950-01-01' + ((i::int8 * 111) % 20000)::int AS born, 'note ' || i AS note, i / 7.0::float8 AS score
FROM generate_series(1, {rows}) i; ALTER TABLE bench ADD PRIMARY KEY (id)"""
JOBS = {
    "read": {"to": "{folder}/out.parquet", "overwrite": True},
    "new table": {"into": "crm.public.bench_released", "overwrite": True},
    "in place": {"in_place": True, "no_purge": True},
}


def one(job: str, table: str, folder: str, url: str, limit: str) -> None:
    """Run one job, and print what it took."""
    import sqlmicro

    target = {key: given.format(folder=folder) if isinstance(given, str) else given for key, given in JOBS[job].items()}
    options = {"columns": ["age", "income"], "keep": ["id", "city"], "accept_unique": ["id"], "rest": "drop", "k": 5}
    attached = {"attach": f"crm=postgres:{url}"} if table.startswith("crm.") else {}
    sqlmicro.individual_ranking(table, memory_limit=limit, alone_because="a benchmark", **options, **attached, **target)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([round(used.ru_utime + used.ru_stime, 2), used.ru_maxrss // 1024]))


def main() -> None:
    """Measure every job at every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="dbname=postgres")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        one(*given.one, given.url, given.memory_limit)
        return
    import psycopg

    with tempfile.TemporaryDirectory() as folder, psycopg.connect(given.url, autocommit=True) as server:
        for rows in given.rows:
            for job in JOBS:
                server.execute(MADE.format(rows=rows).encode())

                def run(job: str, table: str) -> list[float]:
                    command = [sys.executable, __file__, "--url", given.url, "--memory-limit", given.memory_limit]
                    text = subprocess.run(
                        [*command, "--one", job, table, folder], check=True, capture_output=True, text=True
                    ).stdout
                    return list(json.loads(text))

                cpu, peak = run(job, "crm.public.bench")
                if job == "read":
                    plain = Path(folder) / "plain.parquet"
                    _to_file(given.url, plain)
                    file_cpu, file_peak = run("read", str(plain))
                told = {"job": job, "rows": rows, "cpu": cpu, "peak_mb": peak}
                print(json.dumps({**told, "file_cpu": file_cpu, "file_peak_mb": file_peak}), flush=True)
        server.execute("DROP TABLE IF EXISTS bench, bench_released")


def _to_file(url: str, path: Path) -> None:
    """Write the table into a Parquet file, by way of CSV."""
    import duckdb
    import psycopg

    text = path.with_suffix(".csv")
    whole = "COPY bench TO STDOUT (FORMAT csv, HEADER)"
    with psycopg.connect(url) as server, server.cursor().copy(whole) as copied, text.open("wb") as out:
        for block in copied:
            out.write(block)
    duckdb.execute(f"COPY (FROM read_csv('{text}')) TO '{path}'")


if __name__ == "__main__":
    main()
