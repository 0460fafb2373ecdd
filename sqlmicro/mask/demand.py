"""What every class of a suppression must hold, and what of it is impossible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import missing
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.mask.population_matches import PopulationMatches
    from sqlmicro.work import Work


@dataclass(frozen=True, eq=False)
class Demand:
    """What must hold of every class: rules, the largest risk by the weights of the records, members of a population."""

    rules: Rules
    weights: np.ndarray
    """Of every record (n,); not read without a risk."""
    risk: float = float("inf")
    population: PopulationMatches | None = None

    def unheld(self, released: np.ndarray) -> np.ndarray:
        """Tell which released combinations are not held by the population; none without one."""
        import numpy as np

        if self.population is None:
            return np.zeros(len(released), dtype=bool)
        return ~self.population.held(released)

    def misses(self, label: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return what every class of the records, or of some of them, misses, in records; 0 where all holds."""
        import numpy as np

        if rows is None:
            rows = np.arange(len(label))
        found = missing(label, self.rules.of(rows))
        if self.risk < np.inf:
            all_risk_misses = late("sqlmicro.mask._risk_kernels", "all_risk_misses")
            found += all_risk_misses(np.bincount(label), np.bincount(label, self.weights[rows]), self.risk)
        return found


def refuse_impossible(work: Work, demand: Demand, strata: np.ndarray) -> None:
    """Refuse what not even all records of a stratum in one class keep: every union of classes keeps what they keep.

    Raises
    ------
    InputError
        Before any work is done.
    """
    import numpy as np

    failed = np.flatnonzero(demand.misses(strata))
    if not len(failed):
        return
    rows = np.flatnonzero(strata == failed[0])
    why = bound(demand.rules.of(rows), len(rows)).infeasible or f"their risk is above {demand.risk:g}"
    whole = int(strata.max()) == 0
    raise InputError(
        work.where,
        f"all records of {'the table' if whole else 'a stratum'} in one class must keep what was asked for",
        why if whole else f"{len(failed)} of {int(strata.max()) + 1} strata cannot; of the first: {why}",
        work.advised("Ask for less"),
    )
