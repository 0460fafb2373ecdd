"""Ctrl-C and SIGTERM: they stop a statement at once, and wait where half of something would be left."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def interruptible(function: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Return `function()`, run in a thread of its own, so that Ctrl-C can stop it with `interrupt` at once."""
    result: list[T] = []
    failure: list[BaseException] = []
    # An event, not Thread.join: a join that Ctrl-C interrupts takes the thread for finished while it still runs.
    done = threading.Event()

    def work() -> None:
        try:
            result.append(function())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work, daemon=True)
    try:
        thread.start()
        done.wait()
    except KeyboardInterrupt:
        while thread.is_alive() and not done.is_set():
            interrupt()
            done.wait(0.05)
        raise
    if failure:
        raise failure[0]
    return result[0]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and SIGTERM off to the end of the block, which must be short."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    came: list[int] = []

    def note(number: int, frame: Any) -> None:
        came.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if came:
        signal.raise_signal(came[0])


@contextmanager
def plainly_interrupted() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM leave the block as KeyboardInterrupt, whatever error compiled code makes of them."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    raising = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread():
        raising = {}
    came: list[int] = []

    def note(number: int, frame: Any) -> None:
        came.append(number)
        raising[signal.Signals(number)](number, frame)

    for number in raising:
        signal.signal(number, note)
    try:
        yield
    except Exception:
        if came:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in raising.items():
            if signal.getsignal(number) is note:  # else the handler itself has put another in its place
                signal.signal(number, handler)
