"""Groups of consecutive values of a column, in memory: what the SQL of a ranking says, by one sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.group.value_order import in_order

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Ranking:
    """The values of a column in the order of its strata and its values, and where its groups begin there."""

    order: np.ndarray
    """The places (n,) of the values; equal ones are in the order of their places."""
    values: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, strata: np.ndarray, k: int, *, spread: bool) -> Ranking:
        """Group the values (n,) of every stratum (n,), which has k at least, in the order of their size.

        Groups have k values. What remains is taken by the last one of a stratum, or by its innermost (`spread`).
        """
        import numpy as np

        order = in_order(values)
        if strata.any():
            order = order[in_order(strata[order])]
        counts = np.bincount(strata)
        groups = counts[counts > 0] // k
        ends = np.cumsum(groups)
        sizes = np.full(ends[-1], k)
        sizes[ends - groups + (groups // 2 if spread else groups - 1)] += counts[counts > 0] - groups * k
        return cls(order, values[order], np.cumsum(sizes) - sizes, sizes)

    @property
    def means(self) -> np.ndarray:
        """The mean of every group: summed in ascending order, and never beyond its smallest and largest value."""
        import numpy as np

        total = self.values[self.starts]
        for place in range(1, int(self.sizes.max())):
            more = slice(None) if place < self.sizes.min() else np.flatnonzero(self.sizes > place)
            total[more] += self.values[self.starts[more] + place]
        last = self.values[self.starts + self.sizes - 1]
        found: np.ndarray = np.maximum(self.values[self.starts], np.minimum(total / self.sizes, last))
        return found

    @property
    def medians(self) -> np.ndarray:
        """The median of every group; of an even number of values it is half way between the two in the middle."""
        low = self.values[self.starts + (self.sizes - 1) // 2]
        found: np.ndarray = low * 0.5 + self.values[self.starts + self.sizes // 2] * 0.5
        return found

    def of_values(self, representatives: np.ndarray) -> np.ndarray:
        """Return what every value (n,) gets of its group."""
        import numpy as np

        found = np.empty_like(representatives, shape=len(self.order))
        found[self.order] = np.repeat(representatives, self.sizes)
        return found
