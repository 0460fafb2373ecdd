"""What a verdict is made of, and how reports have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["held", "lowered", "broken", "none"]


@dataclass(frozen=True)
class Promised:
    """A k that was promised over columns together, and the smallest class found over them (None: not measured)."""

    k: int
    columns: tuple[str, ...]
    found: int | None

    @property
    def kept(self) -> bool:
        """Whether it was found; what could not be measured was not."""
        return self.found is not None and self.found >= self.k


@dataclass(frozen=True)
class Attacked:
    """What the strongest attack came to: its rate, the lower end of the interval, and what chance would give."""

    name: str
    rate: float
    low: float
    chance: float
    n: int
    assumed: bool
    """Nothing tells which record became which: the rate is an upper bound."""

    def beats(self, k: int) -> bool:
        """Whether it is right more often than one time in k, and than chance.

        >>> Attacked("a", 0.5, 0.45, 0.01, 400, False).beats(5), Attacked("a", 0.2, 0.16, 0.01, 400, False).beats(5)
        (True, False)
        """
        return self.low > max(1 / k, self.chance)


@dataclass(frozen=True)
class PromiseReport:
    """A k that was promised over columns together, and the smallest class found over them."""

    k: int
    columns: list[str]
    found: int | None


@dataclass(frozen=True)
class VerdictReport:
    """What a release is worth, in figures and in words."""

    status: Status
    colour: str
    passed: bool | None
    """None where no k was promised."""
    headline: str
    sentence: str
    k: int | None
    """The smallest class over the columns of the promise."""
    k_released: int | None
    """The smallest class over all released columns that an attacker may know."""
    unit: str
    """`record`, or the columns that say whose record it is."""
    columns: list[str]
    """The released columns that an attacker may know."""
    promised: list[PromiseReport]
    apart: dict[str, str]
    """The other released columns, and why they do not count."""
    attack: Attacked | None
    """The strongest attack that was made."""
