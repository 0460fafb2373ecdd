"""Same order: two releases laid side by side, place by place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.attacks.attacked import MOST_TRIED, AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Detail, Measured, NothingToAttack, attack
from sqlmicro.database.columns import Column

if TYPE_CHECKING:
    import numpy as np

_EXACT = 1e-7
"""A value is rebuilt when it is off by less than this share of the standard deviation."""
_ROTATIONS, _MOST_COLUMNS, _SPREAD = 8, 12, 4.0


@dataclass(frozen=True)
class _Sides:
    """The columns of original and two releases as numbers, place by place: (n, p), (m, p), (m, p)."""

    columns: list[Column]
    numeric: np.ndarray
    original: np.ndarray
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class _Way:
    """A way to put places of both releases together: in words, and whether the original has what comes out."""

    text: str
    hits: Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Agreement(Detail):
    """How far two releases agree place by place."""

    agreement: Literal["places"]
    releases: str
    correlations: dict[str, float | None]
    """Of the columns, place by place."""
    residuals: dict[str, float | None]
    """Of what was added to them."""


@dataclass(frozen=True)
class Rebuilt(Detail):
    """The best way to put two releases together."""

    rebuilt: str
    releases: str


@attack(
    "same-order",
    needs=("second",),
    source="sqlmicro: two releases in one order are one release with the columns of both",
    templates=("audit/values.sql", "attack/columns.sql"),
)
def same_order(knowledge: Knowledge) -> list[Measured]:
    """Lay two releases side by side, place by place, and rebuild the original from both.

    Returns
    -------
    list of Measured
        Two for every two releases, whose numbers are `releases`. With `agreement` the rate is the share of places whose
        two records are nearer to each other than the record of the first to one elsewhere in the second, chance is a
        half; `correlations` are those of the columns place by place, `residuals` those of what was added to them. With
        `rebuilt` the rate is the share of places at which the best of several ways to put both together gives exactly
        what occurs in the original, and chance what the same way gives with the second release turned by some places.
        The ways: a weighted sum of both values of a column, with the variance of the original; one column of the first
        release beside another one of the second. The best is chosen on one half of the places and measured on the rest.

    Notes
    -----
    A match is not needed, because places are compared and not records. Residuals are found without it from variances:
    cov(first, second) is the variance of the original and the covariance of what was added, where places agree. The
    defence is an order of its own for every release. O(p² n log n).
    """
    found: list[Measured] = []
    numbered = list(enumerate(knowledge.releases, 1))
    for (i, first), (j, second) in combinations(numbered, 2):
        sides = _sides(first, second)
        found += [_agreement(sides, f"{i} and {j}"), *_rebuilt(sides, f"{i} and {j}")]
    return found


def _sides(first: AttackedRelease, second: AttackedRelease) -> _Sides:
    """Return what original and both releases have in common, up to as many places as both releases have."""
    import numpy as np

    kinds = [{c.name: c for c in source.columns} for source in (first.original, second.release)]
    keys = {column.name for column in first.match}
    columns = [c for c in first.release.columns if c.name not in keys and all(c.name in kind for kind in kinds)]
    columns = columns[:_MOST_COLUMNS]
    sizes = [first.warehouse.count(side.release.relation) for side in (first, second)]
    if not columns or min(sizes) < 2 * _SPREAD:
        raise NothingToAttack("attack, --release", "two releases must have records and columns in common", "none")
    numeric = [
        c for c in columns if c.numeric and c.name not in first.nominal and all(k[c.name].numeric for k in kinds)
    ]
    tables = [
        _table(side, source, columns, numeric, name)
        for side, source, name in (
            (first, first.original, "side_original"),
            (first, first.release, "side_first"),
            (second, second.release, "side_second"),
        )
    ]
    made = np.empty((sum(len(table[0]) for table in tables), len(columns)))
    for j, column in enumerate(columns):
        values = np.concatenate([table[j] for table in tables])
        made[:, j] = values.astype(float) if column in numeric else _numbered(values)
    n, m = len(tables[0][0]), min(sizes)
    start = n + sizes[0]
    kind = np.array([column in numeric for column in columns])
    return _Sides(columns, kind, made[:n], made[n : n + m], made[start : start + m])


def _table(
    attacked: AttackedRelease, source: Any, columns: list[Column], numeric: list[Column], into: str
) -> list[np.ndarray]:
    nominal = [column for column in columns if column not in numeric]
    relation = attacked.values(source, into, numeric, nominal, view=False)
    arrays = attacked.warehouse.arrays("attack/columns.sql", relation=relation, numeric=columns, texts=[])
    return [arrays[column.staged] for column in columns]


def _numbered(values: np.ndarray) -> np.ndarray:
    """Return equal values as equal numbers; what is missing is a value of its own."""
    import numpy as np

    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=float)


def _agreement(sides: _Sides, releases: str) -> Measured:
    """Return how often the records of one place are nearer to each other than to those of other places."""
    import numpy as np

    m = len(sides.first)
    rows = np.linspace(0, m - 1, min(m, MOST_TRIED)).astype(int)
    here = _apart(sides, rows, rows)
    nearer = np.zeros(len(rows))
    for shift in _rotations(m):
        elsewhere = _apart(sides, rows, (rows + shift) % m)
        nearer += (here < elsewhere) + 0.5 * (here == elsewhere)
    detail = Agreement("places", releases, {}, {})
    for j, column in enumerate(sides.columns):
        if sides.numeric[j]:
            both, added = _correlations(sides.original[:, j], sides.first[:, j], sides.second[:, j])
            detail.correlations[column.name] = both
            detail.residuals[column.name] = added
    return Measured(float(nearer.mean()) / _ROTATIONS, 0.5, len(rows), detail, "places")


def _rotations(m: int) -> list[int]:
    return [1 + (m - 1) * number // (_ROTATIONS + 1) for number in range(1, _ROTATIONS + 1)]


def _apart(sides: _Sides, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared distance of records of the first release to records of the second."""
    import numpy as np

    total = np.zeros(len(rows))
    for j in range(len(sides.columns)):
        a, b = sides.first[rows, j], sides.second[others, j]
        if not sides.numeric[j]:
            total += a != b
            continue
        variance = float(np.nanvar(sides.original[:, j])) or 1.0
        missing = np.isnan(a) != np.isnan(b)
        total += np.where(missing, 1.0, np.nan_to_num((a - b) ** 2 / variance))
    return total


