"""Progress on stderr: what is being done, how far it is, after two seconds, and only on a terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlmicro.interrupts import plainly_interrupted
from sqlmicro.printable import shown

QUIET_SECONDS = 2.0
_INTERVAL = 0.25


class Progress:
    """Writes one line that is overwritten in place; silent when `enabled` is false or stderr is no terminal."""

    def __init__(self, enabled: bool = True) -> None:
        self._talks = enabled
        self.enabled = enabled and sys.stderr.isatty()
        self._lock = threading.Lock()
        self._text = self._best = ""
        self._done = self._total = 0
        self._unit = ""
        self._share: Callable[[], float] | None = None
        self._started = 0.0
        self._shown = False

    @contextmanager
    def stage(
        self, text: str, total: int = 0, unit: str = "rows", share: Callable[[], float] | None = None
    ) -> Iterator[Progress]:
        """Show `text` while the block runs; `share` tells how far a statement is, `tick` how far a kernel."""
        if not self.enabled:
            yield self
            return
        with self._lock:
            self._text, self._done, self._total, self._unit, self._share = text, 0, total, unit, share
            self._best = ""
            self._started = time.monotonic()
        stop = threading.Event()
        painter = threading.Thread(target=self._paint, args=(stop,), daemon=True)
        painter.start()
        try:
            yield self
        finally:
            stop.set()
            painter.join()
            self._clear()

    @contextmanager
    def kernel(self, text: str, total: int = 0, unit: str = "rows") -> Iterator[Progress]:
        """Show `text` while a kernel runs, and say so when numba has to compile it first."""
        from numba.core import event

        say = self._say_compiling

        class Compiling(event.Listener):
            def on_start(self, event: object) -> None:
                say()

            def on_end(self, event: object) -> None:
                pass

        with plainly_interrupted(), self.stage(text, total, unit), event.install_listener("numba:compile", Compiling()):
            yield self

    def _say_compiling(self) -> None:
        """Say once that compiled code is being made: the first run on a machine takes seconds longer."""
        if self._talks:
            self._talks = False
            self._clear()
            sys.stderr.write("compiling, once for this machine\n")
            sys.stderr.flush()

    def tick(self, done: int, total: int, best: str = "") -> None:
        """Say that `done` of `total` units are done, and how good the best result so far is."""
        self._done, self._total, self._best = done, total, best

    def line(self) -> str:
        """Return the line as it stands now."""
        done = self._done
        if self._share is not None:
            done = int(self._total * max(0.0, min(1.0, self._share())))
        seconds = time.monotonic() - self._started
        if self._total:
            amount = f"{done:,} of {self._total:,} {self._unit} ({100 * done / self._total:.0f} %)"
        else:
            amount = f"{done:,} {self._unit}" if done else "working"
        best = f", {self._best}" if self._best else ""
        return f"{shown(self._text)}: {amount}{best}, {seconds:.0f} s"

    def _paint(self, stop: threading.Event) -> None:
        while not stop.wait(_INTERVAL):
            if time.monotonic() - self._started >= QUIET_SECONDS:
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write("\r\x1b[2K" + self.line()[:width])
                sys.stderr.flush()
                self._shown = True

    def _clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._shown = False
