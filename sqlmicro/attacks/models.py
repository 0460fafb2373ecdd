"""What an attacker takes to have happened to the records, learned from the two tables alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.attacks.candidates import Pairs, Records, Scores

if TYPE_CHECKING:
    import numpy as np

NOMINAL = 1
_CERTAIN = 1e-3
"""Pairs less likely than that teach nothing."""
_FLAT = 1e-8
"""The least variance along an axis, beside the greatest."""
_AXIS = 0.05
"""The least share of noise along an axis that is taken to be there where it correlates as the columns do."""
_AGREE = 0.7
"""The share of nominal values that is taken to be unchanged before anything was learned."""
_LEVELS, _STEP = 40, 50.0
"""Levels of the difference of two ranks, each 2 % of the records wide."""
_PLACES, _PLACE_STEP = 24, 2.0
"""Levels of the difference of two places among the released values: equal, next to it, half a place further, …"""


@dataclass(frozen=True, eq=False)
class Model:
    """What is taken to have happened, as far as it was learned.

    Numbers became `matrix` times what they were, and `shift`, with normal noise of `covariance`; or their differences
    fall into levels that `table` scores. Nominal values stay what they are with probability `agree`.
    """

    name: str
    X: np.ndarray
    """(n, q) the numbers of distinct originals."""
    Y: np.ndarray
    """(m, q)"""
    learn: Callable[[Model, Learned], Model]
    rounds: int
    """How often it is learned anew."""
    covariance: np.ndarray
    matrix: np.ndarray
    shift: np.ndarray
    agree: np.ndarray
    table: np.ndarray
    step: float = 0.0
    tail: float = 0.0

    def changed(self, matrix: np.ndarray) -> Model:
        """Return the model where the numbers were multiplied by a matrix."""
        return replace(self, matrix=matrix)


@dataclass(frozen=True, eq=False)
class Learned:
    """Pairs of records by how likely they are: what a round of learning goes by."""

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    records: Records

    @classmethod
    def of(cls, records: Records, rows: np.ndarray, pairs: Pairs) -> Learned:
        """Return the pairs that are likely at all."""
        import numpy as np

        at, candidate = np.nonzero(pairs.probability > _CERTAIN)
        weight = pairs.probability[at, candidate] * records.own[rows[at]]
        return cls(rows[at], pairs.near[at, candidate], weight, records)


def numeric(records: Records) -> np.ndarray:
    """Return which columns are numbers with a variance (p,)."""
    features = records.features
    found: np.ndarray = (features.kind == 0) & (features.weight > 0)
    return found


def scores(model: Model, records: Records) -> Scores:
    """Return how a model scores pairs of records."""
    import numpy as np

    features, numbers = records.features, numeric(records)
    kind, weight = features.kind.copy(), features.weight.copy()
    X, Y = features.X[records.X].copy(), features.Y[records.Y].copy()
    weight[features.kind == 0] = 0.0
    weight[features.kind > NOMINAL] *= _OUTSIDE
    whiten = _whitening(model.covariance)
    X[:, numbers] = (model.X @ model.matrix + model.shift) @ whiten
    Y[:, numbers] = model.Y @ whiten
    table = np.zeros((len(kind), model.table.shape[1]))
    if model.table.shape[1] > 1:
        X[:, numbers], Y[:, numbers] = model.X, model.Y
        weight[numbers], table[numbers] = 1 / np.diag(model.covariance), model.table
    else:
        weight[numbers] = 1.0
    gain = np.zeros(Y.shape)
    for at, j in enumerate(np.flatnonzero(kind == NOMINAL)):
        _, which = np.unique(Y[:, j], return_inverse=True)
        share = np.bincount(which, records.times)[which] / records.times.sum()
        gain[:, j] = 2 * np.log1p(model.agree[at] / (1 - model.agree[at]) / share)
        weight[j] = float(np.average(gain[:, j], weights=records.times))
    return Scores(X, Y, weight, kind, gain, table, model.step, model.tail)


def _whitening(covariance: np.ndarray) -> np.ndarray:
    """Return what makes the covariance that of independent numbers with variance 1."""
    import numpy as np

    if not len(covariance):
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    found: np.ndarray = vectors / np.sqrt(np.maximum(values, max(_FLAT * values.max(), 1e-300)))
    return found


# How a round of learning goes


def _agreement(model: Model, found: Learned) -> np.ndarray:
    """Return the probability that a nominal value stayed, by column: agreement beyond that by chance (EM)."""
    import numpy as np

    features, records = found.records.features, found.records
    agree = model.agree.copy()
    for at, j in enumerate(np.flatnonzero(features.kind == NOMINAL)):
        x, y = features.X[records.X, j][found.x], features.Y[records.Y, j]
        _, which = np.unique(y, return_inverse=True)
        share = (np.bincount(which, records.times)[which] / records.times.sum())[found.y]
        same = x == y[found.y]
        stayed = agree[at] / (agree[at] + (1 - agree[at]) * share)
        total = float(found.weight.sum())
        agree[at] = (float((found.weight * same * stayed).sum()) + 1) / (total + 2) if total else agree[at]
    return agree


def keep(model: Model, found: Learned) -> Model:
    """Learn nothing of numbers but how often nominal values stayed: the noise is as it was published."""
    return replace(model, agree=_agreement(model, found))


def sized(model: Model, found: Learned) -> Model:
    """Learn the size of noise whose correlations are taken to be known."""

    gap = (model.Y[found.y] - model.X[found.x] @ model.matrix - model.shift) @ _whitening(model.covariance)
    size = float((found.weight @ (gap * gap)).sum() / max(found.weight.sum(), 1e-300) / gap.shape[1])
    return replace(model, covariance=max(size, _FLAT) * model.covariance, agree=_agreement(model, found))


def any_noise(model: Model, found: Learned) -> Model:
    """Learn a linear change and the covariance of noise: what the numbers of the release leave after regression."""
    import numpy as np

    x, y, weight = model.X[found.x], model.Y[found.y], found.weight
    q, total = x.shape[1], float(weight.sum())
    if total < 5 * (q + 1):
        return keep(model, found)
    design = np.column_stack([x, np.ones(len(x))])
    ridge = np.diag(np.append(np.full(q, 1e-9 * total), 0.0))
    fit = np.linalg.solve(design.T @ (weight[:, None] * design) + ridge, design.T @ (weight[:, None] * y))
    left = y - design @ fit
    covariance = left.T @ (weight[:, None] * left) / total
    few = q / (q + total)
    covariance = (1 - few) * covariance + few * np.diag(np.diag(covariance)) + 1e-12 * np.eye(q)
    agree = _agreement(model, found)
    return replace(model, covariance=covariance, matrix=fit[:q], shift=fit[q], agree=agree)


def levels(model: Model, found: Learned) -> Model:
    """Learn how often true pairs and others differ by so much, column by column (Fellegi & Sunter, with EM)."""
    import numpy as np

    count = model.table.shape[1]
    table, spread = np.zeros_like(model.table), np.ones(len(model.table))
    chance = np.random.default_rng(1)
    others = found.records.own / found.records.own.sum(), found.records.times / found.records.times.sum()
    x = chance.choice(len(model.X), _RANDOM, p=others[0])
    y = chance.choice(len(model.Y), _RANDOM, p=others[1])
    for j in range(len(table)):
        far = np.abs(model.Y[found.y, j] - model.X[found.x, j])
        level = np.minimum(far * model.step, count - 1).astype(np.int64)
        true = np.bincount(level, found.weight, minlength=count) + _SMOOTH
        apart = np.minimum(np.abs(model.Y[y, j] - model.X[x, j]) * model.step, count - 1).astype(np.int64)
        false = np.bincount(apart, minlength=count) + 1.0
        table[j] = -2 * np.log(true / true.sum() * false.sum() / false)
        spread[j] = max(float((found.weight * far * far).sum() / found.weight.sum()), 1e-9)
    return replace(model, table=table, covariance=np.diag(spread), agree=_agreement(model, found))


_RANDOM = 20_000
"""Pairs drawn at random to know how often records differ that do not belong together."""
_SMOOTH = 0.05
"""Pairs that every level is taken to have."""


# What it starts from


def swapped(spaces: Spaces, worked: np.ndarray, share: float) -> Model:
    """Return the model of swapping within a share of the ranks: the wider apart, the fewer partners of a block."""
    import numpy as np

    model = spaces.model(f"swapping within {100 * share:g} % of the ranks, as published", "ranks", keep, 1,
                         share**2 / 6 * np.eye(len(worked)), (_LEVELS, _LEVELS / (share * _BEYOND)))  # fmt: skip
    far = (np.arange(_LEVELS) + 0.5) / model.step
    inside = -2 * np.log(np.maximum(1 - far / share, _NEVER))
    table = np.where(worked[:, None], inside, np.where(np.arange(_LEVELS) == 0, 0.0, -2 * np.log(_NEVER)))
    return replace(model, table=table)


_BEYOND = 1.1
"""So much wider than the window the levels reach: ties, and values that are missing."""
_OUTSIDE = 100.0
"""So much more than in itself it counts to lie outside a range, which was made to hold the value."""
_NEVER = 1e-4
"""The odds of what should not be."""


def family(records: Records) -> list[Model]:
    """Return what is taken to have happened before anything is learned, from the plainest on."""
    import numpy as np

    spaces = Spaces(records)
    q = int(numeric(records).sum())
    if not q:
        return [spaces.model("agreement", "values", keep, 3, np.zeros((0, 0)))]
    one = np.eye(q)
    found = [
        spaces.model("distance", "values", sized, 1, 0.1 * one),
        replace(spaces.model("distance, by ratio", "values", keep, 1, 0.1 * one), tail=float(q)),
        spaces.model("normal scores", "scores", sized, 1, 0.1 * one),
        spaces.model("ranks", "ranks", sized, 1, 0.01 * one),
        replace(spaces.model("ranks, by ratio", "ranks", keep, 1, 0.01 * one), tail=float(q)),
        spaces.model("Fellegi-Sunter", "ranks", levels, 5, 0.01 * one, (_LEVELS, _STEP)),
        spaces.model("intersection", "places", levels, 5, one, (_PLACES, _PLACE_STEP)),
    ]
    if q > 1:
        found += [
            spaces.model("Mahalanobis", "values", any_noise, 5, 0.1 * one),
            spaces.model(
                "Mahalanobis, about as the columns correlate", "values", any_noise, 4, spaces.covariance(_AXIS)
            ),
            spaces.model("Mahalanobis, as the columns correlate", "values", sized, 2, spaces.covariance(_FLAT)),
            spaces.model("Mahalanobis on normal scores", "scores", any_noise, 5, 0.1 * one),
            spaces.model(
                "Mahalanobis on normal scores, as the columns correlate",
                "scores",
                any_noise,
                4,
                spaces.covariance(_AXIS, "scores"),
            ),
        ]
    return found


class Spaces:
    """The numbers of distinct records in the spaces in which they are compared."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._made: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def numbers(self, space: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of originals and release, both (·, q), one row for each distinct record."""
        if space not in self._made:
            self._made[space] = self._numbers(space)
        return self._made[space]

    def _numbers(self, space: str) -> tuple[np.ndarray, np.ndarray]:
        import numpy as np

        features, records, wanted = self.records.features, self.records, numeric(self.records)
        X, Y = features.X[records.X][:, wanted], features.Y[records.Y][:, wanted]
        if space == "values":
            middle, scale = features.X[:, wanted].mean(axis=0), np.sqrt(features.weight[wanted])
            return (X - middle) * scale, (Y - middle) * scale
        if space == "places":
            ends = [np.unique(column) for column in Y.T]
            low = [np.searchsorted(known, x) for known, x in zip(ends, X.T, strict=True)]
            high = [np.searchsorted(known, x, "right") for known, x in zip(ends, X.T, strict=True)]
            own = [np.searchsorted(known, y) + 0.5 for known, y in zip(ends, Y.T, strict=True)]
            return (np.stack(low, axis=1) + np.stack(high, axis=1)) / 2, np.stack(own, axis=1)
        sides = []
        for A, numbers in (((X), records.own), ((Y), records.times)):
            sides.append(np.stack([_shares(column, numbers) for column in A.T], axis=1))
        if space == "scores":
            sides = [_normal(shares) for shares in sides]
        return sides[0], sides[1]

    def covariance(self, axis: float, space: str = "values") -> np.ndarray:
        """Return a tenth of the covariance of the columns, with a least variance along every axis."""
        import numpy as np

        X, _ = self.numbers(space)
        found: np.ndarray = 0.1 * (np.cov(X.T, aweights=self.records.own) + axis * np.eye(X.shape[1]))
        return found

    def model(
        self, name: str, space: str, learn: Callable[[Model, Learned], Model], rounds: int,
        covariance: np.ndarray, levels: tuple[int, float] = (1, 0.0),
    ) -> Model:  # fmt: skip
        """Return a model in a space, with the covariance that the noise is taken to have at first."""
        import numpy as np

        X, Y = self.numbers(space)
        q = X.shape[1]
        agree = np.full(int((self.records.features.kind == NOMINAL).sum()), _AGREE)
        count, step = levels
        table = np.tile(np.minimum(np.arange(count), 10.0), (q, 1))
        return Model(name, X, Y, learn, rounds, covariance, np.eye(q), np.zeros(q), agree, table, step)


def _shares(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the middle rank of every value as a share of all, each value as often as it occurs."""
    import numpy as np

    known, which = np.unique(values, return_inverse=True)
    many = np.bincount(which, times, minlength=len(known))
    middle = (np.cumsum(many) - many / 2) / many.sum()
    found: np.ndarray = middle[which]
    return found


def _normal(shares: np.ndarray) -> np.ndarray:
    """Return normal scores."""
    from scipy.special import ndtri

    found: np.ndarray = ndtri(shares)
    return found
