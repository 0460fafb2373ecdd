"""What a recoding loses, by the metrics of the field; each from 0, nothing, to 1, everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.combinations import Combinations, Node

Metric = Literal["loss", "entropy", "discernibility"]
_DIGITS = 12
"""Losses that differ by less are the same: the order of a sum must not decide."""


class Loss(Protocol):
    """What the nodes of a lattice lose; never more at a node than at one above it, where nothing is suppressed."""

    @property
    def by_size(self) -> bool:
        """Whether it is made of the sizes of the classes: what a node counts is then a bound for those above it."""

    def bounds(self, nodes: np.ndarray) -> np.ndarray:
        """Return what every node (nodes, columns) loses at least."""

    def of(self, node: Node, group: np.ndarray, sizes: np.ndarray, kept: np.ndarray) -> float:
        """Return what a node loses with the classes that are not `kept` suppressed.

        `group` has the class of every combination, `sizes` and `kept` are of the classes.
        """


@dataclass(frozen=True, eq=False)
class LossOfCells:
    """The sum over records and columns of what a released value loses.

    `lost` has, per column and level, what a record of every combination loses, and `suppressed` what it loses in all
    columns when it is left out. What is lost is divided by `whole`.
    """

    n: np.ndarray
    lost: list[list[np.ndarray]]
    suppressed: np.ndarray
    whole: float
    by_size: bool = False

    def bounds(self, nodes: np.ndarray) -> np.ndarray:
        """Return what every node loses without suppression."""
        import numpy as np

        found = np.zeros(len(nodes))
        for c, levels in enumerate(self.lost):
            found += np.array([float((lost * self.n).sum()) for lost in levels])[nodes[:, c]]
        return np.round(found / self.whole, _DIGITS)

    def of(self, node: Node, group: np.ndarray, sizes: np.ndarray, kept: np.ndarray) -> float:
        """Return what a node loses with the classes that are not kept suppressed."""
        import numpy as np

        found = np.zeros(len(self.n))
        for levels, level in zip(self.lost, node, strict=True):
            if level:
                found += levels[level]
        return self._total(found, kept[group])

    def mixed(self, levels: np.ndarray, kept: np.ndarray) -> float:
        """Return what is lost where every combination has its own levels (combinations, columns), or is suppressed."""
        return self._total(self.each(levels), kept)

    def each(self, levels: np.ndarray) -> np.ndarray:
        """Return what a record of every combination loses on its levels (combinations, columns)."""
        import numpy as np

        rows, found = np.arange(len(self.n)), np.zeros(len(self.n))
        for c, own in enumerate(self.lost):
            found += np.array(own)[levels[:, c], rows]
        return found

    def _total(self, found: np.ndarray, kept: np.ndarray) -> float:
        import numpy as np

        return round(float((np.where(kept, found, self.suppressed) * self.n).sum()) / self.whole, _DIGITS)


@dataclass(frozen=True, eq=False)
class _OfSizes:
    """Discernibility: a record is in a class of so many, or left out, which counts as many as there are records."""

    n: np.ndarray
    spans: list[list[int]]
    strata: int
    by_size: bool = True

    def bounds(self, nodes: np.ndarray) -> np.ndarray:
        import numpy as np

        classes = np.full(len(nodes), float(self.strata))
        for c, spans in enumerate(self.spans):
            classes *= np.array(spans)[nodes[:, c]]
        found: np.ndarray = 1.0 / np.minimum(classes, np.count_nonzero(self.n))
        return found

    def of(self, node: Node, group: np.ndarray, sizes: np.ndarray, kept: np.ndarray) -> float:
        import numpy as np

        records = float(self.n.sum())
        squares = np.where(kept, sizes.astype(float) ** 2, sizes * records).sum()
        return round(float(squares) / records**2, _DIGITS)


def loss_of(metric: Metric, combinations: Combinations, shares: list[list[np.ndarray]]) -> Loss:
    """Return the loss by a metric.

    Parameters
    ----------
    metric : {"loss", "entropy", "discernibility"}
        Loss (Iyengar 2002): the mean over records and columns of the share of its column that a released value covers.
        Non-uniform entropy (Gionis & Tassa 2009): the bits it takes to tell the value among those of its class, of
        those it takes to tell it in the table. Discernibility (Bayardo & Agrawal 2005): the mean share of the records
        that are in the class of a record.
    combinations : Combinations
        What occurs.
    shares : list of list of ndarray of shape (combinations,)
        Per column and level the share of the column that the value of every combination covers.
    """
    if metric == "discernibility":
        return _OfSizes(combinations.n.astype(float), combinations.spans, combinations.strata)
    return loss_of_cells(metric, combinations, shares)


def loss_of_cells(
    metric: Literal["loss", "entropy"], combinations: Combinations, shares: list[list[np.ndarray]]
) -> LossOfCells:
    """Return the loss by a metric that is a sum over records and columns; see `loss_of`."""
    import numpy as np

    n = combinations.n.astype(float)
    records, columns = float(n.sum()), len(shares)
    if metric == "loss":
        return LossOfCells(n, shares, np.full(len(n), float(columns)), columns * records)
    bits = [[np.log2(np.maximum(np.bincount(codes, n), 1)[codes]) for codes in levels] for levels in combinations.codes]
    suppressed = sum((np.log2(records) - levels[0] for levels in bits), np.zeros(len(n)))
    lost = [[level - levels[0] for level in levels] for levels in bits]
    return LossOfCells(n, lost, suppressed, float((suppressed * n).sum()) or 1.0)


def discernibility(n: np.ndarray, group: np.ndarray, kept: np.ndarray) -> float:
    """Return the sum of the squared sizes of the classes; a suppressed record counts all records."""
    import numpy as np

    return float((np.bincount(group[kept], n[kept]) ** 2).sum() + n[~kept].sum() * n.sum())
