"""SAFE, the direct search: what a placement gives away, whatever columns of a person somebody knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.coordinates import numbered
from sqlmicro.safe_method.deviations import at_once, costs, give, settle

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem, State
    from sqlmicro.safe_method._denial_kernels import Denial

KNOWN_COLUMNS = 4
"""Somebody knows up to so many columns, all but one, or all."""
_SETS_AT_MOST, _NUMBERS_AT_MOST = 600, 20_000_000
"""Of many sets of columns evenly spaced ones are kept account of, by how many combinations there are."""
# Aimed at, since the end of a search can lose a little: that part more.
_MARGIN = 0.02
# What of the shares is no more than an error of floating-point numbers.
_ROUNDING = 1e-9
# Of all that is lacking in all sets, what one that is closed makes up for, about.
_PER_CLOSED = 4
# Of those that look alike, so many shall be real: where most were invented, the others could be told.
_REAL = 0.4
# In units of a record in a cell, for k = 1: they follow k², as temperatures do.
_DEAR, _DEAREST = 5.0, 5_000.0
_RISE, _FALL, _FORBIDDEN = 1.25, 0.95, 1e9


@dataclass(frozen=True)
class RareCombinations:
    """The rare combinations of sets of columns: those that fewer than k persons have; R in all, S sets, J columns.

    Attributes
    ----------
    first, rare : ndarrays
        Those that kept combination p belongs to are rare[first[p]:first[p + 1]].
    set_of, invented, alone : ndarrays of shape (R,)
        The set that each is of, whether it never occurred, and the kept combination of the only person who has it.
    size_of : ndarray of shape (S,)
        Which of the sizes every set has.
    inside : ndarray of shape (S, J)
        Which columns are in it.
    shares : ndarray of shape (S,)
        The least share of what is shown, where it is not what is asked: NaN there.
    """

    first: np.ndarray
    rare: np.ndarray
    set_of: np.ndarray
    invented: np.ndarray
    alone: np.ndarray
    size_of: np.ndarray
    inside: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(
        cls,
        kept: np.ndarray,
        persons_of: Callable[[np.ndarray], np.ndarray],
        occurred: np.ndarray,
        k: int,
        known: int = KNOWN_COLUMNS,
        looks: np.ndarray | None = None,
    ) -> RareCombinations:
        """Find them.

        Parameters
        ----------
        kept : ndarray of shape (P, J)
            Combinations of the kept columns, numbered.
        persons_of : callable
            Given a number for every kept combination, returns how many persons of the original have each number.
        occurred : ndarray of shape (P,)
            Which of the combinations occurred.
        k : int
            What fewer persons have is rare.
        known : int
            Sets of up to so many columns, of all but one, and of all.
        looks : ndarray of shape (P,), optional
            What of a rare combination of all columns an outsider sees, in bins; -1 for others. Those of a bin are two
            sets without columns: of what is shown, so much shall be invented, and so much real.
        """
        import numpy as np

        sets = sets_of(kept.shape[1], len(kept), known)
        sizes = sorted({len(one) for one in sets})
        inside = np.zeros((len(sets), kept.shape[1]), dtype=np.bool_)
        whose, which, set_of, invented, alone = [], [], [], [], []
        there = np.flatnonzero(occurred)
        begins = 0
        for s, one in enumerate(sets):
            inside[s, list(one)] = True
            cell = numbered([kept[:, j] for j in one])
            cells = int(cell.max(initial=-1)) + 1
            persons = np.zeros(cells, dtype=np.int64)
            found = persons_of(cell)
            persons[: len(found)] = found
            few = np.flatnonzero(persons < k)
            number = np.full(cells, -1)
            number[few] = begins + np.arange(len(few))
            mine = np.flatnonzero(number[cell] >= 0)
            whose.append(mine)
            which.append(number[cell[mine]])
            set_of.append(np.full(len(few), s))
            combinations_there = np.bincount(cell[there], minlength=cells)
            only = np.full(cells, -1)
            only[cell[there]] = there
            invented.append(combinations_there[few] == 0)
            alone.append(np.where((persons[few] == 1) & (combinations_there[few] == 1), only[few], -1))
            begins += len(few)
        shares = [np.nan] * len(sets)
        for share, mine, flagged in _of_looks(looks, occurred):
            whose.append(mine)
            which.append(begins + np.arange(len(mine)))
            set_of.append(np.full(len(mine), len(shares)))
            invented.append(flagged[mine])
            alone.append(np.full(len(mine), -1))
            shares.append(share)
            begins += len(mine)
        inside = np.vstack([inside, np.zeros((len(shares) - len(sets), kept.shape[1]), dtype=np.bool_)])
        owner = np.concatenate(whose)
        order = np.argsort(owner, kind="stable")
        return cls(
            np.searchsorted(owner[order], np.arange(len(kept) + 1)),
            np.concatenate(which)[order].astype(np.int32),
            np.concatenate(set_of).astype(np.int32),
            np.concatenate(invented),
            np.concatenate(alone),
            np.array([sizes.index(len(one)) for one in sets] + [0] * (len(shares) - len(sets))),
            inside,
            np.array(shares),
        )

    def hopeless(self) -> np.ndarray:
        """Tell which kept combinations show a real rare one of a set of columns of which nothing can be invented."""
        import numpy as np

        of_columns = np.flatnonzero(self.inside.any(axis=1))
        there = np.bincount(self.set_of, self.invented, len(self.inside))
        alone = (there[self.set_of] == 0) & np.isin(self.set_of, of_columns)
        owner = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        found: np.ndarray = np.bincount(owner, alone[self.rare], len(self.first) - 1) > 0
        return found


def _of_looks(looks: np.ndarray | None, occurred: np.ndarray) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Yield the sets of what looks alike: the least share, the members, and of which of all there must be so many."""
    import numpy as np

    for look in range(0 if looks is None else int(looks.max(initial=-1)) + 1):
        for share, flagged in ((np.nan, ~occurred), (_REAL, occurred)):
            yield share, np.flatnonzero(looks == look), flagged


