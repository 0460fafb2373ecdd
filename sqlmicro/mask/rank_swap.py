"""Rank swapping in memory: who swaps with whom, of values that are there in their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlmicro.system.secrets import words

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

AT_ONCE = 1 << 16
"""So many values, or a whole block of more, are put in a random order at once: they stay in the cache."""


def swapped(values: pa.ChunkedArray, drawn_for: np.ndarray, sizes: Sequence[int], percent: float, key: str) -> pa.Array:
    """Return the values, as they are swapped.

    Parameters
    ----------
    values : pyarrow.ChunkedArray of n values
        In their order, stratum after stratum, none missing.
    drawn_for : ndarray (n,) of uint64
        A hash of the record and value of each.
    sizes : sequence of int
        Number of values of every stratum.
    percent : float
        Greatest distance of ranks, in percent of the values of the stratum.
    key : str
        Key of the draws: it decides where blocks begin, and with `drawn_for` who is paired.

    Returns
    -------
    pyarrow.Array of n values
        The new value of the record at each place.

    Notes
    -----
    O(n log n) time and O(n) memory, one sort of numbers of 64 bits that fits the cache, or one for each larger block.
    """
    import pyarrow as pa

    if not len(drawn_for):
        return values.combine_chunks()
    begins = blocks(sizes, percent, *_edges(key))
    parts = []
    for first, last, inside in _runs(begins, len(drawn_for)):
        partner = partners(words(key, "partners", drawn_for[first:last]), inside)
        taken = pa.Array.from_buffers(pa.int64(), last - first, [None, pa.py_buffer(partner)])
        parts.append(values.slice(first, last - first).combine_chunks().take(taken))
    return pa.concat_arrays(parts)


def blocks(sizes: Sequence[int], percent: float, phase: float, remainder: float) -> np.ndarray:
    """Return where blocks begin, counted through all strata: at least one place is in each.

    All blocks of a stratum are equally long but for the first and the last one, which a share from 0 to 1/2, `phase`
    and `remainder`, is cut off. None has more values than the greatest distance of ranks plus one.

    >>> blocks([10, 2], 30.0, 0.5, 0.0).tolist()
    [0, 2, 5, 8, 10, 11]
    """
    import numpy as np

    n = np.array(sizes, dtype=np.float64)
    total = np.ceil(n / (np.floor(n * percent / 100) + 0.999) + phase + remainder) - phase - remainder
    many = np.floor(total + phase).astype(np.int64) + 1
    number = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    length, most = np.repeat(n / total, many), np.repeat(n, many)
    begins = np.clip(np.ceil((number - phase) * length), 0, most) + np.repeat(np.cumsum(n) - n, many)
    found: np.ndarray = np.unique(begins.astype(np.int64))
    return found[: np.searchsorted(found, n.sum())]


def partners(draws: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return with which place the value of each swaps (n,), its own where it stays.

    Parameters
    ----------
    draws : ndarray (n,) of int64
        Random numbers from 0 to 2^63, of the values in their order.
    begins : ndarray of int64
        Where blocks begin, from 0 on. In a block the two with the least numbers swap, then the next two; equal numbers
        go by place. As many bits of a number count as those of block and place leave: 29 of many small blocks, 38 of
        one of ten million values.

    >>> import numpy as np
    >>> partners(np.array([5, 2, 9, 8, 7]) << 50, np.array([0, 2])).tolist()
    [1, 0, 2, 4, 3]
    """
    import numpy as np

    n = len(draws)
    lengths = np.diff(begins, append=n)
    of_place, of_block = n.bit_length(), len(begins).bit_length()
    ordered = draws >> of_block + of_place
    ordered <<= of_place
    ordered |= np.repeat(np.arange(len(begins)) << 63 - of_block, lengths)
    place = np.arange(n)
    ordered |= place
    ordered.sort()
    ordered &= (1 << of_place) - 1
    paired = np.delete(ordered, (begins + lengths - 1)[lengths % 2 == 1])  # without the last one where it has nobody
    one, other = paired[::2], paired[1::2]
    place[one], place[other] = other, one
    return place


def _edges(key: str) -> tuple[float, float]:
    """Return the shares, from 0 to 1/2, that are cut off the first and the last block."""
    digest = hashlib.sha256(f"{key} blocks".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**33, int.from_bytes(digest[4:8], "big") / 2**33


def _runs(begins: np.ndarray, n: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield whole blocks that make up some `AT_ONCE` values: the first, the end, and where blocks begin inside."""
    import numpy as np

    block = 0
    while block < len(begins):
        first = int(begins[block])
        after = max(int(np.searchsorted(begins, first + AT_ONCE, side="right")) - 1, block + 1)
        last = int(begins[after]) if after < len(begins) else n
        yield first, last, begins[block:after] - first
        block = after
