"""SAFE, after the search: records are dealt anew to groups whose combinations stay, so that numbers keep their spread.

The tables of counts are decided then, and cannot change. Who shares a group is free: records near in their numbers,
such that the sums, squares and products of the groups' means stay those of the original in every table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late
from sqlmicro.safe_method.annealing import Effort
from sqlmicro.safe_method.coordinates import in_order, numbered
from sqlmicro.safe_method.means import LEAST_RECORDS

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._deal_kernels import Deal, Seats, Trial

PRICES = (100.0, 0.5, 0.25, 0.25, 0.3, 2_000.0)
"""Of the squared loss, sums, squares and products, counts by band, a nominal value not the record's own, a mean."""
_HOT, _COLD = 10.0, 0.1
_WHOLE = 0.5  # of the proposals: two groups exchange all their records
# Per record, and at most; but of each of very many records at least so many.
_PER_RECORD, _TRIES, _LEAST_PER_RECORD, _CHUNK = 2_000, 2_000_000, 8, 20_000
_ENOUGH = 40  # proposals for a record: with fewer, the records must be near each other from the beginning
_TERMS = 300  # more sums and counts than these take longer: fewer proposals are made
_NEAR, _DIMENSIONS = 12, 6
_BANDS, _PRODUCTS = 10, 20
_TABLES, _NUMBERS = 120, 8_000_000
_TOTAL_WEIGHT = 3.0
_LARGEST = 2.0**50
_FINE = 30
_ALIKE = 1e-9


@dataclass(frozen=True)
class Numbers:
    """The averaged columns of the records, as whole units from about their mean.

    Attributes
    ----------
    x : ndarray of int64, shape (n, P)
        The units.
    rounded : ndarray of bool, shape (P,)
        Whether whole units are released.
    """

    x: np.ndarray
    rounded: np.ndarray

    @classmethod
    def of(cls, raw: np.ndarray, units: Sequence[float | None]) -> Numbers:
        """Return columns with the unit that each is released in, None where it is released as it is.

        For a column with missing values (NaN), which are at the mean then, another follows that tells which are.

        >>> import numpy as np
        >>> found = Numbers.of(np.array([[1.25, 4.0], [1.75, np.nan]]), [0.25, 1.0])
        >>> found.x.tolist(), found.rounded.tolist()
        ([[-1, 0, 0], [1, 0, 1]], [True, True, False])
        """
        import numpy as np

        columns, rounded = [], []
        missing = np.isnan(raw)
        for column, without, unit in zip(raw.T, missing.T, units, strict=True):
            there = column[~without]
            mean = float(there.mean()) if len(there) else 0.0
            filled = np.where(without, mean, column)
            reach = float(np.abs(filled - mean).max(initial=0.0))
            step = unit
            if step is None or reach / step > _LARGEST:
                step = 2.0 ** (np.ceil(np.log2(reach)) - _FINE) if reach > 0 else 1.0
            # From an even number of units: halves are rounded to the same side as without it.
            columns.append((np.rint(filled / step) - 2.0 * np.rint(mean / step / 2.0)).astype(np.int64))
            rounded.append(step == unit)
        flags = [without.astype(np.int64) for without in missing.T if without.any()]
        x = np.array([*columns, *flags], dtype=np.int64).reshape(-1, len(raw)).T
        return cls(np.ascontiguousarray(x), np.array([*rounded, *(False for _ in flags)], dtype=np.bool_))


@dataclass(frozen=True)
class Groups:
    """Groups of records: the label of each record (n,), and the nominal values that every group shows (G, q)."""

    label: np.ndarray
    combination: np.ndarray


