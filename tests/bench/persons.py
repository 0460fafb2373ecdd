"""How many tables in which nobody has several rows are asked whose records they have, and how many of the others, as
JSON lines; and what looking costs a release.

    python tests/bench/persons.py [--each 40] [--seed 1] [--show] [--cost]

Tables: made ones of many shapes, those of the three schemas of `_schemas.py`, the reference data, and the columns of
`tests/labelled` that are no identifiers, some together as a table. A table of a schema has repeated persons if a key of
persons in it repeats, and no key says that each row is a person of its own.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from _measure import emit  # noqa: E402
from _schemas import SCHEMAS  # noqa: E402
from _shapes import Made, made  # noqa: E402
from labelled import DATA, columns  # noqa: E402

from sqlmicro.database.opening import open_warehouse  # noqa: E402
from sqlmicro.identifiers import scan  # noqa: E402
from sqlmicro.identifiers.repeated import repeated_persons  # noqa: E402

OF_ONE = {"customer", "person", "death", "observation_period", "provider", "Customers", "Employees"}
"""Tables of the schemas in which every row is a person of its own, whomever else it names."""


def of_schemas():
    for schema in SCHEMAS:
        with duckdb.connect() as connection:
            for statement in schema.statements():
                connection.execute(statement)
            for table in schema.tables:
                key = next((name.partition(".")[2] for name in sorted(schema.persons)
                            if name.partition(".")[0] == table and table not in OF_ONE), "")  # fmt: skip
                found = connection.execute(f'SELECT * FROM "{table}"').to_arrow_table()
                yield Made(f"{schema.name}: {table}", found, key)


def of_reference_data():
    for file in ("census.csv", "tarragona.csv", "eia.csv", "testdata.csv", "mikrozensus2010.csv", "adult/adult.csv"):
        if (DATA / file).is_file():
            delimiter = ";" if "adult" in file else ","
            options = pyarrow.csv.ParseOptions(delimiter=delimiter)
            yield Made(file, pyarrow.csv.read_csv(DATA / file, parse_options=options).slice(0, 20_000))


def of_labelled(how_many, seed):
    listed = [column for column in columns() if not column.positive]
    r = random.Random(seed)
    for number in range(how_many):
        chosen = {column.name.lower(): column for column in r.sample(listed, r.randint(4, 12))}
        rows = min(len(column.values) for column in chosen.values())
        yield Made(f"labelled {number}", {column.name: list(column.values[:rows]) for column in chosen.values()})


def tables(each, seed):
    yield from made(each, seed)
    yield from of_schemas()
    yield from of_reference_data()
    yield from of_labelled(4 * each, seed)


def asked(tables, *, seen=False):
    """Yield every table with what is found in it; with `seen` samples of the values are looked at, as by a profile."""
    for table in tables:
        data = table.columns if isinstance(table.columns, pa.Table) else pa.table(table.columns)
        with tempfile.TemporaryDirectory() as folder:
            db = str(Path(folder) / "w.duckdb")
            with duckdb.connect(db) as connection:
                connection.register("given", data)
                connection.execute("CREATE TABLE records AS SELECT * FROM given")
            with open_warehouse(db, read_only=True) as warehouse:
                source = warehouse.source("records")
                shown = scan.seen(warehouse, source, source.columns) if seen else {}
                started = time.perf_counter()
                found = repeated_persons(warehouse, source, shown)
                yield table, found, time.perf_counter() - started


def cost():
    """Emit what looking takes: the first time, and the median of nine."""
    for table in made(1):
        if table.title.split()[0] in ("visits", "events", "survey", "sensors", "persons", "matrix"):
            for rows in (1_000, 100_000, 1_000_000):
                times = max(1, rows // len(next(iter(table.columns.values()))))
                data = pa.concat_tables([pa.table(table.columns)] * times).slice(0, rows)
                with open_warehouse(None) as warehouse:
                    name = warehouse.load(data, "records", "")
                    from sqlmicro.database.finding import find_source

                    source = find_source(warehouse, f'"{name.catalog}"."main"."records"')
                    seconds = []
                    for _ in range(10):
                        started = time.perf_counter()
                        repeated_persons(warehouse, source, {})
                        seconds.append(time.perf_counter() - started)
                    emit(table=table.title, rows=rows, milliseconds=round(1000 * statistics.median(seconds[1:]), 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=40, help="made tables of every shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seen", action="store_true", help="look at samples of the values too, as profile does")
    parser.add_argument("--show", action="store_true", help="tables that are asked or missed wrongly")
    parser.add_argument("--cost", action="store_true", help="measure what looking takes instead")
    given = parser.parse_args()
    if given.cost:
        cost()
        return
    without, wrongly, there, found, exactly = 0, 0, 0, 0, 0
    shapes = {}
    for table, one, _ in asked(tables(given.each, given.seed), seen=given.seen):
        right = bool(table.person) == (one is not None)
        if table.person:
            there, found = there + 1, found + (one is not None)
            exactly += one is not None and ",".join(one.columns) == table.person
        else:
            without, wrongly = without + 1, wrongly + (one is not None)
        if not right:
            shapes.setdefault(table.title.split()[0], []).append((table.title, one and one.told, table.person))
    if given.show:
        for shape, wrong in shapes.items():
            emit(shape=shape, wrong=len(wrong), examples=wrong[:3])
    emit(tables_without=without, asked=wrongly, share=round(wrongly / without, 4))
    emit(tables_with=there, found=found, share=round(found / there, 4), right_column=exactly)


if __name__ == "__main__":
    main()
