"""What the tests of audits share: a warehouse with a table of rows in it, and the release under audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from sqlmicro.audits import inputs, runner
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.common import MachineOptions
from sqlmicro.options.params import take
from sqlmicro.system.reporting import as_json

Rows = Sequence[tuple[Any, ...]]
Audit = Callable[..., dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="session")
def warehouse() -> Iterator[DuckDBWarehouse]:
    with open_warehouse(None, machine=MachineOptions(threads=1)) as opened:
        yield opened


@pytest.fixture(scope="session")
def audit(warehouse: DuckDBWarehouse) -> Audit:
    """Return a function that audits tables given as rows, {name: (types, rows)}, and returns the results by check."""

    def run(tables: dict[str, tuple[dict[str, str], Rows]], measure: Sequence[str], **given: Any) -> dict[str, Any]:
        for name, (types, rows) in tables.items():
            quoted = {column.replace('"', '""'): kind for column, kind in types.items()}
            defined = ", ".join(f'"{column}" {kind}' for column, kind in quoted.items())
            warehouse.query("test", f"CREATE OR REPLACE TABLE memory.main.{name} ({defined})")
            if rows:
                marks = count(1)
                records = ", ".join("(" + ", ".join(f"${next(marks)}" for _ in row) + ")" for row in rows)
                given_values = [value for row in rows for value in row]
                warehouse.insert("test", f"INSERT INTO {name} VALUES {records}", given_values)
        options = take(inputs.AuditStep, {**given, "measure": tuple(measure)}, "test")
        audited = inputs.audited(warehouse, "release", options)
        found: dict[str, list[dict[str, Any]]] = {}
        for row in runner.run(audited, options.measure, options.thresholds, options.settings):
            found.setdefault(row.check, []).append(as_json(row))
        return found

    return run
