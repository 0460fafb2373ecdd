"""What it costs to count a release anew without the database, of the CPU seconds of the whole release.

`python tests/bench/recount.py [RECORDS …]`; by default 10⁵. One JSON line a release, of one run.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
from _measure import emit

import sqlmicro
from sqlmicro.publish import recounted

RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("mondrian", "r.parquet", {"sensitive": ["diag"], "min_l": 2}),
    ("mondrian", "r.csv", {"sensitive": ["diag"], "min_l": 2}),
    ("mondrian", "table", {"sensitive": ["diag"], "min_l": 2}),
    ("individual_ranking", "r.parquet", {}),
]
PEOPLE = """SELECT range AS id, (random() * 80)::INTEGER AS age, round(random() * 1e5) AS pay,
  round(random() * 40) AS hours, 'd' || (random() * 20)::INTEGER AS diag FROM range({})"""


def main() -> None:
    os.environ.setdefault("SQLMICRO_SECRET", "a secret of a benchmark")
    for records in map(int, sys.argv[1:] or ["100000"]):
        with tempfile.TemporaryDirectory() as folder:
            db = str(Path(folder) / "w.duckdb")
            with duckdb.connect(db) as con:
                con.execute("SELECT setseed(0.5)")
                con.execute(f"CREATE TABLE p AS {PEOPLE.format(records)}")
            for method, to, more in RUNS:
                spent, whole = release(db, method, str(Path(folder) / f"{method}_{to}") if "." in to else "", more)
                emit(
                    records=records, method=method, to=to, recount=spent, release=whole, share=spent / whole
                )  # fmt: skip


def release(db: str, method: str, to: str, more: dict[str, Any]) -> tuple[float, float]:
    """Return the CPU seconds of the recount, and of the release."""
    spent, real = 0.0, recounted._recounted

    def timed(*given: Any) -> Any:
        nonlocal spent
        start = time.process_time()
        try:
            return real(*given)
        finally:
            spent += time.process_time() - start

    recounted._recounted = timed
    target = {"to": to} if to else {"into": "out"}
    start = time.process_time()
    used = {"columns": ["age", "pay", "hours"], "k": 5, "rest": "drop", "alone_because": "a benchmark"}
    getattr(sqlmicro, method)("p", db=db, **used, **target, **more)
    recounted._recounted = real
    return spent, time.process_time() - start


if __name__ == "__main__":
    main()
