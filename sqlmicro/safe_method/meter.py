"""What a candidate costs: seconds, and by how much it raised the peak of the process's memory."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlmicro.system.memory import peak_memory


@dataclass(frozen=True)
class Cost:
    """Wall time in seconds, and bytes; None where the system does not tell the peak of a process."""

    seconds: float
    memory: int | None

    def __add__(self, other: Cost) -> Cost:
        known = self.memory is not None and other.memory is not None
        return Cost(self.seconds + other.seconds, (self.memory or 0) + (other.memory or 0) if known else None)


NOTHING = Cost(0.0, 0)


class Meter:
    """Measures from when it is made; `before` is what was spent already, such as on a grouping that several share.

    Notes
    -----
    Memory is the growth of the peak of resident memory (Linux: VmHWM), so all there is in the process: arrays, the
    database, compiled code. A peak only grows: work that needs no more than earlier work did shows 0. It is what
    leaving this work out could have saved at most; it is not what the work needs on its own. What is done at the same
    time in other threads is in both figures.
    """

    def __init__(self, before: Cost = NOTHING) -> None:
        self._before, self._start, self._peak = before, time.perf_counter(), peak_memory()

    def read(self) -> Cost:
        """Return what it cost until now."""
        peak = peak_memory()
        memory = None if peak is None or self._peak is None else max(0, peak - self._peak)
        return self._before + Cost(time.perf_counter() - self._start, memory)
