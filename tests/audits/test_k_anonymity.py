"""Equivalence classes on canonical bytes against a counter in plain Python, and known figures."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import opened

import sqlmicro
from sqlmicro.audits.k_anonymity import ClassSizes, class_sizes, statement
from sqlmicro.database.columns import make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.finding import find_source
from sqlmicro.database.templates import Name

# Every entry: a SQL type and values that are all told apart when they are written out.
KINDS: dict[str, tuple[str, list[Any]]] = {
    "nocase": ("VARCHAR COLLATE NOCASE", ["Bob", "BOB", "bob", "Ann", "", None]),
    "noaccent": ("VARCHAR COLLATE NOACCENT", ["Jose", "José", "JOSE", None]),
    "plain": ("VARCHAR", ["x", "X", "", " ", "NULL", "x,y", None]),
    "float": ("DOUBLE", [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, None]),
    "single": ("FLOAT", [0.0, -0.0, 0.5, None]),
    "interval": ("INTERVAL", ["1 month", "30 days", "720 hours", None]),
    "list": ("VARCHAR[]", [["a, b"], ["a", "b"], [], [None], ["NULL"], None]),
    "whole": ("INTEGER", [1, 2, 3, None]),
    "day": ("DATE", ["2020-01-01", "2020-01-02", None]),
    "flag": ("BOOLEAN", [True, False, None]),
    "money": ("DECIMAL(9,2)", ["1.50", "1.05", "-1.50", None]),
    "answer": ("ENUM ('yes', 'no')", ["yes", "no", None]),
}


def _random_table(rng: np.random.Generator, names: list[str], n: int) -> dict[str, tuple[str, list[Any]]]:
    table = {}
    for name in names:
        kind, values = KINDS[name]
        table[name] = (kind, [values[i] for i in rng.integers(0, len(values), n)])
    return table


def _histogram(table: dict[str, tuple[str, list[Any]]], names: list[str]) -> dict[int, int]:
    """Count records by what they look like when written out; -0.0 is not 0.0, NULL is a value."""
    sizes = Counter(tuple(map(repr, record)) for record in zip(*(table[name][1] for name in names), strict=True))
    return dict(Counter(sizes.values()))


def k_anonymity(table: str, quasi: list[str], k: int = 2, **options: Any) -> dict[str, Any]:
    """Return what the audit of k-anonymity says."""
    report = sqlmicro.audit(table, quasi=quasi, min_k=k, measure="k-anonymity", **options)
    (row,) = report["audits"]
    assert report["passed"] == row["passed"]
    found: dict[str, Any] = row
    return found


def _as_stored(workbench: Any, db: str, table: dict[str, tuple[str, list[Any]]]) -> dict[str, tuple[str, list[Any]]]:
    """Return the table with its zeros as stored: DuckDB 1.5 gives neighbours that are equal one sign."""
    stored = workbench.read(db, "records")
    return {n: (kind, stored[n] if kind in ("DOUBLE", "FLOAT") else found) for n, (kind, found) in table.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_values_that_are_told_apart_are_classes_of_their_own(workbench: Any, name: str) -> None:
    table = _random_table(np.random.default_rng(1), [name], 60)
    db = workbench.make(table)
    report = k_anonymity("records", db=db, quasi=[name])
    assert report["histogram"] == _histogram(_as_stored(workbench, db, table), [name])
    assert report["classes"] == len(KINDS[name][1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_classes_are_those_of_a_counter(workbench: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = _random_table(rng, list(KINDS), int(rng.integers(1, 200)))
    db = workbench.make(table)
    table = _as_stored(workbench, db, table)
    for columns in (2, 3):
        names = [str(name) for name in rng.choice(list(KINDS), columns, replace=False)]
        k = int(rng.integers(2, 6))
        expected = _histogram(table, names)
        report = k_anonymity("records", db=db, quasi=names, k=k)
        small = {size: classes for size, classes in expected.items() if size < k}
        assert report["histogram"] == expected
        assert (report["value"], report["passed"]) == (min(expected), min(expected) >= k)
        assert report["violating_classes"] == sum(small.values())
        assert report["violating_records"] == sum(size * classes for size, classes in small.items())


def test_a_release_is_measured_by_the_same_classes(warehouse: DuckDBWarehouse) -> None:
    """What publishing measures with one SELECT, by columns of every kind; a script runs the same SELECT."""
    table = _random_table(np.random.default_rng(2), list(KINDS), 25)
    table["nested"] = ("DOUBLE[]", [[0.0], [-0.0], [1.5], None, []] * 5)
    defined = ", ".join(f'"{name}" {kind}' for name, (kind, _) in table.items())
    warehouse.query("test", f"CREATE OR REPLACE TABLE memory.main.told_apart ({defined})")
    row = f"({', '.join('?' * len(table))})"
    records = [value for record in zip(*(values for _, values in table.values()), strict=True) for value in record]
    warehouse.insert("test", f"INSERT INTO told_apart VALUES {', '.join([row] * 25)}", records)
    relation = Name("", "", "told_apart")
    for name in ("float", "single", "nested"):  # as stored: DuckDB 1.5 gives neighbours that are equal one sign
        stored = warehouse.query("test", "SELECT {{ column | ident }} FROM told_apart", column=name)
        table[name] = (table[name][0], [value for (value,) in stored])
    columns = make_columns(warehouse.describe(relation), frozenset({"nocase", "noaccent"}))
    for pair in pairwise((*columns, columns[0])):
        expected = _histogram(table, [column.name for column in pair])
        sizes = class_sizes(warehouse, relation, pair)
        assert sizes.histogram == expected
        assert (sizes.k, sizes.records, sizes.classes) == (min(expected), 25, sum(expected.values()))
    assert warehouse.query("test", "{{ select }}", select=statement(relation, pair)) == [
        (size, classes, size * classes) for size, classes in sorted(expected.items())
    ]


def test_values_of_a_csv_file_are_compared_and_not_its_text(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    """DuckDB 2.0 has the reader of CSV make a CAST, of the text as it is in the file."""
    path = tmp_path / "records.csv"
    path.write_text("x,t\n1.50,01:00:00\n1.5,1:00:00\n-0.0,02:00:00\n0.0,02:00:00\n", encoding="utf-8")
    report = k_anonymity(str(path), quasi=["x", "t"])
    assert report["histogram"] == {1: 2, 2: 1}
    source = find_source(warehouse, str(path))
    assert [column.type for column in source.columns] == ["DOUBLE", "TIME"]
    assert class_sizes(warehouse, source.relation, source.columns).histogram == {1: 2, 2: 1}
    for column, histogram in zip(source.columns, ({1: 2, 2: 1}, {2: 2}), strict=True):
        assert class_sizes(warehouse, source.relation, [column]).histogram == histogram


@pytest.mark.parametrize("name", ["size", "classes", "count", "plain", "row_id", 'net "income"', "a,b", "select"])
def test_a_quasi_identifier_may_have_any_name(workbench: Any, name: str) -> None:
    table = {name: ("BIGINT", [7, 7, 7, 8, 8]), "other": ("VARCHAR", list("xxyyy"))}
    report = k_anonymity("records", db=workbench.make(table), quasi=[name, "other"])
    assert report["histogram"] == {1: 1, 2: 2}
    assert (report["violating_classes"], report["violating_records"]) == (1, 1)


def test_values_are_shown_on_request_only(workbench: Any) -> None:
    db = workbench.make({"a": ("VARCHAR", ["secret", "common", "common", "common"])})
    report = sqlmicro.audit("records", db=db, quasi=["a"], min_k=2)
    assert "secret" not in repr(report)
    shown = sqlmicro.audit("records", db=db, quasi=["a"], min_k=2, show_values=True)
    assert shown["classes_shown"] == [["secret", 1]]


def test_a_table_without_records_does_not_pass(workbench: Any) -> None:
    db = workbench.make({"a": ("VARCHAR", [])})
    report = k_anonymity("records", db=db, quasi=["a"])
    assert (report["passed"], report["value"], report["records"], report["classes"]) == (False, 0, 0, 0)


def test_the_classes_below_k_are_counted() -> None:
    sizes = ClassSizes({1: (4, 4), 2: (1, 2), 5: (2, 10)})
    assert (sizes.k, sizes.records, sizes.classes, sizes.histogram) == (1, 16, 7, {1: 4, 2: 1, 5: 2})
    assert sizes.below(5) == (5, 6)
    assert sizes.below(6) == (7, 16)
    assert sizes.average_risk == pytest.approx((4 + 1 + 2) / 16)


KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.mark.parametrize(("k", "records"), [(2, 157), (3, 281), (5, 458)])
def test_known_figures(data_folder: Any, k: int, records: int) -> None:
    report = k_anonymity(str(data_folder / "testdata.csv"), quasi=KEYS, k=k)
    assert (report["records"], report["classes"], report["histogram"][1]) == (4580, 412, 157)
    assert (report["violating_records"], report["value"], report["passed"]) == (records, 1, False)


@pytest.mark.parametrize("quasi", [["nowhere"], ["a", "a"], []])
def test_wrong_quasi_identifiers_are_refused(workbench: Any, quasi: list[str]) -> None:
    db = workbench.make({"a": ("VARCHAR", ["x", "y"])})
    with pytest.raises(sqlmicro.ParameterError) as refused:
        sqlmicro.audit("records", db=db, quasi=quasi)
    assert refused.value.exit_code == 2


def test_types_that_are_ambiguous_in_writing_are_refused(workbench: Any) -> None:

    db = workbench.make({"a": ("INTEGER", [1])}, table="other")
    with opened(db) as connection:
        connection.execute("CREATE TABLE records (x UNION(number INTEGER, word VARCHAR), y INTEGER)")
        connection.execute("INSERT INTO records VALUES (union_value(number := 1), 1), (union_value(word := '1'), 1)")
    with pytest.raises(sqlmicro.ParameterError, match="written alike"):
        sqlmicro.audit("records", db=db, quasi=["x", "y"])
