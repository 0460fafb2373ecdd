"""Random tables through the public API: every method keeps its promise, or refuses and writes nothing."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world import refused

from sqlmicro.errors import SqlmicroError
from sqlmicro.registry import methods

METHODS = ("individual-ranking", "single-axis", "split-group", "mdav", "safe")
SLOW = ("single-axis", "split-group")
every_method = pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in METHODS]
)
"""A kernel, a statement and SAFE in the quick suite."""
NULLS = ("error", "keep", "suppress", "pattern")
NAMES = ('net "income"', "a,b", "row_id", "value", "Label", "size", "select", "größe")
MOST = settings.default.max_examples
releases = settings(max_examples=min(MOST // 10, 20))
few = settings(max_examples=MOST // 50)
"""Tables for each of the methods; few for properties that release two, or that fail for everything or nothing."""
TEXTS = ("x", "y", "", "it's", "NULL", "Ä", "ä")


@dataclass(frozen=True)
class Table:
    """A random table: the columns to anonymize, a stratum, and two kept columns, one of them a number per record."""

    used: dict[str, tuple[str, list[Any]]]
    kept: dict[str, tuple[str, list[Any]]]
    by: dict[str, tuple[str, list[Any]]]
    n: int

    @property
    def columns(self) -> dict[str, tuple[str, list[Any]]]:
        return {**self.used, **self.kept, **self.by}

    @property
    def incomplete(self) -> int:
        """How many records have a NULL in a column to anonymize."""
        return sum(any(value is None for value in record) for record in self._records())

    def _records(self) -> Any:
        return zip(*(values for _, values in self.used.values()), strict=True)

    @property
    def gaps(self) -> bool:
        return self.incomplete > 0

    @property
    def whole(self) -> set[str]:
        """The columns to anonymize all of whose numbers are whole."""
        return {
            name for name, (kind, values) in self.used.items()
            if kind in ("BIGINT", "DECIMAL(9,2)", "DOUBLE")
            if all(float(value).is_integer() for value in values if value is not None)
        }  # fmt: skip

    def has_rare_texts(self, k: int) -> bool:
        """Tell whether most records of a column of text have a value that fewer than k have."""
        counts = [
            Counter(v for v in values if v is not None) for kind, values in self.used.values() if kind == "VARCHAR"
        ]
        return any(2 * sum(n for n in found.values() if n < k) > found.total() for found in counts)


def _numbers(rng: np.random.Generator, kind: str, n: int) -> list[Any]:
    if kind == "ties":
        return rng.choice([-2.0, -1.0, -0.0, 0.0, 1.0, 2.5], n).tolist()
    if kind == "signed zeros":
        return rng.choice([-0.0, 0.0], n).tolist()
    if kind == "constant":
        return [float(rng.choice([0.0, -0.0, 0.1, 1e9]))] * n
    if kind == "far from 0":
        return (1e9 + rng.normal(size=n)).tolist()
    if kind == "skewed":
        return np.exp(rng.normal(0, 4, n)).tolist()
    if kind == "tiny":
        return (rng.normal(size=n) * 1e-200).tolist()
    if kind == "whole":
        return rng.integers(-50, 1000, n).tolist()
    return rng.normal(0, 100, n).tolist()


DOUBLES = ("ties", "signed zeros", "constant", "far from 0", "skewed", "tiny", "continuous")


def _with_gaps(rng: np.random.Generator, values: list[Any], share: float) -> list[Any]:
    return [None if share and rng.random() < share else value for value in values]


@st.composite
def tables(draw: st.DrawFn, *, nominal: bool, gaps: bool = True, least: int = 0) -> Table:
    """Draw a table; the values come from a drawn seed, so that 200 records cost no more than 3."""
    n = draw(st.one_of(st.integers(least, max(least, 12)), st.integers(least, 200)), label="n")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="values"))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True), label="names")
    kinds = (*DOUBLES, "whole", "date", "money", *(("text", "flag") if nominal else ()))
    used: dict[str, tuple[str, list[Any]]] = {}
    for name in names:
        kind = draw(st.sampled_from(kinds), label=name)
        share = draw(st.sampled_from((0.0, 0.0, 0.05, 0.5, 1.0)), label="gaps") if gaps else 0.0
        if kind == "text":
            sqltype, values = "VARCHAR", [str(value) for value in rng.choice(TEXTS, n)]
        elif kind == "flag":
            sqltype, values = "BOOLEAN", [bool(value) for value in rng.integers(0, 2, n)]
        elif kind == "date":
            sqltype, values = "DATE", [str(np.datetime64("1990-01-01") + int(day)) for day in rng.integers(0, 9999, n)]
        elif kind == "money":
            sqltype, values = "DECIMAL(9,2)", [f"{value / 100:.2f}" for value in rng.integers(-9999, 999999, n)]
        elif kind == "whole":
            sqltype, values = "BIGINT", _numbers(rng, kind, n)
        else:
            sqltype, values = "DOUBLE", _numbers(rng, kind, n)
        used[name] = (sqltype, _with_gaps(rng, values, share))
    odd = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, None]
    kept = {
        "number": ("INTEGER", list(range(n))),
        "kept": ("DOUBLE", [odd[int(i)] for i in rng.integers(0, len(odd), n)]),
    }
    by = {}
    if draw(st.booleans(), label="strata"):
        by = {"region": ("VARCHAR", [("north", "South", "south", None)[int(i)] for i in rng.integers(0, 4, n)])}
    return Table(used, kept, by, n)


def _options(method: str, table: Table, k: int, nulls: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "k": k, "nulls": nulls, "columns": list(table.used), "keep": list(table.kept), "by": list(table.by),
        "seed": "property", "identifier_ok": [name for name, (kind, _) in table.used.items() if kind == "VARCHAR"],
    }  # fmt: skip
    if method == "safe":
        numbers = [name for name, (kind, _) in table.used.items() if kind not in ("VARCHAR", "BOOLEAN")]
        options["numeric"] = numbers
        options["algorithm"] = ["kmeans++(clusters=4)", "mdav"]
    return options


def _exact(values: Any) -> list[str]:
    """Return values such that -0.0 and 0.0, and NaN and NULL, are told apart and can be compared."""
    return [repr(value) for value in values]


def _by_number(columns: dict[str, list[Any]], names: Any) -> dict[int, list[str]]:
    return {
        number: _exact(columns[name][i] for name in names) for i, number in enumerate(columns["number"])
    }  # fmt: skip


@every_method
@releases
@given(data=st.data(), k=st.integers(2, 6), nulls=st.sampled_from(NULLS), decimals=st.booleans(), named=st.booleans())
def test_every_method_keeps_its_promise_or_refuses(
    workbench: Any, method: str, data: st.DataObject, k: int, nulls: str, decimals: bool, named: bool
) -> None:
    """Whole numbers stay whole unless `decimals` are asked for; rare texts are refused unless they are `named`."""
    table = data.draw(tables(nominal=method == "safe"), label="table")
    promise = methods()[method].promise
    options = _options(method, table, k, nulls) | {"decimals": decimals}
    rare = not named and table.has_rare_texts(k)
    if not named:
        options["identifier_ok"] = []
    db = workbench.make(table.columns)
    before = workbench.relations(db)
    try:
        release = workbench.release(method, db, **options)
    except SqlmicroError as error:
        # A column-wise method leaves NULL where it was; fewer than k NULLs fail the audit.
        by_audit = error.exit_code == 1 and promise == "column" and nulls == "keep" and table.gaps
        assert error.exit_code == 2 or by_audit, error
        # By pattern, values are taken out until k records lack the same.
        gaps = table.gaps and (nulls != "pattern" or promise not in ("record", "column"))
        assert table.n < k or table.by or gaps or rare, f"refused without a reason: {error}"
        assert workbench.relations(db) == before
        return
    assert not rare
    columns = release.columns
    assert set(columns) == set(table.columns)

    left_out = table.incomplete if nulls == "suppress" else 0
    assert nulls != "error" or not table.gaps
    assert release.rows == table.n - left_out
    assert (release.report["rows"], release.report["suppressed"]) == (release.rows, left_out)

    untouched = [*table.kept, *table.by]
    original = {name: values for name, (_, values) in table.columns.items()}
    were, are = _by_number(original, untouched), _by_number(columns, untouched)
    assert len(are) == release.rows
    assert are == {number: were[number] for number in are}

    _assert_promise(promise, release, table, k)
    _assert_totals(release.report, promise, nulls, table, columns, set() if decimals else table.whole)


def _assert_promise(promise: str, release: Any, table: Table, k: int) -> None:
    assert release.report["smallest_group"] is None or release.report["smallest_group"] >= k
    if promise == "record":
        names = [*table.used, *table.by]
        sizes = Counter(tuple(_exact(record)) for record in release.records(names))
        assert min(sizes.values()) >= k
        assert release.report["k"] == min(sizes.values())
    elif promise == "column":
        for name in table.used:
            assert min(Counter(_exact(release.columns[name])).values()) >= k


def _assert_totals(
    report: dict[str, Any], promise: str, nulls: str, table: Table, columns: dict[str, list[Any]], whole: set[str]
) -> None:
    """Means keep totals of the values that are left, unless NULLs were filled by the majority (--nulls keep).

    The means of `whole` columns are rounded, by half a unit per record at most. The search of `safe` releases values
    that occur, and its means of integers are rounded.
    """
    for name in whole:
        assert all(float(value).is_integer() for value in columns[name] if value is not None), name
    if promise == "record" and nulls == "keep" and table.gaps:
        return
    chosen = [c["algorithm"] for c in report["candidates"] if c["candidate"] == report["chosen"]]
    if chosen == ["search"]:
        return
    for name, (kind, values) in table.used.items():
        if kind in ("VARCHAR", "BOOLEAN", "DATE") or (chosen and kind not in ("DOUBLE", "FLOAT")):
            continue
        pairs = [(values[number], value) for number, value in zip(columns["number"], columns[name], strict=True)]
        if nulls == "pattern":  # values may be taken out, none is filled in
            pairs = [(before, after) for before, after in pairs if after is not None]
            assert all(before is not None for before, _ in pairs), name
        old = [float(before) for before, _ in pairs if before is not None]
        new = [float(after) for _, after in pairs if after is not None]
        assert len(new) == len(old), name
        rounding = len(new) / 2 if name in whole else 0.0
        assert abs(math.fsum(new) - math.fsum(old)) <= rounding + 1e-9 * math.fsum(map(abs, old)), name


@every_method
@few
@given(data=st.data(), bad=st.sampled_from((math.nan, math.inf, -math.inf)), nulls=st.sampled_from(NULLS))
def test_numbers_that_are_not_finite_are_refused_with_the_column(
    workbench: Any, method: str, data: st.DataObject, bad: float, nulls: str
) -> None:
    table = data.draw(tables(nominal=False, gaps=False, least=1), label="table")
    name = data.draw(st.sampled_from(NAMES), label="column")
    values: list[Any] = [1.5] * table.n
    values[data.draw(st.integers(0, table.n - 1), label="record")] = bad
    poisoned = Table({**table.used, name: ("DOUBLE", values)}, table.kept, {}, table.n)
    db = workbench.make(poisoned.columns)
    with refused(db=db) as no:
        workbench.release(method, db, **_options(method, poisoned, 2, nulls))
    assert name in str(no.value)
    assert "NaN" in str(no.value)


@pytest.mark.slow
@every_method
@few
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(6, 90), k=st.integers(2, 6))
def test_content_does_not_depend_on_the_order_of_rows(workbench: Any, method: str, seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    used = {name: ("DOUBLE", rng.normal(0, 100, n).tolist()) for name in ("value", 'net "income"')}
    if method == "safe":
        used["Label"] = ("VARCHAR", [str(value) for value in rng.choice(TEXTS, n)])
    table = Table(used, {"number": ("INTEGER", list(range(n)))}, {}, n)
    order = rng.permutation(n)
    shuffled = {name: (kind, [values[i] for i in order]) for name, (kind, values) in table.columns.items()}
    options = _options(method, table, k, "error")
    first = workbench.release(method, workbench.make(table.columns), **options)
    second = workbench.release(method, workbench.make(shuffled), **options)
    assert _by_number(first.columns, used) == _by_number(second.columns, used)


@pytest.mark.slow
@every_method
@few
@given(data=st.data(), k=st.integers(2, 6), nulls=st.sampled_from(("keep", "pattern")))
def test_content_does_not_depend_on_threads(
    workbench: Any, method: str, data: st.DataObject, k: int, nulls: str
) -> None:
    table = data.draw(tables(nominal=method == "safe", least=20), label="table")
    db = workbench.make(table.columns)
    outcomes = []
    for threads in (1, 2):
        try:
            release = workbench.release(method, db, threads=threads, **_options(method, table, k, nulls))
            outcomes.append(_by_number(release.columns, table.used))
        except SqlmicroError as error:
            outcomes.append({error.exit_code: [str(error)]})
    assert outcomes[0] == outcomes[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["individual-ranking", "single-axis", "split-group", "safe"])
def test_content_does_not_depend_on_threads_where_there_is_work_for_two(workbench: Any, method: str) -> None:
    """Below some 120 000 records one thread does all the work."""
    n = 150_000
    rng = np.random.default_rng(5)
    columns = {
        "number": ("INTEGER", np.arange(n)),
        "value": ("DOUBLE", np.round(np.exp(rng.normal(8, 2, n)), 2)),
        "a,b": ("DOUBLE", rng.normal(1e6, 1, n)),
    }
    options: dict[str, Any] = {
        "columns": ["value", "a,b"],
        "keep": ["number"],
        "accept_unique": ["number"],
        "k": 10,
        "seed": "threads",
    }
    if method == "safe":
        options["algorithm"] = ["kmeans++(clusters=5)"]
    if method == "single-axis":
        options["axis"] = "pc1"
    if method == "split-group":
        options["shuffle"] = "column"
    db = workbench.make(columns)
    one, two = (workbench.release(method, db, threads=threads, **options) for threads in (1, 2))
    for name in ("value", "a,b"):
        first, second = (
            np.array(release.columns[name])[np.argsort(release.columns["number"])] for release in (one, two)
        )
        assert np.array_equal(first, second)
