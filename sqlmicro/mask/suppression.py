"""Which values to suppress: greedy searches on the combinations that occur, for both readings of a missing value.

Over subsets of the columns whoever asks for less than another loses no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sqlmicro.registry import Tick, late

if TYPE_CHECKING:
    import numpy as np

    Chosen = tuple[int, ...]
    Plan = tuple[Chosen, np.ndarray]
    """Columns to suppress, and the entries that would lose them."""

MISSING = -1
_WIDTH = 4_000
_ENOUGH = 0.1
_PRUNED_AT_MOST = 400_000_000
_SLICE = 20_000_000
_SETS_AT_MOST = 1_000_000
"""Sets of columns, times the combinations that occur: so far are demands tried that imply the one that is asked for."""


@dataclass
class Entries:
    """Records of one combination that look alike now: where they come from, their codes, how many they are.

    A search begins with one entry per combination, so that `source` is 0, 1, 2, …

    `source` has shape (e,), `codes` (e, p) with -1 for a missing or suppressed value, `count` (e,). Columns beyond
    those that may be suppressed (strata) take part in every comparison.
    """

    source: np.ndarray
    codes: np.ndarray
    count: np.ndarray

    def copy(self) -> Entries:
        """Return them for another search."""
        return Entries(self.source.copy(), self.codes.copy(), self.count.copy())

    def suppressed(self, weights: np.ndarray) -> float:
        """Return what all missing values cost, of the first columns, which have these weights."""
        return float((self.count[:, None] * (self.codes[:, : len(weights)] < 0) * weights).sum())

    def suppress(self, entry: np.ndarray, columns: Sequence[int], records: np.ndarray) -> None:
        """Suppress `columns` in so many records of each of these entries; an entry is split where it has more."""
        import numpy as np

        part = records < self.count[entry]
        self.codes[np.ix_(entry[~part], columns)] = MISSING
        split, codes = entry[part], self.codes[entry[part]]
        if not len(split):
            return
        codes[:, columns] = MISSING
        self.count[split] -= records[part]
        self.source = np.concatenate([self.source, self.source[split]])
        self.codes = np.concatenate([self.codes, codes])
        self.count = np.concatenate([self.count, records[part]])


def keys(codes: np.ndarray) -> np.ndarray:
    """Return a number per distinct row of codes (e, p), from 0 in the order of their first rows.

    Examples
    --------
    >>> import numpy as np
    >>> keys(np.array([[1, -1], [0, 5], [1, -1]])).tolist()
    [0, 1, 0]
    """
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    label: np.ndarray = kernels.groups(np.ascontiguousarray(codes), np.arange(codes.shape[1]))
    return label


def class_sizes(entries: Entries) -> np.ndarray:
    """Return for every entry the number of records that look the same."""
    import numpy as np

    label = keys(entries.codes)
    size: np.ndarray = np.bincount(label, entries.count).astype(np.int64)[label]
    return size


def matches(entries: Entries, of: np.ndarray) -> np.ndarray:
    """Return for each of the entries `of` the number of records that may be the same: a missing value fits any.

    The entries are taken by their pattern of missing values; two patterns are compared on the columns neither lacks.
    O(patterns · e · p) time.
    """
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    missing = entries.codes == MISSING
    which = keys(missing.astype(np.int8))
    order = np.argsort(which, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(which))])
    lacking = missing[order[starts[:-1]]]
    found = np.zeros(len(of), dtype=np.int64)
    by_pattern = np.argsort(which[of], kind="stable")
    bounds = np.searchsorted(which[of][by_pattern], np.arange(len(lacking) + 1))
    for own in np.flatnonzero(np.diff(bounds)).tolist():
        mine = by_pattern[bounds[own] : bounds[own + 1]]
        found[mine] = kernels.count_matches(entries.codes, entries.count, lacking, own, of[mine], order, starts)
    return found


def search_columns(
    columns: int,
    weights: np.ndarray,
    rare: np.ndarray,
    costs: Callable[[Chosen], tuple[np.ndarray, int]],
    act: Callable[[list[Plan], float], bool],
) -> bool:
    """Offer the rare entries to suppress one column, two, and so on, until some cost less than larger sets could.

    `costs` returns what suppressing these columns costs per rescued record, for each rare entry, and how many groups
    there are; `act` carries the cheapest out, and returns whether it did anything. It is called when that helps enough
    of the entries, so that no round changes little. Of the sets of each size those that help most are enlarged: all of
    them up to 8 columns, fewer the more columns there are.
    """
    import numpy as np

    best, taken = np.full(len(rare), np.inf), np.full(len(rare), -1)
    tried: list[Chosen] = []
    widest: list[Chosen] = [()]
    for level in range(1, columns + 1):
        ranked = []
        for chosen in sorted({tuple(sorted({*one, c})) for one in widest for c in range(columns) if c not in one}):
            cost, groups = costs(chosen)
            better = cost < best
            best[better], taken[better] = cost[better], len(tried)
            tried.append(chosen)
            ranked.append((-int(np.isfinite(cost).sum()), groups, chosen))
        widest = [chosen for *_, chosen in sorted(ranked)[: max(_WIDTH // columns**2, 2)]]
        limit = np.inf if level == columns else float(np.sort(weights)[: level + 1].sum())
        cheap = best < limit
        if level < columns and cheap.sum() < _ENOUGH * len(rare):
            continue
        plans = [(tried[number], rare[cheap & (taken == number)]) for number in np.unique(taken[cheap])]
        if plans and act(plans, limit):
            return True
    return False


def _shown(entries: Entries, chosen: Chosen) -> np.ndarray:
    """Return the columns that are not among the chosen."""
    import numpy as np

    return np.delete(np.arange(entries.codes.shape[1]), chosen)


def own_value(entries: Entries, columns: int, k: int, weights: np.ndarray, tick: Tick) -> None:
    """Suppress values until every record looks like at least k, a missing value being a value of its own.

    Every entry below k takes the cheapest group it can join by losing some of its values: with others below k, with
    records that look like that already, or with records borrowed from larger classes. What costs least per rescued
    record is done first.
    """
    while True:
        size = class_sizes(entries)
        rare = size < k
        if not rare.any():
            return
        tick(int(entries.count[~rare].sum()), int(entries.count.sum()))
        if not (
            _own_value_round(entries, columns, k, weights, size) or _join_classes(entries, columns, k, weights, size)
        ):
            _suppress_classes(entries, columns, size, k)


def _own_value_round(entries: Entries, columns: int, k: int, weights: np.ndarray, size: np.ndarray) -> bool:
    """Do what costs least per rescued record; return whether there was anything."""
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    rare, frequent = np.flatnonzero(size < k), np.flatnonzero(size >= k)
    surplus = _surplus(entries, frequent, size, k)

    def costs(chosen: Chosen) -> tuple[np.ndarray, int]:
        shown = _shown(entries, chosen)
        label, _, sums = kernels.tally(entries.codes, entries.count, surplus, shown, np.array(chosen), rare, frequent)
        cost = _own_value_costs(sums, float(weights[list(chosen)].sum()), k)
        return np.append(cost, np.inf)[label], len(sums)

    def act(plans: list[Plan], limit: float) -> bool:
        return _join_groups(entries, k, weights, surplus, plans, limit)

    return search_columns(columns, weights, rare, costs, act)


def _own_value_costs(sums: np.ndarray, weight: float, k: int) -> np.ndarray:
    """Return per group what a rescued record costs; infinite where there are too few to borrow."""
    import numpy as np

    join, there, lent = sums.T
    cost: np.ndarray = weight * np.maximum(k - there, join) / np.maximum(join, 1)
    cost[there + join + lent < k] = np.inf
    return cost


def _surplus(entries: Entries, frequent: np.ndarray, size: np.ndarray, k: int) -> np.ndarray:
    """Return how many records every entry can do without, so that k of those that look alike are left."""
    import numpy as np

    label = keys(entries.codes[frequent])
    order = np.argsort(label, kind="stable")
    count = entries.count[frequent][order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, entries.count[frequent]))[:-1]])[label[order]]
    before = np.cumsum(count) - count - starts
    found = np.zeros(len(size), dtype=np.int64)
    found[frequent[order]] = np.clip(size[frequent][order] - k - before, 0, count)
    return found


def _join_groups(
    entries: Entries, k: int, weights: np.ndarray, surplus: np.ndarray, plans: list[Plan], limit: float
) -> bool:
    """Form the groups that cost less than `limit` per rescued record, or else the cheapest; return whether any."""
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    offers = []
    for chosen, mine in plans:
        rest = np.delete(np.arange(len(surplus)), mine)
        label, lender, sums = kernels.tally(
            entries.codes, entries.count, surplus, _shown(entries, chosen), np.array(chosen), mine, rest
        )
        cost = _own_value_costs(sums, float(weights[list(chosen)].sum()), k)
        wanted = np.maximum(k - sums[:, 0] - sums[:, 1], 0)
        able = np.flatnonzero(lender >= 0)
        offers.append((chosen, mine, label, cost, wanted, lender[able], rest[able]))
    least = min(float(cost.min()) for _, _, _, cost, *_ in offers)
    done = False
    for chosen, mine, label, cost, wanted, of, lenders in offers:
        accepted = (cost < limit) if least < limit else (cost == least) & (cost < np.inf)
        order = np.lexsort((lenders, -surplus[lenders], of))
        of, lenders = of[order], lenders[order]
        starts = np.searchsorted(of, np.arange(len(cost) + 1))
        cheapest = np.argsort(cost, kind="stable")
        served, given = kernels.lend(cheapest[accepted[cheapest]], starts, lenders, surplus, wanted)
        joins, lends = mine[served[label]], given > 0
        entries.suppress(
            np.concatenate([joins, lenders[lends]]), chosen, np.concatenate([entries.count[joins], given[lends]])
        )
        done |= bool(len(joins))
    return done


def _join_classes(entries: Entries, columns: int, k: int, weights: np.ndarray, size: np.ndarray) -> bool:
    """Suppress the same values in rare entries and in a whole class that has no record to lend; return whether any."""
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    rare, frequent = np.flatnonzero(size < k), np.flatnonzero(size >= k)
    classes = keys(entries.codes)

    def offer(chosen: Chosen, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the group of each entry, what a rescued record of the group costs, and the class it joins."""
        label, lender, sums = kernels.tally(
            entries.codes, entries.count, size, _shown(entries, chosen), np.array(chosen), mine, frequent
        )
        able = np.flatnonzero(lender >= 0)
        able = able[np.lexsort((able, size[frequent[able]], lender[able]))]
        groups, first = np.unique(lender[able], return_index=True)
        smallest = np.full(len(sums), -1)
        smallest[groups] = frequent[able[first]]
        cost = weights[list(chosen)].sum() * (1 + size[smallest] / np.maximum(sums[:, 0], 1))
        return label, np.where(smallest < 0, np.inf, cost), smallest

    def costs(chosen: Chosen) -> tuple[np.ndarray, int]:
        label, cost, _ = offer(chosen, rare)
        return np.append(cost, np.inf)[label], len(cost)

    def act(plans: list[Plan], limit: float) -> bool:
        # Two sets of columns could want the same class: only the cheapest set is done.
        offers = [(chosen, mine, *offer(chosen, mine)) for chosen, mine in plans]
        chosen, mine, label, cost, smallest = min(offers, key=lambda one: float(one[3].min()))
        accepted = (smallest >= 0) & (cost <= max(float(cost.min()), limit))
        joined = np.isin(classes, classes[smallest[accepted]])
        together = np.concatenate([mine[accepted[label]], np.flatnonzero(joined)])
        entries.suppress(together, chosen, entries.count[together])
        return True

    return search_columns(columns, weights, rare, costs, act)


