"""Certified groupings: against the best of all groupings, and pricing against all groups."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from brute_force import all_groups, best_grouping, sse

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.group import _pricing_kernels as kernels
from sqlmicro.group import keeping
from sqlmicro.group._column_generation import ColumnGeneration
from sqlmicro.group._growing_kernels import grow_groups
from sqlmicro.group._partitioning import Triples
from sqlmicro.group.certify import MOST_RECORDS, Certificate, annealed, certify
from sqlmicro.group.mdav import mdav
from sqlmicro.group.microaggregate import microaggregate
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import find, silent

NOTHING = 1e-12


def _tiny(rng: np.random.Generator, kind: str, most: int = 9) -> tuple[np.ndarray, int]:
    """Return a few records of 1 to 3 columns, without ties, with ties, or with duplicates; and k."""
    k = int(rng.integers(2, 5))
    n, p = int(rng.integers(k, most + 1)), int(rng.integers(1, 4))
    if kind == "ties":
        return rng.integers(0, 4, (n, p)).astype(float), k
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3)
    return (X[rng.integers(0, max(1, n // 3), n)] if kind == "duplicates" else X), k


def _one_group(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X), dtype=np.int64)


def _certify(X: np.ndarray, k: int, **options: Any) -> Certificate:
    found = certify(X, _one_group(X), k, np.random.default_rng(0), silent, **options)
    sizes = np.bincount(found.labels)
    assert len(found.labels) == len(X)
    assert sizes.min() >= k
    assert found.sse == pytest.approx(sse(X, found.labels), rel=1e-9, abs=1e-9)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no ties", "ties", "duplicates"])
@pytest.mark.parametrize("seed", range(4))
def test_tiny_sets_get_the_optimum_and_a_bound_not_above_it(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(9):
        X, k = _tiny(rng, kind)
        optimum, _ = best_grouping(X, k)
        found = _certify(X, k)
        assert found.sse == pytest.approx(optimum, rel=1e-9, abs=1e-9)
        assert found.lower_bound is not None
        assert found.lower_bound <= optimum * (1 + NOTHING) + NOTHING
        _assert_note_is_right(found)


def _assert_note_is_right(found: Certificate) -> None:
    """What the note says must hold for the SSE and the bound beside it, and not be far too weak."""
    assert found.lower_bound is not None
    gap = found.sse - found.lower_bound
    if "at most" not in found.note:
        assert found.note.startswith("The loss is the least possible")
        assert gap <= 3e-6 * found.sse + NOTHING
        return
    percent = float(re.search(r"at most ([0-9.]+) %", found.note)[1])  # type: ignore[index]
    real = 100 * gap / found.lower_bound
    assert real * (1 - 1e-9) <= percent <= 1.1 * real


@pytest.mark.parametrize("kind", ["no ties", "ties", "duplicates"])
def test_the_bound_of_any_prices_is_below_the_optimum(kind: str) -> None:
    """Prices far from the best, groups that are searched but in part: the bound must hold for all of them."""
    rng = np.random.default_rng(7)
    cut = 0
    for trial in range(150):
        X, k = _tiny(rng, kind, 8)
        X /= np.abs(X).max() or 1.0
        _, labels = best_grouping(X, k)
        search = ColumnGeneration(X, labels, k, rng, silent, np.inf)
        prices = rng.normal(0.5, 2.0, len(X)) * search.sse / len(X)
        whole, _, _ = search.price(prices, search.threshold, 4)
        assert whole is not None
        assert whole <= search.sse * (1 + NOTHING) + NOTHING
        part, _, _ = search.price(prices, search.threshold, 1 + trial % 4, anchor_work=trial % 12)
        assert part is not None
        assert part <= whole + NOTHING * (1 + abs(whole)), "a search that is cut short cannot know more"
        cut += part < whole
        little, _, _ = search.price(prices, search.threshold, 4, round_work=trial % 50)
        assert little <= whole + NOTHING * (1 + abs(whole))
        cut += little < whole
    assert cut > 20, "some searches were cut short"


def _excess(X: np.ndarray, prices: np.ndarray, triples: Triples, fines: np.ndarray, group: tuple[int, ...]) -> float:
    """Return the prices of a group less its SSE and the fines of the triples of which it holds two or three."""
    members = list(group)
    fined = sum(fines[t] for t, triple in enumerate(triples.members) if len(set(triple) & set(group)) >= 2)
    return float(prices[members].sum()) - sse(X[members], np.zeros(len(members))) - fined


@pytest.mark.parametrize("fined", [False, True])
@pytest.mark.parametrize("kind", ["no ties", "ties", "duplicates"])
def test_exact_pricing_finds_the_best_group_of_every_record(kind: str, fined: bool) -> None:
    rng = np.random.default_rng(11)
    partial_searches = 0
    for _ in range(20):
        X, k = _tiny(rng, kind, 10)
        X /= X.std() or 1
        n, largest = len(X), min(2 * k - 1, len(X))
        prices, order, triples = rng.normal(0.3, 0.5, n), rng.permutation(n), Triples()
        if fined:
            triples.add({tuple(sorted(rng.permutation(n)[:3].tolist())) for _ in range(8)} if n > 2 else set())
        fines = np.maximum(rng.normal(0.1, 0.3, len(triples.members)), 0.0)
        nearest = np.empty((n, max(1, largest - 1)))
        kernels.nearest_sums(X, 0, n, nearest)
        bounds, levels, keep = np.empty(n), kernels.make_levels(largest, n), int(rng.integers(1, 5))
        entries = kernels.Triples(*triples.arrays(n, fines))
        members, sizes = np.empty((keep * n, largest), np.int64), np.empty(keep * n, np.int64)
        found, position, _, partial = kernels.price_groups(
            X, prices, nearest, entries, order, 0, k, 1e-9, 10**9, 10**9, levels, bounds, members, sizes, keep
        )
        assert position == n
        expected, rank = np.full(n, 1e-9), np.argsort(order)
        for group in all_groups(n, k, largest):
            first = rank[list(group)].min()
            expected[first] = max(expected[first], _excess(X, prices, triples, fines, group))
        np.testing.assert_allclose(bounds, expected, atol=1e-9)
        rows = zip(members[:found].tolist(), sizes[:found].tolist(), strict=True)
        groups = [tuple(sorted(row[:size])) for row, size in rows]
        assert len(set(groups)) == len(groups)
        for group in groups:
            assert k <= len(set(group)) == len(group) <= largest
            assert _excess(X, prices, triples, fines, group) > 0
        assert partial == sum(np.bincount(members[:found, 0], minlength=n) == keep)
        partial_searches += partial
    assert partial_searches > 0


def test_triples_that_two_halves_use_more_than_once_are_found() -> None:
    halves = [(0, 1, 3), (0, 2, 4), (1, 2, 5), (3, 4, 5)]
    triples = Triples()
    found = triples.violated(halves, [0.5, 0.5, 0.5, 0.5])
    assert (0, 1, 2) in found, "three groups hold two of its records, each by half"
    for a, b, c in found:
        assert sum(0.5 for group in halves if len({a, b, c} & set(group)) >= 2) > 1
    triples.add(found)
    assert triples.of((0, 1, 7)) == [t for t, triple in enumerate(found) if {0, 1} <= set(triple)]
    assert triples.violated(halves, [0.5, 0.5, 0.5, 0.5]) == []
    assert Triples().violated([(0, 1, 2), (3, 4, 5)], [1.0, 1.0]) == []


def test_enriched_columns_hold_every_group_that_may_be_in_a_better_grouping() -> None:
    rng = np.random.default_rng(15)
    held = 0
    for _ in range(30):
        X, k = _tiny(rng, "no ties", 8)
        search = ColumnGeneration(X, _one_group(X), k, rng, silent, np.inf)
        if len(X) < 2 * k:
            continue
        prices = search.prices * rng.uniform(0.2, 0.6, len(X))
        lower, _, _ = search.price(prices, search.threshold, 4)
        assert lower is not None
        search.centre, search.of_centre = prices, lower
        assert search.enrich()
        assert search.enumerated
        no_triples = Triples()
        for group in all_groups(len(X), k, search.largest):
            if _excess(search.X, prices, no_triples, np.empty(0), group) > lower - search.sse:
                assert group in search.columns.position
                held += 1
    assert held > 100


def test_sums_of_the_smallest_distances() -> None:
    X = np.random.default_rng(3).normal(size=(20, 3))
    distances = np.sort(((X[:, None] - X[None]) ** 2).sum(axis=2), axis=1)
    sums = np.empty((20, 5))
    kernels.nearest_sums(X, 0, 20, sums)
    np.testing.assert_allclose(sums, np.cumsum(distances, axis=1)[:, :5], atol=1e-12)


def test_grown_groups_are_worth_adding_and_found_where_they_are_plain() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.3], [9.4]])
    prices = np.full(8, 0.1)
    members, sizes = np.empty((8, 3), np.int64), np.empty(8, np.int64)
    found = grow_groups(X, prices, X, 2, 1e-9, 20, members, sizes)
    rows = zip(members[:found].tolist(), sizes[:found].tolist(), strict=True)
    groups = {tuple(sorted(row[:size])) for row, size in rows}
    assert groups >= {(0, 1, 2), (3, 4), (5, 6, 7)}, "(6, 7), from the centre 9.4, cannot grow"
    assert grow_groups(X, np.full(8, 1e-4), X, 2, 1e-9, 20, members, sizes) == 0


SIGNALS = """
import signal, sys
import numpy as np
from sqlmicro.group._column_generation import ColumnGeneration
from sqlmicro.group.mdav import mdav
from sqlmicro.registry import silent

