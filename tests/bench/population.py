"""Recoding and suppression that a population of made persons holds; a tenth of them are the records.

    python tests/bench/population.py [--people 300000] [--min-k-map 50]

One JSON line per call, kernels not compiled before.
"""

import argparse
import tempfile
import time

import duckdb
from _measure import emit

import sqlmicro

TABLE = """CREATE TABLE everybody AS
SELECT
  CAST(17 + hash(i) % 73 AS INTEGER) AS age,
  'e' || hash(i * 7) % 16 AS education,
  'n' || least(hash(i * 11) % 41, hash(i * 13) % 41) AS country,
  CAST(hash(i * 3) % 7 AS INTEGER) AS work,
  CASE WHEN hash(i * 5) % 2 = 0 THEN 'm' ELSE 'f' END AS sex
FROM range({people}) AS t(i)"""
LEVELS = {"width": ["age=5", "age=10", "age=20"], "prefix": ["country=1"]}
LIMIT = {"min_k_map": None, "population": "everybody"}
CALLS = (
    ("mondrian", {"k": 2}),
    ("mondrian", {"k": 2, **LIMIT}),
    ("generalize", {"until_k": 5, "suppress_up_to": 0.05, **LEVELS}),
    ("generalize", {"until_k": 2, "suppress_up_to": 0.05, **LEVELS, **LIMIT}),
    ("generalize", {"until_k": 2, "suppress_up_to": 0.05, "max_delta": 0.3, **LEVELS, **LIMIT}),
    ("generalize", {"until_k": 5, "local": True, **LEVELS}),
    ("generalize", {"until_k": 2, "local": True, **LEVELS, **LIMIT}),
    ("suppress", {"k": 5}),
    ("suppress", {"k": 2, **LIMIT}),
)


def main() -> None:
    """Print what every call asked for, its CPU seconds and its checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=300_000)
    parser.add_argument("--min-k-map", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = f"{folder}/people.duckdb"
        with duckdb.connect(db) as connection:
            connection.execute(TABLE.format(people=given.people))
            connection.execute(f"CREATE TABLE records AS SELECT * FROM everybody LIMIT {given.people // 10}")
        columns = ["age", "education", "country", "work", "sex"]
        for method, asked in CALLS:
            settings = {name: given.min_k_map if name == "min_k_map" else value for name, value in asked.items()}
            start = time.process_time()
            report = getattr(sqlmicro, method)(
                "records", db=db, columns=columns, rest="drop", into="out", overwrite=True, seed="bench", **settings
            )
            checks = {row["check"]: row["value"] for row in report["audits"]}
            shown = {name: value for name, value in settings.items() if name not in LEVELS}
            seconds = time.process_time() - start
            groups = report["steps"][0]["groups"]
            emit(bench="population", method=method, settings=shown, cpu=round(seconds, 1), checks=checks, groups=groups)


if __name__ == "__main__":
    main()
