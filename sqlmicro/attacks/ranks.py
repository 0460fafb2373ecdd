"""Rank-based linkage: places in an order instead of values, and the windows of ranks that values were swapped in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from sqlmicro.attacks.attacked import LINKED, Features, weighed
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkage import linked_within, measured, nearest
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.options.params import Param

if TYPE_CHECKING:
    import numpy as np


@attack(
    "rank-linkage",
    needs=("numeric",),
    source="Nin, Herranz & Torra (2008), Data & Knowledge Engineering 64(1)",
    templates=LINKED,
)
def ranks(knowledge: Knowledge) -> Measured:
    """Take the released record whose ranks are nearest: scales, noise and recoding that keep an order do not help.

    Returns
    -------
    Measured
        As distance-linkage, with the ranks in place of the numbers: the middle of the ranks of equal values, as a share
        of the values of its table.
    """
    attacked = knowledge.first
    found = nearest(attacked, by_rank(attacked.features), "nearest ranks")
    return measured(attacked, found.hits)


def by_rank(features: Features) -> Features:
    """Return the features with the ranks of numbers, as shares, in place of the numbers."""
    import numpy as np

    X, Y, weight = features.X.copy(), features.Y.copy(), features.weight.copy()
    for j in np.flatnonzero(features.kind == 0):
        flagged = j + 1 < len(features.flag) and features.flag[j + 1]
        missing = [A[:, j + 1] > 0 if flagged else np.zeros(len(A), dtype=bool) for A in (X, Y)]
        both = np.concatenate([_shares(A[:, j], gone) for A, gone in zip((X, Y), missing, strict=True)])
        filled, weight[j] = weighed(both, len(X), np.concatenate(missing))
        X[:, j], Y[:, j] = filled[: len(X)], filled[len(X) :]
    return replace(features, X=X, Y=Y, weight=weight)


def _shares(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the middle rank of every value as a share of the values that are not missing."""
    import numpy as np

    ordered = np.sort(values[~missing])
    places = np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")
    shares: np.ndarray = places / max(2 * len(ordered), 1)
    return shares


@attack(
    "rank-intervals",
    needs=("numeric", "swap_percent"),
    source="Nin, Herranz & Torra (2008), Data & Knowledge Engineering 64(1)",
    templates=LINKED,
)
def intervals(
    knowledge: Knowledge,
    *,
    swap_percent: Annotated[
        float | None,
        Param("Rank swapping: the percentage of the records that was published with the release.", min=0, max=100),
    ] = None,
) -> Measured:
    """Intersect over the columns the released records within the window of ranks that rank swapping was published with.

    Returns
    -------
    Measured
        The rate is the mean of 1/candidates, 0 where the true record is not among them; `candidates` is their mean
        number and `truth_among_them` the share of records for which it is; chance is 1/m.

    Notes
    -----
    A value with ranks from a to b of n may have become those of ranks a - w to b + w, w = n percent/100. What was
    swapped within the window has its true record among the candidates, whatever the window is.
    """
    import numpy as np

    assert swap_percent is not None
    share = swap_percent / 100

    def bounds(x: np.ndarray, known: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not len(released):
            return np.full(len(x), -np.inf), np.full(len(x), np.inf)
        window = int(len(known) * share)
        first = np.searchsorted(known, x) - window
        last = np.searchsorted(known, x, "right") - 1 + window
        # A release with fewer values has its ranks closer together.
        scale = len(released) / len(known)
        low = np.clip(np.floor(first * scale), 0, len(released) - 1).astype(np.int64)
        high = np.clip(np.ceil(last * scale), 0, len(released) - 1).astype(np.int64)
        return released[low], released[high]

    return linked_within(knowledge.first, bounds)
