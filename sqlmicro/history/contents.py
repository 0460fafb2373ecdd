"""What was read of every person of a release and what is published of her, as hashes that only the secret makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.database.templates import Select
from sqlmicro.history.union import KEY
from sqlmicro.pipeline import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from sqlmicro.history.remembered import Remembered


def contents(run: Run, key: str) -> Mapping[str, np.ndarray]:
    """Return who, content and published of every person in the release, in the order of `who`."""
    import numpy as np

    warehouse, original, released = run.warehouse, run.table.original, list(run.roles.released)
    there = {name for name, _ in warehouse.describe(original)}
    read = [column for column in (*released, *run.roles.of_night) if column.staged in there]
    warehouse.set_key(KEY, key)
    persons = warehouse.arrays(
        "history/persons.sql", relation=original, stream=KEY, columns=["copy"], by=[], sensitive=[]
    )
    was = warehouse.arrays("history/hashes_of_records.sql", relation=original, stream=KEY, columns=read)
    now = warehouse.arrays("history/hashes_of_records.sql", relation=run.table.current, stream=KEY, columns=released)
    known, at = places(now["row_id"], persons["row_id"])
    order = np.flatnonzero(known)[np.argsort(persons["who"][known])]
    return {
        "who": persons["who"][order], "content": was["hashed"][order], "published": now["hashed"][at[order]],
    }  # fmt: skip


def remembered_contents(run: Run, before: Remembered) -> Mapping[str, np.ndarray]:
    """Return who, content and published of every person that a series remembers, in the order of `who`."""
    import numpy as np

    kept = before.contents
    if isinstance(kept, Select):
        found: Mapping[str, np.ndarray] = run.warehouse.arrays(kept.template, **kept.params)
    else:
        found = {name: kept.column(name).to_numpy() for name in ("who", "content", "published")}
    order = np.argsort(found["who"])
    return {name: values[order] for name, values in found.items()}


def places(among: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which of `who` are `among` persons in ascending order, and where there; the place of others is 0.

    >>> import numpy as np
    >>> [found.tolist() for found in places(np.array([2, 5]), np.array([5, 9, 2]))]
    [[True, False, True], [1, 0, 0]]
    """
    import numpy as np

    if not len(among):
        return np.zeros(len(who), bool), np.zeros(len(who), np.int64)
    at = np.minimum(np.searchsorted(among, who), len(among) - 1)
    known = among[at] == who
    return known, np.where(known, at, 0)
