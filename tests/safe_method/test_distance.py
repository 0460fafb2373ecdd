"""The SAFE distance against a naive implementation with the dense 0/1 matrix Z."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.safe_method import distance
from sqlmicro.system.reporting import as_json

from .naive import Rows, naive_distance


def measure(files: list[Rows], columns: list[Column], numeric: list[int], order: int) -> dict[str, Any]:
    """Aggregate two files to their cells and return the distance from the first to the second."""
    with open_warehouse(None) as warehouse:
        return measured(warehouse, files, columns, numeric, order)


def measured(
    warehouse: DuckDBWarehouse,
    files: list[Rows],
    columns: list[Column],
    numeric: list[int],
    order: int,
    weights: distance.Weights = distance.EQUAL,
) -> dict[str, Any]:
    """Do what `measure` does in a warehouse that is open already."""
    return between(warehouse, *loaded(warehouse, files, columns, numeric), columns, numeric, order, weights)


def loaded(warehouse: DuckDBWarehouse, files: list[Rows], columns: list[Column], numeric: list[int]) -> list[Name]:
    """Return the cells of files, each loaded and aggregated once."""
    import pyarrow as pa

    relations = []
    for number, rows in enumerate(files):
        values = list(zip(*rows, strict=True))
        kinds = [pa.float64() if j in numeric else pa.string() for j in range(len(columns))]
        arrays = [pa.array(list(v), kind) for v, kind in zip(values, kinds, strict=True)]
        table = pa.table(arrays, [column.staged for column in columns])
        given = warehouse.load(table, f"given_{number}", "test")
        relations.append(warehouse.run("safe/cells.sql", f"cells_{number}", relation=given, columns=columns))
    return relations


def between(
    warehouse: DuckDBWarehouse,
    before: Name,
    after: Name,
    columns: list[Column],
    numeric: list[int],
    order: int,
    weights: distance.Weights = distance.EQUAL,
) -> dict[str, Any]:
    """Return the distance from cells to cells."""
    nominal = [column for j, column in enumerate(columns) if j not in numeric]
    numbers = [column for j, column in enumerate(columns) if j in numeric]
    found: dict[str, Any] = as_json(distance.measure(warehouse, before, after, nominal, numbers, order, weights))
    return found


def _columns(names: str, numeric: list[int]) -> list[Column]:
    return make_columns((name, "DOUBLE" if j in numeric else "VARCHAR") for j, name in enumerate(names.split()))


def _random_rows(rng: np.random.Generator, n: int, nominal: int, numeric: int) -> Rows:
    texts = np.array(["a", "b", "A", "", "NULL", None], dtype=object)
    found = []
    for _ in range(n):
        numbers = [None if rng.random() < 0.2 else float(rng.integers(-20, 20)) for _ in range(numeric)]
        found.append((*rng.choice(texts, nominal), *numbers))
    return found


SHAPES = [(3, 2, 1), (3, 2, 2), (4, 0, 3), (0, 2, 2), (1, 1, 2), (2, 1, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("nominal", "numeric", "order"), SHAPES)
@pytest.mark.parametrize("n", [1, 40])
def test_distance_equals_the_dense_one(n: int, nominal: int, numeric: int, order: int) -> None:
    rng = np.random.default_rng([n, nominal, numeric, order])
    numbers = list(range(nominal, nominal + numeric))
    columns = _columns(" ".join(f"c{j}" for j in range(nominal + numeric)), numbers)
    a = _random_rows(rng, n, nominal, numeric)
    for b in (_random_rows(rng, n, nominal, numeric), _random_rows(rng, max(1, n // 2), nominal, numeric)):
        found = measure([a, b], columns, numbers, order)
        counts, sums = naive_distance(a, b, list(range(nominal)), numbers, order)
        assert found["counts"] == pytest.approx(counts, abs=1e-11)
        assert found["sums"] == pytest.approx(sums, abs=1e-11)
        assert found["distance"] == pytest.approx(counts + sums, abs=1e-11)


@pytest.mark.parametrize(("nominal", "numeric", "order"), SHAPES)
def test_distance_to_itself_is_0_in_any_order_of_rows(nominal: int, numeric: int, order: int) -> None:
    rng = np.random.default_rng([nominal, numeric, order])
    numbers = list(range(nominal, nominal + numeric))
    columns = _columns(" ".join(f"c{j}" for j in range(nominal + numeric)), numbers)
    a = _random_rows(rng, 50, nominal, numeric)
    shuffled = [a[i] for i in rng.permutation(len(a))]
    found = measure([a, shuffled], columns, numbers, order)
    assert (found["distance"], found["counts"], found["sums"]) == (0, 0, 0)
    assert all(part["count_max"] == part["count_deviation"] == 0 for part in found["orders"].values())


def test_row_order_does_not_matter_and_counts_are_symmetric() -> None:
    rng = np.random.default_rng(3)
    columns = _columns("c0 c1 c2 x", [3])
    a, b = _random_rows(rng, 40, 3, 1), _random_rows(rng, 40, 3, 1)
    there, back = measure([a, b], columns, [3], 2), measure([b, a], columns, [3], 2)
    again = measure([[a[i] for i in rng.permutation(40)], [b[i] for i in rng.permutation(40)]], columns, [3], 2)
    assert there == again
    assert there["counts"] == back["counts"] > 0
    for order in ("1", "2", "all"):
        ours, theirs = there["orders"][order], back["orders"][order]
        assert ours["count_deviation"] == theirs["count_deviation"]
        assert ours["count_max"] == theirs["count_max"]
        assert ours["sum_max"]["x"] == pytest.approx(theirs["sum_max"]["x"])


def test_parts_by_hand() -> None:
    """Ort × Geschlecht with Gehalt, three records; one changes its Ort."""
    a = [("X", "m", 4000.0), ("X", "w", 550.0), ("Y", "m", 1000.0)]
    b = [("X", "m", 4000.0), ("Y", "w", 550.0), ("Y", "m", 1000.0)]
    found = measure([a, b], _columns("Ort Geschlecht Gehalt", [2]), [2], 2)
    first, second, whole = (found["orders"][order] for order in ("1", "2", "all"))
    assert (first["tables"], first["count_deviation"], first["count_max"]) == (2, 2, 1)
    assert first["share_changed"] == 2 / 4
    assert (second["tables"], second["count_deviation"], second["count_max"]) == (1, 2, 1)
    assert second["share_changed"] == 2 / 4
    assert first["sum_max"] == second["sum_max"] == {"Gehalt": 550.0}
    assert first["sum_deviation"]["Gehalt"] == pytest.approx((1100 / 5550 + 0) / 2)
    assert (whole["tables"], whole["count_deviation"]) == (3, 4)
    assert found["counts"] == pytest.approx((2 / 6 + 0 + 2 / 6) / 3)
    assert found["sums"] == pytest.approx((1100 / 5550 + 0 + 1100 / 5550) / 3)


NAMES = ("signed_n", "signed_1", "deviation", "table_id", "cells", "records", "absolute_1", "cell", "n", 'a "b"', "a,b")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_column_may_have_a_name_the_statement_uses(name: str) -> None:
    rng = np.random.default_rng(4)
    a, b = _random_rows(rng, 30, 2, 1), _random_rows(rng, 30, 2, 1)
    expected = sum(naive_distance(a, b, [0, 1], [2], 2))
    as_nominal = make_columns([(name, "VARCHAR"), ("other", "VARCHAR"), ("x", "DOUBLE")])
    assert measure([a, b], as_nominal, [2], 2)["distance"] == pytest.approx(expected, abs=1e-11)
    as_numeric = make_columns([("one", "VARCHAR"), ("other", "VARCHAR"), (name, "DOUBLE")])
    assert measure([a, b], as_numeric, [2], 2)["distance"] == pytest.approx(expected, abs=1e-11)


def test_the_loss_of_columns_is_the_mean_of_their_shares() -> None:
    class Sums:
        def record(self, *_template: object, **_names: object) -> dict[str, float | None]:
            return {"sse_1": 1.0, "sst_1": 4.0, "sse_2": 300.0, "sst_2": 400.0, "sse_3": None, "sst_3": 0.0}

    told: Any = Sums()
    name, column = Name("", "", "t"), Column("x", "DOUBLE", "x")
    assert distance.numeric_loss(told, name, name, name, [column] * 3) == 50
    assert distance.numeric_loss(told, name, name, name, []) == 0
