"""What a series hands to the methods that make its nights, and what it is told of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlmicro.database.templates import Name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Load = Callable[["pa.Table", str, str], Name]
"""Writes a table to staging: the table, the name, and what it is filled with."""


@dataclass(frozen=True)
class Files:
    """The files that the nights of a series have shown so far, by the combinations (m,) that any of them had.

    Attributes
    ----------
    texts : pyarrow.Table
        The values of the combinations: class (their number), column_name (of staging), value.
    combination, before : ndarrays
        The number of every combination, ascending, and its rows in the last file.
    first, count : ndarrays of shape (m + 1,) and (c,)
        The numbers of rows above 0 that combination i ever had are `count[first[i]:first[i + 1]]`.
    totals : ndarray
        The rows of all files.
    digest : str
        What tells whether the records of the last night are those of tonight.
    occurred : ndarray
        The keyed numbers of all combinations that records had in any night.
    """

    texts: pa.Table
    combination: np.ndarray
    before: np.ndarray
    first: np.ndarray
    count: np.ndarray
    totals: np.ndarray
    digest: str
    occurred: np.ndarray


@runtime_checkable
class FileSeries(Protocol):
    """A series whose nights are files of combinations, each with none or at least k rows."""

    @property
    def files(self) -> Files | None:
        """What was shown; None in the first night of an epoch."""

    def digest(self, content: bytes) -> str:
        """Return what tells some records from others, and nothing else to who does not have the secret."""

    def filed(self, load: Load, digest: str, drawn: np.ndarray, told: tuple[int, int, int]) -> None:
        """Take in that tonight has a file.

        `load` writes a table to staging, `drawn` are the keyed numbers of the combinations that its records have; told
        are the records that it lacks, and the combinations with more rows than last night and with fewer.
        """


@runtime_checkable
class Nights(Protocol):
    """A series of a method that changes every record by itself."""

    epoch: int

    def first(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return what the first night of the epoch has measured under a name, as JSON has it."""