def _suppress_classes(entries: Entries, columns: int, size: np.ndarray, k: int) -> None:
    """Suppress all values of the rare entries, and of the smallest class of every stratum where they are below k."""
    import numpy as np

    rare = np.flatnonzero(size < k)
    entries.suppress(rare, range(columns), entries.count[rare])
    size, label = class_sizes(entries), keys(entries.codes)
    strata = keys(entries.codes[:, columns:])
    shows = (entries.codes[:, :columns] != MISSING).any(axis=1)
    short = np.unique(strata[size < k])
    able = np.flatnonzero(shows & np.isin(strata, short))
    able = able[np.lexsort((able, size[able], strata[able]))]
    smallest = able[np.unique(strata[able], return_index=True)[1]]
    taken = np.flatnonzero(np.isin(label, label[smallest]))
    entries.suppress(taken, range(columns), entries.count[taken])


def wildcard(entries: Entries, columns: int, k: int, weights: np.ndarray, tick: Tick) -> None:
    """Suppress values until every record may be any of at least k, a missing value fitting all.

    Where the records of a group differ in some columns only, k - 1 of them without these columns are enough: each of
    the others fits them and itself. A suppression takes no match away, so that only rare entries are counted again.
    """
    import numpy as np

    original, records = entries.codes.copy(), int(entries.count.sum())
    rare = np.arange(len(entries.count))
    while True:
        size = matches(entries, rare)
        rare, size = rare[size < k], size[size < k]
        if not len(rare):
            break
        tick(records - int(entries.count[rare].sum()), records)
        before = len(entries.count)
        _wildcard_round(entries, columns, k, weights, rare, k - size)
        rare = np.concatenate([rare, np.arange(before, len(entries.count))])
    _prune(entries, original[entries.source], k, tick)


