"""What a night changes of what its series remembers, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.history.contents import places
from sqlmicro.history.remembered import KEPT, Remembered
from sqlmicro.history.seat_memory import Memory

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(frozen=True)
class Read:
    """What is remembered of the persons whose rows were read tonight (n,), besides their seats."""

    who: np.ndarray
    token: np.ndarray
    """What tells whether a row is as it was read."""
    founded: np.ndarray | None = None
    """The class that a person founds tonight; -1 for who founds none."""
    changed: np.ndarray | None = None
    """Whose values are others than those that were published of her."""


def changed_seats(before: Remembered | None, memory: Memory, read: Read) -> Mapping[str, np.ndarray]:
    """Return the persons of whom something changed; who is forgotten waits nowhere."""
    import numpy as np

    n = len(memory.who)
    own = {"who": memory.who, "seat": memory.seat, "here": memory.here, "since": memory.since,
           "person": memory.person}  # fmt: skip
    then: dict[str, np.ndarray] = {
        "founded": np.full(n, -1, np.int32), "changed": np.zeros(n, bool), "token": np.full(n, -1, np.int64)
    }  # fmt: skip
    same = np.zeros(n, bool)
    if before is not None:
        old = before.memory
        same, at = places(old.who, memory.who)
        if len(old.who):
            known = {"founded": before.founded, "changed": before.changed, "token": before.token}
            then = {name: np.where(same, known[name][at], none) for name, none in then.items()}
            for given, was in ((memory.seat, old.seat), (memory.here, old.here), (memory.since, old.since),
                               (memory.person, old.person)):  # fmt: skip
                same &= given == was[at]
    now = _tonight(then, memory, read)
    for name, values in now.items():
        same &= values == then[name]
    own |= now
    if before is None:
        return own
    lost = old.who[~places(memory.who, old.who)[0]]
    none = np.full(len(lost), -1)
    away = np.zeros(len(lost), bool)
    gone = {"who": lost, "seat": none, "here": away, "since": none, "founded": none, "changed": away, "token": none,
            "person": np.zeros(len(lost), np.int64)}  # fmt: skip
    return {name: np.r_[values[~same], gone[name]] for name, values in own.items()}


def _tonight(then: Mapping[str, np.ndarray], memory: Memory, read: Read) -> dict[str, np.ndarray]:
    """Return what is remembered from tonight on, of what was remembered then of all persons of the memory."""

    known, at = places(memory.who, read.who)
    now = {name: values.copy() for name, values in then.items()}
    now["token"][at[known]] = read.token[known]
    now["token"][~memory.here] = -1
    if read.founded is not None:
        founds = known & (read.founded >= 0)
        now["founded"][at[founds]] = read.founded[founds]
    if read.changed is not None:
        now["changed"][at[known]] = read.changed[known]
        now["changed"][~memory.here] = False
    return now


def arrow(columns: Mapping[str, Any]) -> pa.Table:
    """Return what a series remembers as a table."""
    import pyarrow as pa

    return pa.table({
        name: pa.array(list(values), pa.list_(pa.float64())) if name == "centre" else values
        for name, values in columns.items()
    })  # fmt: skip


def nothing(kept: str) -> pa.Table:
    """Return a table of what a series remembers, without rows."""
    import pyarrow as pa

    kinds = {
        "VARCHAR": pa.string(), "BIGINT": pa.int64(), "INTEGER": pa.int32(), "INTEGER[]": pa.list_(pa.int32()),
    }  # fmt: skip
    return pa.table({name: pa.array([], kinds[kind]) for name, kind in KEPT[kept].columns.items()})
