"""The limits of ours, one class each: what its audit measures, what a class misses, the least group that keeps it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sqlmicro.guarantees.histogram import Histogram
from sqlmicro.guarantees.rules import SLACK, Limit, Sensitive
from sqlmicro.options.limits import limit
from sqlmicro.options.params import Param

if TYPE_CHECKING:
    import numpy as np

_DIVERSITY = "Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)"
_ROUNDING = 1e-9
_MOST_WORK = 20_000_000
"""Values looked at until the size reached is taken for the bound."""
Hierarchical = Annotated[
    tuple[str, ...],
    Param("t-closeness: values of A are as far apart as in this hierarchy, a CSV or TOML file.", metavar="A=FILE"),
]


@limit(
    "min_l",
    audit="l-diversity",
    meaning="at least {value:g} different values",
    text="Every class has this many sensitive values.",
    source=_DIVERSITY,
    at_least=True,
    whole=True,
    in_macros=True,
    template="audit/distinct_values.sql",
)
@dataclass(frozen=True)
class Distinct(Limit):
    """Distinct l-diversity: so many values occur in a class. Of persons, of households it is k."""

    symbol = "l"
    grows = True

    def compiled(self) -> dict[str, float]:
        """Return the number of values."""
        return {"l": self.value}

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the number of values of every class."""
        return h.distinct

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the values that every class lacks."""
        import numpy as np

        found: np.ndarray = np.maximum(self.value - h.distinct, 0.0)
        return found

    def least_size(self, of: Sensitive, n: int) -> int:
        """Return a record for each value."""
        return int(self.value)


@limit(
    "min_entropy_l",
    audit="entropy-l-diversity",
    meaning="an entropy like that of at least {value:.3g} equally frequent values",
    text="The entropy of a class is that of this many equally frequent values.",
    source=_DIVERSITY,
    at_least=True,
    in_macros=True,
    template="audit/entropy.sql",
)
@dataclass(frozen=True)
class Entropy(Limit):
    """Entropy l-diversity: the entropy of a class is that of so many equally frequent values."""

    symbol = "entropy l"

    def compiled(self) -> dict[str, float]:
        """Return the logarithm, which entropies are compared with."""
        return {"log_l": math.log(self.value) - SLACK / 2 if self.value > 1 else 0.0}

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the exponential of the entropy of every class."""
        import numpy as np

        spread = np.bincount(h.label, h.count * np.log(h.count), minlength=h.classes)
        found: np.ndarray = np.maximum(np.exp(np.log(h.sizes) - spread / h.sizes), 1.0)
        return found

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the entropy that every class lacks, times its records."""
        import numpy as np

        found: np.ndarray = h.sizes * np.maximum(np.log(self.value) - np.log(self.measure(of, h)), 0.0)
        return found

    def least_size(self, of: Sensitive, n: int) -> int:
        """Return a record for each value, all different."""
        return max(1, math.ceil(self.value * (1 - _ROUNDING)))


@limit(
    "min_recursive_l",
    audit="recursive-l-diversity",
    meaning="recursive ({c}, {value:g})-diversity",
    text="Recursive (c, l)-diversity: the most frequent value is rarer than c times the rest.",
    source=_DIVERSITY,
    at_least=True,
    whole=True,
    in_macros=True,
    template="audit/recursive_diversity.sql",
)
@dataclass(frozen=True)
class Recursive(Limit):
    """Recursive (c, l)-diversity: the most frequent value is rarer than c times all but the l - 1 most frequent."""

    c: Annotated[float, Param("Recursive (c, l)-diversity: the c in r1 < c (rl + ... + rm).", min=0)] = 2.0
    symbol = "recursive l"

    @property
    def told(self) -> str:
        """Both numbers."""
        return f"recursive (c, l) = ({self.c:g}, {self.value})"

    @property
    def binds(self) -> bool:
        """It does with l = 1, too."""
        return self.value > 0

    def compiled(self) -> dict[str, float]:
        """Return both numbers."""
        return {"recursive_l": self.value, "c": self.c}

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the largest l of every class for which r1 < c (rl + ... + rm)."""
        import numpy as np

        order = np.lexsort((-h.count, h.label))
        count = h.count[order]
        before = np.cumsum(count) - count
        remainder = h.sizes[h.label] - (before - before[h.first][h.label])
        highest = count[h.first][h.label]
        return np.bincount(h.label, highest < self.c * remainder, minlength=h.classes).astype(np.int64)

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return a record of every class that is not as diverse."""
        import numpy as np

        return np.asarray(self.measure(of, h) < self.value, dtype=float)

    def least_size(self, of: Sensitive, n: int) -> int:
        """Return the least with 1 < c (size - l + 1): all values of the best group differ."""
        return int(self.value) - 1 + (math.floor(1 / self.c + _ROUNDING) + 1 if self.c > 0 else n)


@dataclass(frozen=True)
class _Searched(Limit):
    """A limit whose least group is looked for, size after size."""

    def least_size(self, of: Sensitive, n: int) -> int:
        """Return the least size that is possible, or the largest that was looked at."""
        steps = max(1, _MOST_WORK // max(1, len(of.shares) * (1 + len(of.levels))))
        return next((size for size in range(1, min(n, steps)) if self.possible(of, size)), min(n, steps))

    def possible(self, of: Sensitive, size: int) -> bool:
        """Tell whether some group of this size keeps it."""
        raise NotImplementedError


@limit(
    "max_t",
    audit="t-closeness",
    meaning="shares at most {value:.3g} from those of the whole table",
    text="A class is this close to the table in the sensitive values, at most.",
    source="Li, Li & Venkatasubramanian (2007)",
    most=1,
    of_table=True,
    in_macros=True,
)
@dataclass(frozen=True)
class TCloseness(_Searched):
    """t-closeness: the shares of a class are at most so far from those of the table (Earth Mover's Distance)."""

    hierarchical: Hierarchical = ()
    symbol = "t"

    def compiled(self) -> dict[str, float]:
        """Return the distance."""
        return {"t": self.value}

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return how far the distribution of every class is from that of the table."""
        import numpy as np

        shares = of.shares
        if not of.ordered:
            total = np.bincount(h.label, np.maximum(h.shares - shares[h.value], 0.0), minlength=h.classes)
            for level in of.levels:
                branches = Histogram.of(h.label, level[h.value], h.classes, int(level.max()) + 1, h.count)
                over = np.maximum(branches.shares - np.bincount(level, shares)[branches.value], 0.0)
                total += np.bincount(branches.label, over, minlength=h.classes)
            distance: np.ndarray = total / (1 + len(of.levels))
            return distance
        cumulated = np.cumsum(shares)
        total = np.r_[0.0, np.cumsum(cumulated)]
        m = len(shares)
        running = np.cumsum(h.shares)
        level = running - (running - h.shares)[h.first][h.label]
        # Between two values of a class its cumulated share stays at `level`; that of the table passes it at `place`.
        low, high = h.value, np.r_[h.value[1:], 0]
        last = np.r_[h.first[1:], len(h.label)] - 1
        high[last] = m
        place = np.clip(np.searchsorted(cumulated, level, side="right"), low, high)
        moved = (
            (place - low) * level - (total[place] - total[low]) + (total[high] - total[place]) - (high - place) * level
        )
        found: np.ndarray = (np.bincount(h.label, moved, minlength=h.classes) + total[h.value[h.first]]) / max(m - 1, 1)
        return found

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return how much farther every class is, times its records."""
        import numpy as np

        found: np.ndarray = h.sizes * np.maximum(self.measure(of, h) - self.value, 0.0)
        return found

    def possible(self, of: Sensitive, size: int) -> bool:
        """Tell whether some group of this size is as close."""
        import numpy as np

        shares, most = of.shares, self.value * (1 + _ROUNDING) + 1e-12
        if of.ordered:
            # The best group has every cumulated share rounded to a multiple of 1/size, which stay in order.
            cumulated = np.cumsum(shares)
            gaps = np.abs(np.round(cumulated * size) / size - cumulated).sum()
            return bool(gaps / max(1, len(shares) - 1) <= most)
        # No group is closer than one that is the best on every level of a hierarchy alone.
        levels = [shares, *(np.bincount(level, shares) for level in of.levels)]
        return bool(np.mean([_least_equal(level, size) for level in levels]) <= most)


def _least_equal(shares: np.ndarray, size: int) -> float:
    """Return the least equal distance between a group of this size and the table."""
    import numpy as np

    # The best group has every count rounded down, and one more where that leaves most.
    counts = np.floor(shares * size)
    order = np.argsort(counts - shares * size, kind="stable")
    counts[order[: size - round(counts.sum())]] += 1
    return float(np.maximum(counts / size - shares, 0).sum())


@dataclass(frozen=True)
class Capped(_Searched):
    """A limit of how frequent every value may be in a class: `measure` and `caps` are all that it has to say."""

    def compiled(self) -> dict[str, float]:
        """Return nothing: the caps are told."""
        return {}

    def caps(self, of: Sensitive) -> np.ndarray:
        """Return the largest share that every value of a column may have of a group."""
        raise NotImplementedError

    def missed(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the records of every class that are too many of their value."""
        import numpy as np

        over = np.maximum(h.count - self.caps(of)[h.value] * h.sizes[h.label], 0.0)
        return np.bincount(h.label, over, minlength=h.classes)

    def possible(self, of: Sensitive, size: int) -> bool:
        """Tell whether as many records of every value as there may be are enough for a group."""
        import numpy as np

        return bool(np.floor(self.caps(of) * size * (1 + _ROUNDING) + _ROUNDING).sum() >= size)


@limit(
    "max_alpha",
    audit="alpha-k-anonymity",
    meaning="no value with more than {value:.3g} of a class",
    text="No sensitive value has a larger share of a class.",
    source="Wong, Li, Fu & Wang (2006)",
    most=1,
    in_macros=True,
    template="audit/highest_share.sql",
)
@dataclass(frozen=True)
class Alpha(Capped):
    """(alpha, k)-anonymity: no value has a larger share of a class."""

    symbol = "alpha"

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the share of the most frequent value of every class."""
        import numpy as np

        return np.maximum.reduceat(h.shares, h.first)

    def caps(self, of: Sensitive) -> np.ndarray:
        """Return the same for all values."""
        import numpy as np

        return np.full(len(of.shares), self.value)


@limit(
    "max_beta",
    audit="beta-likeness",
    meaning="no share above that in the whole table by more than {value:.3g} times it",
    text="No sensitive value is more frequent in a class than in the table by this.",
    source="Cao & Karras (2012)",
    of_table=True,
    in_macros=True,
    template="audit/highest_gain.sql",
)
@dataclass(frozen=True)
class Beta(Capped):
    """Basic beta-likeness: no value is more frequent in a class than in the table by so many times its share there."""

    symbol = "beta"

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return by how much the value that gains most is more frequent in every class."""
        import numpy as np

        found: np.ndarray = np.maximum.reduceat(h.shares / of.shares[h.value], h.first) - 1.0
        return found

    def caps(self, of: Sensitive) -> np.ndarray:
        """Return what every value may have at most."""
        found: np.ndarray = (1 + self.value) * of.shares
        return found
