"""What each record may have become, and how likely each of it is when every released record is taken once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import Features
from sqlmicro.attacks.neighbours import groups
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.system.progress import Progress

FEWEST_CANDIDATES = 24


@dataclass(frozen=True)
class Effort:
    """How much is done to tell who became whom."""

    pairs: int
    """Pairs of records that are compared at a time: what bounds the memory."""
    rounds: int
    """Messages that are passed."""


QUICK, THOROUGH = Effort(150_000, 8), Effort(1_500_000, 25)
"""While it is learned what happened to the records, and afterwards. More changes nothing that is seen in a rate."""
_OUTSIDE, _UNTAKEN = 1e-9, 1e-6
"""How likely, beside the best candidate, it is none of them; how likely a released record is of nobody."""


@dataclass(frozen=True, eq=False)
class Records:
    """Original and release by their distinct records, as they occur in the known columns.

    `X` and `Y` are the places of one of each, `own` and `times` how often they occur, and `of_original` (n,) and
    `of_released` (m,) which of them every record is.
    """

    features: Features
    X: np.ndarray
    own: np.ndarray
    of_original: np.ndarray
    Y: np.ndarray
    times: np.ndarray
    of_released: np.ndarray

    @classmethod
    def of(cls, features: Features) -> Records:
        """Return the distinct records of both tables."""
        import numpy as np

        sides = []
        for A, times in ((features.X, np.ones(len(features.X))), (features.Y, features.times)):
            found = groups(A, times)
            places = np.empty(len(found.times), dtype=np.int64)
            places[found.of] = np.arange(len(found.of))
            sides += [places, found.times.astype(float), found.of]
        return cls(features, *sides)


@dataclass(frozen=True, eq=False)
class Scores:
    """How records are scored against their candidates: squared distances, gains of agreement, levels of difference."""

    X: np.ndarray
    """(n, p) originals in the space of the release."""
    Y: np.ndarray
    """(m, p)"""
    weight: np.ndarray
    """(p,) by which candidates are looked up; what a squared difference costs."""
    kind: np.ndarray
    gain: np.ndarray
    """(m, p) what it gains to agree in a nominal value, by the value."""
    table: np.ndarray
    """(p, B) what a difference costs by its level; with one level numbers count by their squares."""
    step: float = 0.0
    """Levels a difference of 1 has."""
    tail: float = 0.0
    """Above 0, distances count by their ratio: so many times the logarithm of their squares."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The candidates of records, and how likely each is."""

    near: np.ndarray
    """(n, K) numbers of distinct released records."""
    likely: np.ndarray
    """(n, K) how likely a candidate is by itself, beside the best."""
    odds: np.ndarray
    """(n, K) the same, with what the other records may have become."""
    outside: float
    times: np.ndarray = field(repr=False)

    @cached_property
    def probability(self) -> np.ndarray:
        """Of a candidate, all its records together (n, K)."""

        both = self.times[self.near] * self.odds
        share: np.ndarray = both / (both.sum(axis=1, keepdims=True) + self.outside)
        return share

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates that are as likely as the likeliest of their record: rows, and candidates."""
        import numpy as np

        rows, at = np.nonzero(self.odds >= self.odds.max(axis=1, keepdims=True) * (1 - 1e-9))
        return rows, self.near[rows, at]


def pairs(
    records: Records, scores: Scores, rows: np.ndarray, share: float, effort: Effort, progress: Progress, text: str
) -> Pairs:
    """Return what distinct originals `rows` may have become; `share` of all records are among them.

    Candidates are the nearest released records, as many as memory allows. The odds are those of belief propagation for
    matchings: a record takes a candidate the less, the likelier others are to take it. O(n K) a round.
    """
    import numpy as np

    tree, kernels = late("sqlmicro.attacks._linkage_kernels"), late("sqlmicro.attacks._assignment_kernels")
    X = np.ascontiguousarray(scores.X[rows])
    size = min(len(scores.Y), max(FEWEST_CANDIDATES, effort.pairs // len(X)))
    near, cost = np.empty((len(X), size), np.int64), np.empty((len(X), size))
    with progress.kernel(text, len(X)) as shown:
        forest = tree.grow(np.ascontiguousarray(scores.Y), records.times.astype(np.int64), scores.weight, scores.kind)
        row = 0
        while row < len(X):
            row = kernels.neighbours(forest, X, row, near, cost)
            shown.tick(row, len(X))
        kernels.scored(
            X, scores.Y, near, scores.kind, scores.weight, scores.gain, scores.table, scores.step, scores.tail, cost
        )
        likely = np.exp(-0.5 * (cost - cost.min(axis=1, keepdims=True)))
        message, taken = np.ones_like(likely), np.empty(len(scores.Y))
        untaken = _UNTAKEN + (1 - share) / share
        for turn in range(effort.rounds):
            kernels.passed(near, likely, records.own[rows], records.times, _OUTSIDE, untaken, turn > 0, message, taken)
            shown.tick(turn + 1, effort.rounds)
    return Pairs(near, likely, likely * message, _OUTSIDE, records.times)
