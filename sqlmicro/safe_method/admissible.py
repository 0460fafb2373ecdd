"""SAFE in a series: the combinations of a night, what was shown of them, and which counts may follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.combined import Combined, File
from sqlmicro.safe_method.coordinates import Coordinates
from sqlmicro.safe_method.deniable import Pool
from sqlmicro.safe_method.given_away import RareCombinations

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem
    from sqlmicro.safe_method._night_kernels import Choices

_STAY = 1.0
"""Price of another count than last night's, as a share of k²."""
_REACH = 2
"""Counts that a combination may have differ from the original by at most so many times k."""


@dataclass(frozen=True)
class Shown:
    """What the nights before have shown of the combinations of tonight.

    Attributes
    ----------
    before : ndarray of shape (cells,)
        Records in last night's file.
    first, count : ndarrays of shape (cells + 1,) and (m,)
        The distinct counts that combination i was shown with are `count[first[i]:first[i + 1]]`; 0 need not be there.
    totals : ndarray
        The numbers of records of all files before.
    """

    before: np.ndarray
    first: np.ndarray
    count: np.ndarray
    totals: np.ndarray


@dataclass(frozen=True)
class Published:
    """The files of the nights before: every combination that any of them showed.

    Attributes
    ----------
    codes, numbers : ndarrays of shape (combinations, …)
        As in the file of tonight: equal numbers are equal values.
    before, first, count, totals : ndarrays
        As in `Shown`.
    draw : ndarray of shape (combinations,)
        The keyed number of each, as in `Pool`.
    occurred : ndarray
        The keyed numbers of what records had in any night.
    """

    codes: np.ndarray
    numbers: np.ndarray
    before: np.ndarray
    first: np.ndarray
    count: np.ndarray
    totals: np.ndarray
    draw: np.ndarray
    occurred: np.ndarray


@dataclass(frozen=True)
class Combinations:
    """The combinations of tonight's search: those that occur, those that may be invented, and last night's others."""

    codes: np.ndarray
    numbers: np.ndarray
    n: np.ndarray
    pool: Pool | None
    shown: Shown
    other: np.ndarray
    """Which of the combinations that were shown the last ones are."""
    occurred: np.ndarray
    """Whether records had the combination in any night: it does not count as invented."""

    def columns(self, k: int) -> Coordinates:
        """Return the combinations as coordinates."""
        return Coordinates.of(self.codes, self.numbers, self.n, k)

    @classmethod
    def of(cls, file: File, flagged: tuple[int, ...], pool: Pool | None, published: Published) -> Combinations:
        """Join the combinations of tonight with those that were shown.

        Parameters
        ----------
        file : tuple
            Codes, numbers and records, as `Combined.file` returns them with `pool.new`.
        flagged : tuple of int
            The numbers with missing values, as in `Combined`.
        pool : Pool, optional
            Of all columns, since in a series all keep their values. What was shown last night may be shown.
        published : Published
        """
        import numpy as np

        codes, numbers, n, k = file
        rows = np.hstack([codes, numbers])
        both = np.unique(
            np.concatenate([rows, np.hstack([published.codes, published.numbers])]), axis=0, return_inverse=True
        )[1].reshape(-1)
        place = np.full(int(both.max()) + 1, -1)
        place[both[: len(n)]] = np.arange(len(n))
        at = place[both[len(n) :]]
        other = np.flatnonzero((at < 0) & (published.before > 0))
        at[other] = len(n) + np.arange(len(other))
        size, known = len(n) + len(other), np.flatnonzero(at >= 0)
        before = np.zeros(size, dtype=np.int64)
        before[at[known]] = published.before[known]
        of = np.repeat(at, np.diff(published.first))
        order = np.argsort(of, kind="stable")
        first = np.searchsorted(of[order], np.arange(size + 1))
        first, count = first - first[0], published.count[order[first[0] :]]
        codes = np.concatenate([codes, published.codes[other]])
        numbers = np.concatenate([numbers, published.numbers[other]])
        n = np.concatenate([n, np.zeros(len(other), dtype=np.int64)])
        occurred = n > 0
        if pool:
            values = Combined(codes, numbers, n, n, n, flagged).values
            made = np.ones(len(other), dtype=np.bool_)
            persons = np.concatenate([pool.n[pool.of], np.zeros(len(other), dtype=np.int64)])
            occurred = occurred | np.isin(np.concatenate([pool.draw, published.draw[other]]), published.occurred)
            # Of other sets of columns no night remembers what occurred.
            rare = RareCombinations.of(values, lambda number: np.bincount(number, persons), occurred, k, known=0)
            pool = replace(
                pool, rare=rare, of=np.arange(size), kept=values, n=persons, few=np.concatenate([pool.few, made]),
                may_open=np.concatenate([pool.may_open, made]), draw=np.concatenate([pool.draw, published.draw[other]]),
            )  # fmt: skip
        return cls(codes, numbers, n, pool, Shown(before, first, count, published.totals), other, occurred)


