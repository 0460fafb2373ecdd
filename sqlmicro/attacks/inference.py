"""Inference: what somebody learns about a person by a release, beyond what is known of anybody.

Homogeneity: classes in which everybody has the same sensitive value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlmicro.attacks.attacked import AttackedRelease, Persons
from sqlmicro.attacks.control import MOST_TARGETS, WITH_CONTROL, AgainstControl, Controlled, Seen
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.learned import alone, boosting, categories, classifier, finite, regressor, varying
from sqlmicro.attacks.neighbours import groups, nearest
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, Z, attack
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name

if TYPE_CHECKING:
    import numpy as np

WITHIN = 0.05
"""A number is guessed right if it is off by so much of its value at most, as in anonymeter."""
_MOST_VALUES = 20
"""A column of numbers with more values is guessed as a number."""
_MOST_CLASSES = 50
_MOST_LEARNED = 20_000
"""So many released records a model learns from at most."""
_NEAR = 10
_COMMONEST = "the commonest value"
_NEAREST = "the nearest group"
_SOURCE = "Giomi et al. (2023); Stadler, Oprisanu & Troncoso (2022); Machanavajjhala et al. (2007)"


@dataclass(frozen=True)
class Secret:
    """A column that is guessed: what was released of it, and what is true of the people.

    A nominal value, or a range, is a number; where numbers are guessed, it is the value.
    """

    seen: Seen
    values: np.ndarray
    """(m,) of the release"""
    as_number: bool

    def right(self, guesses: np.ndarray, people: np.ndarray) -> np.ndarray:
        """Tell for every person (t,) whether the guess is right."""
        import numpy as np

        true = self.seen.people[people]
        if self.as_number:
            near: np.ndarray = np.abs(guesses - true) <= WITHIN * np.abs(true)
            return near
        at = guesses.astype(np.int64)
        low, high = self._ends
        missing = np.isnan(true)
        found: np.ndarray = np.where(missing, np.isnan(low[at]), (low[at] <= true) & (true <= high[at]))
        return found

    @property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the range that every number of a value stands for; of a single value they are equal."""
        import numpy as np

        first = np.unique(self.values, return_index=True)[1]
        return self.seen.low[first], self.seen.high[first]


def secret(seen: Seen) -> Secret:
    """Return a column as it is guessed: by its values, or as a number where it has many."""
    import numpy as np

    single = np.array_equal(seen.low, seen.high, equal_nan=True)
    known = seen.low[~np.isnan(seen.low)]
    if seen.numeric and single and len(np.unique(known)) > _MOST_VALUES:
        return Secret(seen, seen.low, as_number=True)
    pairs = np.stack([np.where(np.isnan(end), np.inf, end) for end in (seen.low, seen.high)], axis=1)
    return Secret(seen, np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1), as_number=False)


@attack("inference", needs=("columns", "sensitive", "control"), source=_SOURCE, templates=WITH_CONTROL, outsider=False)
def inference(knowledge: Knowledge) -> list[Measured]:
    """Guess a sensitive value from all else that is known of a person, by whatever the release teaches best.

    Returns
    -------
    list of Measured
        For every sensitive column how often the guess is right about people of the table; chance is how often the same
        attack is right about the control group. `commonest` is how often the commonest released value is right, and
        `risk` what being in the table adds.

    Notes
    -----
    The guess is the commonest value of the released records that are alike in all that is known; that of the nearest
    group, or of the ten nearest; or that of gradient-boosted trees which are trained on the release. Either half of
    the people is attacked by what is best on the other. A number with more than 20 values is right when it is off by at
    most 5 % of the true one. What the control group suffers too is a fact about everybody, that any statistics teach.
    """
    beside = knowledge.controlled
    boosting("inference")
    found = []
    for column in beside.sensitive:
        rate, detail = guessed(beside, column, beside.columns)
        found.append(Measured(rate, detail.control, len(beside.targets[0]), detail, beside.unit))
    if not found:
        raise NothingToAttack("attack, --sensitive", "must be columns of the original too", "none that are")
    return found


