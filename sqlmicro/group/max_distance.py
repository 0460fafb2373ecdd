"""Maximum distance: groups around the two records farthest apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.options.params import K
from sqlmicro.registry import Tick, late, method

if TYPE_CHECKING:
    import numpy as np

RECORDS_AT_MOST = 100_000
"""More are refused: time grows with the square of n; 100 000 normal records in 13 columns take 14 s."""


@method(
    "max-distance",
    stage="group",
    engine="numpy",
    promise="record",
    source="Domingo-Ferrer & Mateo-Sanz (2002), IEEE TKDE 14(1); Fink (2009)",
)
def max_distance(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
) -> np.ndarray:
    """Group records around the two that are farthest apart, again and again.

    While at least 2k records remain, the two farthest apart, each with its k-1 nearest. Then k or more that are left
    make a last group; fewer join, each, the group with the nearest centroid.

    Returns
    -------
    ndarray of shape (n,)
        Group of every record, 0..G-1, in the order in which the groups were formed.

    Raises
    ------
    InputError
        When there are more than 100 000 records.

    Notes
    -----
    No random numbers are drawn.

    Distances are squared Euclidean; of equal ones the lowest row counts, of equally distant pairs the first in the
    order of (lower row, higher row). The source does not say which of the two chooses its nearest first: here it is the
    one that is farther from the centroid of all records. If its group takes the other one, which happens where all that
    remain are equally far away, the record then farthest from the first takes its place.

    The plain method takes all O(n²) distances. Here a record's farthest partner is determined when its bound, by way of
    the centroid, is the largest, and again when the partner is gone: far fewer in few columns; O(n² p) and more at
    worst. O(n p) memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [0.5], [10.5], [4.0]])
    >>> max_distance(X, np.random.default_rng(0), lambda done, total: None, k=3).tolist()
    [1, 1, 0, 0, 1, 0, 1]
    """
    form_all = late("sqlmicro.group._max_distance_kernels", "form_all")
    as_records = late("sqlmicro.group._tree_kernels", "as_records")

    if len(X) > RECORDS_AT_MOST:
        raise InputError(
            "max-distance",
            f"takes at most {RECORDS_AT_MOST:,} records",
            f"{len(X):,}",
            "Use mdav, which groups around far records too and takes millions",
        )
    labels: np.ndarray = form_all(as_records(X), k, tick)
    return labels
