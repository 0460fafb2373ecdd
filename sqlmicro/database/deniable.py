"""What a step claims so that its release can be denied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True)
class Kept:
    """A candidate that is published beside the release, and what is claimed of it so that it can be denied."""

    relation: Name
    denied: tuple[Deniable, ...]

    @classmethod
    def of(cls, relation: Name, before: Iterable[Deniable], own: Deniable | None) -> Kept:
        """Return a candidate with the claims of the steps before, and its own."""
        return cls(relation, (*before, *filter(None, [own])))
