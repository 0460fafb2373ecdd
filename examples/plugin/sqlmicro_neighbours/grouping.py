"""Groups of neighbours on one line: the simplest kernel there can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.options.params import Param
from sqlmicro.registry import Tick, method

if TYPE_CHECKING:
    import numpy as np


@method("neighbours", stage="group", engine="numpy", promise="record", source="an example")
def neighbours(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: Annotated[int, Param("Smallest group.", min=2)] = 3,
) -> np.ndarray:
    """Group records that follow one another by the sum of their columns.

    Returns
    -------
    numpy.ndarray
        The group of every record (n,).

    Notes
    -----
    O(n log n). Of equal sums the columns decide, one after the other, so that the order of the rows does not.
    """
    import numpy as np

    order = np.lexsort((*X.T[::-1], X.sum(axis=1)))
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return labels
