"""Membership: whether somebody's record is among those a release was made from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import Features
from sqlmicro.attacks.control import WITH_CONTROL, Controlled, How
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.learned import alone, classifier, finite, varying
from sqlmicro.attacks.neighbours import groups, nearest
from sqlmicro.attacks.registry import Detail, Measured, attack, wilson

if TYPE_CHECKING:
    import numpy as np

_NEIGHBOURS = 5
_FALSE_POSITIVES = 0.01
_MOST_SHOWN = 20
"""So many columns of a record are shown to the model that learns to tell members."""
_LEARNED = "a model of the distances"


@dataclass(frozen=True)
class Told(Detail):
    """How well people of the table are told from people who were not in it."""

    true_positives: float
    """The share of the people of the table who are told at the false positives."""
    true_positives_ci: list[float]
    false_positives: float
    """The share of the control group that is taken for people of the table: 1 % at most."""
    n_control: int
    how: How
    chosen: str
    """The score with the largest area; both, where one half of the people would choose another than the other half."""
    chosen_for_few: str
    """The score with the most true positives at few false ones."""


@attack(
    "membership",
    needs=("columns", "control"),
    source="Shokri, Stronati, Song & Shmatikov (2017); Chen, Yu, Zhang & Fritz (2020); Carlini et al. (2022)",
    templates=WITH_CONTROL,
    outsider=False,
)
def membership(knowledge: Knowledge) -> Measured:
    """Tell people of the table from people who were not in it, by how near the release comes to them.

    Returns
    -------
    Measured
        The rate is the area under the ROC curve (AUC): how often, of a person of the table and one who was not in it,
        the former looks more like a member; chance is 0.5. `true_positives` is the share of the table that is told
        at 1 % false positives.

    Notes
    -----
    Scores are the distance to the nearest released record, in standard deviations, in ranks, in the widest gap of ranks
    and Mahalanobis', each by itself and over the distance to the fifth nearest, and a gradient-boosted model of all of
    them that is trained on people whose membership is known. Either half of the people is judged by what
    is strongest on the other. Of a person with several records it is the mean. The interval of the AUC is Wilson's, for
    as many tries as its variance stands for (DeLong, DeLong & Clarke-Pearson, 1988). O(t m p) for t people.
    """
    import numpy as np

    beside = knowledge.controlled
    member, X = _seen(beside)
    distances, half = _scores(X), np.arange(len(X)) % 2
    found: list[_Half] = []
    for own in (half == 0, half == 1):
        learned = _learned(X[~own], member[~own], X[own])
        scores = {name: (column[~own], column[own]) for name, column in distances.items()} | {_LEARNED: learned}
        best = max(scores, key=lambda name: area(scores[name][0], member[~own])[0])
        few = max(scores, key=lambda name: told_at(scores[name][0], member[~own])[0])
        found.append(_Half(area(scores[best][1], member[own]), told_at(scores[few][1], member[own]), best, few))
    rate = sum(one.area[0] for one in found) / 2
    told, false = (sum(one.told[at] for one in found) / 2 for at in (0, 1))
    n, tries = int(member.sum()), sum(one.area[1] for one in found)
    best, few = ("; ".join(dict.fromkeys(names)) for names in zip(*((one.best, one.few) for one in found), strict=True))
    detail = Told(told, list(wilson(told, n)), false, int((~member).sum()), beside.how, best, few)
    return Measured(rate, 0.5, n, detail, beside.unit, wilson(rate, tries))


@dataclass(frozen=True)
class _Half:
    """What came of one half of the people, with the scores that the other half chose."""

    area: tuple[float, int]
    told: tuple[float, float]
    best: str
    few: str


def area(scores: np.ndarray, member: np.ndarray) -> tuple[float, int]:
    """Return the area under the ROC curve, ties counting half, and how many tries its variance stands for.

    >>> import numpy as np
    >>> area(np.array([3.0, 1, 2, 0]), np.array([True, True, False, False]))
    (0.75, 2)
    """
    import numpy as np

    own, other = np.sort(scores[member]), np.sort(scores[~member])
    above = (np.searchsorted(other, own) + np.searchsorted(other, own, "right")) / (2 * len(other))
    below = 1 - (np.searchsorted(own, other) + np.searchsorted(own, other, "right")) / (2 * len(own))
    found, fewest = float(above.mean()), min(len(own), len(other))
    variance = above.var(ddof=1) / len(own) + below.var(ddof=1) / len(other) if fewest > 1 else 0.0
    if not variance:
        return found, fewest
    return found, max(fewest, math.floor(found * (1 - found) / variance))


def told_at(scores: np.ndarray, member: np.ndarray, most: float = _FALSE_POSITIVES) -> tuple[float, float]:
    """Return the share of the members who are told, and the share of others who are then taken for members.

    At most the share `most` of the others is: those with the highest scores. Where that is no whole number of people,
    it is the mean of what two bars give, as of an attacker who draws one of them.

    >>> import numpy as np
    >>> told_at(np.array([3.0, 1, 2, 0]), np.array([True, True, False, False]))
    (0.51, 0.01)
    """
    import numpy as np

    other = np.append(np.sort(scores[~member])[::-1], -np.inf)
    accused = most * (len(other) - 1)
    told = false = 0.0
    for number, weight in ((int(accused), 1 - accused % 1), (int(accused) + 1, accused % 1)):
        bar = other[min(number, len(other) - 1)]
        told += weight * float((scores[member] > bar).mean())
        false += weight * float((scores[~member] > bar).mean())
    return told, false


def _seen(beside: Controlled) -> tuple[np.ndarray, np.ndarray]:
    """Return who is of the table (t,), and what is known of everybody (t, f): distances first, then values."""
    import numpy as np

    member = np.repeat([True, False], [len(rows) for rows in beside.records])
    rows = np.concatenate(beside.records)
    features = beside.features()
    distances = _distances(beside, features, rows)
    known = np.column_stack([*distances.values(), features.X[rows][:, :_MOST_SHOWN]])
    people, of_each = np.unique(beside.who[rows] * 2 + member, return_inverse=True)
    total = np.stack([np.bincount(of_each, column) for column in known.T], axis=1)
    mean = total / np.bincount(of_each)[:, None]
    order = np.random.default_rng(2022).permutation(len(people))
    return (people % 2 == 1)[order], mean[order]


_METRICS = ("standard deviations", "ranks", "the widest gap of ranks", "Mahalanobis")


def _distances(beside: Controlled, features: Features, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return the logarithms of the distances of records to the nearest released one, and of their ratios to the fifth.

    They are in the order of `_names`.
    """
    import numpy as np

    found = {}
    released, progress = groups(features.Y, features.times).points, beside.attacked.warehouse.progress
    tried = replace(features, X=features.X[rows], Y=released)
    ranks = _in_ranks(tried, features)
    for name, made in zip(_METRICS, (tried, ranks, ranks, _whitened(tried, features)), strict=True):
        near = nearest(made.X, made.Y, made, progress, _NEIGHBOURS, widest=name.startswith("the widest"))
        gaps = np.log(near.gaps + 1e-12)
        found[name] = gaps[:, 0]
        found[f"{name}, over those of others near"] = gaps[:, 0] - gaps[:, -1]
    return found


