"""Who is told when a function is compiled; knows nothing of numba, which takes long to load and may not be needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_told: list[Callable[[], None]] = []


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` whenever a function begins to be compiled inside the block."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


def compiles() -> None:
    """Tell that a function begins to be compiled."""
    for tell in tuple(_told):
        tell()
