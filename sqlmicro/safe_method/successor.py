"""SAFE in a series: last night's file is carried on, and between any two nights whole classes of k come and go.

Theorem. Of a combination with the counts c(1), c(2), … in the nights of an epoch, 0 where it is not shown, any two are
equal or differ by at least k; and so are the numbers of records of the files. Hence a difference between two nights, of
whatever cells, is a sum of changes of combinations, each of none or at least k records.
Proof. By induction: tonight's count is 0, one that was shown, or differs by at least k from 0 and all that were shown.

What the tables can still follow is a matter of number: a cell of a table deviates by the sum over its combinations,
and each can be rounded up or down to a count that it may have.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.registry import Tick, late
from sqlmicro.safe_method import deniable
from sqlmicro.safe_method.admissible import Combinations, begun, choices_of, nearest_total
from sqlmicro.safe_method.annealing import Effort, proposals_for
from sqlmicro.safe_method.deniable import denial_of, opened_up, restricted
from sqlmicro.safe_method.deviations import costs, give, placed_as, refresh
from sqlmicro.safe_method.deviations import objective as objective_of
from sqlmicro.safe_method.given_away import closing, insist, no_denial, recount, reprice
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import Limits, make_problem, table_sets

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem, State
    from sqlmicro.safe_method._denial_kernels import Denial
    from sqlmicro.safe_method._night_kernels import Choices

_SHARE = 0.5
"""Of the proposals of a search from nothing: last night's file is nearly right."""
_CHUNKS = 32
_HOT = 0.3
"""The first temperature, as a share of k²: hotter, last night's file is forgotten."""
_STEEP, _RECORD_PRICE = 1.0, 0.5
"""Prices of large deviations and of records that move. Every change is one of k records, which passes the bound of a
cell: at the prices of a search that moves single records, most of last night's file would be frozen."""
_OF_ORDER = (4.0, 1.5, 1.0)
"""How much tables of one, two and three columns weigh: a table of few cells has few steps of k to be put right by."""
_REPRICED_FROM, _DEARER, _CHEAPER, _DEAREST = 0.3, 1.2, 0.95, 50.0
_CLOSED_AT_THE_END = 0.3
# Of the prices of what is lacking: dearer, less of last night's file would stay.
_PART = 0.11
_GAP, _ROUNDS = 4, 1_000
"""At the end one combination or two, of changes up to so many times k, close the gap in the number of records."""


@dataclass(frozen=True)
class Night:
    """The file of a night.

    Attributes
    ----------
    new_n : ndarray of shape (cells,)
        Records per combination: each count may follow on those that were shown.
    withheld : int
        Records of the original that have no place in the file: fewer than 2k, unless last night's file had to stay.
    objective : float
        What the search made small.
    proposals : int
        Changes that were tried.
    stopped : bool
        Whether the time limit ended the search early.
    """

    new_n: np.ndarray
    withheld: int
    objective: float
    proposals: int
    stopped: bool


