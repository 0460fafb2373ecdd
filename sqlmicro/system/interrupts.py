"""Ctrl-C and SIGTERM: before the commit they end a run with nothing published, after it they come too late.

A signal is answered by KeyboardInterrupt, which compiled code, callbacks and destructors may swallow or turn into
another error. So it is remembered too: the commit asks for it, and so does every block that is watched. From the commit
on signals are only noted, so that what belongs to the release (its record, the purge) is finished.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 2.0  # seconds in which a second signal is that of the same wish: `timeout` sends two


class Watch:
    """Takes signals for as long as it is the current one; `answers` are the handlers that were there before."""

    def __init__(self) -> None:
        self.answers: dict[int, Any] = {}
        self.held = 0
        self.committed = False
        self.came: int | None = None
        self.waiting: list[int] = []
        self._answered = 0.0

    @property
    def stopped(self) -> bool:
        """Whether a signal came before the commit: nothing may be published."""
        return self.came is not None and not self.committed

    @property
    def late(self) -> bool:
        """Whether a signal came after the commit."""
        return self.committed and bool(self.waiting)

    def take(self, number: int, answer: Any) -> None:
        """Take a signal from here on, and answer it as the handler `answer` does."""
        self.answers[number] = answer
        signal.signal(number, self._handle)

    def take_all(self, *, deadly: bool) -> None:
        """Take the signals that somebody else's handler has, or, if `deadly`, that end the process; no ignored one."""
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if handler != self._handle and (callable(handler) or (deadly and handler == signal.SIG_DFL)):
                self.take(number, handler)

    def give_back(self, *, only_deadly: bool = False) -> None:
        """Put the handlers back that were there."""
        for number, answer in self.answers.items():
            if signal.getsignal(number) == self._handle and (answer == signal.SIG_DFL or not only_deadly):
                signal.signal(number, answer)

    def answer_waiting(self) -> None:
        """Answer the first of the signals that were held back, unless they came too late."""
        if not self.held and not self.committed:
            waiting, self.waiting = self.waiting, []
            for number in waiting[:1]:
                self._answer(number, None)

    def _handle(self, number: int, frame: Any) -> None:
        if self.held or self.committed:
            self.waiting.append(number)
        else:
            self._answer(number, frame)

    def _answer(self, number: int, frame: Any) -> None:
        if self.came is not None and time.monotonic() - self._answered < _PATIENCE:
            return
        try:
            _call(self.answers[number], number, frame)
        except BaseException:
            self.came = self.came or number
            self._answered = time.monotonic()
            raise


_current: Watch | None = None


def answer() -> Watch:
    """Answer Ctrl-C and SIGTERM by KeyboardInterrupt to the end of the process; the command line begins with it.

    Also where Ctrl-C is ignored, as in the background jobs of a script: whoever sends a signal wants the run to end.
    """
    global _current
    _current = Watch()
    for number in _SIGNALS:
        _current.take(number, _interrupt)
    return _current


