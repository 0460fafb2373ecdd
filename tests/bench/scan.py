"""Precision and recall of what `sqlmicro scan` finds, and its cost over many tables, as JSON lines.

    python tests/bench/scan.py [--show]
    python tests/bench/scan.py --tables 200 --rows 1000000

The schemas are public ones with generated rows, without the constraints that they declare: names and values must tell.
An identifier is found if it is proposed to leave it out, or to make it a pseudonym. Columns in which every row has a
value of its own, and free text, are no false alarms: they are left out too, and should be.
"""

import argparse
import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import duckdb

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from _measure import emit  # noqa: E402
from _schemas import SCHEMAS  # noqa: E402
from _unseen_schemas import UNSEEN  # noqa: E402

from sqlmicro.identifiers.foreign_keys import unique  # noqa: E402
from sqlmicro.jobs.policy import ScanOptions, scan_values, scanned  # noqa: E402
from sqlmicro.system.progress import Progress  # noqa: E402

QUIET = Progress(enabled=False)


def found_in(schema, folder):
    """Return what a scan finds in a schema: identifiers, person keys, foreign keys."""
    db = Path(folder) / f"{schema.name.partition(' ')[0]}.duckdb"
    with duckdb.connect(str(db)) as connection:
        for statement in schema.statements():
            connection.execute(statement)
    found = scanned(ScanOptions(db=str(db)), QUIET)
    names = [table.name for table in found.tables]
    identifiers = {
        f"{name}.{profile.column.name}" for at, name in enumerate(names) for profile in found.identifiers(at)
    }
    own = {f"{t.name}.{p.column.name}" for t in found.tables for p in t.profiles if unique(p)} | schema.texts
    persons = {f"{name}.{key.column}" for name, keys in zip(names, found.persons, strict=True) for key in keys}
    identifiers -= own - schema.identifiers
    keys = {(f"{names[k.child]}.{k.columns[0]}", f"{names[k.parent]}.{k.to[0]}") for k in found.keys}
    return identifiers, persons, keys


def measured(schema, folder):
    """Return for each kind what was found, what there is, precision and recall."""
    wanted = (schema.identifiers, schema.persons, schema.keys)
    for what, there, found in zip(
        ("identifiers", "person keys", "foreign keys"), wanted, found_in(schema, folder), strict=True
    ):
        hits = len(there & found)
        yield what, there, found, hits / len(found) if found else 1.0, hits / len(there)


def many_tables(db, tables, rows, columns=20):
    """Make a warehouse of many tables that refer to each other, the largest with `rows` rows."""
    with duckdb.connect(db) as connection:
        for number in range(tables):
            size = rows if number == 0 else (1000, 5000, 20000, 50000)[number % 4]
            listed = ["i + 1 AS id", f"(1 + hash(i, {number}) % 1000)::BIGINT AS customer_id"]
            listed += [f"(1 + hash(i, {number + 7}) % 1000)::BIGINT AS table_{number // 2}_id"]
            listed += ["'user' || i || '@example.org' AS email", "'name ' || i % 500 AS name"]
            listed += ["DATE '1940-01-01' + (hash(i, 1) % 25000)::INTEGER AS born", "md5(i::VARCHAR) AS token"]
            listed += [f"(hash(i, {j}) % {10 ** (j % 6 + 1)})::INTEGER AS amount_{j}" for j in range(5)]
            listed += [f"'code ' || hash(i, {j}) % {50 * j + 50} AS category_{j}" for j in range(5)]
            listed += [f"(hash(i, {j}) % 100000) / 7.0 AS score_{j}" for j in range(columns - len(listed))]
            name = "customers" if number == 1 else f"table_{number}"
            connection.execute(f"CREATE TABLE {name} AS SELECT {', '.join(listed)} FROM range({size}) r(i)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="what was missed, and false alarms")
    parser.add_argument("--tables", type=int, default=0, help="measure the cost of so many tables instead")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the largest")
    parser.add_argument("--memory-limit", help="of the database, such as 100MB")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.tables:
            db = str(Path(folder) / "many.duckdb")
            # In a process of its own: the memory that is measured is that of the scan.
            making = get_context("spawn").Process(target=many_tables, args=(db, given.tables, given.rows))
            making.start()
            making.join()
            before, started = time.process_time(), time.perf_counter()
            report = scan_values(ScanOptions(db=db, memory_limit=given.memory_limit), QUIET)
            emit(
                tables=report.tables, columns=report.columns, cpu_seconds=round(time.process_time() - before, 1),
                seconds=round(time.perf_counter() - started, 1),
                most_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            )  # fmt: skip
            return
        for schema in (*SCHEMAS, *UNSEEN):
            for what, there, found, precision, recall in measured(schema, folder):
                emit(schema=schema.name, what=what, there=len(there), found=len(found), precision=round(precision, 3),
                     recall=round(recall, 3))  # fmt: skip
                if given.show:
                    emit(missed=sorted(map(str, there - found)), false=sorted(map(str, found - there)))


if __name__ == "__main__":
    main()
