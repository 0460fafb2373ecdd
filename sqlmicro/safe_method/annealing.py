"""SAFE, the direct search: from a systematic rounding, by simulated annealing, to the placement that is taken."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method import given_away
from sqlmicro.safe_method.coordinates import Coordinates, in_order, numbered
from sqlmicro.safe_method.deviations import placed_as, refresh, settle
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import Limits

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
# Above so many cell numbers a proposal takes twice as long.
_CACHE = 4_000_000
_LEAST_PROPOSALS = 5_000
# Cumulated shares of compound moves, toggles, pairs of toggles, single records; the rest are transfers of a record.
_SHARES = (0.2, 0.4, 0.6, 0.76)
# After that share of the proposals; by what the price of large deviations is multiplied, and at most in all.
_REPRICED_FROM = 0.3
_DEARER, _CHEAPER, _DEAREST = 1.2, 0.95, 50.0
# If a cell is above its limit at the end: so many chunks more, from the temperature after that share of the proposals.
_REPAIRS, _REPAIRED_FROM = 8, 0.95
# A release that can be denied is warmed up again instead, to that share of k², and cooled in so many chunks: so few
# combinations may be shown that no single step helps at the end.
_WARM, _COOLING = 0.11, 6
# What must be reached is warmed up so many times once it is; each takes that part of the proposals.
_MENDED = 3
# What is only aimed at may take the tables to so many times their limits; of the rare combinations shown, such
# parts are closed for it.
_AT_MOST, _PARTS = 2.0, (1.0, 0.2)
# What it lacks then weighs as so many records above a limit, and sums may reach that multiple of their slack.
_LACK, _LOOSE = 1_000, 2


def proposals_for(problem: Problem, limits: Limits, effort: Effort, share: float = 1.0) -> int:
    """Return how many proposals are made: in proportion to the combinations, but no more than fit into the time.

    A search of a part of the records takes that `share` of the time, however many combinations the part has.
    """
    terms = problem.cell.shape[1] + limits.sums
    most = share * _PROPOSALS[effort] * min(2.0, _TERMS_OF_PROPOSALS / max(1, terms))
    if problem.cell.size > _CACHE:
        most /= 2
    return int(max(_LEAST_PROPOSALS, min(most, _PROPOSALS_PER_COMBINATION[effort] * len(problem.n))))


def rounded_start(problem: Problem, columns: Coordinates, table_of_cell: np.ndarray, rng: np.random.Generator) -> State:
    """Round systematically: along the combinations below k, open one whenever k more records were passed."""
    import numpy as np

    order = in_order(numbered(columns.all))
    order = order[problem.n[order] < problem.k]
    passed = (np.cumsum(problem.n[order]) + rng.integers(problem.k)) // problem.k
    placed = problem.n.copy()
    placed[order] = np.where(np.diff(passed, prepend=0) > 0, problem.k, 0)
    return placed_as(problem, placed, table_of_cell)


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

    def again(self) -> list[tuple[float, float]]:
        """Return the first and last temperature of every chunk of a warming up."""
        warm, cold = self.k**2 * _WARM, self.temperature(self.proposals)
        falls = [warm * math.pow(cold / warm, chunk / _COOLING) for chunk in range(_COOLING + 1)]
        return list(pairwise(falls))

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
    from the start keeps all others from moving. What is above its limit at the end gets some chunks more. A release
    that can be denied is warmed up again instead, and the better placement is kept; what it lacks is repriced likewise.
    """
    import numpy as np

    steps = late("sqlmicro.safe_method._search_kernels", "anneal")
    account = given_away.no_denial(len(problem.n)) if denial is None else denial

    def run(proposals: int, hot: float, cold: float) -> None:
        problem.amount_weight[limits.whole] = prices * schedule.share_of_whole(cold)
        refresh(problem, state)  # the sums are added in single precision and would drift
        if denial is not None:
            given_away.reprice(denial, problem.k)
        steps(problem, state, account, proposal, np.array(_SHARES), proposals, hot, cold, rng)

    def reprice() -> None:
        change = np.where(limits.exceeded(state.deviation), _DEARER, _CHEAPER)
        problem.steep[:] = np.clip(problem.steep * change, steep, steep * _DEAREST)

    proposal, steep = _proposal(problem.k), problem.steep.copy()
    prices = problem.amount_weight[limits.whole]
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
    for _ in range(0 if stopped or denial is not None else _REPAIRS):
        refresh(problem, state)
        exceeded = limits.exceeded(state.deviation)
        if not exceeded.any():
            break
        problem.steep[:] = np.where(exceeded, steep * _DEAREST, problem.steep)
        run(chunk, schedule.temperature(int(_REPAIRED_FROM * schedule.proposals)), schedule.temperature(done))
        done += chunk
    if denial is not None and not stopped:
        best, least = state.n.copy(), _above_limits(problem, state, limits, denial)
        given_away.insist(denial, problem.k)
        for warm, cool in schedule.again() if least else []:
            reprice()
            run(chunk, warm, cool)
            done += chunk
        if _above_limits(problem, state, limits, denial) > least:
            state.n[:] = best
    if stopped:
        # What was found while it was hot is worth little before it is cooled.
        cold = schedule.temperature(schedule.proposals)
        run(min(_CHUNK, schedule.proposals), cold, cold)
    problem.steep[:] = steep
    return done, stopped