@contextmanager
def watched() -> Iterator[Watch]:
    """Let Ctrl-C and SIGTERM leave the block as KeyboardInterrupt, whatever becomes of it inside.

    After the commit (`committing`) they are answered at the end of the outermost block that is watched.
    """
    global _current
    if threading.current_thread() is not threading.main_thread():
        yield Watch()  # signals are handled in the main thread only
        return
    outermost = _current is None
    watch = _current = _current or Watch()
    try:
        watch.take_all(deadly=False)
        yield watch
    except Exception:
        _raise_if_stopped(watch)
        raise
    finally:
        if outermost:
            _current = None
            watch.give_back()
    _raise_if_stopped(watch)
    if outermost and watch.late:
        _answer_late(watch)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and SIGTERM off to the end of the block, which must be short."""
    with _held():
        yield


@contextmanager
def _held() -> Iterator[Watch]:
    with watched() as watch:
        main = threading.current_thread() is threading.main_thread()
        if main:
            watch.take_all(deadly=True)
        watch.held += 1
        try:
            yield watch
        finally:
            watch.held -= 1
            if main and not watch.held and not watch.committed:
                watch.give_back(only_deadly=True)
        watch.answer_waiting()


@contextmanager
def committing() -> Iterator[None]:
    """Make a release visible in the block: a signal that came before ends it, one that comes from here on is too late.

    Raises
    ------
    KeyboardInterrupt
        When a signal came before, also one whose exception was lost. Nothing was done.
    """
    with _held() as watch:
        _raise_if_stopped(watch)
        yield
        watch.committed = True


class _Task:
    """A function that is run elsewhere, once or never."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.done = threading.Event()
        self.begun = False
        self._result: Any = None
        self._failure: BaseException | None = None
        self._gate = threading.Lock()
        self._given_up = False

    def give_up(self) -> None:
        """Let the function never begin, if it has not yet."""
        with self._gate:
            self._given_up = True

    def run(self) -> None:
        """Run the function, unless it was given up."""
        with self._gate:
            self.begun = not self._given_up
        try:
            if self.begun:
                self._result = self.function()
        except BaseException as error:
            self._failure = error
        finally:
            self.done.set()

    def outcome(self) -> Any:
        """Return what the function returned, or raise what it raised; nothing of it is kept here."""
        (result, self._result), (failure, self._failure) = (self._result, None), (self._failure, None)
        if failure is None:
            return result
        try:
            raise failure
        finally:
            del failure  # or it would be kept by its own traceback, and records with it


class _Worker:
    """A thread that runs the tasks of one other thread; it ends when nothing refers to the worker any more."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._last: threading.Event | None = None  # of the last task, without what its function refers to
        self._process = os.getpid()
        threading.Thread(target=_serve, args=(self._tasks,), daemon=True).start()

    @property
    def is_free(self) -> bool:
        """Whether its thread would begin with a task at once; in a fork there is no thread."""
        return self._process == os.getpid() and (self._last is None or self._last.is_set())

    def take(self, task: _Task) -> None:
        """Hand a task to the thread."""
        self._last = task.done
        self._tasks.put(task)

    def __del__(self) -> None:
        self._tasks.put(None)


def _serve(tasks: SimpleQueue[_Task | None]) -> None:
    while (task := tasks.get()) is not None:
        task.run()
        del task  # what a function refers to, such as a connection, may go at once


_own = threading.local()


def interruptible(function: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Return `function()`, run in another thread, so that Ctrl-C can stop it with `interrupt` at once.

    Every thread has one for all its functions, since starting one costs more than a small statement. When this returns
    or raises, the function has ended, or it never begins.
    """
    # An event, not Thread.join: a join that Ctrl-C interrupts takes the thread for finished while it still runs.
    task = _Task(function)
    try:
        worker: _Worker | None = getattr(_own, "worker", None)
        if worker is None or not worker.is_free:  # a second Ctrl-C may have left a function running
            worker = _own.worker = _Worker()
        worker.take(task)
        while not task.done.wait(0.2):  # a signal just before the wait begins is answered when it ends
            pass
    except KeyboardInterrupt:
        task.give_up()
        while task.begun and not task.done.is_set():
            interrupt()
            task.done.wait(0.05)
        raise
    result: T = task.outcome()
    return result


def _interrupt(number: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def _call(handler: Any, number: int, frame: Any) -> None:
    if callable(handler):
        handler(number, frame)
    else:
        signal.signal(number, handler)
        signal.raise_signal(number)


def _raise_if_stopped(watch: Watch) -> None:
    if watch.stopped:
        raise KeyboardInterrupt from None


def _answer_late(watch: Watch) -> None:
    try:
        _call(watch.answers[watch.waiting[0]], watch.waiting[0], None)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the signal came too late: what was asked for is written") from None
