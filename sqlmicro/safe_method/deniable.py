"""SAFE, the direct search: a release that can be denied, because nobody can tell what in it was ever there.

Which rare originals may be shown at all, and which combinations are invented, is decided by HMAC-SHA-256 of their
content under a lasting secret: every run on the same records draws from the same few.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.coordinates import numbered
from sqlmicro.safe_method.deviations import at_once, costs, give, settle
from sqlmicro.safe_method.plausible import alike, invent

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import Problem, State
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
# By their keyed numbers may be shown: of the originals that occur once, and of those that occur more often, so many;
# further ones where the tables need them. The fewer, the more stay when some records change.
_ONCE, _MORE_OFTEN = 0.06, 0.6
# Of those that could be invented, so many are keyed at most: it takes 3 seconds.
_INVENTED_PER_SHOWABLE, _DRAWN_AT_MOST = 1.65, 500_000
# Of the records of a cell that no combination can take, so many may stay without; of the others, k need one to open.
_BY_LIMIT, _BY_LARGE = 0.5, 0.5
# Aimed at, since the end of a search can lose a little: that part more.
_MARGIN = 0.02
# And what is still lacking then: of the rare combinations shown, at most such a share is closed.
_CLOSED_AT_THE_END = 0.1
# In units of a record in a cell, for k = 1: they follow k², as temperatures do.
_DEAR, _DEAREST = 0.55, 600.0
_RISE, _FALL = 1.25, 0.95


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
    new : Invented
        How the invented ones are made of originals.
    """

    of: np.ndarray
    kept: np.ndarray
    n: np.ndarray
    few: np.ndarray
    may_open: np.ndarray
    draw: np.ndarray
    invented: float
    right: np.ndarray
    new: Invented


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
    new = invent(values, kept, draw)
    if len(new.base) > _DRAWN_AT_MOST:  # more than are wanted: by the keys of what they are made of
        lowest = np.sort(draw[new.base])[_DRAWN_AT_MOST]
        new = new.take(np.flatnonzero(draw[new.base] < lowest))
    changed = content[new.base]
    rows = np.arange(len(changed))
    changed[rows, new.column] = content[new.donor, new.column]
    drawn = asked.draw(changed)
    if showable.any() and len(drawn):
        chosen = alike(values, n, k, showable, new, drawn, _INVENTED_PER_SHOWABLE)
        new, drawn = new.take(chosen), drawn[chosen]
    else:
        new, drawn = new.take(np.arange(0)), drawn[:0]
    both = np.concatenate([values, new.values])[:, :kept]
    of = numbered(list(both.T))
    _, first = np.unique(of, return_index=True)
    old = of[: len(n)]
    counts = np.zeros(len(first), dtype=np.int64)
    summed = count(old) if count else np.bincount(old, n)
    counts[: len(summed)] = summed
    made = np.ones(len(drawn), dtype=np.bool_)
    return Pool(
        of,
        both[first],
        counts,
        np.concatenate([few, made]),
        np.concatenate([showable | ~few, made]),
        np.concatenate([draw, drawn]),
        asked.invented,
        np.maximum(asked.inference, commonest),
        new,
    )


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
    may_open, unique = pool.may_open.copy(), (pool.n[pool.of] == 1) & (problem.n > 0)

    first = problem.first.astype(np.int64)

    def counted(number: np.ndarray) -> np.ndarray:
        every = zip(first, np.diff(np.append(first, cells)), problem.cell.T, strict=True)
        return np.concatenate([np.zeros(0), *(np.bincount(cell, number, size) for _, size, cell in every)])

    spare = _BY_LIMIT * limits.limit[table_of_cell] + _BY_LARGE * counted(np.where(pool.few, 0, problem.high - n))
    needed = (counted(np.where(pool.few, n, 0)) - spare) / k
    there = counted(may_open & pool.few)
    room = int(EVER_SHOWN * unique.sum()) - int((may_open & unique).sum())
    closed = np.flatnonzero(~may_open)
    for i in closed[np.argsort(pool.draw[closed] + unique[closed], kind="stable")]:
        own = first + problem.cell[i]
        if (room > 0 or not unique[i]) and (there[own] < needed[own]).any():
            may_open[i] = True
            there[own] += 1
            room -= int(unique[i])
    if not may_open.any():  # somewhere the records must go
        may_open[np.argmin(pool.draw)] = True
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