def _wildcard_round(
    entries: Entries, columns: int, k: int, weights: np.ndarray, rare: np.ndarray, need: np.ndarray
) -> None:
    """Do what costs least per rescued record; `need` is what the rare entries lack."""
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    order = np.lexsort((rare, -need))
    rare, need = rare[order], need[order]
    others = np.delete(np.arange(len(entries.count)), rare)
    lacks = np.zeros(len(entries.count), dtype=np.int64)
    lacks[rare] = need

    def costs(chosen: Chosen) -> tuple[np.ndarray, int]:
        label, _, sums = kernels.relieve(
            entries.codes, entries.count, need, _shown(entries, chosen), np.array(chosen), rare, others
        )
        total, join, some = sums.T
        cost = weights[list(chosen)].sum() * some / np.maximum(join, 1)
        return np.append(np.where(total < k, np.inf, cost), np.inf)[label], len(sums)

    def act(plans: list[Plan], limit: float) -> bool:
        for chosen, mine in plans:
            _, taken, _ = kernels.relieve(
                entries.codes, entries.count, lacks[mine], _shown(entries, chosen), np.array(chosen), mine, others[:0]
            )
            entries.suppress(mine[taken > 0], chosen, taken[taken > 0])
        return True

    search_columns(columns, weights, rare, costs, act)


