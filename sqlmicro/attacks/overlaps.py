"""Which classes of two releases are of the same records, as somebody tells who has nothing but the releases.

Who came or left shifts the classes around. Classes that changed are put together, the nearest first. Where those of
both releases that are together are of the same records, their totals are equal; where a few came or left, the
difference of the totals is theirs, and lies where the classes are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

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