class Stopped(Exception):
    pass

def stop(number, frame):
    raise Stopped

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
search = ColumnGeneration(X, mdav(X, rng, silent, k=3), 3, rng, silent, np.inf)
prices = search.prices
calls = (lambda: search.price(prices, search.threshold, 4), lambda: search._grow(prices))
for call in calls:
    call()
signal.signal(signal.SIGALRM, stop)
stopped = 0
for number in range(400):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4 + number % 50 * 1e-4)
        calls[number % 2]()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stopped:
        stopped += 1
print(stopped)
"""


def test_a_signal_amid_a_loop_is_neither_lost_nor_the_end_of_python() -> None:
    """numba calls Python to return an array: what a signal raises there comes as a SystemError, or ends the process."""
    done = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


def test_the_pool_is_used_and_asked_again_with_the_better_grouping() -> None:
    X = np.random.default_rng(40).normal(size=(12, 2))  # of those that one round does not prove
    optimum, labels = best_grouping(X, 3)
    asked: list[float] = []

    def pool(best: np.ndarray, rounded: Callable[[], np.ndarray] | None) -> Iterator[np.ndarray]:
        assert (rounded is None) == (not asked), "there is a solution to round from the second time on"
        asked.append(sse(X, best))
        for found in (labels, *(rounded() for _ in range(3) if rounded)):
            assert np.bincount(found).min() >= 3
            yield found

    assert _certify(X, 3, pool=pool).sse == pytest.approx(optimum)
    assert len(asked) > 1
    assert asked[0] > asked[-1] == pytest.approx(optimum)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_solutions_are_rounded_to_groupings_whatever_is_left(share: float) -> None:
    rng = np.random.default_rng(21)
    for n in (7, 30, 31, 32):
        X = rng.normal(size=(n, 2))
        search = ColumnGeneration(X, mdav(X, rng, silent, k=3), 3, rng, silent, np.inf)
        search.columns.add(rng.permutation(n)[: 3 + trial % 3].tolist() for trial in range(60))
        search.used = rng.random(len(search.columns.groups)) * (rng.random(len(search.columns.groups)) < share)
        found = [search.rounded() for _ in range(5)]
        for labels in found:
            sizes = np.bincount(labels)
            assert 3 <= sizes.min() <= sizes.max() <= 5
        assert share == 0 or n < 10 or len({tuple(labels) for labels in found}) > 1, "each time another"
    search.used = np.zeros(len(search.columns.groups))
    search.used[search.best] = 1.0
    assert sse(X, search.rounded()) == pytest.approx(search.sse * search.unit), "a whole solution is itself"


def test_a_bound_that_is_known_is_given_and_none_where_there_was_no_time() -> None:
    X = np.random.default_rng(6).normal(size=(30, 2))
    labels = mdav(X, np.random.default_rng(0), silent, k=3)
    found = certify(X, labels, 3, np.random.default_rng(0), silent, time_limit=0.0)
    assert found.lower_bound is None
    assert found.note == "No bound on the least loss is known: exact pricing did not finish"
    assert found.sse == pytest.approx(sse(X, labels))
    found = certify(X, labels, 3, np.random.default_rng(0), silent, least=1.5, time_limit=0.0)
    assert found.lower_bound == pytest.approx(1.5)
    _assert_note_is_right(found)
    better = certify(X, labels, 3, np.random.default_rng(0), silent, least=1e-3)
    assert better.lower_bound is not None and better.lower_bound > 0.9 * better.sse


@pytest.mark.parametrize("time_limit", [0.0, None])
def test_certify_always_says_a_bound(time_limit: float | None) -> None:
    X = np.random.default_rng(12).normal(size=(12, 2))
    found = microaggregate(
        X, np.random.default_rng(0), silent, k=3, quality="best", certify=True, time_limit=time_limit
    )
    optimum, _ = best_grouping(X, 3)
    assert found.notes[0].startswith("The loss is at most" if time_limit == 0 else "The loss is the least possible")
    assert found.least is not None and 0.2 * optimum < found.least <= optimum * (1 + NOTHING)


def test_a_grouping_may_have_more_groups_than_the_milp_may_have_columns() -> None:
    X = np.random.default_rng(17).normal(size=(40, 2))
    start = mdav(X, np.random.default_rng(0), silent, k=3)
    search = ColumnGeneration(X, start, 3, np.random.default_rng(0), silent, np.inf)
    search.improve(lambda labels, rounded: (), most=(4,))
    found = search.labels()
    assert np.bincount(found).min() >= 3
    assert sse(X, found) <= sse(X, start) * (1 + NOTHING)


def test_same_seed_same_labels_and_records_untouched() -> None:
    X = np.random.default_rng(8).normal(size=(60, 3))
    before = X.copy()
    X.setflags(write=False)
    labels = mdav(X, np.random.default_rng(0), silent, k=3)
    first, second = (certify(X, labels, 3, np.random.default_rng(1), silent) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert (first.lower_bound, first.note) == (second.lower_bound, second.note)
    np.testing.assert_array_equal(X, before)
    assert first.labels.tolist()[0] == 0
    assert sorted(set(first.labels.tolist())) == list(range(first.labels.max() + 1))


def test_records_that_are_all_alike_lose_nothing() -> None:
    found = _certify(np.ones((7, 2)), 3)
    assert (found.sse, found.lower_bound) == (0.0, 0.0)
    assert found.note.startswith("The loss is the least possible")


def test_an_offset_does_not_matter() -> None:
    X = np.random.default_rng(9).normal(size=(12, 2))
    optimum, _ = best_grouping(X, 3)
    found = _certify(X + 1e6, 3)
    assert found.sse == pytest.approx(optimum, rel=1e-6)
    assert found.lower_bound is not None
    assert found.lower_bound <= optimum * (1 + 1e-6)


def test_too_many_records_are_refused() -> None:
    X = np.zeros((MOST_RECORDS + 1, 1))
    with pytest.raises(InputError, match=f"at most {MOST_RECORDS} records"):
        certify(X, _one_group(X), 3, np.random.default_rng(0), silent)


def test_without_highspy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(InputError, match=re.escape("pip install 'sqlmicro[optimal]'")):
        certify(np.zeros((6, 1)), np.zeros(6, dtype=np.int64), 3, np.random.default_rng(0), silent)


def test_the_solver_prints_nothing_among_the_data() -> None:
    script = "from sqlmicro.group._partitioning import Programme; Programme(3, 9e9); print('data')"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout == "data\n"


# microaggregate, quality best


@pytest.mark.slow
def test_annealed_groupings_are_groupings_and_come_from_afar_once() -> None:
    X = np.random.default_rng(10).normal(size=(30, 2))
    pool = annealed(X, 3, np.random.default_rng(0))
    labels = mdav(X, np.random.default_rng(0), silent, k=3)
    first, second = list(pool(labels, None)), list(pool(labels, lambda: labels))
    assert len(first) > len(second) > 0
    for found in first + second:
        assert np.bincount(found).min() >= 3
    assert min(sse(X, found) for found in first) < sse(X, labels)


def test_microaggregate_certifies_its_groups() -> None:
    X = np.random.default_rng(12).normal(size=(12, 2))
    found = microaggregate(X, np.random.default_rng(0), silent, k=3, quality="best", certify=True)
    optimum, _ = best_grouping(X, 3)
    assert sse(X, found.labels) == pytest.approx(optimum)
    assert found.notes == ("The loss is the least possible, up to a millionth: it meets the lower bound",)


@pytest.mark.parametrize("shape", [(5, 2), (40, 1)])
def test_one_group_and_one_column_are_known_to_be_best(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(13).normal(size=shape)
    found = microaggregate(X, np.random.default_rng(0), silent, k=3, quality="best", certify=True)
    assert found.notes == ("The loss is the least possible",)
    assert microaggregate(X, np.random.default_rng(0), silent, k=3, quality="best").notes == ()


@pytest.mark.slow
def test_best_solves_no_more_programmes_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """CENSUS at k = 10 had hundreds of rounds, each longer than the one before, for nothing."""
    X, solved = np.random.default_rng(3).normal(size=(90, 3)), []
    solve = ColumnGeneration._solve
    monkeypatch.setattr(ColumnGeneration, "_solve", lambda search: (solved.append(search.k), solve(search))[1])
    found = []
    for most in (1000, 12):
        monkeypatch.setattr(sys.modules[certify.__module__], "_ROUNDS_OF_BEST", most)
        solved.clear()
        labels = microaggregate(X, np.random.default_rng(0), silent, k=3, quality="best").labels
        found.append((len(solved), np.bincount(labels).min()))
    assert found[0][0] > 4 and found[1][0] == 4
    assert found[0][1] >= 3 and found[1][1] >= 3


def test_without_highspy_best_anneals_alone_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setattr(sys.modules[microaggregate.__module__], "_BEST", (100, 4000, 100))
    X = np.random.default_rng(15).normal(size=(40, 2))
    found = microaggregate(X, np.random.default_rng(0), silent, k=3, quality="best")
    assert np.bincount(found.labels).min() >= 3
    assert "pip install 'sqlmicro[optimal]'" in found.notes[0]


@pytest.mark.slow
def test_best_is_repeatable_and_at_least_as_good_as_what_it_starts_from() -> None:
    X = np.random.default_rng(16).normal(size=(14, 2))
    first, again = (microaggregate(X, np.random.default_rng(3), silent, k=3, quality="best") for _ in range(2))
    assert (first.labels == again.labels).all()
    assert first.least is not None
    assert first.least <= sse(X, first.labels) <= sse(X, mdav(X, np.random.default_rng(0), silent, k=3))
    assert first.least > 0.9 * sse(X, first.labels), "the prices bound it, which near records alone do not"
    assert first.notes == ()


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_only_the_best_quality_is_certified(quality: Any) -> None:
    with pytest.raises(ParameterError, match="goes with quality best only"):
        microaggregate(np.zeros((9, 2)), np.random.default_rng(0), silent, k=3, quality=quality, certify=True)


def test_microaggregate_refuses_to_certify_without_highspy_before_it_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    X, told = np.random.default_rng(14).normal(size=(20, 2)), []
    with pytest.raises(InputError, match=re.escape("pip install 'sqlmicro[optimal]'")):
        microaggregate(X, np.random.default_rng(0), lambda *now: told.append(now), k=3, quality="best", certify=True)
    assert told == []


@pytest.mark.slow
def test_part_of_tarragona_is_bounded_close_to_its_loss(data_folder: Path) -> None:
    """The first 200 records of TARRAGONA, k = 3; all 834 take minutes."""
    X = standardise(np.genfromtxt(data_folder / "tarragona.csv", delimiter=",", skip_header=1)[:200])
    labels = microaggregate(X, np.random.default_rng(0), silent, k=3).labels
    found = certify(X, labels, 3, np.random.default_rng(0), silent)
    assert found.lower_bound is not None
    assert 0.97 * found.sse < found.lower_bound <= found.sse <= sse(X, labels)
    assert found.sse == pytest.approx(sse(X, found.labels))
    _assert_note_is_right(found)


def test_a_loss_is_not_proven_where_groups_keep_more_than_k() -> None:
    work = SimpleNamespace(
        demand=SimpleNamespace(more_than_k=True), records=SimpleNamespace(classes=()), where="step 1"
    )
    with pytest.raises(ParameterError, match="proves the loss of groups that only keep k"):
        keeping.keeper_of(work, find("microaggregate"), {"k": 3, "certify": True}, 3)  # type: ignore[arg-type]