def nearest_total(records: int, totals: np.ndarray, k: int) -> int:
    """Return the largest number of records up to `records` that may follow on those that files had; 0 if there is none.

    >>> import numpy as np
    >>> [nearest_total(records, np.array([100]), 5) for records in (104, 105, 99)]
    [100, 105, 95]
    """
    import numpy as np

    for number in range(records, k - 1, -1):
        gap = np.abs(totals - number)
        if np.all((gap == 0) | (gap >= k)):
            return number
    return 0


def choices_of(problem: Problem, shown: Shown, closed: np.ndarray, may_close: np.ndarray) -> Choices:
    """Return the counts that every combination may have tonight, not too far from the original.

    Last night's count, and others that were shown near the original, are never out of reach.

    Parameters
    ----------
    problem : Problem
        Its `n` and `k`.
    shown : Shown
    closed : ndarray of bool
        What must not be shown.
    may_close : ndarray of bool
        What need not be shown.
    """
    import numpy as np

    admissible, make = late("sqlmicro.safe_method._night_kernels", "admissible", "Choices")

    n, k, size, reach = problem.n, problem.k, len(problem.n), _REACH * problem.k
    width = 2 * reach + 1
    low = np.maximum(n - reach, k)
    near = np.stack([np.repeat(np.arange(size), width), (low[:, None] + np.arange(width)).reshape(-1)], axis=1)
    near = near[near[:, 1] <= np.maximum(n, k)[near[:, 0]] + reach]
    of = np.repeat(np.arange(size), np.diff(shown.first))
    again = np.stack([of, shown.count], axis=1)[np.abs(shown.count - n[of]) <= 2 * reach]
    pairs = np.concatenate([near, again, np.stack([np.arange(size), shown.before], axis=1)])
    pairs = pairs[~closed[pairs[:, 0]] & (pairs[:, 1] > 0)]
    pairs = pairs[admissible(pairs, shown.first, shown.count, k)]
    none = may_close | closed | (np.bincount(pairs[:, 0], minlength=size) == 0) | (shown.before == 0)
    zero = np.flatnonzero(none)
    pairs = np.unique(np.concatenate([pairs, np.stack([zero, np.zeros_like(zero)], axis=1)]), axis=0)
    first = np.searchsorted(pairs[:, 0], np.arange(size + 1))
    price = _STAY * k**2 * (pairs[:, 1] != shown.before[pairs[:, 0]])
    made: Choices = make(first, pairs[:, 1].copy(), price, np.flatnonzero(np.diff(first) > 1))
    return made


def begun(problem: Problem, shown: Shown, choices: Choices) -> np.ndarray:
    """Return the placement a night begins with: last night's, but for frequent combinations that have changed by k.

    These take the count nearest to the original at once: others would else make up for them, and hold them fast.
    """
    import numpy as np

    placed = shown.before.copy()
    for i in np.flatnonzero((problem.n >= problem.k) & (np.abs(shown.before - problem.n) >= problem.k)):
        own = choices.count[choices.first[i] : choices.first[i + 1]]
        placed[i] = own[np.argmin(np.abs(own - problem.n[i]))]
    return placed
