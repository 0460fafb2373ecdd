"""The direct search: valid placements, small deviations, few records moved, and the best there is on tiny files."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("numba")

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.safe_method import annealing
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import MAX_TABLES, Limits, is_nominal, make_problem, table_sets
from sqlmicro.safe_method.search import Placement, search

File = tuple[np.ndarray, np.ndarray, np.ndarray]


def _quiet(done: int, total: int) -> None:
    pass


def _file(seed: int, cells: int, q: int, p: int, values: int = 4, most: int = 6) -> File:
    """Return distinct combinations with few records each."""
    rng = np.random.default_rng(seed)
    rows = np.unique(rng.integers(0, values, (cells, max(1, q + p))), axis=0)
    rows = rows[rng.permutation(len(rows))]
    return rows[:, :q], rows[:, q : q + p] * 1.5 - 2.0, rng.integers(1, most + 1, len(rows))


def _search(file: File, k: int, seed: int = 0, **settings: object) -> Placement:
    return search(*file, k, np.random.default_rng(seed), _quiet, **settings)  # type: ignore[arg-type]


def _assert_valid(found: Placement, n: np.ndarray, k: int) -> None:
    assert found.new_n.shape == n.shape
    assert np.all((found.new_n == 0) | (found.new_n >= k))
    assert found.new_n.sum() == n.sum()
    assert np.all(found.count > 0)
    np.testing.assert_array_equal(np.bincount(found.cell, found.count, len(n)), n)
    np.testing.assert_array_equal(np.bincount(found.target, found.count, len(n)), found.new_n)
    assert len(set(zip(found.cell, found.target, strict=True))) == len(found.cell)
    # No more records move than the counts ask for.
    assert found.moved == np.maximum(0, n - found.new_n).sum()


def _deviations(codes: np.ndarray, n: np.ndarray, new_n: np.ndarray, order: int) -> list[np.ndarray]:
    """Return the deviations of every cell of every table of `order` columns, one array per table."""
    tables = []
    for columns in combinations(range(codes.shape[1]), order):
        cell = np.unique(codes[:, columns], axis=0, return_inverse=True)[1].reshape(-1)
        tables.append(np.bincount(cell, new_n - n))
    return tables


def _safe_distance(codes: np.ndarray, n: np.ndarray, new_n: np.ndarray) -> float:
    tables = [table for order in (1, 2) for table in _deviations(codes, n, new_n, order)]
    return float(np.mean([np.abs(table).sum() / (2 * n.sum()) for table in tables]))


@st.composite
def files(draw: st.DrawFn) -> tuple[File, int]:
    q = draw(st.integers(0, 4))
    p = draw(st.integers(0 if q else 1, 3))
    file = _file(draw(st.integers(0, 10**6)), draw(st.integers(1, 40)), q, p, most=draw(st.sampled_from([1, 2, 6, 40])))
    return file, draw(st.integers(2, 12))


@pytest.mark.slow
@given(files(), st.integers(0, 2**32), st.sampled_from([None, 0, 1, 5]))
@example((_file(0, 1, 1, 0), 2), 0, None)
def test_every_combination_occurs_k_times_or_not_at_all(given: tuple[File, int], seed: int, shift: int | None) -> None:
    file, k = given
    before = [array.copy() for array in file]
    if file[2].sum() < k:
        with pytest.raises(InputError, match=f"at least k = {k} records"):
            _search(file, k, seed)
        return
    found = _search(file, k, seed, max_shift=shift, effort="fast")
    _assert_valid(found, file[2], k)
    again = _search(file, k, seed, max_shift=shift, effort="fast")
    for name in ("new_n", "cell", "target", "count", "objective", "proposals", "stopped"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))
    for array, copy in zip(file, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def _best(codes: np.ndarray, n: np.ndarray, k: int) -> float:
    """Return the least SAFE distance over all placements."""
    records = int(n.sum())
    counts = [0, *range(k, records + 1)]
    placements = (np.array(c) for c in product(counts, repeat=len(n)) if sum(c) == records)
    return min(_safe_distance(codes, n, placed) for placed in placements)


@pytest.mark.slow
def test_no_placement_of_a_tiny_file_is_better_by_much() -> None:
    """All placements of files of up to 8 records and two columns: the mean gap is small, and never negative."""
    gaps = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 3, (int(rng.integers(3, 9)), 2))
        codes, n = np.unique(rows, axis=0, return_counts=True)
        k = int(rng.integers(2, 4))
        if n.sum() >= k:
            found = _search((codes, np.zeros((len(n), 0)), n), k, seed)
            gaps.append(_safe_distance(codes, n, found.new_n) - _best(codes, n, k))
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) < 0.02
    assert np.median(gaps) < 1e-12


def test_large_combinations_stay_as_they_are() -> None:
    file = _file(1, 50, 3, 1)
    n = file[2] + 5
    found = _search((file[0], file[1], n), 5)
    np.testing.assert_array_equal(found.new_n, n)
    np.testing.assert_array_equal(found.cell, found.target)
    assert found.objective == 0
    assert not found.stopped


@pytest.mark.slow
def test_the_shift_of_large_combinations_is_kept_to() -> None:
    file = _file(2, 400, 4, 0, values=6, most=9)
    for shift in (0, 1, 3):
        new_n = _search(file, 3, max_shift=shift, effort="fast").new_n
        large = file[2] >= 3
        # One record or two beyond it may be needed to keep the number of records.
        assert np.sum(np.abs(new_n - file[2])[large] > shift) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5])
def test_tables_keep_their_counts(k: int) -> None:
    codes, numbers, n = _file(3, 800, 4, 1, values=6, most=5)
    found = _search((codes, numbers, n), k, effort="fast")
    assert np.abs(np.concatenate(_deviations(codes, n, found.new_n, 1))).max() <= k
    assert np.abs(np.concatenate(_deviations(codes, n, found.new_n, 2))).max() <= 2 * k
    assert abs(found.new_n @ numbers[:, 0] / (n @ numbers[:, 0]) - 1) < 0.002


def test_records_move_to_near_combinations() -> None:
    codes, numbers, n = _file(4, 800, 4, 1, values=6, most=5)
    found = _search((codes, numbers, n), 3, effort="fast")
    rows = np.hstack([codes, numbers])
    moved = found.cell != found.target
    changed = (rows[found.cell] != rows[found.target]).sum(axis=1)[moved]
    assert np.average(changed, weights=found.count[moved]) < 1.6


@pytest.mark.slow
def test_other_keys_find_other_placements_and_restarts_keep_the_best() -> None:
    file = _file(5, 300, 3, 1, values=7)
    single = [_search(file, 4, seed, effort="fast") for seed in range(2)]
    assert not np.array_equal(single[0].new_n, single[1].new_n)
    repeated = _search(file, 4, 0, effort="fast", restarts=3)
    _assert_valid(repeated, file[2], 4)
    assert repeated.objective <= single[0].objective
    assert repeated.proposals == 3 * single[0].proposals


@pytest.mark.slow
def test_progress_runs_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    file = _file(6, 200, 3, 0, values=8)
    found = search(*file, 3, np.random.default_rng(0), lambda *done: seen.append(done), restarts=2)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (found.proposals, found.proposals)


@pytest.mark.slow
def test_a_time_limit_returns_a_valid_placement() -> None:
    file = _file(7, 1500, 4, 1, values=6)
    whole = _search(file, 3, effort="fast")
    limited = _search(file, 3, time_limit=0.0, restarts=3)
    _assert_valid(limited, file[2], 3)
    assert limited.stopped
    assert 0 < limited.proposals < whole.proposals
    assert not whole.stopped


@pytest.mark.parametrize(("q", "p"), [(20, 0), (0, 10), (20, 10), (1, 0), (0, 1)])
def test_any_number_of_columns(q: int, p: int) -> None:
    file = _file(8, 300, q, p, values=3 if q + p > 1 else 250, most=3)
    found = _search(file, 3, effort="fast", time_limit=0.5)
    _assert_valid(found, file[2], 3)


def test_tables_are_capped_and_no_column_meets_its_own_bands() -> None:
    codes, _, n = _file(9, 2000, 12, 0, values=3, most=4)
    numbers = np.repeat(np.random.default_rng(0).integers(0, 60, (len(n), 1)), 3, axis=1).astype(float)
    columns = Coordinates.of(codes, numbers, n, 3)
    sets = table_sets(columns)
    assert len(columns.coordinates) == 12 + 6
    assert len(sets) == MAX_TABLES
    assert [len(s) for s in sets] == sorted(len(s) for s in sets)
    assert all(len({columns.coordinates[c][0] for c in s}) == len(s) for s in sets)
    single = [s for s in sets if len(s) == 1]
    assert len(single) == 18


def test_continuous_values_take_part_by_bands_and_missing_ones_as_a_value() -> None:
    rng = np.random.default_rng(10)
    codes, numbers = rng.integers(0, 4, (500, 2)), rng.normal(2000, 3, (500, 1))
    numbers[::50] = np.nan
    n = np.ones(500, dtype=np.int64)
    columns = Coordinates.of(codes, numbers, n, 3)
    assert [int(column.max()) + 1 for _, nominal, column in columns.coordinates if not nominal] == [20]
    _assert_valid(_search((codes, numbers, n), 3, effort="fast"), n, 3)


def test_what_cannot_be_searched_is_refused() -> None:
    codes, numbers, n = _file(11, 20, 2, 1)
    for change, error, text in (
        ({"k": 1}, ParameterError, "k: must be at least 2"),
        ({"k": int(n.sum()) + 1}, InputError, "at least k"),
        ({"max_shift": -1}, ParameterError, "max_shift"),
        ({"restarts": 0}, ParameterError, "restarts"),
        ({"n": n[:-1]}, InputError, "one row per combination"),
        ({"n": np.where(np.arange(len(n)) == 0, 0, n)}, InputError, "must occur"),
        ({"codes": codes[:, :0], "numbers": numbers[:, :0]}, InputError, "a nominal or a numeric column"),
        ({"codes": codes[:0], "numbers": numbers[:0], "n": n[:0]}, InputError, "at least k"),
    ):
        arguments = {"codes": codes, "numbers": numbers, "n": n, "k": 3} | change
        with pytest.raises(error, match=text):
            search(**arguments, rng=np.random.default_rng(0), tick=_quiet)


_PLAIN = """
import numpy as np
from sqlmicro.safe_method import _search_kernels, annealing, search
assert not hasattr(_search_kernels.anneal, "py_func")
annealing._LEAST_PROPOSALS, annealing._PROPOSALS_PER_COMBINATION = 300, {"full": 0}
codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]])
n = np.array([4, 1, 2, 5, 1])
found = search.search(codes, codes[:, :1] * 2.0, n, 3, np.random.default_rng(0), lambda *_: None)
assert found.new_n.sum() == 13 and all(c == 0 or c >= 3 for c in found.new_n), found
"""


def test_runs_without_compilation_and_is_imported_without_numpy() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-W", "error", "-c", _PLAIN], check=True, env=environment)
    light = "import sys, sqlmicro.safe_method.search; assert not {'numpy', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", light], check=True, env=environment)


def _by_order(file: File, new_n: np.ndarray) -> list[int]:
    """Return the largest deviation in the tables of one, two and three columns."""
    return [max(np.abs(table).max() for table in _deviations(file[0], file[2], new_n, order)) for order in (1, 2, 3)]


@pytest.mark.slow
def test_no_cell_deviates_by_more_than_its_limit_where_that_is_possible() -> None:
    """With a price that does not rise, single cells stay above it; the limits are 0.6, 0.8 and 1 x k, rounded up."""
    file = _file(12, 600, 4, 0, values=6, most=8)
    fixed = Objective(limits=(9.0, 9.0, 9.0), value_limits=(9.0, 9.0, 9.0))
    without = [_by_order(file, _search(file, 5, seed, effort="fast", objective=fixed).new_n) for seed in (0, 2)]
    limited = [_by_order(file, _search(file, 5, seed, effort="fast").new_n) for seed in (0, 2)]
    assert min(above[2] for above in without) > 5
    assert all(one <= 3 and two <= 4 and three <= 5 for one, two, three in limited)


def test_limits_are_told_apart_table_by_table() -> None:
    none = np.zeros(0, dtype=np.int64)
    limits = Limits(np.array([1.0, 2.0, 0.0]), np.array([0, 2, 5]), none, 0)
    assert limits.exceeded(np.array([-1, 1, 0, -3, 2, 0])).tolist() == [False, True, False]
    assert limits.exceeded(np.array([0, -2, 2, 2, -2, 1])).tolist() == [True, False, True]
    assert limits.beyond(np.array([-1, 1.5, 0, -3, 2, -4])) == 5.5
    nothing = Limits(np.zeros(0), none, none, 0)
    assert nothing.exceeded(np.zeros(0)).shape == (0,)
    assert nothing.beyond(np.zeros(0)) == 0


def test_limits_are_shares_of_k_rounded_up_and_prices_are_put_back() -> None:
    codes, numbers, n = _file(13, 200, 3, 1, values=6, most=3)
    columns = Coordinates.of(codes, numbers, n, 2)
    problem, table_of_cell, limits = make_problem(columns, n, np.ones(len(n)), 5, 3, Objective())
    order_and_kind = {(len(s), is_nominal(columns, s)): limit for s, limit in zip(
        table_sets(columns), limits.limit, strict=True)}  # fmt: skip
    assert order_and_kind == {(1, True): 3, (2, True): 4, (3, True): 5, (1, False): 5, (2, False): 8, (3, False): 12}
    np.testing.assert_array_equal(table_of_cell[limits.first], np.arange(len(limits.first)))
    before = problem.steep.copy()
    schedule = annealing.Schedule(20_000, 5, Objective(), 0, 1, 0.0, None)
    rng = np.random.default_rng(0)
    state = annealing.rounded_start(problem, columns, table_of_cell, rng)
    annealing.anneal(problem, state, replace(limits, limit=limits.limit * 0), schedule, rng, _quiet)
    np.testing.assert_array_equal(problem.steep, before)


def test_only_the_whole_file_has_slack_and_only_columns_of_few_values_have_their_own_moments() -> None:
    rng = np.random.default_rng(3)
    codes, few, many = rng.integers(0, 3, (300, 1)), rng.integers(0, 20, 300), rng.integers(0, 21, 300)
    n = rng.integers(1, 40, 300)
    columns = Coordinates.of(codes, np.stack([few, many], axis=1).astype(float), n, 3)
    plain, _, _ = make_problem(columns, n, np.ones(300), 3, 2, Objective())
    problem, _, limits = make_problem(columns, n, np.ones(300), 3, 2, Objective(slack=0.01, few_values_weight=4.0))
    # Of two columns: two squares and a product.
    assert problem.amount_cell.shape[1] == plain.amount_cell.shape[1] + 3
    for cell, weight in zip(problem.amount_cell.T[-3:], problem.amount_weight[-3:], strict=True):
        assert len(np.unique(np.stack([few, cell]), axis=1).T) == 20
        assert weight == 4
    # Both sums of the whole file, the squares and the product.
    assert len(limits.whole) == 5 and not problem.amount_cell[:, limits.whole].any()
    slack = problem.amount_slack.copy()
    assert slack[limits.whole] == pytest.approx(0.01 * n.sum())
    slack[limits.whole] = 0
    assert not slack.any() and not plain.amount_slack.any()


def test_memory_follows_the_combinations_that_occur() -> None:
    """Twelve columns with 50 values: their tables of three columns alone would have 27 million cells."""
    rng = np.random.default_rng(14)
    rows = np.unique(rng.integers(0, 50, (400, 12))[rng.integers(0, 400, 3000)], axis=0)
    rows[::3, 0] = 49 - rows[::3, 0]
    rows, n = np.unique(rows, axis=0), np.full(len(rows), 2)
    columns = Coordinates.of(rows, np.zeros((len(rows), 0)), n, 3)
    problem, table_of_cell, _ = make_problem(columns, n, np.ones(len(n)), 3, 2, Objective())
    assert problem.cell.nbytes == 2 * len(rows) * MAX_TABLES
    assert len(table_of_cell) <= len(rows) * MAX_TABLES
    _assert_valid(_search((rows, np.zeros((len(rows), 0)), n), 3, effort="fast"), n, 3)


_MICROCENSUS = {
    3: ((2, 3, 4), (3, 5, 8), (0.05, 0.5), 0.01),
    5: ((3, 4, 5), (5, 8, 12), (0.1, 0.5), 0.05),
    10: ((6, 11, 13), (10, 20, 30), (0.2, 1.2), 0.1),
}

_SEARCHES: list[tuple[int, Effort, int]] = [(3, "full", 0), (5, "fast", 1), (10, "full", 0)]
if os.environ.get("WHOLE"):
    _SEARCHES += [(3, "fast", 1), (5, "full", 0), (10, "fast", 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "effort", "more"), _SEARCHES)
def test_figures_on_a_survey(k: int, effort: Effort, more: int, data_folder: Path) -> None:
    """The German microcensus 2010: the largest deviation of tables of nominal columns and of all, in percent the rest.

    The fast search may deviate by one more. tests/bench/safe_search.py prints the figures and the seconds.
    """
    nominal, every, variances, total = _MICROCENSUS[k]
    header, *_ = (data_folder / "mikrozensus2010.csv").read_text().split("\n", 1)
    names = header.replace('"', "").split(",")
    rows = np.loadtxt(data_folder / "mikrozensus2010.csv", delimiter=",", skiprows=1, dtype=np.int64)
    combination, n = np.unique(rows, axis=0, return_counts=True)
    numeric = [names.index("EF44"), names.index("EF20")]
    rest = [j for j in range(len(names)) if j not in numeric]
    found = _search((combination[:, rest], combination[:, numeric].astype(float), n), k, seed=2, effort=effort)
    _assert_valid(found, n, k)
    for columns, bounds in ((rest, nominal), (list(range(len(names))), every)):
        for order, bound in enumerate(bounds, 1):
            tables = _deviations(combination[:, columns], n, found.new_n, order)
            assert max(np.abs(table).max() for table in tables) <= bound + more
    for j, bound in zip(numeric, variances, strict=True):
        x = combination[:, j]
        before, after = (np.cov(x, fweights=count) for count in (n, found.new_n))
        assert 100 * abs(after / before - 1) <= bound
        assert 100 * abs(x @ found.new_n / (x @ n) - 1) <= total


@pytest.mark.parametrize(
    ("effort", "placed"),
    [
        ("full", "0 5 5 5 5 6 5 0 7 6 0 0 5 5 5 0 6 5 0 7 5 5 0 0 7 5 10 5 5 5 0 6 8 5 7"),
        ("fast", "0 5 5 5 0 5 5 5 7 5 0 0 5 5 5 0 6 7 0 7 5 5 5 0 8 0 9 7 5 5 0 5 8 5 6"),
    ],
)
def test_the_search_places_what_it_did_before_records_were_dealt_anew(effort: Effort, placed: str) -> None:
    """The placements are those of the search as it was before there was a dealing after it."""
    rng = np.random.default_rng(12)
    rows = np.stack([rng.integers(0, 4, 150), rng.integers(0, 3, 150), rng.integers(0, 3, 150)], axis=1)
    codes, n = np.unique(rows, axis=0, return_counts=True)
    found = search(codes, np.zeros((len(n), 0)), n, 5, np.random.default_rng(3), lambda *_: None, effort=effort)
    assert found.new_n.tolist() == [int(word) for word in placed.split()]
