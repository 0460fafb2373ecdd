"""Record linkage: who became whom, by the strongest of a family of attackers.

What a published record of a release says of how its numbers were changed, as an attacker uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import LINKED, AttackedRelease, by_person
from sqlmicro.attacks.candidates import QUICK, THOROUGH, Effort, Pairs, Records, pairs
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.models import Learned, Model, Spaces, family, keep, numeric, scores, swapped
from sqlmicro.attacks.neighbours import nearest_to_tried
from sqlmicro.attacks.registry import Detail, Measured, attack
from sqlmicro.missing.standardise import steady
from sqlmicro.registry import late
from sqlmicro.system.secrets import Task

if TYPE_CHECKING:
    import numpy as np

MOST_LEARNED_FROM = 4_000
"""Distinct records of the original from which is learned what happened to all."""
MOST_AT_ONCE = 120_000
"""Distinct records of the original that are assigned together; of a larger table those that are tried."""
NEAREST = "nearest"
_ASSUMED = {
    False: "all records of the original in these columns are known; what happened to them is learned from both tables",
    True: "all records of the original in these columns are known, and the settings of the methods as they were "
    "published; the rest is learned from both tables",
}


@dataclass(frozen=True)
class Attackers(Detail):
    """Which attackers were tried, and which was the strongest."""

    strongest: list[str]
    """The one that each half of the trials was judged by: the strongest on the other half."""
    assumed: str
    """What the attacker goes by."""
    rates: dict[str, float]
    """How often each was right while it was learned, on the records it was learned from."""


@attack(
    "linkage",
    source="Domingo-Ferrer & Torra (2001); Fellegi & Sunter (1969); Nin, Herranz & Torra (2008); Huang & Jebara (2009)",
    templates=LINKED,
)
def linkage(knowledge: Knowledge) -> Measured:
    """Find who became whom: the strongest of a family of attackers, each released record taken once.

    The attacker knows all the columns of everybody exactly, and what was published of the method.

    Returns
    -------
    Measured
        The rate is the mean probability of hitting the true record, ties shared; chance is 1/m, taking any of the m
        released records. Without --match the true record is assumed to be among the nearest: the rate is then the mean
        of 1/ties, an upper bound. `strongest` names who was the strongest and `rates` what the others came to.

    Notes
    -----
    Attackers differ in what they take to have happened to the records, and learn it without knowing a true pair, by EM:
    noise of one size in standard deviations, normal scores or ranks; any linear change with noise of any covariance, of
    values or of normal scores (Mahalanobis); levels of the difference of ranks or of places among the released values,
    column by column (Fellegi & Sunter), of which intersection is a case; and noise or swapping as it was published. A
    nominal value agrees by more than chance, the more the rarer it is; NULL is a value of its own. Of ranges, as
    generalized columns are written, the value is known to lie within. `nearest` looks at each record by itself.

    What a record became is weighed against what all others may have become, since every released record is of one
    original: belief propagation for matchings, which is right more often than the single best assignment. Records that
    are alike in the known columns are one throughout and share a hit, so no order of a table breaks a tie, and where
    every combination of the columns occurs k times, no attacker is right more often than 1/k.

    The trials are halved at random. Each half is judged by the attacker who was the strongest on the other. Nothing is
    rounded, cut off or corrected. Of more than 4,000 distinct records the family learns from a sample. O(n log n) time,
    with some dozen candidates for each record.
    """
    return strongest_linkage(knowledge.first, knowledge.recipe.tasks)


def strongest_linkage(attacked: AttackedRelease, tasks: Sequence[Task] = ()) -> Measured:
    """Return how often a record, or person, is linked to its own; `tasks` is what was published of the release.

    This is what other modules call: `strongest_linkage(attacked_release(warehouse, original, release, match=...))`.
    """
    found = hits_of(attacked, tasks)
    return measured(attacked, found.hits, found.detail)


@dataclass(frozen=True, eq=False)
class Hits:
    """How likely each record that was tried is linked to its own (t,), by which attacker (t,), and what they assume."""

    hits: np.ndarray
    by: np.ndarray
    detail: Attackers


def hits_of(attacked: AttackedRelease, tasks: Sequence[Task] = ()) -> Hits:
    """Return how likely each record that is tried is linked to its own by the strongest attacker."""
    import numpy as np

    if attacked.truth is not None:
        return _strongest(attacked, tasks)
    detail = Attackers([NEAREST], "nothing tells which record became which: it is taken to be among the nearest", {})
    return Hits(nearest_to_tried(attacked).hits, np.full(len(attacked.tried), NEAREST), detail)


def measured(attacked: AttackedRelease, hits: np.ndarray, detail: Detail) -> Measured:
    """Return the mean of the probabilities of hitting the true record, beside that of taking any released one: 1/m.

    Where persons are looked for, it is that of hitting the true person, and there are m persons.
    """
    of_each = by_person(attacked.persons, attacked.tried, hits)
    m = attacked.whole[1] if attacked.persons is None else attacked.persons.in_release
    return Measured(float(of_each.mean()), 1 / m, len(of_each), detail, attacked.unit)


@dataclass(frozen=True, eq=False)
class Trial:
    """What an attacker was found to be worth: how likely each target that took part is hit."""

    name: str
    model: Model | None
    hits: np.ndarray


def _strongest(attacked: AttackedRelease, tasks: Sequence[Task]) -> Hits:
    """Return how likely the strongest attacker is right, chosen for each half of the targets on the other."""
    import numpy as np

    records = Records.of(attacked.features)
    chance = np.random.default_rng(0)
    # Without persons by the record's values: the order of a table is to change nothing.
    persons = attacked.persons
    unit = records.of_original[attacked.tried] if persons is None else persons.original[attacked.tried]
    side = (chance.permutation(int(unit.max()) + 1) % 2)[unit]
    rows = _learned_from(records, attacked, chance)
    took_part = np.flatnonzero(np.isin(records.of_original[attacked.tried], rows))
    trials = [Trial(NEAREST, None, nearest_to_tried(attacked).hits[took_part])]
    for model in (*family(records), *published(records, attacked, tasks)):
        trials.append(_trial(attacked, records, model, rows, took_part))
    best = judges(trials, side[took_part])
    hits, everybody = np.zeros(len(attacked.tried)), np.arange(len(attacked.tried))
    by = np.where(side == 0, best[0].name, best[1].name)
    for trial in {one.name: one for one in best}.values():
        found = (
            nearest_to_tried(attacked).hits
            if trial.model is None
            else _final(attacked, records, trial.model, everybody)
        )
        for half in (0, 1):
            judged = side == half if best[half].name == trial.name else np.zeros(len(side), dtype=bool)
            hits[judged] = found[judged]
    rates = {one.name: float(by_person(attacked.persons, attacked.tried[took_part], one.hits).mean()) for one in trials}
    return Hits(hits, by, Attackers(sorted({one.name for one in best}), _ASSUMED[bool(tasks)], rates))


def judges(trials: Sequence[Trial], side: np.ndarray) -> list[Trial]:
    """Return who judges each half of the targets (0 and 1): the strongest on the other half."""
    return [_best(trials, side != half) for half in (0, 1)]


def _best(trials: Sequence[Trial], chosen: np.ndarray) -> Trial:
    """Return the trial that was right most often on some of the targets, the plainest of equals."""
    if not chosen.any():
        return trials[0]
    return max(trials, key=lambda trial: float(trial.hits[chosen].mean()))


def _learned_from(records: Records, attacked: AttackedRelease, chance: np.random.Generator) -> np.ndarray:
    """Return the distinct originals that are learned from: all of few, else a sample, targets first."""
    import numpy as np

    if len(records.X) <= MOST_LEARNED_FROM:
        return np.arange(len(records.X))
    targets = np.unique(records.of_original[attacked.tried])
    drawn = chance.permutation(targets)[:MOST_LEARNED_FROM]
    return np.sort(drawn)


def _trial(attacked: AttackedRelease, records: Records, model: Model, rows: np.ndarray, targets: np.ndarray) -> Trial:
    """Learn what happened to some records, round by round, and tell how often that hits."""
    for _ in range(model.rounds):
        model = model.learn(model, Learned.of(records, rows, _pairs(attacked, records, model, rows, QUICK)))
    return Trial(
        model.name, model, _hits(attacked, records, rows, _pairs(attacked, records, model, rows, QUICK), targets)
    )


def _final(attacked: AttackedRelease, records: Records, model: Model, targets: np.ndarray) -> np.ndarray:
    """Return how likely each target is hit where all records are assigned together."""
    import numpy as np

    rows = np.arange(len(records.X))
    if len(rows) > MOST_AT_ONCE:
        rows = np.unique(records.of_original[attacked.tried])
    return _hits(attacked, records, rows, _pairs(attacked, records, model, rows, THOROUGH), targets)


def _pairs(attacked: AttackedRelease, records: Records, model: Model, rows: np.ndarray, effort: Effort) -> Pairs:
    share = float(records.own[rows].sum() / attacked.whole[0])
    text = f"linkage: {model.name}"
    return pairs(records, scores(model, records), rows, share, effort, attacked.warehouse.progress, text)


def _hits(
    attacked: AttackedRelease, records: Records, rows: np.ndarray, found: Pairs, targets: np.ndarray
) -> np.ndarray:
    """Return the probability that each target (numbers of those tried) is hit by who takes one of the likeliest."""
    import numpy as np

    assert attacked.truth is not None
    at, candidate = found.best()
    own = np.searchsorted(rows, records.of_original[attacked.tried[targets]])
    if attacked.persons is None:
        true = records.of_released[attacked.truth[attacked.tried[targets]]]
        of, weight = candidate, records.times[candidate]
    else:
        kernels = late("sqlmicro.attacks._linkage_kernels")
        people = kernels.listed(records.of_released, attacked.persons.released, len(records.Y))
        many = np.diff(people.begin)[candidate]
        at = np.repeat(at, many)
        starts = np.repeat(people.begin[candidate] - np.append(0, np.cumsum(many)[:-1]), many)
        of = people.who[starts + np.arange(len(at))]
        both = np.unique(np.stack([at, of], axis=1), axis=0)
        at, of = both[:, 0], both[:, 1]
        weight, true = np.ones(len(at)), attacked.persons.original[attacked.tried[targets]]
    most = int(max(of.max(), true.max())) + 1
    ties = np.bincount(at, weight, minlength=len(rows))
    right = np.isin(own * most + true, at * most + of)
    hits: np.ndarray = right / ties[own]
    return hits


_EXACT = 1e-6
"""The variance of noise, in those of a column, that is taken to be there where none was added."""


def published(records: Records, attacked: AttackedRelease, tasks: Sequence[Task]) -> list[Model]:
    """Return the attackers who go by the settings that noise or rank swapping was published with."""
    import numpy as np

    if not numeric(records).any():
        return []
    spaces, found = Spaces(records), []
    names = np.array([name.lower() for name in records.features.names])[numeric(records)]
    for task in tasks:
        worked = np.isin(names, [name.lower() for name in task.columns])
        amount, percent = task.settings.get("amount"), task.settings.get("percent")
        kind = str(task.settings.get("kind") or {"noise": "correlated", "swap": "rank"}.get(task.method))
        if not worked.any():
            continue
        if task.method == "noise" and isinstance(amount, int | float):
            found.append(_noise(spaces, worked, kind, float(amount)))
        if task.method == "swap" and kind == "rank" and isinstance(percent, int | float):
            found.append(swapped(spaces, worked, float(percent) / 100))
    return found


def _noise(spaces: Spaces, worked: np.ndarray, kind: str, amount: float) -> Model:
    """Return the attacker who knows the covariance of the noise, in standard deviations of the original."""
    import numpy as np

    space = "scores" if kind == "nonlinear" else "values"
    X, _ = spaces.numbers(space)
    covariance = np.atleast_2d(np.cov(X.T, aweights=spaces.records.own))
    if kind == "uncorrelated":
        covariance = np.diag(np.diag(covariance))
    noise = np.diag(np.full(len(worked), _EXACT))
    noise[np.ix_(worked, worked)] = amount**2 * steady(covariance[np.ix_(worked, worked)])
    shrunk = np.where(worked & (kind in ("linear", "nonlinear")), 1 / np.sqrt(1 + amount**2), 1.0)
    name = f"noise of {amount:g}, {kind}, as published"
    model = spaces.model(name, space, keep, 1, noise * np.outer(shrunk, shrunk))
    return model.changed(np.diag(shrunk))
