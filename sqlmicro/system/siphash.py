"""Keyed hashes of 64-bit words: a pseudorandom function of short inputs that costs a twentieth of SHA-256.

Source: Aumasson & Bernstein (2012), SipHash: a fast short-input PRF. SipHash-2-4, whose key has 128 bits.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_AT_ONCE = 16384
"""Words that stay in the cache while they are hashed."""
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def words(key: str, purpose: str, hashes: np.ndarray) -> np.ndarray:
    """Return numbers of 63 bits (n,) that only the key makes of words (n,); the `purpose` is part of it."""
    import numpy as np

    digest = sha256(f"{key} {purpose}".encode()).digest()
    found = siphash(int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little"), hashes)
    return (found >> np.uint64(1)).astype(np.int64)


def siphash(first: int, second: int, hashes: np.ndarray) -> np.ndarray:
    """Return SipHash-2-4 of words of 8 bytes each (n,), by the two halves of a key.

    >>> import numpy as np
    >>> word = np.frombuffer(bytes(range(8)), np.uint64)
    >>> hex(siphash(0x0706050403020100, 0x0F0E0D0C0B0A0908, word)[0])
    '0x93f5f5799a932462'
    """
    import numpy as np

    given = hashes.astype(np.uint64, copy=False)
    found = np.empty_like(given)
    start = [np.uint64(one ^ half) for one, half in zip(_START, (first, second) * 2, strict=True)]
    room = np.empty((5, min(_AT_ONCE, max(len(given), 1))), np.uint64)
    for at in range(0, len(given), _AT_ONCE):
        word = given[at : at + _AT_ONCE]
        state, spare = list(room[:4, : len(word)]), room[4, : len(word)]
        for part, one in zip(state, start, strict=True):
            part[:] = one
        for block in (word, np.uint64(8 << 56)):  # the last block has the length of the input
            state[3] ^= block
            _rounds(2, state, spare)
            state[0] ^= block
        state[2] ^= np.uint64(0xFF)
        _rounds(4, state, spare)
        found[at : at + _AT_ONCE] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return found


def _rounds(many: int, state: list[np.ndarray], spare: np.ndarray) -> None:
    """Mix the state, in place."""
    import numpy as np

    a, b, c, d = state
    by = {left: (np.uint64(left), np.uint64(64 - left)) for left in (13, 16, 17, 21, 32)}

    def rotate(word: np.ndarray, bits: int) -> None:
        left, right = by[bits]
        np.left_shift(word, left, out=spare)
        np.right_shift(word, right, out=word)
        np.bitwise_or(word, spare, out=word)

    for _ in range(many):
        for one, other, bits, half in ((a, b, 13, a), (c, d, 16, None), (a, d, 21, None), (c, b, 17, c)):
            one += other
            rotate(other, bits)
            other ^= one
            if half is not None:
                rotate(half, 32)
