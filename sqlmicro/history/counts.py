"""The rows of the classes of a series as an outsider counts them: by the combination of values that they publish.

Two classes may publish the same values. When one of them closes and another opens, the rows of their combination could
change by one, although each class opens and closes as a whole. So a combination goes on with the rows it has until it
can change by k or more: a closed class stays, empty, and one that opens gets empty seats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlmicro.errors import InputError
from sqlmicro.history.remembered import Remembered
from sqlmicro.history.seats import Memory, Night

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Classes:
    """The classes of a series as they are published, all (G,)."""

    size: np.ndarray
    """Rows of a class, for as long as it is published."""
    combination: np.ndarray
    first: np.ndarray
    """The number of the first release that it was published in."""
    last: np.ndarray
    """The number of the last one, -1 for one that is published."""
    pads: list[tuple[int, int, int]] = field(default_factory=list)
    """Empty seats that an opening class got: class, hash of the sensitive values, how many."""

    @property
    def shown(self) -> np.ndarray:
        """Which are published tonight."""
        found: np.ndarray = self.last < 0
        return found


def settled(before: Remembered | None, memory: Memory, combination: np.ndarray, number: int, k: int) -> Classes:
    """Return which classes tonight publishes, and with how many rows.

    Where the rows of a combination would come to within k of what they were in another night, its closed classes stay,
    and the last one that opens gets as many empty seats as it needs; the memory is told of these.

    Raises
    ------
    InputError
        When none is left.
    """
    import numpy as np

    old = len(before.size) if before else 0
    new = np.full(len(memory.rows) - old, -1)
    size = np.r_[before.size, memory.rows[old:]] if before else memory.rows.astype(np.int64)
    first = np.r_[before.first, -number * new] if before else -number * new
    was = np.r_[before.last, new] if before else new
    closes = (was < 0) & (memory.closed >= 0)
    if before and memory.day == before.memory.day:  # the same night again changes nothing: what stayed stays
        closes[:old] &= before.memory.closed < 0
    last = np.where(closes, number - 1, was)
    classes = Classes(size.astype(np.int64), combination, first, last)
    if before is None:
        return classes
    touched = np.unique(combination[(last != was) | (np.arange(len(size)) >= old)])
    for one in touched:
        _keep_apart(classes, memory, np.flatnonzero(combination == one), was, old, k)
    if not classes.shown.any():
        raise InputError(
            "--series", "a night has rows of classes", "none: all classes closed, and none could open",
            "The release of the last night stays. Come again with more newcomers, or begin a new epoch with --epoch",
        )  # fmt: skip
    return classes


def _keep_apart(classes: Classes, memory: Memory, own: np.ndarray, was: np.ndarray, old: int, k: int) -> None:
    """Let the rows of one combination, which the classes `own` have, change by nothing or by k."""
    import numpy as np

    if len(own) == 1:
        return
    earlier = _earlier(classes, own[own < old], was)
    if _apart(int(classes.size[own[classes.shown[own]]].sum()), earlier, k):
        return
    classes.last[own] = np.where(was[own] < 0, -1, classes.last[own])
    rows, opened = int(classes.size[own[classes.shown[own]]].sum()), own[own >= old]
    if not len(opened):
        return  # as many rows as in the last night
    more = next(more for more in range(rows + k * (2 * len(earlier) + 2)) if _apart(rows + more, earlier, k))
    classes.size[opened[-1]] += more
    memory.rows[opened[-1]] += more
    kinds = np.flatnonzero(memory.values[:, 0] == opened[-1])[:1]
    memory.values[kinds, 2] += more
    classes.pads.append((int(opened[-1]), int(memory.values[kinds, 1].sum()), more))


def _apart(rows: int, earlier: set[int], k: int) -> bool:
    return all(rows == other or abs(rows - other) >= k for other in earlier)


def _earlier(classes: Classes, own: np.ndarray, was: np.ndarray) -> set[int]:
    """Return how many rows a combination had in earlier releases of the epoch."""
    numbers = {1, *(int(n) for n in classes.first[own]), *(int(n) + 1 for n in was[own] if n >= 0)}
    return {
        int(classes.size[own][(classes.first[own] <= n) & ((was[own] < 0) | (was[own] >= n))].sum()) for n in numbers
    }


def empty(before: Remembered | None, classes: Classes, memory: Memory, night: Night) -> np.ndarray:
    """Return the empty seats of tonight (m, 3): class, hash of the sensitive values, how many."""
    import numpy as np

    stays = np.flatnonzero(classes.shown & (memory.closed >= 0))
    if before is not None and len(before.sensitive):
        kept = before.sensitive[np.isin(before.sensitive[:, 0], stays)]
    else:
        kept = np.column_stack([stays, np.zeros(len(stays), np.int64), classes.size[stays]])
    pads = np.array(classes.pads, np.int64).reshape(-1, 3)
    return np.concatenate([night.empty, kept, pads]).astype(np.int64)


def changed(before: Remembered | None, memory: Memory, classes: Classes) -> Mapping[str, Any]:
    """Return the classes of which something changed, as they are remembered."""
    import numpy as np

    own: dict[str, Any] = {
        "class": np.arange(len(classes.size)), "size": classes.size, "radius": memory.radius, "centre": memory.centre,
        "stratum": memory.stratum, "opened": memory.opened, "closed": memory.closed,
        "combination": classes.combination, "first_number": classes.first, "last_number": classes.last,
    }  # fmt: skip
    same = np.zeros(len(classes.size), bool)
    if before is not None:
        old = len(before.size)
        same[:old] = (before.memory.closed == memory.closed[:old]) & (before.last == classes.last[:old])
    return {name: values[~same] for name, values in own.items()}


def gone(before: Remembered | None, classes: Classes) -> int:
    """Return how many classes are no longer published."""
    return int(((before.last < 0) & (classes.last[: len(before.last)] >= 0)).sum()) if before else 0
