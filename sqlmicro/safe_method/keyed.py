"""The direct search: what is keyed of the cells, so that a lasting secret decides which combinations may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import Asked, Pool, pooled
from sqlmicro.safe_method.persons import Crowd

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work


@dataclass(frozen=True)
class Keyed:
    """What is asked so that a release can be denied, and what is keyed: the content of every cell."""

    asked: Asked
    content: np.ndarray
    commonest: np.ndarray
    k: int
    crowd: Crowd | None

    @classmethod
    def of(cls, work: Work, cells: Cells, coordinates: np.ndarray, kept: int, k: int, asked: Asked) -> Keyed:
        """Read the content of the cells; the first `kept` of nominal columns and coordinates keep their values."""
        import numpy as np

        shares = []
        for column in np.hstack([cells.codes, coordinates]).T[:kept]:
            value = np.unique(column, return_inverse=True)[1].reshape(-1)
            shares.append(np.bincount(value, cells.n).max() / cells.n.sum())
        content = contents_of_cells(work, cells.relation, cells.nominal, coordinates)
        return cls(asked, content, np.array(shares), k, Crowd.of(work, cells, k))

    def pool(self, combined: Combined, inside: np.ndarray, least: int) -> Pool | None:
        """Return what may be shown of the cells of a stratum; None where nothing can be invented and nobody insists."""
        crowd = self.crowd.within(inside) if self.crowd else None
        n = crowd.count(combined.of_cell) if crowd else combined.n
        found = pooled(
            combined.values, len(self.commonest), self.content[inside[combined.first]], n, self.k, self.asked,
            self.commonest, count=(lambda of: crowd.count(of[combined.of_cell])) if crowd else None,
            too_few=combined.n < least,
        )  # fmt: skip
        return found if len(found.new.base) or self.asked.insists else None


def contents_of_cells(work: Work, cells: Name, nominal: Sequence[Column], coordinates: np.ndarray) -> np.ndarray:
    """Return what is keyed of some cells (n, columns): 64 bits for every value, the same in every file."""
    import numpy as np

    read = work.warehouse.arrays("safe/contents.sql", cells=cells, columns=nominal)
    texts = [np.asarray(read[column.staged]).astype(np.uint64) for column in nominal]
    # One NaN, and no -0.0: equal numbers have the same bits.
    numbers = np.where(np.isnan(coordinates), np.nan, coordinates + 0.0).view(np.uint64)
    return np.stack([*texts, *numbers.T], axis=1)
