"""How far a grouping is from the optimum: column generation over groups of k to 2k-1 records, and a lower bound."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.group._column_generation import ColumnGeneration, Pool
from sqlmicro.group._partitioning import TimeOver, needed
from sqlmicro.group.local_search import Search
from sqlmicro.registry import Tick, rounded_up

if TYPE_CHECKING:
    import numpy as np

MOST_RECORDS = 10_000
_SWEEPS_OF_BEST, _COLUMNS_OF_BEST, _GAIN_OF_BEST = 3, (2000,), 1e-5
_ENRICHMENTS = 3
_ROUNDS_OF_BEST = 500  # over k, of the linear programme in a search without a bound: it takes longer with k
_STEPS_OF_BEST = 21_000_000_000  # over k, of the searches for groups: 10 to 20 s
_AFAR = ((1, 40_000, 48_000_000, 10.0), (2, 20_000, 24_000_000, 1.0), (1, 100_000, 200_000_000, 1.0))
"""Annealing: runs, proposals per record, but at most so many, temperature. The first loosens what lies far out too; the
short ones find other groups, among which the linear programme chooses."""
_COLD = (0.001, 0.05)  # temperature at the end: between these, where all but 1 % of the records have settled
_SETTLED = 8  # temperatures below the spread of a record
_NEARBY = ((15, 3_000, 4_000_000, 0.15),)


@dataclass(frozen=True)
class Certificate:
    """A grouping, and what is known about the least possible SSE."""

    labels: np.ndarray
    sse: float
    lower_bound: float | None
    note: str


def certify(
    X: np.ndarray,
    labels: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    pool: Pool = lambda labels, rounded: (),
    least: float = 0.0,
    time_limit: float | None = None,
) -> Certificate:
    """Improve a grouping by set partitioning, and bound the SSE of every grouping from below.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised records. Not changed.
    labels : ndarray of shape (n,)
        A grouping into groups of at least k.
    k : int
        Smallest number of records in a group.
    rng : Generator
        Seeds the MILP.
    tick : callable
        Told (steps done, steps at most) and the best loss so far.
    pool : callable, default nothing
        Given the best labels so far, yields labels of good groupings, such as an annealer makes.
    least : float, default 0
        A lower bound on the SSE of every grouping that is known already.
    time_limit : float, optional
        Seconds until the best result so far is returned. By default counts alone limit the work, so that the same
        generator gives the same labels.

    Returns
    -------
    Certificate
        labels (n,), numbered 0..G-1 by their first record; sse; lower_bound on the SSE of every grouping, None where
        none above 0 is known; note, what the two say.

    Raises
    ------
    InputError
        When highspy is not installed or n is above 10 000.

    Notes
    -----
    A best grouping needs no group of 2k records or more, so the problem is: of all groups of k to 2k-1 records choose
    those of least SSE that hold every record once. Its linear programme is solved by column generation (du Merle,
    Hansen, Jaumard & Mladenović 2000 and Aloise, Hansen & Liberti 2012 for clustering; Aloise, Hansen, Rocha & Santi
    2014 for microaggregation). The dual gives each record a price. A group is worth adding where its excess, the sum of
    its prices less its SSE, is positive. Two searches look for such groups. One moves centres as k-means does. The
    other is exact: the SSE of s records is the sum of their squared distances over s, so the excess is additive over
    pairs and a depth-first search with bounds finds the largest around every record. The prices are smoothed (Wentges
    1997). Fractional solutions are cut off by subset-row inequalities on triples of records (Jepsen, Petersen,
    Spoorendonk & Pisinger 2008); their duals are fines, which pricing takes into account exactly. A MILP then chooses
    among the groups that may be in a better grouping than the best so far.

    The bound is Lagrange's and holds for any prices and fines, also where column generation stops early. Every group
    belongs to that of its records which comes first in a fixed order. Whatever the grouping, its SSE is at least the
    sum of all prices less all fines less the excess of its groups. These are at most n/k, of different first records,
    so that the n/k largest bounds on the excess by first record are enough to take off. Where the search around a
    record is cut short, the bound of its open branches takes the place of the largest excess, so that every round gives
    a bound, however little was searched; it may be below `least`, or below 0. The steps of a round are shared out among
    the records that are left. 10⁻⁹ of the SSE is taken off for rounding. Where all groups that may be in a better
    grouping are known, the bound of the MILP holds too; 10⁻⁶ of the SSE is taken off it, since HiGHS works with
    tolerances.

    Time and memory grow with the number of groups worth looking at, and with k more than with n. No polynomial bound on
    the time is known: the problem is NP-hard (Oganian & Domingo-Ferrer 2001).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0], [0.5], [10.5]])
    >>> found = certify(X, np.zeros(6, dtype=int), 3, np.random.default_rng(0), lambda *_: None)
    >>> found.labels.tolist(), round(found.sse, 3), found.sse - found.lower_bound < 1e-5
    ([0, 0, 1, 1, 0, 1], 1.667, True)
    """
    ready(len(X))
    search = ColumnGeneration(
        X, labels, k, rng, tick, math.inf if time_limit is None else time.monotonic() + time_limit
    )
    with contextlib.suppress(TimeOver):
        search.improve(pool)
        search.bound()
        for _ in range(_ENRICHMENTS):
            if not search.enrich() or not search.improve(pool):
                break
    return _certificate(search, least)


def improve(
    X: np.ndarray,
    labels: np.ndarray,
    k: int,
    rng: np.random.Generator,
    tick: Tick,
    *,
    least: float = 0.0,
    deadline: float | None = None,
) -> Certificate:
    """Return groups at least as good, by the first part of `certify`, and what bound that gives by the way."""
    until = math.inf if deadline is None else deadline
    search = ColumnGeneration(X, labels, k, rng, tick, until, _ROUNDS_OF_BEST // k, _STEPS_OF_BEST // k)
    with contextlib.suppress(TimeOver):
        search.improve(annealed(X, k, rng, deadline), _SWEEPS_OF_BEST, _COLUMNS_OF_BEST, _GAIN_OF_BEST)
    return _certificate(search, least)


def ready(n: int) -> None:
    """Raise InputError where n records cannot be certified: too many, or highspy is not installed."""
    needed()
    if n > MOST_RECORDS:
        raise InputError(
            "certify",
            f"there must be at most {MOST_RECORDS} records",
            f"{n}",
            "Leave out --certify, or use --by to make smaller strata",
        )


def annealed(X: np.ndarray, k: int, rng: np.random.Generator, deadline: float | None = None) -> Pool:
    """Return a pool of annealed groupings of X (n, p): first from afar and around the best, then from rounded ones.

    From `deadline` on, a value of `time.monotonic()`, annealing ends at once.
    """
    import numpy as np

    search = Search(X, k, rng, reach=min(max(16, 3 * k), 48), deadline=deadline)

    def pool(labels: np.ndarray, rounded: Callable[[], np.ndarray] | None) -> Iterator[np.ndarray]:
        search.start(labels)
        settled = float(np.quantile(search.spread, 0.01)) / _SETTLED
        cold = min(max(settled * len(X) / (search.sse or 1.0), _COLD[0]), _COLD[1])
        for runs, each, most, hot in _NEARBY if rounded else _AFAR + _NEARBY:
            for _ in range(runs):
                search.start(rounded() if rounded else search.best)
                search.descend()
                yield search.anneal(min(each * len(X), most), hot, cold=cold)
        yield search.best

    return pool


def _certificate(search: ColumnGeneration, least: float) -> Certificate:
    """Return the groups of a search, with the better of its bound and the one that was known."""
    bound = max(search.known or 0.0, least / search.unit)
    proven = search.proven() or bound >= search.sse
    known = bound * search.unit if proven or bound > 0 else None
    return Certificate(search.labels(), search.sse * search.unit, known, _note(search, bound, proven))


def _note(search: ColumnGeneration, bound: float, proven: bool) -> str:
    if proven:
        return "The loss is the least possible, up to a millionth: it meets the lower bound"
    if bound <= 0:
        return "No bound on the least loss is known: exact pricing did not finish"
    return (
        f"The loss is at most {rounded_up(100 * (search.sse / bound - 1))} % above the optimum: "
        f"no grouping has an IL below {math.floor(1e5 * bound / search.total) / 1e3:.3f}"
    )