def _names() -> list[str]:
    return [name for metric in _METRICS for name in (metric, f"{metric}, over those of others near")]


def _scores(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return every score by its name, the larger the more like a member."""
    return {name: -X[:, at] for at, name in enumerate(_names())}


def _learned(X: np.ndarray, member: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of a model, of the people it learns from as it would of others, and of others."""
    import numpy as np

    own, folds = np.empty(len(X)), np.arange(len(X)) // 2 % 2
    for fold in (0, 1):
        learns = folds != fold
        if len(np.unique(member[learns])) < 2:
            return np.zeros(len(X)), np.zeros(len(others))
        own[~learns] = _trained(X[learns], member[learns], X[~learns])
    return own, _trained(X, member, others)


def _trained(X: np.ndarray, member: np.ndarray, others: np.ndarray) -> np.ndarray:
    import numpy as np

    model, use = classifier("membership"), varying(X)
    if not use.any():
        return np.zeros(len(others))
    with alone():
        found: np.ndarray = model.fit(finite(X[:, use]), member).predict_proba(finite(others[:, use]))[:, 1]
    return found


def _numeric(features: Features) -> list[int]:
    """Return which columns are numbers that vary."""
    return [j for j, kind in enumerate(features.kind) if kind == 0 and features.weight[j] > 0]


def _in_ranks(tried: Features, features: Features) -> Features:
    """Return numbers by their place among the released ones, from 0 to 1."""
    import numpy as np

    X, Y, weight = tried.X.copy(), tried.Y.copy(), tried.weight.copy()
    for j in _numeric(tried):
        order = np.argsort(features.Y[:, j])
        values, below = features.Y[order, j], np.append(0, np.cumsum(features.times[order]))
        for part in (X, Y):
            first = np.searchsorted(values, part[:, j], "left")
            last = np.searchsorted(values, part[:, j], "right")
            part[:, j] = (below[first] + below[last]) / 2 / below[-1]
        weight[j] = 12.0  # one over the variance of ranks
    return replace(tried, X=X, Y=Y, weight=weight)


def _whitened(tried: Features, features: Features) -> Features:
    """Return numbers such that their squared distance is Mahalanobis', by the covariance of the people."""
    import numpy as np

    columns = _numeric(tried)
    if len(columns) < 2:
        return tried
    X, Y, weight = tried.X.copy(), tried.Y.copy(), tried.weight.copy()
    scale = np.sqrt(weight[columns])
    S = np.cov(features.X[:, columns] * scale, rowvar=False) + 1e-9 * np.eye(len(columns))
    turn = np.linalg.inv(np.linalg.cholesky(S)).T
    X[:, columns], Y[:, columns] = X[:, columns] * scale @ turn, Y[:, columns] * scale @ turn
    weight[columns] = 1.0
    return replace(tried, X=X, Y=Y, weight=weight)