def guessed(beside: Controlled, column: Column, known: Sequence[Column]) -> tuple[float, AgainstControl]:
    """Return how often a column is guessed right from others, beside the control group."""
    import numpy as np

    found = secret(beside.seen[column.name])
    people = np.concatenate(beside.targets)
    n = len(beside.targets[0])
    guesses = {_COMMONEST: np.full(len(people), _commonest(found)), **_by_groups(beside, found, known, people)}
    if len(np.unique(found.values)) > 1:
        guesses["gradient-boosted trees"] = _by_model(beside, found, known, people)
    right = {name: found.right(guess, people) for name, guess in guesses.items()}
    own, control, best = beside.strongest(right)
    commonest = float(right[_COMMONEST][:n].mean())
    return float(own.mean()), beside.against(own, control, best, column.name, commonest)


@dataclass(frozen=True)
class Gain:
    """What being in the table adds to how often a value is guessed right from all others, over all columns."""

    gain: float
    """The mean share of right guesses about people of the table, minus that about people who were held out."""
    ci: list[float]
    """Its interval at 95 %."""
    n: int
    """People of the table who were attacked."""
    n_control: int
    """Of those who were held out."""
    by_column: dict[str, float]


def gained(beside: Controlled) -> Gain:
    """Return what somebody learns by a release about people of its table, beyond what it teaches about others.

    Who knows all other columns of somebody takes the value of the nearest released group, for each known column, and
    for each sensitive one. The interval is of the mean over the columns, which is reckoned for each person.

    Raises
    ------
    NothingToAttack
        When there are not two columns, or too few people on either side.
    """
    import numpy as np

    guessing = [(column, [one for one in beside.columns if one != column]) for column in beside.columns]
    guessing += [(column, list(beside.columns)) for column in beside.sensitive]
    guessing = [(column, known) for column, known in guessing if known]
    if not guessing:
        raise NothingToAttack("inference", "needs a column to guess and one to guess it from", "one")
    n, people = len(beside.targets[0]), np.concatenate(beside.targets)
    hits = np.empty((len(people), len(guessing)))
    for j, (column, known) in enumerate(guessing):
        found = secret(beside.seen[column.name])
        hits[:, j] = found.right(_by_groups(beside, found, known, people)[_NEAREST], people)
    own, others = hits[:n], hits[n:]
    by_column = own.mean(axis=0) - others.mean(axis=0)
    errors = [side.mean(axis=1).std(ddof=1) / len(side) ** 0.5 for side in (own, others)]
    gain, error = float(by_column.mean()), Z * float(np.hypot(*errors))
    names = [column.name for column, _ in guessing]
    return Gain(
        gain, [max(gain - error, -1.0), min(gain + error, 1.0)], n, len(people) - n,
        dict(zip(names, by_column.tolist(), strict=True)),
    )  # fmt: skip


def read_off(attacked: AttackedRelease, column: Column) -> tuple[float, float]:
    """Return how often the value of the nearest group is right about records of the original, and the commonest one."""
    import numpy as np

    alone = replace(attacked, match=(), person=(), _made={})
    beside = Controlled(attacked=alone, members=alone.sizes[0], sensitive=(column,), how="given")
    people = np.random.default_rng(2007).permutation(beside.members)[:MOST_TARGETS]
    found = secret(beside.seen[column.name])
    nearest_group = _by_groups(beside, found, beside.columns, people)[_NEAREST]
    usual = np.full(len(people), _commonest(found))
    return float(found.right(nearest_group, people).mean()), float(found.right(usual, people).mean())


def _commonest(found: Secret) -> float:
    """Return the value that is right most often of the release; of numbers, of some hundred that are spread over it."""
    import numpy as np

    values = found.values
    if not found.as_number:
        return float(np.bincount(values).argmax())
    known = np.sort(values[~np.isnan(values)])
    tried = np.unique(known[np.linspace(0, len(known) - 1, 500).astype(np.int64)])
    ends = np.stack([tried / (1 + WITHIN), tried / (1 - WITHIN)])
    near = np.searchsorted(known, ends.max(axis=0), "right") - np.searchsorted(known, ends.min(axis=0))
    return float(tried[near.argmax()])


