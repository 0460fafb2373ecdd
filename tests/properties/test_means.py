"""The means of groups in SQL against sums of fractions, which nothing is rounded in."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlmicro.database import templates
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name

MAGNITUDES = {
    "money": (0.01, 1e6),
    "days": (1.0, 4e4),
    "shares": (1e-12, 1.0),
    "large": (1e9, 1e15),
    "apart": (1e-9, 1e30),
}


def _values(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    least, most = MAGNITUDES[kind]
    x = np.exp(rng.uniform(np.log(least), np.log(most), n)) * rng.choice([-1, 1], n)
    return np.where(rng.random(n) < 0.1, 0.0, np.round(x) if kind == "days" else x)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def _means(con: duckdb.DuckDBPyConnection, table: pa.Table, threads: int) -> list[tuple[int, float]]:
    sql = templates.render(
        "replace/group_means.sql", grouped=Name("memory", "main", "grouped"), columns=[Column("x", "DOUBLE", "x")]
    )
    con.execute(f"SET threads = {threads}")
    con.register("given", table)
    con.execute("CREATE OR REPLACE TABLE memory.main.grouped AS FROM given")
    return sorted(con.execute(sql).fetchall())


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(sorted(MAGNITUDES)), n=st.integers(1, 400))
def test_a_mean_is_that_of_the_fractions_in_whatever_order_they_are_added(
    con: duckdb.DuckDBPyConnection, seed: int, kind: str, n: int
) -> None:
    rng = np.random.default_rng(seed)
    x, label = _values(rng, kind, n), rng.integers(0, 1 + n // 3, n)
    found = _means(con, pa.table({"label": label, "x": x}), 1)
    other = rng.permutation(n)
    assert _means(con, pa.table({"label": label[other], "x": x[other]}), 2) == found
    assert [group for group, _ in found] == np.unique(label).tolist()
    for group, mean in found:
        own = x[label == group]
        exact = sum(map(Fraction, own.tolist())) / len(own)
        # Two roundings, of the sum and of the quotient; numbers far apart are added one by one, each sum rounded.
        off = 2**-51 * abs(exact) if kind != "apart" else Fraction(2**-52 * len(own) * np.abs(own).sum())
        assert abs(Fraction(mean) - exact) <= off, (kind, group)
        assert own.min() <= mean <= own.max()


def test_without_records_there_is_no_group(con: duckdb.DuckDBPyConnection) -> None:
    assert _means(con, pa.table({"label": pa.array([], pa.int64()), "x": pa.array([], pa.float64())}), 1) == []


@pytest.mark.parametrize("most", [1e30, 1e140])
def test_a_placeholder_among_numbers_takes_nothing_from_other_groups(
    con: duckdb.DuckDBPyConnection, most: float
) -> None:
    table = pa.table({"label": [0, 0, 1, 1], "x": [50_000.25, 50_000.5, most, 1.0]})
    assert _means(con, table, 2) == [(0, 50_000.375), (1, (most + 1) / 2)]
