"""The contract of every grouping method through the public API; that of the kernels is in sqlmicro/contracts."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlmicro import SqlmicroError
from sqlmicro.database.templates import all_templates, environment, root
from sqlmicro.options.params import settle
from sqlmicro.registry import Method, methods

ALL = [method for method in methods().values() if method.stage != "mask"]
KERNELS = [method for method in ALL if method.stage == "group" and method.engine == "numpy"]
SHORT: dict[str, dict[str, Any]] = {
    "kanonymeans-star": {"population": 4, "survivors": 2, "generations": 2},
    "safe": {"effort": "fast"},
}
"""Settings that keep a search short; a contract holds however long it goes on."""
ONE_OF_EACH = ("mdav", "individual-ranking", "safe")
"""A kernel, a statement and SAFE: where the others share the code that a contract is about, they are `slow`."""
OWN_STATEMENTS = list({method.templates: method for method in reversed(ALL)}.values())
"""One method of those that run the same statements."""


def _quick(names: Container[str]) -> pytest.MarkDecorator:
    """Give a test every method; those that are not named here are `slow`."""
    marks = {method.name: [] if method.name in names else [pytest.mark.slow] for method in ALL}
    return pytest.mark.parametrize("method", [pytest.param(m, id=m.name, marks=marks[m.name]) for m in ALL])


every_method = _quick([method.name for method in ALL])
one_of_each = _quick(ONE_OF_EACH)


def test_there_are_methods_of_both_engines() -> None:
    assert {"mdav"} <= {method.name for method in KERNELS}
    assert {"individual-ranking", "single-axis", "split-group", "safe"} <= {method.name for method in ALL}


# Every method, through the public API


def _persons(n: int) -> dict[str, tuple[str, list[Any]]]:
    rng = np.random.default_rng(n)
    return {
        "number": ("INTEGER", rng.permutation(n).tolist()),
        "income": ("DOUBLE", rng.normal(2000, 500, n).round(1).tolist()),
        "age": ("INTEGER", rng.integers(0, 99, n).tolist()),
        "note": ("VARCHAR", [None if i % 3 == 0 else f"note {i}" for i in range(n)]),
        "score": ("DOUBLE", rng.choice([-0.0, 0.0, np.nan, np.inf, 2.5], n).tolist()),
    }


OPTIONS: dict[str, Any] = {"columns": ["income", "age"], "keep": ["number", "note", "score"], "seed": "contract"}


def _release(workbench: Any, method: Method, db: str, **options: Any) -> Any:
    return workbench.release(method.name, db, **SHORT.get(method.name, {}), **options)


def _kept(columns: dict[str, list[Any]]) -> dict[int, str]:
    return {number: repr((columns["note"][i], columns["score"][i])) for i, number in enumerate(columns["number"])}


@one_of_each
def test_rows_and_kept_columns_stay_and_groups_have_k(workbench: Any, method: Method) -> None:
    _rows_and_kept_columns_stay(workbench, method, 50, 7)


@pytest.mark.slow
@one_of_each
def test_one_group_of_k_is_released(workbench: Any, method: Method) -> None:
    """That every kernel takes n = k is in sqlmicro/contracts."""
    _rows_and_kept_columns_stay(workbench, method, 3, 3)


def _rows_and_kept_columns_stay(workbench: Any, method: Method, n: int, k: int) -> None:
    table = _persons(n)
    db = workbench.make(table)
    scales = {"numeric": ["income", "age"]} if method.name == "safe" else {}
    release = _release(workbench, method, db, k=k, **OPTIONS, **scales)
    original = {name: values for name, (_, values) in table.items()}
    assert list(release.columns) == list(table), "columns keep their order"
    assert _kept(release.columns) == _kept(original)
    assert repr(workbench.read(db, "records")) == repr(original), "the source is as it was"
    report = release.report
    assert (report["rows_in"], report["rows"], report["suppressed"]) == (n, n, 0)
    assert k <= report["smallest_group"] <= report["largest_group"]
    if method.promise == "record":
        assert report["k"] == min(Counter(release.records(["income", "age"])).values()) >= k
    if method.promise == "column":
        assert all(min(Counter(release.columns[name]).values()) >= k for name in ("income", "age"))
    for name in ("income", "age"):
        if table[name][0] == "DOUBLE":
            assert sum(release.columns[name]) == pytest.approx(sum(original[name]), rel=1e-9)
        else:  # means of whole numbers are rounded
            assert all(type(value) is int for value in release.columns[name])
            assert sum(release.columns[name]) == pytest.approx(sum(original[name]), abs=n / 2)


@pytest.mark.slow
@one_of_each
def test_same_seed_same_release(workbench: Any, method: Method) -> None:
    """That every kernel gives the same labels is in sqlmicro/contracts, the same bytes in test_same_bytes."""
    db = workbench.make(_persons(40))
    first, second = (_release(workbench, method, db, k=3, **OPTIONS).columns for _ in range(2))
    assert repr(first) == repr(second)


@pytest.mark.slow
@one_of_each
@pytest.mark.parametrize("n", [0, 4])
def test_fewer_records_than_k_are_refused_and_nothing_is_written(workbench: Any, method: Method, n: int) -> None:
    db = workbench.make(_persons(n))
    with pytest.raises(SqlmicroError) as refused:
        workbench.release(method.name, db, k=5, **OPTIONS)
    assert refused.value.exit_code == 2
    assert ("smaller --k" in str(refused.value)) == (n >= 2), "a smaller k helps 4 records, and none of 0"
    assert workbench.relations(db) == [("main", "records")]


def test_k_below_2_is_refused_before_anything_is_opened(workbench: Any) -> None:
    for method in ALL:
        for k in (1, 0, -3):
            with pytest.raises(SqlmicroError, match="at least 2") as refused:
                settle(method.settings, {"k": k}, method.name)
            assert refused.value.exit_code == 2, method.name
    db = workbench.make(_persons(10))
    with pytest.raises(SqlmicroError, match="at least 2") as refused:
        workbench.release("mdav", db, k=1, **OPTIONS)
    assert refused.value.exit_code == 2


@one_of_each
def test_duplicates_and_constant_columns_are_released(workbench: Any, method: Method) -> None:
    """That every kernel groups them is in sqlmicro/contracts."""
    columns = {"income": ("DOUBLE", [5.0] * 20), "age": ("INTEGER", [1, 1, 1, 1, 90] * 4)}
    release = _release(workbench, method, workbench.make(columns), k=4, columns=["income", "age"])
    assert release.rows == 20
    assert set(release.columns["income"]) == {5.0}


def _names_in(templates: Iterable[str]) -> set[str]:
    """Return every name that a template gives to a column: a table may well have a column of that name."""
    found = {"rowid"}
    for template in templates:
        lines = (Path(root()) / template).read_text(encoding="utf-8").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--"))
        for name in re.findall(r"\bAS ([a-z_]+(?:\{\{[^}]*\}\})?)(?! ?\()", text):
            found.add(re.sub(r"\{\{.*\}\}", "1", name))
    return found


def _release_with_names(workbench: Any, method: Method, n: int = 15, **roles: list[str]) -> None:
    rng = np.random.default_rng(5)
    # As strata they are constant, so that there is one stratum.
    table: dict[str, tuple[str, Any]] = {"income": ("DOUBLE", rng.normal(size=n).tolist())}
    for role, names in roles.items():
        for name in names:
            table[name] = ("DOUBLE", [4.0] * n if role == "by" else rng.normal(size=n).tolist())
    # A column that is called `position` and has five decimals is taken for a place on the earth.
    options: dict[str, Any] = {"columns": ["income"], "k": 3, "seed": "names", "identifier_ok": list(table)}
    for role, names in roles.items():
        options[role] = [*options.get(role, []), *names]
    if method.name == "safe":
        options |= {"algorithm": ["kmeans++(clusters=5)"], "order": 1, "numeric": options["columns"]}
    release = _release(workbench, method, workbench.make(table), **options)
    assert set(release.columns) == set(table)
    assert release.rows == n
    for name in roles.get("columns", []):
        assert sum(release.columns[name]) == pytest.approx(sum(table[name][1]), abs=1e-9)
    others = [name for role, names in roles.items() if role != "columns" for name in names]
    assert Counter(release.records(others)) == Counter(zip(*(table[name][1] for name in others), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("method", OWN_STATEMENTS, ids=lambda method: method.name)
@pytest.mark.parametrize("role", ["columns", "by", "keep"])
def test_columns_may_have_the_names_that_the_statements_use(
    workbench: Any, monkeypatch: pytest.MonkeyPatch, method: Method, role: str
) -> None:
    """Columns have all names of the templates that their own releases read; with WHOLE=1 of all that there are."""
    read, get, done = set[str](), environment().get_template, set[str]()
    monkeypatch.setattr(environment(), "get_template", lambda name, *more: read.add(name) or get(name, *more))
    # DuckDB evaluates tables of 64 nominal columns at most, and joins of many take long: strata of SAFE come in parts.
    # A statement of single-axis, and candidates of SAFE, grow with the square of the columns that are released.
    # With so many records secure-k-ward has no mean to move.
    wide = 400 if role == "keep" or (role == "columns" and method.name not in ("safe", "single-axis")) else 12
    names = {"row_id", "value", "label", *_names_in(all_templates() if os.environ.get("WHOLE") else [])}
    while left := sorted(names - done):
        for start in range(0, len(left), wide):
            _release_with_names(workbench, method, 60, **{role: left[start : start + wide]})
        done |= names
        names = _names_in(read)
    assert {"row_id", "value", "label", "rowid"} <= done


@pytest.fixture
def ends() -> Iterator[None]:
    """Fail after 20 seconds, where a kernel would never end."""

    def stop(*_: object) -> None:
        pytest.fail("the method does not end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("ends")
@one_of_each
@pytest.mark.parametrize("values", [[1.7e308, -1.7e308, 1.6e308, 1e308], [1e200, -3e200, 2e200, 5e199]])
def test_numbers_too_large_to_add_or_square_are_refused_or_stay_finite(
    workbench: Any, method: Method, values: list[float]
) -> None:
    db = workbench.make({"x": ("DOUBLE", values * 3), "y": ("DOUBLE", range(12))})
    extra = {"algorithm": ["kmeans++(clusters=2)"]} if method.name == "safe" else {}
    try:
        release = _release(workbench, method, db, k=3, columns=["x", "y"], seed="large", **extra)
    except SqlmicroError as refused:
        assert refused.exit_code == 2
        return
    assert np.isfinite(release.columns["x"]).all()
    assert np.isfinite(release.report["IL"])


@pytest.mark.slow
@one_of_each
@pytest.mark.parametrize(("kind", "nulls"), [("DATE", "error"), ("TIMESTAMP", "keep")])
def test_infinite_dates_are_refused(workbench: Any, method: Method, kind: str, nulls: str) -> None:
    db = workbench.make({"x": (kind, ["infinity", "2020-01-02", "2020-01-01"] * 4), "y": ("DOUBLE", range(12))})
    with pytest.raises(SqlmicroError) as refused:
        workbench.release(method.name, db, k=3, columns=["x", "y"], nulls=nulls)
    assert refused.value.exit_code == 2
    assert workbench.relations(db) == [("main", "records")]


@pytest.mark.slow
@every_method
def test_a_table_nobody_prepared(workbench: Any, method: Method, real_table: Path, tmp_path: Path) -> None:
    """Any CSV file: the numeric columns are released, the others dropped."""
    import sqlmicro

    found = [
        column["name"]
        for column in sqlmicro.profile(str(real_table))["columns"]
        if column["scale"] == "numeric" and column["role"] != "identifier" and not column["nulls"]
    ][:2]
    assert found, "the file has numeric columns"
    verb = getattr(sqlmicro, method.name.replace("-", "_"))
    extra = {"algorithm": ["kmeans++(clusters=50)"]} if method.name == "safe" else {}
    report = verb(
        str(real_table), columns=found, rest="drop", k=3, to=str(tmp_path / "release.csv"), seed="1",
        **SHORT.get(method.name, {}), **extra,
    )  # fmt: skip
    assert report["rows"] == report["rows_in"] > 0
    assert report["smallest_group"] >= 3
    assert (tmp_path / "release.csv").read_text().count("\n") == report["rows"] + 1