def denial_of(pool: Pool, problem: Problem) -> Denial:
    """Return what the search keeps of what a placement gives away."""
    import numpy as np

    k = problem.k
    groups, alone, guesses = [], [], 0
    for j in range(pool.kept.shape[1]):
        others = np.delete(pool.kept, j, axis=1)
        number = numbered(list(others.T)) if others.size else np.zeros(len(others), dtype=np.int64)
        person = np.full(int(number.max()) + 1, -1)
        only = np.flatnonzero((pool.n == 1) & (np.bincount(number, pool.n)[number] == 1))
        if np.ptp(pool.kept[:, j]) > 0:  # of a column with one value there is nothing to guess
            person[number[only]] = only
        groups.append(number + guesses)
        alone.append(person)
        guesses += len(person)
    columns = len(groups)
    made: Denial = late("sqlmicro.safe_method._denial_kernels", "Denial")(
        of=pool.of,
        few=pool.n < k,
        invented=pool.n == 0,
        others=np.stack(groups, axis=1),
        alone=np.concatenate(alone),
        now=np.zeros(len(pool.n), dtype=np.int64),
        open=np.zeros(guesses, dtype=np.int64),
        last=np.zeros(guesses, dtype=np.int64),
        shown=np.zeros(2, dtype=np.int64),
        guessed=np.zeros((2, columns), dtype=np.int64),
        share=min(1.0, pool.invented * (1 + _MARGIN)),
        right=pool.right * (1 - _MARGIN),
        dear=np.full(1 + columns, _DEAR * k**2),
    )
    return made


def no_denial(cells: int) -> Denial:
    """Return a denial that costs nothing: any placement can be published."""
    import numpy as np

    made: Denial = late("sqlmicro.safe_method._denial_kernels", "Denial")(
        of=np.arange(cells),
        few=np.zeros(cells, dtype=np.bool_),
        invented=np.zeros(cells, dtype=np.bool_),
        others=np.zeros((cells, 0), dtype=np.int64),
        alone=np.zeros(0, dtype=np.int64),
        now=np.zeros(cells, dtype=np.int64),
        open=np.zeros(0, dtype=np.int64),
        last=np.zeros(0, dtype=np.int64),
        shown=np.zeros(2, dtype=np.int64),
        guessed=np.zeros((2, 0), dtype=np.int64),
        share=0.0,
        right=np.zeros(0),
        dear=np.zeros(1),
    )
    return made


def recount(denial: Denial, n: np.ndarray) -> None:
    """Compute anew what a placement gives away."""
    import numpy as np

    denial.now[:] = np.bincount(denial.of, n, len(denial.now))
    shown = np.flatnonzero(denial.now > 0)
    denial.shown[:] = denial.few[shown].sum(), (denial.few & denial.invented)[shown].sum()
    guesses = denial.others[shown]
    denial.open[:] = np.bincount(guesses.ravel(), minlength=len(denial.open))
    denial.last[:] = np.bincount(guesses.ravel(), np.repeat(shown, guesses.shape[1]), len(denial.last))
    # Of every column its own guesses; where one value is shown, and only one person has the other values.
    sole = (denial.open[guesses] == 1) & (denial.alone[guesses] >= 0)
    right = denial.last[guesses] == denial.alone[guesses]
    denial.guessed[:] = (sole & right).sum(axis=0), (sole & ~right).sum(axis=0)


def prices_of(prices: Objective) -> Objective:
    """Return the prices of a search for a release that can be denied."""
    hot = min(prices.hot, _LUKEWARM)
    return replace(prices, hot=hot, slack=_SLACK, few_values_weight=_FEW_VALUES_WEIGHT)


def lacks(denial: Denial) -> np.ndarray:
    """Tell whether an invented combination is lacking, and for every column whether a wrong guess is."""
    import numpy as np

    right, wrong = denial.guessed
    invented = denial.share * denial.shown[0] - denial.shown[1]
    found = np.concatenate([[invented], right * (1 - denial.right) - wrong * denial.right])
    lacking: np.ndarray = found > 0.5
    return lacking


def reprice(denial: Denial, k: int) -> None:
    """Let the price of what is lacking rise, and fall back where nothing is."""
    import numpy as np

    denial.dear[:] = np.clip(denial.dear * np.where(lacks(denial), _RISE, _FALL), _DEAR * k**2, _DEAREST * k**2)


def insist(denial: Denial, k: int) -> None:
    """Let what is lacking have its highest price."""
    import numpy as np

    denial.dear[:] = np.where(lacks(denial), _DEAREST * k**2, denial.dear)


def closed_to_share(problem: Problem, state: State, denial: Denial, share: float) -> None:
    """Close rare originals, the cheapest first, where a few invented ones are lacking; their records go elsewhere.

    Where more are lacking than closing so few could make up for, none is closed.
    """
    import numpy as np

    recount(denial, state.n)
    most = int(_CLOSED_AT_THE_END * denial.shown[0])
    while share > 0:
        lacking = math.ceil(denial.shown[0] - denial.shown[1] / share - 1e-9)
        real = np.flatnonzero((state.n > 0) & denial.few[denial.of] & ~denial.invented[denial.of])
        if not 0 < lacking <= most or not len(real):
            return
        many = at_once(lacking)
        price = costs(problem, state, real, -state.n[real])
        cheapest = real[np.argsort(price, kind="stable")[:many]]
        give(problem, state, cheapest, -state.n[cheapest])
        settle(problem, state)
        recount(denial, state.n)
        most -= many


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
