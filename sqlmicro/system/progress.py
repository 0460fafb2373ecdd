"""Progress on stderr: what is being done, how far it is and how long it will take.

On a terminal it is one line after two seconds; elsewhere, as in the log of a scheduler, it is a line a minute.

Who is told when a function is compiled; knows nothing of numba, which takes long to load and may not be needed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlmicro.system.interrupts import watched
from sqlmicro.system.printable import shown

if TYPE_CHECKING:
    import rich.progress

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


QUIET_SECONDS = 2.0
LINE_SECONDS = 60.0
_INTERVAL = 0.25
_BAR_WIDTH = 16
_WIDE = 70


class Progress:
    """Draws one line that is overwritten in place, or writes one a minute; silent when `enabled` is false.

    Without `lines` nothing is written but that one, and what somebody must know.
    """

    def __init__(self, enabled: bool = True, *, lines: bool = True) -> None:
        self._talks = enabled
        self.enabled = enabled and sys.stderr.isatty()
        self._lines = enabled and lines
        self.compiled = False
        """Whether a kernel was compiled: it took longer than it will."""
        self._expected, self._begun = 0.0, time.monotonic()
        self._minutes: threading.Thread | None = None
        self._text = self._best = ""
        self._done = self._total = 0
        self._unit = ""
        self._share: Callable[[], float] | None = None
        self._started = 0.0
        self._said: set[str] = set()

    def say(self, text: str) -> None:
        """Say a sentence once, on a line of its own, also where stderr is no terminal."""
        if self._talks and text not in self._said:
            self._said.add(text)
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def choose(self, question: str, answers: Sequence[str]) -> int | None:
        """Ask on a terminal which of some answers holds, and return its place; None where nobody can be asked.

        Raises
        ------
        KeyboardInterrupt
            When the terminal is closed.
        """
        if not (self.enabled and sys.stdin is not None and sys.stdin.isatty()):
            return None
        listed = "".join(f"\n  {number}  {text}" for number, text in enumerate(answers, 1))
        while True:
            sys.stderr.write(f"{shown(question)}{listed}\n1 to {len(answers)}: ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            if not line:
                raise KeyboardInterrupt
            if line.strip() in map(str, range(1, len(answers) + 1)):
                return int(line) - 1

    @contextmanager
    def stage(
        self, text: str, total: int = 0, unit: str = "rows", share: Callable[[], float] | None = None
    ) -> Iterator[Progress]:
        """Show `text` while the block runs; `share` tells how far a statement is, `tick` how far a kernel."""
        if not (self.enabled or self._lines):
            yield self
            return
        outer = self._text, self._done, self._total, self._unit, self._share, self._best, self._started
        self._text, self._done, self._total, self._unit, self._share = text, 0, total, unit, share
        self._best = ""
        self._started = time.monotonic()
        if not self.enabled:
            self._write_minutes()
            try:
                yield self
            finally:
                self._text, self._done, self._total, self._unit, self._share, self._best, self._started = outer
            return
        stop = threading.Event()
        painter = threading.Thread(target=self._paint, args=(stop,), daemon=True)
        painter.start()
        try:
            yield self
        finally:
            stop.set()
            painter.join()

    @contextmanager
    def kernel(self, text: str, total: int = 0, unit: str = "rows") -> Iterator[Progress]:
        """Show `text` while a kernel runs, and say so when it has to be compiled first."""
        with watched(), self.stage(text, total, unit), told_of_compiling(self._compiles):
            yield self

    def _compiles(self) -> None:
        self.compiled = True
        self.say("compiling, once for this machine")

    def log(self, text: str) -> None:
        """Write a line where there is no terminal on which one is overwritten, as when an image is built."""
        if not self.enabled:
            self.say(text)

    def expect(self, text: str, seconds: float, *, tell: bool) -> None:
        """Take in what is expected of the work that begins, and `tell` it on a line of its own."""
        self._expected = time.monotonic() - self._begun + seconds
        if tell and self._lines:
            self.say(text)

    def tick(self, done: int, total: int, best: str = "") -> None:
        """Say that `done` of `total` units are done, and how good the best result so far is."""
        self._done, self._total, self._best = done, total, best

    def _amount(self) -> int:
        if self._share is None:
            return self._done
        return int(self._total * max(0.0, min(1.0, self._share())))

    def line(self, speed: float | None = None, left: float | None = None) -> str:
        """Return what is said beside the bar: units done, the best so far, units a second, time left, time so far.

        >>> progress = Progress(enabled=False)
        >>> progress.tick(250, 1000)
        >>> progress.line(speed=12.5, left=60).partition(", 1 min left")[0]
        '250 of 1,000  (25 %), 12 /s'
        """
        done, total, unit = self._amount(), self._total, self._unit
        if total:
            parts = [f"{done:,} of {total:,} {unit} ({100 * done / total:.0f} %)"]
        else:
            parts = [f"{done:,} {unit}" if done else "working"]
        if self._best:
            parts.append(self._best)
        if speed:
            parts.append(f"{speed:,.0f} {unit}/s")
        if left is not None and total:
            parts.append(f"{duration(left)} left")
        return ", ".join([*parts, duration(time.monotonic() - self._started)])

    def minute(self) -> str:
        """Return what is written where no terminal is: what is done, and what is left of it and of the whole.

        >>> progress = Progress(enabled=False)
        >>> progress.expect("", 250, tell=False)
        >>> progress.minute()
        'working, 0 s; about 4 min left in all'
        """
        now = time.monotonic()
        if self._text:
            done, total = self._amount(), self._total
            rest = (now - self._started) * (total - done) / done if done else None
            text = f"{shown(self._text)}: {self.line(left=rest)}"
        else:
            text = f"working, {duration(now - self._begun)}"
        left = self._expected - (now - self._begun)
        if self._expected:
            text += f"; about {duration(left)} left in all" if left > 0 else "; longer than expected"
        return text

    def _write_minutes(self) -> None:
        """Write a line a minute from here on, as long as something is being done."""
        if self._minutes is None or not self._minutes.is_alive():
            self._minutes = threading.Thread(target=self._write, daemon=True)
            self._minutes.start()

    def _write(self) -> None:
        time.sleep(LINE_SECONDS)
        while self._text:
            try:
                sys.stderr.write(f"{self.minute()}\n")
                sys.stderr.flush()
            except (OSError, ValueError):  # nobody reads it any more
                return
            time.sleep(LINE_SECONDS)

    def _paint(self, stop: threading.Event) -> None:
        if stop.wait(QUIET_SECONDS):
            return
        drawn = self._drawn()
        task = drawn.add_task(shown(self._text), total=self._total or None)
        with drawn:
            while not stop.wait(_INTERVAL):
                drawn.update(task, completed=self._amount(), total=self._total or None)
                drawn.refresh()

    def _drawn(self) -> rich.progress.Progress:
        from rich import progress, table
        from rich.console import Console
        from rich.text import Text

        line = self.line

        class Amount(progress.ProgressColumn):
            def render(self, task: progress.Task) -> Text:
                return Text(line(task.speed, task.time_remaining))

        def fitting() -> table.Column:
            return table.Column(no_wrap=True, overflow="ellipsis")

        console = Console(file=sys.stderr, force_terminal=True)
        columns: list[progress.ProgressColumn] = [
            progress.TextColumn("{task.description}", markup=False, table_column=fitting()),
            Amount(table_column=fitting()),
        ]
        if console.width >= _WIDE:
            columns.insert(1, progress.BarColumn(_BAR_WIDTH))
        return progress.Progress(*columns, console=console, transient=True, auto_refresh=False)


def duration(seconds: float) -> str:
    """Return a time as it is read: 8 s, 4 min, 2 h 10 min.

    >>> duration(8.4), duration(250), duration(7800)
    ('8 s', '4 min', '2 h 10 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