def even_groups(target: np.ndarray, k: int, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide the records of every target into as many groups of k as there can be, of sizes that differ by one at most.

    Records follow each other in `order`. Return the label of every record, and the target of every label.

    >>> import numpy as np
    >>> label, becomes = even_groups(np.array([7, 7, 7, 7, 7, 2, 2]), 2, np.arange(7))
    >>> label.tolist(), becomes.tolist()
    ([1, 1, 1, 2, 2, 0, 0], [2, 7, 7])
    """
    import numpy as np

    order = order[in_order(target[order])]
    which, first, records = np.unique(target[order], return_index=True, return_counts=True)
    groups = np.maximum(records // k, 1)
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
    more: Sequence[tuple[int, ...]] = (),
    effort: Effort = "full",
    time_limit: float | None = None,
    prices: Sequence[float] = PRICES,
) -> tuple[np.ndarray, bool]:
    """Return the labels of all records, dealt anew, and whether the time limit ended it.

    Parameters
    ----------
    numbers : Numbers
        The columns whose means are released.
    codes : ndarray of shape (n, q)
        The nominal values of the records.
    groups : Groups
        The groups; each keeps its size and its combination.
    rng : Generator
        Same state, same labels.
    tick : callable
        Told (tries, tries at most).
    more : sequence of tuples
        Further sets of nominal columns by which the means of subgroups are kept.
    effort : {"fast", "full"}
        How many proposals are made.
    time_limit : float, optional
        Seconds after which the groups are taken as they are.
    prices : sequence of six floats
        See `PRICES`.

    Notes
    -----
    Simulated annealing: two groups of one size exchange their records, or a record changes places with a member of the
    group of one of the 12 records that are nearest in the numbers. The time follows the proposals, two million at most,
    or 8 for each of very many records, which begin with `tight_start`; the memory the cells of the tables.
    """
    import numpy as np

    exchange = late("sqlmicro.safe_method._deal_kernels", "exchange")

    started = time.monotonic()
    if len(numbers.x) * _ENOUGH > _TRIES:
        shift, scale = _standard(numbers.x)
        groups = replace(groups, label=tight_start((numbers.x - shift) * scale, groups, rng))
    deal, seats, terms = _problem(numbers, codes, groups, more, prices, rng)
    tries = _tries(len(numbers.x), terms, effort)
    if len(deal.size) < 2 or not deal.near.shape[1]:
        return groups.label, False
    trial, nothing, done = _trial(deal), np.zeros(seats.off.shape[1]), 0
    while done < tries:
        if time_limit is not None and time.monotonic() - started >= time_limit:
            return seats.label, True
        some = min(_CHUNK, tries - done)
        hot, cold = (_HOT * (_COLD / _HOT) ** (at / tries) for at in (done, done + some))
        exchange(deal, seats, trial, nothing, _WHOLE, some, hot, cold, rng)
        done += some
        tick(done, tries)
    return seats.label, False


def _tries(records: int, terms: int, effort: Effort) -> int:
    """Return how many proposals are made.

    >>> [_tries(records, 100, "full") for records in (100, 30_000, 1_000_000)]
    [200000, 2000000, 8000000]
    """
    most = max(_TRIES * min(1.0, _TERMS / terms), _LEAST_PER_RECORD * records)
    return int(min(_PER_RECORD * records, most) / (4 if effort == "fast" else 1))


def tight_start(z: np.ndarray, groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """Return labels that put records near in the numbers z (n, P) into a group, each near one of its records before.

    The records follow each other along a curve through the numbers, and are dealt in this order; a group takes the
    place of one of its own. So combinations are spread over the numbers as they were.

    >>> import numpy as np
    >>> z = np.array([[1.0], [8.0], [2.0], [9.0], [1.5], [8.5]])
    >>> groups = Groups(np.array([0, 0, 0, 1, 1, 1]), np.zeros((2, 1), dtype=int))
    >>> found = tight_start(z, groups, np.random.default_rng(0))
    >>> sorted([sorted(np.flatnonzero(found == g).tolist()) for g in (0, 1)])
    [[0, 2, 4], [1, 3, 5]]
    """
    import numpy as np

    n, P = z.shape
    bits = max(1, min(16, 62 // max(1, min(P, _DIMENSIONS))))
    along = np.zeros(n, dtype=np.int64)
    ranks = []
    for column in _few(z).T:
        order = np.argsort(column, kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        ranks.append((rank << bits) // n)
    for bit in range(bits - 1, -1, -1):
        for rank in ranks:
            along = along << 1 | rank >> bit & 1
    order = np.argsort(along, kind="stable")
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


def _standard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what columns are standardised by: the mean, and one by the deviation; 0 where it is none."""
    deviation = x.std(axis=0)
    constant = deviation <= _ALIKE
    return x.mean(axis=0), ~constant / (deviation + constant)


def _few(z: np.ndarray) -> np.ndarray:
    """Return up to six columns: those of z, or of more the principal ones."""
    import numpy as np

    if z.shape[1] <= _DIMENSIONS:
        return z
    centred = z - z.mean(axis=0)
    found: np.ndarray = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :_DIMENSIONS]
    return found


