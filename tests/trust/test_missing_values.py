"""A missing value stays missing: none is filled in, rare patterns lose few further values, and what it cost is said."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest
from command import run
from databases import opened

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError
from sqlmicro.missing import policy
from sqlmicro.missing.patterns import coarsen
from sqlmicro.pipeline import Around

INCOME = 'net "income"'
KINDS = {"age": "INTEGER", INCOME: "DOUBLE", "town": "VARCHAR", "since": "DATE", "flag": "BOOLEAN"}
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("safe", {"method": "search", "effort": "fast"}),
    ("safe", {"method": "cluster", "algorithm": ["mdav"]}),
    ("mdav", {}),
    ("microaggregate", {}),
    ("v-mdav", {}),
)


def table(rng: np.random.Generator, rows: int, rates: dict[str, float]) -> dict[str, tuple[str, list[Any]]]:
    """Return a random table with so large a share of missing values in each column, and a number per record."""
    draw = {
        "age": lambda: int(rng.integers(0, 5) * 10), INCOME: lambda: float(rng.integers(0, 900)),
        "town": lambda: str(rng.choice(["a", "b", "NULL"])), "since": lambda: f"20{rng.integers(10, 14)}-01-01",
        "flag": lambda: bool(rng.integers(2)),
    }  # fmt: skip
    columns: dict[str, tuple[str, list[Any]]] = {
        name: (KINDS[name], [None if rng.random() < rate else draw[name]() for _ in range(rows)])
        for name, rate in rates.items()
    }
    return {**columns, "number": ("INTEGER", list(range(rows)))}


def made(workbench: Any, columns: dict[str, tuple[str, list[Any]]]) -> str:
    text = {name: ("VARCHAR" if kind == "DATE" else kind, values) for name, (kind, values) in columns.items()}
    db = str(workbench.make(text))
    with opened(db) as connection:
        for name, (kind, _) in columns.items():
            if kind == "DATE":
                connection.execute(f"ALTER TABLE records ALTER COLUMN {name} TYPE DATE")
    return db


def held(columns: dict[str, tuple[str, list[Any]]], released: dict[str, list[Any]], k: int, names: list[str]) -> int:
    """Check a release record by record, without SQL; return how many values were taken out."""
    assert sorted(released["number"]) == columns["number"][1], "a record was left out"
    taken = 0
    for place, number in enumerate(released["number"]):
        for name in names:
            before, after = columns[name][1][number], released[name][place]
            assert before is not None or after is None, f"a missing value of {name!r} was filled in"
            taken += before is not None and after is None
    sizes = Counter(zip(*(released[name] for name in names), strict=True))
    assert min(sizes.values()) >= k
    return taken


def random_case(workbench: Any, number: int) -> None:
    rng = np.random.default_rng(number)
    k, rows = int(rng.integers(2, 5)), int(rng.integers(4, 60))
    some = [str(name) for name in rng.permutation(list(KINDS))[: rng.integers(2, 6)]]
    columns = table(rng, rows, {name: float(rng.choice([0, 0.05, 0.2, 0.5, 1])) for name in some})
    method, settings = METHODS[number % len(METHODS)]
    if not any(value is not None for name in some for value in columns[name][1]):
        return
    release = workbench.release(
        method, made(workbench, columns), columns=some, keep=["number"], k=k, seed=str(number),
        identifier_ok=[name for name in some if name == "town"],
        **({} if method == "safe" else {"nulls": "pattern"}), **settings,
    )  # fmt: skip
    taken = held(columns, release.columns, k, some)
    said = {one["column"]: one for one in release.report["missing"]}
    assert sum(one["taken_out"] for one in said.values()) == taken
    assert all(one["filled_in"] == 0 for one in said.values())
    for name in some:
        counts = [sum(value is None for value in values) for values in (columns[name][1], release.columns[name])]
        found = said.get(name)
        assert counts == ([found["before"], found["after"]] if found else [0, 0])
    if taken:
        assert any(f"took out {taken:,} value" in note for note in release.report["notes"])


@pytest.mark.slow
def test_no_method_that_groups_by_pattern_fills_a_missing_value_in_and_k_holds(workbench: Any) -> None:
    for number in range(len(METHODS)):
        random_case(workbench, number)


TABLES = int(os.environ.get("TABLES", "60"))


@pytest.mark.slow
def test_no_method_that_groups_by_pattern_fills_a_missing_value_in_on_many_tables(workbench: Any) -> None:
    """TABLES=300 has as many random tables."""
    for number in range(len(METHODS), TABLES):
        random_case(workbench, number)


# What is taken out is nearly the least that could be.


@cache
def _parts(n: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(n,)]
    return [(i, *rest) for i in range(n + 1) for rest in _parts(n - i, parts - 1)]


def _least(missing: np.ndarray, n: np.ndarray, k: int) -> int:
    """Return the fewest values that must go: every set of patterns that may stay is tried."""
    columns = missing.shape[1]
    masks = [sum(1 << j for j in range(columns) if row[j]) for row in missing]
    targets = [t for t in range(1 << columns) if any(m & t == m for m in masks)]
    best = 10**9
    for size in range(1, int(n.sum()) // k + 1):
        for chosen in itertools.combinations(targets, size):
            states = {(0,) * size: 0}
            for mask, records in zip(masks, n.tolist(), strict=True):
                able = [i for i, t in enumerate(chosen) if mask & t == mask]
                lost = [(chosen[i] & ~mask).bit_count() for i in able]
                reached: dict[tuple[int, ...], int] = {}
                for dealt in _parts(records, len(able)) if able else ():
                    cost = sum(a * b for a, b in zip(dealt, lost, strict=True))
                    for state, spent in states.items():
                        filled = list(state)
                        for i, more in zip(able, dealt, strict=True):
                            filled[i] = min(k, filled[i] + more)
                        key = tuple(filled)
                        reached[key] = min(reached.get(key, 10**9), spent + cost)
                states = reached
            best = min(best, states.get((k,) * size, 10**9))
    return best


def taken_out(missing: np.ndarray, n: np.ndarray, k: int) -> int:
    """Check what `coarsen` does, and return how many values it takes out."""
    sizes: Counter[tuple[bool, ...]] = Counter()
    dealt: Counter[int] = Counter()
    cost = 0
    for source, lacking, records in coarsen(missing, n, k):
        assert (lacking >= missing[source]).all(), "a missing value would be filled in"
        sizes[tuple(lacking.tolist())] += records
        dealt[source] += records
        cost += records * int((lacking & ~missing[source]).sum())
    assert min(sizes.values()) >= k
    assert [dealt[source] for source in range(len(n))] == n.tolist()
    return cost


@pytest.mark.parametrize("tables", [15, pytest.param(50, marks=pytest.mark.slow)])
def test_the_values_taken_out_are_nearly_the_fewest(tables: int) -> None:
    rng = np.random.default_rng(7)
    ours, best, equal = 0, 0, 0
    for _ in range(tables):
        k = int(rng.integers(2, 4))
        records = rng.random((int(rng.integers(k, 12)), 3)) < rng.choice([0.1, 0.3, 0.5])
        missing, n = np.unique(records, axis=0, return_counts=True)
        found, least = taken_out(missing, n, k), _least(missing, n, k)
        assert least <= found <= 2 * least
        ours, best, equal = ours + found, best + least, equal + (found == least)
    assert equal >= 0.9 * tables and ours <= 1.05 * best


@pytest.mark.slow
def test_many_patterns_are_coarsened_at_little_cost() -> None:
    """1 358 of 4 580 records have one of the rare patterns of 20 columns: less than two values for each."""
    rng = np.random.default_rng(0)
    missing, n = np.unique(rng.random((4580, 20)) < 0.1, axis=0, return_counts=True)
    rare = int(n[n < 3].sum())
    assert rare > 1000
    assert taken_out(missing, n, 3) < 2 * rare


# By hand


@pytest.mark.slow
def test_one_record_with_a_pattern_of_its_own_costs_two_values_of_others(workbench: Any) -> None:
    columns: dict[str, tuple[str, list[Any]]] = {
        "age": ("INTEGER", [30 + i % 7 for i in range(12)]),
        INCOME: ("DOUBLE", [None, *(1000.0 * i for i in range(11))]),
        "town": ("VARCHAR", ["a", "b"] * 6), "number": ("INTEGER", list(range(12))),
    }  # fmt: skip
    release = workbench.release("safe", made(workbench, columns), keep=["number"], seed="1")
    assert held(columns, release.columns, 3, ["age", INCOME, "town"]) == 2
    (said,) = release.report["missing"]
    assert (said["column"], said["before"], said["after"], said["taken_out"]) == (INCOME, 1, 3, 2)
    assert any("filled in no missing value and took out 2 values of 2 records" in note
               for note in release.report["notes"])  # fmt: skip


@pytest.mark.slow
def test_a_column_without_any_value_stays_so(workbench: Any) -> None:
    columns: dict[str, tuple[str, list[Any]]] = {
        "age": ("INTEGER", [30, 30, 30, 40, 40, 50]), "flag": ("BOOLEAN", [None] * 6),
        INCOME: ("DOUBLE", [None] * 6), "number": ("INTEGER", list(range(6))),
    }  # fmt: skip
    release = workbench.release("safe", made(workbench, columns), keep=["number"], seed="1")
    assert held(columns, release.columns, 3, ["age", "flag", INCOME]) == 0
    assert release.columns["flag"] == release.columns[INCOME] == [None] * 6


def test_fewer_than_k_records_are_refused_and_nothing_is_written(workbench: Any) -> None:
    db = made(workbench, {"age": ("INTEGER", [30, None]), "town": ("VARCHAR", ["a", None])})
    with pytest.raises(InputError, match="k = 3 records"):
        sqlmicro.safe("records", db=db, into="o")
    assert [name for _, name in workbench.relations(db)] == ["records"]


def test_every_stratum_has_k_records_of_every_pattern(workbench: Any) -> None:
    columns: dict[str, tuple[str, list[Any]]] = {
        "town": ("VARCHAR", ["a"] * 6 + ["b"] * 4 + [None] * 3), "age": ("INTEGER", [None, *range(9), 1, 2, 3]),
        INCOME: ("DOUBLE", [1.0] * 9 + [None] + [1.0, 2.0, 3.0]), "number": ("INTEGER", list(range(13))),
    }  # fmt: skip
    release = workbench.release(
        "mdav",
        made(workbench, columns),
        columns=["age", INCOME],
        by=["town"],
        keep=["number"],
        nulls="pattern",
        seed="1",
    )
    # In each of two towns one record lacks a value: two others of that town lose theirs. In the second no complete
    # pattern is left with one record of four, so that all four lack it.
    assert held(columns, release.columns, 3, ["town", "age", INCOME]) == 2 + 3


def test_patterns_that_take_much_are_warned_of_and_the_advice_helps(workbench: Any) -> None:
    """Records lack each pair of four columns: four have the same pattern, and k = 5 takes much."""
    pairs = list(itertools.combinations(range(4), 2))
    columns: dict[str, tuple[str, list[Any]]] = {
        name: ("INTEGER", [None if j in pairs[i % 6] else i % 5 for i in range(24)]) for j, name in enumerate("abcd")
    }
    db, taken = workbench.make(columns), []
    for nulls in ("pattern", "keep"):
        report = workbench.release("mdav", db, columns=list(columns), k=5, nulls=nulls).report
        taken.append(sum(one["taken_out"] for one in report["missing"]))
        warned = [note for note in report["notes"] if note.startswith("warning: ")]
        assert len(warned) == (nulls == "pattern")
        if warned:
            assert warned[0].startswith(f"warning: that is {taken[0] / 96:.0%} of all values")
            assert "--nulls keep" in warned[0]
    assert taken[1] < taken[0]


def test_a_method_of_single_columns_takes_k_missing_values_of_a_column_too(workbench: Any) -> None:
    columns: dict[str, tuple[str, list[Any]]] = {
        "age": ("INTEGER", [None, *range(11)]), "number": ("INTEGER", list(range(12)))
    }  # fmt: skip
    db = made(workbench, columns)
    with pytest.raises(AuditFailed):
        workbench.release("individual-ranking", db, columns=["age"], keep=["number"], nulls="keep")
    release = workbench.release("individual-ranking", db, columns=["age"], keep=["number"], nulls="pattern")
    assert held(columns, release.columns, 3, ["age"]) == 2


@pytest.mark.slow
def test_the_reported_distance_of_safe_is_to_the_original_with_all_its_values(workbench: Any) -> None:
    columns = table(np.random.default_rng(3), 80, {"age": 0.1, "town": 0.1, "flag": 0.1})
    db = made(workbench, columns)
    names = ["age", "town", "flag"]
    report = sqlmicro.safe(
        "records", db=db, columns=names, keep=["number"], accept_unique=["number"], into="o", k=5, seed="1",
        effort="fast",
    )  # fmt: skip
    assert any(one["taken_out"] for one in report["missing"])
    compared = sqlmicro.safe_distance("records", "o", db=db, columns=names, order=2)
    assert report["safe_distance"] == pytest.approx(compared["distance"], abs=1e-9)


# It is said


@pytest.mark.slow
def test_what_keep_fills_in_and_takes_out_is_said_in_the_output_and_held_by_a_gate(
    workbench: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    columns: dict[str, tuple[str, list[Any]]] = {
        "age": ("DOUBLE", [float(i) for i in range(60)]),
        INCOME: ("DOUBLE", [None if rng.random() < 0.3 else float(rng.integers(9)) for _ in range(60)]),
        "number": ("INTEGER", list(range(60))),
    }
    db = made(workbench, columns)
    release = workbench.release(
        "mdav", db, columns=["age", INCOME], importance=["age=50"], keep=["number"], nulls="keep", k=5
    )
    pairs = [
        (columns[INCOME][1][n], value)
        for n, value in zip(*(release.columns[c] for c in ("number", INCOME)), strict=True)
    ]
    filled = sum(before is None and after is not None for before, after in pairs)
    taken = sum(before is not None and after is None for before, after in pairs)
    (said,) = release.report["missing"]
    assert (said["filled_in"], said["taken_out"]) == (filled, taken) and filled > 3
    assert any(f"--nulls keep: {filled} missing values were filled in" in note for note in release.report["notes"])
    job = tmp_path / "job.toml"
    job.write_text(f"""db = {json.dumps(db)}
