"""The search in parts: valid placements, what is passed on is right, and errors of the parts do not add up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from databases import opened
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

import sqlmicro
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.safe_method import direct, in_parts
from sqlmicro.safe_method.coordinates import Coordinates, numbered
from sqlmicro.safe_method.in_parts import cut, search_in_parts
from sqlmicro.safe_method.passed_on import PassedOn

from .test_search import File, _assert_valid, _deviations, _file, _quiet, _search, files


def _in_parts(file: File, k: int, most: int, seed: int = 0, **settings: object):
    return search_in_parts(*file, k, np.random.default_rng(seed), _quiet, most=most, **settings)


@given(files(), st.integers(1, 12))
def test_every_combination_occurs_k_times_or_not_at_all(given: tuple[File, int], most: int) -> None:
    file, k = given
    if file[2].sum() < k:
        with pytest.raises(InputError, match=f"at least k = {k} records"):
            _in_parts(file, k, most)
        return
    _assert_valid(_in_parts(file, k, most), file[2], k)


def test_parts_have_k_records_each_and_all_combinations_once() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        size, k, most = (int(x) for x in rng.integers(1, 30, 3))
        n, order = rng.integers(1, 4, size), rng.permutation(size)
        parts = cut(order, n, k, most)
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(size))
        assert all(order[one].max() < order[other].min() for one, other in pairwise(parts))
        assert len(parts) == 1 or min(int(n[part].sum()) for part in parts) >= k


def test_one_part_is_the_search_of_the_file() -> None:
    file = _file(3, 200, 3, 1)
    one, whole = _in_parts(file, 3, 10**6), _search(file, 3)
    np.testing.assert_array_equal(one.new_n, whole.new_n)
    assert one.objective == whole.objective


def test_a_time_limit_ends_every_part_with_a_valid_placement() -> None:
    file = _file(3, 200, 3, 1)
    told: list[tuple[int, int]] = []
    given = {"most": 50, "time_limit": 0.0, "effort": "full"}
    found = search_in_parts(*file, 3, np.random.default_rng(0), lambda *done: told.append(done), **given)
    _assert_valid(found, file[2], 3)
    assert found.stopped and len(told) <= 4
    whole: list[tuple[int, int]] = []
    search_in_parts(*file, 3, np.random.default_rng(0), lambda *done: whole.append(done), most=50)
    assert whole[-1][0] == whole[-1][1] and whole == sorted(whole)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_passed_on_is_what_the_whole_file_deviates_by(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    """The last part knows of each of its cells what all parts together have left: counted anew, table by table."""
    codes, numbers, n = _file(5, 400, 3, 2, values=5)
    unit = np.random.default_rng(1).uniform(0.5, 2.0, len(n)) if weighted else np.ones(len(n))
    seen = []
    opened, closed, made = PassedOn.open, PassedOn.close, in_parts.make_problem

    def open_(self, columns, counts, amounts):
        seen.append([*counts, *amounts])
        return opened(self, columns, counts, amounts)

    def close(self, state):
        seen[-1] += [state.deviation.copy(), state.amount.copy()]
        closed(self, state)

    def make_problem(*args, **settings):
        problem, *rest = made(*args, **settings)
        seen[-1].append(problem.amount_value)
        return problem, *rest

    monkeypatch.setattr(PassedOn, "open", open_)
    monkeypatch.setattr(PassedOn, "close", close)
    monkeypatch.setattr(in_parts, "make_problem", make_problem)
    found = _in_parts((codes, numbers, n), 3, 90, weights=unit if weighted else None)
    assert len(seen) > 3
    sets, tables, amount_sets, amount_tables, which, deviation, amount = seen[-1]
    whole, by = Coordinates.of(codes, numbers, n, 3), (found.new_n - n) * unit
    rows = cut(numbered(whole.all), n, 3, 90)[-1]
    values = np.hstack([whole.standardised, whole.products])
    counts = [(s, tables, t, deviation, by) for t, s in enumerate(sets)]
    sums = [(s, amount_tables, t, amount, by * values[:, which[t]]) for t, s in enumerate(amount_sets)]
    assert len(counts) > 20 < len(sums)
    for s, numbers_of_part, t, left, more in counts + sums:
        cells = [tuple(int(whole.coordinates[c][2][i]) for c in s) for i in range(len(n))]
        naive = dict.fromkeys(cells, 0.0)
        for cell, change in zip(cells, more, strict=True):
            naive[cell] += change
        own = left[numbers_of_part.first[t] + numbers_of_part.cell[:, t].astype(int)]
        np.testing.assert_allclose(own, [naive[cells[i]] for i in rows], atol=2e-3)


@pytest.mark.slow
def test_errors_of_parts_do_not_add_up(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.loadtxt(data_folder / "mikrozensus2010.csv", delimiter=",", skiprows=1, dtype=np.int64)
    header = (data_folder / "mikrozensus2010.csv").read_text().splitlines()[0].replace('"', "").split(",")
    numeric = [header.index("EF44"), header.index("EF20")]
    combination, n = np.unique(rows, axis=0, return_counts=True)
    codes, numbers = np.delete(combination, numeric, axis=1), combination[:, numeric].astype(float)

    def worst() -> list[int]:
        found = _in_parts((codes, numbers, n), 3, len(n) // 7, seed=1, effort="fast")
        _assert_valid(found, n, 3)
        tables = [_deviations(codes, n, found.new_n, order) for order in (1, 2, 3)]
        return [max(int(np.abs(table).max()) for table in of_order) for of_order in tables]

    passed = worst()
    monkeypatch.setattr(PassedOn, "close", lambda self, state: None)
    alone = worst()
    print(passed, alone)
    assert passed[0] <= 2 and passed[1] <= 3 and passed[2] <= 5
    assert alone[2] > passed[2]


@pytest.mark.slow
def test_many_combinations_are_searched_in_parts_and_the_report_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    values = {f"c{j}": rng.integers(0, 5, 3_000) for j in range(5)}
    with opened(tmp_path / "w.duckdb") as db:
        db.register("v", pa.table(values))
        db.execute("CREATE TABLE t AS SELECT * FROM v")
    monkeypatch.setattr(direct, "AT_ONCE", 500)
    monkeypatch.setattr(in_parts, "AT_ONCE", 500)
    place = {"db": str(tmp_path / "w.duckdb"), "table": "t", "seed": "1", "method": "search"}
    with pytest.raises(ParameterError, match="at most 500 combinations"):
        sqlmicro.safe(**place, into="no", invented=0.5)
    release = sqlmicro.safe(**place, into="r")
    assert any("searched in parts of at most 500" in note for note in release["notes"])
    with opened(tmp_path / "w.duckdb") as db:
        least, rows = db.execute("SELECT min(n), sum(n) FROM (SELECT count(*) AS n FROM r GROUP BY ALL)").fetchone()
        assert "no" not in {name for (name,) in db.execute("SHOW TABLES").fetchall()}
    assert least >= 3 and rows == 3_000
