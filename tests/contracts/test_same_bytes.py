"""The same bytes whatever the number of threads and the order of the rows, for every method that is given a key."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from databases import insert
from test_masking import VARIANTS, _recoding
from world import kept

import sqlmicro
from sqlmicro.registry import methods
from sqlmicro.system import parallel

N = 60
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "safe": [
        {"k": 3, "columns": ["income", "age", "town"], "algorithm": ["kmeans++(clusters=4)", "mdav"]},
        {"k": 3, "columns": ["income", "age", "town", "flag"], "method": "search"},
    ],
    "split-group": [{"k": 4, "shuffle": "column"}],
    **{name: [{**variant.settings, "columns": list(variant.columns) or None} for variant in variants]
       for name, variants in groupby(VARIANTS, lambda variant: variant.name)},
    "generalize": [{"columns": ["age"], "width": ["age=5"]}, {"columns": ["income"], "quantiles": ["income=4"]}],
    "mondrian": [{"k": 3, "columns": ["income", "age", "town"]}],
    "shift-dates": [{"columns": ["born"], "within": "9d", "person": ["town"]}],
}  # fmt: skip
"""Settings of a method, where k = 3 over two numeric columns is none."""
QUICK = ("mdav", "individual-ranking", "shuffle")
"""A kernel, a statement and a draw; the others are `slow`."""
CASES = [
    pytest.param(name, settings, id=f"{name}-{number}", marks=[] if name in QUICK else [pytest.mark.slow])
    for name in methods()
    for number, settings in enumerate(SETTINGS.get(name, [{"k": 3}]), 1)
]
OTHERWISE = [(1, 8), (2, 2)][: 2 if os.environ.get("WHOLE") else 1]
"""Orders of the rows and numbers of threads of the releases that must be the first one again."""
Release = Callable[..., bytes]


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "a secret key of a few bytes")


@pytest.fixture(scope="module")
def persons(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the same records in three orders; incomes and ages have ties, which the order of the rows would decide."""
    folder = tmp_path_factory.mktemp("persons")
    rng = np.random.default_rng(N)
    rows = list(zip(
        range(N), rng.normal(2000, 500, N).round(-2).tolist(), (3 * rng.integers(0, 30, N)).tolist(),
        rng.choice(["Ulm", "Köln", "Au"], N).tolist(), rng.integers(0, 2, N).astype(bool).tolist(),
        [f"{year}-05-01" for year in rng.integers(1970, 2000, N)], [f"{1234567 + i % 8}" for i in range(N)],
        strict=True,
    ))  # fmt: skip
    assert max(Counter(row[1] for row in rows).values()) > 3
    paths = []
    with duckdb.connect() as connection:
        for number in range(3):
            connection.execute(
                "CREATE OR REPLACE TABLE p "
                "(number INT, income DOUBLE, age INT, town TEXT, flag BOOL, born DATE, code TEXT)"
            )
            insert(connection, "p", rows)
            paths.append(str(folder / f"{number}.parquet"))
            connection.execute(f"COPY p TO '{paths[-1]}' (FORMAT parquet)")
            rng.shuffle(rows)
    return paths


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """Return a function that releases a file to CSV and returns its bytes."""

    def run(name: str, path: str, settings: dict[str, Any], **more: Any) -> bytes:
        to = tmp_path / "release.csv"
        options = {"columns": ["income", "age"], "rest": "keep", "row_key": ["number"], "seed": "bytes", **settings}
        options = {key: value for key, value in options.items() if value is not None}
        columns = ["number", "income", "age", "town", "flag", "born", "code"]
        options["accept_unique"] = [name for name in kept(columns, options) if name not in settings.get("person", [])]
        verb = getattr(sqlmicro, name.replace("-", "_"))
        verb(path, to=str(to), overwrite=True, **(options | more))
        return to.read_bytes()

    return run


