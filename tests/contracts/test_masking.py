"""The contract of every masking method, through the public API and the command line."""

from __future__ import annotations

import inspect
import json
import os
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

import sqlmicro
from sqlmicro import SqlmicroError
from sqlmicro.cli import app
from sqlmicro.registry import find, methods
from sqlmicro.system import secrets

SECRET = "a secret key of a few bytes"
FOLDER = TemporaryDirectory()
"""Where recodings are."""


@dataclass(frozen=True)
class Variant:
    """A way to use a method: its settings, the columns it works on, and what it leaves as it is.

    `random` says whether another key makes another result, `rows` whether every record stays, `nulls` whether what is
    missing stays missing and nothing else gets lost, `bad` is a column it must refuse. Those that are not `quick` are
    `slow`.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ("income", "age")
    random: bool = False
    rows: bool = True
    nulls: bool = True
    bad: str = ""
    quick: bool = False


VARIANTS = [
    Variant("apply-recoding", {"recoding": "written by _options"}, bad="town"),
    Variant("bottom-code", {"quantile": 0.1}, bad="town"),
    Variant("bottom-code", {"count": 9, "replacement": "median"}, bad="town"),
    Variant("constant", {"value": "x"}, ("town", "age"), nulls=False),
    Variant("constant", {}, ("town", "age", "born"), nulls=False),
    Variant("encrypt", {"alphabet": "digits"}, ("code",), bad="income"),
    Variant("fake", {"kind": ["town=city", "age=phone", "born=login"]}, ("town", "age", "born"), bad="income"),
    Variant("generalize", {"width": ["income=500", "age=10"]}, bad="flag", quick=True),
    Variant("mondrian", {"k": 3}, ("income",)),
    Variant("noise", {"kind": "uncorrelated", "amount": 0.2}, ("income", "age", "born"), random=True, bad="town"),
    Variant("noise", {"kind": "correlated", "amount": 0.2}, random=True, bad="town", quick=True),
    Variant("noise", {"kind": "linear", "amount": 0.2}, random=True, bad="flag"),
    Variant("noise", {"kind": "nonlinear", "amount": 0.2}, ("income", "age", "born"), random=True, bad="town"),
    Variant("noise", {"kind": "laplace", "epsilon": 1, "lower": 0, "upper": 90}, random=True, bad="born"),
    Variant("noise", {"kind": "geometric", "epsilon": 1, "lower": 0, "upper": 90}, ("age",), random=True, bad="income"),
    Variant("partial", {"keep_last": 1}, ("town", "age"), bad="income"),
    Variant("pram", {"keep_probability": 0.5}, ("town", "age", "flag"), random=True, bad="income"),
    Variant("pram", {"keep_probability": 0.5, "invariant": True}, ("town", "flag"), random=True, bad="income"),
    Variant("pseudonymise", {}, ("town", "age", "born"), bad="income", quick=True),
    Variant("sample", {"size": 40}, (), random=True, rows=False),
    Variant("sample", {"fraction": 0.3, "weight_column": "w"}, (), random=True, rows=False, quick=True),
    Variant("shift-dates", {"within": "9d", "person": ["land"]}, ("born",), bad="town", quick=True),
    Variant("shuffle", {}, ("income", "town"), random=True),
    Variant("shuffle", {"together": True}, ("income", "town", "age"), random=True),
    Variant("suppress", {"k": 2}, ("town", "flag"), nulls=False, quick=True),
    Variant("swap", {"kind": "rank", "percent": 20}, ("income", "age", "born"), random=True, bad="town"),
    Variant("swap", {"kind": "data", "rate": 0.5}, ("income", "town"), random=True),
    Variant(
        "swap", {"kind": "targeted", "risk_columns": ["flag"], "min_count": 30, "rate": 0.3}, ("town",), random=True
    ),
    Variant("top-code", {"value": 60}, bad="flag"),
    Variant("top-code", {"count": 9, "replacement": "mean"}, ("income", "age", "born"), bad="town"),
    Variant("top-code", {"value": 60, "replacement": "label", "label": "60+"}, bad="town"),
]


def _id(variant: Variant) -> str:
    return "-".join([variant.name, *(str(value) for value in variant.settings.values())])


def _parameters(variants: list[Variant], quick: Container[str]) -> list[Any]:
    marks = [[] if v.quick and v.name in quick else [pytest.mark.slow] for v in variants]
    return [pytest.param(v, id=_id(v), marks=marks[i]) for i, v in enumerate(variants)]


every_variant = pytest.mark.parametrize("variant", _parameters(VARIANTS, {variant.name for variant in VARIANTS}))
one_of_each = pytest.mark.parametrize("variant", _parameters(VARIANTS, ("suppress", "pseudonymise")))
"""A kernel and a pseudonym: where publishing decides and not the mask, the others are `slow`."""


def test_every_mask_has_a_variant() -> None:
    masks = {method.name for method in methods().values() if method.stage == "mask"}
    assert masks <= {variant.name for variant in VARIANTS}


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", SECRET)


def _persons(n: int = 120) -> dict[str, tuple[str, list[Any]]]:
    rng = np.random.default_rng(n)
    columns: dict[str, tuple[str, list[Any], int]] = {
        "number": ("INTEGER", rng.permutation(n).tolist(), 0),
        "income": ("DOUBLE", rng.normal(2000, 500, n).round(1).tolist(), 11),
        "age": ("INTEGER", rng.integers(0, 90, n).tolist(), 7),
        "town": ("VARCHAR", rng.choice(["Ulm", "Köln", "Au"], n).tolist(), 5),
        "born": ("DATE", [str(np.datetime64("1970-01-01") + day) for day in rng.integers(0, 9000, n)], 13),
        "flag": ("BOOLEAN", [bool(i % 2) for i in range(n)], 9),
        "land": ("VARCHAR", ["a", "b"] * (n // 2), 0),
        "code": ("VARCHAR", [f"{1234567 + i % 8}" for i in range(n)], 17),
    }
    return {
        name: (kind, [None if every and i % every == 0 else value for i, value in enumerate(given)])
        for name, (kind, given, every) in columns.items()
    }


def _recoding(columns: tuple[str, ...], by: Sequence[str]) -> str:
    """Write a recoding of an income and an age: the tail of both begins at 60."""
    tails = [{"stratum": stratum, "start": "60", "beyond": None, "becomes": "60"}
             for stratum in ([["a"], ["b"]] if by else [[]])]  # fmt: skip
    kinds = dict(zip(columns, ("DOUBLE", "INTEGER"), strict=False))
    told = {
        "recoding": 1, "method": "top-code", "k": 3, "by": [{"name": name, "type": "VARCHAR"} for name in by],
        "columns": [{"name": name, "type": kind, "becomes": kind, "tails": tails} for name, kind in kinds.items()],
    }  # fmt: skip
    file = Path(FOLDER.name) / f"{'-'.join(by) or 'all'}-{len(list(Path(FOLDER.name).iterdir()))}.json"
    file.write_text(json.dumps(told))
    return str(file)


def _options(variant: Variant, table: Any, **more: Any) -> dict[str, Any]:
    columns = {"columns": list(variant.columns)} if variant.columns else {}
    if "recoding" in variant.settings:
        more = {**more, "recoding": _recoding(variant.columns, more.get("by", ()))}
    used = (*variant.columns, *variant.settings.get("person", ()), "land")
    unique = [name for name in table or _persons() if name not in used]
    return {**variant.settings, **columns, "rest": "keep", "accept_unique": unique, "seed": "contract", **more}


@pytest.mark.slow
@every_variant
def test_rows_kept_columns_and_missing_values_stay(workbench: Any, variant: Variant) -> None:
    table = _persons()
    db = workbench.make(table)
    release = workbench.release(variant.name, db, **_options(variant, table))
    original = workbench.read(db, "records")
    for name in variant.settings.get("person", ()):
        del table[name]
    assert list(release.columns)[: len(table)] == list(table), "columns keep their order"
    place = {number: i for i, number in enumerate(original["number"])}
    rows = [place[number] for number in release.columns["number"]]
    assert len(set(rows)) == len(rows)
    assert release.report["rows"] == len(rows)
    if variant.rows:
        assert sorted(rows) == list(range(120))
    for name in table:
        released, before = release.columns[name], [original[name][i] for i in rows]
        if name not in variant.columns:
            assert released == before
        elif variant.nulls:
            assert [value is None for value in released] == [value is None for value in before]
    assert rows != sorted(rows), "the released order is shuffled"
    others = workbench.release(variant.name, db, **_options(variant, table, seed="another"))
    contents = [sorted(made.records(list(made.columns)), key=repr) for made in (release, others)]
    assert (contents[0] != contents[1]) == variant.random, "the key decides where something is drawn"
    assert set(release.columns) - set(table) <= {"w"}, "neither row_id nor anything else is released"
    with duckdb.connect(db, read_only=True) as connection:
        assert SECRET not in repr(connection.execute("SELECT * FROM sqlmicro.releases").fetchall())


@pytest.mark.slow
@every_variant
def test_strata_stay_and_methods_without_strata_refuse_them(workbench: Any, variant: Variant) -> None:
    db = workbench.make(_persons())
    options = _options(variant, None, by=["land"])
    if not find(variant.name).takes_strata:
        assert "by" not in inspect.signature(getattr(sqlmicro, variant.name.replace("-", "_"))).parameters
        return
    release = workbench.release(variant.name, db, **options)
    original = workbench.read(db, "records")
    land = dict(zip(original["number"], original["land"], strict=True))
    assert release.columns["land"] == [land[number] for number in release.columns["number"]]
    if variant.name in ("shuffle", "swap"):
        for name in variant.columns:
            before = Counter(zip(original["land"], original[name], strict=True))
            assert Counter(zip(release.columns["land"], release.columns[name], strict=True)) == before


ODD = [
    'net "income"',
    "it's",
    "row_id",
    "value",
    "draw",
    "label",
    "n",
    "records",
    "Ä ß",
    "select",
    "u_1",
    "position",
    "order by",
]


ODD_FOR = [
    pytest.param(*parameter.values, shift, id=f"{shift}-{parameter.id}", marks=parameter.marks)
    for number, parameter in enumerate(_parameters(VARIANTS, ("noise",)))
    for shift in ((0, 6) if os.environ.get("WHOLE") else (6 * (number % 2),))
]
"""One half of the odd names for every variant, in turn: that every template takes any name is in tests/sql."""


@pytest.mark.parametrize(("variant", "shift"), ODD_FOR)
def test_columns_may_have_any_name(
    workbench: Any, monkeypatch: pytest.MonkeyPatch, variant: Variant, shift: int
) -> None:
    """Other names draw other numbers and stand in another order, which is taken from them here."""
    monkeypatch.setattr(secrets.Key, "_derived", lambda self, *parts: f"{self.value} {parts[0]}".encode().hex()[-32:])
    plain = _persons()
    others = [name for name in plain if name != "number"]
    names = dict(zip(others, ODD[shift : shift + len(others)], strict=True))
    table = {names.get(name, name): column for name, column in plain.items()}
    settings = {
        key: ["=".join([names[item.partition("=")[0]], *item.split("=")[1:]]) for item in value]
        if isinstance(value, list) else value
        for key, value in variant.settings.items()
    }  # fmt: skip
    odd = Variant(variant.name, settings, tuple(names[name] for name in variant.columns))
    release = workbench.release(variant.name, workbench.make(table), **_options(odd, table))
    expected = workbench.release(variant.name, workbench.make(plain), **_options(variant, plain))
    assert {names.get(n, n): repr(v) for n, v in expected.columns.items()} == {
        n: repr(v) for n, v in release.columns.items()
    }


@pytest.mark.slow
@one_of_each
def test_in_place_keeps_the_table_or_says_why_not(workbench: Any, variant: Variant) -> None:
    db = workbench.make(_persons())
    with duckdb.connect(db) as connection:
        before = connection.execute("DESCRIBE records").fetchall()
        rows = connection.execute("SELECT * FROM records").fetchall()
    try:
        report = getattr(sqlmicro, variant.name.replace("-", "_"))(
            "records", db=db, in_place=True, **_options(variant, None)
        )
    except SqlmicroError as refused:
        assert refused.exit_code == 2
        with duckdb.connect(db) as connection:
            assert connection.execute("SELECT * FROM records").fetchall() == rows
        return
    with duckdb.connect(db) as connection:
        assert connection.execute("DESCRIBE records").fetchall() == before
        assert connection.execute("SELECT count(*) FROM records").fetchall() == [(report["rows"],)]


@one_of_each
def test_a_dry_run_writes_nothing_and_its_script_runs(workbench: Any, variant: Variant) -> None:
    db = workbench.make(_persons())
    verb = getattr(sqlmicro, variant.name.replace("-", "_"))
    report = verb("records", db=db, show_sql=True, **_options(variant, None))
    assert workbench.relations(db) == [("main", "records")]
    script = report["sql"]
    assert SECRET not in script
    assert "random()" not in script
    if "fill" in script:
        return  # a kernel groups the records, which a script cannot
    with duckdb.connect(db) as connection:
        connection.execute(script)
        assert connection.execute("SELECT count(*) FROM records_anonymized").fetchall() == [(report["rows"],)]


@pytest.mark.slow
@pytest.mark.parametrize("variant", _parameters([v for v in VARIANTS if v.bad], {v.name for v in VARIANTS}))
def test_a_column_of_the_wrong_type_is_refused_and_nothing_is_written(workbench: Any, variant: Variant) -> None:
    db = workbench.make(_persons())
    settings = [f"--{name.replace('_', '-')}={value}" for name, value in variant.settings.items() if value is not True]
    settings = [part for part in settings if "[" not in part]
    settings += [f"--person={','.join(names)}" for name, names in variant.settings.items() if name == "person"]
    unique = ",".join(name for name in _persons() if name not in (variant.bad, "land"))
    arguments = [variant.name, "--db", db, "--table", "records", "--columns", variant.bad, "--rest", "keep", *settings]
    arguments += ["--accept-unique", unique]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert "accept-unique" not in result.output
    assert "--person" not in result.output
    assert "Ulm" not in result.output
    assert workbench.relations(db) == [("main", "records")]
