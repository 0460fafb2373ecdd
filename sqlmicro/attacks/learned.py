"""Models that an attacker trains: gradient-boosted trees of the extra `attacks`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlmicro.attacks.registry import NothingToAttack

if TYPE_CHECKING:
    import numpy as np

_MOST_CATEGORIES = 250
_TREES = 400
"""Trees in all: each class of a classification takes one a round."""
_MOST_ROUNDS = 100
_FEWEST_ROUNDS = 15


def boosting(where: str) -> Any:
    """Return scikit-learn's ensembles.

    Raises
    ------
    NothingToAttack
        When scikit-learn is not installed.
    """
    try:
        return import_module("sklearn.ensemble")
    except ImportError:
        must = "needs scikit-learn, which is not installed; install it by: pip install 'sqlmicro[attacks]'"
        raise NothingToAttack(f"attack, {where}", must) from None


@contextmanager
def alone() -> Iterator[None]:
    """Train in one thread within the block: on tables of this size several only wait for each other."""
    with import_module("threadpoolctl").threadpool_limits(1):
        yield


def classifier(where: str, classes: int = 2, categorical: np.ndarray | None = None) -> Any:
    """Return a classifier that is not trained yet."""
    rounds = max(_FEWEST_ROUNDS, min(_MOST_ROUNDS, _TREES // max(classes, 1)))
    return boosting(where).HistGradientBoostingClassifier(
        max_iter=rounds, early_stopping=False, categorical_features=categorical, random_state=0
    )


def regressor(where: str, categorical: np.ndarray | None = None) -> Any:
    """Return a regression of the median that is not trained yet."""
    return boosting(where).HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=_MOST_ROUNDS, early_stopping=False, categorical_features=categorical,
        random_state=0,
    )  # fmt: skip


def varying(learned: np.ndarray) -> np.ndarray:
    """Return which columns (p,) a model can learn from: those that have two finite values."""
    import numpy as np

    finite = np.isfinite(learned)
    most, least = (np.where(finite, learned, end).T for end in (-np.inf, np.inf))
    found: np.ndarray = most.max(axis=1) > least.min(axis=1)
    return found


def finite(values: np.ndarray) -> np.ndarray:
    """Return values with what is infinite as missing, as a model takes them."""
    import numpy as np

    return np.where(np.isfinite(values), values, np.nan)


def categories(released: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of nominal values as a model takes them: the most frequent of the release, NaN for others.

    >>> import numpy as np
    >>> [part.tolist() for part in categories(np.array([7.0, 7, 3]), np.array([3.0, 7, 9]))]
    [[0.0, 0.0, 1.0], [1.0, 0.0, nan]]
    """
    import numpy as np

    values, counts = np.unique(released, return_counts=True)
    kept = values[np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]]
    order = np.argsort(kept)

    def coded(column: np.ndarray) -> np.ndarray:
        at = np.minimum(np.searchsorted(kept[order], column), len(kept) - 1)
        return np.where(kept[order][at] == column, order[at].astype(float), np.nan)

    return coded(released), coded(people)
