"""SAFE, the direct search: a release that can be denied, because nobody can tell what in it was ever there.

Which rare originals may be shown at all, and which combinations are invented, is decided by HMAC-SHA-256 of their
content under a lasting secret: every run on the same records draws from the same few.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlmicro.safe_method.coordinates import numbered
from sqlmicro.safe_method.given_away import RareCombinations, account
from sqlmicro.safe_method.plausible import alike, invent

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem
    from sqlmicro.safe_method._denial_kernels import Denial
    from sqlmicro.safe_method.objective import Objective
    from sqlmicro.safe_method.plausible import Invented
    from sqlmicro.safe_method.problem import Limits
    from sqlmicro.system.secrets import Secret

INVENTED, MAX_INFERENCE = 0.5, 0.8
"""What is aimed at by default."""
EVER_SHOWN = 0.25
"""Of the originals that occur once, at most so many are ever shown."""
PROPOSALS = 0.74
"""The share of the proposals that are made: each takes longer, and all of them no more time."""
# The first temperature: hotter, a search forgets the keyed start, and almost equal files get unlike releases.
_LUKEWARM = 0.7
# Of sums and moments: few rare combinations may be shown, so less can be made up for.
_SLACK, _FEW_VALUES_WEIGHT = 1e-4, 4.0
# A pair that is invented deviates by k: as shares of k, in tables of one, two and three columns.
_LIMITS = (1.0, 1.6, 2.0)
# By their keyed numbers may be shown: of the originals that occur once, and of those that occur more often, so many;
# further ones where the tables need them. The fewer, the more stay when some records change.
_ONCE, _MORE_OFTEN = 0.06, 0.6
# Of those that could be invented, so many are keyed at most: it takes 3 seconds.
_INVENTED_PER_SHOWABLE, _DRAWN_AT_MOST = 8.0, 500_000
# Of the records of a cell that no combination can take, so many may stay without; of the others, k need one to open.
_BY_LIMIT, _BY_LARGE = 0.5, 0.5


@dataclass(frozen=True)
class Asked:
    """What is asked of a search, and the secret that decides what is shown."""

    invented: float
    """The least share of the rare combinations shown that never occurred."""
    inference: float
    """The largest share of guesses that are right, where the commonest value is not right more often."""
    lasting: Secret
    limits: Mapping[str, float]
    """What was said, by the gates; what was not said and cannot be reached is told."""

    @property
    def insists(self) -> bool:
        """Whether it must be reached."""
        return any(self.limits.values())

    def draw(self, content: np.ndarray) -> np.ndarray:
        """Return a number from 0 to 1 for every row of contents (m, columns), 64 bits each."""
        import numpy as np

        key = hmac.digest(self.lasting.value, b"sqlmicro combinations", sha256)
        rows = np.ascontiguousarray(content, dtype="<u8")
        digests = [hmac.digest(key, row.tobytes(), "sha256")[:8] for row in rows]
        return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.float64) / 2.0**64


@dataclass(frozen=True)
class Pool:
    """The combinations of a search, invented ones last: C in all, P in the columns that keep their values.

    Attributes
    ----------
    of : ndarray of shape (C,)
        The kept combination of each.
    kept : ndarray of shape (P, J)
        The values of the kept combinations, numbered.
    n : ndarray of shape (P,)
        Persons of the original that have them, or records.
    few : ndarray of shape (C,)
        Whether fewer than k persons have it, or so few records that it cannot stay as it is.
    may_open : ndarray of shape (C,)
        Whether it may be shown, as far as is known before the tables are.
    draw : ndarray of shape (C,)
        The keyed number of each.
    invented : float
        The least share of the few shown that never occurred.
    right : ndarray of shape (J,)
        The most that may be guessed right of every column.
    insists : bool
        Whether that must be reached.
    new : Invented
        How the invented ones are made of originals.
    rare : RareCombinations
        What the combinations show of sets of the kept columns.
    """

    of: np.ndarray
    kept: np.ndarray
    n: np.ndarray
    few: np.ndarray
    may_open: np.ndarray
    draw: np.ndarray
    invented: float
    right: np.ndarray
    insists: bool
    new: Invented
    rare: RareCombinations


def pooled(
    values: np.ndarray,
    kept: int,
    content: np.ndarray,
    n: np.ndarray,
    k: int,
    asked: Asked,
    commonest: np.ndarray,
    *,
    count: Callable[[np.ndarray], np.ndarray] | None = None,
    too_few: np.ndarray | None = None,
) -> Pool:
    """Return originals and invented combinations as a pool.

    Parameters
    ----------
    values : ndarray of shape (cells, columns)
        The originals, every column numbered; the first `kept` keep their values in the release.
    kept : int
        Number of these columns.
    content : ndarray of shape (cells, columns)
        64 bits per value that are the same in every file: what is keyed.
    n : ndarray of shape (cells,)
        Persons per combination, or records.
    k : int
        What fewer have is rare.
    asked : Asked
        What is asked of the release.
    commonest : ndarray of shape (kept,)
        The share of the commonest value of every column: whoever guesses it needs no release.
    count : callable, optional
        Given a number for every combination, returns how many persons have each number; by default n is added up.
    too_few : ndarray of shape (cells,), optional
        Which combinations have too few records to stay as they are; by default the rare ones.
    """
    import numpy as np

    draw = asked.draw(content)
    of = numbered([values[:, j] for j in range(kept)])
    of_kept = count(of) if count else np.bincount(of, n)
    once, few = of_kept[of] == 1, n < k
    if too_few is not None:
        few |= too_few
    showable = few & (draw < np.where(once, _once_below(draw[once]), _MORE_OFTEN))
    new, drawn = _invented(values, kept, content, n, k, draw, asked)
    if showable.any() and len(drawn):
        chosen, look = alike(values, n, k, few, showable, new, drawn, _INVENTED_PER_SHOWABLE)
        new, drawn = new.take(chosen), drawn[chosen]
    else:
        new, drawn, look = new.take(np.arange(0)), drawn[:0], np.full(len(n), -1)
    both = np.concatenate([values, new.values])[:, :kept]
    of = numbered(list(both.T))
    _, first = np.unique(of, return_index=True)
    old = of[: len(n)]
    counts = np.zeros(len(first), dtype=np.int64)
    summed = count(old) if count else np.bincount(old, n)
    counts[: len(summed)] = summed
    made = np.ones(len(drawn), dtype=np.bool_)
    looks = np.full(len(first), -1)
    looks[of] = look

    def persons_of(number: np.ndarray) -> np.ndarray:
        return count(number[old]) if count else np.asarray(np.bincount(number[old], n))

    rare = RareCombinations.of(both[first], persons_of, counts > 0, k, looks=looks)
    return Pool(
        of,
        both[first],
        counts,
        np.concatenate([few, made]),
        np.concatenate([showable | ~few, made]),
        np.concatenate([draw, drawn]),
        asked.invented,
        np.maximum(asked.inference, commonest),
        asked.insists,
        new,
        rare,
    )


def _invented(
    values: np.ndarray, kept: int, content: np.ndarray, n: np.ndarray, k: int, draw: np.ndarray, asked: Asked
) -> tuple[Invented, np.ndarray]:
    """Return what could be invented, with the keyed numbers."""
    import numpy as np

    new = invent(values, kept, n, draw, k)
    if len(new.base) > _DRAWN_AT_MOST:  # more than are wanted: by the keys of what they are made of
        lowest = np.sort(draw[new.base])[_DRAWN_AT_MOST]
        new = new.take(np.flatnonzero(draw[new.base] < lowest))
    changed = content[new.base]
    rows = np.arange(len(changed))
    changed[rows, new.column] = content[new.donor, new.column]
    return new, asked.draw(changed)


def _once_below(draw: np.ndarray) -> float:
    """Return the number below which originals that occur once may be shown: not more of them than is allowed."""
    import numpy as np

    most = int(EVER_SHOWN * len(draw))
    return min(_ONCE, float(np.sort(draw)[most])) if len(draw) else 0.0


def opened_up(pool: Pool, problem: Problem, limits: Limits, table_of_cell: np.ndarray) -> np.ndarray:
    """Return what may be shown: further originals below k where a cell of a table would else lose its records.

    They are taken by their keyed numbers; those that occur once last, up to the share that may ever be shown.
    """
    import numpy as np

    n, k, cells = problem.n, problem.k, len(table_of_cell)
    never = pool.rare.hopeless()[pool.of] & pool.few
    may_open: np.ndarray = pool.may_open & ~never
    unique = (pool.n[pool.of] == 1) & (problem.n > 0)

    first = problem.first.astype(np.int64)

    def counted(number: np.ndarray) -> np.ndarray:
        every = zip(first, np.diff(np.append(first, cells)), problem.cell.T, strict=True)
        return np.concatenate([np.zeros(0), *(np.bincount(cell, number, size) for _, size, cell in every)])

    spare = _BY_LIMIT * limits.limit[table_of_cell] + _BY_LARGE * counted(np.where(pool.few, 0, problem.high - n))
    needed = (counted(np.where(pool.few, n, 0)) - spare) / k
    there = counted(may_open & pool.few)
    room = int(EVER_SHOWN * unique.sum()) - int((may_open & unique).sum())
    closed = np.flatnonzero(~may_open & ~never)
    for i in closed[np.argsort(pool.draw[closed] + unique[closed], kind="stable")]:
        own = first + problem.cell[i]
        if (room > 0 or not unique[i]) and (there[own] < needed[own]).any():
            may_open[i] = True
            there[own] += 1
            room -= int(unique[i])
    if not may_open.any():  # somewhere the records must go
        may_open[np.argmin(pool.draw + never)] = True
    return may_open


def begun(pool: Pool, problem: Problem, may_open: np.ndarray) -> np.ndarray:
    """Return the placement a search begins with: of every kind the combinations with the lowest keyed numbers are open.

    After a change of some records it is nearly the same, and so is what the search makes of it.
    """
    import numpy as np

    few, once = pool.few, pool.n[pool.of] == 1
    placed = np.where(few, 0, problem.n)
    share = problem.n[few].sum() / (problem.k * max(1, (few & may_open).sum()))
    for kind in (problem.n == 0, (problem.n > 0) & few & once, (problem.n > 0) & few & ~once):
        own = np.flatnonzero(kind & may_open)
        placed[own[np.argsort(pool.draw[own], kind="stable")[: round(share * len(own))]]] = problem.k
    return placed


def denial_of(pool: Pool, k: int) -> Denial:
    """Return what the search keeps of what a placement gives away."""
    return account(pool.of, pool.kept, pool.rare, pool.invented, pool.right, k)


def prices_of(prices: Objective) -> Objective:
    """Return the prices of a search for a release that can be denied."""
    hot = min(prices.hot, _LUKEWARM)
    return replace(prices, hot=hot, slack=_SLACK, few_values_weight=_FEW_VALUES_WEIGHT, limits=_LIMITS)


def restricted(problem: Problem, may_open: np.ndarray, few: np.ndarray) -> Problem:
    """Return a problem in which only those combinations open that may; lists of near ones are of these."""
    import numpy as np

    never = ~may_open & few
    near, there = problem.near, ~never[problem.near]
    many = there.sum(axis=1)
    if near.size:
        # The others in front, and repeated in the place of those that may not.
        turned = np.take_along_axis(near, np.argsort(~there, axis=1, kind="stable"), 1)
        pick = np.arange(near.shape[1])[None, :] % np.maximum(many, 1)[:, None]
        near = np.where(many[:, None] > 0, np.take_along_axis(turned, pick, 1), near).astype(np.int32)
    return problem._replace(
        near=near,
        low=np.where(few, problem.k, problem.low),
        high=np.where(never, 0, problem.high),
        small=np.flatnonzero(may_open & few),
    )
