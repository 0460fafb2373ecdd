"""What a night of a series costs beside a release by itself: whole commands, CPU seconds by what they do, peak memory.

A table of normal columns with a key. One command releases it alone, one as the first night of a series; then 1 % of the
rows are replaced by new ones, and one command releases it alone, one as the second night. Prints JSON lines.

`writing` is what makes the rows of the target and writes them; `auditing` what measures the release, the series and the
losses, and counts the release anew; `other` all else: Python itself, reading, comparing, seating, remembering. `ratio`
is that of `other` in the second night to the whole release by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb

COLUMNS = {"mdav": 4, "individual-ranking": 1, "generalize": 4, "safe": 5}
WAYS = {"content": [], "watermark": ["--watermark", "updated"], "changes": ["--changes-from", "changes"]}
WRITING = ("publish", "replace/", "history/rows_of_columns", "history/class_representatives", "publish/records")
AUDITING = (
    "audit/", "publish/content", "replace/missing_values", "history/row_steps", "history/total_steps",
    "history/changed_rows",
    "history/seat_changes", "history/kept_rows", "history/rows_of_classes", "history/rows_of_values",
    "history/column_founders", "history/classed", "history/classes_of", "history/digest",
    "history/union", "history/cells_of", "safe/deviations",
)  # fmt: skip


def make(db: str, rows: int) -> None:
    """Make a table of persons: four numbers, and five columns of few values; and an empty list of changes."""
    with duckdb.connect(db) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "CREATE TABLE persons AS SELECT i AS id, -i AS updated, "
            + ", ".join(f"sqrt(-2 * ln(1 - random())) * cos(6.283185307 * random()) AS x{j}" for j in range(1, 5))
            + ", "
            + ", ".join(f"floor({j + 2} * random() ** 2)::INTEGER AS c{j}" for j in range(1, 6))
            + f" FROM range({rows}) r(i)"
        )
        connection.execute("CREATE TABLE changes (id BIGINT)")


def one_night(db: str, rows: int) -> None:
    """Replace 1 % of the rows by newcomers."""
    with duckdb.connect(db) as connection:
        connection.execute("SELECT setseed(0.25)")
        connection.execute("INSERT INTO changes SELECT unnest([id, id + $1]) FROM persons WHERE id % 100 = 7", [rows])
        connection.execute(
            "UPDATE persons SET id = id + $1, updated = 1, x1 = -x1, x2 = -x2 WHERE id % 100 = 7", [rows]
        )


def options(method: str) -> list[str]:
    """Return what a method is told."""
    names = [f"x{j}" for j in range(1, COLUMNS[method] + 1)]
    if method == "safe":
        return ["--columns", ",".join(f"c{j}" for j in range(1, 6)), "--k", "3", "--nulls", "error"]
    more = ["--k", "5", "--row-key", "id"]
    if method == "generalize":
        more += ["--until-k", "5", *(part for name in names for part in ("--width", f"{name}=0.5"))]
        more = [part for part in more if part not in ("--k",)][1:]
    return ["--columns", ",".join(names), *more]


def measured(db: str, method: str, *more: str) -> dict[str, float]:
    """Run a command; return its CPU seconds and peak memory in MB."""
    told = [method, "--db", db, "--table", "persons", "--rest", "drop", "--overwrite", *options(method), *more]
    with tempfile.NamedTemporaryFile("r") as parts:
        command = [sys.executable, __file__, "--of", parts.name, *told]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SQLMICRO_DB": ""})
        if done.returncode:
            raise SystemExit(done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found: dict[str, float] = json.loads(parts.read())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    other = round(cpu - sum(found.values()), 2)
    return {"cpu": round(cpu, 2), **found, "other": other, "peak_mb": round(after.ru_maxrss / 1024)}


def one_command(parts: str, told: list[str]) -> None:
    """Run a command of sqlmicro in this process, and write what its statements cost, by what they do."""
    from sqlmicro.__main__ import main as command
    from sqlmicro.database import opening
    from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
    from sqlmicro.publish import recounted

    costs: dict[str, float] = defaultdict(float)
    plain = DuckDBWarehouse._call

    def call(self: DuckDBWarehouse, title: str, function: Any) -> Any:
        start = time.process_time()
        try:
            return plain(self, title, function)
        finally:
            costs[title] += time.process_time() - start

    def closed(connection: Any) -> None:
        start = time.process_time()
        close(connection)
        costs["publish: what was written goes to the file"] += time.process_time() - start

    def counted_anew(*given: Any) -> Any:
        start = time.process_time()
        found = of_table(*given)
        costs["audit/counted anew by verify"] += time.process_time() - start
        return found

    of_table, recounted.of_table = recounted.of_table, counted_anew  # type: ignore[assignment]
    close, opening.close = opening.close, closed  # type: ignore[attr-defined]
    DuckDBWarehouse._call = call  # type: ignore[method-assign]
    sys.argv = ["sqlmicro", *told]
    try:
        command()
    finally:
        found = {"writing": 0.0, "auditing": 0.0}
        for title, cost in costs.items():
            kind = "auditing" if title.startswith(AUDITING) else "writing" if title.startswith(WRITING) else ""
            if kind:
                found[kind] += cost
        Path(parts).write_text(json.dumps({name: round(cost, 2) for name, cost in found.items()}))


def main() -> None:
    """Measure every method that was named."""
    if sys.argv[1:2] == ["--of"]:
        one_command(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--methods", nargs="+", default=["mdav", "individual-ranking", "safe"], choices=list(COLUMNS))
    parser.add_argument("--ways", nargs="+", default=["content"], choices=list(WAYS))
    given = parser.parse_args()
    for method in given.methods:
        alone: dict[str, float] = {}
        for way in given.ways:
            with tempfile.TemporaryDirectory() as folder:
                db = str(Path(folder) / "w.duckdb")
                make(db, given.rows)
                series = ["--into", "nightly", "--series", "s", *WAYS[way], "--night"]
                found = {"first": measured(db, method, *series, "2026-01-01")}
                one_night(db, given.rows)
                found["second"] = measured(db, method, *series, "2026-01-02")
                if not alone:
                    with duckdb.connect(db) as connection:
                        connection.execute("DROP TABLE nightly")
                    alone = measured(db, method, "--into", "alone", "--alone-because", "a benchmark")
            ratio = round(found["second"]["other"] / alone["cpu"], 3)
            whole = round(found["second"]["cpu"] / alone["cpu"], 3)
            told = {"method": method, "rows": given.rows, "way": way, "ratio": ratio, "whole": whole}
            print(json.dumps({**told, "alone": alone, **found}), flush=True)


if __name__ == "__main__":
    main()
