"""What this machine was measured at: numbers of sizes and seconds of earlier runs, and what they make of a law.

They are kept beside the secret of the user, one JSON object a line, the newest last; no name and no value of a table is
among them. A line is written at once, so that runs at the same time do not spoil each other's. Where nothing can be
written, estimates are those of the machine that the laws were measured on.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

from sqlmicro.jobs import laws
from sqlmicro.jobs.sizes import Sizes
from sqlmicro.system import secrets

FILE = "measured.jsonl"
UNREADABLE = (
    "warning: the times that earlier runs were measured at cannot be read: they are left out, and measured anew"
)
_KEPT, _MOST = 12, 200
"""Runs of one kind that are remembered, and of all kinds."""
_LONGEST = 1 << 17
"""Bytes of the file from which on only those are kept."""
# Neither a link nor a pipe is waited for; not every system knows them.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_DOUBT = 0.05
"""What a law counts beside one measured run."""


@dataclass(frozen=True)
class Observation:
    """A step of a run as it was measured: what was done, how large it was, and what it took.

    `kind` tells apart what other settings of the same method take; `memory` is in bytes, 0 where it was not seen.
    """

    work: str
    kind: str
    sizes: Sizes
    seconds: float
    memory: float = 0.0
    machine: str = ""


@dataclass(frozen=True)
class Calibration:
    """What was measured on this machine."""

    observations: tuple[Observation, ...] = ()
    spoiled: bool = False
    """Whether there are lines that cannot be read."""

    def seconds(self, work: str, kind: str, sizes: Sizes, effort: str) -> float:
        """Return how long a step is likely to take."""
        expected = laws.seconds(work, sizes, effort)
        own = [one for one in self.observations if one.work == work and one.kind == kind and one.seconds > 0]
        own = own[-_KEPT:]
        pairs = [(laws.seconds(work, one.sizes, effort), one.seconds, _nearness(one.sizes, sizes)) for one in own]
        return _line(pairs, self.slowness, 0.2).at(expected)

    def memory(self, work: str, kind: str, sizes: Sizes) -> float:
        """Return how many bytes the process is likely to take at most."""
        own = [one for one in self.observations if one.work == work and one.kind == kind and one.memory > 0]
        pairs = [(laws.bytes_of(work, one.sizes), one.memory, 1.0) for one in own]
        return _line(pairs, 1.0, 2.0e8).at(laws.bytes_of(work, sizes))

    @cached_property
    def slowness(self) -> float:
        """By what the times of this machine are multiples of those of the laws."""
        found = sorted(
            one.seconds / expected
            for one in self.observations
            if one.seconds > 0.2 and (expected := laws.seconds(one.work, one.sizes, one.kind.partition(" ")[0])) > 0
        )
        return min(20.0, max(0.05, found[len(found) // 2])) if found else 1.0


@dataclass(frozen=True)
class _Line:
    """Seconds as a constant and a multiple of what a law says: it grows with the law."""

    constant: float
    slope: float

    def at(self, expected: float) -> float:
        return self.constant + self.slope * expected


def _line(pairs: Sequence[tuple[float, float, float]], slope: float, constant: float) -> _Line:
    """Return the line that is off by the least share, from (law, measured, weight), and the line expected without them.

    Neither part is below 0: more records never take less time.
    """
    aa = ab = bb = ra = rb = 0.0
    for expected, measured, weight in pairs:
        a, b = 1.0 / measured, expected / measured
        aa, ab, bb, ra, rb = (
            aa + weight * a * a,
            ab + weight * a * b,
            bb + weight * b * b,
            ra + weight * a,
            rb + weight * b,
        )
    a, b = 1.0 / constant, 1.0 / slope  # in doubt, both parts are what they are without anything measured
    aa, bb, ra, rb = aa + _DOUBT * a * a, bb + _DOUBT * b * b, ra + _DOUBT * a, rb + _DOUBT * b
    determinant = aa * bb - ab * ab
    one, two = (ra * bb - rb * ab) / determinant, (rb * aa - ra * ab) / determinant
    if one < 0:
        return _Line(0.0, rb / bb)
    return _Line(ra / aa, 0.0) if two < 0 else _Line(one, two)


def _nearness(one: Sizes, other: Sizes) -> float:
    """Return what a run counts by its columns and k; not by its records, or more of them might take less time."""
    apart = math.log(one.width / other.width) ** 2 + math.log(max(2, one.k) / max(2, other.k)) ** 2
    return max(0.02, math.exp(-apart))


@cache
def machine() -> str:
    """Return what tells machines apart that share a home: processors and memory, no name."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    except (AttributeError, OSError, ValueError):
        memory = 0
    return f"{os.cpu_count() or 0} {memory}"


