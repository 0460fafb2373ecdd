"""New values at their places: what is written there is what the join of sql/replace/in_order.sql has, bit by bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sqlmicro.database import places
from sqlmicro.database.columns import Column
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.errors import QueryError

RECORDS = 70_000
"""More than a batch of Arrow's."""
BITS = "SELECT list(CAST({{ c | ident }} AS BIT) ORDER BY row_id) FROM {{ r | ident }}"


def records(warehouse: DuckDBWarehouse, n: int = RECORDS) -> Name:
    table = pa.table({"row_id": pa.array(range(n), pa.int64()), "record": pa.array(range(n), pa.uint64())})
    return warehouse.load(table, "records", "a test")


def make(warehouse: DuckDBWarehouse, into: str, text: str) -> Name:
    target = warehouse.staged(into)
    warehouse.execute("test", "CREATE OR REPLACE TABLE {{ t | ident }} AS " + text, t=target)
    return target


def by_place(warehouse: DuckDBWarehouse, relation: Name, *made: tuple[Name, str]) -> tuple[Name, str]:
    """Return the records with columns of some relations, and the last statements that were logged."""
    columns = [(Column(f"c{at}", "DOUBLE", f"c{at}"), values, name) for at, (values, name) in enumerate(made)]
    before = len(warehouse.log)
    once = {values for values, _ in made}
    released = places.with_values(warehouse, relation, columns, "released", rows=0, by_place=True, read_once=once)
    return released, "\n".join(entry.sql for entry in warehouse.log[before:])


def test_numbers_are_at_the_places_where_a_join_puts_them() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse)
        for kind, gaps in (("DOUBLE", "rows"), ("FLOAT", "values"), ("UTINYINT", "none")):
            _is_placed(warehouse, relation, kind, gaps)


@pytest.mark.slow
def test_numbers_of_every_type_are_there() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse)
        for kind in places._BITS:
            for gaps in ("none", "rows", "values"):
                _is_placed(warehouse, relation, kind, gaps)


def _is_placed(warehouse: DuckDBWarehouse, relation: Name, kind: str, gaps: str) -> None:
    left = f"WHERE i % 7 <> 3 OR i < {1 << 16}" if gaps == "rows" else ""
    value = f"CAST(hash(i) % 127 AS {kind})"
    shown = f"CASE WHEN i % 11 <> 5 THEN {value} END" if gaps == "values" else value
    more = "CAST('NaN' AS FLOAT)" if kind == "FLOAT" else "-0.0e0" if kind == "DOUBLE" else "0"
    text = (
        f"SELECT (i * 7919) % {RECORDS} AS row_id, CASE WHEN i = 8 THEN {more} ELSE {shown} END AS value, "
        f"i * 0.5e0 AS y FROM range({RECORDS}) AS t(i) {left}"
    )
    values = make(warehouse, "new", text)
    kept = make(warehouse, "kept", text)  # the other one is dropped when it has been read
    expected = warehouse.run("replace/in_order.sql", "joined", relation=relation, values=kept, columns=["value", "y"])
    released, log = by_place(warehouse, relation, (values, "value"), (values, "y"))
    assert "POSITIONAL JOIN" in log and "written to its place" in log
    for ours, theirs in (("c0", "value"), ("c1", "y")):
        assert warehouse.query("t", BITS, r=released, c=ours) == warehouse.query("t", BITS, r=expected, c=theirs)
    assert dict(warehouse.describe(released))["c0"] == kind


def test_the_statement_in_the_log_makes_the_same_relation() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 5)
        text = "SELECT * FROM (VALUES (3, 0.5e0), (0, 1.5e0), (4, NULL)) AS t(row_id, value)"
        released, log = by_place(warehouse, relation, (make(warehouse, "new", text), "value"))
        found = warehouse.query("t", "SELECT * FROM {{ r | ident }}", r=released)
        assert [row[-1] for row in found] == [1.5, None, None, 0.5, None]
        make(warehouse, "new", text)
        warehouse.query("t", "DROP TABLE {{ r | ident }}", r=released)
        for statement in log.split(";"):
            if statement.strip():
                warehouse._connection.execute(statement)
        assert warehouse.query("t", "SELECT * FROM {{ r | ident }}", r=released) == found


def test_what_is_in_order_is_read_as_it_is_and_text_is_sorted() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 100)
        same = make(warehouse, "same", "SELECT i AS row_id, i * 0.5e0 AS x FROM range(100) AS t(i)")
        text = make(warehouse, "text", "SELECT 99 - i AS row_id, 't' || (99 - i) AS s FROM range(100) AS t(i)")
        released, log = by_place(warehouse, relation, (same, "x"), (text, "s"))
        assert log.count("ORDER BY") == 1 and "written to its place" not in log
        rows = warehouse.query("t", "SELECT c0, c1 FROM {{ r | ident }}", r=released)
        assert rows == [(i * 0.5, f"t{i}") for i in range(100)]


@pytest.mark.parametrize("more", ["text with gaps", "records with gaps"])
def test_what_cannot_be_placed_is_looked_up(more: str) -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 4)
        if more == "records with gaps":
            relation = make(warehouse, "some", "SELECT * FROM (VALUES (0, 7::UBIGINT), (3, 8)) AS t(row_id, record)")
            values = make(warehouse, "new", "SELECT * FROM (VALUES (3, 's'), (0, 't')) AS t(row_id, s)")
            expected = [("t",), ("s",)]
        else:
            values = make(warehouse, "new", "SELECT * FROM (VALUES (3, 's'), (0, 't')) AS t(row_id, s)")
            expected = [("t",), (None,), (None,), ("s",)]
        released, log = by_place(warehouse, relation, (values, "s"))
        assert "LEFT JOIN" in log and "POSITIONAL JOIN" not in log
        assert warehouse.query("t", "SELECT c0 FROM {{ r | ident }}", r=released) == expected


def test_what_was_placed_and_dropped_is_joined_to_what_is_looked_up() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 4)
        number = make(warehouse, "number", "SELECT * FROM (VALUES (3, 0.5e0), (0, 1.5e0)) AS t(row_id, x)")
        text = make(warehouse, "new", "SELECT * FROM (VALUES (3, 's'), (0, 't')) AS t(row_id, s)")
        released, log = by_place(warehouse, relation, (number, "x"), (text, "s"))
        assert "written to its place" in log and "POSITIONAL JOIN" not in log
        rows = warehouse.query("t", "SELECT c0, c1 FROM {{ r | ident }}", r=released)
        assert rows == [(1.5, "t"), (None, None), (None, None), (0.5, "s")]


def test_two_values_of_a_record_are_refused() -> None:
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 3)
        values = make(warehouse, "new", "SELECT * FROM (VALUES (2, 1e0), (0, 2e0), (2, 3e0)) AS t(row_id, x)")
        with pytest.raises(QueryError, match="several"):
            by_place(warehouse, relation, (values, "x"))


def test_large_relations_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_BYTES", 799)
    with open_warehouse(None) as warehouse:
        relation = records(warehouse, 100)
        values = make(warehouse, "new", "SELECT 99 - i AS row_id, (99 - i) * 0.5e0 AS x FROM range(100) AS t(i)")
        released, log = by_place(warehouse, relation, (values, "x"))
        assert "ORDER BY row_id" in log and "written to its place" not in log
        rows = warehouse.query("t", "SELECT c0 FROM {{ r | ident }}", r=released)
        assert np.array_equal([row[0] for row in rows], np.arange(100) * 0.5)
