"""What groups miss of the rules, and the state in which a search keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.guarantees.limits import Distinct
from sqlmicro.guarantees.rules import Members, Rules, Sensitive
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.guarantees._rule_kernels import Columns
    from sqlmicro.guarantees._state_kernels import State

_NONE = {"l": 0.0, "log_l": 0.0, "recursive_l": 0.0, "c": 2.0, "t": float("inf")}
"""What a column is held to where nothing is asked, in the order of `Columns.limit`."""


def missing(labels: np.ndarray, rules: Rules) -> np.ndarray:
    """Return what every group misses of the rules, in records; 0 where all of them hold.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Group of every record, from 0.
    rules : Rules
        Rules for the same records.

    Returns
    -------
    ndarray of shape (G,)
        0 for a label without records.

    Notes
    -----
    All rules are closed under union, so merging always ends, and a request can be met exactly if all records in one
    group keep it. O(n log n) time for every sensitive column.
    """
    import numpy as np

    all_misses = late("sqlmicro.guarantees._rule_kernels", "all_misses")

    if rules.members is not None:
        of_members = Rules(1, None, rules.members.sensitive)
        both: np.ndarray = missing(labels, rules.alone) + missing(labels[rules.members.unit], of_members)
        return both
    size = np.bincount(labels).astype(np.int64)
    missed = np.where(size > 0, np.maximum(rules.k - size, 0), 0).astype(float)
    columns = columns_of(rules, len(labels))
    for c, codes in enumerate(columns.code):
        group, value, count = _runs(labels, codes)
        begin = np.searchsorted(group, np.arange(len(size) + 1))
        all_misses(columns, c, value, count, begin, size, missed)
    return missed


def _runs(
    labels: np.ndarray, codes: np.ndarray, times: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return group, value and count of every value in every group, group after group, values ascending."""
    import numpy as np

    values = int(codes.max(initial=0)) + 1
    key = labels.astype(np.int64) * values + codes
    if times is None:
        pairs, counts = np.unique(key, return_counts=True)
    else:
        pairs, place = np.unique(key, return_inverse=True)
        counts = np.bincount(place, times, minlength=len(pairs))
    return pairs // values, (pairs % values).astype(np.int32), counts.astype(np.int32)


def columns_of(rules: Rules, n: int) -> Columns:
    """Return the rules of n records as the arrays that kernels read; the persons are the first column.

    Where records are units, what must hold of their members comes last: a unit has a bundle of values there.
    """
    import numpy as np

    columns_type = late("sqlmicro.guarantees._rule_kernels", "Columns")

    members = rules.members.sensitive if rules.members else ()
    sensitive = [*rules.sensitive, *members]
    codes = [*(one.codes for one in rules.sensitive), *(np.arange(n) for _ in members)]
    if rules.persons is not None:
        sensitive = [Sensitive("", rules.persons, np.zeros(0), False, limits=(Distinct(rules.k),)), *sensitive]
        codes = [rules.persons, *codes]
    shares = [np.asarray(one.shares, dtype=float) for one in sensitive]
    ends = np.cumsum([len(share) for share in shares], dtype=np.int64)
    cumulated = [np.cumsum(share) for share in shares]
    areas = [np.cumsum(sums) - sums for sums in cumulated]
    empty = np.zeros(0)
    branches = [(level, share) for one, share in zip(sensitive, shares, strict=True) for level in one.levels]
    heights = np.array([len(one.levels) for one in sensitive], dtype=np.int64)
    lengths = heights * np.array([len(share) for share in shares], dtype=np.int64)
    caps = [[found for one in of.limits if (found := one.rounded.caps(of)) is not None] for of in sensitive]
    capped = np.array([len(found) for found in caps], dtype=np.int64)
    limits = [_limits(one) for one in sensitive]
    counted = [_counted(limit) and not found for limit, found in zip(limits, caps, strict=True)]
    columns: Columns = columns_type(
        np.array(codes, dtype=np.int32).reshape(len(codes), n),
        np.array([one.ordered for one in sensitive], dtype=np.bool_),
        np.array(counted, dtype=np.bool_),
        ends - np.array([len(share) for share in shares], dtype=np.int64),
        ends,
        np.concatenate([empty, *shares]),
        np.concatenate([empty, *cumulated]),
        np.concatenate([empty, *areas]),
        heights,
        np.cumsum(lengths) - lengths,
        np.concatenate([empty.astype(np.int64), *(level for level, _ in branches)]),
        np.concatenate([empty, *(np.bincount(level, share)[level] for level, share in branches)]),
        np.array(limits, dtype=float).reshape(len(codes), len(_NONE)),
        np.cumsum(capped) - capped,
        np.cumsum(capped),
        np.array([cap.min(initial=np.inf) for found in caps for cap in found]),
        *_of_caps([cap for found in caps for cap in found]),
    )
    return columns


