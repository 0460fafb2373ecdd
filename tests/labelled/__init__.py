"""Labelled columns: what direct identifiers look like in many countries, and what only looks like them.

Every value is drawn from a generator with a fixed seed. `half` splits the columns in two: detectors are developed on
the first, and the second is only looked at in the end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from labelled.draws import Labelled
from labelled.numbers import codes
from labelled.persons import contacts, names
from labelled.things import things

DATA = Path(__file__).parents[3] / "shared" / "data"


def _real() -> Iterator[Labelled]:
    """Yield the columns of public data sets: none of them is a direct identifier."""
    for file in ("census.csv", "tarragona.csv", "eia.csv", "testdata.csv", "mikrozensus2010.csv", "adult/adult.csv"):
        path = DATA / file
        if not path.is_file():
            continue
        with path.open(encoding="utf-8", newline="") as lines:
            header, *rows = list(csv.reader(lines, delimiter=";" if "adult" in file else ","))[:3001]
        for place, name in enumerate(header):
            values = tuple(_number(row[place]) for row in rows)
            yield Labelled(f"{file}, column {name}", name, f"public data, {file}", values, positive=False)


def _number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def columns() -> list[Labelled]:
    """Return all labelled columns."""
    return [*names(), *contacts(), *codes(), *things(), *_real()]


def found(labelled: list[Labelled]) -> list:
    """Return what the scan finds in each column; those of different names share a table."""
    import pyarrow as pa

    from sqlmicro.database.finding import find_source
    from sqlmicro.database.opening import open_warehouse
    from sqlmicro.identifiers import scan

    tables: list[dict[str, int]] = []
    for number, column in enumerate(labelled):
        table = next((t for t in tables if column.name.lower() not in t and len(t) < 40), None)
        if table is None:
            tables.append(table := {})
        table[column.name.lower()] = number
    results = [None] * len(labelled)
    with open_warehouse(None) as warehouse:
        for table in tables:
            most = max(len(labelled[number].values) for number in table.values())
            filled = {
                labelled[n].name: [*labelled[n].values, *[None] * (most - len(labelled[n].values))]
                for n in table.values()
            }
            name = warehouse.load(pa.table(filled), "records", "")
            source = find_source(warehouse, f'"{name.catalog}"."main"."records"')
            for column, seen in scan.seen(warehouse, source, source.columns).items():
                results[table[column.name.lower()]] = seen.finding
    return results
