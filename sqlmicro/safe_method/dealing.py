"""SAFE, after the search: records are dealt anew to groups whose combinations stay, so that numbers keep their spread.

The tables of counts are decided then, and cannot change. Who shares a group is free: records near in their numbers,
such that the sums, squares and products of the groups' means stay those of the original in every table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.coordinates import in_order
from sqlmicro.safe_method.deal_problem import DIMENSIONS, Groups, Numbers, Original, few, make_deal, standard

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._deal_kernels import Deal, Seats, Trial

PRICES = (100.0, 0.5, 0.25, 0.25, 0.3, 2_000.0)
"""Of the squared loss, sums, squares and products, counts by band, a nominal value not the record's own, a mean."""
_TIGHT = 3  # larger groups lose more, whoever shares them: the price of the loss falls, or it would outweigh the tables
_HOT, _WARM, _COLD = 10.0, 1.0, 0.1
_WHOLE = 0.5  # of the proposals: two groups exchange all their records
# Per record, and at most; but of each of very many records at least so many.
_PER_RECORD, _TRIES, _LEAST_PER_RECORD, _CHUNK = 2_000, 2_000_000, 8, 20_000
_ENOUGH = 40  # proposals for a record: with fewer, the records must be near each other from the beginning
_SHIFTS, _MOST_SHIFTS = 200, 1_000_000  # proposals of another number, for each that a group shows, and at most
_WHOLE_FILE = 30.0  # what squares and products of the whole file weigh there: means alone have less spread
_PART = 0.25, 0.499  # of the way to the ends of a group: no rounding takes a number beyond half of it
_TERMS = 300  # more sums and counts than these take longer: fewer proposals are made


@dataclass(frozen=True)
class Dealing:
    """The label of every record (n,), by how much groups show other numbers than means (G, movable), if it was cut off.

    The time limit cuts it off.
    """

    label: np.ndarray
    moved: np.ndarray
    stopped: bool