def deny(
    problem: Problem,
    state: State,
    limits: Limits,
    schedule: Schedule,
    rng: np.random.Generator,
    denial: Denial,
    few: np.ndarray,
    insists: bool,
    stopped: bool,
) -> int:
    """Close, and mend the tables, until every set of columns has what is asked; return the proposals made.

    Where nobody `insists`, less is closed too, and what takes the tables beyond twice their limits is taken back: of
    what is left, that is taken which lacks least. A search that was `stopped` only closes.
    """
    given_away.recount(denial, state.n)
    best, least, done = state.n.copy(), given_away.lacks(denial), 0
    before, far = best, limits.beyond(state.deviation, _AT_MOST)
    times = 0 if stopped else _MENDED if insists else 1
    for part in (1.0,) if insists else _PARTS if least else ():
        given_away.closed_to_share(problem, state, denial, few, part)
        done += _mend(problem, state, limits, schedule, rng, denial, times)
        given_away.closed_to_share(problem, state, denial, few, part)
        refresh(problem, state)
        lacks = given_away.lacks(denial)
        if insists or (lacks < least and limits.beyond(state.deviation, _AT_MOST) <= far):
            best, least = state.n.copy(), lacks
        if not least:
            break
        state.n[:] = before
        refresh(problem, state)
    state.n[:] = best
    refresh(problem, state)
    return done


def _mend(
    problem: Problem,
    state: State,
    limits: Limits,
    schedule: Schedule,
    rng: np.random.Generator,
    denial: Denial,
    times: int,
) -> int:
    """Warm up again, some times, what has all that was asked, and keep it; return the proposals made.

    What was closed for it at the end has left deviations: single steps make up for them here.
    """
    import numpy as np

    steps = late("sqlmicro.safe_method._search_kernels", "anneal")
    proposal, done = _proposal(problem.k), 0
    chunk = max(1, schedule.proposals // (_MENDED * _COOLING))
    for warm, cool in times * schedule.again():
        refresh(problem, state)
        given_away.recount(denial, state.n)
        given_away.hold(denial)
        steps(problem, state, denial, proposal, np.array(_SHARES), chunk, warm, cool, rng)
        done += chunk
    refresh(problem, state)
    settle(problem, state)
    return done


def _above_limits(problem: Problem, state: State, limits: Limits, denial: Denial) -> float:
    """Settle a placement and return by how much it is above its limits, in records, and what it lacks."""
    import numpy as np

    refresh(problem, state)
    settle(problem, state)
    given_away.recount(denial, state.n)
    whole = limits.whole
    found, slack = state.amount[problem.amount_first[whole]], problem.amount_slack[whole]
    loose = float(np.maximum(0.0, np.abs(found) - _LOOSE * slack).sum())
    return limits.beyond(state.deviation) + loose + _LACK * given_away.lacks(denial)


def _proposal(k: int) -> Proposal:
    import numpy as np

    make = late("sqlmicro.safe_method._search_kernels", "Proposal")
    # A compound move is the combination that leads, and up to k others.
    proposal: Proposal = make(np.zeros(k + 2, np.int64), np.zeros(k + 2, np.int64), np.zeros(1, np.int64))
    return proposal
