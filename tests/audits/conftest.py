"""What the tests of audits share: a warehouse with a table of rows in it, and the subject of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from sqlmicro.audits import inputs, runner
from sqlmicro.audits.inputs import audit_options
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.params import settle

Rows = Sequence[tuple[Any, ...]]
Audit = Callable[..., dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def warehouse() -> Iterator[DuckDBWarehouse]:
    with open_warehouse(None, threads=1) as opened:
        yield opened


@pytest.fixture(scope="session")
def audit(warehouse: DuckDBWarehouse) -> Audit:
    """Return a function that audits tables given as rows, {name: (types, rows)}, and returns the results by check."""

    def run(tables: dict[str, tuple[dict[str, str], Rows]], measure: Sequence[str], **given: Any) -> dict[str, Any]:
        for name, (types, rows) in tables.items():
            defined = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
            warehouse.query("test", f"CREATE OR REPLACE TABLE memory.main.{name} ({defined})")
            if rows:
                marks = count(1)
                records = ", ".join("(" + ", ".join(f"${next(marks)}" for _ in row) + ")" for row in rows)
                given_values = [value for row in rows for value in row]
                warehouse.insert("test", f"INSERT INTO {name} VALUES {records}", given_values)
        shared = dict.fromkeys(("delimiter", "quote", "null_string", "decimal", "encoding"))
        values = {**settle(audit_options(), {**given, "measure": tuple(measure)}, "test"), **shared, "table": "release"}
        subject = inputs.subject(warehouse, values)
        found: dict[str, list[dict[str, Any]]] = {}
        for row in runner.run(subject, values["measure"], inputs.thresholds(values), values):
            found.setdefault(row["check"], []).append(row)
        return found

    return run