table = "records"
keep = ["number"]
accept_unique = ["number"]
[[step]]
do = "mdav"
columns = ["age", 'net "income"']
importance = ["age=50"]
nulls = "keep"
k = 5
[[gate]]
max_missing_change = 0.01
[[step]]
do = "publish"
into = "gated"
alone_because = "a test"
""")
    with pytest.raises(AuditFailed, match="missing-rate"):
        sqlmicro.run(str(job))
    job.write_text(job.read_text().replace('"keep"\nk', '"pattern"\nk'))
    assert sqlmicro.run(str(job))["missing"][0]["filled_in"] == 0


def test_the_audit_measures_the_largest_change_of_a_share(workbench: Any) -> None:
    db = workbench.make({"age": ("INTEGER", [1, None, 3, None]), INCOME: ("DOUBLE", [1.0, 2.0, 3.0, 4.0])})
    with duckdb.connect(db) as connection:
        connection.execute('CREATE TABLE o AS SELECT 7 AS age, NULL::DOUBLE AS "net ""income""" FROM range(2)')
    (row,) = sqlmicro.audit("o", db=db, original="records", measure="missing-rate")["audits"]
    assert row["value"] == 1.0  # of income none, then all; of age half, then none
    assert row["by_column"] == {"age": {"before": 2, "after": 0}, INCOME: {"before": 0, "after": 2}}
    assert not sqlmicro.audit("o", db=db, original="records", max_missing_change=0.5)["passed"]
    assert sqlmicro.audit("records", db=db, original="records", max_missing_change=0.0)["passed"]


