"""SAFE, the direct search: combinations that never occurred and that nobody can tell from those that did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np

LEAST_COLUMNS = 4
"""With fewer, a combination whose pairs and triples all occur occurs itself."""
_TRIED_AT_MOST = 4_000_000
_LOOKED_AT_MOST = 200_000_000
"""Values looked at for the triples of all columns: about 20 seconds."""
_EVERY_LOOK = 20_000
"""What a look costs besides, in values."""
_BY_PAIRS, _BY_SIBLINGS = 5, 4
_PAIRS_AT_MOST = 60


@dataclass(frozen=True)
class Invented:
    """Combinations that never occurred; all arrays have the same length.

    Attributes
    ----------
    values : ndarray of shape (invented, columns)
        Numbered as those of the originals.
    base, donor, column : ndarrays
        Each is the original `base` with the value of `column` that the original `donor` has.
    """

    values: np.ndarray
    base: np.ndarray
    donor: np.ndarray
    column: np.ndarray

    def take(self, chosen: np.ndarray) -> Invented:
        """Return some of them."""
        return Invented(self.values[chosen], self.base[chosen], self.donor[chosen], self.column[chosen])


def invent(values: np.ndarray, kept: int, draw: np.ndarray) -> Invented:
    """Return the combinations that differ from an original in one value and do not occur, but all whose triples do.

    Parameters
    ----------
    values : ndarray of shape (cells, columns)
        The originals, every column numbered. The first `kept` columns are released as they are: only these change,
        and over them the combination must not occur.
    kept : int
        Number of these columns.
    draw : ndarray of shape (cells,)
        A keyed number from 0 to 1 per original: where there would be too many, those with the lowest are changed.

    Returns
    -------
    Invented
        Each once, in lexicographic order.

    Notes
    -----
    Time and memory follow the originals times the values of a column, at most four million in all. Where the triples of
    all columns are too many to be looked at, nothing is invented, see `affordable`.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[a, b, c, d] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)])
    >>> invent(values[:-1], 4, np.zeros(15)).values.tolist()
    [[1, 1, 1, 1]]
    """
    import numpy as np

    width = values.shape[1]
    bases = np.arange(len(values))
    many = len(values) * int((values.max(axis=0, initial=0) + 1)[:kept].sum())
    if many > _TRIED_AT_MOST:
        bases = np.flatnonzero(draw < _TRIED_AT_MOST / many)
    made = []
    for j in range(kept if width >= LEAST_COLUMNS and len(bases) and affordable(len(values), width, kept) else 0):
        others = [values[bases, c] for c in range(width) if c != j]
        first = bases[np.unique(numbered(others), return_index=True)[1]]
        donors = np.unique(values[:, j], return_index=True)[1]
        base, donor = np.repeat(first, len(donors)), np.tile(donors, len(first))
        changed = values[base]
        changed[:, j] = values[donor, j]
        rest = [c for c in range(width) if c != j]
        # Triples without the column are those of the base. Pairs are part of triples: they only rule out most sooner.
        for others_too in chain(((c,) for c in rest), combinations(rest, 2)):
            if not len(changed):
                break
            there = occurring(changed, values, (j, *others_too))
            changed, base, donor = changed[there], base[there], donor[there]
        new = ~occurring(changed, values, range(kept))
        made.append(Invented(changed[new], base[new], donor[new], np.full(int(new.sum()), j)))
    if not made:
        none = np.zeros(0, dtype=np.int64)
        return Invented(values[:0], none, none, none)
    every = Invented(
        *(np.concatenate([getattr(one, name) for one in made]) for name in ("values", "base", "donor", "column"))
    )
    return every.take(np.unique(every.values, axis=0, return_index=True)[1])


def affordable(cells: int, columns: int, kept: int) -> bool:
    """Tell whether all triples can be looked at in some 20 seconds; else nothing is invented.

    >>> affordable(139_550, 8, 8), affordable(10**6, 20, 20)
    (True, False)
    """
    return kept * comb(columns - 1, 2) * (cells + _EVERY_LOOK) <= _LOOKED_AT_MOST


def occurring(rows: np.ndarray, among: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Tell which rows agree in some columns with a row among others.

    >>> import numpy as np
    >>> occurring(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [1, 0]]), (0, 1)).tolist()
    [True, False]
    """
    import numpy as np

    key = numbered([np.concatenate([among[:, c], rows[:, c]]) for c in columns])
    there = np.zeros(int(key.max(initial=-1)) + 1, dtype=np.bool_)
    there[key[: len(among)]] = True
    found: np.ndarray = there[key[len(among) :]]
    return found


def alike(
    values: np.ndarray, n: np.ndarray, k: int, showable: np.ndarray, invented: Invented, draw: np.ndarray, ratio: float
) -> np.ndarray:
    """Choose, by their keyed numbers, invented combinations that look like the originals that may be shown.

    Two things would tell them: how frequent their pairs of values are, and how many combinations differ from them in
    one value. So each bin of these two gets `ratio` times as many as it has originals that may be shown.

    Returns
    -------
    ndarray of int64
        Places in `invented`, sorted.
    """
    import numpy as np

    both = np.concatenate([values, invented.values])
    records = np.concatenate([n, np.zeros(len(invented.values), dtype=np.int64)])
    pairs, siblings = _familiarity(both, records), _siblings(both, records, k)
    some, new = np.flatnonzero(showable), np.arange(len(values), len(both))
    by_pairs = np.quantile(pairs[some], np.arange(1, _BY_PAIRS) / _BY_PAIRS)
    by_siblings = np.quantile(siblings[some], np.arange(1, _BY_SIBLINGS) / _BY_SIBLINGS)
    bins = np.searchsorted(by_pairs, pairs) * _BY_SIBLINGS + np.searchsorted(by_siblings, siblings)
    wanted = np.rint(ratio * np.bincount(bins[some], minlength=_BY_PAIRS * _BY_SIBLINGS))
    order = np.lexsort([draw, bins[new]])
    own = bins[new][order]
    place = np.arange(len(new)) - np.searchsorted(own, own)
    chosen: np.ndarray = np.sort(order[place < wanted[own]])
    return chosen


def _familiarity(values: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the sum over pairs of columns of the log of how many others have the same two values."""
    import numpy as np

    pairs = list(combinations(range(values.shape[1]), 2))
    total = np.zeros(len(values))
    for a, b in (
        [pairs[i * len(pairs) // _PAIRS_AT_MOST] for i in range(_PAIRS_AT_MOST)]
        if len(pairs) > _PAIRS_AT_MOST
        else pairs
    ):
        cell = numbered([values[:, a], values[:, b]])
        total += np.log(np.bincount(cell, n)[cell] - n + 0.5)
    return total


def _siblings(values: np.ndarray, n: np.ndarray, k: int) -> np.ndarray:
    """Return how many originals differ in one value; those below k, which may be shown or not, count a quarter."""
    import numpy as np

    counts = np.where(n >= k, 1.0, np.where(n > 0, 0.25, 0.0))
    total = np.zeros(len(values))
    for j in range(values.shape[1]):
        rest = numbered([values[:, c] for c in range(values.shape[1]) if c != j])
        total += np.bincount(rest, counts)[rest] - counts
    return total
