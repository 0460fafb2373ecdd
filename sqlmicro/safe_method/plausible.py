"""SAFE, the direct search: combinations that never occurred and that nobody can tell from those that did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import numbered

if TYPE_CHECKING:
    import numpy as np

LEAST_COLUMNS = 2
"""A combination of one column that never occurred has a value that nobody has."""
_LOOKED_AT_MOST = 200_000_000
"""Values looked at for the triples of all columns: about 20 seconds."""
_EVERY_LOOK = 20_000
"""What a look costs besides, in values."""
_TRIED_AT_MOST = 10_000_000
"""Pairs and triples that are looked up of the changes that are tried."""
_NEW_PAIRS = 4
"""An invented combination has at most so many pairs of values that never occurred."""
_LEAST_EXPECTED = 0.02
"""What never occurred and was expected less often than that would look odd."""
_DENSE = 4_000_000
_TABLES_AT_MOST = 60
_BINS, LOOKS = 20, 5
_ROUNDS, _RIDGE = 8, 1.0


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


@dataclass(frozen=True)
class _Counts:
    """How many records have which values of some columns."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    keys: np.ndarray
    """Empty where the counts are by key."""
    counts: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, n: np.ndarray, columns: Sequence[int]) -> _Counts:
        import numpy as np

        widths = tuple(int(values[:, c].max(initial=0)) + 1 for c in columns)
        made = cls(tuple(columns), widths, np.zeros(0, dtype=np.int64), np.zeros(0))
        key, size = made._key(values), int(np.prod(np.array(widths, dtype=float)))
        if size <= _DENSE:
            return cls(made.columns, widths, made.keys, np.bincount(key, n, size))
        keys, of = np.unique(key, return_inverse=True)
        return cls(made.columns, widths, keys, np.bincount(of.reshape(-1), n))

    def _key(self, rows: np.ndarray) -> np.ndarray:
        import numpy as np

        key = np.zeros(len(rows), dtype=np.int64)
        for c, width in zip(self.columns, self.widths, strict=True):
            key = key * width + rows[:, c]
        return key

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return how many records have the values of some rows."""
        import numpy as np

        key = self._key(rows)
        if not len(self.keys):
            dense: np.ndarray = self.counts[key]
            return dense
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        found: np.ndarray = np.where(self.keys[place] == key, self.counts[place], 0.0)
        return found


def invent(values: np.ndarray, kept: int, n: np.ndarray, draw: np.ndarray, k: int) -> Invented:
    """Return combinations that differ from an original in one value and do not occur, but well could have.

    Parameters
    ----------
    values : ndarray of shape (cells, columns)
        The originals, every column numbered. The first `kept` columns are released as they are: only these change,
        and over them the combination must not occur.
    kept : int
        Number of these columns.
    n : ndarray of shape (cells,)
        How often each occurs.
    draw : ndarray of shape (cells,)
        A keyed number from 0 to 1 per original: where there would be too many, those with the lowest are changed.
    k : int
        A pair, or a triple, that never occurred, was expected to occur less often.

    Returns
    -------
    Invented
        Each once, in lexicographic order.

    Notes
    -----
    Every value of an invented combination occurs at least k times. A pair of values that never occurred is expected
    n_a n_b / N times, as if both were independent; a triple whose pairs all occur N n_ab n_ac n_bc / (n_a n_b n_c)
    times, by the model without an interaction of all three. What should have occurred k times or more and did not, is
    taken to be impossible, as a widowed child, and is not invented.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[a, b, c, d] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)])
    >>> invent(values[:-1], 4, np.ones(15), np.zeros(15), 3).values.tolist()
    [[1, 1, 1, 1]]
    """
    import numpy as np

    width = values.shape[1]
    made = []
    if width >= LEAST_COLUMNS and len(values) and affordable(len(values), width, kept):
        counts = [_Counts.of(values, n, (c,)) for c in range(width)]
        often = [np.flatnonzero(counts[c].counts >= k) for c in range(width)]
        bases = np.flatnonzero(np.all([counts[c](values) >= k for c in range(width)], axis=0))
        tried = len(bases) * sum(len(often[j]) for j in range(kept)) * (width - 1 + comb(width - 1, 2))
        if tried > _TRIED_AT_MOST:
            bases = bases[draw[bases] < _TRIED_AT_MOST / tried]
        pairs = {pair: _Counts.of(values, n, pair) for pair in combinations(range(width), 2)}
        made = [_changed(values, kept, n, bases, j, often[j], counts, pairs, k) for j in range(kept)]
    made = [one for one in made if len(one.base)]
    if not made:
        none = np.zeros(0, dtype=np.int64)
        return Invented(values[:0], none, none, none)
    every = Invented(
        *(np.concatenate([getattr(one, name) for one in made]) for name in ("values", "base", "donor", "column"))
    )
    return every.take(np.unique(every.values, axis=0, return_index=True)[1])


def _changed(
    values: np.ndarray,
    kept: int,
    n: np.ndarray,
    bases: np.ndarray,
    j: int,
    often: np.ndarray,
    counts: Sequence[_Counts],
    pairs: dict[tuple[int, int], _Counts],
    k: int,
) -> Invented:
    """Return the originals `bases` with another value of column j, one of those had often, where it is plausible."""
    import numpy as np

    first = np.full(int(values[:, j].max()) + 1, -1)
    first[values[::-1, j]] = np.arange(len(values))[::-1]
    base, donor = np.repeat(bases, len(often)), np.tile(first[often], len(bases))
    rows = values[base]
    rows[:, j] = values[donor, j]
    records, rest = float(n.sum()), [c for c in range(values.shape[1]) if c != j]
    new = np.zeros(len(rows), dtype=np.int64)

    def only(some: np.ndarray) -> None:
        nonlocal base, donor, rows, new
        base, donor, rows, new = base[some], donor[some], rows[some], new[some]

    only(~occurring(rows, values, range(kept)))
    for c in rest:
        found = pairs[min(j, c), max(j, c)](rows)
        expected = counts[j](rows) * counts[c](rows) / records
        new += found == 0
        only((found > 0) | ((expected < k) & (expected >= _LEAST_EXPECTED) & (new <= _NEW_PAIRS)))
    for c, d in combinations(rest, 2):
        own = pairs[min(j, c), max(j, c)](rows), pairs[min(j, d), max(j, d)](rows), pairs[c, d](rows)
        product = counts[j](rows) * counts[c](rows) * counts[d](rows)
        expected = records * own[0] * own[1] * own[2] / product
        only((expected < k) | (_Counts.of(values, n, (j, c, d))(rows) > 0))
    return Invented(rows, base, donor, np.full(len(rows), j))


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
    values: np.ndarray,
    n: np.ndarray,
    k: int,
    few: np.ndarray,
    showable: np.ndarray,
    invented: Invented,
    draw: np.ndarray,
    ratio: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose, by their keyed numbers, invented combinations that look like the originals that may be shown.

    What tells them is how many others have the same values, pairs, triples and fours, and how many combinations differ
    from them in one value. A logistic regression weighs that (the propensity score of Rosenbaum & Rubin 1983), and each
    bin of it gets `ratio` times as many as it has originals that may be shown: first those that show the fewest rare
    pairs, triples and fours that somebody has.

    Returns
    -------
    chosen : ndarray of int64
        Places in `invented`, sorted.
    looks : ndarray of int64
        Of the originals, then of those chosen: which of a few such bins they are in; -1 for originals not `few`.
    """
    import numpy as np

    some, new = np.flatnonzero(few), np.arange(len(invented.values))
    both = np.concatenate([values[some], invented.values])
    own = np.concatenate([n[some], np.zeros(len(new), dtype=np.int64)])
    features, true = _seen(both, own, values, n, k)
    features = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-9)
    made = np.arange(len(both)) >= len(some)
    real = np.concatenate([showable[some], np.zeros(len(new), dtype=np.bool_)])
    score = _propensity(np.hstack([np.ones((len(both), 1)), features, features**2]), real, real | made)
    bins = np.searchsorted(np.quantile(score[real], np.arange(1, _BINS) / _BINS), score)
    wanted = np.rint(ratio * np.bincount(bins[real], minlength=_BINS))
    order = np.lexsort([draw, true[made], bins[made]])
    in_bin = bins[made][order]
    place = np.arange(len(new)) - np.searchsorted(in_bin, in_bin)
    chosen = np.sort(order[place < wanted[in_bin]])
    looks = np.full(len(values) + len(chosen), -1)
    looks[some], looks[len(values) :] = bins[~made], bins[made][chosen]
    return chosen, np.where(looks < 0, -1, looks * LOOKS // _BINS)


def _seen(
    rows: np.ndarray, own: np.ndarray, values: np.ndarray, n: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return what somebody sees of rows who has so many records of their own among others, and what is true of it.

    That is the number of sets of two to four columns of which some others, but fewer than k, have what a row has.
    """
    import numpy as np

    width, features, true = values.shape[1], [], np.zeros(len(rows), dtype=np.int64)
    for size in range(1, min(4, width - 1) + 1):
        sets = list(combinations(range(width), size))
        if len(sets) > _TABLES_AT_MOST:
            sets = [sets[i * len(sets) // _TABLES_AT_MOST] for i in range(_TABLES_AT_MOST)]
        total, least, alone = np.zeros(len(rows)), np.full(len(rows), np.inf), np.zeros(len(rows))
        for one in sets:
            others = _Counts.of(values, n, one)(rows) - own
            total += np.log(others + 0.5)
            least = np.minimum(least, others)
            alone += others <= 0
            true += (size > 1) & (others > 0) & (others < k)
        features += [total, np.log(least + 0.5), *([alone] if size > 1 else [])]
    counts = np.where(n >= k, 1.0, np.where(n > 0, 0.25, 0.0))
    siblings = -width * np.where(own >= k, 1.0, np.where(own > 0, 0.25, 0.0))
    for j in range(width):
        siblings += _Counts.of(values, counts, [c for c in range(width) if c != j])(rows)
    return np.stack([*features, siblings], axis=1), true


def _propensity(x: np.ndarray, real: np.ndarray, told: np.ndarray) -> np.ndarray:
    """Return the linear predictor of a logistic regression of those `told`, in which both kinds weigh the same."""
    import numpy as np

    weight = np.where(real, 0.5 / max(1, real.sum()), 0.5 / max(1, (told & ~real).sum())) * len(x) * told
    beta = np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        curvature = x.T @ (x * (weight * p * (1 - p))[:, None]) + _RIDGE * np.eye(x.shape[1])
        beta += np.linalg.solve(curvature, x.T @ (weight * (real - p)) - _RIDGE * beta)
    return x @ beta