def carried_on(
    tonight: Combinations,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    effort: Effort = "full",
    time_limit: float | None = None,
    means: Sequence[MeanTable] = (),
) -> Night:
    """Carry last night's file on so that tables are near to tonight's, and whole classes of k come and go.

    Simulated annealing from last night's file, at temperatures at which most of it stays, over the counts that each
    combination may have: 0, those it was shown with, and what differs from all of them by at least k.

    Parameters
    ----------
    tonight : Combinations
        The combinations, and what the nights before have shown of them.
    k, rng, tick, effort, time_limit, means
        As `search.search` takes them.

    Returns
    -------
    Night

    Raises
    ------
    InputError
        Where no file may follow: fewer than k records, or none of the numbers of records that are near was reached.
    """
    import numpy as np

    started = time.monotonic()
    n, shown, pool = tonight.n, tonight.shown, tonight.pool
    total = nearest_total(int(n.sum()), shown.totals, k)
    if not total:
        raise _nothing_follows(k, int(n.sum()))
    prices = deniable.prices_of(Objective()) if pool else Objective()
    prices = replace(prices, steep=_STEEP, record_price=_RECORD_PRICE, limits=Objective().limits)
    columns = tonight.columns(k)
    problem, table_of_cell, limits = make_problem(columns, n, np.ones(len(n)), k, -(-k // 2), prices, means)
    problem.weight[:] *= np.array([_OF_ORDER[len(table) - 1] for table in table_sets(columns)], dtype=np.float32)
    proposals = int(_SHARE * proposals_for(problem, limits, effort))
    closed, may_close, denial = np.zeros(len(n), dtype=np.bool_), n < k, no_denial(len(n))
    if pool:
        may_open = opened_up(pool, problem, limits, table_of_cell) | (shown.before > 0)
        problem, denial = restricted(problem, may_open, pool.few), denial_of(pool, k)
        closed, may_close = pool.few & ~may_open, pool.few
    choices = choices_of(problem, shown, closed, may_close)
    state = placed_as(problem, begun(problem, shown, choices), table_of_cell)
    run = _Run(problem, state, limits, denial, choices, int(n.sum()) - total, k, prices)
    done, stopped = run.anneal(proposals, rng, tick, started, time_limit)
    if run.settle():
        if pool:
            run.close_to_share(pool.few)
    elif 0 < shown.before.sum() <= n.sum():
        state.n[:] = shown.before
    else:
        raise _nothing_follows(k, int(n.sum()))
    refresh(problem, state)
    return Night(state.n, int(n.sum() - state.n.sum()), objective_of(problem, state, table_of_cell), done, stopped)


def _nothing_follows(k: int, records: int) -> InputError:
    return InputError(
        "safe, series",
        f"a file must follow that differs from all before by classes of {k}",
        f"{records:,} records, of which none was found",
        "Leave this night out, or begin a new epoch",
    )


@dataclass(frozen=True)
class _Run:
    """One night's search: what stays as it is, and the state that changes."""

    problem: Problem
    state: State
    limits: Limits
    denial: Denial
    choices: Choices
    withheld: int
    k: int
    prices: Objective

    def anneal(
        self, proposals: int, rng: np.random.Generator, tick: Tick, started: float, time_limit: float | None
    ) -> tuple[int, bool]:
        """Anneal in chunks; prices of large deviations, and of what is lacking to be denied, rise and fall between."""
        import numpy as np

        steps = late("sqlmicro.safe_method._night_kernels", "anneal")
        Proposal = late("sqlmicro.safe_method._search_kernels", "Proposal")
        problem, k2 = self.problem, self.k**2
        proposal = Proposal(np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(1, np.int64))
        steep = problem.steep.copy()
        prices = problem.amount_weight[self.limits.whole]
        hot, cold = min(_HOT, self.prices.hot) * k2, self.prices.cold * k2
        self._put_back()
        # Of sets of columns no night remembers what occurred: the guesses from all others count, and the whole.
        self.denial.dear[:] *= np.where(self.denial.inside.all(axis=1), _PART, 0.0)
        self.denial.dear_guess[:] *= _PART
        recount(self.denial, self.state.n)
        done, stopped = 0, False
        for chunk in range(_CHUNKS):
            if stopped := time_limit is not None and time.monotonic() - started >= time_limit:
                break
            warm, cool = (hot * math.pow(cold / hot, (chunk + end) / _CHUNKS) for end in (0, 1))
            problem.amount_weight[self.limits.whole] = prices * cold / cool
            self._put_back()
            if chunk >= _REPRICED_FROM * _CHUNKS:
                change = np.where(self.limits.exceeded(self.state.deviation), _DEARER, _CHEAPER)
                problem.steep[:] = np.clip(problem.steep * change, steep, steep * _DEAREST)
            if chunk == _CHUNKS - 2:
                insist(self.denial, self.k, _PART)
            elif chunk < _CHUNKS - 2:
                reprice(self.denial, self.k, _PART)
            size = -(-proposals // _CHUNKS)
            steps(problem, self.state, self.denial, self.choices, proposal, size, warm, cool, rng)
            done += size
            tick(done, _CHUNKS * size)
        problem.steep[:] = steep
        return done, stopped

    def _put_back(self) -> None:
        """Compute all deviations anew; the number of records aimed at is less than that of the original."""
        refresh(self.problem, self.state)
        self.state.total[0] += self.withheld

    def settle(self, locked: np.ndarray | None = None) -> bool:
        """Bring the number of records to what it shall be."""
        import numpy as np

        self._put_back()
        locked = np.zeros(len(self.problem.n), dtype=np.bool_) if locked is None else locked
        settle = late("sqlmicro.safe_method._night_kernels", "settle")
        return bool(settle(self.problem, self.state, self.choices, locked, _GAP * self.k, _ROUNDS))

    def close_to_share(self, few: np.ndarray) -> None:
        """Close rare originals, the cheapest first, where a few invented ones are lacking; others make up for them."""
        import numpy as np

        problem, state, denial = self.problem, self.state, self.denial
        recount(denial, state.n)
        for _ in range(int(_CLOSED_AT_THE_END * denial.shown[0, 0])):
            rows, gain = closing(denial, few & (state.n > 0))
            if not len(rows):
                return
            cheapest = rows[[np.argmin(costs(problem, state, rows, -state.n[rows]) / gain)]]
            kept = state.n.copy()
            give(problem, state, cheapest, -state.n[cheapest])
            if not self.settle(few):
                state.n[:] = kept
                self._put_back()
                return
            recount(denial, state.n)
