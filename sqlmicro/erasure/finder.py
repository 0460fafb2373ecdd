"""Looking for many byte strings at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SHORTEST = 6
LONGEST = 64
_CHUNK = 2**24
_BITS = 24
_SPREAD = 0x9E3779B97F4A7C15
_KEY = (1 << 8 * SHORTEST) - 1


@dataclass
class Found:
    """What was found: the patterns, and at how many places."""

    patterns: set[bytes] = field(default_factory=set)
    times: int = 0

    def add(self, other: Found) -> None:
        """Add what was found elsewhere."""
        self.patterns |= other.patterns
        self.times += other.times


class Finder:
    """Finds any of many byte strings of at least 6 bytes; of longer ones the first 64 bytes are compared.

    The first six bytes at every position are looked up in a table of 2^24 hashes; what passes is compared exactly.
    Time is linear in the bytes searched (4 s for 100 MB and 600 000 patterns), memory 16 MB and the patterns.

    >>> finder = Finder([b"canary", b"canary bird"])
    >>> found = finder.find(b"canary seed for a canary bird")
    >>> sorted(found.patterns), found.times
    ([b'canary', b'canary bird'], 2)
    """

    def __init__(self, patterns: Iterable[bytes]) -> None:
        import numpy as np

        self.patterns = {pattern[:LONGEST] for pattern in patterns if len(pattern) >= SHORTEST}
        self._lengths: dict[bytes, set[int]] = {}
        for pattern in self.patterns:
            self._lengths.setdefault(pattern[:SHORTEST], set()).add(len(pattern))
        keys = np.array([int.from_bytes(start, "little") for start in self._lengths], np.uint64)
        self._table = np.zeros(1 << _BITS, bool)
        self._table[self._hashes(keys)] = True

    def find(self, data: bytes, before: int | None = None) -> Found:
        """Return what is in `data`; of patterns that start at `before` or later nothing."""
        import numpy as np

        found = Found()
        if not self.patterns:
            return found
        padded = data + bytes(16)
        end = len(data) if before is None else before
        for offset in range(8):
            windows = np.frombuffer(padded, "<u8", (len(data) + 7) // 8, offset)
            for index in np.flatnonzero(self._table[self._hashes(windows)]).tolist():
                self._match(data, 8 * index + offset, end, found)
        return found

    def find_in_file(self, path: Path) -> Found:
        """Return what is in a file."""
        found = Found()
        with path.open("rb") as file:
            kept = b""
            while chunk := file.read(_CHUNK):
                data = kept + chunk
                start = max(0, len(data) - LONGEST + 1)
                found.add(self.find(data, start))
                kept = data[start:]
            found.add(self.find(kept))
        return found

    def _match(self, data: bytes, position: int, end: int, found: Found) -> None:
        if position >= end:
            return
        hit = False
        for length in self._lengths.get(data[position : position + SHORTEST], ()):
            text = data[position : position + length]
            if text in self.patterns:
                found.patterns.add(text)
                hit = True
        found.times += hit

    @staticmethod
    def _hashes(keys: np.ndarray) -> np.ndarray:
        import numpy as np

        return ((keys & np.uint64(_KEY)) * np.uint64(_SPREAD)) >> np.uint64(64 - _BITS)