def _problem(
    numbers: Numbers,
    codes: np.ndarray,
    groups: Groups,
    more: Sequence[tuple[int, ...]],
    prices: Sequence[float],
    rng: np.random.Generator,
) -> tuple[Deal, Seats, int]:
    """Return the problem, its state at the beginning, and how many sums and counts a proposal looks at."""
    import numpy as np

    x, label, combination = numbers.x, groups.label, groups.combination
    (n, P), G = x.shape, len(combination)
    shift, scale = _standard(x)
    z = (x - shift) * scale
    size = np.bincount(label, minlength=G)
    pairs = list(combinations_with_replacement(range(P), 2))
    pairs = pairs if len(pairs) <= _PRODUCTS else [(j, j) for j in range(P)]
    R = P + len(pairs)
    tables = _tables(codes, combination, more, P * _BANDS + R + 2 * P)
    # C order, as of one number: for another order the kernels would be compiled once more.
    sums = np.column_stack([np.bincount(label, column, G) for column in x.T]).astype(np.int64, order="C")
    shown = np.where(numbers.rounded, np.rint(sums / size[:, None]), sums / size[:, None])
    cuts = np.full((P, _BANDS - 1), np.inf)
    for j, column in enumerate(x.T):
        ends = np.unique(np.quantile(column, np.arange(1, _BANDS) / _BANDS, method="higher"))
        cuts[j, : len(ends)] = ends - 0.25
    order = in_order(label)
    member = np.zeros((G, int(size.max())), dtype=np.int32)
    member[label[order], np.arange(n) - np.repeat(np.cumsum(size) - size, size)] = order
    _, kind = np.unique(size, return_inverse=True)
    kind = kind.reshape(-1)
    make_deal, make_seats = (late("sqlmicro.safe_method._deal_kernels", name) for name in ("Deal", "Seats"))
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    seats: Seats = make_seats(
        label.astype(np.int64).copy(), member, sums, shown, np.zeros((tables.cells, R)),
        np.zeros((tables.cells, P, _BANDS), dtype=np.int32), np.zeros((tables.cells, P)),
    )  # fmt: skip
    per_error = _compared(tables, seats, z, (shown - shift) * scale, size, (left, right), (x, shown, cuts))
    amounts = np.where(np.array(tables.order) < 2, R, np.where(np.array(tables.order) < 3, P, 0))
    weight = np.where(np.array(tables.order) == 0, _TOTAL_WEIGHT, 1.0)
    weight = np.where(np.array(tables.order) > 2, 0.0, weight)
    deal: Deal = make_deal(
        x, np.ascontiguousarray(codes, dtype=np.int32), near_records(z, rng), size.astype(np.int64),
        np.ascontiguousarray(combination, dtype=np.int32), tables.of_group, kind,
        in_order(kind), np.concatenate([[0], np.cumsum(np.bincount(kind))]), shift, scale, numbers.rounded,
        left, right, amounts.astype(np.int64), weight, cuts, per_error, np.array(prices, dtype=float),
    )  # fmt: skip
    return deal, seats, int(amounts.sum()) + len(amounts) * P


@dataclass(frozen=True)
class _Tables:
    """The tables: how many cells all have, those of records (n, T) and groups (G, T), how many columns each has."""

    cells: int
    of_record: np.ndarray
    of_group: np.ndarray
    order: list[int]


