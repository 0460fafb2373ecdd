"""Recursive k-Ward: the records divided into parts again and again, k-Ward in every part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.group.k_ward import number_by_lowest_row, ward_groups
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Grouping, Tick, method

if TYPE_CHECKING:
    import numpy as np


@method(
    "recursive-k-ward",
    stage="group",
    engine="numpy",
    promise="record",
    source="Fayyoumi & Oommen (2006), ACISP, Lecture Notes in Computer Science 4058",
)
def recursive_k_ward(
    X: np.ndarray,
    rng: np.random.Generator,
    tick: Tick,
    *,
    k: K = 3,
    parts: Annotated[int, Param("Number of parts that records are divided into at a time.", min=2)] = 2,
    theta: Annotated[
        float, Param("Bound of the ratio of variances inside the parts to that of the whole.", min=0)
    ] = 0.5,
    direction: Annotated[
        Literal["at-least", "below"], Param("Divide where the ratio is at least theta, or where it is below it.")
    ] = "at-least",
) -> Grouping:
    """Divide the records into parts of equal size while their variances say so, and group every part by k-Ward.

    A set of records is sorted and cut into J parts of equal size; V = Σ Var(part) / Var(set). Where V is at least
    theta, the parts are divided again in the same way; where it is not, the set is grouped by k-Ward.

    Returns
    -------
    Grouping
        Group of every record, 0..G-1, in the order of their lowest rows, with a note on the distances computed.

    Raises
    ------
    InputError
        When there are fewer than k records, or a part that is not divided is too large for k-Ward.

    Notes
    -----
    parts is J, theta the bound of V: halves of a uniform column have V = 0.5, of a normal one 0.73, two far clusters
    close to 0. The source can be read both ways: direction at-least divides where V ≥ theta, below where V < theta,
    since a small ratio is what shows that the parts are groups of their own. No random numbers are drawn.

    The source leaves out when to stop: a set is not divided where a part would have fewer than 2k·J records, or where
    the set is constant. It treats one column; several are sorted by their first principal component, taken anew in
    every set, and Var is the sum of the variances of all columns. Ties go to the lowest row. k-Ward in m equal parts
    computes a share of about 1/m of the distances; what is lost is that no group crosses the border of a part.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(16.0)[:, None]
    >>> found = recursive_k_ward(X, np.random.default_rng(0), lambda done, total, best="": None, k=2, theta=0.0)
    >>> found.labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    """
    import numpy as np

    n = len(X)
    labels = np.empty(n, dtype=np.int64)
    left = [np.arange(n)]
    leaves = groups = distances = grouped = 0
    while left:
        members = left.pop()
        pieces = _divide(X[members], k, parts, theta, direction)
        if len(pieces) > 1:
            left += [members[piece] for piece in pieces]
            continue

        def report(done: int, total: int, best: str = "", *, before: int = grouped, size: int = len(members)) -> None:
            tick(before + done * size // total, n, best)

        found, computed = ward_groups(X[members], k, report, "recursive-k-ward")
        labels[members] = groups + found
        groups += int(found.max()) + 1
        leaves, distances, grouped = leaves + 1, distances + computed, grouped + len(members)
    return Grouping(number_by_lowest_row(labels), (_note(n, leaves, distances),))


def _divide(X: np.ndarray, k: int, parts: int, theta: float, direction: str) -> list[np.ndarray]:
    """Return the rows of every part, ascending, or one part with all rows where they are not to be divided."""
    import numpy as np

    n = len(X)
    whole = [np.arange(n)]
    if n // parts < 2 * k * parts or np.array_equal(X.min(axis=0), X.max(axis=0)):
        return whole
    variance = float(X.var(axis=0).sum())
    pieces = [np.sort(piece) for piece in np.array_split(np.argsort(_axis(X), kind="stable"), parts)]
    ratio = sum(float(X[piece].var(axis=0).sum()) for piece in pieces) / variance
    return pieces if (ratio >= theta) == (direction == "at-least") else whole


def _axis(X: np.ndarray) -> np.ndarray:
    """Return where each record lies (n,) along the only column, or along the first principal component of several."""
    import numpy as np

    if X.shape[1] == 1:
        return X[:, 0]
    centred = X - X.mean(axis=0)
    loadings = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    # The sign of an eigenvector is arbitrary.
    axis: np.ndarray = centred @ (loadings * np.sign(loadings[np.argmax(np.abs(loadings))]))
    return axis


def _note(n: int, leaves: int, distances: int) -> str:
    pairs = n * (n - 1) // 2
    share = 100 * distances / pairs
    parts = f"{leaves:,} part{'s' * (leaves > 1)}"
    return f"k-Ward in {parts} computed {distances:,} distances, {share:.3g} % of the {pairs:,} between all pairs"
