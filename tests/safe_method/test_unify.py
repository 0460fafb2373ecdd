"""Unification in SQL against records unified one by one, and whole runs with every unification."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pytest
from databases import opened
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlmicro import InputError, ParameterError
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.safe_method.unify import NOMINAL, NUMERIC, Representatives, Unification, rounding

from .naive import Rows, medoid_of, mode_of, naive_distance, number_of

COLUMNS = make_columns([
    ("region", "VARCHAR"), ("sex", "VARCHAR"), ("age", "INTEGER"), ("pay", "DECIMAL(7,2)"), ("x", "DOUBLE"),
])  # fmt: skip
TYPES = {"age": "INTEGER", "pay": "DECIMAL(7,2)", "x": "DOUBLE", "day": "DATE"}
REGION, SEX, AGE, PAY, X = COLUMNS
DIGITS = (0, 2, None)
WAYS = [Unification(*pair) for pair in product(NUMERIC, NOMINAL)]


class Bench:
    """Stands for `Work`: makes staging relations; `whole` columns stay so."""

    def __init__(self, warehouse: DuckDBWarehouse, whole: Collection[Column]) -> None:
        self.warehouse, self.run, self.whole = warehouse, warehouse.run, whole


@pytest.fixture(scope="module")
def warehouse() -> Iterator[DuckDBWarehouse]:
    with open_warehouse(None) as opened:
        yield opened


RECORD = st.tuples(
    st.sampled_from(["a", "b", "", None]),
    st.sampled_from(["f", "m", None]),
    st.none() | st.integers(-3, 9),
    st.none() | st.integers(-99, 999).map(lambda cents: Decimal(cents) / 100),
    st.none() | st.integers(-40, 40).map(lambda eighths: eighths / 8),
)


@pytest.mark.slow
@given(records=st.lists(st.tuples(RECORD, st.integers(0, 2)), min_size=1, max_size=14), how=st.sampled_from(WAYS))
def test_every_group_becomes_what_its_records_say(
    warehouse: DuckDBWarehouse, records: list[tuple[Any, int]], how: Unification
) -> None:
    cells, members = _load(warehouse, records)
    whole = [] if how.numeric == "mean" else [AGE]  # means in full precision where decimals are asked for
    groups = Representatives(Bench(warehouse, whole), cells, members, 1)  # type: ignore[arg-type]
    file = groups.file(how, [AGE, PAY, X], [REGION, SEX], 1)
    names = [column.name for column in COLUMNS]
    found = warehouse.query(
        "test", "SELECT {{ c | idents }} FROM {{ f | ident }} ORDER BY label", f=file, c=["label", *names, "n"]
    )
    expected = []
    for label in sorted({label for _, label in records}):
        # In the order of the cells: NULL last in every column.
        group = sorted((record for record, of in records if of == label), key=_cell_order)
        numbers = [
            number_of([r[j] for r in group], how.numeric, digits) for j, digits in zip((2, 3, 4), DIGITS, strict=True)
        ]
        nominal = (
            medoid_of(group, (0, 1)) if how.nominal == "medoid" else [mode_of([r[j] for r in group]) for j in (0, 1)]
        )
        expected.append((label, *nominal, *numbers, len(group)))
    expected = _of_no_more_values(expected, [record for record, _ in records])
    for got, want in zip(found, expected, strict=True):
        for value, wanted in zip(got, want, strict=True):
            assert value == (pytest.approx(wanted, rel=1e-12) if isinstance(wanted, float) else wanted)
    if how.numeric != "mean":
        types = dict(warehouse.describe(file))
        assert {name: types[name] for name in ("age", "pay", "x")} == {n: TYPES[n] for n in ("age", "pay", "x")}


def _of_no_more_values(expected: list[tuple[Any, ...]], records: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows with the nearest values that were read in columns of which they have more values than these."""
    columns = [list(column) for column in zip(*expected, strict=True)]
    for j in (2, 3, 4):
        read = sorted({record[j] for record in records if record[j] is not None})
        if len({value for value in columns[j + 1] if value is not None}) > len(read):
            columns[j + 1] = [
                None if value is None else min(read, key=lambda one: (abs(float(one) - float(value)), one))
                for value in columns[j + 1]
            ]
    return [*zip(*columns, strict=True)]


