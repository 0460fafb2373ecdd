"""A and T in SQL: the example of the source worked by hand, and random files against dense Z'Z and Z'X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlmicro.database.columns import make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.safe_method import distance

from .naive import Rows, naive_distance, one_hot
from .test_distance import between, loaded

COLUMNS = make_columns([("Alter", "INTEGER"), ("Gehalt", "INTEGER"), ("Ort", "VARCHAR"), ("Geschlecht", "VARCHAR")])
AGE, PAY, TOWN, SEX = COLUMNS
# Two of one sex whose ages add up to 83 and whose salaries to 5000, and one of the other with 21 and 550.
PERSONS = [(38, 2400, "A", "m"), (45, 2600, "B", "m"), (21, 550, "A", "w")]


@pytest.fixture
def persons() -> Any:
    """Return a warehouse with the cells of the three persons, and a file without any."""
    import pyarrow as pa

    table = pa.table(list(zip(*PERSONS, strict=True)), [column.staged for column in COLUMNS])
    with open_warehouse(None) as warehouse:
        given = {
            name: warehouse.load(rows, name, "test")
            for name, rows in (("persons", table), ("nobody", table.slice(0, 0)))
        }
        files = [
            warehouse.run("safe/cells.sql", f"{name}_cells", relation=relation, columns=COLUMNS)
            for name, relation in given.items()
        ]
        yield warehouse, *files


def _table(warehouse: DuckDBWarehouse, files: tuple[Name, Name], *chosen: Any) -> tuple[Any, ...]:
    """Return cells, sum and maximum of A and of both columns of T of one table, as the difference to an empty file."""
    ((_, cells, _, *rest),) = warehouse.rows(
        "safe/deviations.sql",
        original=files[0],
        changed=files[1],
        nominal=chosen,
        numeric=[AGE, PAY],
        sets=[chosen],
    )
    return cells, *rest


def test_the_example_of_the_source(persons: Any) -> None:
    """A for Geschlecht is diag(2, 1), T is (83, 5000; 21, 550); Ort x Geschlecht has three cells, not four."""
    warehouse, *files = persons
    assert _table(warehouse, files, SEX) == (2, 2 + 1, 2, 83 + 21, 83, 5000 + 550, 5000)
    assert _table(warehouse, files, TOWN, SEX)[:3] == (3, 3, 1)
    assert _table(warehouse, files, TOWN) == (2, 3, 2, 59 + 45, 59, 2950 + 2600, 2950)


def test_z_of_the_example(persons: Any) -> None:
    """Z'Z and Z'X with the dense Z say the same, and so do the features: each nominal value by its number."""
    warehouse, *files = persons
    cells = sorted({(repr(row[3]),) for row in PERSONS})
    Z, X = one_hot(PERSONS, (3,), cells), np.array([row[:2] for row in PERSONS])
    assert (Z.T @ Z).tolist() == [[2, 0], [0, 1]]
    assert (Z.T @ X).tolist() == [[83, 5000], [21, 550]]
    read = warehouse.arrays("safe/features.sql", cells=files[0], by=[], nominal=[SEX], numeric=[AGE, PAY])
    by_sql = (read["Geschlecht"][:, None] == np.arange(2)).astype(int)
    assert (by_sql.T @ by_sql).tolist() == [[2, 0], [0, 1]]
    assert (by_sql.T @ np.stack([read["Alter"], read["Gehalt"]], axis=1)).tolist() == [[83, 5000], [21, 550]]


@pytest.fixture(scope="module")
def warehouse() -> Iterator[DuckDBWarehouse]:
    """Return a warehouse for all examples: opening one takes longer than a distance."""
    with open_warehouse(None) as opened:
        yield opened


SHAPES = st.tuples(st.integers(0, 3), st.integers(0, 2)).filter(sum)
TEXT = st.sampled_from(["a", "b", "A", "", "NULL", " a", None])
NUMBER = st.none() | st.integers(-9, 9).map(float) | st.sampled_from([0.5, 1e6, -1e-3])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Rows, Rows, int, int]:
    """Return two files, the number of their nominal columns and that of their numeric ones."""
    nominal, numeric = draw(SHAPES)
    row = st.tuples(*[TEXT] * nominal, *[NUMBER] * numeric)
    return draw(st.lists(row, min_size=1, max_size=12)), draw(st.lists(row, min_size=1, max_size=12)), nominal, numeric


@pytest.mark.slow
@given(
    files=pairs(), order=st.integers(1, 3), weights=st.sampled_from([(1.0, 1.0), (0.0, 2.0), (3.0, 0.5)]),
    random=st.randoms(),
)  # fmt: skip
def test_the_distance_is_the_dense_one(
    warehouse: DuckDBWarehouse,
    files: tuple[Rows, Rows, int, int],
    order: int,
    weights: tuple[float, float],
    random: Any,
) -> None:
    a, b, nominal, numeric = files
    kinds = [(f"c{j}", "VARCHAR" if j < nominal else "DOUBLE") for j in range(nominal + numeric)]
    columns, numbers = make_columns(kinds), list(range(nominal, nominal + numeric))
    counts, sums = naive_distance(a, b, list(range(nominal)), numbers, order)
    mixed = [random.sample(file, len(file)) for file in (a, b)]
    one, other, *again = loaded(warehouse, [a, b, *mixed], columns, numbers)
    given = columns, numbers, order
    found = between(warehouse, one, other, *given, distance.Weights(*weights))
    assert found["counts"] == pytest.approx(counts, abs=1e-11)
    assert found["sums"] == pytest.approx(sums, rel=1e-9, abs=1e-11)
    assert found["distance"] == pytest.approx(weights[0] * counts + weights[1] * sums, rel=1e-9, abs=1e-11)
    # The order of the rows does not matter.
    of_mixed = between(warehouse, *again, *given, distance.Weights(*weights))
    assert of_mixed["distance"] == pytest.approx(found["distance"], rel=1e-12, abs=1e-12)
    assert between(warehouse, one, again[0], *given)["distance"] == 0
    # From b to a: the same deviations, measured against the sizes and totals of b.
    back, counts_back = between(warehouse, other, one, *given), len(a) / len(b)
    assert back["counts"] == pytest.approx(found["counts"] * counts_back, rel=1e-9, abs=1e-11)
    assert back["orders"]["all"]["count_deviation"] == found["orders"]["all"]["count_deviation"]
    for name, largest in found["orders"]["all"]["sum_max"].items():
        assert back["orders"]["all"]["sum_max"][name] == pytest.approx(largest, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@given(files=pairs(), random=st.randoms())
def test_the_distance_of_files_with_the_same_values_is_symmetric(
    warehouse: DuckDBWarehouse, files: tuple[Rows, Rows, int, int], random: Any
) -> None:
    """The values of each column dealt out anew: sizes and totals are the same, and so is the way there and back."""
    a, _, nominal, numeric = files
    b = list(zip(*(random.sample(values, len(values)) for values in map(list, zip(*a, strict=True))), strict=True))
    kinds = [(f"c{j}", "VARCHAR" if j < nominal else "DOUBLE") for j in range(nominal + numeric)]
    columns, numbers = make_columns(kinds), list(range(nominal, nominal + numeric))
    one, other = loaded(warehouse, [a, b], columns, numbers)
    there, back = (between(warehouse, *pair, columns, numbers, 3) for pair in ((one, other), (other, one)))
    assert there["distance"] == pytest.approx(back["distance"], rel=1e-9, abs=1e-12)
