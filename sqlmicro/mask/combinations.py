"""The combinations of values that occur, as a search of the lattice reads them: from the finest to any level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlmicro.guarantees.tally import Tally

if TYPE_CHECKING:
    import numpy as np

Node = tuple[int, ...]
"""The level of every column."""
_DENSE = 4
"""Keys of classes are counted in a table of at most this many times the combinations, else sorted."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations of values that occur, with what is asked of every class that is made of them.

    Those that occur in a population only have no records, but members of it.

    Parameters
    ----------
    tally : Tally
        The records, persons and sensitive values of every combination.
    codes : list of list of ndarray of shape (combinations,)
        Per column and level, from the value as it is: the number of the class of every combination, from 0.
    stratum : ndarray of shape (combinations,)
        Combinations of different strata are never in one class.
    """

    tally: Tally
    codes: list[list[np.ndarray]]
    stratum: np.ndarray

    @property
    def n(self) -> np.ndarray:
        """The records of every combination."""
        return self.tally.sizes

    @cached_property
    def records(self) -> int:
        """The number of all records."""
        return int(self.n.sum())

    @property
    def heights(self) -> list[int]:
        """The number of levels of every column."""
        return [len(levels) for levels in self.codes]

    @cached_property
    def strata(self) -> int:
        """The number of strata."""
        return int(self.stratum.max(initial=0)) + 1

    @cached_property
    def of_strata(self) -> Tally:
        """What every stratum comes to, whole."""
        return self.tally.merged(self.stratum, self.strata)

    @cached_property
    def spans(self) -> list[list[int]]:
        """The number of classes of every column on every level."""
        return [[int(codes.max(initial=0)) + 1 for codes in levels] for levels in self.codes]

    def groups(self, node: Node, some: np.ndarray | None = None) -> tuple[np.ndarray, int]:
        """Return the class of every combination, or of some of them, at a node, and the number of classes."""

        key = self.stratum if some is None else self.stratum[some]
        span = self.strata
        for levels, spans, level in zip(self.codes, self.spans, node, strict=True):
            if spans[level] > 1:
                if span > (1 << 62) // spans[level]:
                    key, span = _numbered(key, span)
                key = key * spans[level] + (levels[level] if some is None else levels[level][some])
                span *= spans[level]
        return _numbered(key, span)

    def labels(self, levels: np.ndarray) -> np.ndarray:
        """Return the class of every combination where each has its own levels (combinations, columns)."""
        import numpy as np

        key, span = _numbered(self.stratum, self.strata)
        for c, own in enumerate(self.codes):
            coded = np.array(own)[levels[:, c], np.arange(len(levels))]
            for part in (levels[:, c] + 1, coded):
                width = int(part.max(initial=0)) + 1
                key, span = _numbered(key * width + part, span * width)
        return key

    def only(self, some: np.ndarray) -> Combinations:
        """Return some of the combinations; `some` has a truth value for each."""
        codes = [[level[some] for level in levels] for levels in self.codes]
        return Combinations(self.tally.only(some), codes, self.stratum[some])


def _numbered(key: np.ndarray, span: int) -> tuple[np.ndarray, int]:
    """Number the keys that occur from 0, in their order."""
    import numpy as np

    if span <= max(1024, _DENSE * len(key)):
        found = np.bincount(key, minlength=span) > 0
        number = np.cumsum(found) - 1
        return number[key], int(number[-1]) + 1
    values, group = np.unique(key, return_inverse=True)
    return group, len(values)
