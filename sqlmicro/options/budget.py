"""How long a run may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class BudgetOption:
    """A time that settings are chosen by."""

    budget: Annotated[
        str | None,
        Param(
            "Choose --quality or --effort so that the run takes about this long, such as 90s, 5m or 1h30m. It says "
            "what it chose, and interrupts nothing. What cannot be done in time is refused before the work.",
            metavar="TIME",
        ),
    ] = None