def _by_groups(beside: Controlled, found: Secret, known: Sequence[Column], people: np.ndarray) -> dict[str, np.ndarray]:
    """Return the guesses of whoever looks at the nearest groups of the release."""
    import numpy as np

    features = beside.features(known)
    released = groups(features.Y, features.times)
    usual = _of_each(found, released.of, len(released.points))
    near = nearest(features.X[people], released.points, features, beside.attacked.warehouse.progress, _NEAR)
    first = usual[near.which[:, 0]]
    several = usual[near.which]
    if found.as_number:
        several = np.where(np.isnan(several).all(axis=1)[:, None], 0.0, several)
        voted = np.nanmedian(several, axis=1)
    else:
        who = np.repeat(np.arange(len(people)), several.shape[1])
        votes = released.times[near.which].ravel()
        voted = _most_frequent(who, several.ravel().astype(np.int64), votes, len(people))
    alike = np.where(near.gaps[:, 0] == 0, first, _commonest(found))
    return {"those alike in all that is known": alike, _NEAREST: first, "the ten nearest groups": voted}


def _of_each(found: Secret, of: np.ndarray, number: int) -> np.ndarray:
    """Return the commonest value of every group, the median of numbers (V,)."""
    import numpy as np

    if not found.as_number:
        return _most_frequent(of, found.values, np.ones(len(of)), number)
    ordered = found.values[np.lexsort((found.values, of))]  # missing ones last
    known = np.bincount(of, ~np.isnan(found.values), number).astype(np.int64)
    begins = np.cumsum(np.bincount(of, minlength=number)) - np.bincount(of, minlength=number)
    return np.where(known > 0, ordered[begins + np.maximum(known - 1, 0) // 2], np.nan)


def _most_frequent(of: np.ndarray, values: np.ndarray, weights: np.ndarray, number: int) -> np.ndarray:
    """Return the value with the largest weight in each of the groups from 0 to `number`, the least of equal ones."""
    import numpy as np

    codes = int(values.max()) + 1
    cells, which = np.unique(of * codes + values, return_inverse=True)
    order = np.lexsort((cells, -np.bincount(which.reshape(-1), weights), cells // codes))
    own, first = np.unique((cells // codes)[order], return_index=True)
    usual = np.zeros(number)
    usual[own] = (cells % codes)[order][first]
    return usual


def _by_model(beside: Controlled, found: Secret, known: Sequence[Column], people: np.ndarray) -> np.ndarray:
    """Return the guesses of trees that learned from the release what goes with what."""
    import numpy as np

    columns, categorical = [], []
    for column in known:
        seen = beside.seen[column.name]
        values = seen.released, seen.people[people]
        columns.append(values if seen.numeric else categories(*values))
        categorical.append(not seen.numeric)
    learned, asked = (np.column_stack(part) for part in zip(*columns, strict=True))
    rows = np.flatnonzero(~np.isnan(found.values)) if found.as_number else np.arange(len(found.values))
    if len(rows) > _MOST_LEARNED:
        rows = np.sort(np.random.default_rng(2017).choice(rows, _MOST_LEARNED, replace=False))
    use = varying(learned[rows])
    if not use.any():
        return np.full(len(people), _commonest(found))
    learned, asked, mask = finite(learned[:, use]), finite(asked[:, use]), np.array(categorical)[use]
    if found.as_number:
        return _told(regressor("inference", mask), learned[rows], found.values[rows], asked)
    frequent = np.argsort(-np.bincount(found.values[rows]), kind="stable")[:_MOST_CLASSES]
    rows = rows[np.isin(found.values[rows], frequent)]
    classes = len(np.unique(found.values[rows]))
    if classes < 2:
        return np.full(len(people), float(found.values[rows[0]]))
    return _told(classifier("inference", classes, mask), learned[rows], found.values[rows], asked)


def _told(model: Any, X: np.ndarray, y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return what a model that is trained here says."""
    with alone():
        guess: np.ndarray = model.fit(X, y).predict(asked)
    return guess.astype(float)


@attack(
    "leave-one-out", needs=("columns", "control"), source="sqlmicro; see `sqlmicro help safe`", templates=WITH_CONTROL,
    outsider=False,
)  # fmt: skip
def leave_one_out(knowledge: Knowledge) -> list[Measured]:
    """Guess each known column from all others, of people whom these make unique: as the release shows it.

    Returns
    -------
    list of Measured
        For every column that anybody can guess, how often the guess is right. Who guesses knows all other values of
        somebody, and that nobody else has them, and takes the value that the release shows with them, if it shows
        exactly one. Chance is how often it is right about people of the control group, 0 where nobody can be guessed.
        Who is unique is so among the people of both. `commonest` is how often the commonest value is right.

    Notes
    -----
    Values are compared as they are: where a method gives everybody a mean, nobody can guess. One sort of the records
    per column.
    """
    beside = knowledge.controlled
    if len(beside.columns) < 2:
        raise NothingToAttack("attack, --columns", "leave-one-out needs two columns", "one")
    found = []
    for column in beside.columns:
        others = [other for other in beside.columns if other != column]
        own, control, commonest = shown_alone(beside, column, others)
        if len(own):
            detail = beside.against(own, control, "what is shown", column.name, commonest)
            found.append(Measured(float(own.mean()), detail.control, len(own), detail))
    if not found:
        raise NothingToAttack("attack, leave-one-out", "shows no value of anybody who is unique in the other columns")
    return found


def shown_alone(beside: Controlled, column: Column, others: Sequence[Column]) -> tuple[np.ndarray, np.ndarray, float]:
    """Tell for every guess about people of the table, and about the control group, whether it is right.

    Also return how often the commonest value is right about the former.
    """
    import numpy as np

    seen, parts = beside.seen, []
    for one in (*others, column):
        low, high = seen[one.name].low, seen[one.name].high
        single = np.where(low < high, np.inf, low)  # nobody has a range for a value
        parts.append(np.unique(np.concatenate([seen[one.name].people, single]), return_inverse=True)[1].reshape(-1))
    key = np.zeros(len(parts[0]), dtype=np.int64)
    for codes in parts[:-1]:
        key = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
    n, target, keys = beside.attacked.sizes[0], parts[-1], int(key.max()) + 1
    pairs = np.unique(key[n:] * (int(target.max()) + 1) + target[n:])
    width = int(target.max()) + 1
    only = np.bincount(pairs // width, minlength=keys) == 1
    value = np.zeros(keys, dtype=np.int64)
    value[pairs // width] = pairs % width
    unique = np.bincount(key[:n], minlength=keys)[key[:n]] == 1
    guessing = np.flatnonzero(unique & only[key[:n]])
    right = value[key[guessing]] == target[guessing]
    usual = target[guessing] == np.bincount(target[n:]).argmax()
    members = guessing < beside.members
    return right[members], right[~members], float(usual[members].mean()) if members.any() else 0.0


_MOST_SHARES = 200
"""So many values of a column count for what chance gives to persons, the most frequent ones."""


@dataclass(frozen=True)
class Alike(Detail):
    """The column in which classes are alike, and how far that can be relied on."""

    sensitive: str
    right: float | None = None
    """How often the value of the nearest class is right about a record of the original; None if it lacks the column."""
    commonest: float | None = None
    """How often the commonest released value is."""


@attack(
    "homogeneity",
    needs=("columns", "sensitive"),
    source="Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)",
    templates=(
        "audit/values.sql",
        "attack/class_values.sql",
        "attack/value_sizes.sql",
        "attack/class_codes.sql",
        "attack/features.sql",
        "attack/columns.sql",
    ),
    outsider=False,
)
def homogeneity(knowledge: Knowledge) -> list[Measured]:
    """Read the sensitive value of a class that has only one: nobody needs to be linked for that.

    Returns
    -------
    list of Measured
        For every sensitive column the share of the records that are in such a class; NULL is a value of its own. Chance
        is the same share with the values dealt to the records at random, which is what the sizes of the classes make
        by themselves. `right` is how often the value of the nearest class is true of a record of the original, and
        `commonest` how often the commonest value is: a class of one record is alike, and need not be right.

    Notes
    -----
    With --person it is the share of the persons with a record in a class where all persons have one value in common, be
    it one of several that each of them has: whoever is known to be in the class has it. Chance is then computed as if
    values were drawn independently.
    """
    attacked = knowledge.first
    warehouse = attacked.warehouse
    found = []
    written = attacked.values(attacked.release, "sensitive", [], [*attacked.columns, *knowledge.sensitive], view=False)
    for column in knowledge.sensitive:
        if attacked.persons is not None:
            found.append(_of_persons(attacked, attacked.persons, written, column))
            continue
        rows = warehouse.rows("attack/class_values.sql", relation=written, columns=attacked.columns, sensitive=column)
        values = [int(n) for (n,) in warehouse.rows("attack/value_sizes.sql", relation=written, column=column)]
        n = sum(values)
        alike = sum(records for _, _, records in rows)
        chance = sum(size * classes * all_alike(size, values) for size, classes, _ in rows) / n
        found.append(Measured(alike / n, chance, n, _alike(attacked, column)))
    return found


def _of_persons(attacked: AttackedRelease, persons: Persons, written: Name, column: Column) -> Measured:
    """Return the share of the persons who are in a class where all persons have a value in common."""
    import numpy as np

    codes = attacked.warehouse.arrays(
        "attack/class_codes.sql", relation=written, columns=attacked.columns, sensitive=column
    )
    label, value, who = codes["label"].astype(np.int64), codes["code"].astype(np.int64), persons.released
    everybody, values = int(who.max()) + 1, int(value.max()) + 1
    pairs, records = np.unique(label * everybody + who, return_counts=True)
    of_class, members = pairs // everybody, pairs % everybody
    size = np.bincount(of_class)
    _, valued = np.unique(label * values + value, return_inverse=True)
    once = np.unique(valued * everybody + who) // everybody
    have = np.bincount(once)
    alike = np.zeros(len(size), dtype=bool)
    alike[label[have[valued] == size[label]]] = True
    n = persons.in_release
    rate = len(np.unique(members[alike[of_class]])) / n
    chance = _chance(np.bincount(value) / len(value), of_class, members, records)
    return Measured(rate, chance, n, _alike(attacked, column), "persons")


def _alike(attacked: AttackedRelease, column: Column) -> Alike:
    """Return the column, and how often reading it off the nearest class is right."""
    if column.name not in attacked.theirs:
        return Alike(column.name)
    return Alike(column.name, *read_off(attacked, column))


def _chance(shares: np.ndarray, of_class: np.ndarray, members: np.ndarray, records: np.ndarray) -> float:
    """Return the share of persons in a class where all have a value in common, were values drawn independently.

    Parameters
    ----------
    shares : ndarray of shape (m,)
        Of the values.
    of_class, members, records : ndarray of shape (t,)
        The class, the person, and her number of records there, for every person in every class, class after class.
    """
    import numpy as np

    all_have = np.zeros(int(of_class.max()) + 1)
    for share in np.sort(shares)[::-1][:_MOST_SHARES]:
        has = np.log(np.maximum(1 - (1 - share) ** records, 1e-300))
        all_have += np.exp(np.bincount(of_class, has))
    missed = np.bincount(members, np.log1p(-np.minimum(all_have[of_class], 1 - 1e-12)))
    return float((1 - np.exp(missed[np.unique(members)])).mean())


def all_alike(size: int, values: Sequence[int]) -> float:
    """Return the probability that so many records drawn without replacement have one value, which so many have each.

    >>> round(all_alike(2, [2, 2]), 6), all_alike(1, [3, 1])
    (0.333333, 1.0)
    """
    if size == 1:
        return 1.0
    n = sum(values)
    ways = sum(math.exp(_log_choose(value, size) - _log_choose(n, size)) for value in values if value >= size)
    return min(1.0, ways)


def _log_choose(n: int, size: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
