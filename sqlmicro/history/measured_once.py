"""What the first night of an epoch measures and all its nights go by: the size of noise, the scales of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlmicro.history.series import Series


@dataclass
class MeasuredOnce(Series):
    """A series whose first night measures what all nights of the epoch go by."""

    def first(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return what the first night of the epoch has measured under a name; tonight where it is the first."""
        known: Mapping[str, Any] = self.before.measured if self.before else {}
        if name in known:
            return known[name]
        if name not in self.measured:
            self.measured[name] = measure()
        return self.measured[name]
