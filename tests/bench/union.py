"""What measuring a release together with earlier ones costs, to its own audits: union k and differences, 10⁵ rows.

python tests/bench/union.py --rows 100000 --releases 5
"""

import argparse
import tempfile

import duckdb
import numpy as np
import pyarrow as pa
from _measure import Measure, emit, peak_mb

import sqlmicro
from sqlmicro.history import differences, union
from sqlmicro.publish import consult

COLUMNS = ["a", "b", "c", "d"]


def timed(module, name, seconds):
    """Put a function that measures itself in place of one of a module."""
    function = getattr(module, name)

    def measured(*args, **more):
        with Measure() as block:
            made = function(*args, **more)
        seconds.setdefault(name, []).append(block.cpu)
        return made

    setattr(module, name, measured)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--changed", type=float, default=0.01)
    given = parser.parse_args()
    draw = np.random.default_rng(1)
    seconds = {}
    for module, name in ((consult, "consult"), (union, "shared"), (differences, "measured")):
        timed(module, name, seconds)
    with tempfile.TemporaryDirectory() as folder:
        db = f"{folder}/w.duckdb"
        with duckdb.connect(db) as connection:
            table = pa.table(
                {"id": np.arange(given.rows), **{c: draw.normal(100, 30, given.rows).round(1) for c in COLUMNS}}
            )
            connection.register("made", table)
            connection.execute("CREATE TABLE persons AS FROM made")
        for number in range(given.releases + 1):
            seconds.clear()
            with Measure() as publish:
                sqlmicro.mondrian(
                    "persons",
                    db=db,
                    columns=COLUMNS,
                    k=5,
                    rest="drop",
                    row_key=["id"],
                    into=f"r{number}",
                    alone_because="bench",
                )
            with Measure() as audits:
                sqlmicro.audit(table=f"r{number}", db=db, quasi=COLUMNS)
            emit(
                rows=given.rows,
                earlier=number,
                publish=publish.cpu,
                audits=audits.cpu,
                **{n: sum(s) for n, s in seconds.items()},
                mb=peak_mb(),
            )
            with duckdb.connect(db) as connection:
                connection.execute(f"UPDATE persons SET a = a + 1 WHERE id % {int(1 / given.changed)} = {number}")


if __name__ == "__main__":
    main()
