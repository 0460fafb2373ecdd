"""Enhanced beta-likeness: a value that is frequent already may gain less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.guarantees.histogram import Histogram
from sqlmicro.guarantees.limits import Capped
from sqlmicro.guarantees.rules import Sensitive
from sqlmicro.options.limits import limit

if TYPE_CHECKING:
    import numpy as np


@limit(
    "max_enhanced_beta",
    audit="enhanced-beta-likeness",
    meaning="no share above that in the whole table by more than {value:.3g}, or -ln of it, times it",
    text="No sensitive value gains more in a class than this, nor than -ln of its share in the table.",
    source="Cao & Karras (2012)",
    of_table=True,
    template="sqlmicro_neighbours:audit/enhanced_gain.sql",
)
@dataclass(frozen=True)
class EnhancedBeta(Capped):
    """Enhanced beta-likeness: a value of share p gains at most the lesser of beta and -ln p.

    What is measured of a class is the least beta that it keeps. It is infinite where a value gains more than -ln p.
    """

    symbol = "enhanced beta"

    def measure(self, of: Sensitive, h: Histogram) -> np.ndarray:
        """Return the largest gain of every class, infinite where one is above -ln p."""
        import numpy as np

        share = of.shares[h.value]
        gain = h.shares / share - 1
        found: np.ndarray = np.maximum.reduceat(np.where(gain > -np.log(share) + 1e-9, np.inf, gain), h.first)
        return found

    def caps(self, of: Sensitive) -> np.ndarray:
        """Return (1 + min(beta, -ln p)) p."""
        import numpy as np

        found: np.ndarray = (1 + np.minimum(self.value, -np.log(of.shares))) * of.shares
        return found