def _of_caps(caps: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return where every cap begins, and all of them, one after the other."""
    import numpy as np

    lengths = np.array([len(cap) for cap in caps], dtype=np.int64)
    return np.cumsum(lengths) - lengths, np.concatenate([np.zeros(0), *caps])


def _bundles(members: Members | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the bundle of every unit begins in each column of their members, and all bundles."""
    import numpy as np

    begin, inside = [np.zeros((0, n + 1), dtype=np.int64)], [np.zeros((2, 0), dtype=np.int32)]
    for one in members.sensitive if members else ():
        unit, value, count = _runs(members.unit, one.codes)  # type: ignore[union-attr]
        begin.append(np.searchsorted(unit, np.arange(n + 1))[None] + sum(found.shape[1] for found in inside))
        inside.append(np.array([value, count]))
    return np.concatenate(begin), np.concatenate(inside, axis=1)


def _counted(limits: tuple[float, ...]) -> bool:
    """Return whether these limits, as `_limits` returns them, are of the number of distinct values only."""
    _, log_l, recursive_l, _, t = limits
    return log_l == recursive_l == 0 and t == float("inf")


def _limits(of: Sensitive) -> tuple[float, ...]:
    """Return the limits of a column; what floating-point arithmetic cannot tell apart is within them."""
    found = dict(_NONE)
    for one in of.limits:
        found |= one.rounded.compiled()
    return tuple(found.values())


def state_of(X: np.ndarray, labels: np.ndarray, columns: Columns, rules: Rules, slots: int) -> State:
    """Return the state of a grouping of X (n, p), C-contiguous, with so many slots; the columns are those of rules."""
    import numpy as np

    kernels = late("sqlmicro.guarantees._state_kernels")

    n, p = X.shape
    begin, inside = _bundles(rules.members, n)
    c, plain = len(columns.ordered), len(columns.ordered) - len(begin)
    room = np.diff(begin).max(axis=0, initial=1)
    pool = 6 * int(room.sum()) + 8 * slots + 16
    scratch = max(n, inside.shape[1]) + 1
    whole = np.int64
    state: State = kernels.State(
        X, np.full(n, -1, whole), np.empty(n, whole), np.zeros(slots, whole), np.zeros((slots, p)), np.zeros(slots),
        np.zeros((c, slots)), np.zeros(slots, whole), np.zeros(slots, whole), np.zeros((c, slots), whole),
        np.empty(pool, whole), np.empty((c, pool), np.int32), np.empty((c, pool), np.int32), np.zeros(1, whole),
        np.empty(scratch, np.int32), np.empty(scratch, np.int32), begin, inside,
    )  # fmt: skip
    kernels.fill(state, labels.astype(whole), np.bincount(labels, room, minlength=slots).astype(whole))
    for column, codes in enumerate(columns.code[:plain]):
        kernels.place_runs(state, column, *_runs(labels, codes))
    for column, first in enumerate(begin, plain):
        value, times = inside[:, first[0] : first[n]]
        kernels.place_runs(state, column, *_runs(np.repeat(labels, np.diff(first)), value, times))
    kernels.settle_all(state, columns, rules.k)
    return state
