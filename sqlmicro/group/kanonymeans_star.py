"""kAnonyMeans*: an evolutionary search over the first centres of kAnonyMeans."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

from sqlmicro.group.kanonymeans import (
    Init,
    Inside,
    Iterations,
    Measure,
    Merge,
    Rules,
    centroids,
    first_centres,
    group_around,
    loss,
)
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Grouping, Tick, method, silent

if TYPE_CHECKING:
    import numpy as np


class _Found(NamedTuple):
    """An individual: the grouping made from its centres, and the centroids its children inherit."""

    loss: float
    labels: np.ndarray
    centres: np.ndarray


class _Clock:
    """Ends a search after so many seconds."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether they have passed."""
        return self._end is not None and time.monotonic() >= self._end


@method(
    "kanonymeans-star",
    stage="group",
    engine="numpy",
    promise="record",
    source="Stoldt (2019), kAnonyMeans*",
)
def kanonymeans_star(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    centres: Annotated[int | None, Param("Number of first centres; n/k if not given.", min=1)] = None,
    init: Init = "kmeans++",
    merge: Merge = "inner-loop",
    measure: Measure = "centroid",
    inside: Inside = True,
    iterations: Iterations = 100,
    population: Annotated[int, Param("Sets of centres in a generation.", min=2)] = 10,
    survivors: Annotated[int, Param("Best sets of centres that live on and have children.", min=1)] = 3,
    recombine: Annotated[bool, Param("Whether a child has two parents.")] = True,
    mutated: Annotated[int | None, Param("Children of a generation that are mutated; all if not given.", min=0)] = None,
    exchanged: Annotated[int, Param("Centres of a mutated child that are exchanged for random records.", min=1)] = 3,
    generations: Annotated[int, Param("Generations without gain after which the search ends.", min=1)] = 20,
    time_limit: Annotated[float | None, Param("Seconds after which the search ends.", min=0)] = None,
) -> Grouping:
    """Search the first centres of kanonymeans by evolution, and keep the grouping of least loss.

    The first generation is a `population` of sets of centres drawn as kanonymeans draws them, each evaluated by the
    SSE of the groups that kanonymeans makes from it. Of every generation the `survivors` of least SSE (of different
    SSE) live on and have the children that fill the next one.

    Returns
    -------
    Grouping
        Group of every record, 0..G-1, k to 2k-1 records each. A note says when the time limit ended the search; the
        best grouping found by then is used, and at least one is made.

    Notes
    -----
    No child is born where there are as many survivors as sets of centres. With recombination a child has two parents,
    drawn from the survivors, perhaps the same twice: it has the centres of one on one side of a plane and those of the
    other on the other side. The plane goes through a centre of the first parent, its direction is drawn evenly.
    Without, a child begins as a copy of one parent. The first `mutated` children of a generation (m_c) are mutated;
    `exchanged` of their centres (m_s), or all if they have no more, become random records. The time limit holds for
    each stratum, and is the only stop that makes the groups depend on the machine.

    m_c and m_s are those of the source; its values for them are not known here, and the defaults are those of least
    loss. The thesis was not at hand: how many survive and what recombination does is our reading of its outline. Ours
    too: a survivor hands down the centroids of the groups made from its centres, not the centres it began with, since
    those are nearer to what is sought. O(population) runs of kanonymeans per
    generation, O(n p + population · (n + κ p)) memory for κ centres.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5]])
    >>> kanonymeans_star(X, np.random.default_rng(0), silent, k=3, generations=1).labels.tolist()
    [1, 1, 0, 0, 1, 0]
    """
    import numpy as np

    rules, clock = Rules(k, merge, measure, inside, iterations), _Clock(time_limit)
    total = loss(X, np.zeros(len(X), dtype=np.int64), X.mean(axis=0)[None])
    # Drawn from in the order of their values, so that the order of the rows does not matter.
    records = X[np.lexsort(X.T[::-1])]
    alive: list[_Found] = []
    stale = 0

    def live(first: np.ndarray) -> None:
        labels = group_around(X, first, rules, silent)
        means = centroids(X, labels)
        alive.append(_Found(loss(X, labels, means), labels, means))
        best = min(found.loss for found in alive)
        tick(min(stale, generations), generations, f"IL {100 * best / total:.4g}" if total else "")

    while len(alive) < population and not (alive and clock.over):
        live(first_centres(X, k, centres, init, rng))
    while stale < generations and not clock.over:
        parents = _fittest(alive, survivors)
        best = parents[0].loss
        alive = list(parents)
        for number in range(population - len(alive)):
            if clock.over:
                break
            child = _child(parents, recombine, rng)
            if mutated is None or number < mutated:
                _mutate(child, records, exchanged, rng)
            live(child)
        stale = 0 if min(found.loss for found in alive) < best else stale + 1
    notes = ("kanonymeans-star reached its time limit: the best grouping found by then is used",)
    return Grouping(_fittest(alive, 1)[0].labels, notes if stale < generations else ())


def _fittest(alive: list[_Found], count: int) -> list[_Found]:
    """Return the individuals of least loss, one of each loss: equal ones would breed only each other."""
    found: dict[float, _Found] = {}
    for one in sorted(alive, key=lambda one: one.loss):
        found.setdefault(one.loss, one)
    return list(found.values())[:count]


def _child(parents: list[_Found], recombine: bool, rng: np.random.Generator) -> np.ndarray:
    """Return the first centres of a child: those of its parents on two sides of a random plane."""
    import numpy as np

    mother = parents[rng.integers(len(parents))].centres
    if not recombine:
        return mother.copy()
    father = parents[rng.integers(len(parents))].centres
    through, normal = mother[rng.integers(len(mother))], rng.normal(size=mother.shape[1])
    return np.vstack([mother[(mother - through) @ normal >= 0], father[(father - through) @ normal < 0]])


def _mutate(centres: np.ndarray, records: np.ndarray, exchanged: int, rng: np.random.Generator) -> None:
    """Exchange so many of the centres, in place, for records drawn at random."""
    count = min(exchanged, len(centres))
    lost = rng.choice(len(centres), count, replace=False)
    centres[lost] = records[rng.choice(len(records), count, replace=False)]
