"""What must hold of every group of some records, as arrays that a kernel reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SLACK = 1e-9
"""What floating-point arithmetic cannot tell apart keeps a guarantee."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column of some records, and what every group must keep of it.

    Parameters
    ----------
    name : str
        The name of the column.
    codes : ndarray of shape (n,)
        The value of every record: its number among the m values of the table, in their order; missing is the last.
    shares : ndarray of shape (m,)
        The share of every value in the table: what t and beta compare with. Positive, the sum is 1.
    ordered : bool
        Whether values of rank i and j are |i - j|/(m - 1) apart (ordered distance), or any two 1 (equal distance).
    levels : tuple of ndarray of shape (m,)
        The class of every value on level 1 and above of a hierarchy, without its root: two values are as far apart as
        the level of their lowest common class (hierarchical distance). The values of a class follow one another.
    l : int
        Distinct l-diversity; 0 for none.
    entropy_l : float
        Entropy l-diversity; 0 for none.
    recursive_l : int
        Recursive (c, l)-diversity; 0 for none.
    c : float
        The c of it.
    t : float
        t-closeness; infinite for none.
    alpha : float
        The largest share of a value in a group; infinite for none.
    beta : float
        Basic beta-likeness; infinite for none.
    """

    name: str
    codes: np.ndarray
    shares: np.ndarray
    ordered: bool
    levels: tuple[np.ndarray, ...] = ()
    l: int = 0  # noqa: E741  (l-diversity is called so)
    entropy_l: float = 0.0
    recursive_l: int = 0
    c: float = 2.0
    t: float = float("inf")
    alpha: float = float("inf")
    beta: float = float("inf")


@dataclass(frozen=True, eq=False)
class Members:
    """The records of units, where a unit is grouped as one record: what must hold of them in every group of units."""

    unit: np.ndarray
    """The unit of every record (m,), numbered from 0 in the order in which the units are grouped."""
    sensitive: tuple[Sensitive, ...]
    """With the value of every record (m,)."""

    def of(self, units: np.ndarray) -> Members:
        """Return those of some units, which are numbered anew."""
        import numpy as np

        place = np.full(max(int(self.unit.max(initial=-1)), int(units.max(initial=-1))) + 1, -1)
        place[units] = np.arange(len(units))
        inside = np.flatnonzero(place[self.unit] >= 0)
        return Members(place[self.unit[inside]], _of(self.sensitive, inside))


@dataclass(frozen=True, eq=False)
class Rules:
    """What must hold of every group: k records, k persons where `persons` numbers them, and of sensitive columns."""

    k: int
    persons: np.ndarray | None = None
    """The person of every record (n,), numbered from 0."""
    sensitive: tuple[Sensitive, ...] = ()
    members: Members | None = None
    """Where every record is a unit of several: what must hold of these."""

    @property
    def only_k(self) -> bool:
        """Whether nothing is asked for but k records."""
        return self.persons is None and not self.sensitive and self.members is None

    @property
    def asked(self) -> Rules:
        """What is asked and no more: where records are units, sensitive columns are those of their members alone."""
        return replace(self, sensitive=()) if self.members else self

    @property
    def alone(self) -> Rules:
        """The rules for the records themselves, whatever must hold of their members."""
        return replace(self, members=None)

    def of(self, rows: np.ndarray) -> Rules:
        """Return the rules for some of the records; shares stay those of the whole table."""
        persons = None if self.persons is None else self.persons[rows]
        return Rules(self.k, persons, _of(self.sensitive, rows), self.members and self.members.of(rows))


def _of(sensitive: tuple[Sensitive, ...], rows: np.ndarray) -> tuple[Sensitive, ...]:
    return tuple(replace(one, codes=one.codes[rows]) for one in sensitive)
