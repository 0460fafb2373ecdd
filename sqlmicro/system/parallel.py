"""Units of work on all cores: strata, blocks and chunks run in threads, since compiled loops let other threads go on.

A unit depends on nothing that another one does and has random numbers of its own, so that the result is the same for
any number of threads. Loops are compiled with `nogil=True` and called for some tenths of a second at a time; between
two calls a unit asks `heed` whether to go on, so that Ctrl-C ends all of them at once.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_HANDED_OVER = 16_384  # records, or whatever sizes are counted in
_allowed: contextvars.ContextVar[int] = contextvars.ContextVar("threads of kernels", default=0)
_many: contextvars.ContextVar[bool] = contextvars.ContextVar("more units than one thread is handed", default=False)
_unit: contextvars.ContextVar[tuple[_Crew[Any, Any], int] | None] = contextvars.ContextVar("unit", default=None)


class Stopped(BaseException):
    """The unit ends before it is done, since its result is no longer wanted; nobody outside of this module sees it."""


def threads() -> int:
    """Return how many threads units are run in: as many as were allowed, else as many as there are cores for us."""
    return _allowed.get() or _cores()


@contextmanager
def allowed(count: int) -> Iterator[None]:
    """Let units run in at most so many threads inside the block; 0 for one on every core."""
    token = _allowed.set(count)
    try:
        yield
    finally:
        _allowed.reset(token)


def each(function: Callable[[T], R], units: Sequence[T]) -> list[R]:
    """Return `function(unit)` for every unit, in their order; several run at the same time.

    What the first failing unit raises is raised, as if one had run after the other. On Ctrl-C those that run end at
    their next `heed`, and no other one begins. Inside a unit, units run one after the other: all cores are at work.

    Examples
    --------
    >>> each(lambda unit: unit * unit, range(5))
    [0, 1, 4, 9, 16]
    """
    count = min(threads(), len(units))
    if count < 2 or _unit.get() is not None:
        return [function(unit) for unit in units]
    return _Crew(function, units).run(count)


def each_sized(function: Callable[[int], R], sizes: Sequence[int]) -> list[R]:
    """Return `function(number)` for units of such sizes; small ones are handed to a thread together.

    Examples
    --------
    >>> each_sized(lambda number: -number, [3, 20_000, 5, 4])
    [0, -1, -2, -3]
    """
    runs: list[list[int]] = [[]]
    size = 0
    for number, own in enumerate(sizes):
        if size and size + own > _HANDED_OVER:
            runs.append([])
            size = 0
        runs[-1].append(number)
        size += own
    token = _many.set(_many.get() or len(runs) > 1)
    try:
        return [found for run in each(lambda run: [function(number) for number in run], runs) for found in run]
    finally:
        _many.reset(token)


def of_many() -> bool:
    """Tell whether this is a unit of so many that more than one thread is handed some, however many threads there are.

    There is enough to do then for loading compiled code, and what is not compiled would keep other threads waiting.
    """
    return _many.get()


def heed() -> None:
    """End the unit that calls this if its result is no longer wanted; to be called between two calls of a kernel."""
    mine = _unit.get()
    if mine is not None and mine[0].is_over(mine[1]):
        raise Stopped


class Counter:
    """Counts how much of all that several units do is done, whatever each of them counts in."""

    def __init__(self, total: int, tell: Callable[[int, int, str], None]) -> None:
        self._total, self._tell = total, tell
        self._done = 0
        self._gate = threading.Lock()

    def part(self, size: int) -> Callable[..., None]:
        """Return what a unit that is so much of the total tells how far it is; also where it ends, see `heed`."""
        told = 0

        def tick(done: int, total: int, best: str = "") -> None:
            nonlocal told
            heed()
            now = done * size // total if total else 0
            with self._gate:
                self._done += now - told
                done_of_all = self._done
            told = now
            self._tell(done_of_all, self._total, best)

        return tick


class _Crew(Generic[T, R]):
    """Threads that take the next unit until there is none."""

    def __init__(self, function: Callable[[T], R], units: Sequence[T]) -> None:
        self.function, self.units = function, units
        self._change = threading.Condition()
        self._next = self._running = 0
        self._end = len(units)  # units from here on are not wanted: the first that failed, or 0 on Ctrl-C
        self._results: dict[int, R] = {}
        self._failure: BaseException | None = None

    def run(self, count: int) -> list[R]:
        """Return the results of all units, or raise what the first failing one raised."""
        try:
            for _ in range(count):
                # What holds for the caller, as NumPy's way with errors, holds for a thread in a copy of its own.
                context = contextvars.copy_context()
                threading.Thread(target=context.run, args=(self._work,), daemon=True).start()
            self._wait()
        except BaseException:
            with self._change:
                self._end = 0
            self._wait()  # they refer to arrays of the caller; after a second Ctrl-C nobody waits for them
            raise
        failure, self._failure = self._failure, None
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # or it would be kept by its own traceback, and records with it
        return [self._results[number] for number in range(len(self.units))]

    def is_over(self, number: int) -> bool:
        """Tell whether the result of a unit is no longer wanted."""
        return number >= self._end

    def _wait(self) -> None:
        with self._change:
            self._change.wait_for(lambda: not self._running and self._next >= self._end)

    def _work(self) -> None:
        while (number := self._take()) is not None:
            _unit.set((self, number))
            failure = None
            try:
                self._results[number] = self.function(self.units[number])
            except Stopped:
                pass
            except BaseException as error:
                failure = error
            self._give_back(number, failure)
            del failure

    def _take(self) -> int | None:
        with self._change:
            if self._next >= self._end:
                return None
            number = self._next
            self._next += 1
            self._running += 1
            return number

    def _give_back(self, number: int, failure: BaseException | None) -> None:
        with self._change:
            if failure is not None and number < self._end:
                self._end, self._failure = number, failure
            self._running -= 1
            self._change.notify_all()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