@pytest.mark.slow_but("shuffle-2")
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_same_bytes_for_every_number_of_threads_and_order_of_rows(
    persons: list[str], release: Release, name: str, settings: dict[str, Any]
) -> None:
    if "recoding" in settings:
        settings = {**settings, "recoding": _recoding(("income", "age"), ())}
    first = release(name, persons[0], settings, threads=1)
    assert b"number" not in first
    for order, threads in OTHERWISE:
        assert release(name, persons[order], settings, threads=threads) == first


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "mdav" else [pytest.mark.slow])
        for name, method in methods().items()
        if method.engine == "numpy" and method.module.startswith("sqlmicro.")
    ],
)
def test_strata_that_are_grouped_at_the_same_time_have_the_same_groups(
    persons: list[str], release: Release, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_HANDED_OVER", 0)
    settings = {"k": 3, "by": ["town"]}
    first = release(name, persons[0], settings, threads=1)
    for order, threads in OTHERWISE:
        assert release(name, persons[order], settings, threads=threads) == first


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mdav", "noise", "shuffle", "swap", "sample", "pram"])
def test_without_a_key_the_content_of_the_records_decides(persons: list[str], release: Release, name: str) -> None:
    settings = {"row_key": None, "drop": ["number"], **SETTINGS.get(name, [{"k": 3}])[0]}
    first = release(name, persons[0], settings)
    assert release(name, persons[0], settings) == first, "the same command twice gives the same bytes"
    assert release(name, persons[1], settings, threads=8) == first, "the order of the rows says nothing"


@pytest.mark.slow
def test_a_key_is_released_where_it_is_kept_only(persons: list[str], release: Release) -> None:
    assert release("mdav", persons[0], {"k": 3}).splitlines()[0] == b"income,age,town,flag,born,code"
    kept = release("mdav", persons[0], {"k": 3, "keep": ["number"]})
    assert kept.splitlines()[0] == b"number,income,age,town,flag,born,code"
    assert release("mdav", persons[1], {"k": 3, "keep": ["number"]}, threads=2) == kept
    # A column that is worked on may be a part of the key; its values are read as they were.
    options = {"k": 3, "columns": ["income", "number"], "row_key": ["town", "number"], "keep": ["town"]}
    assert release("mdav", persons[0], options) == release("mdav", persons[2], options)


@pytest.mark.parametrize(
    ("rows", "missing", "repeated"),
    [
        ("('secret', 1), ('secret', 2), ('b', 3)", "0", "2"),
        ("('secret', 1), (NULL, 2), (NULL, 3)", "2", "2"),
        ("('secret', 1), ('SECRET', 2), ('b', 3)", "0", "2"),
    ],
)
def test_a_key_must_be_there_and_unique(tmp_path: Path, rows: str, missing: str, repeated: str) -> None:
    db = str(tmp_path / "persons.duckdb")
    with duckdb.connect(db) as connection:
        connection.execute("CREATE TABLE persons (who VARCHAR COLLATE NOCASE, x INTEGER)")
        connection.execute(f"INSERT INTO persons VALUES {rows}")
    with pytest.raises(sqlmicro.InputError, match=f"{missing} records with a missing value, {repeated}") as refused:
        sqlmicro.mdav("persons", db=db, columns=["x"], k=2, row_key=["who"])
    assert "secret" not in str(refused.value).lower()
    with pytest.raises(sqlmicro.ParameterError, match="--row-key"):
        sqlmicro.mdav("persons", db=db, columns=["x"], k=2, row_key=["nobody"], rest="keep")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, method in methods().items() if method.promise == "record"])
def test_a_release_of_a_release_keeps_its_promise(tmp_path: Path, persons: list[str], name: str) -> None:
    """What is k-anonymous already stays so, or is refused; a group of equal records is no worse to describe."""
    first, second = (str(tmp_path / f"{number}.parquet") for number in (1, 2))
    options: dict[str, Any] = {"seed": "twice", **SETTINGS.get(name, [{"k": 3, "columns": ["income", "age"]}])[0]}
    verb = getattr(sqlmicro, name.replace("-", "_"))
    verb(persons[0], to=first, rest="drop", **options)
    try:
        again = verb(first, to=second, alone_because="test", **options)
    except sqlmicro.SqlmicroError as refused:
        assert refused.exit_code == 2
        assert not Path(second).exists()
        return
    assert again["rows"] == N
    report = sqlmicro.audit(second, quasi=options["columns"], min_k=3, measure="k-anonymity")
    assert report["passed"]