def _correlations(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float | None, float | None]:
    """Return the correlation of two releases place by place, and that of what was added to the original."""
    import numpy as np

    there = ~(np.isnan(a) | np.isnan(b))
    a, b, variance = a[there], b[there], float(np.nanvar(x))
    if len(a) < _SPREAD or not a.std() or not b.std():
        return None, None
    together = float(np.mean((a - a.mean()) * (b - b.mean())))
    both = together / float(a.std() * b.std())
    if both < _SPREAD / np.sqrt(len(a)) or min(a.var(), b.var()) <= variance * (1 + _EXACT):
        return both, None
    added = (together - variance) / np.sqrt((a.var() - variance) * (b.var() - variance))
    return both, float(np.clip(added, -1, 1))


def _rebuilt(sides: _Sides, releases: str) -> Iterator[Measured]:
    """Yield how much of the original the best way to put both releases together gives back."""
    import numpy as np

    m = len(sides.first)
    rows = np.linspace(0, m - 1, min(m, MOST_TRIED)).astype(int)
    chosen, measured, turns = rows[::2], rows[1::2], _rotations(m)
    turned = (chosen + turns[_ROTATIONS // 2]) % m
    ways = [*_sums(sides), *_beside(sides)]
    if not ways:
        return
    best = max(ways, key=lambda way: float(way.hits(chosen, chosen).mean() - way.hits(chosen, turned).mean()))
    hits = best.hits(measured, measured)
    chance = np.mean([best.hits(measured, (measured + turn) % m).mean() for turn in turns])
    one, _, other = releases.partition(" and ")
    text = best.text.replace("{first}", f"release {one}").replace("{second}", f"release {other}")
    yield Measured(float(hits.mean()), float(chance), len(measured), Rebuilt(text, releases), "places")


def _sums(sides: _Sides) -> Iterator[_Way]:
    """Yield the weighted sums t first + (1 - t) second of a column that have the variance of the original."""
    import numpy as np

    for j in np.flatnonzero(sides.numeric):
        x, a, b = (table[:, j] for table in (sides.original, sides.first, sides.second))
        known, there = np.sort(x[~np.isnan(x)]), ~(np.isnan(a) | np.isnan(b))
        difference, second = (a - b)[there], b[there]
        if len(known) < _SPREAD or not there.any() or not difference.std() or not known.std():
            continue
        middle = float(np.mean((difference - difference.mean()) * (second - second.mean())))
        roots = np.roots([float(difference.var()), 2 * middle, float(second.var() - known.var())])
        for t in roots[np.isreal(roots)].real:
            text = f"{t:.4g} x {{first}} + {1 - t:.4g} x {{second}} of {sides.columns[j].name}"
            yield _Way(text, partial(_near, known, a, b, float(t)))


def _near(
    known: np.ndarray, a: np.ndarray, b: np.ndarray, t: float, rows: np.ndarray, others: np.ndarray
) -> np.ndarray:
    import numpy as np

    made = t * a[rows] + (1 - t) * b[others]
    after = np.clip(np.searchsorted(known, made), 1, len(known) - 1)
    off = np.minimum(np.abs(made - known[after - 1]), np.abs(made - known[after]))
    found: np.ndarray = off <= _EXACT * known.std()
    return found


def _beside(sides: _Sides) -> Iterator[_Way]:
    """Yield every column of the first release beside every other one of the second."""
    import numpy as np

    places = [
        [_places(sides.original[:, j], table[:, j], bool(sides.numeric[j])) for table in (sides.original, sides.first,
                                                                                         sides.second)]
        for j in range(len(sides.columns))
    ]  # fmt: skip
    for j, k in permutations(range(len(sides.columns)), 2):
        width = len(sides.original) + 2
        truth = np.unique(places[j][0] * width + places[k][0])
        text = f"{sides.columns[j].name} of {{first}} beside {sides.columns[k].name} of {{second}}"
        yield _Way(text, partial(_occur, truth, width, places[j][1], places[k][2]))


def _occur(
    truth: np.ndarray, width: int, a: np.ndarray, b: np.ndarray, rows: np.ndarray, others: np.ndarray
) -> np.ndarray:
    import numpy as np

    found: np.ndarray = np.isin(a[rows] * width + b[others], truth) & (a[rows] >= 0) & (b[others] >= 0)
    return found


def _places(original: np.ndarray, values: np.ndarray, numeric: bool) -> np.ndarray:
    """Return where values stand among the distinct ones of the original, one behind them if missing; -1 if nowhere."""
    import numpy as np

    known = np.unique(original[~np.isnan(original)])
    if not len(known):
        return np.where(np.isnan(values), 0, -1)
    reach = _EXACT * float(known.std()) if numeric else 0.0
    after = np.clip(np.searchsorted(known, values), 0, len(known) - 1)
    before = np.maximum(after - 1, 0)
    place = np.where(np.abs(values - known[before]) < np.abs(values - known[after]), before, after)
    found: np.ndarray = np.where(np.abs(values - known[place]) <= reach, place, -1)
    return np.where(np.isnan(values), len(known), found)
