"""Suppression over subsets of the columns: whoever asks for less than another loses no more."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sqlmicro.mask.suppression import Entries, own_value, wildcard
from sqlmicro.registry import Tick

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

_SETS_AT_MOST = 1_000_000
"""Sets of columns, times the combinations that occur: so far are demands tried that imply the one that is asked for."""


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
