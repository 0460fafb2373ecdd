"""The conformance suite of a warehouse: the row cases of every template, run through the protocol alone.

An engine that keeps `sqlmicro.database.warehouse.Warehouse` gives the same rows for the same relations. Its tests need
a `Bench`, which puts the relations of a case into the engine; `rows_of` does the rest. DuckDB runs all cases in
`test_templates.py`, Spark in `tests/spark/test_translate.py`.
"""

from __future__ import annotations

from collections import Counter
from math import copysign
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pytest

from sqlmicro.database import templates
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import ORDER, Warehouse
from sqlmicro.mask.pseudonymise import pads

from . import (
    cases_attack,
    cases_audit,
    cases_audit_joins,
    cases_audit_utility,
    cases_erasure,
    cases_group,
    cases_history,
    cases_load,
    cases_mask,
    cases_mask_applied,
    cases_mask_dates,
    cases_mask_kept,
    cases_mask_population,
    cases_mask_recoding,
    cases_mask_risk,
    cases_publish,
    cases_replace,
    cases_report,
    cases_safe,
    cases_series,
    cases_series_rows,
)
from .case import KEY, Case, rel

CASES: list[Case] = [
    case
    for module in (
        cases_load,
        cases_group,
        cases_replace,
        cases_report,
        cases_mask,
        cases_mask_applied,
        cases_mask_dates,
        cases_mask_kept,
        cases_mask_population,
        cases_mask_risk,
        cases_mask_recoding,
        cases_safe,
        cases_audit,
        cases_audit_joins,
        cases_audit_utility,
        cases_attack,
        cases_erasure,
        cases_history,
        cases_series,
        cases_series_rows,
        cases_publish,
    )
    for case in module.CASES
]


def numbered(cases):
    """Name every case by its template and number."""
    seen = Counter()
    for case in cases:
        seen[case.template] += 1
        yield f"{case.template}-{seen[case.template]}", case


NUMBERED = list(numbered(CASES))


class Bench(Protocol):
    """An engine under test."""

    warehouse: Warehouse

    def put(self, case: Case) -> None:
        """Make the input files and relations of a case; each relation is a SELECT of DuckDB's."""

    def shown(self, relation: Name, show: str) -> list[tuple[Any, ...]]:
        """Return what DuckDB shows of a relation: `show` are its expressions over the columns."""


def bind(warehouse: Warehouse) -> None:
    """Bind the keys that the cases are worked out with."""
    warehouse.set_key(ORDER, KEY)
    warehouse.set_pads(*pads(b"k" * 80))


def rows_of(bench: Bench, case: Case) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns and the rows that an engine finds for a case."""
    warehouse, ordered = bench.warehouse, templates.is_ordered(case.template)
    bench.put(case)
    params = {name: _staged(value, warehouse) for name, value in case.params.items()}
    made = warehouse.run(case.template, "the result", view=not (case.show or ordered), **params)
    names = [name for name, _ in warehouse.describe(made) if name != "rowid"]
    if case.show:
        return names, bench.shown(made, case.show)
    if ordered:  # what reads it by position reads it like this
        by_position = "SELECT {{ names | idents }} FROM {{ made | ident }} ORDER BY rowid"
        return names, warehouse.query("rows", by_position, names=names, made=made)
    return names, warehouse.rows(case.template, log=False, **params)


def _staged(value: Any, warehouse: Warehouse) -> Any:
    """Return a parameter with the names that the engine has for staging relations."""
    if isinstance(value, Name):
        return warehouse.staged(value.table) if value.catalog == "staging" else value
    if isinstance(value, templates.Select):
        params = {name: _staged(part, warehouse) for name, part in value.params.items()}
        return templates.select(value.template, **params)
    if isinstance(value, (list, tuple)):
        return type(value)(_staged(part, warehouse) for part in value)
    return value


def prepare(connection: duckdb.DuckDBPyConnection, case: Case) -> None:
    """Make the input files and relations of a case in a database of DuckDB."""
    for table, kind in connection.execute(
        "SELECT table_name, 'TABLE' FROM duckdb_tables() WHERE database_name = 'staging' "
        "UNION ALL SELECT view_name, 'VIEW' FROM duckdb_views() WHERE database_name = 'staging' AND NOT internal"
    ).fetchall():
        connection.execute(f"DROP {kind} {templates.ident(rel(table))}")
    for file, content in case.files.items():
        if file.endswith(".parquet"):
            connection.execute(f"COPY ({content}) TO {templates.lit(file)} (FORMAT parquet)")
        else:
            Path(file).write_text(content, encoding="utf-8")
    for table, select in case.given.items():
        connection.execute(f"CREATE TABLE {templates.ident(rel(table))} AS {select}")


def same(expected: Any, got: Any) -> bool:
    """Tell whether a value is the expected one: floats nearly, NULL only NULL, -0.0 not 0.0."""
    if expected is None or got is None:
        return expected is None and got is None
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        if isinstance(got, (bool, str)):
            return False
        if expected == 0:
            return abs(got) < 1e-12 and copysign(1, got) == copysign(1, expected)
        return got == pytest.approx(expected, rel=1e-12)
    return expected == got


def same_rows(expected: list[tuple[Any, ...]], got: list[tuple[Any, ...]], ordered: bool) -> bool:
    """Tell whether rows are the expected ones, in the same order where the order means something."""
    if len(expected) != len(got):
        return False

    def alike(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        return len(left) == len(right) and all(map(same, left, right))

    if ordered:
        return all(map(alike, expected, got))
    left_over = list(got)
    for row in expected:
        found = next((i for i, other in enumerate(left_over) if alike(row, other)), None)
        if found is None:
            return False
        del left_over[found]
    return True