@pytest.mark.slow
def test_safe_runs_on_a_table_with_missing_values_without_an_option(workbench: Any) -> None:
    columns = table(np.random.default_rng(1), 60, {"age": 0.2, INCOME: 0.2, "town": 0.2})
    db = made(workbench, {name: columns[name] for name in ("age", INCOME, "town")})
    done = run("safe", "--db", db, "--table", "records", "--effort", "fast", "--details")
    assert done.returncode == 0, done.stderr
    talk = " ".join(done.stdout.split())
    assert "missing age" in talk or "missing net" in talk or "missing town" in talk
    assert "filled in no missing value" in talk
    found = workbench.read(db, "records_anonymized")
    assert min(Counter(zip(*found.values(), strict=True)).values()) >= 3


def test_a_draft_takes_the_way_that_loses_least_and_says_so(workbench: Any) -> None:
    db = workbench.make({"age": ("INTEGER", [1, None, 3, None] * 5)})
    text = sqlmicro.init("records", db=db)["toml"]
    assert 'nulls = "pattern"' in text
    assert "This loses least" in " ".join(text.replace("# ", "").split())


@pytest.mark.slow
def test_a_report_shows_missing_values_before_and_after_but_none_of_few_records(workbench: Any) -> None:
    columns: dict[str, tuple[str, list[Any]]] = {
        "age": ("INTEGER", [None] * 10 + [5] * 20), INCOME: ("DOUBLE", [None, None] + [1.0] * 28)
    }  # fmt: skip
    db = made(workbench, columns)
    sqlmicro.safe("records", db=db, into="o", seed="1")
    found = sqlmicro.report(release="o", db=db, markdown=True)
    assert found["missing"] == [
        {"column": "age", "before": pytest.approx(1 / 3), "after": pytest.approx(1 / 3)},
        {"column": INCOME, "before": None, "after": pytest.approx(0.1)},
    ]
    assert "Missing values" in found["markdown"] and "not shown" in found["markdown"]


def test_a_table_that_is_too_small_is_not_told_about_strata(tmp_path: Path) -> None:
    """Patterns of missing values are strata that nobody named."""
    path = tmp_path / "two.csv"
    path.write_text('"net ""income""",age\n100,30\n,31\n', encoding="utf-8")
    with pytest.raises(sqlmicro.InputError, match=r"at least k = 3 records\. Got fewer\. Use a smaller --k") as refused:
        sqlmicro.safe(str(path), to=str(tmp_path / "o.csv"))
    assert "--by" not in str(refused.value)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize(("promise", "expected"), [("record", [["a", "b", "c"]]), ("column", [["a"], ["b"]])])
def test_patterns_are_those_of_a_record_or_of_each_column(
    monkeypatch: pytest.MonkeyPatch, promise: str, expected: list[list[str]]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(policy, "_by_pattern", lambda *given: asked.extend(given[3]))
    planned = SimpleNamespace(nulls="pattern", method=SimpleNamespace(promise=promise))
    run = SimpleNamespace(around=Around())
    policy.patterned(run, planned, None, ["a", "b", "c"], [], ["a", "b"])  # type: ignore[arg-type]
    assert asked == expected