def sets_of(columns: int, rows: int, known: int) -> list[tuple[int, ...]]:
    """Return the sets of columns that are kept account of: all, all but one, and those of 1, 2, … columns.

    >>> [len(one) for one in sets_of(4, 100, 2)], len(sets_of(30, 10**6, 4))
    ([4, 3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2], 31)
    """
    most = max(columns + 1, min(_SETS_AT_MOST, _NUMBERS_AT_MOST // max(1, rows)))
    sizes = dict.fromkeys([columns, *([columns - 1] if columns > 1 else []), *range(1, min(known, columns) + 1)])
    found: list[tuple[int, ...]] = []
    for size in sizes:
        there = math.comb(columns, size)
        left = most - len(found)
        every = combinations(range(columns), size)
        if there <= left:
            found += every
        elif left > 0 and there <= _NUMBERS_AT_MOST:
            chosen = {i * there // left for i in range(left)}
            found += (one for number, one in enumerate(every) if number in chosen)
    return found


def account(
    of: np.ndarray, kept: np.ndarray, rare: RareCombinations, share: float, right: np.ndarray, k: int
) -> Denial:
    """Return what the search keeps of what a placement gives away: of none, before it is recounted.

    `of` is the kept combination of every combination, `share` and `right` are what is asked.
    """
    import numpy as np

    sets, columns = rare.inside.shape
    sizes = int(rare.size_of.max(initial=-1)) + 1
    told = [*range(KNOWN_COLUMNS + 1), columns]  # of all but one only the guesses count
    made: Denial = late("sqlmicro.safe_method._denial_kernels", "Denial")(
        of=of,
        kept=kept,
        first=rare.first,
        rare=rare.rare,
        set_of=rare.set_of,
        invented=rare.invented,
        alone=rare.alone,
        size_of=rare.size_of,
        inside=rare.inside,
        now=np.zeros(len(kept), dtype=np.int64),
        open=np.zeros(len(rare.set_of), dtype=np.int64),
        last=np.zeros(len(rare.set_of), dtype=np.int64),
        shown=np.zeros((sets, 2), dtype=np.int64),
        guessed=np.zeros((sizes, columns, 2), dtype=np.int64),
        share=np.where(np.isnan(rare.shares), min(1.0, share * (1 + _MARGIN)), rare.shares),
        right=right * (1 - _MARGIN),
        dear=np.where(np.isin(rare.inside.sum(axis=1), told), _DEAR * k**2, 0.0),
        dear_guess=np.full((sizes, columns), _DEAR * k**2),
    )
    return made


def no_denial(cells: int) -> Denial:
    """Return a denial that costs nothing: any placement can be published."""
    import numpy as np

    none = np.zeros(0, dtype=np.int64)
    rare = RareCombinations(
        np.zeros(cells + 1, dtype=np.int64), none.astype(np.int32), none.astype(np.int32), none.astype(np.bool_), none,
        none, np.zeros((0, 0), dtype=np.bool_), np.zeros(0),
    )  # fmt: skip
    return account(np.arange(cells), np.zeros((cells, 0), dtype=np.int64), rare, 0.0, np.zeros(0), 1)


def recount(denial: Denial, n: np.ndarray) -> None:
    """Compute anew what a placement gives away."""
    import numpy as np

    denial.now[:] = np.bincount(denial.of, n, len(denial.now))
    late("sqlmicro.safe_method._denial_kernels", "recount")(denial)


def lacking(denial: Denial) -> tuple[np.ndarray, np.ndarray]:
    """Return how many invented ones are lacking in every set, and how many wrong guesses by size and column."""
    import numpy as np

    right, wrong = denial.guessed[:, :, 0], denial.guessed[:, :, 1]
    short = denial.share * denial.shown[:, 0] - denial.shown[:, 1]
    return (
        np.where(denial.dear > 0, np.maximum(0.0, short), 0.0),
        np.maximum(0.0, right * (1 - denial.right) - wrong * denial.right),
    )


def lacks(denial: Denial) -> float:
    """Return how much is lacking of what is asked, in combinations and guesses."""
    guesses = lacking(denial)[1]
    return float(lacking_in_sets(denial).sum() + guesses[guesses > 0.5].sum())


def lacking_in_sets(denial: Denial) -> np.ndarray:
    """Return how many invented ones are lacking in every set of columns of what was asked, without the margin."""
    import numpy as np

    short = denial.share / (1 + _MARGIN) * denial.shown[:, 0] - denial.shown[:, 1]
    found: np.ndarray = np.where(denial.inside.any(axis=1) & (denial.dear > 0) & (short > _ROUNDING), short, 0.0)
    return found


def reprice(denial: Denial, k: int, part: float = 1.0) -> None:
    """Let the price of what is lacking rise, and fall back where nothing is, at `part` of the usual prices."""
    import numpy as np

    least, most = part * _DEAR * k**2, part * _DEAREST * k**2
    for price, lack in zip((denial.dear, denial.dear_guess), lacking(denial), strict=True):
        risen = np.clip(price * np.where(lack > 0.5, _RISE, _FALL), least, most)
        price[:] = np.where(price > 0, risen, 0.0)


def insist(denial: Denial, k: int, part: float = 1.0) -> None:
    """Let what is lacking have its highest price."""
    import numpy as np

    for price, lack in zip((denial.dear, denial.dear_guess), lacking(denial), strict=True):
        price[:] = np.where((lack > 0.5) & (price > 0), part * _DEAREST * k**2, price)


def hold(denial: Denial) -> None:
    """Let nothing be lacking any more that is not lacking now."""
    import numpy as np

    denial.dear[:] = np.where(denial.inside.any(axis=1) & (denial.dear > 0), _FORBIDDEN, denial.dear)


def closed_to_share(problem: Problem, state: State, denial: Denial, few: np.ndarray, part: float = 1.0) -> None:
    """Close what shows rare originals where invented ones are lacking, the cheapest first; their records go elsewhere.

    Where more than that part of the rare ones shown would have to be closed, the rest stays lacking. `few` are the
    combinations that may be closed.
    """
    import numpy as np

    recount(denial, state.n)
    most = math.ceil(part * int(few[state.n > 0].sum()))
    while most > 0:
        rows, gain = closing(denial, few & (state.n > 0))
        if not len(rows):
            return
        price = costs(problem, state, rows, -state.n[rows]) / gain
        many = min(most, len(rows), at_once(math.ceil(lacks(denial) / _PER_CLOSED)))
        cheapest = rows[np.argsort(price, kind="stable")[:many]]
        give(problem, state, cheapest, -state.n[cheapest])
        settle(problem, state)
        recount(denial, state.n)
        most -= many


def closing(denial: Denial, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return those of some combinations by whose closing less is lacking, and by how much less."""
    import numpy as np

    short = lacking_in_sets(denial) > 0
    # Of what is shown where something is lacking, real ones help when they go and invented ones harm.
    shows = denial.open[denial.rare]
    counts = (shows > 0) & short[denial.set_of[denial.rare]]
    share = denial.share[denial.set_of[denial.rare]]
    helps = np.where(denial.invented[denial.rare], share - 1.0, share)
    owner = np.repeat(np.arange(len(denial.now)), np.diff(denial.first))
    every = np.where(counts, helps / np.maximum(shows, 1), 0.0)
    for part in (every, np.maximum(every, 0.0)):  # where none is gained in all, what is shown by invented ones goes too
        gain = np.bincount(owner, part, len(denial.now))[denial.of]
        rows = np.flatnonzero(some & (gain > _ROUNDING))
        if len(rows):
            break
    return rows, gain[rows]