def even_groups(target: np.ndarray, least: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide the records of every target into as many groups as there can be, of sizes that differ by one at most.

    A group has at least as many records as `least` says of its target. Records follow each other in `order`. Return the
    label of every record, and the target of every label.

    >>> import numpy as np
    >>> label, becomes = even_groups(np.array([7, 7, 7, 7, 7, 2, 2]), np.full(8, 2), np.arange(7))
    >>> label.tolist(), becomes.tolist()
    ([1, 1, 1, 2, 2, 0, 0], [2, 7, 7])
    """
    import numpy as np

    order = order[in_order(target[order])]
    which, first, records = np.unique(target[order], return_index=True, return_counts=True)
    groups = np.maximum(records // least[which], 1)
    place = np.arange(len(target)) - np.repeat(first, records)
    many, all_of = np.repeat(groups, records), np.repeat(records, records)
    # The first ones have one record more.
    larger, size = all_of % many, all_of // many
    in_larger = larger * (size + 1)
    inside = np.where(place < in_larger, place // (size + 1), larger + (place - in_larger) // size)
    label = np.empty(len(target), dtype=np.int64)
    label[order] = np.repeat(np.cumsum(groups) - groups, records) + inside
    return label, np.repeat(which, groups)


def dealt(
    numbers: Numbers,
    codes: np.ndarray,
    groups: Groups,
    rng: np.random.Generator,
    tick: Tick,
    *,
    original: Original | None = None,
    more: Sequence[tuple[int, ...]] = (),
    effort: Effort = "full",
    time_limit: float | None = None,
    movable: int = 0,
    prices: Sequence[float] = PRICES,
) -> Dealing:
    """Deal the records anew, and then move the numbers that groups show.

    Parameters
    ----------
    numbers : Numbers
        The columns whose means are released.
    codes : ndarray of shape (n, q)
        The nominal values of the records.
    groups : Groups
        The groups; each keeps its size and its combination, and every block its records.
    rng : Generator
        Same state, same labels.
    tick : callable
        Told (tries, tries at most).
    original : Original, optional
        What the tables are compared with; by default the records.
    more : sequence of tuples
        Further sets of nominal columns by which the means of subgroups are kept.
    effort : {"fast", "full"}
        How many proposals are made.
    time_limit : float, optional
        Seconds after which the groups are taken as they are.
    movable : int
        Of so many columns, the first ones, a group may show another number than the mean of its records.
    prices : sequence of six floats
        See `PRICES`. That of the squared loss is divided by a third of the size of the smallest group, if that is more.

    Notes
    -----
    Simulated annealing: two groups of one size exchange their records, or a record changes places with a member of the
    group of one of the 12 records that are nearest in the numbers. The time follows the proposals, two million at most,
    or 8 for each of very many records, which begin with `tight_start`; the memory the cells of the tables. Means have
    less spread than records, so then single numbers of groups move, which costs the squared distance from the mean:
    squares and products of the whole file weigh ten times as much there.
    """
    import numpy as np

    exchange = late("sqlmicro.safe_method._deal_kernels", "exchange")

    started = time.monotonic()
    if len(numbers.x) * _ENOUGH > _TRIES:
        shift, scale = standard(numbers.x)
        groups = replace(groups, label=tight_start((numbers.x - shift) * scale, groups, rng))
    tight = min(1.0, _TIGHT / int(np.bincount(groups.label).min()))
    prices = [tight * prices[0], *prices[1:]]
    deal, seats, terms = make_deal(numbers, codes, groups, original, more, prices, rng)
    tries = _tries(len(numbers.x), terms, effort)
    if len(deal.size) < 2 or not deal.near.shape[1]:
        return Dealing(groups.label, np.zeros((len(groups.combination), movable)), False)
    trial, nothing, done = _trial(deal), np.zeros(seats.off.shape[1]), 0
    while done < tries:
        if time_limit is not None and time.monotonic() - started >= time_limit:
            return Dealing(seats.label, np.zeros((len(deal.size), movable)), True)
        some = min(_CHUNK, tries - done)
        hot, cold = (_HOT * (_COLD / _HOT) ** (at / tries) for at in (done, done + some))
        exchange(deal, seats, trial, nothing, _WHOLE, some, hot, cold, rng)
        done += some
        tick(done, tries)
    return Dealing(seats.label, _moved(deal, seats, trial, numbers, movable, rng), False)


def _moved(
    deal: Deal, seats: Seats, trial: Trial, numbers: Numbers, movable: int, rng: np.random.Generator
) -> np.ndarray:
    """Let groups show other numbers where the tables are nearer then; return by how much they differ from the means.

    A number goes at most half the way from the mean to the least or the largest record of its group: at the end of the
    way it would be that of a record. How far is drawn, since who knows the mean too, by another candidate of the same
    groups, could compute the end from a share that is known.
    """
    import numpy as np

    if not movable:
        return np.zeros((len(deal.size), 0))
    shift = late("sqlmicro.safe_method._deal_kernels", "shift")

    order = in_order(seats.label)
    begin = np.cumsum(deal.size) - deal.size
    low, high = (
        np.ascontiguousarray(at.reduceat(deal.x[order, :movable], begin).astype(float))
        for at in (np.minimum, np.maximum)
    )
    means = seats.shown[:, :movable].copy()
    exact = seats.sums[:, :movable] / deal.size[:, None]
    whole = deal.rounded[:movable]
    low, high = (exact + rng.uniform(*_PART, exact.shape) * (at - exact) for at in (low, high))
    low = np.minimum(means, np.where(whole, np.ceil(low), low))
    high = np.maximum(means, np.where(whole, np.floor(high), high))
    moment = deal.moment.copy()
    moment[0] = _WHOLE_FILE
    tries = min(_MOST_SHIFTS, _SHIFTS * means.size)
    deal = deal._replace(moment=moment)
    shift(deal, seats, trial, _products(deal), low, high, tries, _WARM, _COLD, rng)
    changed = seats.shown[:, :movable] != means
    found = np.where(changed, seats.shown[:, :movable] - exact, 0.0)
    units: np.ndarray = np.array(numbers.unit[:movable])
    moved: np.ndarray = np.where(whole, found, _with_totals(found, low - exact, high - exact, deal.size)) * units
    return moved


def _with_totals(moved: np.ndarray, low: np.ndarray, high: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return moves (G, columns) that come to nothing over all records, where there is room between low and high.

    >>> import numpy as np
    >>> low, high = np.full((3, 1), -2.0), np.full((3, 1), 2.0)
    >>> moved = _with_totals(np.array([[1.0], [1.0], [-0.5]]), low, high, np.array([2, 2, 4]))
    >>> moved.round(3).tolist(), round(float((np.array([2, 2, 4]) @ moved)[0]), 9)
    ([[0.667], [0.667], [-0.667]], 0.0)
    """
    import numpy as np

    too_much = size @ moved
    room = np.where(too_much > 0, moved - low, high - moved)
    every = size @ room
    share = np.divide(np.abs(too_much), every, out=np.zeros_like(every), where=every > 0)
    found: np.ndarray = moved - np.sign(too_much) * np.minimum(share, 1.0) * room
    return found


def _tries(records: int, terms: int, effort: Effort) -> int:
    """Return how many proposals are made.

    >>> [_tries(records, 100, "full") for records in (100, 30_000, 1_000_000)]
    [200000, 2000000, 8000000]
    """
    most = max(_TRIES * min(1.0, _TERMS / terms), _LEAST_PER_RECORD * records)
    return int(min(_PER_RECORD * records, most) / (4 if effort == "fast" else 1))


def tight_start(z: np.ndarray, groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """Return labels that put records near in the numbers z (n, P) into a group, each near one of its records before.

    The records of a block follow each other along a curve through the numbers, and are dealt in this order; a group
    takes the place of one of its own. So combinations are spread over the numbers as they were.

    >>> import numpy as np
    >>> z = np.array([[1.0], [8.0], [2.0], [9.0], [1.5], [8.5]])
    >>> groups = Groups(np.array([0, 0, 0, 1, 1, 1]), np.zeros((2, 1), dtype=int), np.zeros(2, dtype=int))
    >>> found = tight_start(z, groups, np.random.default_rng(0))
    >>> sorted([sorted(np.flatnonzero(found == g).tolist()) for g in (0, 1)])
    [[0, 2, 4], [1, 3, 5]]
    """
    import numpy as np

    n, P = z.shape
    bits = max(1, min(16, 62 // max(1, min(P, DIMENSIONS))))
    along = np.zeros(n, dtype=np.int64)
    ranks = []
    for column in few(z).T:
        order = np.argsort(column, kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        ranks.append((rank << bits) // n)
    for bit in range(bits - 1, -1, -1):
        for rank in ranks:
            along = along << 1 | rank >> bit & 1
    order = np.lexsort([along, groups.block[groups.label]])
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    size = np.bincount(groups.label)
    by_group = rng.permutation(n)
    by_group = by_group[in_order(groups.label[by_group])]
    chosen = by_group[np.cumsum(size) - size]  # of every group one record, any
    turn = np.argsort(place[chosen], kind="stable")
    label = np.empty(n, dtype=np.int64)
    label[order] = np.repeat(turn, size[turn])
    return label


def _products(deal: Deal) -> np.ndarray:
    """Return which amount two columns are multiplied for, -1 for none (P, P)."""
    import numpy as np

    found = np.full((deal.x.shape[1],) * 2, -1)
    found[deal.left, deal.right] = found[deal.right, deal.left] = deal.x.shape[1] + np.arange(len(deal.left))
    return found


def _trial(deal: Deal) -> Trial:
    import numpy as np

    P, R = deal.x.shape[1], deal.x.shape[1] + len(deal.left)
    made: Trial = late("sqlmicro.safe_method._deal_kernels", "Trial")(
        np.zeros((2, P), dtype=np.int64), np.zeros((2, P)), np.zeros((2, R)), np.zeros((2, 2, P), dtype=np.int64)
    )
    return made
