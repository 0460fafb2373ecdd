"""Totals: what the totals of two releases differ by, which is the record of whoever came or left.

Averaging: several noisy releases of the same records, put together.

Difference: what two releases of the same records leave of k when they are put together.

Which classes of two releases are of the same records, as somebody tells who has nothing but the releases.

Who came or left shifts the classes around. Classes that changed are put together, the nearest first. Where those of
both releases that are together are of the same records, their totals are equal; where a few came or left, the
difference of the totals is theirs, and lies where the classes are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from sqlmicro.attacks.attacked import MOST_TRIED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.recovery import Within, guessed, shares
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, attack
from sqlmicro.database.templates import Name, Params
from sqlmicro.options.params import Param
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Averaged(Detail):
    """The share of values recovered, by column, and by the first release alone."""

    by_column: dict[str, float]
    within: float
    """So many standard deviations count as recovered."""
    one_release: float
    releases: int


@attack(
    "averaging",
    needs=("match", "numeric", "second"),
    source="sqlmicro: the noise of a mean of r independent releases has 1/r of the variance",
    templates=("audit/values.sql", "attack/averages.sql", "attack/features.sql"),
)
def averaging(knowledge: Knowledge, *, within: Within = 0.01) -> Measured:
    """Average the values of a record over several releases.

    Returns
    -------
    Measured
        The rate is the share of values recovered to `within` standard deviations by the mean of the releases, and
        `by_column`; `one_release` is the share that the first release alone gives, and chance what a released value of
        the column, taken at random, would. A record counts where all releases have a value.

    Notes
    -----
    The defence is to release once, or noise drawn from a key that stays, so that every release has the same.
    """
    attacked = knowledge.first
    names = {column.name for column in attacked.numeric_columns}
    for other in knowledge.releases[1:]:
        names &= {column.name for column in other.numeric_columns}
    columns = [column for column in attacked.numeric_columns if column.name in names]
    rows = attacked.warehouse.rows(
        "attack/averages.sql",
        original=attacked.originals,
        released=attacked.released,
        alone="r1",
        others=[(f"r{number}", other.released) for number, other in enumerate(knowledge.releases[1:], 2)],
        columns=columns,
        within=within,
    )
    rate, values, by_column = shares((name, recovered, records) for name, recovered, _, records in rows)
    alone, _, _ = shares((name, recovered, records) for name, _, recovered, records in rows)
    detail = Averaged(by_column, within, alone, len(knowledge.releases))
    return Measured(rate, guessed(attacked, columns, within), values, detail, "values")


LeastK = Annotated[int | None, Param("Difference of releases: the k they promise. Default: the one both have.", min=2)]


@dataclass(frozen=True)
class InCommon(Detail):
    """What two classes have in common: fewer than k records count."""

    k: int
    linked: float
    """The mean of 1/common records."""


@attack(
    "difference",
    needs=("match", "second"),
    source="Ganta, Kasiviswanathan & Smith (2008), composition attacks",
    templates=("audit/values.sql", "attack/intersections.sql", "attack/person_intersections.sql"),
)
def difference(
    knowledge: Knowledge,
    *,
    k: LeastK = None,
) -> Measured:
    """Intersect the class of a person in one release with that in another.

    Returns
    -------
    Measured
        The rate is the share of the records of both releases whose two classes have fewer than k records in common;
        chance is the share that is in a class of fewer than k in either release alone, without the other. `linked` is
        the mean of 1/common records, and `k` the smaller of the two releases' k where none was given.

    Notes
    -----
    Only the first two releases are taken. With --person classes are counted in persons, and a person is worth what the
    record of hers is that has the fewest persons in common. The defence is to publish one grouping, with all the
    columns.
    """
    assert knowledge.second is not None
    first, second = knowledge.first, knowledge.second
    both: Params = {"first": _written(first), "second": _written(second)}
    both |= {"columns": first.columns, "others": second.columns}
    if first.persons is None:
        rows = first.warehouse.rows("attack/intersections.sql", **both)
    else:
        rows = first.warehouse.rows(
            "attack/person_intersections.sql", original=first.originals, person=first.whose, **both
        )
    records = sum(count for *_, count in rows)
    if not records:
        raise NothingToAttack("attack, --match", "must find the records of one release in the other", "none found")
    least = k or max(2, min(min(before, after) for before, after, _, _ in rows))
    rate = sum(count for *_, size, count in rows if size < least) / records
    alone = sum(count for before, after, _, count in rows if min(before, after) < least) / records
    linked = sum(count / size for *_, size, count in rows) / records
    return Measured(rate, alone, records, InCommon(least, linked), first.unit)


def _written(attacked: AttackedRelease) -> Name:
    attacked.check_matches()
    return attacked.written


_DIGITS = 8
"""Values that are rounded to more digits than these are taken for exact."""
_WHOLE = ("integer", "date")
"""Values whose totals are whole numbers, as everybody knows of ages and days."""


@dataclass(frozen=True)
class Isolated(Detail):
    """The records that differences of totals are about."""

    k: int
    differences: int
    """Differences of totals that are about 1 to k - 1 records."""
    records: int
    """The records that these are about."""
    alone: int
    """Records that a difference is about alone: it is the record."""
    by_column: dict[str, float]
    """Of these, the share of values recovered."""
    within: float
    """So many standard deviations count as recovered."""


@attack(
    "totals",
    needs=("numeric", "second"),
    source="Dalenius & Denning (1982), insertion: the difference of two totals is the record that was inserted",
    templates=("audit/values.sql", "attack/class_totals.sql", "attack/columns.sql"),
)
def totals(knowledge: Knowledge, *, k: LeastK = None, within: Within = 0.01) -> Measured:
    """Subtract the totals of one release from those of another, and find who came or left between them.

    Returns
    -------
    Measured
        The rate is the share of values recovered to `within` standard deviations, of the records that a difference is
        about; 0 where no difference is about fewer than k. A value is right if the nearest record of the original has
        it. Chance is the same share for released classes. `differences` are those about 1 to k - 1 records, `records`
        how many these are, `alone` those that are the only one of a difference, and `by_column` the share of their
        values that were recovered.

    Notes
    -----
    Only the first two releases are taken, and no match is needed. A total is a class's mean times its records: exact,
    whatever it is rounded to, where that tells it from the next whole number. Classes that both releases have alike
    cancel. Which of the others are of the same records is told by where they lie. Needs the original as it was with
    those who came, or who left. The defence is `--series`, or to replace the first release.
    """
    import numpy as np

    assert knowledge.second is not None
    first, second = knowledge.first, knowledge.second
    theirs = {column.name: column for column in second.numeric_columns}
    columns = [column for column in first.numeric_columns if column.name in theirs]
    if not columns:
        raise NothingToAttack("attack, --release", "two releases must have a column of numbers in common", "none")
    found = first.warehouse.arrays(
        "attack/class_totals.sql", first=first.released, second=second.released, columns=columns,
        others=[theirs[column.name] for column in columns],
    )  # fmt: skip
    X = np.column_stack([found[f"x{number}"] for number in range(1, len(columns) + 1)]).astype(float)
    sizes = np.column_stack([found["before"], found["after"]])
    least = k or max(2, int(sizes[sizes > 0].min()))
    if (sizes[:, 0] == sizes[:, 1]).all():
        raise NothingToAttack("attack, --release", "two releases must have different totals", "equal ones")
    isolated = overlaps(_classes(X, sizes, [first.theirs[column.name].family in _WHOLE for column in columns]), least)
    arrays = first.warehouse.arrays("attack/columns.sql", relation=first.originals, numeric=columns, texts=[])
    original = np.column_stack([arrays[column.staged] for column in columns]).astype(float)
    right = _recovered(
        original, np.array([one.total / one.persons for one in isolated if abs(one.persons) == 1]), within
    )
    records = sum(abs(one.persons) for one in isolated)
    detail = Isolated(
        least, len(isolated), records, len(right),
        {column.name: float(right[:, j].mean()) for j, column in enumerate(columns) if len(right)}, within,
    )  # fmt: skip
    trials = max(records, 1) * len(columns)
    known = X[~np.isnan(X).any(axis=1)]
    guesses = _recovered(original, known[:: 1 + len(known) // MOST_TRIED], within)
    chance = float(guesses.mean()) if len(guesses) else 0.0
    return Measured(float(right.sum()) / trials, chance, trials, detail, "values")


def _classes(X: np.ndarray, sizes: np.ndarray, whole: Sequence[bool]) -> Classes:
    """Return the classes of both releases with their totals, as exact as rounding allows; NULL adds nothing."""
    import numpy as np

    more = sizes[:, 1] - sizes[:, 0]
    missing = np.isnan(X)
    X = np.where(missing, 0.0, X)
    middle = X.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    rounding = np.array([_rounded(column) for column in X.T])
    exact = np.array(whole) & (sizes.max(initial=0) * rounding < 0.5)  # the next whole number is the total
    rounding[exact] = 0.0
    before, after = (np.where(exact, np.rint(each), each) for each in (side[:, None] * X for side in sizes.T))
    return Classes(np.where(missing, middle, X), more, after - before, rounding)


def _rounded(values: np.ndarray) -> float:
    """Return by how much values may have been rounded: half of their last digit; 0 where they were not."""
    import numpy as np

    for digits in range(_DIGITS):
        if np.allclose(values, np.round(values, digits), rtol=0, atol=1e-9):
            return float(0.5 * 10.0**-digits)
    return 0.0


def _recovered(original: np.ndarray, guesses: np.ndarray, within: float) -> np.ndarray:
    """Return which values of guessed records (g, p) are those of the nearest record of the original."""
    import numpy as np

    known = original[~np.isnan(original).any(axis=1)]
    if not len(guesses) or not len(known):
        return np.zeros((0, original.shape[1]), dtype=bool)
    scale = known.std(axis=0, ddof=1) if len(known) > 1 else np.zeros(original.shape[1])
    divisor = np.where(scale > 0, scale, 1.0)
    near = nearest_to(known / divisor)
    at = [near(guess, 1)[0][0] for guess in guesses / divisor]
    found: np.ndarray = abs(guesses - known[at]) <= within * scale + 1e-9 * divisor
    return found


_NEIGHBOURS, _AROUND = 8, 5
"""How many classes next to one are tried; of how many around a difference of totals one must be of its own."""
_EXACT, _SIGMAS = 1e-10, 4
"""What floating-point numbers do not tell of a total, as a share; how far rounding is allowed to go."""


@dataclass(frozen=True)
class Classes:
    """The classes of two releases.

    Parameters
    ----------
    X : ndarray (n, p)
        Their values.
    more : ndarray (n,)
        How many more records of each the second release has.
    totals : ndarray (n, p)
        By how much the totals of the second release are greater.
    rounding : ndarray (p,)
        By how much a published value may be rounded.
    """

    X: np.ndarray
    more: np.ndarray
    totals: np.ndarray
    rounding: np.ndarray


@dataclass(frozen=True)
class Overlap:
    """Classes of both releases that are taken to be of the same records, but for those who came or left."""

    persons: int
    """How many more the second release has."""
    total: np.ndarray
    """(p,) by how much its totals are greater."""
    size: np.ndarray
    """(p,) the sum of all of them."""
    squares: float
    """The sum of the squared sizes, which the variance of a rounded total grows with."""
    cost: tuple[int, int, int]
    """Smaller for what explains more: records that nothing explains, persons who came or left, less the parts."""
    parts: tuple[Overlap, ...] = ()
    """Smaller ones that explain it better."""


def overlaps(classes: Classes, k: int) -> list[Overlap]:
    """Return the overlaps with 1 to k - 1 records more or less: the fewest that explain how the releases differ.

    Notes
    -----
    A class that both releases have alike takes no part. Kruskal's minimum spanning tree over the nearest neighbours, on
    which parts are chosen as they are joined: O(n log n).
    """
    import numpy as np

    changed = np.flatnonzero(classes.more)
    if not len(changed):
        return []
    scale = classes.X.std(axis=0)
    scale[scale == 0] = 1
    near = nearest_to(classes.X / scale)
    place, top = np.full(len(classes.X), -1), list(range(len(changed)))
    place[changed] = top

    def find(at: int) -> int:
        while top[at] != at:
            top[at] = top[top[at]]
            at = top[at]
        return at

    def lies_in(root: int, mean: np.ndarray) -> bool:
        around, _ = near(mean / scale, _AROUND)
        return any(place[at] >= 0 and find(int(place[at])) == root for at in around)

    found = [_judged(_alone(classes, int(at)), classes, k, _anywhere) for at in changed]
    left = len(changed)
    for a, b in _edges(classes.X[changed] / scale):
        one, other = find(a), find(b)
        if one != other:
            top[other], left = one, left - 1
            is_near = partial(lies_in, one) if left > 1 else _anywhere
            found[one] = _judged(_together(found[one], found[other]), classes, k, is_near)
    return _isolating(found[find(0)])


def _anywhere(mean: np.ndarray) -> bool:
    """Tell that a difference of whole tables, or of one class, is theirs wherever it lies."""
    return True


def _alone(classes: Classes, at: int) -> Overlap:
    more, total = int(classes.more[at]), classes.totals[at]
    return Overlap(more, total, abs(total), float(more) ** 2, (abs(more), 0, 0))


def _together(one: Overlap, other: Overlap) -> Overlap:
    a, b = one.cost, other.cost
    return Overlap(
        one.persons + other.persons, one.total + other.total, one.size + other.size, one.squares + other.squares,
        (a[0] + b[0], a[1] + b[1], a[2] + b[2]), (one, other),
    )  # fmt: skip


def _judged(overlap: Overlap, classes: Classes, k: int, is_near: Callable[[np.ndarray], bool]) -> Overlap:
    """Return classes that were put together as one overlap, where that explains no less than their parts do."""
    import numpy as np

    persons = abs(overlap.persons)
    whole = (0, persons, -1)
    if persons >= k or whole > overlap.cost:
        return overlap
    if persons:
        explained = is_near(overlap.total / overlap.persons)
    else:
        off = _EXACT * overlap.size + _SIGMAS * classes.rounding * np.sqrt(overlap.squares / 3)
        explained = bool((abs(overlap.total) <= off).all())
    if not explained:
        return overlap
    return Overlap(overlap.persons, overlap.total, overlap.size, overlap.squares, whole)


def _isolating(root: Overlap) -> list[Overlap]:
    """Return the chosen parts of a tree in which records came or left."""
    found, stack = list[Overlap](), [root]
    while stack:
        one = stack.pop()
        if one.parts:
            stack += one.parts
        elif one.persons and not one.cost[0]:
            found.append(one)
    return found


def _edges(X: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs of classes that join all, the nearest first: of nearest neighbours, and then in their order."""
    near, pairs = nearest_to(X), list[tuple[float, int, int]]()
    for row in range(len(X)):
        rows, distances = near(X[row], _NEIGHBOURS + 1)
        pairs += [(apart, row, other) for other, apart in zip(rows, distances, strict=True) if other != row]
    return [*((row, other) for _, row, other in sorted(pairs)), *((at, at + 1) for at in range(len(X) - 1))]


def nearest_to(X: np.ndarray) -> Callable[[np.ndarray, int], tuple[list[int], list[float]]]:
    """Return what finds the rows of X that are nearest to a place, and how far they are, squared."""
    import numpy as np

    as_records, plant, nearest = late("sqlmicro.group._tree_kernels", "as_records", "plant", "nearest")
    tree = plant(as_records(X), np.arange(len(X)))

    def near(place: np.ndarray, most: int) -> tuple[list[int], list[float]]:
        rows, distances = np.empty(most, dtype=np.int64), np.empty(most)
        found, _ = nearest(tree, place, most, rows, distances)
        return rows[:found].tolist(), distances[:found].tolist()

    return near
