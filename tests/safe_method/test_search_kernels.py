"""The loops of the direct search as plain Python, on a small file: costs, proposals, annealing against definitions."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro.safe_method import mean_cells
from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.deviations import no_deviation, objective, refresh, settle
from sqlmicro.safe_method.given_away import no_denial
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import make_problem

K = 3
COMPOUND, TOGGLE, PAIR, UNIT, TRANSFER = range(5)


@pytest.fixture(scope="module")
def plain() -> Iterator[dict[str, ModuleType]]:
    """The modules of the loops, executed once more without compilation."""
    import numba

    modules = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "DISABLE_JIT", True)
        patch.setattr(mean_cells, "LEAST_RECORDS", 3)  # in so small a file, too, some means should cost
        for name in ("_cost_kernels", "_denial_kernels", "_search_kernels", "_weight_kernels"):
            spec = importlib.util.find_spec(f"sqlmicro.safe_method.{name}")
            assert spec is not None
            assert spec.loader is not None
            modules[name] = importlib.util.module_from_spec(spec)
            patch.setitem(sys.modules, spec.name, modules[name])
            spec.loader.exec_module(modules[name])
        yield modules


class Small:
    """A problem of some 30 combinations of two nominal columns and a numeric one, each table with its own prices."""

    def __init__(
        self, kernels: ModuleType, seed: int = 0, weighted: bool = False, near: int = 2, rows: int = 60
    ) -> None:
        self.rng = rng = np.random.default_rng(seed)
        cells = np.unique(rng.integers(0, 4, (rows, 3)), axis=0)
        n = rng.choice([1, 1, 2, 2, 3, 5], len(cells))
        unit = rng.integers(2, 30, len(cells)) / 8 if weighted else np.ones(len(cells))
        columns = Coordinates.of(cells[:, :2], cells[:, 2:] * 1.5, n, K)
        prices, means = (
            Objective(steep=2.0, slack=0.02, few_values_weight=1.5),
            [MeanTable(0, (0,)), MeanTable(0, (0, 1))],
        )
        problem, self.table_of_cell, _ = make_problem(columns, n, unit, K, 1, prices, means)
        own = np.random.default_rng(seed)
        problem.amount_slack[-2:] = own.uniform(0, 0.3, 2)
        problem.amount_weight[-2:] = own.uniform(0, 2, 2)
        problem.steep[:] = rng.uniform(1, 3, len(problem.steep))
        problem.weight[:] = rng.uniform(0.5, 2, len(problem.weight))
        self.problem = problem._replace(near=problem.near[:, :near].copy())
        self.kernels = kernels
        self.low, self.high = np.where(n < K, K, np.maximum(K, n - 1)), np.maximum(n, K) + 1

    def placed(self) -> np.ndarray:
        """Return an arbitrary placement: closed, k, or some more."""
        return self.rng.choice([0, 0, K, K, K + 1, K + 2], len(self.problem.n))

    def state(self, placed: np.ndarray) -> Any:
        state = no_deviation(self.problem, placed.copy(), self.table_of_cell)
        refresh(self.problem, state)
        return state

    def proposal(self, *entries: tuple[int, int]) -> Any:
        at, by = np.zeros((2, K + 2), dtype=np.int64)
        for z, entry in enumerate(entries):
            at[z], by[z] = entry
        return self.kernels.Proposal(at, by, np.array([len(entries)]))

    def penalties(self, placed: np.ndarray) -> float:
        """Return what the deviations of the tables cost, from the definition in `Objective`."""
        problem, by = self.problem, (placed - self.problem.n) * self.problem.unit.astype(float)
        d = np.abs(np.concatenate([np.bincount(cell, by) for cell in problem.cell.T]))
        t = self.table_of_cell
        above = np.maximum(0, d - problem.bound[t])
        total = float(problem.weight[t] @ (d + problem.curve * d**2 + problem.steep[t] * above**2))
        amounts = (problem.amount_cell.T, problem.amount_value, problem.amount_weight, problem.amount_slack)
        for cell, j, price, slack in zip(*amounts, strict=True):
            amount = np.bincount(cell, by * problem.value[:, j])
            total += float(price * np.maximum(0, np.abs(amount) - slack).sum())
        return total

    def objective(self, placed: np.ndarray) -> float:
        problem, by = self.problem, placed - self.problem.n
        moved = problem.record_price * np.abs(by).sum()
        return float(self.penalties(placed) + moved + problem.total_price * by.sum() ** 2)

    def admissible(self, placed: np.ndarray, i: int, by: int) -> bool:
        return bool(placed[i] > 0 and self.low[i] <= placed[i] + by <= self.high[i])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_sum_of_its_prices(plain: dict[str, ModuleType], weighted: bool) -> None:
    small = Small(plain["_search_kernels"], 1, weighted)
    for _ in range(3):
        placed = small.placed()
        state = small.state(placed)
        assert state.total[0] == placed.sum() - small.problem.n.sum()
        found = objective(small.problem, state, small.table_of_cell)
        assert found == pytest.approx(small.objective(placed), rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_change_is_made_if_the_objective_grows_by_no_more_than_is_allowed(
    plain: dict[str, ModuleType], weighted: bool
) -> None:
    small = Small(plain["_search_kernels"], 2, weighted)
    shapes = [(1,), (-K,), (K,), (-1, 1), (-K, K), (1, 1), (K, -1), (K, -1, -1), (-K, 1, 1, 1)]
    for shape in shapes * 4:
        placed = small.placed() + K
        chosen = small.rng.choice(len(placed), len(shape), replace=False)
        changed = placed.copy()
        changed[chosen] += shape
        growth = small.objective(changed) - small.objective(placed)
        proposal = small.proposal(*zip(chosen, shape, strict=True))
        margin = 1e-3 + 1e-4 * abs(growth)
        for allowance, expected in ((growth - margin, placed), (growth + margin, changed)):
            state = small.state(placed)
            assert small.kernels.carry_out(small.problem, state, proposal, allowance) == (expected is changed)
            assert state.n.tolist() == expected.tolist()
            anew = small.state(expected)
            for name in ("deviation", "amount", "total"):
                np.testing.assert_allclose(getattr(state, name), getattr(anew, name), atol=1e-4)


def _drawn(small: Small, kind: int, placed: np.ndarray, draws: int) -> list[list[tuple[int, int]]]:
    """Return the proposals of one kind that are possible."""
    rng, proposal, state, found = np.random.default_rng(3), small.proposal(), small.state(placed), []
    for _ in range(draws):
        if small.kernels.propose(small.problem, state, proposal, kind, rng):
            size = proposal.size[0]
            found.append([(int(i), int(by)) for i, by in zip(proposal.at[:size], proposal.by[:size], strict=True)])
    assert state.n.tolist() == placed.tolist()
    return found


def _share_near(small: Small, pairs: list[tuple[int, int]]) -> float:
    return float(np.mean([j in small.problem.near[i] or i in small.problem.near[j] for i, j in pairs]))


def test_single_combinations_are_opened_closed_and_given_a_record(plain: dict[str, ModuleType]) -> None:
    small = Small(plain["_search_kernels"], 4)
    placed, few = small.placed(), small.problem.n < K
    toggled = _drawn(small, TOGGLE, placed, 600)
    expected = {(i, K if placed[i] == 0 else -K) for i in np.flatnonzero(few) if placed[i] in (0, K)}
    assert {change for (change,) in toggled} == expected
    # What cannot be toggled is drawn as often, and refused.
    assert len(toggled) / 600 == pytest.approx(len(expected) / few.sum(), abs=0.1)
    units = _drawn(small, UNIT, placed, 1500)
    everywhere = range(len(placed))
    expected = {(i, by) for i in everywhere for by in (-1, 1) if small.admissible(placed, i, by)}
    assert {change for (change,) in units} == expected
    assert len(units) / 1500 == pytest.approx(len(expected) / (2 * len(placed)), abs=0.05)
    up = sum(by > 0 for _, by in expected) / len(expected)
    assert np.mean([by > 0 for ((_, by),) in units]) == pytest.approx(up, abs=0.1)


def test_pairs_close_one_and_open_another_mostly_near_one(plain: dict[str, ModuleType]) -> None:
    small = Small(plain["_search_kernels"], 5)
    placed, few = small.rng.choice([0, K], len(small.problem.n)), small.problem.n < K
    pairs = _drawn(small, PAIR, placed, 1500)
    for pair in pairs:
        (i, down), (j, up) = sorted(pair, key=lambda change: change[1])
        assert (placed[i], down, placed[j], up) == (K, -K, 0, K)
        assert few[i]
    # Every two random ones differ half of the time, in either order.
    assert 0.3 < len(pairs) / 1500 < 0.7
    assert 0.6 < _share_near(small, [(i, j) for (i, _), (j, _) in pairs]) < 0.9
    alone = Small(plain["_search_kernels"], 5, near=0)
    for (i, _), (j, _) in _drawn(alone, PAIR, placed, 200):
        assert few[[i, j]].all()


def test_transfers_keep_both_open_and_go_mostly_near(plain: dict[str, ModuleType]) -> None:
    small = Small(plain["_search_kernels"], 6)
    placed = np.where(small.rng.random(len(small.problem.n)) < 0.2, 0, small.low)
    placed += (placed > 0) * (small.rng.random(len(placed)) < 0.7) * (small.high - small.low)
    moved = _drawn(small, TRANSFER, placed, 1500)
    assert len(moved) > 100
    for (i, down), (j, up) in moved:
        assert (down, up) == (-1, 1)
        assert i != j
        assert small.admissible(placed, i, -1)
        assert small.admissible(placed, j, 1)
    assert 0.55 < _share_near(small, [(i, j) for (i, _), (j, _) in moved]) < 0.95
    alone = Small(plain["_search_kernels"], 6, near=0)
    assert _drawn(alone, TRANSFER, placed, 200)


def test_a_toggle_is_made_up_for_by_up_to_k_single_records(plain: dict[str, ModuleType]) -> None:
    small = Small(plain["_search_kernels"], 7, near=12)
    roomy = small.problem._replace(low=small.low * 0 + K, high=small.high + K)
    small.problem, small.low, small.high = roomy, roomy.low, roomy.high
    # Where all are open and have room, those that close find takers enough: as often one as two as three.
    made = _drawn(small, COMPOUND, small.problem.n * 0 + K, 800)
    sizes = [len(changes) for changes in made]
    assert len(made) == 800
    assert set(sizes) == {2, 3, 4}
    for size in (2, 3, 4):
        assert sizes.count(size) / 800 == pytest.approx(1 / 3, abs=0.06)
    placed = small.rng.choice([0, K, K + 1, K + 2], len(roomy.n))
    made = _drawn(small, COMPOUND, placed, 800)
    assert {len(changes) for changes in made} == {1, 2, 3, 4}
    followers = []
    for (lead, by), *others in made:
        assert by == (K if placed[lead] == 0 else -K)
        assert len({lead, *(j for j, _ in others)}) == 1 + len(others)
        for j, one in others:
            assert one == -np.sign(by)
            assert small.admissible(placed, j, one)
        followers += [j in roomy.near[lead] for j, _ in others]
    assert 0.8 < np.mean(followers) < 0.97
    # With room nowhere, the toggle is proposed alone.
    full = roomy._replace(low=placed, high=placed)
    small.problem = full
    assert {len(changes) for changes in _drawn(small, COMPOUND, placed, 50)} == {1}


KINDS = ["_propose_compound", TOGGLE, PAIR, UNIT, "_propose_transfer"]


# Slow cooling; and, after 256 proposals of which all are carried out, sudden cold.
@pytest.mark.parametrize(("hot", "cold"), [(40.0, 0.5), (1e9, 1e-30)])
def test_annealing_draws_the_kinds_by_their_shares_and_cools_geometrically(
    plain: dict[str, ModuleType], hot: float, cold: float
) -> None:
    small = Small(plain["_search_kernels"], 8)
    kernels, problem = small.kernels, small.problem
    shares, proposals = np.array([0.2, 0.4, 0.6, 0.8]), 600
    placed = small.placed()
    state, rng = small.state(placed), np.random.default_rng(12)
    denial = no_denial(len(problem.n))
    accepted = kernels.anneal(problem, state, denial, small.proposal(), shares, proposals, hot, cold, rng)
    by_hand, rng = small.state(placed), np.random.default_rng(12)
    carried_out = []
    for number in range(proposals):
        kind = int(np.searchsorted(shares, rng.random(), side="right"))
        proposal = small.proposal()
        if kernels.propose(problem, by_hand, proposal, kind, rng):
            # The temperature is that of the last multiple of 256.
            passed = number // 256 * 256 / proposals
            temperature = hot ** (1 - passed) * cold**passed
            if kernels.carry_out(problem, by_hand, proposal, temperature * -np.log1p(-rng.random())):
                carried_out.append(number)
    assert accepted == len(carried_out)
    assert 30 < accepted < 500
    assert state.n.tolist() == by_hand.n.tolist()


def _settled(small: Small, placed: np.ndarray) -> np.ndarray:
    """Bring the number of records back to that of the original by the definition of `settle`, step by step."""
    placed, price = placed.copy(), small.problem.record_price

    def cheapest(
        changes: list[tuple[int, int]], extra: Callable[[int, int], float], many: int
    ) -> list[tuple[int, int]]:
        before, costs = small.penalties(placed), []
        for i, by in changes:
            changed = placed.copy()
            changed[i] += by
            costs.append(small.penalties(changed) - before + extra(i, by))
        return [changes[at] for at in np.argsort(costs, kind="stable")[:many]]

    def outside(i: int, by: int) -> float:
        beyond = max(small.low[i] - placed[i] - by, placed[i] + by - small.high[i], 0)
        return float(price * beyond * (1 + beyond))

    while excess := int(placed.sum() - small.problem.n.sum()):
        by = -1 if excess > 0 else 1
        singles = [(i, by) for i in np.flatnonzero(placed) if placed[i] + by >= K]
        whole = [
            (i, int(-placed[i]) if excess > 0 else K) for i in range(len(placed)) if (placed[i] > 0) == (excess > 0)
        ]
        half = abs(excess) // 2 if abs(excess) > 32 else 1  # many are made at once, the last ones one by one
        made = cheapest(singles, outside, half) if singles else cheapest(whole, lambda i, by: 0.0, max(1, half // K))
        for i, by in made:
            placed[i] += by
    return placed


def test_the_number_of_records_is_brought_back_by_the_cheapest_changes(plain: dict[str, ModuleType]) -> None:
    for seed, weighted in ((10, False), (11, True)):
        small = Small(plain["_search_kernels"], seed, weighted, rows=16)
        some = small.placed()
        for placed in (some, some * 0, some * 0 + K, some + 2 * (some > 0)):
            state = small.state(placed)
            settle(small.problem, state)
            assert state.n.tolist() == _settled(small, placed).tolist()
            assert state.total[0] == 0
            np.testing.assert_allclose(state.deviation, small.state(state.n).deviation, atol=1e-4)


def test_exchanged_targets_bring_the_weighted_tables_nearer(plain: dict[str, ModuleType]) -> None:
    small, kernels = Small(plain["_search_kernels"], 12), plain["_weight_kernels"]
    problem, rng = small.problem, small.rng
    combinations = len(problem.n)
    source = np.repeat(np.arange(combinations), 4)
    target = np.where(rng.random(len(source)) < 0.4, rng.integers(0, combinations, len(source)), source)
    weight = rng.integers(1, 40, len(source)).astype(np.float32) / 8
    first, last = np.arange(combinations) * 4, np.arange(1, combinations + 1) * 4
    as_records = problem._replace(unit=np.ones(combinations, dtype=np.float32))

    def cost(goes: np.ndarray) -> float:
        by = np.bincount(goes, weight, combinations) - np.bincount(source, weight, combinations)
        small.problem = as_records._replace(n=np.zeros(combinations))
        return small.penalties(by)

    state = small.state(problem.n)
    state.deviation[:], state.amount[:] = 7, 7
    movers, goes, swaps = np.flatnonzero(source != target), target.copy(), 0
    kernels.weigh(problem, state, source, goes, weight)
    for _ in range(40):
        before, now = goes.copy(), cost(goes)
        swapped = kernels.exchange(problem, state, source, goes, weight, movers, first, last, 10, rng)
        swaps += swapped
        # Each swap changes two records, some more than once.
        changed = int((goes != before).sum())
        assert (changed > 0) == (swapped > 0)
        assert changed <= 2 * swapped
        assert cost(goes) <= now
        assert sorted(movers) == np.flatnonzero(source != goes).tolist()
        # Within a combination the same targets are taken.
        assert (np.sort(goes.reshape(-1, 4)) == np.sort(target.reshape(-1, 4))).all()
    assert swaps > 20
    assert cost(goes) < 0.8 * cost(target)
    anew = small.state(problem.n)
    kernels.weigh(problem, anew, source, goes, weight)
    by = np.bincount(goes, weight, combinations) - np.bincount(source, weight, combinations)
    expected = np.concatenate([np.bincount(cell, by) for cell in problem.cell.T])
    for found in (state, anew):
        np.testing.assert_allclose(found.deviation, expected, atol=1e-3)
    np.testing.assert_allclose(state.amount, anew.amount, atol=1e-3)