def read() -> Calibration:
    """Return what was measured on this machine; nothing where there is no file, or one that is not ours."""
    path = secrets.beside_secret(FILE)
    content = _content(path) if path else None
    if content is None:
        return Calibration()
    found, spoiled = _observations(content)
    return Calibration(tuple(one for one in found if one.machine == machine()), spoiled)


def add(observations: Iterable[Observation], *, spoiled: bool = False) -> None:
    """Remember what was measured; where it cannot be written, it is forgotten. A spoiled file is written anew."""
    lines = b"".join(_written(replace(one, machine=machine())) for one in observations)
    path = secrets.beside_secret(FILE)
    if path is None or not lines:
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAIN, 0o600)
        try:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode):
                os.write(descriptor, lines)
        finally:
            os.close(descriptor)
        if spoiled or found.st_size > _LONGEST:
            _shorten(path)
    except OSError:
        return


def _shorten(path: Path) -> None:
    """Write the file anew with the newest runs of every kind, whole or not at all."""
    content = _content(path)
    if content is None:
        return
    counted: Counter[tuple[str, str, str]] = Counter()
    kept: list[Observation] = []
    for one in reversed(_observations(content)[0]):
        counted[one.machine, one.work, one.kind] += 1
        if counted[one.machine, one.work, one.kind] <= _KEPT and len(kept) < _MOST:
            kept.append(one)
    beside = path.with_name(f".{FILE}-{os.urandom(8).hex()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"".join(map(_written, reversed(kept))))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _content(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | _PLAIN)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(4 * _LONGEST)


def _written(one: Observation) -> bytes:
    return json.dumps(asdict(one), separators=(",", ":")).encode() + b"\n"


def _observations(content: bytes) -> tuple[list[Observation], bool]:
    """Return what can be read, and whether something cannot."""
    found, spoiled = [], False
    for line in content.splitlines():
        try:
            found.append(_observation(line))
        except (ValueError, TypeError, KeyError, RecursionError):
            spoiled = True
    return found, spoiled


@lru_cache(maxsize=4096)  # a session reads the file again before every release
def _observation(line: bytes) -> Observation:
    """Return the observation of a line.

    Raises
    ------
    ValueError, TypeError, KeyError
        For anything else.
    """
    told = json.loads(line)
    numbers = {name: float(value) for name, value in told["sizes"].items()}
    numbers |= {"seconds": float(told["seconds"]), "memory": float(told["memory"])}
    if not all(0 <= value < 1e15 for value in numbers.values()) or not numbers["rows"] or not numbers["columns"]:
        raise ValueError("sizes and seconds are above 0")
    words = [told[name] for name in ("work", "kind", "machine")]
    if not all(isinstance(word, str) for word in words):
        raise TypeError("names are text")
    stratum = numbers["stratum"]
    whole = {name: int(numbers[name]) for name in ("rows", "columns", "k", "combinations", "width")}
    return Observation(
        words[0], words[1], Sizes(**whole, stratum=stratum), numbers["seconds"], numbers["memory"], words[2]
    )
