"""Singling out: conditions, read off a release, that hold for exactly one person of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.attacks.control import SOURCE, WITH_CONTROL, AgainstControl, Controlled, residual
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Measured, attack, wilson
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

_MISSING = 1e308
"""What stands for a missing number: no condition on values holds for it."""
_WHOLE = 1e307
_CONDITIONS = 1000
"""So many of a family are tried at most."""
_DRAWN = 3
"""So many times as many are drawn; those that fewest released records meet are tried."""
_FAMILIES = ("below or above", "about the released value", "about the whole released record")


@dataclass(frozen=True)
class Conditions:
    """Conditions on several columns together: in each column a value from `low` to `high`, both (g, p)."""

    low: np.ndarray
    high: np.ndarray


@attack("singling-out", needs=("columns", "control"), source=SOURCE, templates=WITH_CONTROL, outsider=False)
def singling_out(knowledge: Knowledge) -> Measured:
    """Find conditions on known columns that exactly one person of the table meets.

    Returns
    -------
    Measured
        The rate is the share of the conditions tried that exactly one record meets, one of the table. Chance is the
        same for the control group: how often it is one of theirs, for as many people as the table has.

    Notes
    -----
    A condition is made from a released record and some of its columns: nominal values are equal; numbers lie below or
    above the released one, whichever side of the median it is on, or nearer to it than to any other released one. Of
    the conditions drawn those are tried that fewest released records meet. Both groups are searched together, so that
    without any leak either holds the one record as often as its size makes likely: no curve has to be fitted to what
    a control group of another size would give, as in Giomi et al. (2023). The strongest family is chosen on one half of
    the conditions and measured on the other. Here a record is a person.
    """
    import numpy as np

    beside = knowledge.controlled
    people, released = _people(beside), _released(beside)
    rng = np.random.default_rng(29)
    members = np.zeros(len(people), dtype=bool)
    members[: beside.members] = True
    scale = float(members.sum() / (~members).sum())
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for family in _FAMILIES:
        made = _fewest(beside, _drawn(beside, family, released, rng), released)
        counts, last = _met(beside, made, people, 2)
        alone = counts == 1
        order = rng.permutation(len(alone))
        found[family] = (alone & members[last])[order], (alone & ~members[last])[order]
    best = max(_FAMILIES, key=lambda name: _excess(found[name], scale, first=True))
    own, other = (part[len(part) // 2 :] for part in found[best])
    rate, control, n = float(own.mean()), float(other.mean()), len(own)
    gained = residual(rate, n, control, n, scale)
    detail = AgainstControl(
        gained.risk, [gained.low, gained.high], min(control * scale, 1.0),
        [min(end * scale, 1.0) for end in wilson(control, n)], n, beside.how, best,
    )  # fmt: skip
    return Measured(rate, detail.control, n, detail, "conditions")


def _excess(found: tuple[np.ndarray, np.ndarray], scale: float, *, first: bool) -> float:
    own, other = (part[: (len(part) + 1) // 2] if first else part for part in found)
    return float(own.mean()) - scale * float(other.mean())


def _people(beside: Controlled) -> np.ndarray:
    """Return the records of both groups as numbers (n, p)."""
    return _numbers([beside.seen[column.name].people for column in beside.columns])


def _released(beside: Controlled) -> np.ndarray:
    """Return the released records as numbers (m, p), the middle of ranges."""
    return _numbers([beside.seen[column.name].released for column in beside.columns])


def _numbers(columns: list[np.ndarray]) -> np.ndarray:
    import numpy as np

    return np.column_stack([np.where(np.isnan(column), _MISSING, column) for column in columns])


def _drawn(beside: Controlled, family: str, released: np.ndarray, rng: np.random.Generator) -> Conditions:
    """Return conditions of a family, each made from some columns of a released record that is drawn."""
    import numpy as np

    m, p = released.shape
    # By their values: a relation has no order, and the same conditions are to be tried each time.
    rows = np.lexsort(released.T)[rng.integers(m, size=_CONDITIONS * _DRAWN)]
    used = rng.random((len(rows), p)).argsort(axis=1) < rng.integers(1, p + 1, size=len(rows))[:, None]
    if family == _FAMILIES[2]:
        used[:] = True
    low, high = np.full((len(rows), p), -np.inf), np.full((len(rows), p), np.inf)
    for j, column in enumerate(beside.columns):
        seen, chosen = beside.seen[column.name], used[:, j]
        value = released[rows, j]
        least, most = value.copy(), value.copy()
        if seen.numeric:
            ends = np.column_stack([np.nan_to_num(e[rows], nan=_MISSING) for e in (seen.low, seen.high)])
            ends = np.clip(ends, -_WHOLE, _MISSING)
            least, most = _about(value, ends, released[:, j], sides=family == _FAMILIES[0])
        low[chosen, j], high[chosen, j] = least[chosen], most[chosen]
    both = np.unique(np.hstack([low, high]), axis=0)
    return Conditions(np.ascontiguousarray(both[:, :p]), np.ascontiguousarray(both[:, p:]))


def _about(value: np.ndarray, ends: np.ndarray, released: np.ndarray, *, sides: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of conditions on a column of numbers, from released values (g,) and their ends (g, 2)."""
    import numpy as np

    different = np.unique(released[released < _MISSING])
    missing = value >= _MISSING
    if not len(different):
        return value, value
    if sides:
        below = value <= np.median(released[released < _MISSING])
        least, most = np.where(below, -_WHOLE, ends[:, 0]), np.where(below, ends[:, 1], _WHOLE)
    else:
        at = np.searchsorted(different, np.where(missing, different[0], value))
        before, after = different[np.maximum(at - 1, 0)], different[np.minimum(at + 1, len(different) - 1)]
        least = np.minimum((before + different[at]) / 2, ends[:, 0])
        most = np.maximum((after + different[at]) / 2, ends[:, 1])
    return np.where(missing, _MISSING, least), np.where(missing, _MISSING, most)


def _fewest(beside: Controlled, drawn: Conditions, released: np.ndarray) -> Conditions:
    """Return those of the conditions that fewest released records meet."""
    import numpy as np

    counts, _ = _met(beside, drawn, released, 50)
    kept = np.sort(np.argsort(counts, kind="stable")[:_CONDITIONS])
    return replace(drawn, low=drawn.low[kept], high=drawn.high[kept])


def _met(beside: Controlled, made: Conditions, V: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of V meet every condition, counted up to `most`, and the last of them."""
    import numpy as np

    kernels = late("sqlmicro.attacks._control_kernels")
    V = np.ascontiguousarray(V)
    g = len(made.low)
    counts, last = np.empty(g, dtype=np.int64), np.empty(g, dtype=np.int64)
    at_once = max(1, kernels.WORK_PER_CALL // len(V))
    with beside.attacked.warehouse.progress.kernel("conditions that hold for one", g) as ticking:
        for begin in range(0, g, at_once):
            part = slice(begin, begin + at_once)
            kernels.inside(made.low[part], made.high[part], V, most, counts[part], last[part])
            ticking.tick(min(begin + at_once, g), g)
    return counts, last
