"""What a step claims so that its release can be denied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name


@dataclass(frozen=True)
class Deniable:
    """What a step claims so that its release can be denied: of which columns, against which records, what must hold."""

    columns: tuple[Column, ...]
    """Those released with original values."""
    k: int
    """A combination of fewer records is rare."""
    before: Name
    """The records before the step."""
    limits: Mapping[str, float]
    """Gates by name; where one is not there, what is reached is told."""
