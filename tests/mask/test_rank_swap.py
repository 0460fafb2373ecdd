"""The pairs of rank swapping, against loops in plain Python with a SipHash of their own."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sqlmicro.mask.swap import AT_ONCE, blocks, partners, swapped

KEY, MASK = "0123456789abcdef0123456789abcdef", 2**64 - 1


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 as the paper of Aumasson & Bernstein (2012) writes it."""
    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    start = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    v = [one ^ half for one, half in zip(start, k * 2, strict=True)]

    def turned(x: int, by: int) -> int:
        return (x << by | x >> 64 - by) & MASK

    def sip() -> None:
        v[0] = v[0] + v[1] & MASK
        v[1] = turned(v[1], 13) ^ v[0]
        v[0] = turned(v[0], 32)
        v[2] = v[2] + v[3] & MASK
        v[3] = turned(v[3], 16) ^ v[2]
        v[0] = v[0] + v[3] & MASK
        v[3] = turned(v[3], 21) ^ v[0]
        v[2] = v[2] + v[1] & MASK
        v[1] = turned(v[1], 17) ^ v[2]
        v[2] = turned(v[2], 32)

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= word
        sip(), sip()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        sip()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def plainly(values: list[Any], drawn_for: list[int], sizes: list[int], percent: float) -> list[Any]:
    """Every place asks for its block; in each the pairs are taken in the order of their draws."""
    edges, secret = sha256(f"{KEY} blocks".encode()).digest(), sha256(f"{KEY} partners".encode()).digest()[:16]
    phase, remainder = (int.from_bytes(edges[i : i + 4], "big") / 2**33 for i in (0, 4))
    made, first = list(values), 0
    for n in sizes:
        total = ceil(n / (floor(n * percent / 100) + 0.999) + phase + remainder) - phase - remainder
        members: dict[int, list[int]] = {}
        for place in range(n):
            block = max(j for j in range(n + 2) if ceil((j - phase) * (n / total)) <= place)
            members.setdefault(block, []).append(first + place)
        for places in members.values():
            order = sorted(places, key=lambda i: (siphash(secret, drawn_for[i].to_bytes(8, "little")), i))
            for one, other in zip(order[::2], order[1::2], strict=False):
                made[one], made[other] = values[other], values[one]
        first += n
    return made


@pytest.mark.parametrize("percent", [0.4, 3.0, 30.0, 100.0])
def test_the_same_pairs_as_in_plain_loops(percent: float) -> None:
    rng = np.random.default_rng(int(percent))
    sizes = [1, 2, 3, 40, 250]
    values = list(range(sum(sizes)))
    drawn_for = rng.integers(0, 2**64, len(values), dtype=np.uint64)
    found = swapped(pa.chunked_array([values[:9], values[9:]]), drawn_for, sizes, percent, KEY)
    assert found.to_pylist() == plainly(values, drawn_for.tolist(), sizes, percent)


@pytest.mark.parametrize(("n", "percent"), [(3 * AT_ONCE + 5, 0.01), (3 * AT_ONCE + 5, 1.0), (AT_ONCE + 1, 100.0)])
def test_no_block_is_longer_than_the_distance_and_all_swap(n: int, percent: float) -> None:
    """Blocks that are put in order together, and one that is longer than what is."""
    begins = blocks([n], percent, 0.3, 0.2)
    lengths = np.diff(begins, append=n)
    assert lengths.min() > 0 and lengths.sum() == n and lengths.max() <= floor(n * percent / 100) + 1
    drawn_for = np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)
    found = swapped(pa.chunked_array([np.arange(n)]), drawn_for, [n], percent, KEY).to_numpy()
    assert (found[found] == np.arange(n)).all(), "pairs; so every value is used exactly once"
    assert np.abs(found - np.arange(n)).max() <= n * percent / 100
    assert (found == np.arange(n)).sum() <= len(blocks([n], percent, 0.5, 0.5)) + 2, "at most one of a block stays"
    other = swapped(pa.chunked_array([np.arange(n)]), drawn_for, [n], percent, "another key").to_numpy()
    assert (found == other).mean() < 0.15


def test_every_pairing_is_equally_likely() -> None:
    """Four values can be paired in three ways."""
    rng = np.random.default_rng(2)
    found = Counter(tuple(partners(rng.integers(0, 2**63, 4), np.array([0])).tolist()) for _ in range(3000))
    assert len(found) == 3 and max(found.values()) < 1150


def test_without_values_nothing_is_swapped() -> None:
    assert len(swapped(pa.chunked_array([], pa.int64()), np.array([], np.uint64), [0], 5.0, KEY)) == 0


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "DECIMAL(38,3)", "UBIGINT"])
def test_values_are_carried_exactly(workbench: Any, kind: str) -> None:
    """Of 128 bits Arrow would make decimal numbers of 38 digits."""
    large = {"HUGEINT": 2**126, "UHUGEINT": 2**127, "UBIGINT": 2**63, "DECIMAL(38,3)": 10**34}[kind]
    given = [str(large + i) for i in range(60)]
    db = workbench.make({"i": ("INTEGER", range(60)), "x": (kind, given)})
    release = workbench.release("swap", db, columns=["x"], percent=20.0, rest="keep", seed="s")
    found = [int(x) for x in release.columns["x"]]
    assert sorted(found) == [large + i for i in range(60)]
    moved = [abs(x - large - i) for i, x in zip(release.columns["i"], found, strict=True)]
    assert 0 < max(moved) <= 12 and moved.count(0) < 20
