"""What must hold of every group of some records, as arrays that a kernel reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from sqlmicro.guarantees.histogram import Histogram
from sqlmicro.options.limits import DeclaredLimit

if TYPE_CHECKING:
    import numpy as np

SLACK = 1e-9
"""What floating-point arithmetic cannot tell apart keeps a guarantee."""
_LEAST_SLACK = 1e-13
"""Of a limit of 0: the table itself is at no distance from itself, but for rounding."""


@dataclass(frozen=True)
class Limit:
    """A limit of what a group may tell of a column, with its value: one that `options.limits.limit` has declared.

    All limits are closed under union: whatever holds of two groups holds of both united.
    """

    value: float
    declared: ClassVar[DeclaredLimit]
    symbol: ClassVar[str]
    """How it is called in a message."""
    grows: ClassVar[bool] = False
    """Whether a group that keeps it keeps it whatever is added."""

    @property
    def told(self) -> str:
        """The limit as it was asked for, such as "l = 2"."""
        return f"{self.symbol} = {self.value:g}"

    @property
    def binds(self) -> bool:
        """Whether some group may break it."""
        return self.value > 1 if self.declared.at_least else self.value < (self.declared.most or math.inf)

    @property
    def rounded(self) -> Self:
        """The limit with what floating-point arithmetic cannot tell apart from it, where it is one from above."""
        if self.declared.at_least:
            return self
        return replace(self, value=self.value + max(abs(self.value) * SLACK / 2, _LEAST_SLACK))

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return of every class what its audit measures."""
        raise NotImplementedError

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return what every class misses, in records: 0 where it holds, and never more for a union than for both."""
        raise NotImplementedError

    def least_size(self, of: Sensitive, n: int) -> int:
        """Return the least size of a group of n records that can keep it, at most n."""
        raise NotImplementedError

    def compiled(self) -> dict[str, float]:
        """Return what compiled searches are told of it, by the names of their limits; see `_rule_kernels.Columns`."""
        raise NotImplementedError

    def caps(self, of: Sensitive) -> np.ndarray | None:
        """Return the largest share that every value of a column may have of a group, where the limit is of these."""
        return None

    def kept(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Tell which classes keep it."""
        found = self.measure(of, h)
        kept: np.ndarray = found >= self.value - SLACK if self.declared.at_least else found <= self.value + SLACK
        return kept


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
        The share of every value in the table. Positive, the sum is 1.
    ordered : bool
        Whether values of rank i and j are |i - j|/(m - 1) apart (ordered distance), or any two 1 (equal distance).
    levels : tuple of ndarray of shape (m,)
        The class of every value on level 1 and above of a hierarchy, without its root: two values are as far apart as
        the level of their lowest common class (hierarchical distance). The values of a class follow one another.
    limits : tuple of Limit
        What must hold of it in every group.
    """

    name: str
    codes: np.ndarray
    shares: np.ndarray
    ordered: bool
    levels: tuple[np.ndarray, ...] = ()
    limits: tuple[Limit, ...] = ()

    @property
    def binding(self) -> tuple[Limit, ...]:
        """The limits that some group may break."""
        return tuple(one for one in self.limits if one.binds)

    def kept(self, h: Histogram) -> np.ndarray:
        """Tell which classes keep all limits."""
        import numpy as np

        found = np.ones(h.classes, dtype=bool)
        for one in self.binding:
            found &= one.kept(self, h)
        return found

    def missed(self, h: Histogram) -> np.ndarray:
        """Return what every class misses of all limits, in records; see `state.missing`."""
        import numpy as np

        found = np.zeros(h.classes)
        for one in self.binding:
            found += one.missed(self, h)
        misses: np.ndarray = np.where(self.kept(h), 0.0, np.maximum(found, SLACK))
        return misses


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
