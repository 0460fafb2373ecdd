"""What is told of an attack: how far it got, beside chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlmicro.system.reporting import INLINE

Unit = Literal["records", "persons", "values", "places", "conditions"]
"""What the trials of an attack are."""


@dataclass(frozen=True)
class Detail:
    """What an attack tells besides its rate; every attack that has more to say has a class of its own."""


@dataclass(frozen=True)
class AttackRow:
    """How far an attack got."""

    name: str
    rate: float
    """The share of its trials that succeed."""
    ci: list[float]
    """The interval of the rate at 95 %."""
    chance: float
    """What chance alone gives."""
    n: int
    """Trials."""
    unit: Unit
    """What is tried: a record, a person with all her records, a value, a place of two releases, or a condition."""
    detail: Detail | None = field(metadata=INLINE)
    source: str
    """Where the attack is from."""
