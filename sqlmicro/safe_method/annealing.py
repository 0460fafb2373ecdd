"""SAFE, the direct search: from a systematic rounding, by simulated annealing, to the placement that is taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method import deniable
from sqlmicro.safe_method.coordinates import Coordinates, numbered
from sqlmicro.safe_method.problem import Limits, Objective

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem, State
    from sqlmicro.safe_method._denial_kernels import Denial
    from sqlmicro.safe_method._search_kernels import Proposal

Effort = Literal["fast", "full"]

_CHUNK = 100_000
_CHUNKS = 64
# Proposals per combination, and at most, for the 121 tables and 44 sums of 6 nominal and 2 numeric columns.
_PROPOSALS_PER_COMBINATION: dict[Effort, int] = {"fast": 400, "full": 2_000}
_PROPOSALS: dict[Effort, int] = {"fast": 1_300_000, "full": 6_500_000}
_TERMS_OF_PROPOSALS = 165
# Above so many bytes of cell numbers a proposal takes twice as long.
_CACHE = 16_000_000
_LEAST_PROPOSALS = 5_000
# Cumulated shares of compound moves, toggles, pairs of toggles, single records; the rest are transfers of a record.
_SHARES = (0.2, 0.4, 0.6, 0.76)
# After that share of the proposals; by what the price of large deviations is multiplied, and at most in all.
_REPRICED_FROM = 0.3
_DEARER, _CHEAPER, _DEAREST = 1.2, 0.95, 50.0
# If a cell is above its limit at the end: so many chunks more, from the temperature after that share of the proposals.
_REPAIRS, _REPAIRED_FROM = 8, 0.95


def proposals_for(problem: Problem, effort: Effort) -> int:
    """Return how many proposals are made: in proportion to the combinations, but no more than fit into the time."""
    terms = problem.cell.shape[1] + problem.sum_cell.shape[1] * problem.x.shape[1]
    most = _PROPOSALS[effort] * min(2.0, _TERMS_OF_PROPOSALS / max(1, terms))
    if problem.cell.nbytes > _CACHE:
        most /= 2
    return int(min(most, max(_LEAST_PROPOSALS, _PROPOSALS_PER_COMBINATION[effort] * len(problem.n))))


def rounded_start(problem: Problem, columns: Coordinates, table_of_cell: np.ndarray, rng: np.random.Generator) -> State:
    """Round systematically: along the combinations below k, open one whenever k more records were passed."""
    import numpy as np

    order = np.argsort(numbered(columns.all), kind="stable")
    order = order[problem.n[order] < problem.k]
    passed = (np.cumsum(problem.n[order]) + rng.integers(problem.k)) // problem.k
    placed = problem.n.copy()
    placed[order] = np.where(np.diff(passed, prepend=0) > 0, problem.k, 0)
    return placed_as(problem, placed, table_of_cell)


def placed_as(problem: Problem, placed: np.ndarray, table_of_cell: np.ndarray) -> State:
    """Return the state of a placement."""
    refresh = late("sqlmicro.safe_method._cost_kernels", "refresh")
    state = no_deviation(problem, placed, table_of_cell)
    refresh(problem, state)
    return state


def no_deviation(problem: Problem, placed: np.ndarray, table_of_cell: np.ndarray) -> State:
    """Return a placement whose deviations are still to be computed."""
    import numpy as np

    state: State = late("sqlmicro.safe_method._cost_kernels", "State")(
        n=placed,
        deviation=np.zeros(len(table_of_cell), dtype=np.float32),
        sums=_zeros(problem.sum_cell, problem.x),
        moments=_zeros(problem.moment_cell, problem.xx),
        total=np.zeros(1, dtype=np.int64),
    )
    return state


def _zeros(cell: np.ndarray, x: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.zeros((x.shape[1], int(cell.max(initial=0)) + 1), dtype=np.float32)


@dataclass(frozen=True)
class Schedule:
    """How many proposals one of the restarts makes, at which temperatures, and when it has to end."""

    proposals: int
    k: int
    prices: Objective
    restart: int
    restarts: int
    started: float
    time_limit: float | None

    def temperature(self, done: int) -> float:
        """Return the temperature after so many proposals; it falls geometrically."""
        hot, cold = self.prices.hot, self.prices.cold
        return self.k**2 * hot * math.pow(cold / hot, done / self.proposals)

    def share_of_whole(self, temperature: float) -> float:
        """Return by what the prices of the sums of the whole file are multiplied."""
        # Low while it is hot: else rare extreme values freeze before the rest can make up for them.
        return self.temperature(self.proposals) / temperature

    def is_over(self) -> bool:
        """Tell whether the time limit is reached."""
        return self.time_limit is not None and time.monotonic() - self.started >= self.time_limit


def anneal(
    problem: Problem,
    state: State,
    limits: Limits,
    schedule: Schedule,
    rng: np.random.Generator,
    tick: Tick,
    denial: Denial | None = None,
) -> tuple[int, bool]:
    """Anneal in chunks; return the proposals made and whether the time limit ended it.

    Between chunks, after the first third, the price of large deviations rises in the tables that have a cell above its
    limit and falls back in the others. One fixed price leaves single cells above it, and a price high enough for them
    from the start keeps all others from moving. What is above its limit at the end gets some chunks more. So does a
    release that could not be denied, whose prices change in the same way.
    """
    import numpy as np

    refresh = late("sqlmicro.safe_method._cost_kernels", "refresh")
    steps = _steps(denial)

    def run(proposals: int, hot: float, cold: float) -> None:
        for weight, price in zip(whole, prices, strict=True):
            weight[:] = price * schedule.share_of_whole(cold)
        refresh(problem, state)  # the sums are added in single precision and would drift
        if denial is not None:
            deniable.reprice(denial, problem.k)
        steps(problem, state, proposal, np.array(_SHARES), proposals, hot, cold, rng)

    def reprice() -> None:
        change = np.where(limits.exceeded(state.deviation), _DEARER, _CHEAPER)
        problem.steep[:] = np.clip(problem.steep * change, steep, steep * _DEAREST)

    proposal, steep = _proposal(problem.k), problem.steep.copy()
    whole = (problem.sum_weight[:1], problem.moment_weight[:1])
    prices = [weight.copy() for weight in whole]
    chunk = min(_CHUNK, -(-schedule.proposals // _CHUNKS))
    done, stopped = 0, False
    while done < schedule.proposals and not stopped:
        size = min(chunk, schedule.proposals - done)
        if done >= _REPRICED_FROM * schedule.proposals:
            reprice()
        run(size, schedule.temperature(done), schedule.temperature(done + size))
        done += size
        tick(schedule.restart * schedule.proposals + done, schedule.restarts * schedule.proposals)
        stopped = done < schedule.proposals and schedule.is_over()
    for _ in range(0 if stopped else _REPAIRS):
        refresh(problem, state)
        exceeded = limits.exceeded(state.deviation)
        if not exceeded.any() and (denial is None or not deniable.lacks(denial).any()):
            break
        if denial is not None:
            deniable.insist(denial, problem.k)
        problem.steep[:] = np.where(exceeded, steep * _DEAREST, problem.steep)
        run(chunk, schedule.temperature(int(_REPAIRED_FROM * schedule.proposals)), schedule.temperature(done))
        done += chunk
    if stopped:
        # What was found while it was hot is worth little before it is cooled.
        cold = schedule.temperature(schedule.proposals)
        run(min(_CHUNK, schedule.proposals), cold, cold)
    problem.steep[:] = steep
    return done, stopped


def _steps(denial: Denial | None) -> Callable[..., int]:
    """Return the kernel that anneals."""
    if denial is None:
        plain: Callable[..., int] = late("sqlmicro.safe_method._search_kernels", "anneal")
        return plain
    kernel = late("sqlmicro.safe_method._denial_kernels", "anneal")
    return lambda problem, state, *rest: int(kernel(problem, state, denial, *rest))


def _proposal(k: int) -> Proposal:
    import numpy as np

    make = late("sqlmicro.safe_method._search_kernels", "Proposal")
    # A compound move is the combination that leads, and up to k others.
    proposal: Proposal = make(np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64), np.zeros(1, np.int64))
    return proposal
