"""The attacks there are: one decorated function each; settings of `sqlmicro attack` derive from them.

What is told of an attack: how far it got, beside chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from sqlmicro.errors import InputError
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Parameter
from sqlmicro.system.reporting import INLINE

Need = Literal["columns", "numeric", "match", "sensitive", "second", "published", "told", "control", "known_columns"]
Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class NothingToAttack(InputError):  # noqa: N818
    """An attack has no object here: no records, no value to compare."""


@dataclass(frozen=True)
class Measured:
    """How far an attack got: the expected share of its n trials that succeed, and the share that chance alone gives."""

    rate: float
    chance: float
    n: int
    detail: Detail | None = None
    unit: Unit = "records"
    interval: tuple[float, float] | None = None
    """At 95 %, where the rate is no share of tries."""

    @property
    def ci(self) -> tuple[float, float]:
        """The interval at 95 %: Wilson's, with rate times n as the number of successes, unless there is another."""
        return self.interval or wilson(self.rate, self.n)


def wilson(rate: float, n: int) -> tuple[float, float]:
    """Return the Wilson interval of a share at 95 % (Wilson, 1927).

    A trial that succeeds with a probability, as where ties share, varies less than one that fails or succeeds: the
    interval is then wider than need be.

    >>> [round(end, 4) for end in wilson(0.1, 100)]
    [0.0552, 0.1744]
    """
    centre = rate + Z**2 / (2 * n)
    half = Z * math.sqrt(max(rate * (1 - rate), 0.0) / n + Z**2 / (4 * n**2))
    scale = 1 + Z**2 / n
    return max(0.0, min(rate, (centre - half) / scale)), min(1.0, max(rate, (centre + half) / scale))


@dataclass(frozen=True, kw_only=True)
class Attack(Entry):
    """An attack: what it needs, and where it comes from."""

    source: str
    needs: tuple[Need, ...] = ()
    templates: tuple[str, ...] = ()
    outsider: bool = True
    """Whether it is made by somebody who knows nothing of the others of a group: only then does a k speak of it."""


Made = TypeVar("Made", bound=Callable[..., Measured | list[Measured]])
ATTACKS = Catalogue("attack", Attack, ("sqlmicro.attacks",))


def attack(
    name: str, *, needs: tuple[Need, ...] = (), source: str, templates: tuple[str, ...] = (), outsider: bool = True
) -> Callable[[Made], Made]:
    """Register the decorated function as an attack.

    It is called `f(knowledge, **settings)` with a `knowledge.Knowledge` that has what the attack needs, and returns a
    `Measured`, or one for every sensitive column.
    """

    def register(function: Made) -> Made:
        entry = vars(Entry.of(name, function))
        ATTACKS.add(Attack(**entry, source=source, needs=needs, templates=templates, outsider=outsider))
        return function

    return register


def attacks() -> dict[str, Attack]:
    """Return every attack by name, in the order in which `sqlmicro/attacks/__init__.py` names their modules."""
    return ATTACKS.all()


def find(names: Sequence[str]) -> list[Attack]:
    """Return the attacks called so, or raise ParameterError with the nearest name."""
    chosen = [ATTACKS.find(name, "attack, --attack").name for name in names]
    return [found for name, found in attacks().items() if name in chosen]


def settings() -> tuple[Parameter, ...]:
    """Return the settings of all attacks, each once."""
    return tuple({parameter.name: parameter for found in attacks().values() for parameter in found.parameters}.values())


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
