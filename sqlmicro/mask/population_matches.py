"""How many members of a population may be a released combination, where a missing value may be any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlmicro.mask.suppression import MISSING, Entries, matches
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np


@dataclass(eq=False)
class PopulationMatches:
    """A population by the numbers of the records, and how many members a combination must have.

    A member matches a combination if they agree in every column in which both have a value, as the audit of k-map reads
    NULL as a wildcard. So a combination without a value more has as many matches or more.

    Parameters
    ----------
    codes : ndarray of shape (combinations, q)
        The combinations of the population, -1 for a missing value.
    count : ndarray of shape (combinations,)
        The members that have each.
    least : int
        k-map.
    """

    codes: np.ndarray
    count: np.ndarray
    least: int
    _known: dict[bytes, bool] = field(default_factory=dict, repr=False)

    def members(self, released: np.ndarray) -> np.ndarray:
        """Return how many members match each released combination (combinations, q)."""
        import numpy as np

        both = np.concatenate([released, self.codes]).astype(np.int64)
        counts = np.concatenate([np.zeros(len(released), dtype=np.int64), self.count])
        return matches(Entries(np.arange(len(both)), both, counts), np.arange(len(released)))

    def held(self, released: np.ndarray) -> np.ndarray:
        """Tell which released combinations have members enough; each is counted once."""
        import numpy as np

        rows = np.ascontiguousarray(released, dtype=np.int64)
        names = [row.tobytes() for row in rows]
        first = {name: at for at, name in enumerate(names) if name not in self._known}
        if first:
            found = self.members(rows[list(first.values())]) >= self.least
            self._known.update(zip(first, found.tolist(), strict=True))
        return np.array([self._known[name] for name in names], dtype=bool)

    def seats(self, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return those that are held, all different, with a scratch row behind, and their seats, for a kernel."""
        import numpy as np

        held = np.unique(released[self.held(released)], axis=0).astype(np.int64)
        rows = np.concatenate([held, np.full((1, released.shape[1]), MISSING)])
        seats = late("sqlmicro.mask._suppression_kernels", "seats_for")(len(rows))
        late("sqlmicro.mask._population_swap_kernels", "fill")(seats, rows)
        return rows, seats