def _prune(entries: Entries, original: np.ndarray, k: int, tick: Tick) -> None:
    """Give values back where every record keeps its k without that; only where it is quick."""
    import numpy as np

    kernels = late("sqlmicro.mask._suppression_kernels")

    changed = np.flatnonzero((original != entries.codes).any(axis=1))
    if not len(changed) or len(changed) * len(entries.count) > _PRUNED_AT_MOST:
        return
    size = matches(entries, np.arange(len(entries.count)))
    changed = changed[np.argsort(-entries.count[changed], kind="stable")]
    records = int(entries.count.sum())
    for some in np.array_split(changed, len(changed) * len(entries.count) // _SLICE + 1):
        kernels.give_back(entries.codes, entries.count, original, size, some, k)
        tick(records, records)


def search(
    entries: Entries, columns: int, k: int, weights: np.ndarray, subsets: int | None, nulls_match: str, tick: Tick
) -> None:
    """Suppress over all columns, or over every subset of them until all hold; a stronger demand may cost less."""
    begun, best, least = entries.copy(), entries.copy(), float("inf")
    for size, reading in _as_strong(len(begun.count), columns, subsets, nulls_match):
        found = begun.copy()
        _until_all_hold(found, columns, k, weights, size, own_value if reading == "own-value" else wildcard, tick)
        if (cost := found.suppressed(weights)) < least:
            best, least = found, cost
        if least == begun.suppressed(weights):
            break
    entries.source, entries.codes, entries.count = best.source, best.codes, best.count


def _as_strong(entries: int, columns: int, subsets: int | None, nulls_match: str) -> list[tuple[int, str]]:
    """Return the demands that imply the one that is asked for, itself first: of how many columns, in which reading.

    What holds of combinations of some columns holds of those of fewer, and records that look alike may be the same.
    """
    size = min(subsets or columns, columns)
    own, readings = [size], [nulls_match] if nulls_match == "own-value" else [nulls_match, "own-value"]
    sets = comb(columns, size)
    for larger in range(columns, size, -1):
        if (sets := sets + comb(columns, larger)) * entries <= _SETS_AT_MOST or larger == columns:
            own.append(larger)
    return [(number, reading) for number in own for reading in readings]


def _until_all_hold(
    entries: Entries,
    columns: int,
    k: int,
    weights: np.ndarray,
    subsets: int,
    suppressed: Callable[[Entries, int, int, np.ndarray, Tick], None],
    tick: Tick,
) -> None:
    """Suppress over every subset of so many columns, again and again until all hold."""
    import numpy as np

    if subsets == columns:
        suppressed(entries, columns, k, weights, tick)
        return
    rest = list(range(columns, entries.codes.shape[1]))
    before = -1
    while before != (now := int((entries.count[:, None] * (entries.codes[:, :columns] < 0)).sum())):
        before = now
        for chosen in combinations(range(columns), subsets):
            part = Entries(np.arange(len(entries.count)), entries.codes[:, [*chosen, *rest]].copy(), entries.count)
            suppressed(part, subsets, k, weights[list(chosen)], tick)
            codes = entries.codes[part.source]
            codes[:, list(chosen)] = part.codes[:, :subsets]
            entries.source, entries.codes, entries.count = entries.source[part.source], codes, part.count
