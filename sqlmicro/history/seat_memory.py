"""What a series of seats goes by, remembers and publishes: see `seats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

WAITS = -1
"""The seat of who waits and may sit anywhere; who was in class c, and may only go back to it, has -2 - c."""


@dataclass(frozen=True)
class Rules:
    """When a class opens and closes, and who may sit in it."""

    k: int
    patience: int = 7
    """Days after which a newcomer no longer waits for near ones."""
    moves: bool = False
    """Whether persons whose values have changed may change class."""
    near: float = 1.25
    """How wide a new class may be, its mean squared distance in units of the reach; twice that when patience ends."""
    stay: float = 4.0
    """How far from the centre a person who moves keeps her seat, squared, in units of the reach."""
    empty: float = 0.05
    """The share of empty seats up to which none but wholly empty classes are closed."""
    distinct: int = 1
    """Sensitive values a class opens with."""
    again: int | None = None
    """How many founders of a class may have founded another one before; half of k where none is given."""
    waiting: float = 0.025
    """The share of tonight's persons who may wait for near ones."""

    @property
    def repeated(self) -> int:
        """How many founders of a class may have founded another one before."""
        return self.k // 2 if self.again is None else self.again


@dataclass
class Memory:
    """What a series remembers privately."""

    who: np.ndarray
    """int64 (n,), sorted."""
    seat: np.ndarray
    """int32 (n,) class; below 0 for who waits."""
    here: np.ndarray
    """bool (n,) in the table of the last night."""
    since: np.ndarray
    """int32 (n,) day since which she waits, or waited."""
    founded: np.ndarray
    """bool (n,) whose values are in the representative of some class."""
    person: np.ndarray
    """int64 (n,) whose record it is, or was when it founded a class; 0 where every record is of another person."""
    centre: np.ndarray
    """float64 (G, p) mean of the founders' features."""
    rows: np.ndarray
    """int32 (G,) rows of a class; 0 once it is closed."""
    radius: np.ndarray
    """float64 (G,) mean squared distance of the founders from the centre."""
    stratum: np.ndarray
    """int64 (G,)."""
    opened: np.ndarray
    """int32 (G,) day."""
    closed: np.ndarray
    """int32 (G,) day, or -1."""
    values: np.ndarray
    """int64 (m, 3) class, hash of the sensitive values, seats with them; (0, 3) where nothing is sensitive."""
    reach: float
    """The median radius of the first classes; infinite before there is one."""
    day: int


@dataclass(frozen=True)
class Night:
    """What a night publishes."""

    labels: np.ndarray
    """int32 (n,) class of tonight's records, -1 where withheld."""
    empty: np.ndarray
    """int64 (m, 3) class, hash of the sensitive values (0 where nothing is sensitive), empty seats."""
    opened: np.ndarray
    """int32, classes opened tonight."""
    founders: np.ndarray
    """bool (n,) who founded one of them: the representative is theirs, not of all who sit there."""


def nothing(p: int) -> Memory:
    """Return the memory of a series of p features before its first night."""
    import numpy as np

    long, short, real = np.int64, np.int32, np.float64
    return Memory(
        who=np.empty(0, long),
        seat=np.empty(0, short),
        here=np.empty(0, bool),
        since=np.empty(0, short),
        founded=np.empty(0, bool),
        person=np.empty(0, long),
        centre=np.empty((0, p), real),
        rows=np.empty(0, short),
        radius=np.empty(0, real),
        stratum=np.empty(0, long),
        opened=np.empty(0, short),
        closed=np.empty(0, short),
        values=np.empty((0, 3), long),
        reach=float("inf"),
        day=0,
    )


def carried(
    old: Memory,
    who: np.ndarray,
    seat: np.ndarray,
    since: np.ndarray,
    founded: np.ndarray,
    person: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Return the persons of a memory after a night in which `who` (n,) are there.

    Who left is remembered where she has had a seat or founded a class.
    """
    import numpy as np

    person = np.zeros(len(who), np.int64) if person is None else person
    gone = ((old.seat != WAITS) | old.founded) & ~np.isin(old.who, who)
    everyone = np.r_[old.who[gone], who]
    order = np.argsort(everyone)
    here = np.repeat([False, True], [int(gone.sum()), len(who)])
    own = {"seat": np.r_[old.seat[gone], seat], "since": np.r_[old.since[gone], since]}
    return {
        "who": everyone[order], "here": here[order], "founded": np.r_[old.founded[gone], founded][order],
        "person": np.r_[old.person[gone], person][order],
        **{name: values[order].astype(np.int32) for name, values in own.items()},
    }  # fmt: skip