def _tables(codes: np.ndarray, combination: np.ndarray, more: Sequence[tuple[int, ...]], width: int) -> _Tables:
    """Number the cells of the total, of every column and pair of columns, and of what is asked for besides.

    Of too many pairs those with the fewest cells take part.
    """
    import numpy as np

    both = np.concatenate([codes, combination]).astype(np.int64)
    varied = [j for j in range(both.shape[1]) if len(both) and np.ptp(both[:, j]) > 0]
    widths = {j: int(both[:, j].max()) + 1 for j in varied}
    pairs = sorted(combinations(varied, 2), key=lambda pair: widths[pair[0]] * widths[pair[1]])
    asked = [tuple(j for j in some if j in widths) for some in more]
    sets = [(), *((j,) for j in varied), *(some for some in asked if len(some) > 2), *pairs]
    found, orders, cells = [], [], 0
    for some in list(dict.fromkeys(sets))[:_TABLES]:
        of = numbered([both[:, j] for j in some]) if some else np.zeros(len(both), dtype=np.int64)
        more_cells = int(of.max()) + 1
        if len(some) > 1 and (cells + more_cells) * width > _NUMBERS:
            continue
        found.append((of + cells).astype(np.int32))
        orders.append(len(some))
        cells += more_cells
    columns = np.array(found).T
    return _Tables(cells, columns[: len(codes)], np.ascontiguousarray(columns[len(codes) :]), orders)


def _compared(
    tables: _Tables,
    seats: Seats,
    z: np.ndarray,
    shown: np.ndarray,
    size: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray],
    in_units: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Count by how much the tables are off, into the state; return what a unit of a sum is in standard errors."""
    import numpy as np

    (n, P), cells = z.shape, tables.cells
    left, right = pairs
    per_error = np.zeros((cells, P))
    own = np.hstack([z, z[:, left] * z[:, right] - (left == right)])
    released = np.hstack([shown, shown[:, left] * shown[:, right] - (left == right)]) * size[:, None]
    x, in_groups, cuts = in_units
    band_of = [[np.searchsorted(cut, values[:, j], "right") for j, cut in enumerate(cuts)] for values in (x, in_groups)]
    for of_record, of_group in zip(tables.of_record.T, tables.of_group.T, strict=True):
        records, there = np.bincount(of_record, minlength=cells), np.bincount(of_group, size, cells)
        for r, (before, after) in enumerate(zip(own.T, released.T, strict=True)):
            seats.off[:, r] += np.bincount(of_group, after, cells) - np.bincount(of_record, before, cells)
        for j in range(P):
            bands = [
                np.bincount(of * _BANDS + band[j], weight, cells * _BANDS)
                for of, band, weight in ((of_group, band_of[1], size), (of_record, band_of[0], np.ones(n)))
            ]
            seats.off_bands[:, j] += (bands[0] - bands[1]).astype(np.int32).reshape(cells, _BANDS)
            mean = np.bincount(of_record, z[:, j], cells) / np.maximum(records, 1)
            squares = np.bincount(of_record, (z[:, j] - mean[of_record]) ** 2, cells)
            seats.off_means[:, j] += np.bincount(of_group, released[:, j], cells) - there * mean
            large = (records >= LEAST_RECORDS) & (there > 0) & (squares > _ALIKE * records)
            error = np.sqrt(squares / np.maximum(records - 1, 1) / np.maximum(records, 1))
            per_error[large, j] = 1.0 / (error[large] * there[large])
    return per_error


def near_records(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return for every record up to 12 that are near to it in the numbers; above six columns by the principal ones."""
    import numpy as np
    from scipy.spatial import cKDTree

    z = _few(z)
    many = min(_NEAR, len(z) - 1)
    # Equal records would have the same few as neighbours.
    apart = z + rng.normal(0.0, 1e-6, z.shape)
    found = cKDTree(apart).query(apart, many + 1)[1].reshape(len(z), -1)[:, 1:]
    return np.ascontiguousarray(found, dtype=np.int32)


def _trial(deal: Deal) -> Trial:
    import numpy as np

    P, R = deal.x.shape[1], deal.x.shape[1] + len(deal.left)
    made: Trial = late("sqlmicro.safe_method._deal_kernels", "Trial")(
        np.zeros((2, P), dtype=np.int64), np.zeros((2, P)), np.zeros((2, R)), np.zeros((2, 2, P), dtype=np.int64)
    )
    return made
