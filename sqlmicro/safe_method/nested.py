"""SAFE below another level: the records of every block are placed on its combinations, and all tables stay near."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.annealing import Effort, proposals_for
from sqlmicro.safe_method.coordinates import Coordinates, counted_pairs, numbered
from sqlmicro.safe_method.deviations import placed_as, refresh
from sqlmicro.safe_method.objective import Objective
from sqlmicro.safe_method.problem import make_problem

if TYPE_CHECKING:
    import numpy as np

_CHUNKS = 64
_REACH = 100
_HOT = 0.7


@dataclass(frozen=True)
class Blocks:
    """The combinations of some columns, of which those of a level above are placed already.

    Attributes
    ----------
    codes, numbers : ndarrays of shape (C, …)
        As `search.search` takes them, all columns; those of the level above as they are released.
    n : ndarray of shape (C,)
        Records of each in the original.
    now : ndarray of shape (C,)
        Records of each after the columns of the level above were replaced.
    block : ndarray of shape (C,)
        The class of the level above that it lies in; -1 where that is not released.
    least : ndarray of shape (blocks,)
        Records that a combination of the block has at least, if it is released.
    """

    codes: np.ndarray
    numbers: np.ndarray
    n: np.ndarray
    now: np.ndarray
    block: np.ndarray
    least: np.ndarray


@dataclass(frozen=True)
class Nested:
    """Records per combination, and which records become what: `count` of combination `cell` become `target`."""

    new_n: np.ndarray
    cell: np.ndarray
    target: np.ndarray
    count: np.ndarray
    stopped: bool


def nested(
    blocks: Blocks,
    k: int,
    effort: Effort,
    rng: np.random.Generator,
    tick: Tick,
    *,
    time_limit: float | None = None,
    prices: Objective | None = None,
) -> Nested:
    """Place the records of every block so that a combination has enough or none, and all tables hardly change.

    The tables are those of all columns, against the original; no record leaves its block. Simulated annealing as in
    `search`, with moves inside blocks.
    """
    import numpy as np

    anneal = late("sqlmicro.safe_method._nested_kernels", "anneal")

    started, prices = time.monotonic(), prices or Objective()
    columns = Coordinates.of(blocks.codes, blocks.numbers, blocks.n, k)
    problem, table_of_cell, limits = make_problem(columns, blocks.n, np.ones(len(blocks.n)), k, 0, prices)
    state = placed_as(problem, rounded(blocks, columns), table_of_cell)
    member = np.argsort(blocks.block, kind="stable")
    member = member[blocks.block[member] >= 0]
    first = np.searchsorted(blocks.block[member], np.arange(len(blocks.least) + 1))
    at = np.zeros(int(max(blocks.now.sum(), blocks.least.max())) + 1, dtype=np.int64)
    proposals, hot, cold = proposals_for(problem, limits, effort), min(_HOT, prices.hot) * k**2, prices.cold * k**2
    chunk, stopped = -(-proposals // _CHUNKS), False
    for number in range(_CHUNKS):
        stopped = time_limit is not None and time.monotonic() - started >= time_limit
        if stopped:
            break
        refresh(problem, state)
        ends = [hot * (cold / hot) ** ((number + end) / _CHUNKS) for end in (0, 1)]
        anneal(problem, state, blocks.now, blocks.block, first, member, blocks.least, at, chunk, *ends, rng)
        tick((number + 1) * chunk, proposals)
    return _moved(blocks, columns, state.n, stopped)


def rounded(blocks: Blocks, columns: Coordinates) -> np.ndarray:
    """Return a placement to begin with: in every block the small combinations open along their order."""
    import numpy as np

    order = np.lexsort([numbered(columns.all), blocks.block])
    order = order[blocks.block[order] >= 0]
    placed = np.zeros_like(blocks.now)
    ends = np.searchsorted(blocks.block[order], np.arange(len(blocks.least) + 1))
    for b, least in enumerate(blocks.least):
        own = order[ends[b] : ends[b + 1]]
        now = blocks.now[own]
        small = np.flatnonzero(now < least)
        left = int(now[small].sum())
        into = np.where(now < least, 0, now)
        if left >= least:
            opened = np.searchsorted(np.cumsum(now[small]), least * np.arange(1, left // least + 1))
            chosen = small[np.unique(opened)]
            share, more = divmod(left, len(chosen))
            into[chosen] = share + (np.arange(len(chosen)) < more)
        elif left:
            into[np.argmax(into) if into.any() else np.argmax(now)] += left
        placed[own] = into
    return placed


def _moved(blocks: Blocks, columns: Coordinates, new_n: np.ndarray, stopped: bool) -> Nested:
    """Say which records become what: those of a block that leave are matched in order, then ways are shortened."""
    import numpy as np

    uncross = late("sqlmicro.safe_method._nested_kernels", "uncross")

    now = np.where(blocks.block >= 0, blocks.now, 0)
    leaving = np.repeat(np.arange(len(now)), np.maximum(0, now - new_n))
    joining = np.repeat(np.arange(len(now)), np.maximum(0, new_n - now))
    every = columns.all
    for j in range(len(every)):
        place = numbered(every[j:] + every[:j])
        if j == 0:
            leaving = leaving[np.lexsort([place[leaving], blocks.block[leaving]])]
            joining = joining[np.lexsort([place[joining], blocks.block[joining]])]
        order = np.lexsort([place[leaving], blocks.block[leaving]])
        leaving, joining = leaving[order], joining[order]
        uncross(columns.codes, columns.ranks, blocks.block, leaving, joining, _REACH)
    stay = np.flatnonzero(np.minimum(now, new_n))
    gone, come, moved = counted_pairs(leaving, joining)
    return Nested(
        new_n,
        np.concatenate([stay, gone]),
        np.concatenate([stay, come]),
        np.concatenate([np.minimum(now, new_n)[stay], moved]),
        stopped,
    )
