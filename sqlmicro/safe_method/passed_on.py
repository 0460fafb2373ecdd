"""SAFE, the direct search in parts: the deviations that the parts before have left in the tables of the whole file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlmicro.safe_method.amounts import Tables
from sqlmicro.safe_method.coordinates import Coordinates

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._cost_kernels import State

Numbered = tuple[Sequence[tuple[int, ...]], Tables]
"""The coordinates of some tables, and their cells as they are numbered in one part."""


@dataclass
class Left:
    """What is left in the cells of one table, by keys that are the same in every part.

    >>> import numpy as np
    >>> left = Left()
    >>> left.put(np.array([7, 3], dtype=np.uint64), np.array([1.0, -2.0]))
    >>> left.put(np.array([9, 7], dtype=np.uint64), np.array([5.0, 0.5]))
    >>> left.at(np.array([3, 4, 7, 9], dtype=np.uint64)).tolist()
    [-2.0, 0.0, 0.5, 5.0]
    """

    keys: np.ndarray | None = None
    values: np.ndarray | None = None

    def at(self, keys: np.ndarray) -> np.ndarray:
        """Return what is left in some cells; nothing in those that no part has had."""
        import numpy as np

        if self.keys is None or self.values is None:
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.values[place], 0.0)

    def put(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Note what is left now."""
        import numpy as np

        if self.keys is not None and self.values is not None:
            keys, values = np.concatenate([keys, self.keys]), np.concatenate([values, self.values])
        self.keys, first = np.unique(keys, return_index=True)  # of equal ones the first, which is the latest
        self.values = values[first]


@dataclass
class PassedOn:
    """The deviations of all tables and amounts, handed from part to part.

    The numbers of the cells of a table are those of the cells that occur in a part. What a cell is in the whole file is
    told by the numbers of its values, which `Coordinates.take` leaves as they are.
    """

    _counts: list[Left] = field(default_factory=list)
    _amounts: list[Left] = field(default_factory=list)
    _keys: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])

    def open(self, columns: Coordinates, counts: Numbered, amounts: Numbered) -> tuple[np.ndarray, np.ndarray]:
        """Return what the parts before have left in the cells of this one: of the tables, and of the amounts."""
        import numpy as np

        self._keys = _keys(columns, *counts), _keys(columns, *amounts)
        if not self._counts:
            self._counts, self._amounts = ([Left() for _ in keys] for keys in self._keys)
        found = [
            [left.at(keys) for left, keys in zip(lefts, keys_of_part, strict=True)]
            for lefts, keys_of_part in zip((self._counts, self._amounts), self._keys, strict=True)
        ]
        deviation, amount = (np.concatenate([np.zeros(0), *one]) for one in found)
        return deviation, amount

    def close(self, state: State) -> None:
        """Note what all parts have left, this one included."""
        for lefts, keys_of_part, values in zip(
            (self._counts, self._amounts), self._keys, (state.deviation, state.amount), strict=True
        ):
            first = 0
            for left, keys in zip(lefts, keys_of_part, strict=True):
                left.put(keys, values[first : first + len(keys)].astype(float))
                first += len(keys)


def _keys(columns: Coordinates, sets: Sequence[tuple[int, ...]], tables: Tables) -> list[np.ndarray]:
    """Return for every table the key of each of its cells."""
    import numpy as np

    known: dict[tuple[int, ...], np.ndarray] = {}
    for t, s in enumerate(sets):
        if s not in known:
            # Beyond 2^64 it wraps around. Two cells of a table that then have one key would share a deviation, no more.
            key = np.zeros(len(columns.codes), dtype=np.uint64)
            for c in s:
                key = key * np.uint64(columns.widths[c]) + columns.coordinates[c][2].astype(np.uint64)
            known[s] = np.zeros(int(tables.cell[:, t].max()) + 1, dtype=np.uint64)
            known[s][tables.cell[:, t]] = key
    return [known[s] for s in sets]
