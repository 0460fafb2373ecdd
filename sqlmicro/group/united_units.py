"""Groups of units whose records together keep guarantees: those that miss something are united with near ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.state import missing

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.guarantees.rules import Rules

_AT_ONCE = 4_000_000  # distances


def united_units(X: np.ndarray, labels: np.ndarray, rules: Rules, classes: np.ndarray | None = None) -> np.ndarray:
    """Return groups that keep all rules, also those for the members of their units.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Standardised units. Not changed.
    labels : ndarray of shape (n,)
        Groups of units. They are returned as they are if they keep all rules.
    rules : Rules
        What must hold of every group.
    classes : ndarray of shape (n,), optional
        The class of every unit, in which its group stays; each keeps all rules.

    Returns
    -------
    ndarray of shape (n,)
        Group of every unit, 0..G-1.

    Raises
    ------
    InputError
        When not even all units in one group keep the rules.

    Notes
    -----
    Every group that misses something is united with the one whose union adds least to SSE, what misses most first; this
    is repeated until nothing is missed. All rules are closed under union, so it ends. O(G² p) time for every round; a
    round unites at least half of the groups that miss something.
    """
    import numpy as np

    labels = np.unique(labels, return_inverse=True)[1]
    classes = np.zeros(len(labels), dtype=np.int64) if classes is None else classes
    while len(missed := np.flatnonzero((lacking := missing(labels, rules)) > 0)):
        groups = int(labels.max()) + 1
        within = np.empty(groups, dtype=classes.dtype)
        within[labels] = classes
        if (np.bincount(within)[within[missed]] == 1).any():
            reason = bound(rules, len(labels)).infeasible or "all records in one group miss something"
            raise InputError("guarantees", "all records in one group must keep them", reason)
        size = np.bincount(labels).astype(float)
        means = np.array([np.bincount(labels, x) for x in X.T]).reshape(X.shape[1], groups).T / size[:, None]
        into = np.arange(groups)
        taken = np.zeros(groups, dtype=np.bool_)
        order = missed[np.argsort(-lacking[missed], kind="stable")]
        for begin in range(0, len(order), max(1, _AT_ONCE // groups)):
            some = order[begin : begin + max(1, _AT_ONCE // groups)]
            distance = sum((means[some, j, None] - means[None, :, j]) ** 2 for j in range(X.shape[1]))
            cost = distance * (size[some, None] * size[None, :] / (size[some, None] + size[None, :]))
            cost[within[some, None] != within[None, :]] = np.inf
            cost[np.arange(len(some)), some] = np.inf
            for group, nearest in zip(some.tolist(), cost.argmin(axis=1).tolist(), strict=True):
                if not taken[group]:
                    into[group] = into[nearest]
                    taken[group] = taken[nearest] = True
        labels = np.unique(into[labels], return_inverse=True)[1]
    return labels