def _cell_order(record: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((value is None, 0 if value is None else value) for value in record)


def _load(warehouse: DuckDBWarehouse, records: list[tuple[Any, int]]) -> tuple[Name, Name]:
    """Return the cells of the records, and the members of their groups."""
    import pyarrow as pa

    kinds = [pa.string(), pa.string(), pa.int32(), pa.decimal128(7, 2), pa.float64(), pa.int64()]
    arrays = [
        pa.array(list(v), kind) for v, kind in zip(zip(*((*r, g) for r, g in records), strict=True), kinds, strict=True)
    ]
    given_table = warehouse.load(pa.table(arrays, [*(c.staged for c in COLUMNS), "label"]), "given", "test")
    cells = warehouse.run("safe/cells.sql", "cells", relation=given_table, columns=COLUMNS)
    same = " AND ".join(f"g.{c.staged} IS NOT DISTINCT FROM c.{c.staged}" for c in COLUMNS)
    warehouse.execute(
        "test",
        "CREATE OR REPLACE TABLE {{ m | ident }} AS SELECT c.cell, g.label, count(*) AS n FROM {{ g | ident }} AS g "
        "JOIN {{ c | ident }} AS c ON " + same + " GROUP BY ALL",
        m=warehouse.staged("members"), g=given_table, c=cells,
    )  # fmt: skip
    return cells, warehouse.staged("members")


# Whole runs


def _people(n: int, seed: int) -> dict[str, tuple[str, list[Any]]]:
    rng = np.random.default_rng(seed)
    return {
        "region": ("VARCHAR", rng.choice(["n", "e", "s"], n).tolist()),
        "sex": ("VARCHAR", rng.choice(["f", "m"], n).tolist()),
        "age": ("INTEGER", rng.integers(0, 90, n).tolist()),
        "pay": ("DECIMAL(7,2)", [Decimal(int(v)) / 100 for v in rng.integers(10_000, 900_000, n)]),
        "x": ("DOUBLE", rng.normal(size=n).tolist()),
    }


def _release(workbench: Any, table: dict[str, tuple[str, list[Any]]], **options: Any) -> Any:
    settings = {"k": 3, "seed": "1", "nominal": ["region", "sex"], "algorithm": ["kmeans++(clusters=5)", "mdav"]}
    return workbench.release("safe", workbench.make(table), columns=list(table), **{**settings, **options})


def _types(workbench: Any, db: str, table: str) -> dict[str, str]:

    with opened(db, read_only=True) as connection:
        return {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}


@pytest.mark.slow
@given(n=st.integers(6, 40), seed=st.integers(0, 9999), k=st.integers(2, 4), small=st.sampled_from(["merge", "drop"]))
@settings(max_examples=settings.default.max_examples // 50)
def test_every_candidate_of_every_unification_keeps_the_promise(
    workbench: Any, n: int, seed: int, k: int, small: str
) -> None:
    """Byte for byte k times, rows kept or counted, types kept, and the distance is that of the published tables."""
    table = _people(n, seed)
    db = workbench.make(table)
    try:
        release = workbench.release(
            "safe", db, columns=list(table), nominal=["region", "sex"], numeric=["age", "pay", "x"], k=k, seed="1",
            unify_numeric=NUMERIC, unify_nominal=NOMINAL, small_groups=small, method="cluster", keep_candidates=True,
            identifier_ok=["region", "sex"],
            algorithm=["kmeans++(clusters=6, columns=nominal)", "mdav(columns=both)"],
        )  # fmt: skip
    except InputError as none:
        assert small == "drop"
        assert "at least one algorithm" in str(none)
        return
    candidates = release.report["candidates"]
    assert len(candidates) % len(WAYS) == 0
    assert [c["unification"] for c in candidates[: len(WAYS)]] == [str(how) for how in WAYS]
    before: Rows = list(zip(*(values for _, values in table.values()), strict=True))
    for candidate in candidates:
        columns = workbench.read(db, candidate["kept"])
        after: Rows = list(zip(*(columns[name] for name in table), strict=True))
        assert min(Counter(map(repr, after)).values()) >= k
        assert len(after) == n - candidate["dropped"]
        counts, sums = naive_distance(before, after, [0, 1], [2, 3, 4], 2)
        assert candidate["counts"] == pytest.approx(counts, abs=1e-9)
        assert candidate["sums"] == pytest.approx(sums, abs=1e-9)
        exact = {"pay": "DOUBLE"} if candidate["unification"].startswith("mean") else {}
        kinds = _types(workbench, db, candidate["kept"])
        assert {name: kinds[name] for name in ("age", "pay", "x")} == {n: TYPES[n] for n in ("age", "pay", "x")} | exact
    if small == "merge":
        assert all(candidate["dropped"] == 0 for candidate in candidates)


def test_integers_and_decimals_stay_what_they_are_by_default(workbench: Any) -> None:
    kinds = {"a": "TINYINT", "b": "UBIGINT", "c": "HUGEINT", "d": "DECIMAL(38,4)", "e": "FLOAT", "f": "DATE"}
    as_double = {"e": "DOUBLE"}
    rng = np.random.default_rng(2)
    table: dict[str, Any] = {"region": ("VARCHAR", ["n", "s"] * 20)}
    for name, kind in kinds.items():
        values: list[Any] = rng.integers(0, 100, 40).tolist()
        if kind == "DATE":
            values = [datetime.date(1970, 1, 1) + datetime.timedelta(days=v * 30) for v in values]
        table[name] = (kind, values)
    db = workbench.make(table)
    workbench.release(
        "safe",
        db,
        columns=list(table),
        nominal=["region"],
        numeric=list(kinds),
        k=4,
        algorithm=["mdav"],
        method="cluster",
    )
    (target,) = [name for _, name in workbench.relations(db) if name.startswith("release_")]
    assert {name: kind for name, kind in _types(workbench, db, target).items() if name in kinds} == kinds | as_double


def test_the_largest_numbers_a_type_holds_come_back(workbench: Any) -> None:
    """The mean of three times 2^63 - 1 is 2^63 as a DOUBLE, which is no BIGINT: the next one below is released."""
    table = {"big": ("BIGINT", [2**63 - 1] * 3 + [-(2**63)] * 3), "g": ("VARCHAR", ["a"] * 3 + ["b"] * 3)}
    release = workbench.release(
        "safe", workbench.make(table), columns=["big", "g"], numeric=["big"], nominal=["g"], k=3, algorithm=["mdav"],
        method="cluster",
    )  # fmt: skip
    assert sorted(release.columns["big"]) == [-(2**63)] * 3 + [2**63 - 2**11] * 3


@pytest.mark.slow
def test_the_modes_together_need_not_occur_but_a_medoid_does(workbench: Any) -> None:
    """Sex and town as in the row test of medoids.sql: the modes are m and A, which no record has."""
    table = {
        "sex": ("VARCHAR", ["f", "f", "m", "m", "m"]),
        "town": ("VARCHAR", ["A", "A", "B", "B", "C"]),
        "age": ("INTEGER", [1, 2, 3, 4, 7]),
    }
    for how, expected in (("mode", ("m", "A")), ("medoid", ("m", "B"))):
        release = workbench.release(
            "safe", workbench.make(table), columns=list(table), nominal=["sex", "town"], numeric=["age"], k=5,
            method="cluster", algorithm=["mdav(columns=both)"], unify_nominal=[how], unify_numeric=["rounded-mean"],
            identifier_ok=["sex", "town"],
        )  # fmt: skip
        assert release.records(["sex", "town", "age"]) == [(*expected, 3)] * 5


@pytest.mark.slow
@pytest.mark.parametrize("numeric_values", ["own", "means"])
def test_own_values_and_means_of_an_income_nobody_shares(workbench: Any, numeric_values: str) -> None:
    """All incomes differ: own values are incomes that occur, each k times; means keep the total."""
    rng = np.random.default_rng(7)
    incomes = rng.permutation(np.arange(200) * 37 + 1000).tolist()
    table = {
        "region": ("VARCHAR", rng.choice(["n", "e", "s"], 200).tolist()),
        "sex": ("VARCHAR", rng.choice(["f", "m"], 200).tolist()),
        "income": ("INTEGER", incomes),
    }
    release = _release(
        workbench, table, method="search", algorithm=[], numeric=["income"], numeric_values=numeric_values,
        unify_numeric=["mean", "rounded-mean"], decimals=numeric_values == "means",
    )  # fmt: skip
    found = release.columns["income"]
    assert len(found) == 200
    assert min(Counter(release.records(["region", "sex", "income"])).values()) >= 3
    candidates = release.report["candidates"]
    if numeric_values == "own":
        assert [c["unification"] for c in candidates] == ["own values"]
        assert set(found) <= set(incomes)
        assert abs(sum(found) / sum(incomes) - 1) < 0.02
    else:
        assert [c["unification"] for c in candidates] == ["own values, mean", "own values, rounded-mean"]
        assert candidates[0]["sums"] <= candidates[1]["sums"]
        chosen = candidates[release.report["chosen"] - 1]["unification"]
        assert sum(found) == pytest.approx(sum(incomes), rel=1e-12 if chosen.endswith("values, mean") else 1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"unify_numeric": ["mode"]},
        {"unify_numeric": ["rounded mean"]},
        {"unify_numeric": []},
        {"unify_nominal": ["mean"]},
        {"unify_nominal": []},
    ],
)
def test_unknown_unifications_are_refused(workbench: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be one or several of"):
        _release(workbench, _people(20, 1), **options)


def test_what_is_rounded_to_what_its_type_holds() -> None:
    money, day, whole, real = (
        Column(kind, kind, kind) for kind in ("DECIMAL(8,2)", "DATE", "INTEGER", "DOUBLE")
    )  # fmt: skip
    means, others = (rounding([money, day, whole, real], how, [whole]) for how in ("mean", "median"))
    assert (means.points, means.whole, means.decimals) == ([day], [whole], [])
    assert (others.points, others.whole, others.decimals) == ([day], [whole], [(money, 2)])
